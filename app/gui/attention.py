"""Draws the user's eye to the window when a debate needs it while another window is in front."""

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QWidget

from app.core.events import SessionChanged
from app.core.session import COMPLETED, ERROR, PAUSED, WAITING
from app.gui.bridge import Bridge

THE_USERS_DOING = ("by_user", "app_closed")


class Attention(QObject):
    """Marks the window in the task bar when a debate ended, paused by itself, or waits for an answer."""

    def __init__(
        self, window: QWidget, bridge: Bridge, alert: Callable[[QWidget], None] = QApplication.alert
    ) -> None:
        super().__init__(bridge)
        self._window = window
        self._alert = alert
        bridge.session_changed.connect(self._on_session_changed)

    def _on_session_changed(self, event: SessionChanged) -> None:
        session = event.session
        wanted = session.status in (COMPLETED, ERROR, WAITING, PAUSED) and event.status_changed
        if wanted and session.reason not in THE_USERS_DOING and not self._window.isActiveWindow():
            self._alert(self._window)
