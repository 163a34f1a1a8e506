"""What debates and chats share in the window: a session's messages, the bar that finds in them, and the box to write.

`DiscussionView` is one of a debate, `ChatPage` one of a chat; `SessionViews` routes events to both.
"""

from collections.abc import Sequence
from typing import ClassVar

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.core.draft import Draft
from app.core.events import MessageFinished, RetryScheduled, TurnStarted
from app.core.message import Message, MessageState
from app.core.session import Session
from app.gui.display.amounts import Spending
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.transcript.transcript_view import TranscriptView
from app.gui.widgets.composer import Composer
from app.gui.widgets.search import FindBar


class ConversationView(QWidget):
    """Shows one session of a kind; every request carries the session's id."""

    KIND: ClassVar[type[Session]] = Session

    link_requested = Signal(str, str)
    provider_requested = Signal(str)
    draft_changed = Signal(str, object)
    draft_shown = Signal()

    def __init__(
        self, language: Language, look: Look, composer: Composer, *, layout: str, names: tuple[str, str, str]
    ) -> None:
        """`names` are the object names of transcript, box and send button."""
        super().__init__()
        self._names = names
        self._language = language
        self._look = look
        self._read_only = False
        self._session: Session | None = None
        self._filling = False
        self.spending = Spending()
        self.transcript = TranscriptView(look.tokens, language.texts, layout=layout, picture=look.picture)
        self.composer = composer
        self.bear_names(True)
        self.find_bar = FindBar(language, look)
        self.transcript.link_requested.connect(self.link_requested)
        self.find_bar.text_changed.connect(self.transcript.find)
        self.transcript.found.connect(self.find_bar.show_count)
        self.find_bar.step_requested.connect(self._on_find_step)
        self.find_bar.closed.connect(self.transcript.setFocus)
        composer.text_changed.connect(self._on_text_changed)
        look.changed.connect(lambda: self.transcript.set_theme(look.tokens))
        language.changed.connect(lambda: self.transcript.set_texts(language.texts))

    @property
    def session(self) -> Session | None:
        """The session shown."""
        return self._session

    @property
    def session_id(self) -> str:
        """The id of the session shown, empty when there is none."""
        return self._session.id if self._session else ""

    @property
    def in_group_mode(self) -> bool:
        """Whether one writes to a group."""
        return False

    @property
    def in_settings_mode(self) -> bool:
        """Whether those written to only read and plan (row S8)."""
        return False

    def bear_names(self, borne: bool) -> None:
        """Have the object names, or leave them to another page: of all that is seen each is there once."""
        parts = (self.transcript, self.composer.box, self.composer.send)
        for part, name in zip(parts, self._names, strict=True):
            part.setObjectName(name if borne else "")

    def show_session(
        self, session: Session, messages: Sequence[Message], *, read_only: bool = False, damaged: int = 0
    ) -> None:
        """Show a session with these messages instead of what was shown."""
        self._session, self._read_only = session, read_only
        self.spending = Spending()
        self.spending.add(messages)
        self.spending.add_session(session)
        self.transcript.show_session(session, messages)
        for message in messages:
            if message.state == MessageState.STREAMING:
                self.transcript.append_text(message.id, "")

    def prepend(self, messages: Sequence[Message], *, read_only: bool, damaged: int) -> None:
        """Put the earlier messages before those shown."""
        self.spending.add(messages)
        self.transcript.prepend(messages)
        self._read_only = read_only

    def clear(self) -> None:
        """Show no session."""
        self._session = None
        self.set_draft(Draft())

    def show_change(self, session: Session) -> None:
        """Show the session's new title, status or cursor."""
        self._session = session
        self.spending.add_session(session)

    def show_turn(self, event: TurnStarted, *, starting: bool) -> None:
        """Show who is about to speak; `starting` while no model has answered since Moot was opened."""

    def show_message(self, message: Message) -> None:
        """Add a message that begins to stream."""
        self.transcript.message_started(message)

    def show_text(self, message_id: str, text: str, thinking: str) -> None:
        """Let a message grow."""
        self.transcript.append_text(message_id, text, thinking)

    def show_finished(self, event: MessageFinished) -> None:
        """Show a message as it ended."""
        self.transcript.message_finished(event.message)
        self.spending.add((event.message,))

    def show_retry(self, event: RetryScheduled) -> None:
        """Count down to the next try of a turn."""

    def open_find(self) -> None:
        """Let the user find in what was said."""
        self.find_bar.come()

    def take_focus(self) -> None:
        """Put the cursor where one writes; into the transcript where there is nothing to write."""
        (self.composer if self.composer.box.isEnabled() else self.transcript).setFocus()

    @property
    def draft(self) -> Draft:
        """What is left unsent here."""
        return Draft(text=self.composer.box.toPlainText())

    def set_draft(self, draft: Draft) -> None:
        """Show what had been left unsent for this session."""
        # The parts come one by one: the draft is whole only when all are there.
        self._filling = True
        self._show_draft(draft)
        self._filling = False
        self.draft_shown.emit()

    def _show_draft(self, draft: Draft) -> None:
        self._write(draft.text)

    def _write(self, text: str) -> None:
        box = self.composer.box
        if text != box.toPlainText():
            box.setPlainText(text)
            box.moveCursor(box.textCursor().MoveOperation.End)

    @property
    def place(self) -> str:
        """What is read, to come back to: message and pixels; empty while the end is followed."""
        if not self.session_id or self.transcript.following:
            return ""
        message_id, offset = self.transcript.place
        return f"{message_id}:{offset}"

    def go_to(self, place: str) -> None:
        """Come back to a `place`, where its message is still there."""
        message_id, _, offset = place.rpartition(":")
        if message_id and offset.isdecimal():
            self.transcript.go_to(message_id, int(offset))

    def _on_text_changed(self) -> None:
        if not self._filling:
            self.draft_changed.emit(self.session_id, self.draft)

    def _on_find_step(self, step: int) -> None:
        (self.transcript.find_next if step > 0 else self.transcript.find_previous)()
