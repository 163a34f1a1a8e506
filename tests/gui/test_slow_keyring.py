"""A keyring that is locked, waits for its user or does not respond: the window is there, and says what is true."""

import json
import threading

import keyring
import pytest
from keyring.errors import KeyringLocked, PasswordDeleteError

from app import wiring
from app.main import open_window
from app.storage.secrets import KeyringSecrets
from tests.app_driver import Person, until
from tests.gui.seen import inside, texts_in, toasts
from tests.storage.test_keyring_late import dismissed

KEY = "sk-canary-slow-keyring-0123456789"
PLACE = ("Moot", "provider:openai")


class Ring:
    """A keyring that holds a key of OpenAI's; it answers once it is `open`, with an error where it has one."""

    def __init__(self) -> None:
        self.kept = {PLACE: KEY}
        self.open = threading.Event()
        self.error: Exception | None = None

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
        assert self.open.wait(60)
        if self.error is not None:
            raise self.error


@pytest.fixture
def ring(monkeypatch, data_dir):
    data_dir.mkdir()
    rows = {"version": 1, "providers": [{"id": "openai", "kind": "openai"}]}
    (data_dir / "providers.json").write_text(json.dumps(rows), encoding="utf-8")
    ring = Ring()
    monkeypatch.setattr(keyring, "get_keyring", lambda: ring)
    yield ring
    ring.open.set()


@pytest.fixture
async def person(qapp, data_dir, ring):
    window = await open_window(data_dir, language="en", theme="light")
    window.resize(1440, 900)
    yield Person(window)
    ring.open.set()
    await window.shutdown()


def status(person: Person):
    return next(one for one in person.window.controller.engine.providers() if one.config.id == "openai")


async def test_the_window_is_there_before_the_keyring_answers_and_takes_what_it_says_late(person, ring):
    assert not ring.open.is_set()
    assert not status(person).ready
    ring.open.set()
    await until(lambda: status(person).ready)
    assert status(person).key_source == "keyring"


async def test_a_locked_keyring_is_said_and_unlocked_from_there(person, ring):
    ring.error = KeyringLocked("Failed to unlock the collection!")
    ring.open.set()
    await until(lambda: "The keyring is locked." in toasts(person.window))
    assert status(person).problem == "keyring_locked"
    ring.error = None
    await person.click("toast_action")
    await until(lambda: status(person).ready)


@pytest.mark.slow
async def test_the_settings_unlock_the_keyring_as_well(person, ring):
    ring.error = KeyringLocked("Failed to unlock the collection!")
    ring.open.set()
    await until(lambda: status(person).problem == "keyring_locked")
    page = _page(person)
    await until(lambda: inside(page, "provider_unlock").isVisible())
    assert "The keyring is locked, so its keys can’t be read." in texts_in(page)
    ring.error = None
    inside(page, "provider_unlock").click()
    await until(lambda: "The key is saved in the system keyring." in texts_in(page))
    assert not inside(page, "provider_unlock").isVisible()


def _page(person: Person):
    person.window.controller.settings.open("providers", "openai")
    return person.find("settings_page").page("providers").page()


async def test_where_a_key_is_entered_the_cause_is_said(person, ring):
    ring.open.set()
    await until(lambda: status(person).ready)
    page = _page(person)
    for error, said in (
        (dismissed(), "The keyring was not unlocked"),
        (KeyringLocked("Failed to unlock the collection!"), "The keyring is locked"),
        (RuntimeError("the bus is gone"), "The keyring does not respond"),
    ):
        ring.error = error
        page.key.setText("sk-canary-another-0123456789")
        inside(page, "provider_save_key").click()
        await until(lambda said=said: page.result.text().startswith(said), what=said)
        assert "No keyring" not in page.result.text()
        assert status(person).key_source == "session"


@pytest.mark.slow
async def test_a_key_that_is_forgotten_while_it_is_stored_is_gone_in_the_end(
    qapp, data_dir, ring, monkeypatch
):
    ring.kept.clear()
    monkeypatch.setattr(wiring, "KeyringSecrets", lambda: KeyringSecrets(timeout=0.2))
    window = await open_window(data_dir, language="en", theme="light")
    person = Person(window)
    try:
        page = _page(person)
        page.key.setText(KEY)
        inside(page, "provider_save_key").click()
        await until(lambda: page.result.text().startswith("The keyring is waiting"))
        assert status(person).key_source == "session"
        inside(page, "provider_remove_key").click()
        await until(lambda: "Once you respond, the key is removed" in page.result.text())
        assert status(person).key_source == ""
        ring.open.set()
        await until(lambda: "Removed the key for “OpenAI” from the keyring." in toasts(person.window))
        assert (ring.kept, status(person).key_source, page.result.text()) == ({}, "", "")
        assert not inside(page, "provider_remove_key").isVisible()
    finally:
        ring.open.set()
        await window.shutdown()
