"""Finding words over several transcripts, as if they were one text."""

from collections.abc import Callable, Mapping

from app.gui.transcript.transcript_view import TranscriptView
from app.gui.widgets.search import FindBar


class ColumnFinder:
    """Counts what is found in the transcripts, in their order; `at` is the one in which the search is."""

    def __init__(
        self,
        bar: FindBar,
        transcripts: Callable[[], Mapping[str, TranscriptView]],
        show: Callable[[str], None],
    ) -> None:
        """`show` brings a transcript into sight."""
        self._bar, self._transcripts, self._into_sight = bar, transcripts, show
        self._found: dict[str, tuple[int, int]] = {}
        self.at = ""
        for signal in (bar.text_changed, bar.closed):
            signal.disconnect()
        bar.text_changed.connect(self.find)
        bar.closed.connect(self._on_closed)

    def _there(self) -> list[str]:
        return [one for one in self._transcripts() if self._found.get(one, (0, 0))[1]]

    def find(self, text: str) -> None:
        """Find words in all transcripts that are searched now; the others find nothing any more."""
        self._found = {}
        self._bar.show_count(0, 0)
        for transcript in self._transcripts().values():
            transcript.search.find(text)

    def _on_closed(self) -> None:
        transcripts = self._transcripts()
        if shown := transcripts.get(self.at) or next(iter(transcripts.values()), None):
            shown.setFocus()

    def on_found(self, who: str, number: int, count: int) -> None:
        """Count the places of all transcripts in their order; the first one that has any is where the search is."""
        self._found[who] = (number, count)
        there = self._there()
        if there and self.at not in there:
            self.at = there[0]
        before = sum(self._found[one][1] for one in there[: there.index(self.at)]) if there else 0
        at = self._found[self.at][0] if there else 0
        self._bar.show_count(before + at, sum(self._found[one][1] for one in there))

    def step(self, step: int) -> None:
        """Go to the next place, or the one before, over all transcripts."""
        there = self._there()
        if not there:
            return
        number, count = self._found[self.at]
        if not 1 <= number + step <= count:
            self.at = there[(there.index(self.at) + step) % len(there)]
            finder = self._transcripts()[self.at].search.finder
            # From its other end the next step leads to the end that is nearer.
            finder.current = len(finder.hits) - 1 if step > 0 else 0
        self._transcripts()[self.at].search.step(step)
        self._into_sight(self.at)
