"""What a screen reader is told of a transcript, asked through Qt's own interface."""

import pytest
from PySide6.QtGui import QAccessible, QAccessibleActionInterface
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from app.core.message import MessageState
from app.gui.display.appearance import Look
from app.gui.display.theme import LIGHT
from app.gui.transcript.transcript_view import TranscriptView
from app.gui.widgets.controls import icon_button
from app.storage.paths import resources_dir
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


@pytest.mark.parametrize("menu", [False, True])
def test_a_screen_reader_can_press_a_button_that_is_only_an_icon(qapp, menu) -> None:
    made = icon_button(Look(qapp, resources_dir(), "light"), "x")
    if menu:
        made.setMenu(QMenu(made))
    actions = QAccessible.queryAccessibleInterface(made).actionInterface().actionNames()
    assert actions[0] == (QAccessibleActionInterface.showMenuAction() if menu else "Press")
