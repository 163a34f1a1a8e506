"""The one fault of the Qt binding that must never come back, and a smoke test of what we rely on."""

import sys

from PySide6.QtCore import QEvent, QTimer
from PySide6.QtGui import QFontDatabase, QFontMetrics
from PySide6.QtWidgets import QWidget

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


def test_korean_can_be_drawn_without_a_korean_font_in_the_system(qapp):
    number = QFontDatabase.addApplicationFont(str(resources_dir() / "fonts" / "Pretendard-Regular.otf"))
    try:
        (family,) = QFontDatabase.applicationFontFamilies(number)
        metrics = QFontMetrics(QFontDatabase.font(family, "Regular", 14))
        assert all(metrics.inFont(letter) for letter in "토론을 시작하다")
    finally:
        QFontDatabase.removeApplicationFont(number)
