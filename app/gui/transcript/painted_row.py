"""The base class of rows, which are laid out and painted without widgets, and what is found in them.

`MessageRow`, `CardRow`, `GroupRow` and `QuestionRow` differ in what they lay out.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QColor, QPainter

from app.core.message import Message
from app.gui.transcript.row_style import MAX_COLUMN, RowStyle
from app.gui.transcript.segment_stack import SegmentStack
from app.gui.transcript.segments import Range

COPY_CODE = "copy_code"

TEXT = "text"
THOUGHT = "thought"
ARGUMENTS = "arguments"
RESULT = "result"
REST = "rest"
"""Texts a row stands for but does not show in full: files, questions, errors, the name of a tool."""

_WORD = re.compile(r"\w+")
LINE_WIDTH = 2
WORDS = 24
"""The height of a line of words that ask for an action."""


@dataclass(frozen=True, slots=True)
class RowFrame:
    """The place of a row: the space over and under it in pixels, and the sub-agents around it.

    `lines` are the colours of their group lines, outermost first; a `below` of None means the style's gap.
    """

    gap: int = 0
    below: int | None = None
    lines: tuple[str, ...] = ()
    first: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """A painted word that does something when clicked."""

    action: str
    text: str
    rect: QRect


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A found range of one of a row's texts; `part` names the text, `start` and `end` are positions in it."""

    row_id: str
    part: str
    start: int
    end: int

    @property
    def message_id(self) -> str:
        """The message the row is drawn from."""
        return self.row_id.partition("/")[0]


@dataclass(frozen=True, slots=True)
class RowContext:
    """What a row shows besides its message; every kind of row has a subclass of it."""

    frame: RowFrame = field(default_factory=RowFrame)


ContextT = TypeVar("ContextT", bound=RowContext)


class ContextRow(ABC, Generic[ContextT]):
    """A row drawn from one message; made when it comes on screen, dropped some time later."""

    def __init__(self, row_id: str, message: Message, style: RowStyle, context: ContextT, width: int) -> None:
        self.row_id = row_id
        self.message = message
        self.style = style
        self.context = context
        self.height = 0
        self.changed_from = 0
        self.counted = -1
        self._width = width
        self.version = 0
        self.text = SegmentStack(style)
        self._links: list[Link] = []
        self._line_top = 0

    @abstractmethod
    def _place(self) -> None:
        """Lay everything out and set the height in pixels."""

    @abstractmethod
    def _paint(self, painter: QPainter, clip: QRect, ranges: Sequence[Range]) -> None:
        """Paint everything but the group lines and the links."""

    def _fill(self) -> None:  # Only cards have text that depends on the context.
        """Set the text for a new context."""

    @abstractmethod
    def describe(self) -> str:
        """Return the row as text for a screen reader."""

    def show(self, message: Message, context: ContextT) -> None:
        """Show another state of the message."""
        changed = context != self.context
        self.message, self.context = message, context
        if changed:
            self._fill()
            self.lay_out()

    def lay_out(self) -> None:
        """Lay everything out anew; pictures of the row become outdated."""
        self.version += 1
        self.counted = -1
        self.changed_from = 0
        self._links = []
        self._place()

    def set_width(self, width: int) -> None:
        """Lay out in another width."""
        if width != self._width:
            self._width = width
            self.text.stale = 0
            self.lay_out()

    def paint(self, painter: QPainter, clip: QRect, ranges: Sequence[Range]) -> None:
        """Paint what lies inside `clip`, in the row's coordinates, with `ranges` marked."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_lines(painter)
        self._paint(painter, clip, ranges)
        self._paint_words(painter)

    @property
    def frame(self) -> RowFrame:
        """The place of the row."""
        return self.context.frame

    # Edges, in pixels

    @property
    def depth(self) -> int:
        """The number of sub-agents around the row."""
        return len(self.frame.lines)

    @property
    def left(self) -> int:
        """The left edge of the row's content."""
        return self.style.margin + self.style.indent(self.depth)

    @property
    def right(self) -> int:
        """The right edge of the column."""
        return max(self.left + 120, min(self._width - self.style.margin, self.style.margin + MAX_COLUMN))

    @property
    def text_left(self) -> int:
        """The left edge of text and cards."""
        return self.left + self.style.text_left

    @property
    def top(self) -> int:
        """The upper edge of the content."""
        return (self.style.lead if self.frame.first else 0) + (0 if self.frame.first else self.frame.gap)

    @property
    def below(self) -> int:
        """The space under the content."""
        return self.style.row_gap if self.frame.below is None else self.frame.below

    def _paint_lines(self, painter: QPainter) -> None:
        """Paint the group lines; the innermost begins at `_line_top`."""
        for depth, colour in enumerate(self.frame.lines):
            x = self.style.margin + self.style.indent(depth) + self.style.text_left
            top = self._line_top if depth == self.depth - 1 else 0
            painter.fillRect(x, top, LINE_WIDTH, self.height - top, QColor(colour))

    def _paint_words(self, painter: QPainter) -> None:
        painter.setFont(self.style.chip_font)
        tokens = self.style.tokens
        for link in self._links:
            painter.setPen(QColor(tokens.accent if link.action else tokens.text_2))
            painter.drawText(link.rect, int(Qt.AlignmentFlag.AlignVCenter), link.text)

    # Text

    def position_at(self, point: QPoint) -> int:
        """Return the position in the plain text nearest to a point of the row."""
        return self.text.position_at(point)

    def position_rect(self, position: int) -> QRect:
        """Return the rectangle of a position of the plain text in the row."""
        return self.text.position_rect(position) or QRect(self.text_left, self.top, 1, 1)

    def range_of(self, hit: SearchHit) -> tuple[int, int] | None:
        """Return the range of a hit in the plain text; None if the row does not show it."""
        return (hit.start, hit.end) if hit.part == TEXT and hit.start < self.text.length else None

    def hit_rect(self, hit: SearchHit) -> QRect:
        """Return the rectangle of a hit in the row; of a hit that is not shown, the row's upper edge."""
        shown = self.range_of(hit)
        return self.position_rect(shown[0]) if shown else QRect(self.text_left, self.top, 1, 1)

    def word_at(self, position: int) -> tuple[int, int]:
        """Return start and end of the word around a position."""
        for match in _WORD.finditer(self.text.plain_text):
            if match.start() <= position <= match.end():
                return match.start(), match.end()
        return position, position

    # Actions

    @property
    def source_id(self) -> str:
        """The message whose parts the actions of the row name."""
        return self.message.id

    @property
    def action_rects(self) -> list[tuple[str, QRect]]:
        """The actions of the row and their rectangles."""
        return [(link.action, link.rect) for link in self._links if link.action]

    @property
    def actions(self) -> list[tuple[str, str]]:
        """The actions of the row and their labels."""
        return [(link.action, link.text) for link in self._links if link.action and link.text]

    def action_at(self, point: QPoint) -> str:
        """Return the action at a point of the row, or nothing."""
        return next((link.action for link in self._links if link.rect.contains(point)), "")

    def tip_at(self, point: QPoint) -> str:
        """Return the tool tip at a point of the row, or nothing."""
        return ""

    @property
    def unfolded(self) -> bool | None:
        """Whether the row is unfolded; None if it cannot be folded."""
        return None

    @property
    def settled(self) -> bool:
        """Whether the row is painted the same until it is laid out again."""
        return True


PaintedRow: TypeAlias = ContextRow[Any]
"""A row of any kind."""
