"""While the window is not in front: what is notified, what a click does, and the icon beside the clock."""

import sys

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QSystemTrayIcon

from app.core.events import PromptAsked
from app.core.message import Prompt
from tests.app_driver import Person, at_window, until
from tests.wire import Answer
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

# What the screen of the tests cannot do.
pytestmark = pytest.mark.qt_log_ignore("does not support raise", "systemTrayWindowChanged", extend=True)


@pytest.fixture
async def person(qapp, data_dir, monkeypatch):
    async with at_window(data_dir) as person:
        # Another program's window is in front.
        monkeypatch.setattr(QApplication, "activeWindow", lambda: None)
        yield person


@pytest.fixture
def noted(person):
    """What the desktop was asked to show, in place of the desktop."""
    seen = []

    async def show(session_id, title, text, action):
        seen.append((session_id, title, text))
        return True

    person.window.controller.notifications.notes.show = show
    return seen


def choose(person: Person, **values: object) -> None:
    person.window.controller.settings.change(values)


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_an_answer_is_notified_and_a_click_shows_it(
    qapp,
    data_dir,
    wire_home,  # noqa: F811
    wire_servers,  # noqa: F811
    monkeypatch,
):
    wire_servers["openai"].script("openai-wire", lambda _request: Answer("Yes."))
    async with at_window(data_dir) as person:
        controller, seen = person.window.controller, []

        async def show(session_id, title, text, action):
            seen.append((session_id, title, text))
            return True

        monkeypatch.setattr(QApplication, "activeWindow", lambda: None)
        controller.notifications.notes.show = show
        session_id = await controller.engine.chats.start("assistant", "Is it so?")
        await until(lambda: seen, 90)
        assert seen == [
            (session_id, controller.engine.live(session_id).session.title, "The answer is ready.")
        ]
        person.window.hide()
        controller.notifications.notes.clicked.emit(session_id)
        await until(lambda: controller.chat_page.session_id == session_id)
        assert person.window.isVisible()
        # What the user did is no news, and neither is anything once notifications are off.
        choose(person, notifications=False)
        await controller.engine.chats.send(session_id, "And now?")
        await until(lambda: len(controller.engine.live(session_id).messages) == 4, 90)
        await until(lambda: controller.engine.live(session_id).session.status == "idle", 90)
        await person.settle(0.2)
        assert len(seen) == 1


async def test_what_is_not_open_or_was_the_users_doing_is_not_notified(person, noted):
    bus = person.window.controller.engine.bus
    bus.publish(PromptAsked(session_id="gone", message_id="m", prompt=Prompt(question="?")))
    await person.settle()
    assert noted == []


@pytest.mark.slow
async def test_closing_with_the_icon_hides_the_window_says_so_once_and_quit_ends(person, noted, monkeypatch):
    window, background = person.window, person.window.controller.notifications
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: True)
    ended = []
    window.close_requested.connect(lambda: ended.append(True))
    choose(person, tray=True)
    assert background.tray is not None
    for _again in range(2):
        window.close()
        assert not window.isVisible()
        await person.settle()
        assert [title for _id, title, _text in noted] == ["Moot"]
        background.tray.open_requested.emit()
        assert window.isVisible()
    assert ended == []
    actions = {action.text(): action for action in background.tray.menu.actions() if action.text()}
    assert list(actions) == ["Open Moot", "New chat", "Quick chat", "New decision", "Quit"]
    window.close()
    actions["New chat"].trigger()
    assert window.isVisible()
    assert window.controller.pages.current is window.controller.chat_page
    actions["Quit"].trigger()
    assert ended == [True]
    choose(person, tray=False, language="ko")
    assert background.tray is None
    window.close()
    assert ended == [True, True]


@pytest.mark.slow
async def test_the_icon_says_how_much_needs_the_user(person, monkeypatch):
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: True)
    choose(person, tray=True)
    tray = person.window.controller.notifications.tray
    assert tray.icon.toolTip() == "Moot"
    tray.show_waiting(2)
    assert "2" in tray.icon.toolTip()
    choose(person, language="ko")
    assert tray.menu.actions()[0].text() == "Moot 열기"


@pytest.mark.slow
async def test_where_there_is_no_place_for_the_icon_moot_goes_on_and_says_how_to_come_back(
    person, noted, monkeypatch
):
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: False)
    choose(person, tray=True)
    await until(lambda: person.sees("toast"))
    ended = []
    person.window.close_requested.connect(lambda: ended.append(True))
    person.window.close()
    assert not person.window.isVisible()
    await until(lambda: noted)
    assert "start Moot again" in noted[0][2]
    assert ended == []
    choose(person, tray=False)
    person.window.close()
    assert ended == [True]


@pytest.mark.slow
async def test_the_icon_appears_once_the_desktop_has_a_place_for_it(person, monkeypatch):
    place = []
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: bool(place))
    background = person.window.controller.notifications
    background._panel.setInterval(20)
    choose(person, tray=True)
    assert background.tray is None
    place.append("a panel")
    await until(lambda: background.tray is not None)
    assert background.tray.icon.isVisible()
    assert not background._panel.isActive()
    # Nobody waits for a panel once there is no wish for the icon.
    place.clear()
    for wanted in (False, True, False):
        choose(person, tray=wanted)
    assert (background.tray, background._panel.isActive()) == (None, False)


@pytest.mark.slow
async def test_without_notifications_of_the_desktop_the_icon_shows_them(person, monkeypatch):
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: True)
    choose(person, tray=True)
    background, shown = person.window.controller.notifications, []

    async def nobody(*_args):
        return False

    background.notes.show = nobody
    background.tray.show_note = lambda title, text: shown.append((title, text))
    background._note("s1", "A\nlong title", "Finished.")
    await until(lambda: shown == [("A long title", "Finished.")])


@pytest.mark.parametrize("system", ["darwin", "win32"])
async def test_a_note_reaches_its_user_on_windows_and_macos_without_the_icon(
    person, qapp, monkeypatch, system
):
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: True)
    window, shown, asked = person.window, [], []
    background = window.controller.notifications
    monkeypatch.setattr(
        QSystemTrayIcon,
        "showMessage",
        lambda icon, title, text, _picture, _ms: shown.append((icon.isVisible(), title, text)),
    )
    window.session_requested.connect(asked.append)
    choose(person, tray=False)
    key = f"sk-ant-api03-{'Ab1' * 20}"
    with monkeypatch.context() as there:
        there.setattr(sys, "platform", system)
        background._note("s1", f"Why is {key}\nrefused?", f"Is {key} right?")
        await until(lambda: shown, 10)
    [(seen, title, text)] = shown
    assert seen, "a system shows nothing of an icon that is not there"
    assert title.startswith("Why is ") and title.endswith(" refused?") and text.endswith(" right?")
    assert "api03" not in title + text
    window.hide()
    background.tray.icon.messageClicked.emit()
    assert window.isVisible() and asked == ["s1"]
    # The icon was for the note alone.
    assert background.tray is not None
    qapp.applicationStateChanged.emit(Qt.ApplicationState.ApplicationActive)
    await until(lambda: background.tray is None)


@pytest.mark.parametrize("language", ["en", "ko"])
async def test_where_nothing_shows_notifications_their_setting_says_so(person, monkeypatch, language):
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    place = []
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: bool(place))
    settings, words = person.window.controller.settings, person.window.language

    def said() -> list[str]:
        dialog = person.find("settings_page")
        return [one.text() for one in dialog.findChildren(QLabel) if one.isVisible() and one.text() == text]

    words.choose(language)
    text = words("setting.notifications.unheard")
    settings.open("appearance")
    await until(said)
    await person.click("settings_close")
    await person.settle()
    place.append("a panel")
    settings.open("appearance")
    await person.settle(0.3)
    assert said() == []
    await person.click("settings_close")
