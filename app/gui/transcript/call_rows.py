"""The rows of tool calls: a card for each call, and the head over the turn of a sub-agent that a call started.

What a tool was given and returned is plain text, never Markdown and never a link.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from time import monotonic

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from app.core.message import Consent, Message, ToolCall
from app.core.text import clock_text, visible
from app.gui.display.amounts import size_text
from app.gui.markdown.blocks import CODE, Block, code_chunks
from app.gui.transcript.message_parts import paint_chevron
from app.gui.transcript.painted_row import (
    ARGUMENTS,
    COPY_CODE,
    RESULT,
    WORDS,
    ContextRow,
    Link,
    RowContext,
    SearchHit,
)
from app.gui.transcript.row_style import MAX_CARD, RowStyle
from app.gui.transcript.row_words import SHOWN, icon_of, title
from app.gui.transcript.segments import Range
from app.gui.transcript.speaker_line import (
    CHIP,
    META,
    HeaderChip,
    Piece,
    RowSpeaker,
    paint_avatar,
    paint_header,
    place_header,
)

CARD_HEIGHT = 32
FOLD = "fold"
SHOW_ALL = "show_all"


class CallState(StrEnum):
    """The state of a call; GROWING means that its arguments still stream, LEFT that it never ran."""

    GROWING = "growing"
    RUNNING = "running"
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    LEFT = "left"


_TONES = {
    CallState.RUNNING: "text_2",
    CallState.GROWING: "text_2",
    CallState.WAITING: "warn",
    CallState.STOPPED: "warn",
    CallState.FAILED: "error",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CardContext(RowContext):
    """What a card shows: the call, its state and its result.

    `depth` is that of the sub-agent it starts, else 0; `permission` the user's answer if the call needed one,
    `elapsed_s` for how long it has been running, None if it does not run. `names` are those of the assistants by id.
    """

    call: ToolCall
    state: CallState = CallState.DONE
    seconds: float | None = None
    result: str = ""
    depth: int = 0
    permission: str = ""
    elapsed_s: int | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    unfolded: bool = False
    whole: bool = False


class CardRow(ContextRow[CardContext]):
    """The card of a tool call: one line with its state, which unfolds to the arguments and the result."""

    def __init__(
        self, row_id: str, message: Message, style: RowStyle, context: CardContext, width: int
    ) -> None:
        super().__init__(row_id, message, style, context, width)
        self._box = QRect()
        self._line = QRect()
        self._turning = QRect()
        self._parts: dict[str, tuple[int, int]] = {}
        self._fill()
        self.lay_out()

    def _fill(self) -> None:
        """Set the text of an unfolded card."""
        context, texts = self.context, self.style.texts
        blocks: list[Block] = []
        self._parts = {}
        if context.unfolded:
            parts = [(ARGUMENTS, context.call.arguments)]
            if context.state not in (CallState.GROWING, CallState.RUNNING, CallState.WAITING, CallState.LEFT):
                parts.append((RESULT, context.result))
            start = 0
            for part, text in parts:
                shown = visible(text if context.whole else text[:SHOWN])
                chunks = code_chunks(shown, Block(CODE, language=texts(f"transcript.card.{part}")))
                end = start + sum([len(chunk.text) + 1 for chunk in chunks])
                self._parts[part] = (start, end - 1)
                start = end
                blocks += chunks
        self.text.set_blocks(blocks, 0)
        self.text.stale = 0

    def range_of(self, hit: SearchHit) -> tuple[int, int] | None:
        """Return the range of a hit in the unfolded text; None if it is not shown."""
        start, end = self._parts.get(hit.part, (0, 0))
        return (start + hit.start, start + hit.end) if start + hit.start < end else None

    @property
    def _cut(self) -> bool:
        longest = max(len(self.context.call.arguments), len(self.context.result))
        return self.context.unfolded and not self.context.whole and longest > SHOWN

    def _place(self) -> None:
        left, right = self.text_left, min(self.right, self.text_left + MAX_CARD)
        self._line = QRect(left, self.top, right - left, self.style.tall(CARD_HEIGHT))
        self._links = [Link(FOLD, "", self._line)]
        bottom = self._line.bottom() + 1
        if self.context.unfolded:
            inner = self._line.width() - 24
            bottom = self.text.place(left + 12, bottom + 4, inner) + 12
        if self._cut:
            longest = max(len(self.context.call.arguments), len(self.context.result))
            words = self.style.texts("transcript.show_all", size=size_text(self.style.texts, longest))
            wide = self.style.chip_metrics.horizontalAdvance(words) + 2
            high = self.style.tall(WORDS)
            self._links.append(Link(SHOW_ALL, words, QRect(left + 12, bottom - 6, wide, high)))
            bottom += high
        self._box = QRect(left, self.top, right - left, bottom - self.top)
        self.height = bottom + self.below

    @property
    def settled(self) -> bool:
        """Whether the card is painted the same until the context changes."""
        return super().settled and self.context.state not in (CallState.GROWING, CallState.RUNNING)

    def state_words(self) -> str:
        """Return the state of the call in words, after what the user said to it."""
        permission, texts = self.context.permission, self.style.texts
        if permission == Consent.DENY:
            return texts("transcript.permission.deny")
        state = texts(f"transcript.card.{self.context.state}")
        if self.context.elapsed_s:
            state += f" · {clock_text(self.context.elapsed_s)}"
        return f"{self._permission()} · {state}" if permission else state

    def _permission(self) -> str:
        """Return what the user said to the call in words."""
        kind = self.context.permission.partition("-")[0]
        return self.style.texts.named("transcript.permission", kind) if kind else ""

    def title(self) -> str:
        """Return the call in one line."""
        context = self.context
        return title(context.call, self.style.texts, context.names, done=context.state == CallState.DONE)

    @property
    def turning(self) -> QRect:
        """Where a mark turns while the call runs; of a sub-agent its head tells."""
        runs = self.context.state == CallState.RUNNING and not self.context.depth
        return self._turning if runs else QRect()

    def _paint(self, painter: QPainter, clip: QRect, ranges: Sequence[Range]) -> None:
        tokens = self.style.tokens
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
        painter.setFont(self.style.font)
        painter.setPen(QColor(tokens.text))
        shown = painter.fontMetrics().elidedText(self.title(), Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine), shown)
        self.text.paint(painter, clip, ranges)

    def _paint_state(self, painter: QPainter, line: QRect) -> int:
        """Paint marks and words at the right end of the line; return their left edge."""
        style, tokens, state = self.style, self.style.tokens, self.context.state
        right = line.right() + 1
        middle = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)
        if self.context.unfolded:
            paint_chevron(painter, QPointF(right - 4, line.center().y() + 0.5), True, tokens.text_2)
            right -= 18
        words = self._permission()
        if state == CallState.DONE and self.context.seconds is not None and self.context.seconds >= 0.05:
            taken = style.texts("transcript.seconds", seconds=f"{self.context.seconds:.1f}")
            words = " · ".join(filter(None, (words, taken)))
        elif state not in (CallState.DONE, CallState.LEFT) and not (
            self.context.depth and state == CallState.RUNNING
        ):
            words = self.state_words()
        if words:
            painter.setFont(style.meta_font)
            painter.setPen(QColor(getattr(tokens, _TONES.get(state, "text_2"))))
            painter.drawText(line.left(), line.top(), right - line.left(), line.height(), middle, words)
            right -= style.meta_metrics.horizontalAdvance(words) + 8
        if state in (CallState.DONE, CallState.FAILED):
            self._paint_mark(
                painter, QPointF(right - 7, line.center().y() + 0.5), failed=state == CallState.FAILED
            )
            right -= 20
        elif state == CallState.RUNNING and not self.context.depth:
            self._turning = QRect(right - 15, line.center().y() - 7, 15, 15)
            painter.setPen(QPen(QColor(tokens.line_strong), 1.8))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            circle = QRectF(self._turning).adjusted(2, 2, -2, -2)
            painter.drawEllipse(circle)
            painter.setPen(QPen(QColor(tokens.accent), 1.8, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            turned = monotonic() % 1 if style.moves() else 0
            painter.drawArc(circle, round((0.25 - turned) * 360 * 16), -90 * 16)
            right -= 22
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
        """Return the whole line under a point of the row, with the name of the tool."""
        return f"{self.title()}\n{visible(self.context.call.name)}" if self._line.contains(point) else ""

    def action_at(self, point: QPoint) -> str:
        """Return the action at a point of the row, or nothing."""
        copied = any(segment.copy_rect.contains(point) for segment in self.text.segments)
        return COPY_CODE if copied else super().action_at(point)

    def describe(self) -> str:
        """Return the tool, the state of the call and the unfolded text for a screen reader."""
        texts = self.style.texts
        said = f"{self.title()}, {self.state_words()}"
        if self.context.depth:
            said += ", " + texts("transcript.card.depth", count=self.context.depth)
        said += ", " + texts("transcript.expanded" if self.context.unfolded else "transcript.collapsed")
        return f"{said}: {self.text.plain_text}" if self.context.unfolded else said


STOP_TURN = "stop_turn"
HEAD_HEIGHT = 26
HEAD_AVATAR = 22


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupContext(RowContext):
    """What the head of a turn shows; `doing` is the current action of a folded sub-agent that runs.

    `of_step` means that the turn is a step of a workflow, not a sub-agent's.
    """

    speaker: RowSpeaker
    of_step: bool = False
    path: str = ""
    steps: int = 0
    tokens: str = ""
    folded: bool = False
    runs: bool = False
    waiting: bool = False
    failed: str = ""
    guided: bool = False
    doing: str = ""
    elapsed_s: int = 0


class GroupRow(ContextRow[GroupContext]):
    """The head over a sub-agent's turn: who, on whose behalf, its cost, what it does now, and Stop."""

    def __init__(
        self, row_id: str, message: Message, style: RowStyle, context: GroupContext, width: int
    ) -> None:
        super().__init__(row_id, message, style, context, width)
        self._pieces: list[Piece] = []
        self.lay_out()

    @property
    def settled(self) -> bool:
        """Whether the head is painted the same until the context changes."""
        return not self.context.runs

    @property
    def turn_id(self) -> str:
        """The sub-agent's turn."""
        return self.message.turn_id

    def summary(self) -> str:
        """Return the text at the right: what a folded sub-agent does and since when, else steps and tokens."""
        context, texts = self.context, self.style.texts
        parts: list[str] = []
        if context.runs and context.folded:
            parts = [context.doing] if context.doing else []
            minutes, seconds = divmod(context.elapsed_s, 60)
            key = "transcript.group.minutes" if minutes else "transcript.group.elapsed"
            parts.append(texts(key, minutes=minutes, seconds=seconds))
        else:
            parts.append(texts("transcript.group.steps", count=context.steps))
        if context.tokens:
            parts.append(texts("transcript.group.tokens", tokens=context.tokens))
        return " · ".join(parts)

    def _place(self) -> None:
        style, context, top = self.style, self.context, self.top
        left, right = self.left + style.text_left - 33, self.right
        high = style.tall(HEAD_HEIGHT)
        line = QRect(left, top, right - left, high)
        self._line_top = top
        self._links = [Link(FOLD, "", line)]
        x = right - 22
        if context.runs or context.waiting:
            words = style.texts("transcript.group.stop")
            wide = style.chip_metrics.horizontalAdvance(words) + 2
            self._links.insert(0, Link(STOP_TURN, words, QRect(x - wide, top, wide, high)))
            x -= wide + 12
        summary = self.summary()
        metrics = style.meta_metrics
        name_left = self.text_left
        room = max(0, (x - name_left) * 3 // 5)
        shown = metrics.elidedText(summary, Qt.TextElideMode.ElideRight, room)
        wide = metrics.horizontalAdvance(shown) + 2
        kind = "transcript.group.step" if context.of_step else "transcript.group.sub_agent"
        chips = [HeaderChip(style.texts(kind))]
        if context.guided:
            chips.append(HeaderChip(style.texts("why.guided")))
        if context.waiting:
            chips.append(HeaderChip(style.texts("transcript.waiting_for_you"), "warn"))
        if context.failed:
            chips.append(HeaderChip(style.texts(context.failed), "error"))
        self._pieces = place_header(
            style, context.speaker, chips, context.path, name_left, top + 2, x - wide - 12
        )
        if shown:
            tip = summary if shown != summary else ""
            self._pieces.append(Piece(META, QRect(x - wide, top + 2, wide, style.header), shown, tip=tip))
        self.height = top + high + 2 + self.below

    def _paint(self, painter: QPainter, clip: QRect, ranges: Sequence[Range]) -> None:
        avatar = QRect(self.text_left - 33, self.top + 2, HEAD_AVATAR, HEAD_AVATAR)
        paint_avatar(painter, self.style, self.context.speaker, avatar)
        paint_header(painter, self.style, self._pieces, 0)
        at = QPointF(self.right - 8, self.top + self.style.tall(HEAD_HEIGHT) / 2 + 0.5)
        paint_chevron(painter, at, not self.context.folded, self.style.tokens.text_2)

    @property
    def unfolded(self) -> bool:
        """Whether the sub-agent's messages are shown."""
        return not self.context.folded

    def tip_at(self, point: QPoint) -> str:
        """Return the full text of what is elided at a point of the row."""
        return next((piece.tip for piece in self._pieces if piece.tip and piece.rect.contains(point)), "")

    def describe(self) -> str:
        """Return name, depth, path and fold state for a screen reader."""
        context, texts = self.context, self.style.texts
        chips = [piece.text for piece in self._pieces if piece.kind == CHIP]
        said = [texts("transcript.card.depth", count=self.depth), context.path, self.summary()]
        said.append(texts("transcript.collapsed" if context.folded else "transcript.expanded"))
        return f"{context.speaker.name} ({', '.join(chips)}): {', '.join(filter(None, said))}"
