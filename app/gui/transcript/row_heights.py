"""The heights of all rows of a transcript, and which rows are on screen and where.

Heights are in leaves of 64 rows, each with its sum. A row counts with an estimate from its characters and
lines until it is measured; a new width drops the measured heights and costs one step per leaf.
Places count from an anchor (row and offset) that holds while heights change.
"""

from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

LEAF_ROWS = 64


@dataclass(frozen=True, slots=True)
class RowEstimate:
    """The estimated height of a row in pixels: a fixed part, and a part for each line end and character."""

    row: float
    line: float
    character: float

    def of(self, characters: int, lines: int) -> float:
        """Return the estimated height of a row."""
        return self.row + lines * self.line + characters * self.character


@dataclass(slots=True)
class _Leaf:
    """Neighbouring rows: their characters and line ends, the measured heights by place, and the sum of heights."""

    characters: "array[int]"
    lines: "array[int]"
    measured: dict[int, int] = field(default_factory=dict)
    total: float = 0.0

    def __len__(self) -> int:
        return len(self.lines)

    def add_up(self, estimate: RowEstimate) -> None:
        """Set the sum of the rows' heights."""
        self.total = estimate.of(sum(self.characters), sum(self.lines)) + (len(self) - 1) * estimate.row
        for place, height in self.measured.items():
            self.total += height - estimate.of(self.characters[place], self.lines[place])


class RowHeights:
    """Heights by row, positions by row and rows by position, in pixels.

    `version` changes with every change of a height.
    """

    def __init__(self, estimate: RowEstimate) -> None:
        self._estimate = estimate
        self._leaves: list[_Leaf] = []
        self._firsts: list[int] = []
        self._rows = 0
        self.version = 0
        self._build()

    def __len__(self) -> int:
        return self._rows

    @property
    def total(self) -> float:
        """The height of all rows together."""
        return self._above(len(self._leaves))

    def set_estimate(self, estimate: RowEstimate) -> None:
        """Drop all measured heights, because the width or the font changed."""
        self._estimate = estimate
        for leaf in self._leaves:
            leaf.measured.clear()
            leaf.add_up(estimate)
        self._build()

    def append(self, characters: int, lines: int) -> None:
        """Add a row at the end."""
        self._rows += 1
        if self._leaves and len(self._leaves[-1]) < LEAF_ROWS:
            leaf = self._leaves[-1]
            leaf.characters.append(characters)
            leaf.lines.append(lines)
            self._grow(len(self._leaves) - 1, self._estimate.of(characters, lines))
        else:
            self._leaves += self._split([(characters, lines)])
            self._build()

    def prepend(self, sizes: Sequence[tuple[int, int]]) -> None:
        """Add rows before the first."""
        self._leaves[:0] = self._split(sizes)
        self._rows += len(sizes)
        self._build()

    def splice(self, start: int, removed: int, sizes: Sequence[tuple[int, int]]) -> None:
        """Replace `removed` rows from `start` on by rows of these sizes; other heights stay."""
        if start >= self._rows:
            first = last = len(self._leaves) - 1 if self._leaves else 0
            begin = len(self._leaves[first]) if self._leaves else 0
        else:
            first, begin = self._place(start)
            last = self._place(start + removed - 1)[0] if removed else first
        old = self._leaves[first : last + 1]
        merged = [size for leaf in old for size in zip(leaf.characters, leaf.lines, strict=True)]
        measured: dict[int, int] = {}
        offset, shift = 0, len(sizes) - removed
        for leaf in old:
            for place, height in leaf.measured.items():
                row = offset + place
                if row < begin:
                    measured[row] = height
                elif row >= begin + removed:
                    measured[row + shift] = height
            offset += len(leaf)
        merged[begin : begin + removed] = sizes
        size = LEAF_ROWS if len(merged) > 2 * LEAF_ROWS else max(1, len(merged))
        leaves = self._split(merged, size)
        for row, height in measured.items():
            leaf = leaves[row // size]
            leaf.total += height - self._height_in(leaf, row % size)
            leaf.measured[row % size] = height
        self._leaves[first : last + 1] = leaves
        self._rows += shift
        self._build()

    def set_size(self, row: int, characters: int, lines: int) -> None:
        """Set the size of a row that grew, and drop its measured height."""
        index, place = self._place(row)
        leaf = self._leaves[index]
        before = self._height_in(leaf, place)
        leaf.characters[place], leaf.lines[place] = characters, lines
        leaf.measured.pop(place, None)
        self._grow(index, self._height_in(leaf, place) - before)

    def measure(self, row: int, height: int) -> float:
        """Set the measured height of a row; return the difference to the height before."""
        index, place = self._place(row)
        leaf = self._leaves[index]
        difference = height - self._height_in(leaf, place)
        if difference or place not in leaf.measured:
            leaf.measured[place] = height
            self._grow(index, difference)
        return difference

    def height(self, row: int) -> float:
        """Return the height of a row."""
        index, place = self._place(row)
        return self._height_in(self._leaves[index], place)

    def top(self, row: int) -> float:
        """Return the upper edge of a row; for the row after the last, the total height."""
        if row >= self._rows:
            return self.total
        index, place = self._place(row)
        leaf = self._leaves[index]
        return self._above(index) + sum([self._height_in(leaf, other) for other in range(place)])

    def find(self, position: float) -> tuple[int, float]:
        """Return the row at a position and the distance below its upper edge."""
        if not self._rows:
            return 0, 0.0
        rest = max(0.0, min(position, self.total - 1))
        index = 0
        while index < len(self._leaves) - 1 and rest >= self._leaves[index].total:
            rest -= self._leaves[index].total
            index += 1
        leaf, first = self._leaves[index], self._firsts[index]
        for place in range(len(leaf)):
            height = self._height_in(leaf, place)
            if rest < height:
                return first + place, rest
            rest -= height
        return first + len(leaf) - 1, height

    def _height_in(self, leaf: _Leaf, place: int) -> float:
        measured = leaf.measured.get(place)
        return self._estimate.of(leaf.characters[place], leaf.lines[place]) if measured is None else measured

    def _place(self, row: int) -> tuple[int, int]:
        if not 0 <= row < self._rows:
            raise IndexError(row)
        index = bisect_right(self._firsts, row) - 1
        return index, row - self._firsts[index]

    def _above(self, index: int) -> float:
        """Return the height of all rows before a leaf."""
        return sum([leaf.total for leaf in self._leaves[:index]])

    def _grow(self, index: int, difference: float) -> None:
        """Add to the height of a leaf."""
        self._leaves[index].total += difference
        self.version += 1

    def _build(self) -> None:
        """Count the rows before each leaf."""
        self._firsts = [0, *accumulate(map(len, self._leaves))][: len(self._leaves)]
        self.version += 1

    def _split(self, sizes: Sequence[tuple[int, int]], rows: int = LEAF_ROWS) -> list[_Leaf]:
        """Return leaves of `rows` rows each."""
        leaves = []
        for start in range(0, len(sizes), rows):
            characters, lines = zip(*sizes[start : start + rows], strict=True)
            leaves.append(_Leaf(array("I", characters), array("I", lines)))
            leaves[-1].add_up(self._estimate)
        return leaves


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
