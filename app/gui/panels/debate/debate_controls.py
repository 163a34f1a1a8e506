"""A debate's head: title, round and status, Pause, Resume and Stop, cost, and what holds it up."""

import math
import time

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.core.events import RetryScheduled
from app.core.session import ENDED, PAUSED, RUNNING, DebateSession
from app.gui.amounts import Spending
from app.gui.i18n import Language
from app.gui.style import Look
from app.gui.widgets.badge import Chip
from app.gui.widgets.controls import button
from app.gui.widgets.label import ElidedLabel, plain_label

STATUS_TONES = {"running": "accent", "paused": "warn", "completed": "ok", "error": "error", "waiting": "accent"}


class DebateControls(QFrame):
    """Shows where a debate stands; emits what shall happen to it."""

    pause_requested = Signal()
    resume_requested = Signal()
    stop_requested = Signal()

    def __init__(
        self, language: Language, look: Look, *, prefix: str, headed: bool, parent: QWidget | None = None
    ) -> None:
        """`headed` shows title, status and cost too; a page under the top bar has them there."""
        super().__init__(parent)
        self._headed = headed
        self._language = language
        self._session: DebateSession | None = None
        self._spending = Spending()
        self._retry: tuple[str, str, float] | None = None
        self._read_only = False
        self._damaged = 0
        self._pausing = False
        self._title = ElidedLabel("title", self)
        self._round = Chip(look)
        self._status = Chip(look, self)
        self._cost = Chip(look, self, icon="coins")
        self.pause = button("", f"{prefix}pause")
        self.pause.dress(look, "pause", "text")
        self.resume = button("primary", f"{prefix}resume")
        self.resume.dress(look, "play", "on_accent")
        self.stop = button("", f"{prefix}stop")
        self.stop.dress(look, "square", "text")
        self._banner = QFrame()
        self._banner.setProperty("kind", "banner")
        self._banner_text = plain_label(wrap=True)
        self._countdown = QTimer(self)
        self._countdown.setInterval(500)
        self._lay_out()
        self.pause.clicked.connect(self._on_pause)
        self.resume.clicked.connect(self.resume_requested)
        self.stop.clicked.connect(self.stop_requested)
        self._countdown.timeout.connect(self.refresh)
        language.changed.connect(self.refresh)

    def show_session(self, session: DebateSession, spending: Spending, *, read_only: bool, damaged: int) -> None:
        """Show another debate, or the same with its data read anew."""
        self._spending, self._read_only, self._damaged = spending, read_only, damaged
        self._retry = None
        self.show_change(session)

    def show_change(self, session: DebateSession) -> None:
        """Show the debate as it is now."""
        self._session = session
        if session.status != RUNNING:
            self._retry = None
            self._pausing = False
        self.refresh()

    def show_retry(self, event: RetryScheduled) -> None:
        """Count down to the next try of a turn that failed."""
        self._retry = (event.author.name, event.reason, time.monotonic() + event.seconds)
        self.refresh()

    def end_retry(self) -> None:
        """Stop counting down: the turn goes on."""
        if self._retry is not None:
            self._retry = None
            self.refresh()

    def refresh(self) -> None:
        """Draw every word and state anew."""
        session, words = self._session, self._language
        if session is None:
            return
        debate = session.debate
        shown_round = min(debate.round, debate.rounds)
        ended = session.status in ENDED
        self._round.set_text(words("discussion.round", round=shown_round, rounds=debate.rounds), "accent")
        status = words("status.read_only") if self._read_only else words.status(session.status)
        if self._headed:
            self._title.setText(session.title)
            self._status.set_text(
                status if session.status != RUNNING else "", STATUS_TONES.get(session.status, "neutral")
            )
            self._cost.set_text(self._spending.text(words))
        self._cost.setToolTip(self._spending.lines(words))
        self.pause.setText(words("discussion.pause_now" if self._pausing else "discussion.pause"))
        self.resume.setText(words("discussion.resume"))
        self.stop.setText(words("discussion.stop"))
        self.pause.setVisible(session.status == RUNNING)
        self.resume.setVisible(session.status == PAUSED and not self._read_only)
        self.stop.setVisible(not ended and not self._read_only)
        tone, text = self._banner_of(session)
        self.setVisible(self._headed or not ended or bool(text))
        self._banner.setVisible(bool(text))
        self._banner_text.setText(text)
        if self._banner.property("tone") != tone:
            self._banner.setProperty("tone", tone)
            for widget in (self._banner, self._banner_text):
                widget.style().unpolish(widget)
                widget.style().polish(widget)
        if self._retry is None:
            self._countdown.stop()
        elif not self._countdown.isActive():
            self._countdown.start()

    def _banner_of(self, session: DebateSession) -> tuple[str, str]:
        words = self._language
        if self._read_only:
            return "warn", words("discussion.read_only")
        if self._damaged:
            return "warn", words("discussion.damaged", count=self._damaged)
        if self._retry is not None:
            name, reason, at = self._retry
            left = max(0, math.ceil(at - time.monotonic()))
            return "warn", words("discussion.retry", count=left, name=name, reason=words.problem(reason))
        if self._pausing:
            return "accent", words("discussion.pausing")
        if session.status in (PAUSED, "error", "stopped") and session.reason:
            reason = words.problem(session.reason)
            text = words("discussion.paused", reason=reason) if session.status == PAUSED else reason
            return ("error" if session.status == "error" else "warn"), text
        if session.status == PAUSED:
            return "warn", words("discussion.paused_plain")
        return "warn", ""

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self._title, 1)
        buttons = QHBoxLayout()
        buttons.setSpacing(6)
        for widget in (self.pause, self.resume, self.stop):
            buttons.addWidget(widget)
        buttons.addWidget(self._status)
        buttons.addStretch(1)
        buttons.addWidget(self._cost)
        banner = QHBoxLayout(self._banner)
        banner.setContentsMargins(12, 8, 12, 8)
        banner.addWidget(self._banner_text, 1)
        self._banner.setVisible(False)
        column = QVBoxLayout(self)
        column.setContentsMargins(*((18, 14, 18, 6) if self._headed else (28, 12, 28, 6)))
        column.setSpacing(10)
        if self._headed:
            head.addWidget(self._round)
            column.addLayout(head)
        else:
            self._title.hide()
            buttons.addWidget(self._round)
        column.addLayout(buttons)
        column.addWidget(self._banner)

    def _on_pause(self) -> None:
        self._pausing = True
        self.refresh()
        self.pause_requested.emit()
