"""Rows as they are painted: boxes of tasks, and what stands in the line above the text."""

from datetime import datetime

import pytest
from PySide6.QtCore import QPoint
from pytestqt.qtbot import QtBot

from app.gui.display.theme import LIGHT
from app.gui.transcript.row_text import COMPACT, WIDE
from app.gui.transcript.row_words import sent_at
from app.gui.transcript.transcript_view import TranscriptView
from tests.gui.shown_view import texts
from tests.gui.test_transcript_view import SESSION, said


@pytest.fixture
def wide(qtbot: QtBot) -> TranscriptView:
    """Return a shown view of the main area."""
    result = TranscriptView(LIGHT, texts(), layout=WIDE)
    qtbot.addWidget(result)
    result.resize(700, 500)
    with qtbot.waitExposed(result):
        result.show()
    return result


def test_a_ticked_box_is_painted_ticked(wide: TranscriptView) -> None:
    wide.feed.show_session(SESSION, [said(0, "- [x] done\n- [ ] open\n- [x] done too")])
    picture = wide.grab().toImage()
    row = wide.canvas.row(0)
    rect = wide.message_rect("m0")
    assert rect is not None
    ratio = picture.devicePixelRatio()

    def shade(position: int) -> str:
        line = row.position_rect(position)
        point = (QPoint(line.left() - 16, line.center().y() - 3) + rect.topLeft()) * ratio
        return picture.pixelColor(point).name()

    assert [shade(row.text.plain_text.index(word)) for word in ("done\n", "open", "done too")] == [
        LIGHT.accent.lower(),
        LIGHT.surface.lower(),
        LIGHT.accent.lower(),
    ]


@pytest.mark.parametrize(("layout", "shown"), [(WIDE, True), (COMPACT, False)])
def test_only_the_wide_header_says_when_a_message_was_sent(qtbot: QtBot, layout: str, shown: bool) -> None:
    view = TranscriptView(LIGHT, texts(), layout=layout)
    qtbot.addWidget(view)
    message = said(0, "words", created_at="2026-11-21T14:02:00.000Z", seconds=3.14)
    view.feed.show_session(SESSION, [message])
    local = datetime.fromisoformat(message.created_at).astimezone()
    words = " ".join(piece.text for piece in view.canvas.row(0)._pieces)
    assert (f"{local:%H:%M} · 3.1" in words) is shown
    assert "3.1" in words


def test_a_time_nobody_wrote_is_left_out() -> None:
    assert sent_at(said(0, "words")) == sent_at(said(0, "words", created_at="yesterday")) == ""
