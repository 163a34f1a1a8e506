"""The line of the next speaker: what is waited for in words, and the seconds once the wait is long."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QPainter, QPixmap
from PySide6.QtWidgets import QWidget

from app.core.texts import Texts
from app.gui.display.theme import LIGHT
from app.gui.transcript import painted_row
from app.gui.transcript.painted_row import RowSpeaker, TypingIndicator
from app.gui.transcript.row_text import COMPACT, RowStyle

I18N = Path(__file__).parents[2] / "resources" / "i18n"
ADA = RowSpeaker("Ada", "A", "#000000", "#ffffff")
BEN = RowSpeaker("Ben", "B", "#000000", "#ffffff")


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(painted_row, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def indicator(qtbot, clock):
    widget = QWidget()
    qtbot.addWidget(widget)
    font = widget.font()
    font.setPixelSize(14)
    result = TypingIndicator(RowStyle(COMPACT, font, LIGHT, Texts.load(I18N, "en")), widget)
    yield result
    result.stop()


def test_the_seconds_are_counted_once_the_wait_is_long(indicator, clock):
    indicator.start(ADA, "For", "starting the model…")
    assert indicator.waiting_text() == "starting the model…"
    clock[0] += 2.9
    assert indicator.waiting_text() == "starting the model…"
    clock[0] += 4.2
    assert indicator.waiting_text() == "starting the model… 7 s"


def test_without_words_dots_are_enough_for_a_short_wait(indicator, clock):
    indicator.start(ADA, "For")
    assert indicator.waiting_text() == ""
    clock[0] += 3.5
    assert indicator.waiting_text() == "waiting for the answer… 3 s"


def test_the_same_speaker_keeps_the_count_and_another_begins_anew(indicator, clock):
    indicator.start(ADA, "For")
    clock[0] += 9
    indicator.start(ADA, "For")
    assert "9 s" in indicator.waiting_text()
    indicator.start(BEN, "Against")
    assert indicator.waiting_text() == ""


def test_the_seconds_begin_anew_when_something_else_is_waited_for(indicator, clock):
    indicator.start(ADA, "For", "starting the model process…")
    clock[0] += 9
    assert indicator.waiting_text() == "starting the model process… 9 s"
    indicator.say("")
    assert indicator.waiting_text() == ""
    clock[0] += 3.5
    assert indicator.waiting_text() == "waiting for the answer… 3 s"


def test_it_moves_only_on_the_screen(indicator):
    indicator.start(ADA, "For")
    assert not indicator.moving
    indicator._widget.show()
    indicator.wake()
    assert indicator.moving
    indicator.stop()
    assert not indicator.moving


def painted(indicator):
    picture = QPixmap(600, 80)
    painter = QPainter(picture)
    indicator.paint(painter, QRect(0, 0, 600, 80))
    painter.end()
    return [x for x in range(600) if any(indicator.stops_at(QPoint(x, y)) for y in range(80))]


def test_a_long_silence_is_called_thinking_and_can_be_stopped(indicator, clock):
    indicator.can_stop = True
    indicator.start(ADA, "For")
    clock[0] += 9.9
    assert not painted(indicator)
    clock[0] += 120.5
    assert indicator.waiting_text() == "thinking, 2:10"
    assert painted(indicator)
    indicator.start(ADA, "For", "waiting for Ada, who is busy…")
    assert indicator.waiting_text() == "waiting for Ada, who is busy… 130 s"
    assert not painted(indicator), "what waits for somebody else does not think"
    indicator.start(BEN, "Against")
    clock[0] += 20
    assert painted(indicator)
    indicator.stop()
    assert not indicator.stops_at(QPoint(100, 40))
