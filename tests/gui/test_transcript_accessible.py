"""What a screen reader is told of a transcript, asked through Qt's own interface."""

from PySide6.QtGui import QAccessible
from pytestqt.qtbot import QtBot

from app.core.message import MessageState
from app.gui.display.theme import LIGHT
from app.gui.transcript.transcript_view import TranscriptView
from tests.gui.shown_view import texts
from tests.gui.test_transcript_view import SESSION, many, said


def test_messages_are_items_that_say_who_speaks_and_what(qtbot: QtBot) -> None:
    view = TranscriptView(LIGHT, texts())
    qtbot.addWidget(view)
    view.resize(460, 400)
    view.show()
    view.feed.show_session(SESSION, [*many(50), said(50, "The **last** word", 1)])
    told = QAccessible.queryAccessibleInterface(view)
    assert told.role() == QAccessible.Role.List
    assert told.text(QAccessible.Text.Name) == "Conversation"
    assert told.childCount() == 51
    item = told.child(50)
    assert item.role() == QAccessible.Role.ListItem
    assert item.text(QAccessible.Text.Name) == "Claude (Against): The last word"
    assert told.indexOfChild(item) == 50
    assert not item.state().offscreen
    assert told.child(0).state().offscreen
    assert item.parent() is told
    center = item.rect().center()
    assert told.childAt(center.x(), center.y()) is item
    assert told.child(51) is None


def test_a_message_is_announced_once_when_it_is_finished(qtbot: QtBot, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    view = TranscriptView(LIGHT, texts())
    qtbot.addWidget(view)
    view.feed.show_session(SESSION, [said(0, "", state=MessageState.STREAMING)])
    told: list[str] = []
    monkeypatch.setattr(QAccessible, "isActive", lambda: True)
    monkeypatch.setattr(QAccessible, "updateAccessibility", lambda event: told.append(event.message()))
    for word in ("some ", "words ", "come"):
        view.feed.append_text("m0", word)
        view.feed.flush()
    assert told == []
    view.feed.message_finished(said(0, "some words come"))
    assert told == ["GPT (For): some words come"]
