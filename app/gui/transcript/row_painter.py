"""Puts the parts of one row of a transcript on the screen, where there is no finished picture of it."""

from collections.abc import Sequence

from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QPainter

from app.gui.transcript.painted_row import PaintedRow
from app.gui.transcript.row_scroller import Placed
from app.gui.transcript.segments import Range


def paint_row(
    painter: QPainter,
    area: QRect,
    placed: Placed,
    row: PaintedRow,
    ranges: Sequence[Range],
    background: QColor,
) -> None:
    """Paint what of a row is in the area, with what is marked in it."""
    painter.save()
    painter.translate(0, placed.top)
    clip = area.translated(0, -placed.top).intersected(QRect(0, 0, painter.device().width(), placed.height))
    painter.setClipRect(clip)
    painter.fillRect(clip, background)
    row.paint(painter, clip, ranges)
    painter.restore()
