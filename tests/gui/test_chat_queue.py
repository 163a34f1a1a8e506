"""What is said while an assistant is busy (row P6): seen, changed, moved, taken out and sent, and no word of it lost."""

from functools import partial

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.core.session import QueuedMessage, Status
from tests import app_driver
from tests.app_driver import at_window
from tests.gui.seen import texts_in, waiting
from tests.gui.test_chat_page import person, running, say  # noqa: F401
from tests.gui.test_drafts_kept import ONE, keep_chat, show
from tests.wire import Answer
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

until = partial(app_driver.until, seconds=60.0)


def queued(page: object) -> list[str]:
    return [one.text for one in page.session.chat.queue]  # type: ignore[attr-defined]


def drag(row: QWidget, *, to: QWidget) -> None:
    """Drag a row with the mouse past another one."""
    start, left = QPoint(60, row.height() // 2), Qt.MouseButton.LeftButton
    past = 4 if to.y() > row.y() else -4
    QTest.mousePress(row, left, pos=start)
    for top in (row.y() + to.y()) // 2, to.y() + past:
        # The row goes along, so each place is told from where it is now.
        QTest.mouseMove(row, row.mapFromParent(QPoint(row.x(), top) + start))
    QTest.mouseRelease(row, left, pos=start)


@pytest.mark.slow
async def test_what_is_said_meanwhile_queues_and_is_changed_moved_removed_and_sent(
    person,  # noqa: F811
    wire_servers,  # noqa: F811
):
    page = await running(person, wire_servers["openai"], seconds=120)
    for text in ("one", "two", "three"):
        await say(person, text)
    await until(lambda: queued(page) == ["one", "two", "three"])
    assert person.sees("queue") and "3 messages queued" in texts_in(page.queue)
    rows = [waiting(page, text) for text in ("one", "two", "three")]
    QTest.mouseClick(rows[0].edit, Qt.MouseButton.LeftButton)
    box = rows[0].box
    await until(lambda: person.window.focusWidget() is box)
    box.setPlainText("uno")
    QTest.keyClick(box, Qt.Key.Key_Return)
    await until(lambda: queued(page) == ["uno", "two", "three"])
    rows[1].setFocus()
    QTest.keyClick(rows[1], Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    await until(lambda: queued(page) == ["two", "uno", "three"])
    assert person.window.focusWidget() is rows[1]
    QTest.mouseClick(rows[1].down, Qt.MouseButton.LeftButton)
    await until(lambda: queued(page) == ["uno", "two", "three"])
    drag(rows[2], to=rows[0])
    await until(lambda: queued(page) == ["three", "uno", "two"])
    drag(rows[2], to=rows[1])
    await until(lambda: queued(page) == ["uno", "two", "three"])
    rows[0].remove.setFocus()
    QTest.keyClick(rows[0].remove, Qt.Key.Key_Space)
    await until(lambda: queued(page) == ["two", "three"])
    assert person.window.focusWidget() is page.composer.box
    await person.click("toast_action")
    await until(lambda: queued(page) == ["uno", "two", "three"], what="the message to be back")
    wire_servers["openai"].script("openai-wire", lambda request: Answer("Yes."))
    QTest.mouseClick(rows[2].send, Qt.MouseButton.LeftButton)
    await until(lambda: page.session.status == "idle" and not page.session.chat.queue)
    said = [one for one in person.transcript("transcript") if "You" in one]
    assert [one.rsplit(" ", 1)[-1].strip(".") for one in said] == ["notes", "three", "uno", "two"]


@pytest.mark.slow
async def test_a_message_that_is_rewritten_while_it_waits_loses_no_words(person, wire_servers):  # noqa: F811
    page = await running(person, wire_servers["openai"], seconds=120)
    for text in ("one", "two", "three"):
        await say(person, text)
    await until(lambda: queued(page) == ["one", "two", "three"])
    rows = [waiting(page, text) for text in ("one", "two", "three")]
    for row, text in zip(rows, ("uno", "dos", "tres"), strict=True):
        row.edit.click()
        row.box.setPlainText(text)
    await person.write("composer", "and four")
    # Taken out, it comes back as it was rewritten.
    rows[1].remove.click()
    await until(lambda: queued(page) == ["one", "three"])
    await person.click("toast_action")
    await until(lambda: queued(page) == ["one", "dos", "three"])
    # Enter comes when the message has just been sent.
    page.queue.edited.emit("sent by now", "and three")
    await until(lambda: page.composer.box.toPlainText() == "and three\n\nand four")
    # Sent at once, it says what was written.
    rows[2].box.setFocus()
    wire_servers["openai"].script("openai-wire", lambda request: Answer("Yes."))
    rows[2].send.click()
    await until(lambda: page.session.status == "idle" and len(page.session.chat.queue) == 2)
    assert said(person) == ["Write the notes.", "tres"]
    assert rows[0].box.toPlainText() == "uno"
    assert page.composer.box.toPlainText() == "and three\n\nand four"
    await until(lambda: person.window.focusWidget() is page.composer.box)
    QTest.keyClick(rows[0].box, Qt.Key.Key_Return)
    await until(lambda: page.session.status == "idle" and not page.session.chat.queue)
    assert said(person) == ["Write the notes.", "tres", "uno", "dos"]


def said(person) -> list[str]:  # noqa: F811
    """Return what the user has said in the chat in front."""
    desk = person.window.controller
    return [one.content for one in desk.engine.live(desk.chat_page.session_id).messages if one.role == "user"]


async def held(person, server) -> object:  # noqa: F811
    """Begin a chat in which the first of two queued messages is being edited as its turn comes; return its page."""
    page = await running(person, server, seconds=120)
    for text in ("one", "two"):
        await say(person, text)
    await until(lambda: queued(page) == ["one", "two"])
    waiting(page, "one").edit.click()
    server.script("openai-wire", lambda request: Answer("Yes."))
    await person.click("stop_button")
    await until(lambda: page.session.status == "stopped")
    await say(person, "Go on.")
    await until(lambda: said(person)[-1] == "Go on." and page.session.status == "idle")
    return page


@pytest.mark.slow
async def test_a_message_that_is_edited_is_sent_once_it_is_saved(person, wire_servers):  # noqa: F811
    page = await held(person, wire_servers["openai"])
    assert queued(page) == ["one", "two"]
    # What is written now comes behind what waits already.
    await say(person, "three")
    await until(lambda: queued(page) == ["one", "two", "three"])
    box = waiting(page, "one").box
    box.setPlainText("uno")
    QTest.keyClick(box, Qt.Key.Key_Return)
    await until(lambda: page.session.status == "idle" and not page.session.chat.queue)
    assert said(person) == ["Write the notes.", "Go on.", "uno", "two", "three"]
    assert page.draft.queued == {} and page.composer.box.toPlainText() == ""


@pytest.mark.slow
async def test_a_message_whose_edit_is_cancelled_is_sent_as_it_was(person, wire_servers):  # noqa: F811
    page = await held(person, wire_servers["openai"])
    box = waiting(page, "one").box
    box.setPlainText("uno")
    QTest.keyClick(box, Qt.Key.Key_Escape)
    await until(lambda: page.session.status == "idle" and not page.session.chat.queue)
    assert said(person) == ["Write the notes.", "Go on.", "one", "two"]


@pytest.mark.slow
async def test_what_is_behind_an_edited_message_goes_on_once_that_is_moved_or_removed(
    person,  # noqa: F811
    wire_servers,  # noqa: F811
):
    page = await held(person, wire_servers["openai"])
    waiting(page, "one").down.click()
    await until(lambda: said(person)[-1] == "two" and page.session.status == "idle")
    assert queued(page) == ["one"]
    await say(person, "three")
    await until(lambda: queued(page) == ["one", "three"])
    waiting(page, "one").remove.click()
    await until(lambda: page.session.status == "idle" and not page.session.chat.queue)
    assert said(person) == ["Write the notes.", "Go on.", "two", "three"]


@pytest.mark.slow
async def test_an_edited_message_is_held_over_a_restart(qapp, data_dir, wire_home, wire_servers):  # noqa: F811
    wire_servers["openai"].script("openai-wire", lambda request: Answer("Yes."))
    queue = (QueuedMessage(id="q1", text="one"), QueuedMessage(id="q2", text="two"))
    keep_chat(data_dir, ONE, status=Status.PAUSED, queue=queue)
    async with at_window(data_dir) as person:  # noqa: F811
        page = await show(person, ONE)
        waiting(page, "one").edit.click()
        waiting(page, "one").box.setPlainText("uno")
    async with at_window(data_dir) as person:
        page = await show(person, ONE)
        row = waiting(page, "one")
        assert row.box.isVisible() and row.box.toPlainText() == "uno"
        page.state_line.resume.click()
        await until(lambda: page.session.status == "idle")
        assert queued(page) == ["one", "two"]
        QTest.keyClick(row.box, Qt.Key.Key_Return)
        await until(lambda: page.session.status == "idle" and not page.session.chat.queue)
        assert said(person) == ["Tabs?", "uno", "two"]


async def test_what_is_rewritten_is_seen_whole(qapp, data_dir):
    queue = tuple(QueuedMessage(id=f"q{number}", text=f"Point {number}.") for number in range(6))
    keep_chat(data_dir, ONE, status=Status.PAUSED, queue=queue)
    async with at_window(data_dir, size=(900, 600)) as person:  # noqa: F811
        page = await show(person, ONE)
        row = waiting(page, "Point 5.")

        def seen_whole() -> bool:
            room = page.queue.viewport()
            return room.rect().contains(QRect(row.mapTo(room, QPoint(0, 0)), row.size()))

        row.edit.click()
        row.box.setPlainText("one\ntwo\nthree\nfour")
        await until(lambda: row.height() > 80 and seen_whole())
        for other in [waiting(page, f"Point {number}.") for number in range(5)]:
            other.remove.click()
        await until(lambda: queued(page) == ["Point 5."])
        await until(seen_whole)
        assert row.box.toPlainText().endswith("four")
        before = page.queue.height()
        QTest.keyClick(row.box, Qt.Key.Key_Escape)
        await until(lambda: page.queue.height() < before)
