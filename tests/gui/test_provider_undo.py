"""A provider or its key removed and taken back: by the toast, by the keyboard, out of the bin, with any keyring."""

import json
import threading

import keyring
import pytest
from keyring.errors import KeyringLocked, PasswordDeleteError
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.gui.widgets.item_list import ItemList
from app.storage.paths import DataPaths
from tests.app_driver import at_window, until
from tests.gui.seen import inside, texts_in, toasts
from tests.gui.test_settings_view import page

KEY = "sk-canary-taken-back-444555666777"
ROWS = [
    {"id": "openai", "kind": "openai"},
    {"id": "work", "kind": "openai-compatible", "label": "Work", "base_url": "https://work.example/v1"},
    {"id": "other", "kind": "openai-compatible", "label": "Other", "models": ["m"], "ours": 1},
]
PLACE = ("Moot", "provider:work@https://work.example")


class Keyring:
    """A keyring that works, until it is locked or waits for somebody to unlock it."""

    def __init__(self) -> None:
        self.kept = {PLACE: KEY}
        self.locked = False
        self.open = threading.Event()
        self.open.set()

    def get_password(self, service: str, user: str) -> str | None:
        self._enter()
        return self.kept.get((service, user))

    def set_password(self, service: str, user: str, password: str) -> None:
        self._enter()
        self.kept[service, user] = password

    def delete_password(self, service: str, user: str) -> None:
        self._enter()
        if self.kept.pop((service, user), None) is None:
            raise PasswordDeleteError

    def _enter(self) -> None:
        self.open.wait(60)
        if self.locked:
            raise KeyringLocked("Failed to unlock the collection!")


@pytest.fixture
def ring(monkeypatch):
    ring = Keyring()
    monkeypatch.setattr(keyring, "get_keyring", lambda: ring)
    yield ring
    ring.open.set()


@pytest.fixture
async def person(qapp, data_dir, ring):
    paths = DataPaths(data_dir)
    data_dir.mkdir(exist_ok=True)
    paths.providers.write_text(json.dumps({"version": 1, "providers": ROWS}))
    async with at_window(data_dir) as person:
        person.window.activateWindow()
        person.window.controller.settings.open("providers", "work")
        await until(lambda: person.sees("settings_page"))
        person.paths = paths
        yield person
        if person.sees("settings_page"):
            person.find("settings_close").click()


def ids(person):
    return [status.config.id for status in person.window.controller.engine.providers()]


def on_the_disk(person):
    return json.loads(person.paths.providers.read_text())["providers"]


def source(person, provider_id="work"):
    found = (one for one in person.window.controller.engine.providers() if one.config.id == provider_id)
    return next(found).key_source


async def remove(person):
    inside(page(person), "provider_remove").click()
    await until(lambda: "work" not in ids(person) and person.sees("toast_action"))


@pytest.mark.slow
async def test_a_provider_comes_back_with_its_key_to_where_it_was(person, ring, data_dir):
    before = on_the_disk(person)
    assert source(person) == "keyring"
    await remove(person)
    assert (ring.kept, [one["id"] for one in on_the_disk(person)]) == ({}, ["openai", "other"])
    assert person.find("settings_providers", ItemList).count() == 3
    for file in data_dir.rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), file
    await person.click("toast_action")
    await until(lambda: source(person) == "keyring" if "work" in ids(person) else False)
    assert (ring.kept, on_the_disk(person)) == ({PLACE: KEY}, before)
    await until(lambda: person.find("settings_providers", ItemList).count() == 4)
    assert list(person.paths.trash.iterdir()) == []


@pytest.mark.slow
async def test_the_undo_key_takes_it_back_in_the_settings_and_once_they_are_closed(person, ring):
    await remove(person)
    QTest.keyClick(person.find("settings_providers"), Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    await until(lambda: ring.kept and "work" in ids(person))
    await until(lambda: person.find("settings_providers", ItemList).count() == 4)
    person.find("settings_page").show_page("providers", "work")
    await remove(person)
    person.find("settings_close").click()
    await until(lambda: person.window.toasts.isVisible())
    person.window.activateWindow()
    await until(person.window.isActiveWindow)
    QTest.keyClick(person.window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    await until(lambda: ring.kept and "work" in ids(person))


@pytest.mark.slow
async def test_the_bin_brings_a_provider_back_which_asks_for_its_key(person, ring):
    await remove(person)
    dialog = person.find("settings_page")
    dialog.show_page("data")
    data = dialog.page("data")
    await until(lambda: data.bin.list.count() == 1)
    assert "Work" in data.bin.list.item(0).text
    data.bin.list.setCurrentRow(0)
    await person.click("data_bin_restore")
    await until(lambda: "work" in ids(person))
    assert (source(person), ring.kept) == ("", {})
    dialog.show_page("providers", "work")
    assert person.find("settings_providers", ItemList).count() == 4
    assert page(person).provider_id == "work"
    assert "No key needed." in texts_in(page(person))


@pytest.mark.slow
async def test_a_key_is_forgotten_and_taken_back(person, ring):
    inside(page(person), "provider_remove_key").click()
    await until(lambda: ring.kept == {} and person.sees("toast_action"))
    await until(lambda: not inside(page(person), "provider_remove_key").isVisible())
    await person.click("toast_action")
    await until(lambda: inside(page(person), "provider_remove_key").isVisible())
    assert (ring.kept, source(person)) == ({PLACE: KEY}, "keyring")
    # Where the keyring keeps it no more, that is said.
    inside(page(person), "provider_remove_key").click()
    await until(lambda: ring.kept == {} and inside(page(person), "provider_remove_key").isHidden())
    ring.locked = True
    await person.click("toast_action")
    await until(lambda: any("keyring is locked" in text for text in toasts(person.window)))
    assert source(person) == "session"


@pytest.mark.slow
@pytest.mark.parametrize("button", ["provider_remove_key", "provider_remove"])
async def test_a_locked_keyring_keeps_the_key_and_the_page_says_so(person, ring, button):
    ring.locked = True
    inside(page(person), button).click()
    await until(lambda: page(person).result.property("kind") == "error")
    assert "The key was not removed" in page(person).result.text()
    assert (source(person), ring.kept) == ("keyring", {PLACE: KEY})
    assert on_the_disk(person) == ROWS
    assert not person.sees("toast_action")


async def test_while_the_keyring_is_waited_for_nothing_is_begun_twice(person, ring):
    provider = page(person)
    names = ("save_key", "remove_key", "remove", "save", "test")
    buttons = [inside(provider, f"provider_{name}") for name in names]
    save_key, remove_key = buttons[:2]
    remove_key.setFocus()
    ring.open.clear()
    remove_key.click()
    await until(lambda: provider.result.text() == "Waiting for the system keyring…")
    assert not any(one.isEnabled() for one in buttons)
    QTest.mouseClick(remove_key, Qt.MouseButton.LeftButton)
    ring.open.set()
    await until(lambda: all(one.isEnabled() for one in buttons))
    assert (provider.result.text(), ring.kept) == ("", {})
    assert len(toasts(person.window)) == 1
    # A key that is saved is waited for too, whatever else changes the list meanwhile.
    provider.key.setText(KEY)
    ring.open.clear()
    save_key.click()
    await until(lambda: provider.result.text() == "Waiting for the system keyring…")
    assert not any(one.isEnabled() for one in buttons)
    person.find("settings_page").page("providers").refresh()
    person.find("settings_page").show_page("providers", "work")
    assert page(person) is provider
    ring.open.set()
    await until(lambda: ring.kept == {PLACE: KEY} and save_key.isEnabled())
    assert provider.result.text() == "Saved."


async def test_a_server_that_was_added_is_renamed(person):
    desk, listed = person.window.controller, person.find("settings_providers", ItemList)

    def names():
        return [listed.item(row).text.partition("\n")[0] for row in range(listed.count())]

    assert page(person).label.text() == "Work"
    assert "Work" in names()
    await person.write("provider_label", "Big computer")
    await person.click("provider_save")
    await until(lambda: "Big computer" in names())
    assert texts_in(page(person), "page_title") == ["Big computer"]
    kept = next(one for one in on_the_disk(person) if one["id"] == "work")
    assert kept["label"] == "Big computer"
    person.find("settings_page").show_page("providers", "openai")
    assert not page(person).label.isVisible(), "a company keeps its name"
    assert [one.label for one in desk.engine.providers() if one.config.id == "work"] == ["Big computer"]
