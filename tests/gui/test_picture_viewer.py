"""The viewer of pictures: decoded as large as they are seen, zoomed, moved, copied, saved, and those beside them."""

import base64
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, QPointF, QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.core.message import Attachment
from app.gui.display.appearance import Language, Look
from app.gui.widgets.picture_viewer import PictureViewer
from app.wiring import resources_dir
from tests.pictures import png


def shown(data: bytes, number: int, size: QSize) -> tuple[Attachment, QSize]:
    text = base64.b64encode(data).decode()
    return Attachment(name=f"picture-{number}.png", media_type="image/png", data=text), size


@pytest.fixture
def viewer(qtbot: QtBot, qapp) -> Iterator[PictureViewer]:
    over = QWidget()
    qtbot.addWidget(over)
    over.resize(900, 700)
    over.show()
    large = shown(png(3_000, 2_000), 1, QSize(3_000, 2_000))
    small = shown(png(60, 40, b"\x30\xa0\x30"), 2, QSize(60, 40))
    broken = shown(b"no picture", 3, QSize(10, 10))
    look, language = Look(qapp, resources_dir(), "light"), Language(resources_dir() / "i18n", "en")
    result = PictureViewer(language, look, [large, small, broken], 0, over)
    result.open()
    qtbot.waitUntil(lambda: result.canvas.shown)
    yield result
    over.close()


def colour(viewer: PictureViewer, at: QPoint | None = None) -> str:
    canvas = viewer.canvas
    return canvas.grab().toImage().pixelColor(at or canvas.rect().center()).name()


def press(viewer: PictureViewer, key: Qt.Key) -> None:
    QTest.keyClick(viewer, key)


def test_a_picture_fits_and_is_zoomed_and_moved(viewer: PictureViewer, qtbot: QtBot) -> None:
    canvas = viewer.canvas
    assert colour(viewer) == "#d03030" and not canvas.pans and canvas.scale < 0.3
    assert max(canvas._image.width(), canvas._image.height()) <= 900, "no larger than it is seen"
    press(viewer, Qt.Key.Key_1)
    assert canvas.scale == 1 and canvas.pans
    qtbot.waitUntil(lambda: canvas.shown and canvas._image.width() == 3_000)
    # At the right edge it stops.
    canvas.pan(QPointF(10_000, 0))
    assert colour(viewer, canvas.rect().center()) == "#d03030"
    assert colour(viewer, QPoint(canvas.width() - 2, 40)) == "#d03030"
    press(viewer, Qt.Key.Key_Plus)
    assert canvas.scale == 1.25
    for _ in range(20):
        press(viewer, Qt.Key.Key_Minus)
    assert not canvas.pans
    QTest.mouseDClick(canvas, Qt.MouseButton.LeftButton, pos=canvas.rect().center())
    assert canvas.scale == 1


def test_arrows_go_to_the_others_and_escape_closes(viewer: PictureViewer, qtbot: QtBot) -> None:
    press(viewer, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: colour(viewer) == "#30a030")
    assert viewer.canvas.accessibleName() == "Image picture-2.png, 60 × 40 pixels"
    assert viewer.canvas.scale == 1, "a small one is not enlarged"
    press(viewer, Qt.Key.Key_PageDown)
    qtbot.waitUntil(lambda: viewer.canvas._broken)
    press(viewer, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: colour(viewer) == "#d03030")
    with qtbot.waitSignal(viewer.rejected):
        press(viewer, Qt.Key.Key_Escape)


def test_it_is_copied_and_saved_from_there(viewer: PictureViewer, qtbot: QtBot) -> None:
    QGuiApplication.clipboard().clear()
    QTest.keyClick(viewer, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: QGuiApplication.clipboard().image().width() == 3_000)
    with qtbot.waitSignal(viewer.save_requested) as wanted:
        QTest.mouseClick(viewer.findChild(QWidget, "picture_save"), Qt.MouseButton.LeftButton)
    assert wanted.args[0].name == "picture-1.png"
