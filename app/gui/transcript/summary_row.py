"""The row of a summary: a thin line across the transcript, which unfolds to the text that models are sent."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QColor, QPainter

from app.core.message import Message
from app.engine.history.summaries import NOTES, summary_line
from app.gui.markdown.parser import parse
from app.gui.transcript.call_rows import FOLD
from app.gui.transcript.message_parts import paint_chevron
from app.gui.transcript.painted_row import ContextRow, Link, RowContext
from app.gui.transcript.row_style import RowStyle
from app.gui.transcript.segments import Range

LINE_HEIGHT = 28
_AROUND = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryContext(RowContext):
    """What the line shows; `unused` says that the user does not want the summary used."""

    unused: bool = False
    unfolded: bool = False


class SummaryRow(ContextRow[SummaryContext]):
    """A line "Summarised here" between two turns, with its text below it where it is unfolded."""

    def __init__(
        self, row_id: str, message: Message, style: RowStyle, context: SummaryContext, width: int
    ) -> None:
        super().__init__(row_id, message, style, context, width)
        self._line = QRect()
        self._fill()
        self.lay_out()

    def _fill(self) -> None:
        """Set the text of an unfolded summary."""
        self.text.set_blocks(parse(self.message.content) if self.context.unfolded else [], 0)
        self.text.stale = 0

    def words(self) -> str:
        """Return the words of the line."""
        words = summary_line(self.message, self.style.texts)
        return self.style.texts("summary.unused", line=words) if self.context.unused else words

    def _place(self) -> None:
        self._line = QRect(self.left, self.top, self.right - self.left, self.style.tall(LINE_HEIGHT))
        self._links = [Link(FOLD, "", self._line)]
        bottom = self._line.bottom() + 1
        if self.context.unfolded:
            bottom = self.text.place(self.text_left, bottom + 4, self.right - self.text_left) + 8
        self.height = bottom + self.below

    def _paint(self, painter: QPainter, clip: QRect, ranges: Sequence[Range]) -> None:
        tokens, line = self.style.tokens, self._line
        room = line.width() - 4 * _AROUND - 20
        words = self.style.meta_metrics.elidedText(self.words(), Qt.TextElideMode.ElideRight, max(40, room))
        wide = self.style.meta_metrics.horizontalAdvance(words) + 18
        begin, middle = line.center().x() - wide // 2, line.center().y()
        painter.setPen(QColor(tokens.line_strong))
        painter.drawLine(line.left(), middle, begin - _AROUND, middle)
        painter.drawLine(begin + wide + _AROUND, middle, line.right(), middle)
        painter.setFont(self.style.meta_font)
        painter.setPen(QColor(tokens.text_2))
        painter.drawText(
            QRect(begin, line.top(), wide, line.height()), int(Qt.AlignmentFlag.AlignVCenter), words
        )
        at = QPointF(begin + wide - 6, middle + 0.5)
        paint_chevron(painter, at, self.context.unfolded, tokens.text_2)
        self.text.paint(painter, clip, ranges)

    @property
    def unfolded(self) -> bool:
        """Whether the text is shown."""
        return self.context.unfolded

    def tip_at(self, point: QPoint) -> str:
        """Return what the line means, under a point of it."""
        tip = "summary.turn.tip" if self.message.through_message else "summary.tip"
        tip = "summary.notes.tip" if self.message.author.kind == NOTES else tip
        return self.style.texts(tip) if self._line.contains(point) else ""

    def describe(self) -> str:
        """Return the words of the line and the unfolded text for a screen reader."""
        state = self.style.texts("transcript.expanded" if self.context.unfolded else "transcript.collapsed")
        said = f"{self.words()}, {state}"
        return f"{said}: {self.text.plain_text}" if self.context.unfolded else said
