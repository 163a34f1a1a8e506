"""Finding, selecting and copying in a transcript, across its messages."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from app.core.events import CallsStreamed
from app.core.message import Message
from app.core.texts import Texts
from app.gui.display.theme import Tokens
from app.gui.transcript.finder import Finder
from app.gui.transcript.row_maker import shown_text
from app.gui.transcript.row_style import COMPACT, Picture
from app.gui.transcript.search_result import REST, THOUGHT, Hit
from app.gui.transcript.segments import Range
from app.gui.transcript.selection import TO_END, Place, Selection
from app.gui.transcript.transcript_feed import TranscriptFeed

LOOK_S = 0.003
AGAIN_MS = 150


class TranscriptSelecting(TranscriptFeed):
    """A transcript whose text can be found, selected and copied.

    Signals: copy_done(), found(number of the place shown from 1, how many) while anything is looked for.
    """

    copy_done = Signal()
    found = Signal(int, int)

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
        self._finder = Finder(self._model, lambda message, text: shown_text(message, text, self._style.texts))
        self._looking = self._single_shot(self._look_on)

    # Finding

    def find(self, text: str) -> None:
        """Mark where a text stands from now on, and show the last place as soon as it is found."""
        self._finder.search(text)
        self._look_on()

    def find_next(self) -> None:
        """Show the next place."""
        self._step(1)

    def find_previous(self) -> None:
        """Show the place before."""
        self._step(-1)

    def _step(self, distance: int) -> None:
        hit = self._finder.step(distance)
        if hit is not None:
            self._show_hit(hit)
        self._say_found()

    def _look_on(self) -> None:
        """Look a little further; what is found is marked at once."""
        if self._finder.advance(LOOK_S):
            self._looking.start(0)
        hit = self._finder.lead()
        if hit is not None:
            self._show_hit(hit)
        self.viewport().update()
        self._say_found()

    def _say_found(self) -> None:
        self.found.emit(self._finder.current + 1, len(self._finder.hits))

    def _look_again(self, turn_id: str) -> None:
        """Find in what a turn has become, a moment later: it may become more at once."""
        if self._finder.look_again(turn_id) and not self._looking.isActive():
            self._looking.start(AGAIN_MS)

    def _show_hit(self, hit: Hit) -> None:
        """Unfold what hides a hit and bring it on screen."""
        model = self._model
        self._show_turn(model.book.messages[hit.message_id].turn_id)
        if hit.row_id not in model:
            return
        index = model.index(hit.row_id)
        row_id = hit.row_id
        for opened, name in (
            (model.unfolded, f"thought {row_id}" if hit.part == THOUGHT else row_id),
            (model.whole, row_id),
        ):
            if hit.part != REST and self._row(index).range_of(hit) is None:
                opened.add(name)
                self._rows.drop(row_id)
        rect = self._row(index).hit_rect(hit)
        self._resize_place = None
        self._scroller.show_row(index, rect.top() - self.viewport().height() // 3)
        self._refresh(None)

    def _show_turn(self, turn_id: str) -> None:
        """Unfold a sub-agent's turn and those around it."""
        for each in reversed(list(self._model.book.above(turn_id))):
            self.fold(each, False)

    def go_to(self, message_id: str, offset: int) -> bool:
        """Put a `place` back at the upper edge, unfolding what hides it: a folded turn, the card of a result."""
        if super().go_to(message_id, offset):
            return True
        message = self._model.book.messages.get(message_id)
        if message is None:
            return False
        self._show_turn(message.turn_id)
        rows = [message_id, *self._model.card_rows(message)]
        if message.tool_call_id is not None:
            rows += self._model.caller_rows(message.turn_id, message.tool_call_id)
        row_id = next((each for each in rows if each in self._model), "")
        if row_id != message_id and row_id:
            self._model.unfolded.add(row_id)
            self._rows.drop(row_id)
        return super().go_to(row_id, 0)

    # What happens is found as well

    def message_started(self, message: Message) -> None:
        super().message_started(message)
        self._look_again(message.turn_id)

    def append_text(self, message_id: str, text: str, thinking: str = "") -> None:
        super().append_text(message_id, text, thinking)
        if message_id in self._model.live:
            self._look_again(self._model.book.messages[message_id].turn_id)

    def message_finished(self, message: Message) -> None:
        super().message_finished(message)
        self._look_again(message.turn_id)

    def calls_streamed(self, event: CallsStreamed) -> None:
        super().calls_streamed(event)
        if self._model.knows(event.message_id):
            self._look_again(self._model.book.messages[event.message_id].turn_id)

    def _put_before(self, messages: Sequence[Message]) -> None:
        super()._put_before(messages)
        self._finder.add_earlier(messages)
        if self._finder.words:
            self._looking.start(0)

    def _lay_out(self, messages: Sequence[Message]) -> None:
        super()._lay_out(messages)
        # Other messages, the same words: they are marked, but nobody is led away from where they read.
        self._finder.start_anew()
        if self._finder.words:
            self._looking.start(0)

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
        self._copy_text(self._model.said(message_id))

    def _copy_text(self, text: str) -> None:
        if text:
            QGuiApplication.clipboard().setText(text)
            self.copy_done.emit()

    def _ranges(self, row: int) -> Sequence[Range]:
        tokens = self._style.tokens
        ranges: list[Range] = []
        for hit in self._finder.in_row(self._model.id(row)):
            shown = self._row(row).range_of(hit)
            if shown is not None:
                current = self._finder.is_current(hit)
                colours = (tokens.accent, tokens.on_accent) if current else (tokens.warn_bg, tokens.warn)
                ranges.append(Range(*shown, *colours, thought=hit.part == THOUGHT))
        selected = self._selection.in_row(row)
        if selected:
            ranges.append(Range(*selected, tokens.accent_bg if not tokens.dark else tokens.line_strong))
        return ranges
