"""What a model thought before it answered: a line that unfolds to the text, kept apart from the answer."""

from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from app.gui.chat.row_style import RowStyle
from app.gui.chat.segment_stack import SegmentStack
from app.gui.markdown.blocks import PARAGRAPH, Block, Span, break_words, clean

HEIGHT = 22
KEPT = 20_000
"""Characters of a thought that are shown: its end."""


class ThoughtLine:
    """The line and, where it is unfolded, the text as it was thought: plain, never Markdown."""

    def __init__(self, style: RowStyle) -> None:
        self._style = style
        self._words = ""
        self._text = ""
        self._stack = SegmentStack(style)
        self.line = QRect()

    def set_text(self, words: str, text: str) -> None:
        """Say `words` and show the text under them; no text is folded."""
        self._words = words
        if text == self._text:
            return
        same = 0
        blocks = [
            Block(PARAGRAPH, (Span(break_words(clean(line))),), quote=1)
            for line in text[-KEPT:].split("\n")
            if line
        ]
        old = self._stack.blocks
        while same < min(len(old), len(blocks)) and old[same] == blocks[same]:
            same += 1
        self._text = text
        self._stack.set_blocks(blocks, same)

    def place(self, left: int, top: int, width: int) -> int:
        """Lay out; return the lower edge."""
        wide = self._style.meta_metrics.horizontalAdvance(self._words) + 18
        high = self._style.tall(HEIGHT)
        self.line = QRect(left, top, min(wide, width), high)
        self._stack.stale = 0
        bottom = self._stack.place(left + 3, top + high + 2, width - 3)
        return bottom + 4 if self._text else top + high

    def paint(self, painter: QPainter, clip: QRect) -> None:
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
            self._stack.paint(painter, clip, ())


def paint_chevron(painter: QPainter, at: QPointF, open_: bool, colour: str) -> None:
    """Paint a small mark that points down where something is open, else to the right."""
    painter.save()
    painter.setPen(QPen(QColor(colour), 1.5, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    points = ((-4, -2), (0, 2), (4, -2)) if open_ else ((-2, -4), (2, 0), (-2, 4))
    painter.drawPolyline([at + QPointF(x, y) for x, y in points])
    painter.restore()
