"""Finding, selecting and copying in a transcript, across its messages."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from app.core.texts import Texts
from app.gui.chat.finder import Finder
from app.gui.chat.row_style import COMPACT, Picture
from app.gui.chat.segments import Range
from app.gui.chat.selection import TO_END, Place, Selection
from app.gui.chat.transcript_feed import TranscriptFeed
from app.gui.theme import Tokens


class TranscriptSelecting(TranscriptFeed):
    """A transcript whose text can be found, selected and copied; emits `copy_done`."""

    copy_done = Signal()

    def __init__(
        self,
        tokens: Tokens,
        texts: Texts,
        parent: QWidget | None = None,
        layout: str = COMPACT,
        picture: Picture | None = None,
    ) -> None:
        super().__init__(tokens, texts, parent, layout, picture)
        self._selection = Selection(self._model)
        self._finder = Finder(self._model)

    # Finding

    def find(self, text: str) -> int:
        """Mark where a text stands and show the last place; return how often it was found."""
        if text:
            self._filler.finish()
        count = self._finder.search(text)
        self._show_hit(0)
        return count

    def find_next(self) -> tuple[int, int]:
        """Show the next place; return (number of it from 1, how many)."""
        return self._show_hit(1)

    def find_previous(self) -> tuple[int, int]:
        """Show the place before; return (number of it from 1, how many)."""
        return self._show_hit(-1)

    def _show_hit(self, distance: int) -> tuple[int, int]:
        hit = self._finder.step(distance)
        if hit is not None:
            index = self._model.index(hit.message_id)
            rect = self._row(index).position_rect(hit.start)
            self._resize_place = None
            self._scroller.show_row(index, rect.top() - self.viewport().height() // 3)
        self._refresh(None)
        return self._finder.current + 1, len(self._finder.hits)

    # Selecting and copying

    def point_out(self, message_id: str) -> None:
        """Bring a message up and select it, so that it is seen which one is meant."""
        if self.go_to(message_id, 0):
            self._selection.start(Place(message_id, 0))
            self._selection.extend(Place(message_id, TO_END))
            self.viewport().update()

    def author_of(self, message_id: str) -> str:
        """Return the id of who said a message."""
        return self._model.book.messages[message_id].author.id

    def select_all(self) -> None:
        """Select every message."""
        self._filler.finish()
        self._selection.select_all()
        self.viewport().update()

    def selected_text(self, *, markdown: bool = True) -> str:
        """Return what is selected, as it would be copied."""
        return self._selection.copied(self._style.texts, markdown=markdown)

    def copy(self, *, markdown: bool = True) -> None:
        """Put what is selected on the clipboard."""
        self._copy_text(self.selected_text(markdown=markdown))

    def copy_message(self, message_id: str) -> None:
        """Put a message's Markdown on the clipboard."""
        live = self._model.live.get(message_id)
        self._copy_text(live.text if live else self._model.book.messages[message_id].content)

    def _copy_text(self, text: str) -> None:
        if text:
            QGuiApplication.clipboard().setText(text)
            self.copy_done.emit()

    def _ranges(self, row: int) -> Sequence[Range]:
        tokens = self._style.tokens
        ranges: list[Range] = []
        for hit in self._finder.in_message(self._model.id(row)):
            if self._finder.is_current(hit):
                ranges.append(Range(hit.start, hit.end, tokens.accent, tokens.on_accent))
            else:
                ranges.append(Range(hit.start, hit.end, tokens.warn_bg, tokens.warn))
        selected = self._selection.in_row(row)
        if selected:
            ranges.append(Range(*selected, tokens.accent_bg if not tokens.dark else tokens.line_strong))
        return ranges
