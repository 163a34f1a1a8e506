"""Finding words in a transcript: the hits and the one that is shown."""

from dataclasses import dataclass

from app.gui.chat.transcript_model import TranscriptModel
from app.gui.markdown.blocks import parse

MAX_HITS = 1_000


@dataclass(frozen=True, slots=True)
class Hit:
    """A found stretch of a message's plain text."""

    message_id: str
    start: int
    end: int


class Finder:
    """The hits of one search, at most MAX_HITS, the newest kept; `current` is the one shown."""

    def __init__(self, model: TranscriptModel) -> None:
        self._model = model
        self.hits: list[Hit] = []
        self.current = -1
        self._by_message: dict[str, list[Hit]] = {}

    def search(self, words: str) -> int:
        """Find words, whatever their case; return how often they were found."""
        self.hits, self.current, self._by_message = [], -1, {}
        wanted = words.casefold()
        if not wanted.strip():
            return 0
        first = wanted.split()[0]
        for index in range(len(self._model.entries) - 1, -1, -1):
            source = self._model.text(index)
            if first in source.casefold():
                self.hits[:0] = self._in_message(self._model.id(index), source, wanted)
            if len(self.hits) >= MAX_HITS:
                break
        for hit in self.hits:
            self._by_message.setdefault(hit.message_id, []).append(hit)
        self.current = len(self.hits) - 1
        return len(self.hits)

    def step(self, distance: int) -> Hit | None:
        """Go to the next or previous hit, round the end."""
        if not self.hits:
            return None
        self.current = (self.current + distance) % len(self.hits)
        return self.hits[self.current]

    def in_message(self, message_id: str) -> list[Hit]:
        """Return the hits of a message."""
        return self._by_message.get(message_id, [])

    def is_current(self, hit: Hit) -> bool:
        """Whether a hit is the one shown."""
        return 0 <= self.current < len(self.hits) and self.hits[self.current] is hit

    @staticmethod
    def _in_message(message_id: str, source: str, wanted: str) -> list[Hit]:
        text = "\n".join([block.text for block in parse(source)])
        folded = text.casefold()
        if len(folded) != len(text):
            folded = text.lower() if len(text.lower()) == len(text) else text
        hits: list[Hit] = []
        position = folded.find(wanted)
        while position >= 0 and len(hits) < MAX_HITS:
            hits.append(Hit(message_id, position, position + len(wanted)))
            position = folded.find(wanted, position + len(wanted))
        return hits
