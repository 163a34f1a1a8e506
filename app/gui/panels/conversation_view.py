"""The base of the views of debates, councils and chats: transcript, find bar, composer, and cards
of open questions.

The subclasses are `DiscussionView`, `DebatePage`, `CouncilPage` and `ChatPage`; `SessionViews` passes events
to all.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, TypeVar

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QWidget

from app.core.draft import Draft
from app.core.events import CallsStreamed, MessageFinished, RetryScheduled, TurnStarted
from app.core.message import SPOKEN, Message, MessageState, PromptReason, PromptType
from app.core.session import Session, Status
from app.engine.work import is_hand_over
from app.gui.display.appearance import Language, Look
from app.gui.display.descriptions import Spending
from app.gui.transcript.feed import Feed
from app.gui.transcript.transcript_model import TurnEvent
from app.gui.transcript.transcript_view import TranscriptView
from app.gui.widgets.approval_card import ApprovalCard, HandOverCard, PageCard, ViewerOffer
from app.gui.widgets.boxes import STRETCH, Stretch, frame, hbox, vbox
from app.gui.widgets.composer import Composer, FindBar
from app.gui.widgets.controls import Button
from app.gui.widgets.question_card import FormCard, PromptCard, QuestionCard
from app.gui.widgets.text import Paragraph

# What has to start before a model is asked: the process that asks it, or a model on this computer.
PROCESS, MODEL = "process", "model"
Answer = TypeVar("Answer")


class ConversationView(QWidget):
    """Shows one session; every request carries the session's id, but `connect_requested`, which is
    to add a provider.

    Signals: summary_action_requested(session, summary or message to pin, action),
    stop_turn_requested(session, turn).
    """

    KIND: ClassVar[type[Session]] = Session

    provider_requested = Signal(str)
    connect_requested = Signal()
    draft_changed = Signal(str, object)
    draft_shown = Signal()
    summary_action_requested = Signal(str, object, str)
    stop_turn_requested = Signal(str, str)

    def __init__(
        self, language: Language, look: Look, composer: Composer, *, layout: str, names: tuple[str, str, str]
    ) -> None:
        """`names` are the object names of transcript, box and send button."""
        super().__init__()
        self._names, self._language, self._look = names, language, look
        self._read_only = False
        self._session: Session | None = None
        self._filling = False
        self.spending = Spending()
        self.writing: dict[str, str] = {}
        """What those write whose turn it is, by their ids: a part of a debate or council, "" for a
        statement.
        """
        self.transcript = TranscriptView(look.tokens, language.texts, layout=layout, picture=look.picture)
        self.composer = composer
        self.use_names(True)
        self.find_bar = FindBar(language, look)
        view, model = self.transcript, self.transcript.model
        self.link_requested, self.resource_requested = view.link_requested, view.resource_requested
        self.picture_requested = view.picture_requested
        self.find_bar.text_changed.connect(view.search.find)
        view.found.connect(self.find_bar.show_count)
        self.find_bar.step_requested.connect(view.search.step)
        self.find_bar.closed.connect(view.setFocus)
        composer.text_changed.connect(self._on_text_changed)
        self._unsent_answers: dict[str, str] = {}
        known, together = (lambda: model.names), (lambda message: model.book.together(message))
        self.cards = QuestionCards(language, look, view, self._unsent_answers, names=known, together=together)
        self._connect_cards()
        self.transcript.follow(look, language)

    def asking(self, act: Callable[..., Answer]) -> Callable[..., Answer]:
        """Return what calls `act` with the id of the session shown before what it is called with itself."""
        return lambda *said: act(self.session_id, *said)

    def _connect_cards(self) -> None:
        """Let the cards of questions and calls speak for the session."""
        cards, transcript = self.cards, self.transcript
        transcript.questions.set_factory(cards.make)
        cards.link_requested.connect(lambda address: self.link_requested.emit(address, ""))
        cards.written.connect(self._on_text_changed)
        cards.came.connect(self._on_card_came)
        cards.left.connect(lambda: self.composer.box.setFocus())
        transcript.stop_turn_requested.connect(self.asking(self.stop_turn_requested.emit))

    def _on_card_came(self) -> None:
        # Also if another window is active, so that the question has the focus on return.
        if self.window().focusWidget() is self.composer.box:
            self.take_focus()

    @property
    def session(self) -> Session | None:
        """The session shown."""
        return self._session

    @property
    def session_id(self) -> str:
        """The id of the session shown, empty when there is none."""
        return self._session.id if self._session else ""

    @property
    def new_mode(self) -> str:
        """The mode of the session that begins here, in words."""
        return ""

    def use_names(self, used: bool) -> None:
        """Set the object names, or leave them to another view:
        each name exists once among the visible widgets.
        """
        parts = (self.transcript, self.composer.box, self.composer.send)
        for part, name in zip(parts, self._names, strict=True):
            part.setObjectName(name if used else "")

    def show_session(
        self, session: Session, messages: Sequence[Message], *, read_only: bool = False, damaged: int = 0
    ) -> None:
        """Show a session with these messages."""
        self._session, self._read_only = session, read_only
        self.spending = Spending()
        self.spending.add(messages)
        self.spending.add_session(session)
        self.writing = {msg.author.id: msg.part for msg in messages if msg.state == MessageState.STREAMING}
        rows = [*filter(self._is_row, messages)]
        self.transcript.feed.show_session(session, rows)
        for message in rows:
            if message.state == MessageState.STREAMING:
                self.transcript.feed.append_text(message.id, "")

    def open_first_step(self) -> None:
        """Open the step with which a session is shown, of a page with steps."""

    def prepend(self, messages: Sequence[Message], *, read_only: bool, damaged: int) -> None:
        """Insert earlier messages before those shown."""
        self.spending.add(messages)
        self.transcript.feed.prepend([*filter(self._is_row, messages)])
        self._read_only = read_only

    def clear(self) -> None:
        """Show no session."""
        self._session = None
        self.set_draft(Draft())

    def show_change(self, session: Session) -> None:
        """Show the session's new title, status or cursor."""
        self._session = session
        self.spending.add_session(session)
        if session.status != Status.RUNNING:
            self.writing.clear()

    def show_turn(self, event: TurnStarted, *, starting: str) -> None:
        """Show who speaks next; `starting` says what has to start first: PROCESS until the process that
        asks the models does, then MODEL until one has answered since the program started, then "".
        """
        self.writing[event.author.id] = event.part

    def show_started(self, starting: str) -> None:
        """Show what has to start first from now on."""
        self.transcript.feed.say_what_is_waited_for(self._starting_words(starting))

    def _starting_words(self, starting: str, *, local: bool = False) -> str:
        """Return what is waited for before a model is asked; one on this computer starts itself too."""
        if local and starting:
            return self._language("transcript.starting_model")
        return self._language("transcript.starting_process") if starting == PROCESS else ""

    def show_message(self, message: Message) -> None:
        """Add a message that is being streamed."""
        self.writing[message.author.id] = message.part
        if self._is_row(message):
            self.transcript.feed.message_started(message)
            self.cards.refresh()

    def show_text(self, message_id: str, text: str, thinking: str) -> None:
        """Append text to a message."""
        self.transcript.feed.append_text(message_id, text, thinking)

    def show_finished(self, event: MessageFinished) -> None:
        """Show a finished message."""
        self.writing.pop(event.message.author.id, None)
        if self._is_row(event.message):
            self.transcript.feed.message_finished(event.message)
            self.cards.refresh()
        self.spending.add((event.message,))

    def _is_row(self, message: Message) -> bool:
        """Say whether a message is a row of the transcript; others are read by Moot alone,
        or stand elsewhere.
        """
        return message.part in SPOKEN

    def _feeds(self) -> Sequence[Feed]:
        """Return what feeds the transcripts: there are several where answers stand side by side."""
        return [each.feed for each in self.findChildren(TranscriptView)]

    def show_call(self, event: CallsStreamed | TurnEvent) -> None:
        """Show tool calls while they are streamed and run, or that a turn has ended."""
        for feed in self._feeds():
            feed.show_call(event)

    def show_retry(self, event: RetryScheduled) -> None:
        """Count down to the next try of a turn."""

    def open_find(self) -> None:
        """Open the find bar."""
        self.find_bar.come()

    def take_focus(self) -> None:
        """Focus the open question, or the composer, or the transcript; never take the focus
        from somebody who writes.
        """
        box, card = self.composer.box, self.cards.shown()
        if card is not None and not box.toPlainText() and not box.composing:
            card.setFocus()
            return
        (self.composer if self.composer.box.isEnabled() else self.transcript).setFocus()

    @property
    def draft(self) -> Draft:
        """The unsent draft."""
        return Draft(text=self.composer.box.toPlainText(), answers=dict(self._unsent_answers))

    def set_draft(self, draft: Draft) -> None:
        """Show the unsent draft of this session."""
        # Parts are set one by one: report the draft only when it is complete.
        self._filling = True
        self._show_draft(draft)
        self._filling = False
        self.draft_shown.emit()

    def _show_draft(self, draft: Draft) -> None:
        self.cards.write(draft.answers)
        self._write(draft.text)

    def _write(self, text: str) -> None:
        box = self.composer.box
        if text != box.toPlainText():
            box.setPlainText(text)
            box.moveCursor(box.textCursor().MoveOperation.End)

    @property
    def place(self) -> str:
        """The scroll position as `message id:pixels`; empty while the view follows the end."""
        if not self.session_id or self.transcript.following:
            return ""
        message_id, offset = self.transcript.place
        return f"{message_id}:{offset}"

    def go_to(self, place: str) -> None:
        """Scroll to a position that `place` returned, if its message still exists."""
        message_id, _, offset = place.rpartition(":")
        if message_id and offset.isdecimal():
            self.transcript.go_to(message_id, int(offset))

    def _on_text_changed(self) -> None:
        if not self._filling:
            self.draft_changed.emit(self.session_id, self.draft)


AWAY = "away_"
"""What an object name begins with while another view uses it."""


def mark_names(view: QWidget, used: bool, begin: tuple[str, ...]) -> None:
    """Give a view and its parts their object names that begin so, or mark these as away."""
    for part in (view, *view.findChildren(QWidget)):
        name = part.objectName()
        if used and name.startswith(AWAY):
            part.setObjectName(name.removeprefix(AWAY))
        elif not used and name.startswith(begin):
            part.setObjectName(AWAY + name)


def empty_state(text: Paragraph, *acts: Button) -> QWidget:
    """Return what a view shows without a session: a sentence and buttons."""
    middle = hbox(STRETCH, *acts, STRETCH, spacing=8)
    return frame("", vbox(Stretch(2), text, middle, Stretch(3), margins=(40, 0, 40, 0), spacing=14))


class QuestionCards(QObject):
    """Makes the cards of a widget, and keeps unfinished answers in `answers` by message id.

    `names` are those of assistants by their ids, `together` what is asked together with a question.

    Signals: answered(message, answer), calls_answered(messages, answer), dismissed(message),
    handed_over(message, arguments), link_requested(address), written() after a change of an unfinished
    answer, came() when a card is shown for the first time, left() when the last card was answered.
    """

    answered = Signal(str, str)
    calls_answered = Signal(list, str)
    dismissed = Signal(str)
    handed_over = Signal(str, str)
    link_requested = Signal(str)
    written = Signal()
    came = Signal()
    left = Signal()

    def __init__(
        self,
        language: Language,
        look: Look,
        holder: QWidget,
        answers: dict[str, str],
        *,
        names: Callable[[], Mapping[str, str]],
        together: Callable[[Message], Sequence[Message]],
    ) -> None:
        super().__init__(holder)
        self._language, self._look, self._holder, self._names = language, look, holder, names
        self._together, self._answers = together, answers
        self.viewer = ViewerOffer(self)
        """What offers to install the viewer of pages."""

    def make(self, message: Message) -> PromptCard:
        """Return the card of a question."""
        card = self._new(message)
        card.answered.connect(lambda answer: self.answered.emit(message.id, answer))
        card.dismissed.connect(lambda: self.dismissed.emit(message.id))
        for done in (card.answered, card.dismissed):
            done.connect(lambda *_: self._leave(card))
        if isinstance(card, QuestionCard | FormCard):
            card.link_requested.connect(self.link_requested)
            card.write(self._answers.get(message.id, ""))
            card.written.connect(lambda text: self._on_written(message.id, text or None))
            for done in (card.answered, card.dismissed):
                done.connect(lambda *_: self._on_written(message.id, None))
        # Only the first time: a card scrolled into view again takes no focus.
        card.came.connect(self.came, Qt.ConnectionType.SingleShotConnection)
        return card

    def refresh(self) -> None:
        """Show the calls that are asked about now: one more may have come, or one was answered."""
        for card in self._holder.findChildren(ApprovalCard):
            if card.message.prompt is not None and card.message.prompt.joins:
                together = self._together(card.message)
                if together and together[0].id == card.message.id:
                    card.show_calls(together)

    def write(self, answers: Mapping[str, str]) -> None:
        """Show these unfinished answers."""
        kept = dict(answers)
        self._answers.clear()
        self._answers.update(kept)
        for card in self._holder.findChildren(PromptCard):
            if isinstance(card, QuestionCard | FormCard):
                card.write(self._answers.get(card.message.id, ""))

    def shown(self, but: PromptCard | None = None) -> PromptCard | None:
        """Return the first card on screen, but not a certain one."""
        cards = (card for card in self._holder.findChildren(PromptCard) if card is not but)
        return next((card for card in cards if card.isVisible()), None)

    def _new(self, message: Message) -> PromptCard:
        prompt = message.prompt
        assert prompt is not None
        names, author = self._names(), message.author
        path = tuple(names.get(step, step) for step in author.path)
        message = replace(message, author=replace(author, path=path))
        if is_hand_over(message):
            card = HandOverCard(self._language, self._look, message, names)
            card.changed_and_allowed.connect(lambda text: self.handed_over.emit(message.id, text))
            return card
        if prompt.reason == PromptReason.PAGE:
            # Decided by who asked, never by the content of the page.
            return PageCard(self._language, self._look, message, self.viewer)
        if prompt.type == PromptType.FORM:
            return FormCard(self._language, self._look, message)
        if prompt.type != PromptType.APPROVAL:
            return QuestionCard(self._language, self._look, message)
        approval = ApprovalCard(self._language, self._look, message)
        approval.show_calls(self._together(message))
        approval.call_answered.connect(self.answered)
        approval.all_answered.connect(self.calls_answered)
        approval.all_answered.connect(lambda *_: self._leave(approval))
        return approval

    def _leave(self, card: PromptCard) -> None:
        """Focus the next question, or have the composer focused."""
        if (following := self.shown(but=card)) is not None:
            following.setFocus()
        else:
            self.left.emit()

    def _on_written(self, message_id: str, text: str | None) -> None:
        keep_text(self._answers, message_id, text)
        self.written.emit()


def keep_text(kept: dict[str, str], message_id: str, text: str | None) -> None:
    """Keep an unfinished text; None removes it."""
    if text is not None:
        kept[message_id] = text
    else:
        kept.pop(message_id, None)
