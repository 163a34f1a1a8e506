"""Quotes that are marked in the rows of a transcript: what differs on a warm ground, what all say with a dotted line."""

from collections.abc import Mapping, Sequence

from app.engine.council.requests import found_in
from app.gui.display.theme import Tokens
from app.gui.transcript.painted_row import PaintedRow
from app.gui.transcript.segments import Range

Quote = tuple[str, str]
"""Words of a message, and their kind: DIFFERS or AGREED."""
DIFFERS, AGREED = "differ", "agreed"


class Marks:
    """The quotes of each row; a row is searched once for each text it has."""

    def __init__(self) -> None:
        self._quotes: Mapping[str, Sequence[Quote]] = {}
        self._found: dict[str, tuple[str, list[tuple[int, int, str]]]] = {}

    def show(self, quotes: Mapping[str, Sequence[Quote]]) -> None:
        """Mark these words from now on, by the id of their message."""
        if quotes != self._quotes:
            self._quotes, self._found = quotes, {}

    def ranges(self, row: PaintedRow, tokens: Tokens) -> list[Range]:
        """Return what to mark in a row."""
        if row.row_id not in self._quotes:
            return []
        text = row.text.plain_text
        known = self._found.get(row.row_id)
        if known is None or known[0] != text:
            known = self._found[row.row_id] = (text, self._find(row.row_id, text))
        return [
            Range(start, end, underline=tokens.ok) if kind == AGREED else Range(start, end, tokens.warn_bg)
            for start, end, kind in known[1]
        ]

    def _find(self, row_id: str, text: str) -> list[tuple[int, int, str]]:
        places = []
        for words, kind in self._quotes[row_id]:
            # The row shows no Markdown marks.
            found = found_in(text, words.translate(_NO_MARKS))
            if found:
                start = text.index(found)
                places.append((start, start + len(found), kind))
        return places


_NO_MARKS = dict.fromkeys(map(ord, "*`"))
