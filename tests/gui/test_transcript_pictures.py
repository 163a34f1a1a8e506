"""Pictures of answers in a transcript: seen, copied, saved, named for a screen reader, and never decoded on sight."""

import base64
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.core.message import Attachment, Message
from app.gui.transcript.transcript_view import TranscriptView
from tests.gui.chats import SESSION, asked, spoke
from tests.gui.test_transcript_feed import click, row, view
from tests.pictures import png

__all__ = ["view"]


def picture(number: int, data: bytes) -> Attachment:
    return Attachment(
        name=f"picture-{number}.png", media_type="image/png", data=base64.b64encode(data).decode()
    )


def drawn(*data: bytes, text: str = "Here it is.") -> Message:
    pictures = tuple(picture(number, one) for number, one in enumerate(data, 1))
    return replace(spoke("m1", "tm", text), attachments=pictures)


def show(view: TranscriptView, message: Message) -> str:
    view.feed.show_session(SESSION, [asked(1), message])
    return message.id


def colour_at(view: TranscriptView, row_id: str) -> str:
    shot, rect = view.viewport().grab().toImage(), view.message_rect(row_id)
    assert rect is not None
    box = row(view, row_id)._pictures._boxes[0]
    return shot.pixelColor((box.center() + QPoint(0, rect.top())) * shot.devicePixelRatio()).name()


@pytest.mark.parametrize("text", ["Here it is.", ""])
def test_a_picture_is_painted_shown_large_and_copied(view: TranscriptView, qtbot: QtBot, text: str) -> None:
    row_id = show(view, drawn(png(600, 400), text=text))
    qtbot.waitUntil(lambda: colour_at(view, row_id) == "#d03030")
    assert "Image picture-1.png, 600 × 400 pixels" in view.describe(row_id)
    with qtbot.waitSignal(view.picture_requested) as wanted:
        click(view, row_id, "view_picture/0")
    action, pictures, place = wanted.args
    assert (action, [one.name for one, _ in pictures], place) == ("view_picture", ["picture-1.png"], 0)
    clipboard = QGuiApplication.clipboard()
    clipboard.clear()
    view.action_bar.chosen.emit(row_id, "copy_picture")
    qtbot.waitUntil(lambda: clipboard.image().size().width() == 600)


def test_the_menu_the_bar_and_the_keyboard_reach_it(view: TranscriptView, qtbot: QtBot) -> None:
    row_id = show(view, drawn(png()))
    rect = view.message_rect(row_id)
    assert rect is not None
    menu = view.context_menu(rect.center())
    [save] = [action for action in menu.actions() if action.text() == "Save image"]
    with qtbot.waitSignal(view.picture_requested) as wanted:
        save.trigger()
    assert wanted.args[0] == "save_picture"
    QTest.mouseMove(view.viewport(), rect.center())
    clipboard = QGuiApplication.clipboard()
    clipboard.clear()
    view.action_bar.chosen.emit(view.action_bar.message_id, "copy_picture")
    qtbot.waitUntil(lambda: not clipboard.image().isNull())
    view.setFocus()
    for _ in range(20):
        QTest.keyClick(view, Qt.Key.Key_Tab)
        if view.keyboard.target and view.keyboard.target.action == "view_picture/0":
            break
    with qtbot.waitSignal(view.picture_requested):
        QTest.keyClick(view, Qt.Key.Key_Return)


def test_pictures_of_either_side_stand_side_by_side(view: TranscriptView, qtbot: QtBot) -> None:
    answer = drawn(png(50, 50), png(70, 30))
    for message in (answer, replace(asked(2), attachments=answer.attachments)):
        row_id = show(view, message)
        first, second = row(view, row_id)._pictures._boxes
        assert first.right() < second.left() and first.top() == second.top()
        with qtbot.waitSignal(view.picture_requested) as wanted:
            click(view, row_id, "view_picture/1")
        assert [one.name for one, _ in wanted.args[1]] == ["picture-1.png", "picture-2.png"]
        assert wanted.args[2] == 1


def test_a_message_of_a_picture_alone_has_no_bubble_and_no_gap(view: TranscriptView) -> None:
    message = replace(asked(2), content="", attachments=drawn(png(50, 50)).attachments)
    made = row(view, show(view, message))
    [box] = made._pictures._boxes
    assert box.top() == made.top + made.style.header + 3 and not made._chips.words


def test_what_only_claims_to_be_a_picture_is_a_chip(view: TranscriptView) -> None:
    for data in (b"no picture", png(told=(30_000, 30_000)), b"\x89PNG\r\n\x1a\n"):
        row_id = show(view, drawn(data))
        view.grab()
        assert row(view, row_id).action_rects == []
        assert "[picture-1.png" in view.describe(row_id)
