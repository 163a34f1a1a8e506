"""Tells the user of what has happened while another window is in front. Used by the background desk."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication, QWidget

from app.core.events import PromptAsked, SessionChanged
from app.core.session import COMPLETED, ERROR, IDLE, PAUSED, WAITING
from app.gui.controllers.bridge import Bridge

THE_USERS_DOING = ("by_user", "app_closed")


class Attention(QObject):
    """Marks the window in the task bar when a session ended, paused by itself, answered, or asks something.

    Emits called(session id) with each. A question counts from any depth, also while the rest of its session
    still runs.
    """

    called = Signal(str)

    def __init__(
        self, window: QWidget, bridge: Bridge, alert: Callable[[QWidget], None] = QApplication.alert
    ) -> None:
        super().__init__(bridge)
        self._window = window
        self._alert = alert
        bridge.session_changed.connect(self._on_session_changed)
        bridge.prompt_asked.connect(self._on_prompt_asked)

    def _on_session_changed(self, event: SessionChanged) -> None:
        session = event.session
        wanted = session.status in (COMPLETED, ERROR, WAITING, PAUSED, IDLE) and event.status_changed
        if wanted and session.reason not in THE_USERS_DOING:
            self._call(event.session_id)

    def _on_prompt_asked(self, event: PromptAsked) -> None:
        self._call(event.session_id)

    def _call(self, session_id: str) -> None:
        # A dialog of ours in front is as good as the window itself.
        if QApplication.activeWindow() is None:
            self._alert(self._window)
            self.called.emit(session_id)
