"""Toasts: how long they stay, which give way, what the undo key takes back, and what a screen reader hears."""

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from app.core.events import Notice
from app.gui.widgets import notices
from tests.app_driver import at_window, until

UNDO_KEY = (Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)


@pytest.fixture
async def person(qapp, data_dir):
    async with at_window(data_dir) as person:
        person.window.activateWindow()
        await until(person.window.isActiveWindow)
        yield person


def shown(person):
    """Return what the toasts on the screen say, from the top."""
    labels = person.window.toasts.findChildren(QLabel)
    return [one.text() for one in sorted(labels, key=lambda one: one.parent().y()) if one.isVisible()]


def offer(person, name, done):
    return person.window.toasts.show_toast(name, "Undo", lambda: done.append(name))


async def test_one_that_offers_an_undo_is_pushed_out_by_nothing(person):
    toasts, done = person.window.toasts, []
    toasts.show_toast("said first")
    for name in ("one", "two"):
        offer(person, name, done)
    assert shown(person) == ["said first", "one", "two"]
    offer(person, "three", done)
    assert shown(person) == ["one", "two", "three"], "what only says something goes first"
    offer(person, "four", done)
    toasts.show_toast("said last")
    assert shown(person) == ["one", "two", "three"], "the others wait until there is room"
    toasts.undo()
    assert done == ["four"], "the newest counts, also while it waits"
    toasts.undo()
    assert shown(person) == ["one", "two", "said last"]
    assert toasts.undo() and toasts.undo() and not toasts.undo()
    assert done == ["four", "three", "two", "one"]


async def test_the_time_stands_still_while_somebody_is_at_it(person, monkeypatch):
    monkeypatch.setattr(notices, "TOAST_MS", 1)
    done = []
    held = offer(person, "held", done)
    person.window.controller.show_new()
    before = person.window.focusWidget()
    QTest.keyClick(person.window, Qt.Key.Key_F6)
    assert QApplication.focusWidget() is held.button
    person.window.toasts.show_toast("gone by then")
    await until(lambda: shown(person) == ["held"])
    QTest.keyClick(held.button, Qt.Key.Key_Space)
    assert done == ["held"]
    assert person.window.focusWidget() is before, "the keyboard goes back to where it was"
    # The mouse does the same, and Escape sends one away without a word.
    held = offer(person, "held", done)
    QApplication.sendEvent(held, QEvent(QEvent.Type.Leave))
    await until(lambda: shown(person) == [])
    held = offer(person, "held", done)
    held.take_focus()
    QTest.keyClick(held.button, Qt.Key.Key_Escape)
    assert (shown(person), done) == ([], ["held"])
    held = offer(person, "held", done)
    held.take_focus()
    before.setFocus()
    await until(lambda: shown(person) == [])


async def test_the_undo_key_is_the_fields_first_and_the_windows_then(person):
    done = []
    person.window.controller.show_new()
    field = person.window.focusWidget()
    offer(person, "one", done)
    offer(person, "two", done)
    QTest.keyClicks(field, "word")
    QTest.keyClick(field, *UNDO_KEY)
    assert (field.toPlainText(), done) == ("", [])
    QTest.keyClick(field, *UNDO_KEY)
    assert done == ["two"]
    person.find("new_button").setFocus()
    QTest.keyClick(person.find("new_button"), *UNDO_KEY)
    assert done == ["two", "one"]
    QTest.keyClick(person.find("new_button"), *UNDO_KEY)
    assert shown(person) == ["Nothing to undo."]


async def test_a_deletion_is_taken_back_once_its_toast_is_gone(person):
    toasts, done = person.window.toasts, []
    for number in range(12):
        note = toasts.show_toast(f"gone {number}", "Undo", lambda at=number: done.append(at), lasts=True)
        if number == 11:
            note.button.click()
        note.leave()
    offer(person, "brief", done).leave()
    offer(person, "here", done)
    for _ in range(3):
        QTest.keyClick(person.find("new_button"), *UNDO_KEY)
    assert done == [11, "here", 10, 9], (
        "what was taken back already is not, nor what lasts as long as its toast"
    )
    assert shown(person)[-2:] == ["Undone: gone 10", "Undone: gone 9"]
    while toasts.undo_gone():
        pass
    assert done[4:] == [8, 7, 6, 5, 4, 3, 2, 1], "the last ten"


async def test_a_deleted_session_comes_back_from_the_trash_after_a_while(person, monkeypatch):
    desk = person.window.controller
    session_id = await desk.engine.chats.start("assistant", "Keep this.")
    await desk.engine.wait(session_id)
    monkeypatch.setattr(notices, "TOAST_MS", 1)
    [row] = desk.engine.sessions()
    person.window.side_bar.sessions.delete_requested.emit(row.id)
    await until(lambda: not desk.engine.sessions())
    await until(lambda: shown(person) == [])
    QTest.keyClick(person.find("new_button"), *UNDO_KEY)
    await until(lambda: [one.id for one in desk.engine.sessions()] == [session_id])


async def test_what_leads_elsewhere_is_no_undo(person):
    led = []
    person.window.toasts.show_toast("look", "Show", lambda: led.append(True), undoes=False)
    assert not person.window.toasts.undo()
    QTest.keyClick(person.window, Qt.Key.Key_F6)
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Space)
    assert led == [True]


async def test_the_last_deletion_is_taken_back_from_the_palette(person):
    done = []
    offer(person, "one", done)
    QTest.keyClick(person.window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    await until(lambda: person.sees("palette_box"))
    await person.write("palette_box", "undo the last")
    await person.press("palette_box", Qt.Key.Key_Return)
    await until(lambda: done == ["one"])


async def test_a_screen_reader_hears_a_toast_and_the_banner(person, monkeypatch):
    heard = []

    def hear(event):
        if isinstance(event, QAccessibleAnnouncementEvent):
            heard.append((event.message(), event.politeness()))

    monkeypatch.setattr(QAccessible, "isActive", lambda: True)
    monkeypatch.setattr(QAccessible, "updateAccessibility", hear)
    person.window.toasts.show_toast("It was moved to the trash.")
    bus = person.window.controller.engine.bus
    bus.publish(Notice(session_id="", level="error", code="save_failed", sticky=True))
    assert heard[0] == ("It was moved to the trash.", QAccessible.AnnouncementPoliteness.Polite)
    assert heard[1][0].startswith("Could not save.")
    assert heard[1][1] == QAccessible.AnnouncementPoliteness.Assertive


@pytest.mark.slow
@pytest.mark.parametrize("size", [100, 150])
async def test_a_few_words_stay_on_one_line_beside_an_action_of_any_length(person, size):
    person.window.controller.settings.change({"text_size": size})
    toast = person.window.toasts.show_toast("Who is busy", "Keep what is here for now", print)
    await until(toast.isVisible)
    await person.settle()
    (label,) = toast.findChildren(QLabel)
    assert label.height() < 2 * label.fontMetrics().lineSpacing()
    assert toast.button.width() >= toast.button.sizeHint().width()
    assert toast.width() < person.window.width()
