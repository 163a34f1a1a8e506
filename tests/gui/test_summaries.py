"""Summaries in the window: the line between two turns, what can be done with it, and the gauge by the composer."""

import asyncio
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QPushButton

from app.core.ids import new_id
from app.core.message import Message
from app.core.session import Chat, ChatSession
from app.gui.widgets.controls import TextBox
from tests import app_driver
from tests.app_driver import Person, at_window
from tests.builders import a_log_store, user_said
from tests.gui.test_chat_page import say
from tests.gui.test_toasts import shown
from tests.wire import Answer
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401
from tests.wire.server import Recorded

until = partial(app_driver.until, seconds=60.0)
ASKS = "Write notes that will stand in place of its beginning"
LONG = "Words about boats and harbours. " * 60


def _reply(request: Recorded) -> Answer:
    asked = ASKS in request.messages[-1].text
    return Answer("The boat is called **Marigold**." if asked else LONG)


async def _bring_in(folder: Path) -> None:
    """Save a long chat that another program exported."""
    store, messages = a_log_store(folder), list[Message]()
    await asyncio.to_thread(store.prepare)
    for number in range(200):
        before = messages[-1].turn_id if messages else ""
        said = replace(user_said(f"Question {number}: {LONG}"), id=new_id(), turn_id=new_id(), follows=before)
        messages.append(said)
    chat = Chat(assistant_id="assistant", assistant_name="Assistant", head=messages[-1].turn_id)
    session = ChatSession(id=new_id(), title="Old chat", status="idle", source="chatgpt/1", chat=chat)
    await store.bring_in(session, messages)
    await store.close()


@pytest.fixture
async def person(qapp, data_dir, wire_home):  # noqa: F811
    wire_home["openai"].script("openai-wire", _reply)
    await _bring_in(data_dir)
    async with at_window(data_dir) as person:
        yield person


async def _talk(person: Person) -> None:
    await person.click("new_button")
    for number in range(4):
        await say(person, f"Question {number}: {LONG}")
        await until(lambda count=2 * number + 2: len(_read(person)) == count, what="the answer")
        await until(lambda: person.window.controller.chat_page.session.status == "idle")


def _read(person: Person) -> list[str]:
    return person.transcript("transcript")


def _hover(person: Person, message_id: str) -> None:
    """Put the mouse over a message, so that its actions show."""
    view = person.window.controller.chat_page.transcript
    view.point_out(message_id)
    rect = view.message_rect(message_id)
    assert rect is not None
    view.action_bar.hide()
    for right in (200, 210):
        QTest.mouseMove(view.viewport(), rect.topLeft() + QPoint(right, 40))


def _line(person: Person) -> str:
    [line] = [one for one in _read(person) if "ummarised here" in one]
    return line


@pytest.mark.slow
async def test_a_summary_is_asked_for_read_put_aside_and_edited(person, wire_servers):  # noqa: F811
    await _talk(person)
    page = person.window.controller.chat_page
    gauge = person.find("context_gauge", QPushButton)
    await until(lambda: gauge.isVisible() and " of " in gauge.text(), what="the gauge")
    before = gauge.accessibleName()
    assert "The next message sends about" in before and "128,000" in before
    person.window.controller.summaries.summarise()
    await until(lambda: any("ummarised here" in one for one in _read(person)), what="the line")
    await until(lambda: page.session.status == "idle")
    place = [place for place, one in enumerate(_read(person)) if "ummarised here" in one]
    assert 0 < place[0] < len(_read(person)) - 1
    assert " → " in _line(person) and "collapsed" in _line(person)
    await until(lambda: gauge.accessibleName() != before, what="the gauge to fall")
    # Its text is shown by the same key and click that unfold a card.
    model = page.transcript.model
    row_id = next(entry.id for entry in model.entries if entry.kind == "summary")
    page.transcript.feed.set_open(row_id, open_=None)
    assert "The boat is called Marigold." in _line(person)
    page.transcript.action_requested.emit(row_id, "leave_summary")
    await until(lambda: "Not used" in _line(person), what="the summary to be put aside")
    page.transcript.action_requested.emit(row_id, "use_summary")
    await until(lambda: "Not used" not in _line(person))
    page.transcript.point_out(row_id)
    menu = page.transcript.context_menu(page.transcript.message_rect(row_id).center())
    assert "Summarise again – with openai-wire" in [one.text() for one in menu.actions()]
    page.transcript.action_requested.emit(row_id, "edit")
    assert person.find("summary_dialog", QDialog).isVisible()
    person.find("summary_text", TextBox).setPlainText("The boat is called Daisy.")
    await person.click("summary_save")
    await until(lambda: sum("ummarised here" in one for one in _read(person)) == 2, what="the edited one")
    assert sum("Not used" in one for one in _read(person)) == 1
    first = page.transcript.message_ids[0]
    asked = wire_servers["openai"].requests
    _hover(person, first)
    await person.click("message_pin")
    await until(lambda: "(pinned)" in _read(person)[0], what="the mark")
    await person.click("toast_action")
    await until(lambda: "(pinned)" not in _read(person)[0], what="the pin to be taken back")
    _hover(person, first)
    await person.click("message_pin")
    await until(lambda: page.session.chat.pinned == (first,))
    page.transcript.point_out(page.transcript.message_ids[-1])
    person.window.controller.summaries.next_pin()
    assert page.transcript.message_rect(first).top() >= 0 and not page.transcript.following
    await say(person, "What is my boat called?")
    await until(lambda: "What is my boat called?" in asked[-1].messages[-1].text)
    sent = asked[-1].messages[0].text
    assert "Daisy" in sent and "Marigold" not in sent and "Question 1" not in sent
    assert sent.index("Daisy") < sent.index("Question 0")
    await until(lambda: page.session.status == "idle")
    session_id = page.session.id
    await person.click("new_button")
    await until(lambda: not gauge.isVisible(), what="the gauge to go")
    person.window.controller.show_session(session_id)
    await until(lambda: sum("ummarised here" in one for one in _read(person)) == 2, what="the lines again")


@pytest.mark.slow
async def test_too_little_to_summarise_is_said(person):
    await person.click("new_button")
    await say(person, "Hello")
    page = person.window.controller.chat_page
    await until(lambda: len(_read(person)) == 2 and page.session.status == "idle")
    person.window.controller.summaries.summarise()
    await until(lambda: any("not enough to summarise" in one for one in shown(person)), what="the note")
    await until(lambda: page.session.status == "idle")
    assert len(_read(person)) == 2


@pytest.mark.slow
async def test_a_long_imported_chat_asks_what_to_send(person, wire_servers):  # noqa: F811
    controller, page = person.window.controller, person.window.controller.chat_page
    [summary] = [one for one in controller.engine.sessions() if one.title == "Old chat"]
    controller.show_session(summary.id)
    await until(lambda: page.session_id == summary.id and controller.engine.live(summary.id))
    gauge = person.find("context_gauge", QPushButton)
    await until(lambda: gauge.property("tone") == "warn", what="the gauge to be coloured")
    await say(person, "Go on.")
    await until(lambda: person.sees("long_chat_dialog"), what="the question")
    person.find("long_chat_dialog", QDialog).reject()
    await until(lambda: page.composer.box.text() == "Go on.", what="the message to come back")
    await person.press("composer", Qt.Key.Key_Return)
    await until(lambda: person.sees("long_chat_dialog"))
    await person.click("long_chat_last")
    await until(lambda: any("ummarised here" in one for one in _read(person)), what="the line")
    await until(lambda: page.session.status == "idle" and len(wire_servers["openai"].requests) > 0)
    [request] = wire_servers["openai"].requests
    assert "Go on." in request.messages[-1].text and "Question 199:" in request.messages[-1].text


async def test_the_window_of_a_model_is_set_at_the_gauge(person, wire_servers):  # noqa: F811
    await say(person, "Hello.")
    gauge = person.find("context_gauge", QPushButton)
    await until(lambda: "128,000" in gauge.accessibleName(), what="the gauge")
    for typed, shown_window in (("40000", "40,000"), ("0", "128,000")):
        _set_window(person, gauge, typed)
        await until(lambda: shown_window in gauge.accessibleName(), what=f"a window of {shown_window}")  # noqa: B023


def _set_window(person: Person, gauge: QPushButton, typed: str) -> None:
    gauge.choices.aboutToShow.emit()
    next(one for one in gauge.choices.actions() if one.text() == "Set the window…").trigger()
    dialog = person.window.findChild(QDialog, "window_dialog")
    assert "Context window of" in dialog.windowTitle()
    person.find("window_field").setText(typed)
    dialog.go.click()
