"""The notice of a newer version: asked for once, off until the user says yes, and shown as plain text."""

import asyncio
import json
from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QLabel, QPushButton

from app.gui.controllers import first_page
from app.gui.dialogs.ask_dialogs import ConfirmDialog, LinkDialog
from app.providers import new_version
from tests import app_driver
from tests.app_driver import at_window
from tests.wire.versions import version_server

until = partial(app_driver.until, seconds=30.0)
ACCEPT, DISMISS = "first_version_accept", "first_version_dismiss"


@pytest.fixture
def server(tmp_path, monkeypatch):
    """Let this be a build that names an address, and trust its server."""
    with version_server(tmp_path) as server:
        monkeypatch.setenv("SSL_CERT_FILE", str(server.authority))
        monkeypatch.setattr(new_version, "ADDRESS_FILE", str(tmp_path / "version_address.txt"))
        monkeypatch.setattr(first_page, "LOOK_AFTER_S", 0.0)
        yield server


def shown(person) -> list[str]:
    """Return what the line says, and what its buttons do."""
    line = person.window.first_page.version
    return [line.text(), *(person.find(name, QPushButton).text() for name in (ACCEPT, DISMISS))]


async def read(person) -> ConfirmDialog:
    """Open what is new."""
    await person.click(ACCEPT)
    await until(lambda: person.window.findChildren(ConfirmDialog))
    [dialog] = person.window.findChildren(ConfirmDialog)
    assert dialog.isVisible()
    return dialog


def looking(person) -> bool:
    return person.window.controller.tasks.running(first_page.LOOK)


def another_day(data_dir) -> None:
    file = data_dir / "new_version.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"day": "2026-11-01"}))


async def test_it_asks_the_user_once_and_no_means_that_nothing_is_asked(qapp, data_dir, server):
    async with at_window(data_dir) as person:
        await until(lambda: person.sees(ACCEPT))
        assert shown(person) == [
            f"Tell you about new versions? Once a day Moot would ask {server.host}, and send nothing about you.",
            "Yes",
            "No",
        ]
        person.window.controller.settings.switch_language()
        await until(lambda: shown(person)[1:] == ["예", "아니요"])
        assert server.host in shown(person)[0]
        await person.click(DISMISS)
        assert not person.sees(ACCEPT) and person.find("composer").hasFocus()
        assert not looking(person)
    async with at_window(data_dir) as person:
        await person.settle(0.3)
        assert not person.sees(ACCEPT) and not person.window.controller.engine.settings().new_versions
    assert server.requests == [] and not (data_dir / "new_version.json").exists()


async def test_a_yes_shows_what_is_new_as_plain_text_and_asks_no_more_that_day(qapp, data_dir, server):
    rich = {
        "en": "<b>Bold</b> [page](https://x.example) &amp; *stars*\n<img src=x>\u202e",
        "ko": "<b>굵게</b>",
    }
    server.tell(news=rich)
    async with at_window(data_dir) as person:
        await person.click(ACCEPT)
        await until(lambda: "9.1.0" in shown(person)[0])
        title = f"Moot 9.1.0 is out · {person.window.language.day('2026-11-20')}"
        assert shown(person) == [title, "What is new", "Skip this version"]
        assert person.find(ACCEPT).accessibleName() == f"What is new: {title}"
        dialog = await read(person)
        [text] = [label for label in dialog.findChildren(QLabel) if "Bold" in label.text()]
        # Also what would turn the text round is only named.
        assert text.text() == rich["en"].replace("\u202e", "⟨U+202E⟩")
        assert text.textFormat() == Qt.TextFormat.PlainText
        dialog.reject()
        await until(lambda: person.window.controller.engine.settings().new_versions)
    async with at_window(data_dir, language="ko") as person:
        await until(lambda: person.sees(ACCEPT))
        title = f"Moot 9.1.0 버전이 나왔어요 · {person.window.language.day('2026-11-20')}"
        assert shown(person) == [title, "달라진 점", "이 버전 건너뛰기"]
        dialog = await read(person)
        assert "<b>굵게</b>" in [label.text() for label in dialog.findChildren(QLabel)]
        dialog.reject()
    assert len(server.requests) == 1


async def test_a_version_that_is_skipped_is_shown_no_more_and_the_next_is(qapp, data_dir, server):
    data_dir.mkdir(exist_ok=True)
    (data_dir / "settings.json").write_text('{"version": 1, "new_versions": true}')
    async with at_window(data_dir) as person:
        await until(lambda: person.sees(ACCEPT))
        await person.click(DISMISS)
        assert not person.sees(ACCEPT)
    another_day(data_dir)
    async with at_window(data_dir) as person:
        await until(lambda: len(server.requests) == 2 and not looking(person))
        assert not person.sees(ACCEPT)
    another_day(data_dir)
    server.tell(version="9.2.0")
    async with at_window(data_dir) as person:
        await until(lambda: person.sees(ACCEPT))
        assert "9.2.0" in shown(person)[0] and len(server.requests) == 3


async def test_a_window_that_stays_open_asks_again_the_next_day(qapp, data_dir, server, monkeypatch):
    monkeypatch.setattr(first_page, "LOOK_EVERY_MS", 50)
    async with at_window(data_dir) as person:
        await person.click(ACCEPT)
        await until(lambda: "9.1.0" in shown(person)[0])
        await person.settle(0.3)
        assert len(server.requests) == 1
        server.tell(version="9.2.0")
        another_day(data_dir)
        await until(lambda: "9.2.0" in shown(person)[0])
        assert len(server.requests) == 2


async def test_the_page_opens_as_other_links_do_and_nothing_by_itself(qapp, data_dir, server, monkeypatch):
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()) or True)
    async with at_window(data_dir) as person:
        await person.click(ACCEPT)
        await until(lambda: "9.1.0" in shown(person)[0])
        dialog = await read(person)
        assert dialog.cancel.isDefault() and opened == []
        dialog.go.click()
        await until(lambda: person.window.findChildren(LinkDialog))
        [dialog] = person.window.findChildren(LinkDialog)
        assert dialog.isVisible() and opened == []
        dialog.go.click()
        assert opened == [f"https://{server.host}/new"]
        assert person.sees(ACCEPT)


async def test_the_setting_says_who_is_asked_and_asks_at_once_or_no_more(qapp, data_dir, server):
    async with at_window(data_dir) as person:
        person.window.controller.settings.open("privacy")
        await until(lambda: person.sees("setting_new_versions"))
        page = person.find("settings_page").page("privacy")
        assert page.asked.text() == f"It asks {server.address}."
        assert server.requests == []
        await person.click("setting_new_versions")
        await until(lambda: len(server.requests) == 1)
        await until(lambda: "9.1.0" in shown(person)[0])
        await person.click("setting_new_versions")
        await until(lambda: not person.window.controller.engine.settings().new_versions)
        person.find("settings_close").click()
        # Who switched it off has answered.
        await until(lambda: not person.sees(ACCEPT))
    another_day(data_dir)
    async with at_window(data_dir) as person:
        await person.settle(0.3)
        assert not person.sees(ACCEPT)
    assert len(server.requests) == 1


async def test_who_says_no_while_it_is_asked_ends_that(qapp, data_dir, server):
    server.silent = True
    async with at_window(data_dir) as person:
        await person.click(ACCEPT)
        await until(lambda: server.requests)
        person.window.controller.settings.change({"new_versions": False})
        await until(lambda: not looking(person))
        assert not person.sees(ACCEPT)
        # A process that was left would be found by `tests/guards.py`.


async def test_hostile_answers_show_nothing(qapp, data_dir, server):
    data_dir.mkdir(exist_ok=True)
    (data_dir / "settings.json").write_text('{"version": 1, "new_versions": true}')
    server.tell(version="9" * 600)
    async with at_window(data_dir) as person:
        for count, changed in enumerate(
            ({"link": f"http://{server.host}/x"}, {"news": ["x"]}, {"date": 1}), 1
        ):
            await until(lambda count=count: len(server.requests) == count and not looking(person))
            assert not person.sees(ACCEPT) and not person.sees("toast")
            server.tell(**changed)
            another_day(data_dir)
            person.window.controller.new_versions.refresh()
        await until(lambda: len(server.requests) == 4 and not looking(person))
        assert not person.sees(ACCEPT) and not person.sees("toast")


@pytest.mark.parametrize("language", ["en", "ko"])
async def test_a_checkout_has_no_address_says_so_and_asks_nothing(qapp, data_dir, language):
    data_dir.mkdir(exist_ok=True)
    (data_dir / "settings.json").write_text('{"version": 1, "new_versions": true}')
    async with at_window(data_dir, language=language) as person:
        assert not person.sees(ACCEPT)
        person.window.controller.settings.open("privacy")
        await until(lambda: person.sees("setting_new_versions"))
        assert not person.find("setting_new_versions").isEnabled()
        said = person.find("settings_page").page("privacy").asked.text()
        assert (
            said
            == {
                "en": "This build of Moot has no address for that, so nothing is asked.",
                "ko": "이 빌드에는 확인할 주소가 없어서 새 버전을 확인하지 않아요.",
            }[language]
        )
        person.find("settings_close").click()
        await asyncio.sleep(0.2)
    assert not (data_dir / "new_version.json").exists()
