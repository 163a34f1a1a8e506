"""What a model thought before it answered: a line that unfolds to the text, kept apart from the answer."""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from app.gui.markdown.blocks import PARAGRAPH, Block, Span, break_words, clean
from app.gui.transcript.row_style import RowStyle
from app.gui.transcript.search_result import Hit
from app.gui.transcript.segment_stack import SegmentStack
from app.gui.transcript.segments import Range

HEIGHT = 22
KEPT = 20_000
"""Characters of a thought that are shown: its end."""


def thought_blocks(text: str) -> list[Block]:
    """Return what was thought as blocks, a line each, empty ones left out."""
    return [Block(PARAGRAPH, (Span(break_words(clean(line))),), quote=1) for line in text.split("\n") if line]


class ThoughtLine:
    """The line and, where it is unfolded, the text as it was thought: plain, never Markdown."""

    def __init__(self, style: RowStyle) -> None:
        self._style = style
        self._words = ""
        self._text = ""
        self._cut: int | None = None
        self._stack = SegmentStack(style)
        self.line = QRect()

    def set_text(self, words: str, text: str) -> None:
        """Say `words` and show the text under them; no text is folded."""
        self._words = words
        if text == self._text:
            return
        same = 0
        blocks = thought_blocks(text[-KEPT:])
        old = self._stack.blocks
        while same < min(len(old), len(blocks)) and old[same] == blocks[same]:
            same += 1
        self._text = text
        self._cut = None
        self._stack.set_blocks(blocks, same)

    def place(self, left: int, top: int, width: int) -> int:
        """Lay out; return the lower edge."""
        wide = self._style.meta_metrics.horizontalAdvance(self._words) + 18
        high = self._style.tall(HEIGHT)
        self.line = QRect(left, top, min(wide, width), high)
        self._stack.stale = 0
        bottom = self._stack.place(left + 3, top + high + 2, width - 3)
        return bottom + 4 if self._text else top + high

    def range_of(self, hit: Hit) -> tuple[int, int] | None:
        """Return where a hit of the whole thought stands in what is unfolded of it; None where it does not."""
        if self._cut is None:
            whole = sum([len(block.text) + 1 for block in thought_blocks(self._text)]) - 1
            self._cut = max(0, whole - self._stack.length) if len(self._text) > KEPT else 0
        start = hit.start - self._cut
        return (start, hit.end - self._cut) if 0 <= start < self._stack.length else None

    def position_rect(self, position: int) -> QRect:
        """Return where a place of the unfolded text stands in the row."""
        return self._stack.position_rect(position) or self.line

    def paint(self, painter: QPainter, clip: QRect, ranges: Sequence[Range]) -> None:
        """Paint in the row's coordinates what lies inside `clip`."""
        tokens = self._style.tokens
        painter.setFont(self._style.meta_font)
        painter.setPen(QColor(tokens.text_2))
        words = self.line.adjusted(16, 0, 0, 0)
        painter.drawText(words, int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextDontClip), self._words)
        paint_chevron(
            painter,
            QPointF(self.line.left() + 5, self.line.center().y() + 0.5),
            bool(self._text),
            tokens.text_2,
        )
        if self._text:
            self._stack.paint(painter, clip, ranges)


def paint_chevron(painter: QPainter, at: QPointF, open_: bool, colour: str) -> None:
    """Paint a small mark that points down where something is open, else to the right."""
    painter.save()
    painter.setPen(QPen(QColor(colour), 1.5, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    points = ((-4, -2), (0, 2), (4, -2)) if open_ else ((-2, -4), (2, 0), (-2, 4))
    painter.drawPolyline([at + QPointF(x, y) for x, y in points])
    painter.restore()
