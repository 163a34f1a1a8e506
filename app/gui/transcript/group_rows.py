"""The head over the turn of a sub-agent that a call started, or over a step of a workflow."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QPainter

from app.core.message import Message
from app.gui.display.descriptions import time_text
from app.gui.transcript.call_rows import FOLD
from app.gui.transcript.message_parts import paint_chevron
from app.gui.transcript.painted_row import ContextRow, Link, RowContext
from app.gui.transcript.row_style import RowStyle
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
            parts.append(time_text(context.elapsed_s, texts))
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
        paint_header(painter, self.style, self._pieces)
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
