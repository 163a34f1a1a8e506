"""Which rows are on screen and where, from an anchor (row and offset) that holds while heights change."""

from collections.abc import Callable
from dataclasses import dataclass

from app.gui.transcript.row_heights import RowHeights

LEAST_ROW = 20
"""No row is less tall, in pixels."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A row on screen: `top` is the distance from the viewport's upper edge in pixels."""

    row: int
    top: int
    height: int


class RowScroller:
    """The position in a transcript; `follow` means that it stays at the end, `footer` is the space under it.

    `measure` returns a row's height in pixels and sets it in `heights`.
    """

    def __init__(self, heights: RowHeights, measure: Callable[[int], int]) -> None:
        self.heights = heights
        self.row = 0
        self.offset = 0
        self.follow = True
        self.viewport = 0
        self.footer = 0
        self._measure = measure

    @property
    def value(self) -> int:
        """The position in pixels from the first row's upper edge, partly estimated."""
        return round(self.heights.top(self.row)) + self.offset

    @property
    def maximum(self) -> int:
        """The largest position."""
        return max(0, round(self.heights.total) + self.footer - self.viewport)

    def scroll_by(self, distance: int) -> None:
        """Move by pixels, measuring every row that is crossed."""
        if not len(self.heights):
            return
        self.follow = False
        self.offset += distance
        self._walk()
        self._hold_end()

    def scroll_to(self, position: int) -> None:
        """Jump to a position in pixels, partly estimated."""
        row, offset = self.heights.find(position)
        self.follow = False
        self.row, self.offset = row, round(offset)
        self._measure(self.row)
        self._walk()
        self._hold_end()

    def show_row(self, row: int, offset: int = 0) -> None:
        """Put a row at the viewport's upper edge, `offset` pixels of it above, as far as the end allows."""
        self.follow = False
        self.row, self.offset = row, offset
        self._walk()
        self._hold_end()

    def to_end(self) -> None:
        """Go to the end and stay there."""
        self.follow = True
        self._to_end()

    def rows_prepended(self, count: int) -> None:
        """Keep the position after rows were added before the first."""
        self.row += count

    def rows_spliced(self, start: int, removed: int, added: int) -> None:
        """Keep the position after rows were replaced; if its row is gone, go to the first new one."""
        if self.row >= start + removed:
            self.row += added - removed
        elif self.row >= start and self.row - start >= added:
            self.row, self.offset = start + max(0, added - 1), 0
        self.row = max(0, min(self.row, len(self.heights) - 1))

    def visible(self) -> list[Placed]:
        """Measure and return the rows on screen; go to the end first if it is followed."""
        if self.follow:
            self._to_end()
        placed = self._from_anchor()
        last = placed[-1] if placed else None
        if (
            last
            and last.row == len(self.heights) - 1
            and last.top + last.height + self.footer < self.viewport
        ) and (self.row or self.offset):
            self._to_end()
            placed = self._from_anchor()
        return placed

    def _from_anchor(self) -> list[Placed]:
        placed: list[Placed] = []
        row, top = self.row, -self.offset
        while row < len(self.heights) and top < self.viewport:
            height = self._measure(row)
            placed.append(Placed(row, top, height))
            top += height
            row += 1
        return placed

    def _walk(self) -> None:
        """Move the anchor until the offset is inside its row."""
        while self.offset < 0 and self.row > 0:
            self.row -= 1
            self.offset += self._measure(self.row)
        self.offset = max(0, self.offset)
        while self.row < len(self.heights) - 1:
            height = self._measure(self.row)
            if self.offset < height:
                break
            self.offset -= height
            self.row += 1

    def _hold_end(self) -> None:
        """Follow the end again once it is reached."""
        if (len(self.heights) - self.row) * LEAST_ROW > self.viewport + LEAST_ROW:
            return
        placed = self._from_anchor()
        if not placed or placed[-1].row < len(self.heights) - 1:
            return
        if placed[-1].top + placed[-1].height + self.footer <= self.viewport:
            self.to_end()

    def _to_end(self) -> None:
        row, filled = len(self.heights), self.footer
        while row > 0 and filled < self.viewport:
            row -= 1
            filled += self._measure(row)
        self.row, self.offset = row, max(0, filled - self.viewport)
