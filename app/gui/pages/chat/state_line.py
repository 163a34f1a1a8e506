"""The line over a chat's composer that says what holds the chat up, with a button that helps."""

import time

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QFrame

from app.core.events import RetryScheduled
from app.core.reasons import LIMITS, reason_code, resumable
from app.core.session import ChatSession, Status
from app.gui.display.appearance import Language
from app.gui.display.descriptions import retry_text, waits_its_turn
from app.gui.widgets.boxes import hbox
from app.gui.widgets.controls import button
from app.gui.widgets.text import plain_label, restyle


class StateLine(QFrame):
    """Says why a chat does not continue; hidden otherwise.

    Signals: resume_requested(), retry_requested(provider id), let_go_requested() for a held assistant,
    left() when the button goes that had the focus.
    """

    resume_requested = Signal()
    retry_requested = Signal(str)
    let_go_requested = Signal()
    left = Signal()

    def __init__(self, language: Language) -> None:
        super().__init__()
        self.setObjectName("chat_state")
        self.setProperty("kind", "banner")
        self._language = language
        self._session: ChatSession | None = None
        self._read_only = False
        self._damaged = 0
        self._held = False
        self._retry: RetryScheduled | None = None
        self._retry_at = 0.0
        self._text = plain_label(wrap=True)
        self.resume = button("", "chat_resume", self._on_clicked)
        hbox((self._text, 1), self.resume, inside=self, margins=(12, 7, 8, 7))
        self._countdown = QTimer(self)
        self._countdown.setInterval(500)
        self._countdown.timeout.connect(self._refresh)
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

    def show_retry(self, event: RetryScheduled) -> None:
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
        retries = self._retry is not None
        key = "queue.go_on" if self._is_held_up else "chat.resume"
        self.resume.setText(self._language("discussion.retry_now" if retries else key))
        paused_by_provider = self._retry is not None and not self._retry.repeat
        offered = (paused or paused_by_provider or self._is_held_up) and not self._read_only
        if self.resume.hasFocus() and not offered:
            self.left.emit()
        self.resume.setVisible(offered)
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
        if session is None:
            return "warn", ""
        if self._read_only:
            return "warn", words("chat.read_only")
        if self._retry is not None:
            return "warn", retry_text(self._retry, self._retry_at - time.monotonic(), words)
        if self._is_held_up:
            return "warn", words("notice.held_back", name=session.chat.assistant_name)
        reason = words.reason(session.reason)
        if session.status == Status.PAUSED:
            return "warn", words.paused(session.reason) or words("chat.paused")
        if session.status == Status.IDLE and reason_code(session.reason) in LIMITS:
            return "warn", reason
        if session.status == Status.ERROR:
            return "error", reason or words("status.error")
        if session.status == Status.RUNNING and reason:
            return "accent", reason
        if self._damaged:
            return "warn", words("chat.damaged", count=self._damaged)
        return "warn", ""
