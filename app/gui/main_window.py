"""The main window's frame: side bar, top bar, main area and what lies over them.

It is painted before anything heavy is loaded; `Desk` (desk.py) brings it to life. Used by main.
"""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QCloseEvent, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QMainWindow, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from app.gui.i18n import Language
from app.gui.side_bar import SideBar
from app.gui.style import Look
from app.gui.top_bar import TopBar
from app.gui.welcome_page import WelcomePage
from app.gui.widgets.toast import Banner, Toasts
from app.gui.window_state import WindowState

if TYPE_CHECKING:
    from app.engine.engine import Engine
    from app.gui.desk import Desk

SMALLEST = (900, 600)
FIRST_SIZE = (1440, 900)


class MainWindow(QMainWindow):
    """The window of a running Moot; `desk` is there once the engine is."""

    desk: "Desk"

    def __init__(self, language: Language, look: Look, state: WindowState) -> None:
        super().__init__()
        self.setObjectName("main_window")
        self.setWindowTitle(language("app.name"))
        self.setMinimumSize(*SMALLEST)
        self.resize(*FIRST_SIZE)
        self.language = language
        self.look = look
        self.state = state
        self.closed = asyncio.Event()
        self.painted = asyncio.Event()
        self.side_bar = SideBar(language, look)
        self.top_bar = TopBar(language, look)
        self.banner = Banner(language, look)
        self.welcome = WelcomePage(language, look)
        self.main_area = QStackedWidget()
        self.main_area.addWidget(self.welcome)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self._alive = False
        self._lay_out()
        self.toasts = Toasts(self._middle)
        self.show_welcome()
        geometry = state.bytes_of("geometry")
        if not geometry.isEmpty():
            self.restoreGeometry(geometry)

    def connect_engine(
        self, engine: "Engine", data_dir: Path, close_moot: Callable[[], Awaitable[None]]
    ) -> None:
        """Bring the window to life; `close_moot` returns the awaitable that ends the engine."""
        from app.gui.desk import Desk

        self.desk = Desk(self, engine, data_dir, close_moot)
        self._alive = True

    async def shutdown(self) -> None:
        """Save what the window remembers, pause what runs, and close."""
        self.state.keep("geometry", self.saveGeometry())
        if self._alive:
            await self.desk.close()
            self._alive = False
        self.state.save()
        self.close()
        self.deleteLater()

    def come_forward(self) -> None:
        """Show the window to a user who tried to open a second one."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self._alive:
            event.accept()
            return
        event.ignore()
        self.closed.set()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        self.painted.set()

    def show_welcome(self) -> None:
        """Show the welcome page in the main area."""
        self.main_area.setCurrentWidget(self.welcome)
        self.top_bar.show_title(self.language("top.welcome"))
        self.top_bar.show_session_tools(False)
        self.side_bar.sessions.select("")
        self.welcome.setFocus()

    def show_side(self, shown: bool) -> None:
        """Show or hide the side bar."""
        self.side_bar.setVisible(shown)
        self.top_bar.side_button.setVisible(not shown)

    def _lay_out(self) -> None:
        self._middle = QWidget()
        column = QVBoxLayout(self._middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.top_bar)
        column.addWidget(self.banner)
        column.addWidget(self.main_area, 1)
        self._middle.setMinimumWidth(320)
        self.splitter.setHandleWidth(1)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(self.side_bar)
        self.splitter.addWidget(self._middle)
        body = QWidget()
        row = QHBoxLayout(body)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.splitter)
        self.setCentralWidget(body)
