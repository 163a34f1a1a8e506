"""What the window tells without being asked: a sticky banner, and toasts that leave by themselves."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.gui.i18n import Language
from app.gui.style import Look
from app.gui.widgets.controls import button, icon_button, name_button
from app.gui.widgets.label import plain_label

TOAST_MS = 8_000
MOST_TOASTS = 3
UNDER_TOP_BAR = 62


class Toast(QFrame):
    """One message, with at most one action."""

    def __init__(self, text: str, action: str, act: Callable[[], None] | None, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("toast")
        self.setProperty("kind", "toast")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        label = plain_label(wrap=True)
        label.setText(text)
        self.setAccessibleName(text)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 9, 10, 9)
        row.setSpacing(14)
        row.addWidget(label, 1)
        if act is not None:
            undo = button("", "toast_action")
            undo.setText(action)
            undo.clicked.connect(lambda: act())
            undo.clicked.connect(self.leave)
            row.addWidget(undo)
        width = min(460, label.fontMetrics().horizontalAdvance(text) + (130 if act else 50))
        self.setFixedWidth(max(220, width))
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.leave)
        self._timer.start(TOAST_MS)

    def leave(self) -> None:
        """Go away now."""
        self._timer.stop()
        self.hide()
        self.deleteLater()

    def enterEvent(self, event: QEvent) -> None:
        self._timer.stop()

    def leaveEvent(self, event: QEvent) -> None:
        self._timer.start(TOAST_MS)


class Toasts(QWidget):
    """Stacks toasts under the top bar of the widget it is given: at its foot stands where one writes and sends."""

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self._over = over
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        over.installEventFilter(self)
        self.hide()

    def show_toast(self, text: str, action: str = "", act: Callable[[], None] | None = None) -> None:
        """Show a message for some seconds; `act` is called when its action is chosen."""
        while self._column.count() >= MOST_TOASTS:
            oldest = self._column.takeAt(0).widget()
            oldest.hide()
            oldest.deleteLater()
        toast = Toast(text, action, act, self)
        toast.destroyed.connect(self._place)
        self._column.addWidget(toast)
        # The layout would show it later, and count it as nothing until then.
        toast.show()
        self.show()
        self._place()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._place()
        return False

    def _place(self) -> None:
        if self._column.count() == 0:
            self.hide()
            return
        self.adjustSize()
        self.move((self._over.width() - self.width()) // 2, UNDER_TOP_BAR)
        self.raise_()


class Banner(QFrame):
    """A line across the window that stays until it is closed: only where work may be lost."""

    closed = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self.setObjectName("notice_banner")
        self.setProperty("kind", "banner")
        self.setProperty("tone", "error")
        self._language = language
        self._label = plain_label(wrap=True)
        self._close = icon_button(look, "x", "notice_close")
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 6, 8, 6)
        row.addWidget(self._label, 1)
        row.addWidget(self._close)
        self._close.clicked.connect(self._on_close)
        language.changed.connect(self._retranslate)
        self._retranslate()
        self.hide()

    def show_text(self, text: str) -> None:
        """Say `text` until it is closed."""
        self._label.setText(text)
        self.setAccessibleName(text)
        self.show()

    def text(self) -> str:
        """Return what it says."""
        return self._label.text()

    def _on_close(self) -> None:
        self.hide()
        self.closed.emit()

    def _retranslate(self) -> None:
        name_button(self._close, self._language("notice.dismiss"))
