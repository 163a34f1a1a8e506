"""The transcript as things happen: sessions, messages, calls, turns and questions come into its rows.

`TranscriptCanvas` places and paints them; `TranscriptView` adds what the reader does.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from time import monotonic

from PySide6.QtCore import QRect, QTimer
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QWidget

from app.core.events import CallsStreamed, ToolFinished, ToolStarted, TurnFinished
from app.core.message import Author, Message, MessageState, Role
from app.core.session import Session, Status
from app.core.texts import Texts
from app.gui.display.theme import Tokens
from app.gui.transcript.card_host import CardHost, Factory
from app.gui.transcript.gradual_loading import Backlog
from app.gui.transcript.group_row import GroupRow
from app.gui.transcript.question_row import QuestionRow
from app.gui.transcript.row_filler import SLICE, RowFiller
from app.gui.transcript.row_heights import RowHeights
from app.gui.transcript.row_scroller import RowScroller
from app.gui.transcript.row_style import COMPACT, Picture
from app.gui.transcript.row_tree import CARD, QUESTION
from app.gui.transcript.transcript_canvas import TranscriptCanvas
from app.gui.transcript.transcript_model import Splice

BEAT_MS = 1_000
Versions = Mapping[str, tuple[int, int]]


class TranscriptFeed(TranscriptCanvas):
    """The messages of one session, as they come; all methods are called on the window's thread."""

    def __init__(
        self,
        tokens: Tokens,
        texts: Texts,
        parent: QWidget | None = None,
        layout: str = COMPACT,
        picture: Picture | None = None,
    ) -> None:
        """`picture` gives the tools' icons (`Look.picture`); without it cards show none."""
        super().__init__(tokens, texts, parent, layout, picture)
        self._host = CardHost(self, self._overlays)
        self._host.resized.connect(self._on_widget_resized)
        self._filler = RowFiller(self)
        self._filler.slice_due.connect(self._put_before)
        self._beat = QTimer(self)
        self._beat.setInterval(BEAT_MS)
        self._beat.timeout.connect(self._on_beat)

    def set_card_factory(self, factory: Factory) -> None:
        """Say who makes the widget that is laid over a message with an open question.

        It is called when the question comes on screen; the widget becomes the transcript's, takes
        its height from heightForWidth or sizeHint, and is deleted when the question is answered.
        """
        self._host.set_factory(factory)

    def set_colours(self, colours: Mapping[str, int]) -> None:
        """Paint these authors of chats in their speaker's colour, by their id; the others get one of the rest."""
        if colours != self._model.colours:
            self._model.colours = dict(colours)
            self._rows.clear()
            self._refresh(None)

    def show_session(
        self, session: Session, messages: Sequence[Message], versions: Versions | None = None
    ) -> None:
        """Show a session's messages, from the end; `messages` are those of the path that is shown.

        Of a long session the last rows are there at once, the others come in between frames; whoever
        asks for one of them, or for all (`message_ids`, finding), has them.
        """
        self._model.reset(session)
        self._model.versions = dict(versions or {})
        self._host.keep(set())
        self._typing.stop()
        self._begin(messages)

    def session_changed(self, session: Session) -> None:
        """Take the session as it is now: whether it runs decides what ticks and what is left undone."""
        runs = session.status == Status.RUNNING
        if runs != self._model.runs:
            self._model.runs = runs
            self._rows.clear()
            self._refresh(None)

    def reload(self, messages: Sequence[Message], versions: Versions | None = None) -> None:
        """Show another path of the same session; what is read stays where it is, as far as it is there.

        `versions` maps turn ids to (number from 1, how many).
        """
        self._model.versions = dict(versions or {})
        entries, row = self._model.entries, self._scroller.row
        offset, follow = self._scroller.offset, self.following
        self._begin(messages)
        if follow:
            return
        there = {message.id for message in messages}
        for place in range(min(row, len(entries) - 1), -1, -1):
            if entries[place].message_id in there:
                self._filler.reach(entries[place].message_id)
                if entries[place].id in self._model:
                    self._scroller.show_row(
                        self._model.index(entries[place].id), offset if place == row else 0
                    )
                    self._refresh(None)
                    return

    def _begin(self, messages: Sequence[Message]) -> None:
        """Lay out the end of these messages; the others are to come."""
        backlog = Backlog(messages)
        self._model.meet(messages)
        self._lay_out(backlog.take(max(SLICE, backlog.growing())))
        self._filler.start(backlog)

    def _lay_out(self, messages: Sequence[Message]) -> None:
        """Show these messages instead of what was shown, from the end."""
        self._model.load(messages)
        self._rows.clear()
        self._dirty.clear()
        self._frame.stop()
        self._resize_place = None
        live = self._model.live
        self._model.live = {key: live[key] for key in live if self._model.knows(key)}
        for message in messages:
            if message.state == MessageState.STREAMING and message.id not in self._model.live:
                self._model.begin_live(message)
        heights = RowHeights(self._style.estimate(self.viewport().width()))
        heights.prepend([self._model.size(index) for index in range(len(self._model.entries))])
        self._placed = []
        self._scroller = RowScroller(heights, self._measure)
        self._scroller.footer = self._tail + (self._typing.height if self._typing.active else 0)
        self._drop_widgets()
        self._refresh(None)

    def prepend(self, messages: Sequence[Message]) -> None:
        """Add earlier messages; what is on screen stays where it is."""
        self._filler.finish()
        shown = list(self._model.book.messages.values())
        earlier = [message for message in messages if not self._model.knows(message.id)]
        backlog = Backlog([*earlier, *shown])
        end = backlog.take(len(shown))
        if len(end) > len(shown):
            # The first turn shown began earlier: its rows are others now.
            self.reload([*earlier, *shown], self._model.versions)
        else:
            self._model.meet(earlier)
            self._filler.start(backlog)

    def _put_before(self, messages: Sequence[Message]) -> None:
        """Put rows of whole earlier turns before the first."""
        count = self._model.prepend(messages)
        self._scroller.heights.prepend([self._model.size(index) for index in range(count)])
        self._scroller.rows_prepended(count)
        self._placed = [replace(each, row=each.row + count) for each in self._placed]
        self._context_changed(count)
        self._refresh(())

    def _need_turn(self, *turn_ids: str | None) -> None:
        """Have all rows there before something happens in a turn that is still to come."""
        if any(self._filler.backlog.holds_turn(turn_id) for turn_id in turn_ids):
            self._filler.finish()

    @property
    def filling(self) -> bool:
        """Whether earlier messages are still coming in between frames."""
        return len(self._filler.backlog) > 0

    @property
    def message_ids(self) -> list[str]:
        self._filler.finish()
        return super().message_ids

    def go_to(self, message_id: str, offset: int) -> bool:
        if message_id not in self._model:
            self._filler.reach(message_id.partition("/")[0])
        return super().go_to(message_id, offset)

    def set_versions(self, versions: Versions) -> None:
        """Show `‹ 2/3 ›` on turns with several versions: turn id -> (number from 1, how many)."""
        if versions == self._model.versions:
            return
        changed = {*self._model.versions, *versions}
        self._model.versions = dict(versions)
        self._renew([message.id for turn in changed for message in self._model.book.said(turn)[:1]])

    # Messages

    def message_started(self, message: Message) -> None:
        """Add a message, usually empty and streaming: at the end, or under the call that started it."""
        self._need_turn(message.turn_id, message.parent_turn_id)
        if self._model.knows(message.id):
            return
        splice = self._model.put(message)
        if message.state == MessageState.STREAMING:
            self._model.begin_live(message)
        changed = self._apply(splice)
        if self._typing.active:
            self._typing.stop()
            self._scroller.footer = self._tail
            self.viewport().update()
        self._renew([*changed, *self._about(message)])

    def append_text(self, message_id: str, text: str, thinking: str = "") -> None:
        """Add what came in to a growing message; it is drawn with the next frame."""
        live = self._model.live.get(message_id)
        if live is None:
            return
        message = self._model.book.messages[message_id]
        first = bool(text) and not live.characters
        if thinking:
            first = first or not message.thinking
            self._model.book.put(replace(message, thinking=message.thinking + thinking))
        elif first and message.thinking:
            self._model.thought_s[message_id] = monotonic() - live.began
        live.add(text)
        if message_id not in self._model:
            if first:
                self._model.book.put(replace(self._model.book.messages[message_id], content=live.text))
                self._renew(self._apply(self._model.arrange(message.turn_id)))
            return
        self._dirty.add(message_id)
        if first:
            self._on_frame()
        elif not self._frame.isActive():
            self._frame.start(self._interval())

    def message_finished(self, message: Message) -> None:
        """Show a message as it is stored."""
        self._need_turn(message.turn_id, message.parent_turn_id)
        if not self._model.knows(message.id):
            self.message_started(message)
            return
        self._model.end_live(message.id)
        self._dirty.discard(message.id)
        changed = self._apply(self._model.put(message))
        if message.prompt is not None:
            self._drop_widgets()
        self._renew([*changed, message.id, *self._model.card_rows(message), *self._about(message)])

    # Calls and turns

    def calls_streamed(self, event: CallsStreamed) -> None:
        """Show the calls of a message while their arguments still grow."""
        message = self._model.book.messages.get(event.message_id)
        if message is None or message.state != MessageState.STREAMING:
            return
        live = self._model.live.get(message.id)
        content = live.text if live else message.content
        grown = replace(message, tool_calls=event.tool_calls, content=content)
        if len(event.tool_calls) != len(message.tool_calls):
            changed = self._apply(self._model.put(grown))
            self._renew([*changed, message.id, *self._about(message)])
            return
        self._model.book.put(grown)
        self._dirty.update(self._model.card_rows(grown)[-1:])
        if self._dirty and not self._frame.isActive():
            self._frame.start(self._interval())

    def tool_started(self, event: ToolStarted) -> None:
        """Show that a call runs."""
        self._need_turn(event.turn_id)
        self._model.book.tool_started(event)
        self._renew(self._about_call(event.turn_id, event.tool_call_id))

    def tool_finished(self, event: ToolFinished) -> None:
        """Show how a call ended; its tool message says the same and may come before or after."""
        self._need_turn(event.turn_id)
        self._model.book.tool_finished(event)
        self._renew(self._about_call(event.turn_id, event.tool_call_id))

    def turn_finished(self, event: TurnFinished) -> None:
        """Let a sub-agent's group rest, unless it only waits for the user."""
        self._need_turn(event.turn_id)
        self._model.book.turn_finished(event)
        self._renew(self._model.group_rows(event.turn_id))

    def fold(self, turn_id: str, folded: bool) -> None:
        """Show only the head of a sub-agent's turn, or all of it again; the head stays where it is."""
        if folded == (turn_id in self._model.folded):
            return
        (self._model.folded.add if folded else self._model.folded.discard)(turn_id)
        heads = self._model.group_rows(turn_id)
        self._keeping(heads[0] if heads else "", lambda: self._apply(self._model.arrange(turn_id)))
        self._renew(heads)

    def _about(self, message: Message) -> list[str]:
        """Return the rows that say something of a message besides its own."""
        rows = self._model.group_rows(message.turn_id)
        if message.tool_call_id is not None and (message.role == Role.TOOL or message.prompt is not None):
            rows += self._model.caller_rows(message.turn_id, message.tool_call_id)
        if message.parent_turn_id and message.parent_call_id:
            rows += self._model.caller_rows(message.parent_turn_id, message.parent_call_id)
        return rows

    def _about_call(self, turn_id: str, call_id: str) -> list[str]:
        return [*self._model.caller_rows(turn_id, call_id), *self._model.group_rows(turn_id)]

    # Rows

    def _apply(self, splice: Splice) -> list[str]:
        """Bring heights, place and rows in line with the model; return rows that stayed but changed."""
        start, removed, added = splice
        if not removed and not added:
            return []
        heights, scroller, model = self._scroller.heights, self._scroller, self._model
        sizes = [model.size(start + place) for place in range(len(added))]
        if not removed and start == len(heights):
            for size in sizes:
                heights.append(*size)
            return []
        inside = 0 <= scroller.row - start < len(removed)
        anchor, offset = (removed[scroller.row - start].id, scroller.offset) if inside else ("", 0)
        heights.splice(start, len(removed), sizes)
        scroller.rows_spliced(start, len(removed), len(added))
        if anchor in model:
            scroller.row, scroller.offset = model.index(anchor), offset
        if self._resize_place is not None and self._resize_place[0] not in model:
            self._resize_place = None
        moved = len(added) - len(removed)
        placed = []
        for each in self._placed:
            if each.row >= start + len(removed):
                placed.append(replace(each, row=each.row + moved))
            elif each.row < start:
                placed.append(each)
            elif removed[each.row - start].id in model:
                placed.append(replace(each, row=model.index(removed[each.row - start].id)))
        self._placed = placed
        stayed = [entry.id for entry in removed if entry.id in model]
        for entry in removed:
            if entry.id not in model:
                self._rows.drop(entry.id)
        if any(entry.kind == QUESTION for entry in removed):
            self._drop_widgets()
        return stayed

    def _renew(self, row_ids: Collection[str]) -> None:
        """Bring rows up to date, and paint them if they are on screen."""
        changed = {row_id for row_id in row_ids if row_id in self._model}
        for row_id in changed:
            index = self._model.index(row_id)
            row = self._rows.get(row_id)
            if row is not None:
                self._maker.renew(index, row)
            self._scroller.heights.set_size(index, *self._model.size(index))
        self._refresh(changed)

    def _keeping(self, row_id: str, change: object) -> None:
        """Do something while a row stays at its place on the screen."""
        top = next((each.top for each in self._placed if self._model.id(each.row) == row_id), None)
        self._resize_place = None
        change()  # type: ignore[operator]
        if top is not None:
            self._scroller.show_row(self._model.index(row_id), -top)
        self._refresh(None)

    def _refresh(self, changed: Collection[str] | None, *, bar_holds: bool = False) -> None:
        super()._refresh(changed, bar_holds=bar_holds)
        if not self._model.chat:
            return
        boxes: dict[str, QRect] = {}
        beats = False
        for placed in self._placed:
            kind = self._model.entries[placed.row].kind
            if kind == CARD:
                continue
            row = self._row(placed.row)
            if isinstance(row, QuestionRow) and row.open:
                boxes[row.message.id] = row.box.translated(0, placed.top)
            beats = beats or (isinstance(row, GroupRow) and row.context.runs and row.context.folded)
        self._host.place(boxes)
        if beats != self._beat.isActive():
            (self._beat.start if beats and self.isVisible() else self._beat.stop)()

    def _widget_height(self, message: Message, width: int) -> int:
        return self._host.height(message, width)

    def _drop_widgets(self) -> None:
        """Let go of the widgets of questions that are answered or gone."""
        messages = self._model.book.messages.values()
        self._host.keep({each.id for each in messages if each.prompt is not None and each.prompt.open})

    def _on_widget_resized(self, message_id: str) -> None:
        self._renew([message_id])

    def _on_beat(self) -> None:
        """Let the heads of folded sub-agents that run tell what they do now."""
        rows = [self._row(placed.row) for placed in self._placed]
        self._renew([row.row_id for row in rows if isinstance(row, GroupRow) and row.context.runs])

    def hideEvent(self, event: QHideEvent) -> None:
        self._beat.stop()
        super().hideEvent(event)

    # Who is about to speak

    def set_speaking(self, author: Author, role_label: str = "", words: str = "") -> None:
        """Show under the last row that somebody is about to speak; `words` say what is waited for."""
        speaker = self._model.speaker(author, Role.ASSISTANT, self._style.tokens, self._style.texts)
        self._typing.start(speaker, role_label, words)
        self._set_footer(self._tail + self._typing.height)

    def clear_speaking(self) -> None:
        """Show that nobody is about to speak."""
        self._typing.stop()
        self._set_footer(self._tail)

    @property
    def _tail(self) -> int:
        """The space under the last row, in pixels; rows of a conversation with calls have none of their own."""
        return self._style.row_gap if self._model.chat else 0

    def _footer_rect(self) -> QRect:
        return super()._footer_rect().adjusted(0, self._tail, 0, 0)
