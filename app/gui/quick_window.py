"""The small window of the quick chat, over all others: one chat page, and the way to the main window."""

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QHideEvent, QKeyEvent
from PySide6.QtWidgets import QWidget

from app.gui.display.appearance import Language, Look
from app.gui.pages.chat.chat_page import ChatPage
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.controls import button
from app.gui.widgets.notices import Toasts
from app.gui.widgets.text import say
from app.gui.window_frame import AppWindow, WindowState

SIZE, SMALLEST = QSize(560, 560), QSize(520, 440)


class QuickWindow(AppWindow):
    """Shows one chat; closing it or Escape only hides it.

    Signals: new_requested(), main_requested() to go on in the main window, came() and left() as it is used or
    not.
    """

    new_requested = Signal()
    main_requested = Signal()
    came = Signal()
    left = Signal()

    def __init__(self, language: Language, look: Look, state: WindowState) -> None:
        super().__init__()
        self.language, self.look, self.state = language, look, state
        self.setObjectName("quick_window")
        self.setWindowFlag(Qt.WindowType.WindowStaysOnTopHint)
        self.page = ChatPage(language, look)
        # An object name exists once, and the page of the main window has the same.
        for child in self.page.findChildren(QWidget):
            if child.objectName() and not child.objectName().startswith("qt_"):
                child.setObjectName(f"quick_{child.objectName()}")
        self.page.chat_composer.pass_escape()
        self.page.chat_composer.escaped.connect(self.hide)
        new = say(button("link", "quick_new", self.new_requested), language, "palette.new_chat")
        self.main = say(button("link", "quick_main", self.main_requested), language, "quick.main")
        body = QWidget()
        bar = hbox(new, STRETCH, self.main, margins=(16, 8, 16, 0))
        vbox(bar, (self.page, 1), inside=body, spacing=0)
        self.toasts = Toasts(body)
        self.setCentralWidget(body)
        self.setMinimumSize(SMALLEST)
        self.resize(SIZE)
        language.follow(self._retranslate)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.hide()
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        event.ignore()
        self.hide()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.left.emit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange:
            (self.came if self.isActiveWindow() else self.left).emit()

    def _retranslate(self) -> None:
        self.setWindowTitle(self.language("quick.title"))
