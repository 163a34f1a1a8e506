"""A debate as it runs: its controls, its transcript, and the box to step in.

The panel shows it narrow; the main area shows the same, wide, for the session of the side bar.
"""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from app.core.catalog import EMBEDDED
from app.core.events import MessageFinished, RetryScheduled, TurnStarted
from app.core.message import Message
from app.core.session import ENDED, RUNNING, DebateSession
from app.gui.chat.message_row import SETTINGS
from app.gui.chat.row_style import COMPACT, WIDE
from app.gui.i18n import Language
from app.gui.panels.conversation_view import ConversationView
from app.gui.panels.debate.debate_controls import DebateControls
from app.gui.style import Look
from app.gui.widgets.composer import Composer
from app.gui.widgets.controls import button
from app.gui.widgets.label import Paragraph, plain_label


class DiscussionView(ConversationView):
    """Shows one debate, or how to get one; every request carries the session's id."""

    KIND = DebateSession

    pause_requested = Signal(str)
    resume_requested = Signal(str)
    stop_requested = Signal(str)
    say_requested = Signal(str, str)
    setup_requested = Signal(str)

    def __init__(
        self, language: Language, look: Look, *, compact: bool, names: tuple[str, str, str], prefix: str
    ) -> None:
        """`names` are the object names of transcript, box and send button; `prefix` is the controls'."""
        composer = Composer(look, box_name=names[1], button_name=names[2])
        super().__init__(language, look, composer, layout=COMPACT if compact else WIDE, names=names)
        self._session: DebateSession | None = None
        self.controls = DebateControls(language, look, prefix=prefix, headed=compact)
        self._empty_text = Paragraph("card_text", centred=True)
        self._empty_button = button("primary", f"{prefix}empty")
        self._over = QWidget()
        self._over_text = plain_label("field")
        self._again = button("", f"{prefix}again")
        self._again.dress(look, "rotate-ccw", "text")
        self._lay_out(compact)
        self._connect()
        self._retranslate()

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
        super().show_session(session, messages, read_only=read_only, damaged=damaged)
        self.controls.show_session(session, self.spending, read_only=read_only, damaged=damaged)
        self._show_composer()
        self._stack.setCurrentIndex(1)

    def prepend(self, messages: Sequence[Message], *, read_only: bool, damaged: int) -> None:
        if self._session is not None:
            super().prepend(messages, read_only=read_only, damaged=damaged)
            self.controls.show_session(self._session, self.spending, read_only=read_only, damaged=damaged)
            self._show_composer()

    def clear(self) -> None:
        super().clear()
        self._stack.setCurrentIndex(0)

    def show_change(self, session: DebateSession) -> None:
        super().show_change(session)
        self.controls.show_change(session)
        if session.status != RUNNING:
            self.transcript.clear_speaking()
        self._show_composer()

    def show_turn(self, event: TurnStarted, *, starting: bool) -> None:
        self.controls.end_retry()
        local = self._provider_of(event.author.id) == EMBEDDED
        words = self._language("transcript.starting_model") if starting and local else ""
        self.transcript.set_speaking(event.author, self._role_of(event.author.id), words)

    def show_message(self, message: Message) -> None:
        self.controls.end_retry()
        self.transcript.clear_speaking()
        super().show_message(message)

    def show_finished(self, event: MessageFinished) -> None:
        super().show_finished(event)
        self.controls.refresh()

    def show_retry(self, event: RetryScheduled) -> None:
        self.controls.show_retry(event)

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
        self.transcript.action_requested.connect(self._on_action)
        self._empty_button.clicked.connect(lambda: self.setup_requested.emit(""))
        self._again.clicked.connect(self._on_again)
        self._language.changed.connect(self._retranslate)

    def _on_again(self) -> None:
        if self._session is not None:
            self.setup_requested.emit(self._session.debate.topic)

    def _on_action(self, message_id: str, action: str) -> None:
        if action == SETTINGS:
            self.provider_requested.emit(self._provider_of(self.transcript.author_of(message_id)))

    def _retranslate(self) -> None:
        self._empty_text.setText(self._language("discussion.empty"))
        self._empty_button.setText(self._language("discussion.empty.button"))
        self._over_text.setText(self._language("discussion.ended"))
        self._again.setText(self._language("discussion.again"))
        self._show_composer()
