"""What happens in a session becomes rows: messages, streamed text, calls, turns and questions.

The messages of a long session are laid out later, a slice at a time between frames.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import monotonic, thread_time

from PySide6.QtCore import QObject, QRect, Signal

from app.core.events import CallsStreamed, TurnFinished
from app.core.message import Author, Message, MessageState, Role
from app.core.session import Session
from app.gui.tasks import timer
from app.gui.transcript.call_rows import CardRow, GroupRow, SummaryRow
from app.gui.transcript.canvas import Canvas, goes_on, single_shot
from app.gui.transcript.message_rows import QuestionRow, QuestionWidgets
from app.gui.transcript.painted_row import RowSpeaker, TypingIndicator, animated
from app.gui.transcript.transcript_model import QUESTION, Splice, TranscriptModel, TurnEvent, group_id

SLICE = 200
"""This many messages are laid out in two to four milliseconds."""


class PendingMessages:
    """Messages in the order of the log that are not laid out yet, given out from the end.

    No slice cuts a root turn in two, so the rows of the slices are those of the whole.
    """

    def __init__(self, messages: Sequence[Message] = ()) -> None:
        self._messages = messages
        self._end = len(messages)
        self._firsts: dict[str, int] = {}
        for place, message in enumerate(messages):
            self._firsts.setdefault(message.turn_id, place)
            if message.parent_turn_id is not None:
                self._firsts.setdefault(message.parent_turn_id, place)

    def __len__(self) -> int:
        return self._end

    def holds_turn(self, turn_id: str | None) -> bool:
        """Whether a turn, or one called in it, is still to be given out; False for None."""
        return turn_id is not None and self._firsts.get(turn_id, self._end) < self._end

    def growing(self) -> int:
        """Return how many messages there are from the first streaming one to the end."""
        places = (place for place, each in enumerate(self._messages) if each.state == MessageState.STREAMING)
        return self._end - next(places, self._end)

    def take_to(self, message_id: str) -> Sequence[Message]:
        """Give out the last messages down to this; none if it is not to be given out any more."""
        places = (place for place, each in enumerate(self._messages[: self._end]) if each.id == message_id)
        return self.take(self._end - next(places, self._end))

    def take(self, least: int) -> Sequence[Message]:
        """Give out the last messages as whole root turns, at least so many if there are."""
        end = place = self._end
        start = max(0, end - least)
        while place > start:
            place -= 1
            message = self._messages[place]
            start = min(start, self._firsts[message.turn_id])
            if message.parent_turn_id is not None:
                start = min(start, self._firsts[message.parent_turn_id])
        self._end = start
        taken = self._messages[start:end]
        if not start:
            self._messages, self._firsts = (), {}
        return taken


FRAME_MS = 33
BEAT_MS = 1_000
TURN_MS = 66
Versions = Mapping[str, tuple[int, int]]
"""Maps the id of a turn to (number from 1, how many)."""


class Feed(QObject):
    """Brings events into a model and its canvas. All methods are called on the window's thread.

    Signals: `session_shown` before another session is laid out, `loaded` after other messages are,
    `prepended(messages)`, `came_below(message id)` of a message the reader does not follow, `finished(message
    id)`, `turn_changed(turn id)`.
    """

    session_shown = Signal()
    came_below = Signal(str)
    finished = Signal(str)
    turn_changed = Signal(str)
    loaded = Signal()
    prepended = Signal(object)

    def __init__(
        self, model: TranscriptModel, canvas: Canvas, questions: QuestionWidgets, typing: TypingIndicator
    ) -> None:
        super().__init__(canvas)
        self._area, self._model, self._canvas, self._questions = canvas.area, model, canvas, questions
        self._questions.resized.connect(lambda message_id: canvas.renew([message_id]))
        self._typing = typing
        self._speaking: Author | None = None
        # Whether rows may move without the reader: nothing points at them, and nothing is selected.
        self.may_fold: Callable[[], bool] = lambda: True
        self._grown: set[str] = set()
        self._pending = PendingMessages()
        self._slice = single_shot(self, self._on_slice)
        self._frame = single_shot(self, self._on_frame)
        self._last_cost_ms = 0.0
        self._beat = timer(self, BEAT_MS, self._on_beat)
        self._turn = single_shot(self, self._on_turn)
        canvas.refreshed.connect(self._on_refreshed)

    # Sessions

    def show_session(
        self, session: Session, messages: Sequence[Message], versions: Versions | None = None
    ) -> None:
        """Show the messages of a session from the end.

        The last rows of a long session are there at once, the others follow between frames.
        """
        self.session_shown.emit()
        self._model.reset(session)
        self._model.versions = dict(versions or {})
        self._questions.keep(set())
        self._typing.stop()
        self._begin(messages)

    def session_changed(self, session: Session) -> None:
        """Show whether the session runs, which decides what ticks, which summaries are used
        and what is pinned.
        """
        if self._model.mark(session):
            self._canvas.renew_all()

    def reload(self, messages: Sequence[Message], versions: Versions | None = None) -> None:
        """Show another branch of the same session; the row that is read stays if it is in both."""
        canvas, model = self._canvas, self._model
        model.versions = dict(versions or {})
        entries, row = model.entries, canvas.scroller.row
        offset, follow = canvas.scroller.offset, canvas.scroller.follow
        self._begin(messages)
        if follow:
            return
        there = {message.id for message in messages}
        for place in range(min(row, len(entries) - 1), -1, -1):
            if entries[place].message_id in there:
                self.load_to(entries[place].message_id)
                if entries[place].id in model:
                    canvas.show(model.index(entries[place].id), offset if place == row else 0)
                    return

    def prepend(self, messages: Sequence[Message]) -> None:
        """Add earlier messages; what is on screen stays where it is."""
        self.load_all()
        shown = list(self._model.book.messages.values())
        earlier = [message for message in messages if not self._model.knows(message.id)]
        pending = PendingMessages([*earlier, *shown])
        end = pending.take(len(shown))
        if len(end) > len(shown):
            # The first turn shown began earlier, so its rows change.
            self.reload([*earlier, *shown], self._model.versions)
        else:
            self._model.meet(earlier)
            self._lay_out_later(pending)

    def load_all(self) -> None:
        """Lay out all messages now."""
        self._slice.stop()
        if len(self._pending):
            self._put_before(self._pending.take(len(self._pending)))

    def load_to(self, message_id: str) -> None:
        """Lay out the messages down to one now, if it is not laid out yet."""
        if earlier := self._pending.take_to(message_id):
            self._put_before(earlier)

    @property
    def loading(self) -> bool:
        """Whether earlier messages still follow between frames."""
        return len(self._pending) > 0

    def set_versions(self, versions: Versions) -> None:
        """Show `‹ 2/3 ›` on turns with several versions."""
        if versions == self._model.versions:
            return
        changed = {*self._model.versions, *versions}
        self._model.versions = dict(versions)
        self._canvas.renew([message.id for turn in changed for message in self._model.book.whole(turn)[:1]])

    def set_assistants(self, colours: Mapping[str, int], names: Mapping[str, str]) -> None:
        """Paint the authors with these ids in the speaker's colour of that number,
        and call them by these names.
        """
        model = self._model
        if colours != model.colours or not names.items() <= model.names.items():
            model.colours, model.names = dict(colours), {**model.names, **names}
            self._canvas.renew_all()

    def set_retry_allowed(self, allowed: bool) -> None:
        """Offer to retry failed messages."""
        if self._model.can_retry != allowed:
            self._model.can_retry = allowed
            self._canvas.renew_all()

    def _begin(self, messages: Sequence[Message]) -> None:
        """Lay out the end of these messages; the others follow."""
        pending, model = PendingMessages(messages), self._model
        model.meet(messages)
        last = pending.take(max(SLICE, pending.growing()))
        model.load(last)
        self._frame.stop()
        self._grown.clear()
        model.live = {key: live for key, live in model.live.items() if model.knows(key)}
        for message in last:
            if message.state == MessageState.STREAMING and message.id not in model.live:
                model.begin_live(message)
        self._drop_widgets()
        self._canvas.reset(self._tail + (self._typing.height if self._typing.active else 0))
        self.loaded.emit()
        self._lay_out_later(pending)

    def _lay_out_later(self, pending: PendingMessages) -> None:
        """Lay out these messages between frames, instead of those that were to be laid out before."""
        self._pending = pending
        self._slice.stop()
        if len(pending):
            self._slice.start(0)

    def _on_slice(self) -> None:
        if self._area.verticalScrollBar().isSliderDown():
            # Each slice would move what the reader drags.
            self._slice.start(50)
            return
        if len(self._pending):
            self._put_before(self._pending.take(SLICE))
        if len(self._pending):
            self._slice.start(0)

    def _put_before(self, messages: Sequence[Message]) -> None:
        """Add the rows of whole earlier turns before the first row."""
        splice = self._model.prepend(messages)
        self._canvas.apply(splice)
        # What stands above the row that was the first may take its separator away.
        first = len(splice.added)
        self._canvas.renew([entry.id for entry in self._model.entries[first : first + 1]])
        self.prepended.emit(messages)

    def _need_turn(self, *turn_ids: str | None) -> None:
        """Lay out all messages before something happens in a turn that is not laid out yet."""
        if any(self._pending.holds_turn(turn_id) for turn_id in turn_ids):
            self.load_all()

    # Messages

    def message_started(self, message: Message) -> None:
        """Add a message, usually empty and streaming: at the end, or under the call that started it."""
        self._need_turn(message.turn_id, message.parent_turn_id)
        again = message.id in self._model.live  # What it said so far was thinking.
        if again or not self._model.knows(message.id):
            self._canvas.rows.pop(message.id, None)
            follows = again or self._canvas.scroller.follow
            splice = self._model.put(message)
            if message.state == MessageState.STREAMING:
                self._model.begin_live(message)
            changed = self._apply(splice)
            self.clear_speaking()
            self._canvas.renew([*changed, message.id, *self._about(message)])
            if message.id in self._model and not follows:
                self.came_below.emit(message.id)
            self._grown.add(message.turn_id)
            self.fold_settled()
        self.turn_changed.emit(message.turn_id)

    def append_text(self, message_id: str, text: str, thinking: str = "") -> None:
        """Add text to a streaming message; it is drawn with the next frame."""
        model = self._model
        live = model.live.get(message_id)
        if live is None:
            return
        message = model.book.messages[message_id]
        first = bool(text) and not live.characters
        if thinking:
            first = first or not message.thinking
            model.book.put(replace(message, thinking=message.thinking + thinking))
        elif first and message.thinking:
            model.thought_s[message_id] = monotonic() - live.began
        live.add(text)
        if message_id in model:
            self._canvas.dirty.add(message_id)
            if first:
                self._on_frame()
            else:
                self._start_frame()
        elif first:
            model.book.put(replace(model.book.messages[message_id], content=live.text))
            self._canvas.renew(self._apply(model.arrange(message.turn_id)))
        self.turn_changed.emit(message.turn_id)

    def message_finished(self, message: Message) -> None:
        """Show a message as it is stored."""
        self._need_turn(message.turn_id, message.parent_turn_id)
        if not self._model.knows(message.id):
            self.message_started(message)
        else:
            self._model.live.pop(message.id, None)
            self._canvas.dirty.discard(message.id)
            changed = self._apply(self._model.put(message))
            if message.prompt is not None:
                self._drop_widgets()
            self._canvas.renew([*changed, message.id, *self._model.card_rows(message), *self._about(message)])
        if message.state != MessageState.STREAMING and message.id in self._model:
            self.finished.emit(message.id)
        self.turn_changed.emit(message.turn_id)

    # Calls and turns

    def show_call(self, event: CallsStreamed | TurnEvent) -> None:
        """Show calls while they are streamed, that one runs, how far it is or that it or a turn ended.

        The tool message of a call says how it ended too, and may come before or after.
        """
        if isinstance(event, CallsStreamed):
            self._show_streamed(event)
            return
        self._need_turn(event.turn_id)
        self._model.book.note(event)
        rows = self._model.group_rows(event.turn_id)
        if not isinstance(event, TurnFinished):
            rows += self._model.caller_rows(event.turn_id, event.tool_call_id)
        self._canvas.renew(rows)

    def _show_streamed(self, event: CallsStreamed) -> None:
        """Show the calls of a message while their arguments stream."""
        message = self._model.book.messages.get(event.message_id)
        if message is None:
            return
        if message.state == MessageState.STREAMING:
            grown = replace(message, tool_calls=event.tool_calls, content=self._model.said(message.id))
            if len(event.tool_calls) != len(message.tool_calls):
                changed = self._apply(self._model.put(grown))
                self._canvas.renew([*changed, message.id, *self._about(message)])
            else:
                self._model.book.put(grown)
                self._canvas.dirty.update(self._model.card_rows(grown)[-1:])
                if self._canvas.dirty:
                    self._start_frame()
        self.turn_changed.emit(message.turn_id)

    def fold(self, turn_id: str, folded: bool) -> bool:
        """Show only the head of a sub-agent's turn, or all of it; return False if nothing changed.

        The head stays where it is.
        """
        model = self._model
        model.chosen.add(turn_id)
        if folded == (turn_id in model.folded):
            return False
        (model.folded.add if folded else model.folded.discard)(turn_id)
        heads = model.group_rows(turn_id)
        self._canvas.keeping(heads[0] if heads else "", lambda: self._apply(model.arrange(turn_id)))
        self._canvas.renew(heads)
        return True

    def fold_settled(self) -> None:
        """Fold sub-agents whose results were taken up, unless someone points at rows or reads these."""
        model, canvas = self._model, self._canvas
        if not self._grown or not self.may_fold():
            return
        shown = {turn_id for placed in canvas.placed for turn_id in model.entries[placed.row].groups}
        read = set() if canvas.scroller.follow else shown
        for turn in self._grown:
            open_ = set(model.book.below(turn)) - {turn} - model.chosen - model.folded
            settled = {each for each in open_ - read if model.book.is_settled(each)}
            if settled:
                model.folded |= settled
                canvas.renew([*self._apply(model.arrange(turn)), *map(group_id, settled)])
        if not read:
            self._grown.clear()

    def unfold_around(self, turn_id: str) -> None:
        """Unfold a sub-agent's turn and those around it."""
        for each in reversed(list(self._model.book.above(turn_id))):
            self.fold(each, False)

    def set_open(self, row_id: str, *, open_: bool | None, whole: bool = False) -> bool:
        """Unfold or fold a group, a card or a thought (None: toggle it); return False if nothing changed.

        `whole` shows all of what an unfolded card holds.
        """
        model = self._model
        row = self._canvas.row(model.index(row_id))
        if isinstance(row, GroupRow):
            folded = row.context.unfolded if open_ is None else not open_
            return self.fold(row.message.turn_id, bool(folded))
        name = row_id if isinstance(row, CardRow | SummaryRow) else f"thought {row_id}"
        unfolded = model.unfolded
        if whole:
            model.whole.add(row_id)
        elif (name in unfolded) == open_ or (name != row_id and not row.message.thinking):
            return False
        else:
            (unfolded.discard if name in unfolded else unfolded.add)(name)
        self._canvas.keeping(row_id, lambda: self._canvas.renew([row_id]))
        return True

    def _about(self, message: Message) -> list[str]:
        """Return the rows that say something about a message besides its own."""
        rows = self._model.group_rows(message.turn_id)
        # Those that were cut or failed before offer nothing any more.
        book = self._model.book
        before = [item.id for item in book.whole(message.turn_id) if book.is_past(item)]
        before += [item.id for item in book.before(message)]
        rows += [item for item in (*before, message.retakes) if item in self._model]
        if message.tool_call_id is not None and (message.role == Role.TOOL or message.prompt is not None):
            rows += self._model.caller_rows(message.turn_id, message.tool_call_id)
        if message.parent_turn_id and message.parent_call_id:
            rows += self._model.caller_rows(message.parent_turn_id, message.parent_call_id)
        return rows

    def _apply(self, splice: Splice) -> list[str]:
        changed = self._canvas.apply(splice)
        if any(entry.kind == QUESTION for entry in splice.removed):
            self._drop_widgets()
        return changed

    def _drop_widgets(self) -> None:
        """Delete the widgets of questions that are answered or gone."""
        self._questions.keep({each.id for each in self._model.book.messages.values() if each.asks})

    # Frames

    def flush(self) -> None:
        """Draw what has come in now, not with the next frame."""
        self._frame.stop()
        self._on_frame()

    def _start_frame(self) -> None:
        if not self._frame.isActive():
            live = self._model.live
            streams = sum(1 for placed in self._canvas.placed if self._model.id(placed.row) in live)
            base = 16 if streams <= 1 else FRAME_MS
            self._frame.start(round(min(250, max(base, 10 * self._last_cost_ms))))

    def _on_frame(self) -> None:
        """Draw the rows on screen that changed; the others only get their new size."""
        began = thread_time()
        canvas, model = self._canvas, self._model
        visible, grown = canvas.seen(), tuple(canvas.dirty)
        for row_id in grown:
            if row_id not in visible:
                canvas.dirty.discard(row_id)
                if row_id in model:
                    index = model.index(row_id)
                    canvas.scroller.heights.splice(index, 1, [model.size(index)])
                    canvas.rows.pop(row_id, None)
        canvas.refresh(grown)
        self._last_cost_ms = (thread_time() - began) * 1000

    def _on_refreshed(self) -> None:
        """Put the widgets of open questions in their places; tick while a row on screen counts seconds."""
        if not self._model.has_calls:
            return
        boxes: dict[str, QRect] = {}
        beats = False
        for placed in self._canvas.placed:
            row = self._canvas.row(placed.row)
            if isinstance(row, QuestionRow) and row.open:
                boxes[row.message.id] = row.box.translated(0, placed.top)
            beats = beats or goes_on(row)
        self._questions.place(boxes)
        if beats != self._beat.isActive():
            (self._beat.start if beats and self._area.isVisible() else self._beat.stop)()
        if beats and animated(self._area):
            self._turn.start(TURN_MS)

    def _on_beat(self) -> None:
        """Show what folded sub-agents do now, and how long models have been thinking."""
        rows = [self._canvas.row(placed.row) for placed in self._canvas.placed]
        self._canvas.renew([row.row_id for row in rows if goes_on(row)])

    def _on_turn(self) -> None:
        """Turn the marks of the calls that run."""
        for placed in self._canvas.placed if self._area.isVisible() else ():
            row = self._canvas.row(placed.row)
            if isinstance(row, CardRow) and not row.turning.isNull():
                self._area.viewport().update(row.turning.translated(0, placed.top))
                self._turn.start(TURN_MS)

    def stop(self) -> None:
        """Do nothing between frames while nothing is shown."""
        self._beat.stop()

    # Who speaks next

    def set_speaking(self, author: Author, role_label: str = "", words: str = "") -> None:
        """Show under the last row who speaks next; `words` say what is waited for."""
        self._speaking = author
        self._typing.start(self._next_speaker(author), role_label, words)
        self._canvas.set_footer(self._tail + self._typing.height)

    def say_what_is_waited_for(self, words: str) -> None:
        """Show beside who speaks next what is waited for now; the seconds are counted anew."""
        if self._typing.active:
            self._typing.say(words)

    def redress_speaking(self) -> None:
        """Show who speaks next in the look of the canvas."""
        if self._typing.active and self._speaking is not None:
            self._typing.dress(self._next_speaker(self._speaking))

    def _next_speaker(self, author: Author) -> RowSpeaker:
        style = self._canvas.style
        return self._model.speaker(author, Role.ASSISTANT, style.tokens, style.texts)

    def clear_speaking(self) -> None:
        """Show that nobody speaks next."""
        self._typing.stop()
        self._canvas.set_footer(self._tail)

    def typing_rect(self) -> QRect:
        """Return where the typing indicator stands in the viewport."""
        return self._canvas.footer_rect().adjusted(0, self._tail, 0, 0)

    @property
    def _tail(self) -> int:
        """The space under the last row in pixels; only rows of sessions without calls have their own."""
        return self._canvas.style.row_gap if self._model.has_calls else 0
