"""The main window: side bar, top bar, main area and what lies over them.

Its outline is painted before anything heavy is loaded, then it is furnished, and `Desk` (desk.py)
brings it to life. Used by main.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QCloseEvent, QColor, QPaintEvent, QPalette
from PySide6.QtWidgets import QMainWindow, QWidget

from app.gui.display.theme import Tokens
from app.gui.window_state import WindowState

if TYPE_CHECKING:
    from app.engine.engine import Engine
    from app.gui.controllers.window import Desk
    from app.gui.display.i18n import Language
    from app.gui.display.style import Look

SMALLEST = QSize(480, 320)
SMALLEST_BODY = QSize(900, 600)  # where the window is smaller, what it holds is scrolled
FIRST_SIZE = QSize(1440, 900)
FRAME = QSize(8, 40)  # what the system draws round a window is not known before it is shown
SIDE_WIDTH = 248
BAR_HEIGHT = 52
_FAR = 10_000


class MainWindow(QMainWindow):
    """The window of a running Moot; `desk` is there once the engine is.

    Emits `painted` once, when its outline is on the screen, and `close_requested`; where it
    `hides_on_close`, closing it emits `hidden` instead.
    """

    painted = Signal()
    close_requested = Signal()
    hidden = Signal()
    desk: "Desk"

    def __init__(self, tokens: Tokens, state: WindowState) -> None:
        super().__init__()
        self.setObjectName("main_window")
        self.setWindowTitle("Moot")
        room = self.screen().availableSize() - FRAME
        self.setMinimumSize(SMALLEST.boundedTo(room))
        self.resize(FIRST_SIZE.boundedTo(room))
        self.state = state
        self._is_painted = self._alive = self.hides_on_close = False
        _fill(self, tokens.bg)
        self.setCentralWidget(_outline(tokens))
        geometry = state.bytes_of("geometry")
        if not geometry.isEmpty():
            self.restoreGeometry(geometry)

    def furnish(self, language: "Language", look: "Look") -> None:
        """Put the widgets in."""
        from PySide6.QtCore import Qt
        from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QStackedWidget, QVBoxLayout

        from app.gui.commands import written_keys
        from app.gui.navigation.side_bar import SideBar
        from app.gui.navigation.top_bar import TopBar
        from app.gui.pages.welcome_page import WelcomePage
        from app.gui.widgets.side_splitter import SideSplitter
        from app.gui.widgets.toast import Banner, Toasts

        self.language = language
        self.look = look
        language.choose_keys(written_keys(()))
        self.setWindowTitle(language("app.name"))
        self.setPalette(QPalette())
        self.side_bar = SideBar(language, look)
        self.top_bar = TopBar(language, look)
        self.banner = Banner(language, look)
        self.welcome = WelcomePage(language, look)
        self.main_area = QStackedWidget()
        self.main_area.addWidget(self.welcome)
        middle = QWidget()
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.top_bar)
        column.addWidget(self.banner)
        column.addWidget(self.main_area, 1)
        middle.setMinimumWidth(320)
        self.splitter = SideSplitter()
        self.splitter.addWidget(self.side_bar)
        self.splitter.addWidget(middle)
        # As the outline had it: until the desk is there, nothing jumps.
        self.splitter.setStretchFactor(1, 1)
        self.splitter.set_widths([SIDE_WIDTH])
        body = QWidget()
        body.setMinimumSize(SMALLEST_BODY)
        row = QHBoxLayout(body)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.splitter)
        self.toasts = Toasts(middle)
        scrolled = QScrollArea()
        scrolled.setFrameShape(QFrame.Shape.NoFrame)
        scrolled.setWidgetResizable(True)
        # Who goes on with the Tab key is taken to what has the focus.
        scrolled.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scrolled.setWidget(body)
        self.setCentralWidget(scrolled)
        self.show_welcome()

    def connect_engine(
        self, engine: "Engine", data_dir: Path, close_moot: Callable[[], Awaitable[None]]
    ) -> None:
        """Bring the window to life; `close_moot` returns the awaitable that ends the engine."""
        from app.gui.controllers.window import Desk

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

    def come_forward(self) -> None:
        """Show the window to a user who tried to open a second one."""
        from PySide6.QtCore import Qt

        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self._alive:
            event.accept()
            return
        event.ignore()
        if self.hides_on_close:
            self.hide()
            self.hidden.emit()
        else:
            self.close_requested.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._is_painted:
            self._is_painted = True
            self.painted.emit()


def _outline(tokens: Tokens) -> QWidget:
    """Return what the window shows before it is furnished.

    Coloured areas and no painter: the first use of a painter's colours costs Qt's Python names 20 ms.
    """
    body = QWidget()
    for colour, place in (
        (tokens.side, (0, 0, SIDE_WIDTH, _FAR)),
        (tokens.line, (SIDE_WIDTH, 0, 1, _FAR)),
        (tokens.line, (SIDE_WIDTH, BAR_HEIGHT, _FAR, 1)),
    ):
        area = QWidget(body)
        area.setGeometry(*place)
        _fill(area, colour)
    return body


def _fill(area: QWidget, colour: str) -> None:
    area.setPalette(QPalette(QColor(colour), QColor(colour)))
    area.setAutoFillBackground(True)
