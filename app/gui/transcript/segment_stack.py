"""The pieces of one text, laid out one below the other."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from PySide6.QtCore import QPoint, QPointF, QRect
from PySide6.QtGui import QPainter

from app.gui.markdown.blocks import CODE, Block, Span
from app.gui.transcript.row_style import RowStyle
from app.gui.transcript.segments import Range, Segment, group


class SegmentStack:
    """The pieces of one text; `stale` is the index of the first piece to lay out again."""

    def __init__(self, style: RowStyle) -> None:
        self._style = style
        self.blocks: list[Block] = []
        self.segments: list[Segment] = []
        self.stale = 0
        self._coloured = 0

    @property
    def documents(self) -> int:
        """The number of documents."""
        return sum([segment.document is not None for segment in self.segments])

    @property
    def plain_text(self) -> str:
        """The text without Markdown marks."""
        return "\n".join([block.text for block in self.blocks])

    def spoken(self, language: str) -> str:
        """Return the plain text with formulas as words."""
        return "\n".join([segment.spoken(language) for segment in self.segments])

    @property
    def length(self) -> int:
        """The length of the plain text."""
        return self.segments[-1].start + self.segments[-1].length if self.segments else 0

    @property
    def bottom(self) -> int:
        """The lower edge of the last piece."""
        return self.segments[-1].rect.bottom() + 1 if self.segments else 0

    def set_blocks(self, blocks: Sequence[Block], first: int) -> None:
        """Show other blocks, of which `first` is the first that changed."""
        kept = max(0, bisect_right(self.segments, first, key=lambda segment: segment.first_block) - 1)
        start_block = self.segments[kept].first_block if self.segments else 0
        position = self.segments[kept].start if self.segments else 0
        self.blocks = list(blocks)
        segments = self.segments[:kept]
        for index, (begin, end) in enumerate(group(blocks, start_block)):
            part = list(blocks[begin:end])
            if kept + index < len(self.segments):
                segment = self.segments[kept + index]
                segment.first_block, segment.start = begin, position
                segment.update(part)
            else:
                segment = Segment(self._style, part, begin, position)
            segment.goes_on = end < len(blocks) and blocks[end].kind == CODE and not blocks[end].first
            position += segment.length + 1
            segments.append(segment)
        self.segments = segments
        self.stale = min(self.stale, kept)
        self._coloured = min(self._coloured, kept)

    def plain_code(self, *, growing: bool) -> Segment | None:
        """Return the first code without colours; the last piece does not count while it grows."""
        while self._coloured < len(self.segments) - growing:
            segment = self.segments[self._coloured]
            if segment.kind == CODE and not segment.highlighted:
                return segment
            self._coloured += 1
        return None

    def place(self, left: int, top: int, width: int) -> int:
        """Lay out what is stale or moved; return the lower edge, or `top` if there is no text."""
        moved = bool(self.segments) and self.segments[0].rect.top() != top
        for number in range(0 if moved else self.stale, len(self.segments)):
            segment = self.segments[number]
            if number:
                upper = self.segments[number - 1]
                top = upper.rect.bottom() + 1 + segment.gap_below(upper)
            segment.place(left, top, width)
        self.stale = len(self.segments)
        return self.bottom if self.segments else top

    def paint(self, painter: QPainter, clip: QRect, ranges: Sequence[Range]) -> None:
        """Paint what lies inside `clip`."""
        for segment in self.segments[self._number_at(clip.top()) :]:
            if segment.rect.top() > clip.bottom():
                break
            segment.paint(painter, clip, ranges)

    @property
    def links(self) -> list[tuple[int, Span]]:
        """The links of the text and their positions."""
        return [found for segment in self.segments for found in segment.links]

    @property
    def copy_rects(self) -> list[QRect]:
        """The copy buttons of code blocks."""
        return [segment.copy_rect for segment in self.segments if not segment.copy_rect.isEmpty()]

    def code_at(self, point: QPoint) -> str:
        """Return the code of the block whose copy button is at a point."""
        code: list[str] = []
        for segment in self.segments:
            if code and not segment.blocks[0].first:
                code.append(segment.blocks[0].text)
            elif code:
                break
            elif segment.copy_rect.contains(point):
                code.append(segment.blocks[0].text)
        return "\n".join(code)

    def link_at(self, point: QPoint) -> tuple[str, str]:
        """Return address and text of the link at a point, or two empty texts."""
        segment = self._at(point.y())
        return segment.link_at(QPointF(point)) if segment and segment.rect.contains(point) else ("", "")

    def is_source_at(self, point: QPoint) -> bool:
        """Whether at a point is a formula that cannot be drawn."""
        segment = self._at(point.y())
        return segment is not None and segment.rect.contains(point) and segment.is_source_at(QPointF(point))

    def position_at(self, point: QPoint) -> int:
        """Return the position in the plain text nearest to a point."""
        segment = self._at(point.y())
        if segment is None:
            return 0
        if point.y() < segment.rect.top() and segment is self.segments[0]:
            return 0
        return segment.position_at(QPointF(point))

    def position_rect(self, position: int) -> QRect | None:
        """Return the rectangle of a position of the plain text, None without text."""
        for segment in reversed(self.segments):
            if position >= segment.start:
                return segment.position_rect(position)
        return None

    def _at(self, y: int) -> Segment | None:
        number = min(self._number_at(y), len(self.segments) - 1)
        return self.segments[number] if self.segments else None

    def _number_at(self, y: int) -> int:
        """Return the index of the first piece whose lower edge is not above a height."""
        return bisect_left(self.segments, y, key=lambda segment: segment.rect.bottom())
