"""The widgets of the main window: sidebar, top bar, banner, toasts, and the main area with the page of chats.

An outline is painted before the modules of the widgets are imported; then `furnish` adds them. `WindowState`
keeps sizes, panels and scroll positions between runs in `window.ini`; losing it does no harm.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QSettings, QSize, Signal
from PySide6.QtGui import QColor, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QMainWindow, QWidget

from app.gui.display.theme import Tokens
from app.gui.widgets.boxes import add_page, hbox, stack, vbox

if TYPE_CHECKING:
    from app.gui.display.appearance import Language, Look
    from app.gui.widgets.notices import Toasts

MOST_KEPT = 50


class WindowState:
    """Reads and writes `window.ini`."""

    def __init__(self, data_dir: Path) -> None:
        self._folder = data_dir
        self._settings = QSettings(str(data_dir / "window.ini"), QSettings.Format.IniFormat)
        self._unsaved: dict[str, QByteArray | str] = {}

    def bytes_of(self, name: str) -> QByteArray:
        """Return bytes that Qt made of a geometry, empty if there are none."""
        value = self._settings.value(name)
        return value if isinstance(value, QByteArray) else QByteArray()

    def text(self, name: str, default: str = "") -> str:
        """Return a text value."""
        return str(self._unsaved.get(name, self._settings.value(name, default)))

    def flag(self, name: str, default: bool) -> bool:
        """Return a yes or no value."""
        return self.text(name, "true" if default else "false") == "true"

    def keep(self, name: str, value: QByteArray | str | bool) -> None:
        """Store a value; only until the end while the data folder is gone, which Qt would make again."""
        text = ("true" if value else "false") if isinstance(value, bool) else value
        self._unsaved.pop(name, None)
        if self._folder.is_dir():
            self._settings.setValue(name, text)
        else:
            self._unsaved[name] = text

    def widths(self, name: str) -> list[int]:
        """Return stored widths in pixels, empty if there are none."""
        return [int(width) for width in self.text(name).split() if width.isdecimal()]

    def keep_widths(self, name: str, widths: Sequence[int]) -> None:
        """Store widths in pixels."""
        self.keep(name, " ".join(str(width) for width in widths))

    def old_drafts(self) -> dict[str, str]:
        """Return the drafts that older versions stored here, by place."""
        self._settings.beginGroup("drafts")
        found = {name: str(self._settings.value(name)) for name in self._settings.childKeys()}
        self._settings.endGroup()
        return found

    def forget_old_drafts(self) -> None:
        """Delete them, once they are stored elsewhere."""
        self._settings.remove("drafts")
        self.save()

    def place(self, session_id: str) -> str:
        """Return the scroll position of a session, "" for its end."""
        return self.text(f"places/{session_id}")

    def keep_place(self, session_id: str, place: str) -> None:
        """Store the scroll position of a session; only those of the newest sessions are kept."""
        settings = self._settings
        if not self._folder.is_dir():
            return
        if not place:
            settings.remove(f"places/{session_id}")
            return
        settings.setValue(f"places/{session_id}", place)
        settings.beginGroup("places")
        # Ids begin with their time, so their order is that of their age.
        names = sorted(settings.childKeys())
        for old in names[: max(0, len(names) - MOST_KEPT)]:
            settings.remove(old)
        settings.endGroup()

    def save(self) -> None:
        """Write the file now."""
        self._settings.sync()


SMALLEST = QSize(480, 320)
SMALLEST_BODY = QSize(900, 600)  # a smaller window scrolls its content
FIRST_SIZE = QSize(1440, 900)
FRAME = QSize(8, 40)  # the system's frame around the window has no known size before it is shown
SIDE_WIDTH = 248
NARROW = 1000
"""A window of less than so many pixels has the sidebar folded away until it is asked for."""
BAR_HEIGHT = 52
_FAR = 10_000


class AppWindow(QMainWindow):
    """A window with pages that controllers serve: its language, look and state, and the messages over it.

    Controllers ask through it for what is shown in the main window: session_requested(session id),
    settings_requested(page, provider id) and begin_requested(what is to begin, "" for what was begun last).
    """

    begin_requested = Signal(str)
    session_requested = Signal(str)
    settings_requested = Signal(str, str)
    language: "Language"
    look: "Look"
    state: WindowState
    toasts: "Toasts"

    def come_forward(self) -> None:
        """Bring the window to the front, also a minimised one."""
        from PySide6.QtCore import Qt

        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()


class WindowFrame(AppWindow):
    """The main window as the controllers know it: its widgets, its language, look and state.

    Emits `painted` once, when its outline is on the screen, `close_requested` when the program is to end,
    and `hidden` when the user closed the window and the program goes on.
    """

    painted = Signal()
    close_requested = Signal()
    hidden = Signal()

    def __init__(self, tokens: Tokens, state: WindowState) -> None:
        super().__init__()
        self.setObjectName("main_window")
        self.setWindowTitle("Moot")
        room = self.screen().availableSize() - FRAME
        self.setMinimumSize(SMALLEST.boundedTo(room))
        self.resize(FIRST_SIZE.boundedTo(room))
        self.state = state
        self._is_painted = self.hides_on_close = False
        self._is_narrow: bool | None = None
        self._heads: dict[QWidget, Callable[[], object]] = {}
        _fill(self, tokens.bg)
        self.setCentralWidget(_outline(tokens))
        geometry = state.bytes_of("geometry")
        if not geometry.isEmpty():
            self.restoreGeometry(geometry)

    def furnish(self, language: "Language", look: "Look") -> None:
        """Add the widgets."""
        from PySide6.QtCore import Qt
        from PySide6.QtWidgets import QFrame, QScrollArea

        from app.gui.commands import written_keys
        from app.gui.navigation.side_bar import SideBar, SideSplitter
        from app.gui.navigation.top_bar import TopBar
        from app.gui.pages.chat.chat_page import ChatPage
        from app.gui.pages.first_page import FirstPage
        from app.gui.widgets.notices import Banner, Toasts

        self.language, self.look = language, look
        language.choose_keys(written_keys(()))
        self.setWindowTitle(language("app.name"))
        self.setPalette(QPalette())
        self.side_bar = SideBar(language, look)
        self.top_bar = TopBar(language, look)
        self.banner = Banner(language, look)
        self.first_page = FirstPage(language, look)
        self.chat_page = ChatPage(language, look, self.first_page)
        self.chat_page.chat_composer.hold(True)
        self.main_area = stack(self.chat_page)
        middle = QWidget()
        vbox(self.top_bar, self.banner, (self.main_area, 1), inside=middle, spacing=0)
        middle.setMinimumWidth(320)
        self.splitter = SideSplitter()
        self.splitter.addWidget(self.side_bar)
        self.splitter.addWidget(middle)
        # The widths of the outline, so that nothing moves until the controllers restore those of the last
        # run.
        self.splitter.setStretchFactor(1, 1)
        self.splitter.set_widths([SIDE_WIDTH])
        self._body = QWidget()
        hbox(self.splitter, inside=self._body)
        self.toasts = Toasts(middle)
        scrolled = QScrollArea(widgetResizable=True)
        scrolled.setFrameShape(QFrame.Shape.NoFrame)
        # The Tab key scrolls to what it focuses.
        scrolled.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scrolled.setWidget(self._body)
        self.setCentralWidget(scrolled)
        self.top_bar.show_session_tools(False)
        self._fit_side()
        self.chat_page.take_focus()

    def areas(self) -> list[QWidget]:
        """Return the parts that are shown: the page with what is above it, notices, the right panel and the
        sidebar.
        """
        parts = (self.splitter.widget(place) for place in range(self.splitter.count()))
        side, middle, *panels = (part for part in parts if part is not None)
        return [area for area in (middle, self.toasts, *panels, side) if area.isVisible()]

    def add_page(self, page: QWidget) -> None:
        """Add a page to the main area."""
        add_page(self.main_area, page)

    def show_page(self, page: QWidget, show_head: Callable[[], object]) -> None:
        """Show a page that is no session's; `show_head` writes what the top bar says of it."""
        self._heads[page] = show_head
        self.show_again(page)

    def show_again(self, page: QWidget) -> None:
        """Show such a page as it was left."""
        self.main_area.setCurrentWidget(page)
        self.top_bar.show_session_tools(False)
        self.side_bar.sessions.select("")
        self._heads[page]()

    def remove_page(self, page: QWidget) -> None:
        """Take a page, which is not in front, out of the main area."""
        self.main_area.removeWidget(page)
        del self._heads[page]

    def show_side(self, shown: bool) -> None:
        """Show or hide the sidebar; a narrow window and a wide one remember it each for itself."""
        self.state.keep("side_narrow" if self._is_narrow else "side", shown)
        self._fit_side()

    def _fit_side(self) -> None:
        """Show the sidebar if it is wanted at this width; without it the page needs less room."""
        self._is_narrow = self.width() < NARROW
        shown = self.state.flag("side_narrow" if self._is_narrow else "side", not self._is_narrow)
        self.side_bar.setVisible(shown)
        self.top_bar.side_button.setVisible(not shown)
        self._body.setMinimumSize(SMALLEST_BODY - QSize(0 if shown else SIDE_WIDTH, 0))
        # In this frame: nothing is painted at a place that it leaves.
        self.splitter.refresh()
        self.splitter.set_widths(self.splitter.widths())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._is_narrow not in (None, self.width() < NARROW):
            self._fit_side()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._is_painted:
            self._is_painted = True
            self.painted.emit()


def _outline(tokens: Tokens) -> QWidget:
    """Return what the window shows before it has widgets.

    Coloured areas instead of a painter, whose first use would import Qt names for 20 ms.
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
