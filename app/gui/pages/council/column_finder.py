"""Finding words over all columns of a council, as if they were one text."""

from collections.abc import Callable, Mapping

from app.gui.pages.council.council_column import CouncilColumn
from app.gui.widgets.search import FindBar


class ColumnFinder:
    """Counts what is found in the columns, in their order; `at` is the column in which the search is."""

    def __init__(
        self,
        bar: FindBar,
        columns: Callable[[], Mapping[str, CouncilColumn]],
        at: str,
        show: Callable[..., None],
    ) -> None:
        """`show` brings a column into sight."""
        self._bar, self._columns, self._into_sight = bar, columns, show
        self._found: dict[str, tuple[int, int]] = {}
        self.at = at
        for signal in (bar.text_changed, bar.closed):
            signal.disconnect()
        bar.text_changed.connect(self._on_find)
        bar.closed.connect(lambda: columns()[self.at].transcript.setFocus())

    def _there(self) -> list[str]:
        return [one for one in self._columns() if self._found.get(one, (0, 0))[1]]

    def _on_find(self, text: str) -> None:
        self._found = {}
        self._bar.show_count(0, 0)
        for column in self._columns().values():
            column.transcript.search.find(text)

    def on_found(self, who: str, number: int, count: int) -> None:
        """Count the places of all columns in their order; the first one that has any is where the search is."""
        self._found[who] = (number, count)
        there = self._there()
        if there and self.at not in there:
            self.at = there[0]
        before = sum(self._found[one][1] for one in there[: there.index(self.at)]) if there else 0
        at = self._found[self.at][0] if there else 0
        self._bar.show_count(before + at, sum(self._found[one][1] for one in there))

    def step(self, step: int) -> None:
        """Go to the next place, or the one before, over all columns."""
        there = self._there()
        if not there:
            return
        number, count = self._found[self.at]
        if not 1 <= number + step <= count:
            self.at = there[(there.index(self.at) + step) % len(there)]
            finder = self._columns()[self.at].transcript.search.finder
            # From its other end the next step leads to the end that is nearer.
            finder.current = len(finder.hits) - 1 if step > 0 else 0
        column = self._columns()[self.at]
        column.transcript.search.step(step)
        self._into_sight(column)
