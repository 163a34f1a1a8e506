"""The head over a sub-agent's turn: who, on whose behalf, what it cost, what it does now, and Stop."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QPainter

from app.core.message import Message
from app.gui.transcript.card_row import FOLD
from app.gui.transcript.painted_row import Link, PaintedRow, RowFrame
from app.gui.transcript.row_header import (
    CHIP,
    META,
    Chip,
    Piece,
    Speaker,
    paint_avatar,
    paint_header,
    place_header,
)
from app.gui.transcript.row_style import RowStyle
from app.gui.transcript.segments import Range
from app.gui.transcript.thought_line import paint_chevron

STOP_TURN = "stop_turn"
HEIGHT = 26
AVATAR = 22


@dataclass(frozen=True, slots=True)
class GroupContext:
    """What the head says; `doing` is the last action of one that runs, empty for one that rests.

    `of_step` is whether the turn is a workflow's step, not somebody's sub-agent.
    """

    speaker: Speaker
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
    versions: tuple[int, int] = (1, 1)
    frame: RowFrame = field(default_factory=RowFrame)


class GroupRow(PaintedRow):
    """The head over a sub-agent's turn."""

    def __init__(
        self, row_id: str, message: Message, style: RowStyle, context: GroupContext, width: int
    ) -> None:
        super().__init__(row_id, message, style, context.frame, width)
        self.context = context
        self._pieces: list[Piece] = []
        self._place()

    def set_context(self, context: GroupContext) -> None:
        """Show what it does now."""
        if context != self.context:
            self.context, self.frame = context, context.frame
            self._place()

    @property
    def settled(self) -> bool:
        """Whether the head stands as it is."""
        return not self.context.runs

    @property
    def turn_id(self) -> str:
        """The sub-agent's turn."""
        return self.message.turn_id

    def summary(self) -> str:
        """Return what stands at the right: the heartbeat of one that is folded and runs, else the sums."""
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
        self.version += 1
        self.counted = -1
        self.changed_from = 0
        style, context, top = self.style, self.context, self.top
        left, right = self.left + style.text_left - 33, self.right
        high = style.tall(HEIGHT)
        line = QRect(left, top, right - left, high)
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
        chips = [Chip(style.texts(kind))]
        if context.guided:
            chips.append(Chip(style.texts("why.guided")))
        if context.waiting:
            chips.append(Chip(style.texts("transcript.waiting_for_you"), "warn"))
        if context.failed:
            chips.append(Chip(style.texts(context.failed), "error"))
        self._pieces = place_header(
            style, context.speaker, chips, context.path, name_left, top + 2, x - wide - 12
        )
        if shown:
            tip = summary if shown != summary else ""
            self._pieces.append(Piece(META, QRect(x - wide, top + 2, wide, style.header), shown, tip=tip))
        self.height = top + high + 2 + self.below

    def paint(self, painter: QPainter, clip: QRect, ranges: Sequence[Range]) -> None:
        """Paint in the row's coordinates what lies inside `clip`."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_lines(painter, own_from=self.top)
        avatar = QRect(self.text_left - 33, self.top + 2, AVATAR, AVATAR)
        paint_avatar(painter, self.style, self.context.speaker, avatar)
        paint_header(painter, self.style, self._pieces, 0)
        at = QPointF(self.right - 8, self.top + self.style.tall(HEIGHT) / 2 + 0.5)
        paint_chevron(painter, at, not self.context.folded, self.style.tokens.text_2)
        self._paint_words(painter)

    @property
    def unfolded(self) -> bool:
        """Whether the sub-agent's messages are shown."""
        return not self.context.folded

    def tip_at(self, point: QPoint) -> str:
        """Return the whole of what was elided under a point of the row."""
        return next((piece.tip for piece in self._pieces if piece.tip and piece.rect.contains(point)), "")

    def describe(self) -> str:
        """Return what a screen reader says: who, how deep, on whose behalf, and whether it is folded."""
        context, texts = self.context, self.style.texts
        chips = [piece.text for piece in self._pieces if piece.kind == CHIP]
        said = [texts("transcript.card.depth", count=self.depth), context.path, self.summary()]
        said.append(texts("transcript.collapsed" if context.folded else "transcript.expanded"))
        return f"{context.speaker.name} ({', '.join(chips)}): {', '.join(filter(None, said))}"
