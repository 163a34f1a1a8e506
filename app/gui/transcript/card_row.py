"""A tool call as a row: one line with its state, which unfolds to the arguments and the result.

What a tool was given and gave back is plain text: never Markdown, never a link.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from app.core.message import Message, ToolCall
from app.core.text import visible
from app.gui.markdown.blocks import CODE, Block, code_chunks
from app.gui.transcript.call_words import SHOWN, icon_of, title
from app.gui.transcript.painted_row import COPY_CODE, WORDS, Link, PaintedRow, RowFrame
from app.gui.transcript.row_style import MAX_CARD, RowStyle
from app.gui.transcript.search_result import ARGUMENTS, RESULT, Hit
from app.gui.transcript.segments import Range
from app.gui.transcript.thought_line import paint_chevron

HEIGHT = 32
FOLD = "fold"
SHOW_ALL = "show_all"

GROWING = "growing"
RUNNING = "running"
WAITING = "waiting"
DONE = "done"
FAILED = "failed"
STOPPED = "stopped"
LEFT = "left"

_TONES = {RUNNING: "text_2", GROWING: "text_2", WAITING: "warn", STOPPED: "warn", FAILED: "error"}


@dataclass(frozen=True, slots=True)
class CardContext:
    """What a card shows: the call, how far it is, and its result.

    `state` is growing (the arguments still come), running, waiting (for the user), done, failed,
    stopped or left (it never ran). `depth` is that of the sub-agent it starts, else 0.
    """

    call: ToolCall
    state: str = DONE
    seconds: float | None = None
    result: str = ""
    depth: int = 0
    unfolded: bool = False
    whole: bool = False
    frame: RowFrame = field(default_factory=RowFrame)


class CardRow(PaintedRow):
    """A call's card."""

    def __init__(
        self, row_id: str, message: Message, style: RowStyle, context: CardContext, width: int
    ) -> None:
        super().__init__(row_id, message, style, context.frame, width)
        self.context = context
        self._box = QRect()
        self._line = QRect()
        self._parts: dict[str, tuple[int, int]] = {}
        self._fill()
        self._place()

    def set_context(self, context: CardContext) -> None:
        """Show how far the call is now."""
        if context != self.context:
            self.context, self.frame = context, context.frame
            self._fill()
            self._place()

    def _fill(self) -> None:
        """Set the text that is unfolded."""
        context, texts = self.context, self.style.texts
        blocks: list[Block] = []
        self._parts = {}
        if context.unfolded:
            parts = [(ARGUMENTS, context.call.arguments)]
            if context.state not in (GROWING, RUNNING, WAITING, LEFT):
                parts.append((RESULT, context.result))
            start = 0
            for part, text in parts:
                shown = visible(text if context.whole else text[:SHOWN])
                chunks = code_chunks(shown, Block(CODE, language=texts(f"transcript.card.{part}")))
                end = start + sum([len(chunk.text) + 1 for chunk in chunks])
                self._parts[part] = (start, end - 1)
                start = end
                blocks += chunks
        self._stack.set_blocks(blocks, 0)
        self._stack.stale = 0

    def range_of(self, hit: Hit) -> tuple[int, int] | None:
        """Return from where to where a hit stands in what is unfolded; None where it is not."""
        start, end = self._parts.get(hit.part, (0, 0))
        return (start + hit.start, start + hit.end) if start + hit.start < end else None

    @property
    def _cut(self) -> bool:
        longest = max(len(self.context.call.arguments), len(self.context.result))
        return self.context.unfolded and not self.context.whole and longest > SHOWN

    def _place(self) -> None:
        self.version += 1
        self.counted = -1
        self.changed_from = 0
        left, right = self.text_left, min(self.right, self.text_left + MAX_CARD)
        self._line = QRect(left, self.top, right - left, self.style.tall(HEIGHT))
        self._links = [Link(FOLD, "", self._line)]
        bottom = self._line.bottom() + 1
        if self.context.unfolded:
            inner = self._line.width() - 24
            bottom = self._stack.place(left + 12, bottom + 4, inner) + 12
        if self._cut:
            longest = max(len(self.context.call.arguments), len(self.context.result))
            words = self.style.texts("transcript.show_all", size=f"{longest // 1000} kB")
            wide = self.style.chip_metrics.horizontalAdvance(words) + 2
            high = self.style.tall(WORDS)
            self._links.append(Link(SHOW_ALL, words, QRect(left + 12, bottom - 6, wide, high)))
            bottom += high
        self._box = QRect(left, self.top, right - left, bottom - self.top)
        self.height = bottom + self.below

    @property
    def settled(self) -> bool:
        """Whether the card stands as it is."""
        return super().settled and self.context.state not in (GROWING, RUNNING)

    def state_words(self) -> str:
        """Return how far the call is, in words."""
        return self.style.texts(f"transcript.card.{self.context.state}")

    def title(self) -> str:
        """Return the call in one line."""
        return title(self.context.call, self.style.texts)

    def paint(self, painter: QPainter, clip: QRect, ranges: Sequence[Range]) -> None:
        """Paint in the row's coordinates what lies inside `clip`."""
        tokens = self.style.tokens
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_lines(painter)
        painter.setPen(QColor(tokens.line))
        painter.setBrush(QColor(tokens.surface))
        painter.drawRoundedRect(QRectF(self._box).adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)
        line = self._line.adjusted(11, 0, -12, 0)
        if self.style.picture is not None:
            ratio = painter.device().devicePixelRatioF()
            picture = self.style.picture(icon_of(self.context.call.name), "text_2", 15, ratio)
            painter.drawPixmap(line.left(), line.center().y() - 7, picture)
        right = self._paint_state(painter, line)
        room = QRect(line.left() + 23, line.top(), right - line.left() - 35, line.height())
        painter.setFont(self.style.text.code_font)
        painter.setPen(QColor(tokens.text))
        shown = self.style.code_metrics.elidedText(self.title(), Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine), shown)
        self._stack.paint(painter, clip, ranges)
        self._paint_words(painter)

    def _paint_state(self, painter: QPainter, line: QRect) -> int:
        """Paint marks and words at the right end of the line; return where they begin."""
        style, tokens, state = self.style, self.style.tokens, self.context.state
        right = line.right() + 1
        middle = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)
        if self.context.unfolded:
            paint_chevron(painter, QPointF(right - 4, line.center().y() + 0.5), True, tokens.text_2)
            right -= 18
        words = ""
        if state == DONE and self.context.seconds is not None and self.context.seconds >= 0.05:
            words = style.texts("transcript.seconds", seconds=f"{self.context.seconds:.1f}")
        elif state not in (DONE, LEFT) and not (self.context.depth and state == RUNNING):
            words = self.state_words()
        if words:
            painter.setFont(style.meta_font)
            painter.setPen(QColor(getattr(tokens, _TONES.get(state, "text_2"))))
            painter.drawText(line.left(), line.top(), right - line.left(), line.height(), middle, words)
            right -= style.meta_metrics.horizontalAdvance(words) + 8
        if state in (DONE, FAILED):
            self._paint_mark(painter, QPointF(right - 7, line.center().y() + 0.5), failed=state == FAILED)
            right -= 20
        if self.context.depth:
            chip = style.texts("transcript.card.depth", count=self.context.depth)
            wide = style.chip_metrics.horizontalAdvance(chip) + 18
            high = style.tall(21)
            box = QRectF(right - wide, line.center().y() - high // 2, wide, high)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.hover))
            painter.drawRoundedRect(box, high / 2, high / 2)
            painter.setPen(QColor(tokens.text_2))
            painter.setFont(style.chip_font)
            painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), chip)
            right -= wide + 8
        return right

    def _paint_mark(self, painter: QPainter, at: QPointF, *, failed: bool) -> None:
        tokens = self.style.tokens
        pen = QPen(QColor(tokens.error if failed else tokens.ok), 1.6)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if failed:
            painter.drawLine(at + QPointF(-4, -4), at + QPointF(4, 4))
            painter.drawLine(at + QPointF(4, -4), at + QPointF(-4, 4))
        else:
            painter.drawPolyline([at + QPointF(x, y) for x, y in ((-5, 0), (-1.5, 3.5), (5, -4))])

    @property
    def unfolded(self) -> bool:
        """Whether arguments and result are shown."""
        return self.context.unfolded

    def tip_at(self, point: QPoint) -> str:
        """Return the whole line under a point of the row."""
        return self.title() if self._line.contains(point) else ""

    def action_at(self, point: QPoint) -> str:
        """Return the action asked for by what is painted under a point of the row, or nothing."""
        copied = any(segment.copy_rect.contains(point) for segment in self.segments)
        return COPY_CODE if copied else super().action_at(point)

    def describe(self) -> str:
        """Return what a screen reader says: the tool, how far it is, and what is unfolded."""
        texts = self.style.texts
        name = visible(self.context.call.name)
        said = texts("transcript.card.said", name=name, state=self.state_words())
        if self.context.depth:
            said += ", " + texts("transcript.card.depth", count=self.context.depth)
        said += ", " + texts("transcript.expanded" if self.context.unfolded else "transcript.collapsed")
        return f"{said}: {self.plain_text}" if self.context.unfolded else said
