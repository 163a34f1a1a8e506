"""Two faults of the Qt binding that must never come back, and a smoke test of what we rely on."""

import re
import sys

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QColor, QFont, QFontDatabase, QImage, QPainter, QRawFont
from PySide6.QtWidgets import QPlainTextEdit, QPushButton, QVBoxLayout, QWidget
from shiboken6 import dump

from app.gui.widgets.boxes import focus_chain, stops_in
from app.storage.paths import resources_dir


def test_calls_into_qt_keep_the_references_of_none(qapp):
    # PySide6 6.12.0 on Python 3.11 takes one reference of None at every call without a result; the
    # process then dies after a few thousand of them.
    widget, timer = QWidget(), QTimer()
    before = sys.getrefcount(None)
    for _ in range(2_000):
        widget.update()
        timer.stop()
        qapp.sendPostedEvents(None, QEvent.Type.None_.value)
    assert abs(sys.getrefcount(None) - before) < 200
    widget.deleteLater()


def test_a_walk_through_the_focus_chain_makes_no_widget_the_owner_of_another(qapp):
    window = QWidget()
    column, stops = QVBoxLayout(window), [QPushButton(), QPlainTextEdit(), QPushButton()]
    for stop in stops:
        column.addWidget(stop)
    assert stops_in(window) == stops
    assert [part for part in focus_chain(window, back=True) if part in stops] == stops[::-1]
    assert {owner(stop) for stop in stops} == {f"QWidget at {id(window):#x}"}
    assert owner(window) == ""
    window.deleteLater()


def owner(widget):
    """Return what PySide would take the widget with."""
    found = re.search(r"^parent\W+(?:\w+\.)*(.+)>", dump(widget), re.MULTILINE)
    return found[1] if found else ""


def test_korean_can_be_drawn_without_a_korean_font_in_the_system(qapp):
    path = resources_dir() / "fonts" / "Pretendard-Regular.otf"
    letters = "토론을시작하다"
    assert all(map(QRawFont(str(path), 14).supportsCharacter, map(ord, letters)))
    number = QFontDatabase.addApplicationFont(str(path))
    try:
        (family,) = QFontDatabase.applicationFontFamilies(number)
        # Letters that a font lacks would all be the same box, or nothing.
        assert len({drawn(letter, QFont(family, 14)) for letter in [*letters, " "]}) == len(letters) + 1
    finally:
        QFontDatabase.removeApplicationFont(number)


def drawn(letter, font):
    image = QImage(40, 40, QImage.Format.Format_Grayscale8)
    image.fill(0)
    painter = QPainter(image)
    painter.setFont(font)
    painter.setPen(QColor("white"))
    painter.drawText(image.rect(), Qt.AlignmentFlag.AlignCenter, letter)
    painter.end()
    return bytes(image.constBits())
