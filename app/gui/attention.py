"""Draws the user's eye to the window when a session needs it while another window is in front."""

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QWidget

from app.core.events import PromptAsked, SessionChanged
from app.core.session import COMPLETED, ERROR, PAUSED, WAITING
from app.gui.bridge import Bridge

THE_USERS_DOING = ("by_user", "app_closed")


class Attention(QObject):
    """Marks the window in the task bar when a session ended, paused by itself, or asks something.

    A question counts from any depth, also while the rest of its session still runs.
    """

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
        wanted = session.status in (COMPLETED, ERROR, WAITING, PAUSED) and event.status_changed
        if wanted and session.reason not in THE_USERS_DOING and not self._window.isActiveWindow():
            self._alert(self._window)

    def _on_prompt_asked(self, _event: PromptAsked) -> None:
        if not self._window.isActiveWindow():
            self._alert(self._window)
