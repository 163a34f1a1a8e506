"""Finding words in all a session holds, folded or not: the hits and the one that is shown.

It looks a little at a time, from the end, and again where something has changed. Used by the transcript.
"""

from collections.abc import Generator, Iterable, Iterator, Sequence
from time import thread_time
from typing import NamedTuple

from app.core.message import Message
from app.gui.transcript.row_tree import Entry, plain_rows, whole_rows
from app.gui.transcript.search_result import Hit
from app.gui.transcript.searched_text import SearchedText, ShownText, as_it_reads, searched_texts
from app.gui.transcript.transcript_model import TranscriptModel

MAX_HITS = 1_000


class _Known(NamedTuple):
    """What was found in a row, and what it was drawn from then."""

    message: Message
    result: Message | None
    characters: int
    hits: list[Hit]


class Finder:
    """The hits of one search, at most MAX_HITS, the newest kept; `current` is the one shown, -1 for none."""

    def __init__(self, model: TranscriptModel, shown_text: ShownText) -> None:
        self._model = model
        self._shown_text = shown_text
        self.hits: list[Hit] = []
        self.current = -1
        self.words = ""
        self._wanted = ""
        self._first = ""
        self._leads = False
        self._chosen: Hit | None = None
        self._by_root: dict[str, list[Hit]] = {}
        self._by_row: dict[str, list[Hit]] = {}
        self._known: dict[str, _Known] = {}
        self._earlier: list[str] = []
        self._seen: set[str] = set()
        self._changed: dict[str, None] = {}
        self._work: Iterator[bool] | None = None

    def search(self, words: str) -> None:
        """Look for words from now on, whatever their case; the newest hit is gone to."""
        self.words, self._wanted = words, words.casefold()
        self._chosen = None
        self.start_anew()
        self._leads = True

    def start_anew(self) -> None:
        """Look for the same words in other messages: the hit shown stays shown where it is there, none is gone to."""
        self.hits, self.current, self._leads = [], -1, False
        self._by_root, self._by_row, self._known = {}, {}, {}
        self._seen, self._changed, self._work = set(), {}, None
        looks = bool(self._wanted.strip())
        self._first = self._wanted.split()[0] if looks else ""
        self._earlier = list(self._model.book.messages) if looks else []

    def add_earlier(self, messages: Sequence[Message]) -> None:
        """Look into these, which came before all others, as well."""
        if self._first:
            self._earlier[:0] = [message.id for message in messages]

    def look_again(self, turn_id: str) -> bool:
        """Look anew into a turn and what belongs to it; False where nothing is looked for."""
        if self._first:
            self._changed[self._model.book.root(turn_id)] = None
        return bool(self._first)

    def advance(self, seconds: float) -> bool:
        """Look on for about so long; say whether anything is left to be looked into."""
        until = thread_time() + seconds
        found = False
        while True:
            if self._work is None:
                root = self._next_root()
                if root is None:
                    break
                self._work = self._look_into(root)
            if next(self._work, True):
                self._work, found = None, True
            if thread_time() >= until:
                break
        left = self._work is not None or bool(self._changed) or bool(self._earlier)
        if found or not left:
            self._gather(whole=not left)
        return left

    def lead(self) -> Hit | None:
        """Return the newest hit, once: where the reader is led who has typed."""
        if not self._leads or not self.hits:
            return None
        self._leads = False
        return self.step(0)

    def step(self, distance: int) -> Hit | None:
        """Go to the next or previous hit, round the end."""
        if not self.hits:
            return None
        # Who has been led nowhere yet begins at the newest, whichever way.
        self.current = (self.current + distance) % len(self.hits) if self._chosen else len(self.hits) - 1
        self._chosen = self.hits[self.current]
        return self._chosen

    def in_row(self, row_id: str) -> list[Hit]:
        """Return the hits of a row."""
        return self._by_row.get(row_id, [])

    def is_current(self, hit: Hit) -> bool:
        """Whether a hit is the one shown."""
        return hit == self._chosen

    def _next_root(self) -> str | None:
        """Return the root turn to look into next: one that has changed, else the newest left."""
        book = self._model.book
        if self._changed:
            root = next(iter(self._changed))
            del self._changed[root]
            self._seen.add(root)
            return root
        if len(self.hits) >= MAX_HITS:
            self._earlier.clear()
        while self._earlier:
            message = book.messages.get(self._earlier.pop())
            if message is not None and (root := book.root(message.turn_id)) not in self._seen:
                self._seen.add(root)
                return root
        return None

    def _look_into(self, root: str) -> Iterator[bool]:
        """Find in a root turn and all that was called in it; yield False as often as one may pause, last True."""
        block = self._model.book.block(root)
        hits: list[Hit] = []
        for entry in whole_rows(block) if self._model.chat else plain_rows(block):
            hits += yield from self._in_row(entry)
        self._by_root.pop(root, None)
        if hits:
            self._by_root[root] = hits[-MAX_HITS:]
        yield True

    def _in_row(self, entry: Entry) -> Generator[bool, None, list[Hit]]:
        book, live = self._model.book, self._model.live.get(entry.message_id)
        message, result = book.messages[entry.message_id], book.messages.get(entry.result_id)
        characters = live.characters if live else -1
        known = self._known.get(entry.id)
        if (
            known is not None
            and known.message is message
            and known.result is result
            and known.characters == characters
        ):
            return known.hits
        hits: list[Hit] = []
        for text in searched_texts(entry, self._model, self._shown_text):
            if self._first in text.source.casefold():
                hits += yield from self._in_text(entry.id, text)
        self._known[entry.id] = _Known(message, result, characters, hits)
        yield False
        return hits

    def _in_text(self, row_id: str, source: SearchedText) -> Generator[bool, None, list[Hit]]:
        text = ""
        for read in as_it_reads(source):
            text = read or ""
            yield False
        folded = text.casefold()
        if len(folded) != len(text):
            folded = text.lower() if len(text.lower()) == len(text) else text
        hits: list[Hit] = []
        position = folded.rfind(self._wanted)
        while position >= 0 and len(hits) < MAX_HITS:
            hits.append(Hit(row_id, source.part, position, position + len(self._wanted)))
            position = folded.rfind(self._wanted, 0, position)
        return hits[::-1]

    def _gather(self, *, whole: bool) -> None:
        """Put the hits of all turns in the order of the rows; the one shown stays the one shown.

        Where it is gone it is the next one, once the `whole` is looked through.
        """
        roots = sorted(self._by_root, key=self._model.start_of)
        self.hits = [hit for root in roots for hit in self._by_root[root]][-MAX_HITS:]
        self._by_row = _by_row(self.hits)
        if self._chosen is None:
            return
        if self._chosen in self._by_row.get(self._chosen.row_id, ()):
            self.current = self.hits.index(self._chosen)
        elif whole:
            self.current = min(self.current, len(self.hits) - 1)
            self._chosen = self.hits[self.current] if self.current >= 0 else None


def _by_row(hits: Iterable[Hit]) -> dict[str, list[Hit]]:
    found: dict[str, list[Hit]] = {}
    for hit in hits:
        found.setdefault(hit.row_id, []).append(hit)
    return found
