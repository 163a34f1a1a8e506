"""What the desks of groups and of workflows have in common: the page they look at, and a panel beside it."""

from collections.abc import Coroutine

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QAbstractButton

from app.engine.engine import Engine
from app.gui.controllers.session_views import MainPages
from app.gui.pages.chat.chat_page import ChatPage
from app.gui.panels.plan_panel import PlanPanel
from app.gui.panels.right_panel import RightPanel
from app.gui.tasks import Tasks
from app.gui.window_frame import WindowFrame


class PanelController(QObject):
    """Looks at the session in front; emits session_requested(session id) for another one."""

    session_requested = Signal(str)

    def __init__(
        self, window: WindowFrame, engine: Engine, page: ChatPage, pages: MainPages, tasks: Tasks
    ) -> None:
        super().__init__(window)
        self._window = window
        self._language, self._state, self._toasts = window.language, window.state, window.toasts
        self._engine = engine
        self._page = page
        self._pages = pages
        self._tasks = tasks

    def _add_panel(self, panel: PlanPanel | RightPanel, button: QAbstractButton, kept: str) -> None:
        """Put a panel beside the main area, shown by a button, as it was left under the name `kept`."""
        splitter = self._window.splitter
        splitter.addWidget(panel)
        splitter.setCollapsible(splitter.indexOf(panel), False)
        button.setChecked(self._state.flag(kept, False))
        panel.setVisible(button.isChecked())
        button.toggled.connect(panel.setVisible)
        button.toggled.connect(lambda on: self._state.keep(kept, on))
        panel.close_requested.connect(lambda: button.setChecked(False))

    def _start(self, work: Coroutine[object, object, object]) -> None:
        """Run a command beside those that run."""
        self._tasks.add(type(self).__name__, work)
