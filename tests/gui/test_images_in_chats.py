"""An image that a model returns, from the wire to the window, the disk and a saved file."""

import base64
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QLabel

from app.core.files import cleaned
from app.core.session import ExportFormat
from tests import app_driver
from tests.gui.test_chat_page import person
from tests.gui.test_transcript_feed import click
from tests.pictures import SECRET, data_url, images_reply, png
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

__all__ = ["person"]

until = partial(app_driver.until, seconds=60.0)


@pytest.mark.slow
async def test_an_image_is_kept_and_saved(person, wire_servers, data_dir, monkeypatch):  # noqa: F811
    server = wire_servers["openai"]
    server.script("openai-wire", [images_reply(data_url(png(400, 300)))])
    await person.click("new_button")
    await person.write("composer", "Draw a red field.")
    await person.press("composer", Qt.Key.Key_Return)
    page = person.window.controller.chat_page
    await until(
        lambda: page.session and page.session.status == "idle" and len(page.transcript.message_ids) == 2
    )
    view, row_id = page.transcript, page.transcript.message_ids[-1]
    box = dict(view.canvas.row(view.model.index(row_id)).action_rects)["view_picture/0"]

    def colour() -> str:
        shot, rect = view.viewport().grab().toImage(), view.message_rect(row_id)
        return shot.pixelColor(
            (rect.topLeft() + box.topLeft() + QPoint(30, 30)) * shot.devicePixelRatio()
        ).name()

    await until(lambda: colour() == "#d03030", what="the image")
    assert len(server.requests) == 1, "an image alone is an answer"
    saved = data_dir / "field.png"
    monkeypatch.setattr(
        "app.gui.controllers.sessions.ask_where", lambda over, title, name, then, suffix: then(saved)
    )
    view.action_bar.chosen.emit(row_id, "save_picture")
    await until(lambda: person.sees("toast"), what="that it was saved")
    assert saved.read_bytes() == cleaned(png(400, 300))[1] and QImage(str(saved)).width() == 400
    engine, session_id = person.window.controller.engine, page.session_id
    exported = await engine.export(session_id, ExportFormat.HTML)
    assert base64.b64encode(saved.read_bytes()).decode() in exported
    await until(lambda: any("image-1.png" in log.read_text() for log in Path(data_dir).rglob("*.jsonl")))
    assert not any(SECRET in file.read_bytes() for file in Path(data_dir).rglob("*.jsonl"))

    click(view, row_id, "view_picture/0")
    await until(lambda: person.sees("picture_viewer"), what="the viewer")
    assert person.find("picture_canvas").accessibleName() == "Image image-1.png, 400 × 300 pixels"
    await person.press("picture_viewer", Qt.Key.Key_Escape)
    strip = page.chat_composer.strip
    strip.show_attachments(page.transcript.model.book.messages[row_id].attachments)
    await until(
        lambda: person.find("attachment_open_1").icon().availableSizes(), what="the thumbnail in the composer"
    )
    await until(lambda: not person.sees("picture_viewer"))
    await person.click("attachment_open_1")
    await until(lambda: person.sees("picture_viewer"), what="the viewer of what is to be sent")
    await person.press("picture_viewer", Qt.Key.Key_Escape)


async def test_a_damaged_image_is_told_and_the_text_stays(person, wire_servers):  # noqa: F811
    server = wire_servers["openai"]
    server.script("openai-wire", [images_reply(data_url(png())[:-60], text="Here it is.")])
    await person.click("new_button")
    await person.write("composer", "Draw a red field.")
    await person.press("composer", Qt.Key.Key_Return)
    page = person.window.controller.chat_page
    await until(lambda: person.sees("toast"), what="the notice")
    said = [label.text() for label in person.window.toasts.findChildren(QLabel)]
    assert any("is damaged" in text for text in said), said
    await until(lambda: page.session.status == "idle")
    assert "Here it is." in "".join(person.transcript("transcript"))
    assert len(server.requests) == 1
