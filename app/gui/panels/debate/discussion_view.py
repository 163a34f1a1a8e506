"""A debate as it runs: its controls, its transcript, and the box to step in.

The panel shows it narrow; the main area shows the same, wide, for the session of the side bar.
"""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from app.core.catalog import EMBEDDED
from app.core.events import MessageFinished, MessageStarted, RetryScheduled, TurnStarted
from app.core.message import Message
from app.core.session import ENDED, RUNNING, DebateSession
from app.gui.amounts import Spending
from app.gui.chat.message_row import SETTINGS
from app.gui.chat.row_style import COMPACT, WIDE
from app.gui.chat.transcript_view import TranscriptView
from app.gui.i18n import Language
from app.gui.panels.debate.debate_controls import DebateControls
from app.gui.style import Look
from app.gui.widgets.composer import Composer
from app.gui.widgets.controls import button
from app.gui.widgets.find_bar import FindBar
from app.gui.widgets.label import Paragraph, plain_label


class DiscussionView(QWidget):
    """Shows one debate, or how to get one; every request carries the session's id."""

    pause_requested = Signal(str)
    resume_requested = Signal(str)
    stop_requested = Signal(str)
    say_requested = Signal(str, str)
    setup_requested = Signal(str)
    link_requested = Signal(str, str)
    draft_changed = Signal(str, str)
    provider_requested = Signal(str)

    def __init__(
        self, language: Language, look: Look, *, compact: bool, names: tuple[str, str, str], prefix: str
    ) -> None:
        """`names` are the object names of transcript, box and send button; `prefix` is the controls'."""
        super().__init__()
        self._language = language
        self._look = look
        self._session: DebateSession | None = None
        self._read_only = False
        self.spending = Spending()
        self.controls = DebateControls(language, look, prefix=prefix, headed=compact)
        self.transcript = TranscriptView(look.tokens, language.texts, layout=COMPACT if compact else WIDE)
        self.transcript.setObjectName(names[0])
        self.composer = Composer(look, box_name=names[1], button_name=names[2])
        self.find_bar = FindBar(language, look)
        self._empty_text = Paragraph("card_text", centred=True)
        self._empty_button = button("primary", f"{prefix}empty")
        self._over = QWidget()
        self._over_text = plain_label("field")
        self._again = button("", f"{prefix}again")
        self._again.dress(look, "rotate-ccw", "text")
        self._lay_out(compact)
        self._connect()
        self._on_theme_changed()
        self._retranslate()

    @property
    def session_id(self) -> str:
        """The id of the debate shown, empty when there is none."""
        return self._session.id if self._session else ""

    @property
    def session(self) -> DebateSession | None:
        """The debate shown."""
        return self._session

    def show_session(
        self,
        session: DebateSession,
        messages: Sequence[Message],
        *,
        read_only: bool = False,
        damaged: int = 0,
    ) -> None:
        """Show a debate with these messages instead of what was shown."""
        self._session = session
        self._read_only = read_only
        self.spending = Spending()
        self.spending.add(messages)
        self.controls.show_session(session, self.spending, read_only=read_only, damaged=damaged)
        self.transcript.show_session(session, messages)
        for message in messages:
            if message.state == "streaming":
                self.transcript.append_text(message.id, "")
        self._show_composer()
        self._stack.setCurrentIndex(1)

    def prepend(self, messages: Sequence[Message], *, read_only: bool, damaged: int) -> None:
        """Put the earlier messages before those shown."""
        if self._session is not None:
            self.spending.add(messages)
            self.transcript.prepend(messages)
            self.controls.show_session(self._session, self.spending, read_only=read_only, damaged=damaged)
            self._read_only = read_only
            self._show_composer()

    def clear(self) -> None:
        """Show no debate."""
        self._session = None
        self._stack.setCurrentIndex(0)

    def show_change(self, session: DebateSession) -> None:
        """Show the debate's new title, status or round."""
        self._session = session
        self.controls.show_change(session)
        if session.status != RUNNING:
            self.transcript.clear_speaking()
        self._show_composer()

    def show_turn(self, event: TurnStarted, *, starting: bool) -> None:
        """Show who is about to speak; `starting` while no model has answered since Moot was opened."""
        self.controls.end_retry()
        local = self._provider_of(event.author.id) == EMBEDDED
        words = self._language("transcript.starting_model") if starting and local else ""
        self.transcript.set_speaking(event.author, self._role_of(event.author.id), words)

    def show_message(self, event: MessageStarted) -> None:
        """Add a message that begins to stream."""
        self.controls.end_retry()
        self.transcript.clear_speaking()
        self.transcript.message_started(event.message)

    def show_text(self, message_id: str, text: str, thinking: str) -> None:
        """Let a message grow."""
        self.transcript.append_text(message_id, text, thinking)

    def show_finished(self, event: MessageFinished) -> None:
        """Show a message as it ended."""
        self.transcript.message_finished(event.message)
        self.spending.add((event.message,))
        self.controls.refresh()

    def show_retry(self, event: RetryScheduled) -> None:
        """Count down to the next try of a turn."""
        self.controls.show_retry(event)

    def take_focus(self) -> None:
        """Put the cursor where one steps in; into the transcript of a debate that is over."""
        (self.composer if self.composer.box.isEnabled() else self.transcript).setFocus()

    def set_draft(self, text: str) -> None:
        """Write what had been left unsent for this debate."""
        self.composer.box.setPlainText(text)

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

    def _provider_of(self, author_id: str) -> str:
        participants = self._session.debate.participants if self._session else ()
        return next((seat.provider for seat in participants if seat.id == author_id), "")

    def _role_of(self, author_id: str) -> str:
        participants = self._session.debate.participants if self._session else ()
        role = next((seat.role for seat in participants if seat.id == author_id), "")
        return self._language.role(role) if role else ""

    def _show_composer(self) -> None:
        ended = self._session is not None and self._session.status in ENDED
        words = self._language
        if ended and self.composer.box.hasFocus():
            # Else the focus would jump to whatever button comes next, and a key press would use it.
            self.transcript.setFocus()
        self.composer.box.setEnabled(not ended)
        self.composer.setVisible(not ended and not self._read_only)
        self._over.setVisible(ended and not self._read_only)
        self.composer.set_words(
            words("discussion.placeholder"), words("discussion.hint"), words("discussion.send")
        )

    def _lay_out(self, compact: bool) -> None:
        empty = QWidget()
        column = QVBoxLayout(empty)
        column.setContentsMargins(40, 0, 40, 0)
        column.setSpacing(14)
        column.addStretch(2)
        column.addWidget(self._empty_text)
        column.addWidget(self._empty_button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)
        page = QWidget()
        body = QVBoxLayout(page)
        body.setContentsMargins(0, 0, 0, 0)
        body.setSpacing(0)
        body.addWidget(self.controls)
        body.addWidget(self.find_bar)
        body.addWidget(self.transcript, 1)
        foot = QVBoxLayout()
        foot.setContentsMargins(*((16, 8, 16, 16) if compact else (28, 10, 28, 20)))
        foot.addWidget(self.composer)
        over = QHBoxLayout(self._over)
        over.setContentsMargins(0, 0, 0, 0)
        over.addWidget(self._over_text)
        over.addStretch(1)
        over.addWidget(self._again)
        foot.addWidget(self._over)
        body.addLayout(foot)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(empty)
        self._stack.addWidget(page)

    def _connect(self) -> None:
        self.controls.pause_requested.connect(lambda: self.pause_requested.emit(self.session_id))
        self.controls.resume_requested.connect(lambda: self.resume_requested.emit(self.session_id))
        self.controls.stop_requested.connect(lambda: self.stop_requested.emit(self.session_id))
        self.composer.submitted.connect(lambda text: self.say_requested.emit(self.session_id, text))
        self.composer.text_changed.connect(
            lambda: self.draft_changed.emit(self.session_id, self.composer.box.toPlainText())
        )
        self.transcript.link_requested.connect(self.link_requested)
        self.transcript.action_requested.connect(self._on_action)
        self.find_bar.text_changed.connect(self._on_find)
        self.find_bar.step_requested.connect(self._on_find_step)
        self.find_bar.closed.connect(self.transcript.setFocus)
        self._empty_button.clicked.connect(lambda: self.setup_requested.emit(""))
        self._again.clicked.connect(self._on_again)
        self._look.changed.connect(self._on_theme_changed)
        self._language.changed.connect(self._retranslate)

    def _on_again(self) -> None:
        if self._session is not None:
            self.setup_requested.emit(self._session.debate.topic)

    def _on_action(self, message_id: str, action: str) -> None:
        if action == SETTINGS:
            self.provider_requested.emit(self._provider_of(self.transcript.author_of(message_id)))

    def _on_find(self, text: str) -> None:
        count = self.transcript.find(text)
        self.find_bar.show_count(count, count)

    def _on_find_step(self, step: int) -> None:
        number, count = self.transcript.find_next() if step > 0 else self.transcript.find_previous()
        self.find_bar.show_count(number, count)

    def _on_theme_changed(self) -> None:
        self.transcript.set_theme(self._look.tokens)

    def _retranslate(self) -> None:
        self._empty_text.setText(self._language("discussion.empty"))
        self._empty_button.setText(self._language("discussion.empty.button"))
        self._over_text.setText(self._language("discussion.ended"))
        self._again.setText(self._language("discussion.again"))
        self.transcript.set_texts(self._language.texts)
        self._show_composer()
