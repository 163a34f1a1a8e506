"""What is selected in a transcript, across rows, and how it is copied."""

from dataclasses import dataclass

from app.core.texts import Texts
from app.gui.display.theme import Tokens
from app.gui.markdown.excerpt import markdown_of, plain_of
from app.gui.markdown.message_blocks import blocks_of
from app.gui.transcript.row_tree import MESSAGE
from app.gui.transcript.segments import Range
from app.gui.transcript.transcript_model import TranscriptModel

TO_END = 1 << 60
"""A position behind the end of every text."""


@dataclass(frozen=True, slots=True)
class TextPlace:
    """A place between two characters: a row and a position in its plain text."""

    row_id: str
    position: int


class Selection:
    """The range between an anchor and a cursor, in either order."""

    def __init__(self, model: TranscriptModel) -> None:
        self._model = model
        self.anchor: TextPlace | None = None
        self.cursor: TextPlace | None = None

    def clear(self) -> None:
        """Select nothing."""
        self.anchor = self.cursor = None

    def start(self, place: TextPlace) -> None:
        """Begin a selection at a place."""
        self.anchor = self.cursor = place

    def extend(self, place: TextPlace) -> None:
        """Move the cursor and keep the anchor."""
        self.anchor = self.anchor or place
        self.cursor = place

    def select_row(self, row_id: str) -> None:
        """Select all of a row."""
        self.anchor, self.cursor = TextPlace(row_id, 0), TextPlace(row_id, TO_END)

    def select_all(self) -> None:
        """Select everything."""
        model = self._model
        if model.entries:
            self.anchor, self.cursor = TextPlace(model.id(0), 0), TextPlace(model.id(-1), TO_END)

    def bounds(self) -> tuple[tuple[int, int], tuple[int, int]] | None:
        """Return first and last (row, position), None if nothing is selected."""
        if self.anchor is None or self.cursor is None or self.anchor == self.cursor:
            return None
        if self.anchor.row_id not in self._model or self.cursor.row_id not in self._model:
            return None
        one = (self._model.index(self.anchor.row_id), self.anchor.position)
        two = (self._model.index(self.cursor.row_id), self.cursor.position)
        return (one, two) if one <= two else (two, one)

    def in_row(self, row: int) -> tuple[int, int] | None:
        """Return start and end of the selection in a row, None if nothing of it is selected."""
        bounds = self.bounds()
        if bounds is None or not bounds[0][0] <= row <= bounds[1][0]:
            return None
        (first, start), (last, end) = bounds
        return (start if row == first else 0), (end if row == last else TO_END)

    def ranges(self, row: int, tokens: Tokens) -> list[Range]:
        """Return what to mark in a row."""
        selected = self.in_row(row)
        colour = tokens.line_strong if tokens.dark else tokens.accent_bg
        return [Range(*selected, colour)] if selected else []

    def copied(self, texts: Texts, *, markdown: bool) -> str:
        """Return the selected text; each of several messages begins with who speaks."""
        bounds = self.bounds()
        if bounds is None:
            return ""
        first, last = bounds[0][0], bounds[1][0]
        parts = []
        for row in range(first, last + 1):
            if first != last and self._model.entries[row].kind != MESSAGE:
                continue
            start, end = self.in_row(row) or (0, 0)
            text = self._row_text(row, start, end, markdown=markdown)
            if first != last:
                text = f"{self.label(row, texts, markdown=markdown)}\n\n{text}"
            parts.append(text)
        return "\n\n".join(parts)

    def label(self, row: int, texts: Texts, *, markdown: bool) -> str:
        """Return the speaker of a row with the role."""
        message = self._model.message(row)
        name = self._model.name(message, texts)
        role = self._model.role(message, texts)
        label = f"{name} ({role}):" if role else f"{name}:"
        return f"**{label}**" if markdown else label

    def _row_text(self, row: int, start: int, end: int, *, markdown: bool) -> str:
        source = self._model.text(row)
        blocks = blocks_of(self._model.message(row), source)
        length = sum([len(block.text) + 1 for block in blocks]) - 1
        if start <= 0 and end >= length:
            return source.strip("\n") if markdown else plain_of(blocks, 0, length)
        return (markdown_of if markdown else plain_of)(blocks, start, min(end, length))
