"""The heights against a plain list, and the anchor against heights that change."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from app.gui.transcript.row_heights import RowEstimate, RowHeights, RowScroller
from tests.repeats import examples

SIZES = st.tuples(st.integers(0, 3_000), st.integers(0, 40))
ESTIMATE = RowEstimate(60, 17, 0.25)


class HeightsMachine(RuleBasedStateMachine):
    """Every operation on the heights, mirrored by a list of heights."""

    def __init__(self) -> None:
        super().__init__()
        self.estimate = ESTIMATE
        self.heights = RowHeights(self.estimate)
        self.sizes: list[tuple[int, int]] = []
        self.measured: dict[int, int] = {}

    def expected(self) -> list[float]:
        return [self.measured.get(i, self.estimate.of(*size)) for i, size in enumerate(self.sizes)]

    @rule(size=SIZES)
    def append(self, size: tuple[int, int]) -> None:
        self.heights.splice(len(self.sizes), 0, [size])
        self.sizes.append(size)

    @rule(sizes=st.lists(SIZES, max_size=200))
    def prepend(self, sizes: list[tuple[int, int]]) -> None:
        self.heights.splice(0, 0, sizes)
        self.sizes[:0] = sizes
        self.measured = {row + len(sizes): height for row, height in self.measured.items()}

    @precondition(lambda self: self.sizes)
    @rule(data=st.data(), height=st.integers(30, 2_000))
    def measure(self, data: st.DataObject, height: int) -> None:
        row = data.draw(st.integers(0, len(self.sizes) - 1))
        self.heights.measure(row, height)
        self.measured[row] = height

    @precondition(lambda self: self.sizes)
    @rule(data=st.data(), size=SIZES)
    def grow(self, data: st.DataObject, size: tuple[int, int]) -> None:
        row = data.draw(st.integers(0, len(self.sizes) - 1))
        self.heights.splice(row, 1, [size])
        self.sizes[row] = size
        self.measured.pop(row, None)

    @rule(data=st.data(), sizes=st.lists(SIZES, max_size=150))
    def splice(self, data: st.DataObject, sizes: list[tuple[int, int]]) -> None:
        start = data.draw(st.integers(0, len(self.sizes)))
        removed = data.draw(st.integers(0, min(90, len(self.sizes) - start)))
        self.heights.splice(start, removed, sizes)
        self.sizes[start : start + removed] = sizes
        shift = len(sizes) - removed
        self.measured = {
            row + (shift if row >= start else 0): height
            for row, height in self.measured.items()
            if not start <= row < start + removed
        }

    @rule(character=st.floats(0.1, 1))
    def resize(self, character: float) -> None:
        self.estimate = RowEstimate(60, 17, character)
        self.heights.set_estimate(self.estimate)
        self.measured = {}

    @invariant()
    def agrees(self) -> None:
        expected = self.expected()
        assert len(self.heights) == len(expected)
        assert abs(self.heights.total - sum(expected)) < 0.01
        for row in {0, len(expected) // 2, len(expected) - 1} & set(range(len(expected))):
            assert abs(self.heights.top(row) - sum(expected[:row])) < 0.01
            found, below = self.heights.find(self.heights.top(row) + 1)
            assert found == row
            assert abs(below - 1) < 0.02


HeightsMachine.TestCase.settings = settings(max_examples=examples(40), stateful_step_count=20, deadline=None)
TestHeights = pytest.mark.repeats(HeightsMachine.TestCase)


def scroller(true: list[int], viewport: int = 500) -> RowScroller:
    """Return a scroller over rows whose true heights are only known when measured."""
    heights = RowHeights(ESTIMATE)
    heights.splice(0, 0, [(400, 2)] * len(true))

    def measure(row: int) -> int:
        heights.measure(row, true[row])
        return true[row]

    result = RowScroller(heights, measure)
    result.viewport = viewport
    return result


@given(
    st.lists(st.integers(40, 900), min_size=1, max_size=150),
    st.lists(st.integers(-700, 700), max_size=30),
)
def test_scrolling_moves_what_is_seen_by_exactly_the_distance(true: list[int], steps: list[int]) -> None:
    place = scroller(true)
    place.visible()
    for step in steps:
        before = {each.row: each.top for each in place.visible()}
        place.scroll_by(step)
        after = {each.row: each.top for each in place.visible()}
        both = before.keys() & after.keys()
        moved = {after[row] - before[row] for row in both}
        assert len(moved) <= 1
        if moved and place.row > 0 and not place.follow:
            assert moved == {-step}


@given(st.lists(st.integers(40, 900), min_size=1, max_size=100))
def test_following_shows_the_end_without_a_gap(true: list[int]) -> None:
    place = scroller(true)
    seen = place.visible()
    assert seen[-1].row == len(true) - 1
    if sum(true) >= 500:
        assert seen[-1].top + seen[-1].height == 500
    else:
        assert seen[0].top == 0


def test_prepending_keeps_the_rows_in_place() -> None:
    true = [100 + row for row in range(60)]
    place = scroller(true)
    place.show_row(20, 30)
    before = [(each.row, each.top) for each in place.visible()]
    true[:0] = [333] * 40
    place.heights.splice(0, 0, [(400, 2)] * 40)
    place.rows_spliced(0, 0, 40)
    assert [(each.row - 40, each.top) for each in place.visible()] == before


@given(st.lists(st.integers(20, 300), min_size=1, max_size=200), st.data())
def test_a_row_that_is_read_has_room_and_only_what_is_on_screen_is_measured(
    true: list[int], data: st.DataObject
) -> None:
    place = scroller(true, viewport=500)
    place.footer = data.draw(st.integers(0, 600))
    place.read = data.draw(st.integers(0, len(true) - 1))
    assert place._space == max(place.footer, 500 - sum(true[place.read :]))


def test_of_many_rows_below_the_one_that_is_read_few_are_measured() -> None:
    true, asked = [100] * 10_000, []
    place = scroller(true)
    measure = place._measure
    place._measure = lambda row: (asked.append(row), measure(row))[1]
    place.read = 2
    place.show_row(2)
    seen = place.visible()
    assert (seen[0].row, seen[0].top, len(seen)) == (2, 0, 5) and place.maximum > 900_000
    assert max(asked) < 10 and len(asked) < 60
