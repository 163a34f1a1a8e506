"""The heights of all rows of a transcript, and which rows are on screen and where.

A row counts with an estimate from its characters and lines until it is measured; a new width drops the
measured heights. Of 10,000 rows that takes a millisecond, and to sum heights up a fraction of one.
Places count from an anchor (row and offset) that holds while heights change.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True, slots=True)
class RowEstimate:
    """The estimated height of a row in pixels: a fixed part, and a part for each line end and character."""

    row: float
    line: float
    character: float

    def of(self, characters: int, lines: int) -> float:
        """Return the estimated height of a row."""
        return self.row + lines * self.line + characters * self.character


class RowHeights:
    """Heights by row, positions by row and rows by position, in pixels.

    `version` changes with every change of a height.
    """

    def __init__(self, estimate: RowEstimate) -> None:
        self._estimate = estimate
        self._sizes: list[tuple[int, int]] = []
        self._heights: list[float] = []
        self.version = 0

    def __len__(self) -> int:
        return len(self._heights)

    @property
    def total(self) -> float:
        """The height of all rows together."""
        return sum(self._heights)

    def set_estimate(self, estimate: RowEstimate) -> None:
        """Drop all measured heights, because the width or the font changed."""
        self._estimate = estimate
        self.splice(0, len(self), self._sizes)

    def splice(self, start: int, removed: int, sizes: Sequence[tuple[int, int]]) -> None:
        """Replace `removed` rows from `start` on by rows of these characters and line ends;
        other heights stay.
        """
        end = start + removed
        self._sizes[start:end] = sizes
        self._heights[start:end] = [self._estimate.of(*size) for size in sizes]
        self.version += 1

    def measure(self, row: int, height: int) -> None:
        """Set the measured height of a row."""
        if height != self._heights[row]:
            self._heights[row] = height
            self.version += 1

    def top(self, row: int) -> float:
        """Return the upper edge of a row; for the row after the last, the total height."""
        return sum(self._heights[:row])

    def find(self, position: float) -> tuple[int, float]:
        """Return the row at a position and the distance below its upper edge."""
        if not self._heights:
            return 0, 0.0
        bottoms = list(accumulate(self._heights))
        position = max(0.0, min(position, bottoms[-1] - 1))
        row = min(bisect_right(bottoms, position), len(self) - 1)
        return row, position - bottoms[row] + self._heights[row]


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

    `read` is a row that has room at the upper edge however little is below it, -1 for none. `measure` returns
    a row's height in pixels and sets it in `heights`.
    """

    def __init__(self, heights: RowHeights, measure: Callable[[int], int]) -> None:
        self.heights = heights
        self.row = 0
        self.offset = 0
        self.follow = True
        self.viewport = 0
        self.footer = 0
        self.read = -1
        self._measure = measure

    @property
    def value(self) -> int:
        """The position in pixels from the first row's upper edge, partly estimated."""
        return round(self.heights.top(self.row)) + self.offset

    @property
    def maximum(self) -> int:
        """The largest position."""
        return max(0, round(self.heights.total) + self._space - self.viewport)

    @property
    def _space(self) -> int:
        """The space under the last row."""
        if self.read < 0:
            return self.footer
        room, row = self.viewport, self.read
        while room > self.footer and row < len(self.heights):
            room -= self._measure(row)
            row += 1
        return max(self.footer, room)

    def scroll_by(self, distance: int) -> None:
        """Move by pixels, measuring every row that is crossed."""
        if len(self.heights):
            self.show_row(self.row, self.offset + distance)

    def scroll_to(self, position: int) -> None:
        """Jump to a position in pixels, partly estimated."""
        row, offset = self.heights.find(position)
        self.show_row(row, round(offset))

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

    def rows_spliced(self, start: int, removed: int, added: int) -> None:
        """Keep the position after rows were replaced; if its row is gone, go to the first new one."""
        if self.read >= start + removed:
            self.read += added - removed
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
        if self._room_below(placed) > 0 and (self.row or self.offset):
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
        far = (len(self.heights) - self.row) * LEAST_ROW > self.viewport + LEAST_ROW
        if not far and self._room_below(self._from_anchor()) >= 0:
            self.to_end()

    def _room_below(self, placed: Sequence[Placed]) -> int:
        """Return the pixels of the viewport under the end, less than 0 if the end is below it."""
        if not placed or placed[-1].row < len(self.heights) - 1:
            return -1
        return self.viewport - self._space - placed[-1].top - placed[-1].height

    def _to_end(self) -> None:
        row, filled = len(self.heights), self._space
        while row > 0 and filled < self.viewport:
            row -= 1
            filled += self._measure(row)
        self.row, self.offset = row, max(0, filled - self.viewport)
