"""Parts of a message row besides its text: the line that unfolds its thinking, and chips for its attachments."""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from app.core.council_parts import FileQuote
from app.core.message import Attachment
from app.core.usage import size_text
from app.engine.council.outcome import quote_words
from app.engine.council.record import QuoteState
from app.gui.markdown.blocks import PARAGRAPH, Block, Span, break_words, clean
from app.gui.transcript.painted_row import SearchHit
from app.gui.transcript.row_style import RowStyle
from app.gui.transcript.segment_stack import SegmentStack
from app.gui.transcript.segments import Range

THOUGHT_LINE_HEIGHT = 22
THOUGHT_KEPT = 20_000
"""Characters of a thought that are shown: its end."""


def thought_blocks(text: str) -> list[Block]:
    """Return the thinking text as blocks, one per line, without empty lines."""
    return [Block(PARAGRAPH, (Span(break_words(clean(line))),), quote=1) for line in text.split("\n") if line]


class ThoughtLine:
    """A line that unfolds to a message's thinking, which is plain text, never Markdown."""

    def __init__(self, style: RowStyle) -> None:
        self._style = style
        self._words = ""
        self._text = ""
        self._cut: int | None = None
        self._stack = SegmentStack(style)
        self.line = QRect()

    def set_text(self, words: str, text: str) -> None:
        """Set the words of the line and the text under it; an empty text means folded."""
        self._words = words
        if text == self._text:
            return
        same = 0
        blocks = thought_blocks(text[-THOUGHT_KEPT:])
        old = self._stack.blocks
        while same < min(len(old), len(blocks)) and old[same] == blocks[same]:
            same += 1
        self._text = text
        self._cut = None
        self._stack.set_blocks(blocks, same)

    def place(self, left: int, top: int, width: int) -> int:
        """Lay out; return the lower edge in pixels."""
        wide = self._style.meta_metrics.horizontalAdvance(self._words) + 18
        high = self._style.tall(THOUGHT_LINE_HEIGHT)
        self.line = QRect(left, top, min(wide, width), high)
        self._stack.stale = 0
        bottom = self._stack.place(left + 3, top + high + 2, width - 3)
        return bottom + 4 if self._text else top + high

    def range_of(self, hit: SearchHit) -> tuple[int, int] | None:
        """Return the range of a hit in the unfolded end of the thinking; None if the hit is not in it."""
        if self._cut is None:
            whole = sum([len(block.text) + 1 for block in thought_blocks(self._text)]) - 1
            self._cut = max(0, whole - self._stack.length) if len(self._text) > THOUGHT_KEPT else 0
        start = hit.start - self._cut
        return (start, hit.end - self._cut) if 0 <= start < self._stack.length else None

    def position_rect(self, position: int) -> QRect:
        """Return the rectangle of a position of the unfolded text in the row."""
        return self._stack.position_rect(position) or self.line

    def paint(self, painter: QPainter, clip: QRect, ranges: Sequence[Range]) -> None:
        """Paint what lies inside `clip`, in the row's coordinates."""
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
    """Paint a small mark that points down if something is open, else to the right."""
    painter.save()
    painter.setPen(QPen(QColor(colour), 1.5, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    points = ((-4, -2), (0, 2), (4, -2)) if open_ else ((-2, -4), (2, 0), (-2, 4))
    painter.drawPolyline([at + QPointF(x, y) for x, y in points])
    painter.restore()


CHIP_HEIGHT = 26
CHIP_GAP = 6
WIDEST_CHIP = 260
WIDEST_QUOTE = 520


def size_of(attachment: Attachment) -> int:
    """Return the size of an attachment in bytes."""
    if encoded := len(attachment.data) or sum(map(len, attachment.pages)):
        return encoded * 3 // 4
    return len(attachment.text.encode("utf-8", "replace"))


class Chips:
    """Chips with a name and what is said of it, in a tone of the theme or ""; as many side by side as fit."""

    def __init__(
        self, style: RowStyle, words: Sequence[tuple[str, str, str]], widest: int = WIDEST_CHIP
    ) -> None:
        self._style = style
        self._widest = widest
        self._words = words
        self._chips: list[tuple[QRect, str, str, str]] = []
        self.rect = QRect()

    def place(self, left: int, top: int, width: int) -> int:
        """Lay out; return the lower edge in pixels."""
        metrics, high = self._style.chip_metrics, self._style.tall(CHIP_HEIGHT)
        x, y, right = left, top, left
        self._chips = []
        for name, size, tone in self._words:
            said = metrics.horizontalAdvance(f"  {size}") + 20
            shown = metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, min(self._widest, width) - said)
            wide = metrics.horizontalAdvance(shown) + said
            if x > left and x + wide > left + width:
                x, y = left, y + high + CHIP_GAP
            self._chips.append((QRect(x, y, wide, high), shown, size, tone))
            right = max(right, x + wide)
            x += wide + CHIP_GAP
        self.rect = QRect(left, top, right - left, y + high - top)
        return y + high

    def paint(self, painter: QPainter) -> None:
        """Paint the chips."""
        tokens = self._style.tokens
        painter.setFont(self._style.chip_font)
        middle = int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
        for rect, name, size, tone in self._chips:
            painter.setPen(QColor(tokens.line_strong))
            painter.setBrush(QColor(tokens.surface))
            painter.drawRoundedRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5), 7, 7)
            inner = rect.adjusted(9, 0, -9, 0)
            painter.setPen(QColor(tokens.text))
            painter.drawText(inner, middle | int(Qt.AlignmentFlag.AlignLeft), name)
            painter.setPen(QColor(getattr(tokens, tone or "text_2")))
            painter.drawText(inner, middle | int(Qt.AlignmentFlag.AlignRight), size)

    @property
    def rects(self) -> list[QRect]:
        """Where each chip is."""
        return [rect for rect, *_ in self._chips]

    @property
    def words(self) -> str:
        """Name of each and what is said of it, for a screen reader."""
        return ", ".join(f"{name} {size}" for name, size, _ in self._words)


def attachment_chips(style: RowStyle, attachments: Sequence[Attachment]) -> Chips:
    """Return chips with name and size of attachments, which are never decoded."""
    return Chips(
        style,
        [
            (" ".join(clean(each.name).split())[:120], size_text(style.texts, size_of(each)), "")
            for each in attachments
        ],
    )


_TONES = {QuoteState.EXACT: "ok", QuoteState.NEARLY: "warn", QuoteState.MISSING: "error"}


def quote_chips(style: RowStyle, quotes: Sequence[FileQuote]) -> Chips:
    """Return chips with the quotes of a statement, and where they are in the files."""
    return Chips(
        style,
        [
            (f"“{clean(one.text)}”", quote_words(one, style.texts), _TONES[QuoteState(one.found)])
            for one in quotes
        ],
        WIDEST_QUOTE,
    )
