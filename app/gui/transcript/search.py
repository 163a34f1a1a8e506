"""Finding words in everything a session holds, folded or not, and marking quotes in its rows.

`Finder` searches a little at a time, from the end, and again where something changed; `Search` runs it
between frames and shows what it finds. `Marks`: what differs on a warm ground, what all say with a dotted
line.
"""

from collections.abc import Generator, Iterator, Mapping, Sequence
from time import thread_time
from typing import NamedTuple

from PySide6.QtCore import QObject, Signal

from app.core.message import Message
from app.core.texts import Texts, visible
from app.engine.council.requests import found_in
from app.gui.display.theme import Tokens
from app.gui.markdown.blocks import CODE, Block, StreamingBlocks, code_chunks, literal_blocks
from app.gui.transcript import painted_row
from app.gui.transcript.canvas import Canvas, single_shot
from app.gui.transcript.feed import Feed
from app.gui.transcript.painted_row import ARGUMENTS, REST, RESULT, TEXT, THOUGHT, PaintedRow, SearchHit
from app.gui.transcript.row_text import Range
from app.gui.transcript.transcript_model import CARD, GROUP, QUESTION, SUMMARY, RowEntry, TranscriptModel

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
        text, known = row.text.plain_text, self._found.get(row.row_id)
        if known is None or known[0] != text:
            known = self._found[row.row_id] = (text, self._find(row.row_id, text))
        looks = {AGREED: ("transparent", tokens.ok), DIFFERS: (tokens.warn_bg, "")}
        return [Range(start, end, looks[kind][0], underline=looks[kind][1]) for start, end, kind in known[1]]

    def _find(self, row_id: str, text: str) -> list[tuple[int, int, str]]:
        # The row shows no Markdown marks.
        quotes = [(found_in(text, words.translate(_NO_MARKS)), kind) for words, kind in self._quotes[row_id]]
        starts = [(text.index(found), found, kind) for found, kind in quotes if found]
        return [(start, start + len(found), kind) for start, found, kind in starts]


_NO_MARKS = dict.fromkeys(map(ord, "*`"))


SEARCH_S = 0.003
"""Seconds of processor time for each step of a search."""
MAX_HITS = 1_000
PARSED_AT_ONCE = 500
"""Characters of a message that are parsed at a time, in less than four milliseconds."""


class SearchedText(NamedTuple):
    """One of a row's texts as it is stored; `part` is one of `SearchHit`, `literal` text is not Markdown."""

    part: str
    source: str
    literal: bool = False


def searched_texts(entry: RowEntry, model: TranscriptModel, texts: Texts) -> list[SearchedText]:
    """Return the texts of a row."""
    message = model.book.messages[entry.message_id]
    if entry.kind in (GROUP, SUMMARY):
        return []
    if entry.kind == CARD:
        call = message.tool_calls[entry.call]
        result = model.book.messages.get(entry.result_id)
        returned = result.content if result else ""
        parts = (REST, call.name), (ARGUMENTS, call.arguments), (RESULT, returned)
        return [SearchedText(*part) for part in parts]
    if entry.kind == QUESTION and (prompt := message.prompt):
        asked = (prompt.question, *prompt.options, prompt.answer)
        return [SearchedText(REST, text) for text in (*asked, prompt.called, prompt.about, prompt.arguments)]
    thought = [SearchedText(THOUGHT, message.thinking)] if model.chat else []
    rest = [text for attachment in message.attachments for text in (attachment.name, attachment.text)]
    if message.error is not None:
        rest.append(message.error.detail)
    said = SearchedText(TEXT, model.shown(message, texts), literal=message.by_user)
    return [*thought, said, *[SearchedText(REST, text) for text in rest]]


def as_it_reads(text: SearchedText) -> Iterator[str | None]:
    """Yield None where the search may pause, and last the text as the row shows it."""
    if text.literal:
        blocks = literal_blocks(text.source)
    elif text.part == TEXT:
        stream = StreamingBlocks()
        for start in range(0, len(text.source), PARSED_AT_ONCE):
            stream.feed(text.source[start : start + PARSED_AT_ONCE])
            yield None
        stream.finish()
        blocks = stream.blocks
    elif text.part == THOUGHT:
        blocks = painted_row.thought_blocks(text.source)
    elif text.part == REST:
        blocks = []
    else:
        blocks = code_chunks(visible(text.source), Block(CODE))
    yield "\n".join([block.text for block in blocks]) if text.part != REST else text.source


class _Known(NamedTuple):
    """What was found in a row, and the content it was found in."""

    message: Message
    result: Message | None
    characters: int
    hits: list[SearchHit]


class Finder:
    """The hits of one search, at most the newest MAX_HITS.

    `chosen` is the one shown, `current` its place, -1 for none.
    """

    def __init__(self, model: TranscriptModel, canvas: Canvas) -> None:
        self._model, self._canvas = model, canvas
        self.words = self._wanted = ""
        self.chosen: SearchHit | None = None
        self.start_anew()

    def search(self, words: str) -> None:
        """Search for words from now on, ignoring case; `lead` returns the newest hit."""
        self.words, self._wanted = words, words.casefold()
        self.chosen = None
        self.start_anew()
        self._leads = True

    def start_anew(self) -> None:
        """Search for the same words in other messages; the hit shown stays if it is there,
        `lead` returns none.
        """
        self.hits: list[SearchHit] = []
        self.current = -1
        self._leads = False
        self._by_root: dict[str, list[SearchHit]] = {}
        self._known: dict[str, _Known] = {}
        self._seen: set[str] = set()
        self._changed: dict[str, None] = {}
        self._work: Iterator[bool] | None = None
        looks = bool(self._wanted.strip())
        self._first = self._wanted.split()[0] if looks else ""
        self._earlier = list(self._model.book.messages) if looks else []

    def add_earlier(self, messages: Sequence[Message]) -> None:
        """Search these earlier messages as well."""
        if self._first:
            self._earlier[:0] = [message.id for message in messages]

    def look_again(self, turn_id: str) -> bool:
        """Search a changed turn and its sub-agents again; return False if no search is on."""
        if self._first:
            self._changed[self._model.book.root(turn_id)] = None
        return bool(self._first)

    def advance(self, seconds: float) -> bool:
        """Search on for about so long; return whether anything is left to search."""
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

    def lead(self) -> SearchHit | None:
        """Return the newest hit of a search by `search`, once."""
        if not self._leads or not self.hits:
            return None
        self._leads = False
        return self.step(0)

    def step(self, distance: int) -> SearchHit | None:
        """Return the next or previous hit and make it the current one; wrap around at the ends."""
        if not self.hits:
            return None
        # The first step goes to the newest hit in either direction.
        self.current = (self.current + distance) % len(self.hits) if self.chosen else len(self.hits) - 1
        self.chosen = self.hits[self.current]
        return self.chosen

    def in_row(self, row_id: str) -> list[SearchHit]:
        """Return the hits of a row."""
        return [hit for hit in self.hits if hit.row_id == row_id]

    def _next_root(self) -> str | None:
        """Return the root turn to search next: one that has changed, else the newest left."""
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
        """Search a root turn and its sub-agents; yield False where the search may pause, last True."""
        hits: list[SearchHit] = []
        for entry in self._model.rows_in(root):
            hits += yield from self._in_row(entry)
        self._by_root.pop(root, None)
        if hits:
            self._by_root[root] = hits[-MAX_HITS:]
        yield True

    def _in_row(self, entry: RowEntry) -> Generator[bool, None, list[SearchHit]]:
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
        hits: list[SearchHit] = []
        for text in searched_texts(entry, self._model, self._canvas.style.texts):
            if self._first in text.source.casefold():
                hits += yield from self._in_text(entry.id, text)
        self._known[entry.id] = _Known(message, result, characters, hits)
        yield False
        return hits

    def _in_text(self, row_id: str, source: SearchedText) -> Generator[bool, None, list[SearchHit]]:
        text = ""
        for read in as_it_reads(source):
            text = read or ""
            yield False
        folded = text.casefold()
        if len(folded) != len(text):
            folded = text.lower() if len(text.lower()) == len(text) else text
        hits: list[SearchHit] = []
        position = folded.rfind(self._wanted)
        while position >= 0 and len(hits) < MAX_HITS:
            hits.append(SearchHit(row_id, source.part, position, position + len(self._wanted)))
            position = folded.rfind(self._wanted, 0, position)
        return hits[::-1]

    def _gather(self, *, whole: bool) -> None:
        """Order the hits of all turns by row; the current hit stays current.

        If it is gone, the next one becomes current once the `whole` is searched.
        """
        roots = sorted(self._by_root, key=self._model.start_of)
        self.hits = [hit for root in roots for hit in self._by_root[root]][-MAX_HITS:]
        if self.chosen is None:
            return
        if self.chosen in self.hits:
            self.current = self.hits.index(self.chosen)
        elif whole:
            self.current = min(self.current, len(self.hits) - 1)
            self.chosen = self.hits[self.current] if self.current >= 0 else None


class Search(QObject):
    """Finds words in a session and shows the places; emits `found(number from 1, how many)`."""

    found = Signal(int, int)

    def __init__(self, model: TranscriptModel, canvas: Canvas, feed: Feed) -> None:
        super().__init__(canvas)
        self.marks = Marks()
        self._model, self._canvas, self._feed = model, canvas, feed
        self.finder = Finder(model, canvas)
        self._timer = single_shot(self, self._go_on)
        feed.turn_changed.connect(self._on_turn_changed)
        feed.loaded.connect(self._on_loaded)
        feed.prepended.connect(self._on_prepended)

    @property
    def active(self) -> bool:
        """Whether the search still goes on."""
        return self._timer.isActive()

    def find(self, text: str) -> None:
        """Mark the places of a text from now on, and show the last one as soon as it is found."""
        self.finder.search(text)
        self._go_on()

    def step(self, distance: int) -> None:
        """Show the next place (1) or the one before (-1)."""
        if (hit := self.finder.step(distance)) is not None:
            self._show(hit)
        self._tell()

    def ranges(self, row: PaintedRow) -> list[Range]:
        """Return what to mark in a row: quotes, and over them what was found."""
        tokens = self._canvas.style.tokens
        ranges = self.marks.ranges(row, tokens)
        for hit in self.finder.in_row(row.row_id):
            if (shown := row.range_of(hit)) is not None:
                current = hit == self.finder.chosen
                colours = (tokens.accent, tokens.on_accent) if current else (tokens.warn_bg, tokens.warn)
                ranges.append(Range(*shown, *colours, thought=hit.part == THOUGHT))
        return ranges

    def _go_on(self) -> None:
        """Search a little further; what is found is marked at once."""
        if self.finder.advance(SEARCH_S):
            self._timer.start(0)
        if (hit := self.finder.lead()) is not None:
            self._show(hit)
        self._canvas.repaint()
        self._tell()

    def _tell(self) -> None:
        self.found.emit(self.finder.current + 1, len(self.finder.hits))

    def _show(self, hit: SearchHit) -> None:
        """Unfold what hides a place and bring it on screen."""
        model, canvas = self._model, self._canvas
        self._feed.unfold_around(model.book.messages[hit.message_id].turn_id)
        if hit.row_id not in model:
            return
        index = model.index(hit.row_id)
        name = f"thought {hit.row_id}" if hit.part == THOUGHT else hit.row_id
        for opened, key in ((model.unfolded, name), (model.whole, hit.row_id)):
            if hit.part != REST and canvas.row(index).range_of(hit) is None:
                opened.add(key)
                canvas.rows.pop(hit.row_id, None)
        rect = canvas.row(index).hit_rect(hit)
        canvas.show(index, rect.top() - canvas.scroller.viewport // 3)

    def _on_turn_changed(self, turn_id: str) -> None:
        """Search in a turn again a moment later, when more of it may have come."""
        if self.finder.look_again(turn_id) and not self._timer.isActive():
            self._timer.start(150)

    def _on_loaded(self) -> None:
        """Mark the same words in other messages, without moving the reader."""
        self.finder.start_anew()
        if self.finder.words:
            self._timer.start(0)

    def _on_prepended(self, messages: Sequence[Message]) -> None:
        self.finder.add_earlier(messages)
        if self.finder.words:
            self._timer.start(0)
