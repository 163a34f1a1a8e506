"""What every row of a transcript is to the surface that shows it: laid out, painted, kept as a picture.

`MessageRow`, `CardRow`, `GroupRow` and `QuestionRow` are rows; they differ in what they lay out.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QColor, QPainter

from app.core.message import Message
from app.gui.markdown.blocks import Block, Span
from app.gui.transcript.row_style import MAX_COLUMN, RowStyle
from app.gui.transcript.search_result import TEXT, Hit
from app.gui.transcript.segment_stack import SegmentStack
from app.gui.transcript.segments import Range, Segment

COPY_CODE = "copy_code"
_WORD = re.compile(r"\w+")
LINE_WIDTH = 2
WORDS = 24
"""The height of a line of words that ask for an action."""


@dataclass(frozen=True, slots=True)
class RowFrame:
    """Where a row stands: the space over and under it, in pixels, and the sub-agents around it.

    `lines` are the colours of their group lines, outermost first; `below` None is the style's gap.
    """

    gap: int = 0
    below: int | None = None
    lines: tuple[str, ...] = ()
    first: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """A painted word that asks for an action."""

    action: str
    text: str
    rect: QRect


class PaintedRow(ABC):
    """A row of one message; made when it comes on screen, thrown away some time after."""

    def __init__(self, row_id: str, message: Message, style: RowStyle, frame: RowFrame, width: int) -> None:
        self.row_id = row_id
        self.message = message
        self.style = style
        self.frame = frame
        self.height = 0
        self.changed_from = 0
        self.counted = -1
        self._width = width
        self.version = 0
        self._stack = SegmentStack(style)
        self._links: list[Link] = []

    @abstractmethod
    def _place(self) -> None:
        """Set everything in its place and find the height."""

    @abstractmethod
    def paint(self, painter: QPainter, clip: QRect, ranges: Sequence[Range]) -> None:
        """Paint in the row's coordinates what lies inside `clip`."""

    @abstractmethod
    def describe(self) -> str:
        """Return what a screen reader says."""

    def set_width(self, width: int) -> None:
        """Lay out anew."""
        if width != self._width:
            self._width = width
            self._stack.stale = 0
            self._place()

    # Where things are

    @property
    def depth(self) -> int:
        """How many sub-agents are around the row."""
        return len(self.frame.lines)

    @property
    def left(self) -> int:
        """The left edge of what the row's speaker says."""
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

    def _paint_lines(self, painter: QPainter, own_from: int = 0) -> None:
        """Paint the group lines; that of the row's own group begins at `own_from`."""
        for depth, colour in enumerate(self.frame.lines):
            x = self.style.margin + self.style.indent(depth) + self.style.text_left
            top = own_from if depth == self.depth - 1 else 0
            painter.fillRect(x, top, LINE_WIDTH, self.height - top, QColor(colour))

    def _paint_words(self, painter: QPainter) -> None:
        painter.setFont(self.style.chip_font)
        tokens = self.style.tokens
        for link in self._links:
            painter.setPen(QColor(tokens.accent if link.action else tokens.text_2))
            painter.drawText(link.rect, int(Qt.AlignmentFlag.AlignVCenter), link.text)

    # The text

    @property
    def segments(self) -> Sequence[Segment]:
        """The pieces of the text from top to bottom."""
        return self._stack.segments

    @property
    def blocks(self) -> Sequence[Block]:
        """The blocks of the text."""
        return self._stack.blocks

    @property
    def documents(self) -> int:
        """How many documents the row holds."""
        return self._stack.documents

    def plain_code(self, *, growing: bool) -> Segment | None:
        """Return the first piece of code without colours, the last piece left out while it grows."""
        return self._stack.plain_code(growing=growing)

    @property
    def plain_text(self) -> str:
        """The text as it reads, without marks."""
        return self._stack.plain_text

    @property
    def length(self) -> int:
        """How long the plain text is."""
        return self._stack.length

    @property
    def links(self) -> list[tuple[int, Span]]:
        """The links of the text and where they begin."""
        return self._stack.links

    @property
    def copy_rects(self) -> list[QRect]:
        """Where the copy buttons of code stand."""
        return self._stack.copy_rects

    def code_at(self, point: QPoint) -> str:
        """Return the code of the block whose copy button is under a point."""
        return self._stack.code_at(point)

    def link_at(self, point: QPoint) -> tuple[str, str]:
        """Return address and shown text of the link under a point, or two empty texts."""
        return self._stack.link_at(point)

    def position_at(self, point: QPoint) -> int:
        """Return the place in the plain text nearest to a point of the row."""
        return self._stack.position_at(point)

    def position_rect(self, position: int) -> QRect:
        """Return where a place of the plain text stands in the row."""
        return self._stack.position_rect(position) or QRect(self.text_left, self.top, 1, 1)

    def range_of(self, hit: Hit) -> tuple[int, int] | None:
        """Return from where to where a hit stands in what the row shows; None where it does not show it."""
        return (hit.start, hit.end) if hit.part == TEXT and hit.start < self.length else None

    def hit_rect(self, hit: Hit) -> QRect:
        """Return where a hit stands in the row, its upper edge for what it does not show."""
        shown = self.range_of(hit)
        return self.position_rect(shown[0]) if shown else QRect(self.text_left, self.top, 1, 1)

    def word_at(self, position: int) -> tuple[int, int]:
        """Return where the word around a place begins and ends."""
        for match in _WORD.finditer(self.plain_text):
            if match.start() <= position <= match.end():
                return match.start(), match.end()
        return position, position

    # What it offers

    @property
    def action_rects(self) -> list[tuple[str, QRect]]:
        """Where the words that ask for an action stand."""
        return [(link.action, link.rect) for link in self._links if link.action]

    @property
    def actions(self) -> list[tuple[str, str]]:
        """What the row offers: (action, words)."""
        return [(link.action, link.text) for link in self._links if link.action and link.text]

    def action_at(self, point: QPoint) -> str:
        """Return the action asked for by what is painted under a point of the row, or nothing."""
        return next((link.action for link in self._links if link.rect.contains(point)), "")

    def tip_at(self, point: QPoint) -> str:
        """Return the whole of what was elided under a point of the row."""
        return ""

    @property
    def unfolded(self) -> bool | None:
        """Whether the row is unfolded; None where there is nothing to unfold."""
        return None

    @property
    def settled(self) -> bool:
        """Whether the row is painted the same until it is placed again."""
        return True
