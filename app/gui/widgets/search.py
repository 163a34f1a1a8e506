"""Search fields: a box, a pop-up with one, the button that opens the palette, and the bar that finds text in a session."""

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QWidget

from app.gui.display.appearance import Language, Look
from app.gui.widgets.boxes import hbox
from app.gui.widgets.controls import ICON, ShorteningButton, icon_button, paint_shortcut
from app.gui.widgets.text import named, plain_label, say


class SearchField(ShorteningButton):
    """The button of the sidebar that opens the palette; emits `typed` with the first letter typed at it."""

    typed = Signal(str)

    def __init__(self, look: Look, name: str) -> None:
        super().__init__("search", name)
        self._look = look
        self._shortcut = ""
        self.dress(look, "search", side=16, room=6)
        self.clicked.connect(lambda: self.typed.emit(""))

    def set_keys(self, shortcut: str) -> None:
        """Show the shortcut at the right."""
        self._shortcut = shortcut
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        text = event.text()
        if text.strip() and text.isprintable():
            self.typed.emit(text)
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        metrics = self.fontMetrics()
        words = metrics.horizontalAdvance(self.text()) + metrics.horizontalAdvance(self._shortcut)
        if words <= self.width() - 60:
            paint_shortcut(QPainter(self), self._look, self.rect().adjusted(0, 0, -9, 0), self._shortcut)


class SearchBox(QLineEdit):
    """A box to search in, with a magnifying glass; Escape clears it."""

    def __init__(self, look: Look, name: str) -> None:
        super().__init__()
        self._look = look
        self.setObjectName(name)
        self.setProperty("kind", "search")
        self.setClearButtonEnabled(True)
        self.setTextMargins(24, 0, 0, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        picture = self._look.picture("search", "text_2", ICON - 1, self.devicePixelRatioF())
        QPainter(self).drawPixmap(9, (self.height() - ICON + 1) // 2, picture)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)


class SearchPopUp(QFrame):
    """A list that opens below a button, with a search box above it."""

    def __init__(self, search: SearchBox, name: str, size: QSize, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("kind", "list_popup")
        self.setObjectName(name)
        self.setFixedSize(size)
        self.search = search

    def open_below(self, under: QWidget, *, right: bool = False) -> None:
        """Open below a widget, at its left or `right` end, or where the screen has room; focus the search."""
        room = under.screen().availableGeometry()
        corner = under.mapToGlobal(QPoint(under.width() - self.width() if right else 0, under.height() + 4))
        x = min(corner.x(), room.right() - self.width())
        y = min(corner.y(), room.bottom() - self.height())
        self.move(max(room.left(), x), max(room.top(), y))
        self.show()
        self.search.setFocus(Qt.FocusReason.PopupFocusReason)


class FindBar(QFrame):
    """A box for text, and buttons to the next and previous match; hidden until it is opened."""

    text_changed = Signal(str)
    step_requested = Signal(int)
    closed = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self._language = language
        self._box = say(
            named("find_box", QLineEdit()), language, name="discussion.find", hint="discussion.find"
        )
        self._count = plain_label("hint")
        self._counted = (0, 0)
        tools = [
            say(icon_button(look, icon, f"find_{name}", act), language, tip=f"find.{name}", keys=keys)
            for icon, name, act, keys in (
                ("chevron-up", "previous", lambda: self.step_requested.emit(-1), "Shift+Enter"),
                ("chevron-down", "next", lambda: self.step_requested.emit(1), "Enter"),
                ("x", "close", self.leave, "Esc"),
            )
        ]
        hbox((self._box, 1), self._count, *tools, inside=self, margins=(18, 2, 12, 4), spacing=4)
        self._box.textChanged.connect(self.text_changed)
        language.changed.connect(self._say_count)
        self.hide()

    def come(self) -> None:
        """Open and focus the box."""
        self.show()
        self._box.setFocus()
        self._box.selectAll()
        self.find_again()

    def find_again(self) -> None:
        """Let the text be found in what is shown by now, if the bar is open."""
        if not self.isHidden():
            self.text_changed.emit(self._box.text())

    def leave(self) -> None:
        """Close and remove the marks."""
        self.hide()
        self.text_changed.emit("")
        self.closed.emit()

    def show_count(self, number: int, count: int) -> None:
        """Show the number of the current match and of all."""
        self._counted = (number, count)
        self._say_count()

    def _say_count(self) -> None:
        number, count = self._counted
        self._count.setText(
            self._language("find.count", number=number, count=count) if self._box.text() else ""
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            back = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
            self.step_requested.emit(-1 if back else 1)
        else:
            super().keyPressEvent(event)
