"""The page of a chat: transcript, open questions, queue and composer, and the line over it.

The line says what holds the chat up, with a button that helps.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from app.core import events
from app.core.draft import Draft, Rewriting
from app.core.message import Attachments, Author, Message, Role
from app.core.session import Chat, ChatSession, Reason, Status, at_limit, resumable
from app.gui.display.appearance import Language, Look
from app.gui.display.descriptions import modes_of, retry_text, tone_of, waits_its_turn
from app.gui.pages.chat.chat_composer import ChatComposer, LimitsButton
from app.gui.pages.chat.orchestrator_box import OrchestratorBox
from app.gui.pages.chat.over_input import OPEN, ResultCard, WorkingStrip
from app.gui.pages.first_page import FirstPage
from app.gui.panels.conversation_view import ConversationView, keep_text
from app.gui.tasks import timer
from app.gui.transcript.row_text import MAX_COLUMN, WIDE
from app.gui.transcript.selection import PIN, UNPIN
from app.gui.transcript.transcript_model import TurnEvent
from app.gui.widgets.boxes import Frame, Part, centred, hbox, put_in_tab_order, vbox
from app.gui.widgets.choices import CHAT, DECIDE, WORK
from app.gui.widgets.controls import button
from app.gui.widgets.editable_lists import QueueStrip
from app.gui.widgets.memory import ProposalCards
from app.gui.widgets.text import Paragraph, plain_label, restyle, show_if

# Of the page's height, in percent, what the transcript has at least beside the result.
SHARE = 45
NOBODY = ChatSession(id="", title="", chat=Chat(assistant_id=""))
Versions = Mapping[str, tuple[int, int]]


class ChatPage(ConversationView):
    """Shows a chat, or the page for a new session; requests carry the session's id, "" for a new chat.

    Signals: send_requested(session, text, attachments), edit_requested(session, message, text, attachments),
    message_action_requested(session, message, action), stop_requested(session), resume_requested(session),
    begin_requested(text, attachments) where a new session is no chat.
    """

    KIND = ChatSession

    send_requested = Signal(str, str, object)
    edit_requested = Signal(str, str, str, object)
    message_action_requested = Signal(str, str, str)
    stop_requested = Signal(str)
    resume_requested = Signal(str)
    begin_requested = Signal(str, object)

    def __init__(self, language: Language, look: Look, first: FirstPage | None = None) -> None:
        """`first` is what stands around the input of a new session; without it that is always a chat."""
        self.first = first
        self.chat_composer = ChatComposer(language, look)
        self.chat_composer.gauge.setObjectName("context_gauge")
        names = ("transcript", "composer", "send_button")
        super().__init__(language, look, self.chat_composer, layout=WIDE, names=names)
        self._session: ChatSession | None = None
        self._name = self._group = self._price = ""
        self._asks = self._local = self._steps = False
        self._turns: set[str] = set()
        self._last_turn = ""
        self._said: list[str] = []
        self._speaker: Author | None = None
        self._running_calls: set[str] = set()
        self._editing = ""
        self._set_aside = Draft()
        self._queued: dict[str, str] = {}
        self._empty = Paragraph("lead", centred=True)
        self._empty.setParent(self)
        self.queue = QueueStrip(language, look)
        self.state_line = StateLine(language, look)
        self.queue.after = self.state_line.resume
        self.proposals = ProposalCards(language, look, "chat_memory", most=1)
        self.working = WorkingStrip(language, look, lambda: self.transcript.model.book)
        self.result = ResultCard(language, look)
        self.files = self.result.files
        for part in (self.queue, self.state_line, self.files, self.working, self.result):
            # What goes there gives its focus to the composer, not to the button that Qt finds next.
            part.left.connect(self.composer.box.setFocus)
        self.box = OrchestratorBox(language, look)
        self._foot = QWidget()
        self._lay_out()
        self._connect()
        self.transcript.feed.set_retry_allowed(True)
        self.transcript.feed.show_session(NOBODY, ())
        self.show_begins()
        self._show_empty()

    @property
    def session(self) -> ChatSession | None:
        """The chat shown, None on the page for a new one."""
        return self._session

    @property
    def begins(self) -> str:
        """What is written here begins, one of BEGINS; CHAT for a session that has begun."""
        return self.first.mode.value() if self.first is not None and self._session is None else CHAT

    def show_begins(self, price: str = "", lacks: str = "") -> None:
        """Show what a new session begins as, what it would cost, and what is lacking, "" for nothing."""
        self._price = lacks or price
        self._show_around()
        new = self.first is not None and self._session is None
        self.chat_composer.show_begins(self.begins, lacks, new=new)
        self._retranslate()

    def show_new(self) -> None:
        """Show the page for a new session."""
        self._session, self._read_only = None, False
        self.files.show_files(())
        self.transcript.feed.clear_speaking()
        self.transcript.feed.show_session(NOBODY, ())
        self._follow(())
        self.state_line.show_session(None, read_only=False, damaged=0)
        self._show_state()

    def show_session(
        self, session: ChatSession, messages: Sequence[Message], *, read_only: bool = False, damaged: int = 0
    ) -> None:
        if session.id != self.session_id:
            # What came of it is not said of the files of another one.
            self.files.show_files(())
        self._follow(messages)
        if self.transcript.isHidden():
            # It gets its size before it lays out the messages.
            self._session = session
            self.show_begins()
            self.layout().activate()
        super().show_session(session, messages, read_only=read_only, damaged=damaged)
        self.state_line.show_session(session, read_only=read_only, damaged=damaged)
        self._show_state()

    def prepend(self, messages: Sequence[Message], *, read_only: bool, damaged: int) -> None:
        super().prepend(messages, read_only=read_only, damaged=damaged)
        self._turns.update(message.turn_id for message in messages)
        self._said[:0] = _said_in(messages)
        self.state_line.show_session(self._session, read_only=read_only, damaged=damaged)
        self._show_state()

    def show_versions(self, versions: Versions) -> None:
        """Set which version of each turn is shown."""
        self.transcript.feed.set_versions(versions)

    def reload(self, messages: Sequence[Message], versions: Versions) -> None:
        """Show another version of the conversation, and keep the scroll position."""
        self._follow(messages)
        self.transcript.feed.reload(messages, versions)
        self._show_state()

    def clear(self) -> None:
        super().clear()
        self.show_new()

    def stands_at(self, head: str) -> bool:
        """Return whether a turn is the last one shown."""
        return head == self._last_turn

    def show_change(self, session: ChatSession) -> None:
        super().show_change(session)
        self.transcript.feed.session_changed(session)
        self.state_line.show_change(session)
        if session.status != Status.RUNNING:
            self._quiet()
        self._show_state()

    def _starting_words(self, starting: str, *, local: bool = False) -> str:
        return super()._starting_words(starting, local=self._local)

    def show_turn(self, event: events.TurnStarted, *, starting: str) -> None:
        self.state_line.end_retry()
        if event.parent_turn_id is None:
            self._speaker = event.author
            self._running_calls.clear()
            self.transcript.feed.set_speaking(event.author, "", self._starting_words(starting))

    def show_message(self, message: Message) -> None:
        self.state_line.end_retry()
        if self._takes(message):
            if message.parent_turn_id is None:
                self.transcript.feed.clear_speaking()
            super().show_message(message)
            self._show_empty()
            self._show_working()

    def show_finished(self, event: events.MessageFinished) -> None:
        if self._takes(event.message):
            super().show_finished(event)
            self._said += _said_in((event.message,))
            self.chat_composer.message_box.set_said(self._said)
            self._show_empty()

    def show_call(self, event: events.CallsStreamed | TurnEvent) -> None:
        """Show what becomes of tool calls; after the last one the model continues."""
        super().show_call(event)
        if isinstance(event, events.ToolStarted):
            self._running_calls.add(event.tool_call_id)
        elif isinstance(event, events.ToolFinished):
            self._running_calls.discard(event.tool_call_id)
            running = self._session is not None and self._session.status == Status.RUNNING
            if running and event.turn_id == self._last_turn and not self._running_calls and self._speaker:
                self.transcript.feed.set_speaking(self._speaker, "", "")
        elif isinstance(event, events.TurnFinished) and event.turn_id == self._last_turn:
            self._quiet()
        self._show_working()

    def go_to(self, place: str) -> None:
        self.result.show_preview(None)
        super().go_to(place)

    def open_find(self) -> None:
        self.result.show_preview(None)
        super().open_find()

    def show_retry(self, event: events.RetryScheduled) -> None:
        self.state_line.show_retry(event)

    def show_partner(self, name: str, *, asks: bool, on_this_computer: bool) -> None:
        """Set the assistant: its name, whether it asks a question,
        and whether its model runs on this computer.
        """
        if (name, asks, on_this_computer) != (self._name, self._asks, self._local):
            self._name, self._asks, self._local = name, asks, on_this_computer
            self._retranslate()

    def show_group(self, name: str, members: Sequence[str], *, steps: bool = False) -> None:
        """Set the group and the members an @ can call; "" for an assistant.

        With `steps` the session is a workflow, in which the user steps in.
        """
        self.chat_composer.show_group(name, members, stops=steps)
        if (name, steps) != (self._group, self._steps):
            self._group, self._steps = name, steps
            self._retranslate()
        if not name:
            self.box.hide()

    @property
    def new_mode(self) -> str:
        settings = self.chat_composer.settings_mode.isChecked()
        return modes_of(self._language, group=bool(self._group), settings=settings)

    def begin_editing(self, message: Message) -> None:
        """Edit an earlier message; the current draft is kept for later."""
        written = Rewriting(message_id=message.id, text=message.content, attachments=message.attachments)
        self.change_draft(replace(self.draft, rewriting=written))
        self.composer.box.setFocus()

    @property
    def draft(self) -> Draft:
        text, attachments = self.composer.box.toPlainText(), self.chat_composer.attachments()
        if self._editing:
            written = Rewriting(message_id=self._editing, text=text, attachments=attachments)
            draft = replace(self._set_aside, rewriting=written)
        else:
            draft = Draft(text=text, attachments=attachments)
        return replace(draft, answers=dict(self._unsent_answers), queued=dict(self._queued))

    def change_draft(self, draft: Draft) -> None:
        """Show and report another draft of this session."""
        self.set_draft(draft)
        self.draft_changed.emit(self.session_id, draft)

    def _show_draft(self, draft: Draft) -> None:
        self._editing = draft.rewriting.message_id if draft.rewriting else ""
        self._set_aside = replace(draft, rewriting=None)
        self._queued = dict(draft.queued)
        self.cards.write(draft.answers)
        written = draft.rewriting or draft
        self.chat_composer.show_editing(bool(self._editing))
        self.chat_composer.strip.show_attachments(written.attachments)
        self._write(written.text)
        self.queue.write(self._queued)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() != Qt.Key.Key_Escape or not self.chat_composer.escape():
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.first is not None:
            self.first.fit(self.size())
            # In this frame: nothing is painted at a place that it leaves.
            self.layout().activate()
        self._place_empty()
        self.box.set_room(self.height() * 2 // 5 - 40)

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            # The transcript keeps its share beside the result and all else over the input.
            card = self.result.sizeHint().height() * (not self.result.isHidden())
            self.result.set_room(self.height() * (100 - SHARE) // 100 - self._foot.sizeHint().height() + card)
        return super().event(event)

    # Display

    def _follow(self, messages: Sequence[Message]) -> None:
        """Remember the turns shown, to ignore those of other versions."""
        self._turns = {message.turn_id for message in messages}
        roots = [msg.turn_id for msg in messages if msg.parent_turn_id is None and msg.role != Role.SUMMARY]
        self._last_turn = roots[-1] if roots else ""
        self._running_calls.clear()
        self._said = _said_in(messages)

    def _takes(self, message: Message) -> bool:
        """Return whether a message belongs to the version shown."""
        if message.turn_id in self._turns:
            return True
        if message.parent_turn_id in self._turns:
            self._turns.add(message.turn_id)
            return True
        if message.parent_turn_id is None and (message.follows or "") == self._last_turn:
            self._turns.add(message.turn_id)
            self._last_turn = message.turn_id
            return True
        return False

    def _quiet(self) -> None:
        self._speaker = None
        self.transcript.feed.clear_speaking()

    def _show_state(self) -> None:
        session = self._session
        status = session.status if session else ""
        composer = self.chat_composer
        if self._read_only and composer.box.hasFocus():
            self.transcript.setFocus()
        composer.setVisible(not self._read_only)
        self.show_begins()
        composer.set_busy(status in (Status.RUNNING, Status.WAITING))
        self.queue.show_queue(session.chat.queue if session else ())
        self.queue.write(self._queued)
        composer.message_box.set_said(self._said)
        self._show_empty()
        self._show_working()

    def _show_working(self) -> None:
        runs = self._session is not None and self._session.status == Status.RUNNING
        self.working.show_turn(self._last_turn if runs else "")

    def _show_around(self) -> None:
        """Show the transcript, or what stands around the input of a new session."""
        first, new, begins = self.first, self._session is None, self.begins
        if first is None:
            return
        self.transcript.setVisible(not new and self.result.preview is None)
        show_if(new, first.over, first.under)
        show_if(begins == DECIDE, first.chips, first.how, first.ends)
        # The list of models has one name, whatever it is chosen for.
        names = ("more_models", "composer_model") if begins != DECIDE else ("composer_model", "chat_model")
        for part, name in zip((first.chips.more, self.chat_composer.model), names, strict=True):
            part.setObjectName(name)
        first.work.setVisible(begins == WORK)

    def _show_empty(self) -> None:
        self._empty.setVisible(not self._turns and (self.first is None or self._session is not None))
        self._place_empty()

    def _place_empty(self) -> None:
        room = self.transcript.geometry()
        width = min(520, max(80, room.width() - 80))
        height = self._empty.heightForWidth(width)
        left, top = room.center().x() - width // 2, room.top() + (room.height() - height) * 2 // 5
        self._empty.setGeometry(left, top, width, height)
        self._empty.raise_()

    # Wiring

    def _lay_out(self) -> None:
        parts = (self.working, self.proposals, self.state_line, self.box, self.queue, self.composer)
        vbox((self.result, 1), *parts, inside=self._foot, margins=(28, 10, 28, 20), spacing=8)
        foot = centred(self._foot, MAX_COLUMN + 56)
        over: tuple[Part, ...] = (self.first.over,) if self.first is not None else ()
        column = vbox(*over, self.find_bar, (self.transcript, 1), foot, inside=self, spacing=0)
        if self.first is not None:
            composer, first = self.chat_composer, self.first
            first.setParent(self)
            column.addWidget(first.under, 1)
            composer.column.insertWidget(composer.column.count() - 1, first.chips)
            menus = (first.how, first.ends, first.work)
            for place, part in enumerate(menus, 1):
                composer.foot.insertWidget(place, part)
            first.chips.before = composer.box
            attach, *others = composer.stops
            put_in_tab_order((composer.box, first.chips.more, attach, *menus, *others))
        self._empty.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def _connect(self) -> None:
        composer, transcript = self.chat_composer, self.transcript
        composer.closes = self._close_open
        composer.message_submitted.connect(self._on_submitted)
        transcript.typing.can_stop = True
        for stopped in (composer.stop_requested, transcript.stop_requested, self.box.stop_requested):
            stopped.connect(self.asking(self.stop_requested.emit))
        self.working.stop_requested.connect(self.asking(self.stop_turn_requested.emit))
        composer.edit_cancelled.connect(self._leave_editing)
        self.box.member_called.connect(composer.message_box.begin_with)
        self.result.criteria.message_wanted.connect(lambda message_id: self.go_to(f"{message_id}:0"))
        self.result.criteria.file_wanted.connect(lambda path: self.files.asked.emit(path, OPEN))
        self.result.changes.clicked.connect(lambda: composer.box.setFocus())
        # A file stands in place of the transcript.
        self.result.previewed.connect(self.transcript.setHidden)
        self.result.rest.clicked.connect(self._on_rest)
        self.queue.written.connect(self._on_written)
        self.state_line.resume_requested.connect(self.asking(self.resume_requested.emit))
        transcript.action_requested.connect(self._on_action)
        self._language.changed.connect(self._retranslate)

    def _close_open(self) -> bool:
        """Close the find bar or a file, or leave a question; return whether there was one."""
        focus, card = self.window().focusWidget(), self.cards.shown()
        if not self.find_bar.isHidden():
            self.find_bar.leave()
        elif self.result.preview is not None:
            self.result.show_preview(None)
        elif card is not None and focus in (card, *card.findChildren(QWidget)):
            self.composer.box.setFocus()
        else:
            return False
        return True

    def _on_submitted(self, text: str, attachments: Attachments) -> None:
        message_id = self._editing
        if message_id or not self.chat_composer.busy:
            self.transcript.jump_to_latest()
        if message_id:
            self._leave_editing()
            self.edit_requested.emit(self.session_id, message_id, text, attachments)
        elif self.begins != CHAT:
            self.begin_requested.emit(text, attachments)
        else:
            self.send_requested.emit(self.session_id, text, attachments)

    def _on_rest(self) -> None:
        """Let the work go on with what is not met, or what is open in its plan."""
        if self._session is not None and resumable(self._session):
            self.resume_requested.emit(self.session_id)
        else:
            self.send_requested.emit(self.session_id, self._language("result.rest.say"), ())

    def _on_action(self, message_id: str, action: str) -> None:
        message = self.transcript.model.book.messages.get(message_id)
        if message is not None and (message.role == Role.SUMMARY or action in (PIN, UNPIN)):
            self.summary_action_requested.emit(self.session_id, message, action)
        else:
            self.message_action_requested.emit(self.session_id, message_id, action)

    def _leave_editing(self) -> None:
        self.change_draft(replace(self.draft, rewriting=None))

    def _on_written(self, message_id: str, text: str | None) -> None:
        keep_text(self._queued, message_id, text)
        self._on_text_changed()

    def _retranslate(self) -> None:
        words = self._language
        done = self._session is not None and self._session.status == Status.COMPLETED
        steps = "chat.placeholder.done" if done else "chat.placeholder.workflow"
        key = steps if self._steps else "chat.placeholder"
        key = "chat.placeholder.waiting" if self._asks else key
        placeholder = words(key, name=self._name if self._asks else self._group or self._name)
        if self.begins != CHAT:
            placeholder = words(f"first.placeholder.{self.begins}")
        self.chat_composer.retranslate(placeholder, self._price)
        empty = "chat.empty.local" if self._local else "chat.empty"
        self._empty.setText(words(empty, name=self._group or self._name))
        self._place_empty()


def _said_in(messages: Sequence[Message]) -> list[str]:
    """Return the texts the user wrote, without answers to questions."""
    return [item.content for item in messages if item.by_user and item.content and item.answers is None]


class StateLine(Frame):
    """Says why a chat does not continue; hidden otherwise.

    Signals: resume_requested(), retry_requested(provider id), let_go_requested() for a held assistant,
    left() when the button goes that had the focus.
    """

    resume_requested = Signal()
    retry_requested = Signal(str)
    let_go_requested = Signal()
    left = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__("banner", "chat_state")
        self._language = language
        self._session: ChatSession | None = None
        self._read_only = False
        self._damaged = 0
        self._held = False
        self._retry: events.RetryScheduled | None = None
        self._retry_at = 0.0
        self._text = plain_label(wrap=True)
        self.resume = button("", "chat_resume", self._on_clicked)
        self.extend = LimitsButton(language, look, "chat_extend")
        hbox((self._text, 1), self.extend, self.resume, inside=self, margins=(12, 7, 8, 7))
        self._countdown = timer(self, 500, self._refresh)
        language.changed.connect(self._refresh)
        self._refresh()

    def show_session(self, session: ChatSession | None, *, read_only: bool, damaged: int) -> None:
        """Show the state of a chat."""
        self._session, self._read_only, self._damaged = session, read_only, damaged
        self._retry = None
        self._refresh()

    def show_change(self, session: ChatSession) -> None:
        """Show the state of the chat after a change."""
        if session.status != Status.RUNNING:
            self._retry = None
        self._session = session
        self._refresh()

    def show_held(self, held: bool) -> None:
        """Set whether the assistant is held by the user, which makes a chat wait without limit."""
        if held != self._held:
            self._held = held
            self._refresh()

    def show_retry(self, event: events.RetryScheduled) -> None:
        """Count down to the next try."""
        self._retry, self._retry_at = event, time.monotonic() + event.seconds
        self._refresh()

    def end_retry(self) -> None:
        """Stop the countdown: the turn continues."""
        if self._retry is not None:
            self._retry = None
            self._refresh()

    def _refresh(self) -> None:
        tone, text = self._words()
        paused = self._session is not None and resumable(self._session)
        key = "queue.go_on" if self._is_held_up else "chat.resume"
        self.resume.setText(self._language(key if self._retry is None else "discussion.retry_now"))
        paused_by_provider = self._retry is not None and not self._retry.repeat
        offered = (paused or paused_by_provider or self._is_held_up) and not self._read_only
        if self.resume.hasFocus() and not offered:
            self.left.emit()
        self.resume.setVisible(offered)
        self.extend.show_words(self._language("limits.extend"))
        self.extend.setVisible(offered and self._session is not None and at_limit(self._session))
        self._text.setText(text)
        self.setVisible(bool(text))
        restyle(self, self._text, tone=tone)
        if self._retry is None:
            self._countdown.stop()
        elif not self._countdown.isActive():
            self._countdown.start()

    @property
    def _is_held_up(self) -> bool:
        return self._held and self._session is not None and waits_its_turn(self._session)

    def _on_clicked(self) -> None:
        if self._retry is not None:
            self.retry_requested.emit(self._retry.provider)
        else:
            (self.let_go_requested if self._is_held_up else self.resume_requested).emit()

    def _words(self) -> tuple[str, str]:
        words, session = self._language, self._session
        if session is None or session.reason == Reason.CRITERIA_UNMET:
            # The card of the result says it.
            return "warn", ""
        if self._read_only:
            return "warn", words("chat.read_only")
        if self._retry is not None:
            return "warn", retry_text(self._retry, self._retry_at - time.monotonic(), words)
        if self._is_held_up:
            return "warn", words("notice.held_back", name=session.chat.assistant_name)
        reason = words.reason(session.reason)
        if session.status in (Status.PAUSED, Status.STOPPED):
            return tone_of(session), words.paused(session) or words("chat.paused")
        if session.status == Status.ERROR:
            return "error", reason or words("status.error")
        if session.status == Status.RUNNING and reason:
            return "accent", reason
        if self._damaged:
            return "warn", words("chat.damaged", count=self._damaged)
        return "warn", ""
