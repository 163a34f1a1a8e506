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
def test_a_picture_is_painted_with_words_that_save_and_copy_it(
    view: TranscriptView, qtbot: QtBot, text: str
) -> None:
    row_id = show(view, drawn(png(600, 400), text=text))
    qtbot.waitUntil(lambda: colour_at(view, row_id) == "#d03030")
    assert "Image picture-1.png, 600 × 400 pixels" in view.describe(row_id)
    with qtbot.waitSignal(view.save_requested) as wanted:
        click(view, row_id, "save_picture/0")
    assert wanted.args[0].name == "picture-1.png"
    with qtbot.waitSignal(view.copy_done):
        click(view, row_id, "copy_picture/0")
    assert QGuiApplication.clipboard().image().size().width() == 600


def test_the_menu_the_bar_and_the_keyboard_reach_it(view: TranscriptView, qtbot: QtBot) -> None:
    row_id = show(view, drawn(png()))
    rect = view.message_rect(row_id)
    assert rect is not None
    menu = view.context_menu(rect.center())
    [save] = [action for action in menu.actions() if action.text() == "Save image"]
    with qtbot.waitSignal(view.save_requested):
        save.trigger()
    QTest.mouseMove(view.viewport(), rect.center())
    with qtbot.waitSignal(view.copy_done):
        view.action_bar.chosen.emit(view.action_bar.message_id, "copy_picture")
    view.setFocus()
    for _ in range(20):
        QTest.keyClick(view, Qt.Key.Key_Tab)
        if view.keyboard.target and view.keyboard.target.action == "save_picture/0":
            break
    with qtbot.waitSignal(view.save_requested):
        QTest.keyClick(view, Qt.Key.Key_Return)


def test_each_of_several_pictures_has_its_own_words(view: TranscriptView, qtbot: QtBot) -> None:
    row_id = show(view, drawn(png(50, 50), png(70, 30)))
    with qtbot.waitSignal(view.save_requested) as wanted:
        click(view, row_id, "save_picture/1")
    assert wanted.args[0].name == "picture-2.png"


def test_what_only_claims_to_be_a_picture_is_a_chip(view: TranscriptView) -> None:
    for data in (b"no picture", png(told=(30_000, 30_000)), b"\x89PNG\r\n\x1a\n"):
        row_id = show(view, drawn(data))
        view.grab()
        assert row(view, row_id)._pictures is None
        assert "[picture-1.png" in view.describe(row_id)
