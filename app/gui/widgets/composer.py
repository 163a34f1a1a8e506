"""The framed box in which the user writes, with what sends it; and search fields.

These are a box, a pop-up with one, the button that opens the palette, and the bar that finds text in a
session.
"""

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QLineEdit, QWidget

from app.gui.display.appearance import Language, Look
from app.gui.widgets.boxes import Frame, hbox, vbox
from app.gui.widgets.controls import ICON, ShorteningButton, TextBox, button, icon_button, paint_shortcut
from app.gui.widgets.text import ElidedLabel, name_button, named, plain_label, plain_tip, restyle, say


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
        super().__init__(clearButtonEnabled=True)
        self._look = look
        self.setObjectName(name)
        self.setProperty("kind", "search")
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
        self._language, find = language, "discussion.find"
        self._box = say(named("find_box", QLineEdit()), language, name=find, hint=find)
        self._count = plain_label("hint")
        self._counted = (0, 0)
        before = icon_button(look, "chevron-up", "find_previous", lambda: self.step_requested.emit(-1))
        after = icon_button(look, "chevron-down", "find_next", lambda: self.step_requested.emit(1))
        close = icon_button(look, "x", "find_close", self.leave)
        self._tools = before, after, close
        hbox((self._box, 1), self._count, *self._tools, inside=self, margins=(18, 2, 12, 4), spacing=4)
        self._box.textChanged.connect(self.text_changed)
        language.follow(self._retranslate)
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
        self._retranslate()

    def _retranslate(self) -> None:
        words, (number, count) = self._language, self._counted
        self._count.setText(words("find.count", number=number, count=count) if self._box.text() else "")
        tips = words("find.previous"), words("find.next"), words("find.close")
        for tool, tip, keys in zip(self._tools, tips, ("Shift+Enter", "Enter", "Esc"), strict=True):
            name_button(tool, tip, keys)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            back = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
            self.step_requested.emit(-1 if back else 1)
        else:
            super().keyPressEvent(event)


class Composer(Frame):
    """A framed box with a hint and a send button; emits `submitted` with the text, and clears the box."""

    submitted = Signal(str)
    text_changed = Signal()

    def __init__(self, look: Look, *, box_name: str, button_name: str, box: TextBox | None = None) -> None:
        """`box` replaces the plain text box."""
        super().__init__("composer")
        self.box = named(box_name, box or TextBox())
        self._hint = ElidedLabel("hint")
        self.send = button("send", button_name).dress(look, "arrow-up", "on_accent", side=17, room=0)
        self.send.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        self.send.setFixedSize(34, 27)
        self.foot = hbox((self._hint, 1), self.send, margins=(2, 0, 0, 0))
        self.column = vbox(self.box, self.foot, inside=self, margins=(12, 9, 10, 10), spacing=8)
        self._in_row, self._whole = False, ""
        self.setFocusProxy(self.box)
        self.box.submitted.connect(self._on_submitted)
        self.box.textChanged.connect(self._on_text_changed)
        self.box.focus_changed.connect(self._on_focus_changed)
        # The button is disabled once the box is empty: the focus would jump to any other button.
        self.send.clicked.connect(lambda: self.box.setFocus())
        self.send.clicked.connect(self._on_submitted)
        self._on_text_changed()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        # A click anywhere in the frame focuses the box.
        self.box.setFocus()

    def put_in_one_row(self) -> QBoxLayout:
        """Put the button beside the box, and the hint into it; return the row."""
        self._in_row = True
        self._hint.hide()
        self.box.setMinimumWidth(60)
        self.column.setContentsMargins(4, 5, 6, 5)
        self.column.removeWidget(self.box)
        self.column.removeItem(self.foot)
        row = hbox((self.box, 1), self.foot, spacing=8)
        row.setAlignment(self.foot, Qt.AlignmentFlag.AlignBottom)
        self.column.addLayout(row)
        return row

    def set_words(self, placeholder: str, hint: str, send: str) -> None:
        """Set the placeholder of the box, the hint under it and the name of the button."""
        if self._in_row:
            self._whole = " · ".join(filter(None, (placeholder, hint)))
            self._fit_words()
        else:
            self.box.setAccessibleName(placeholder)
            self._hint.setText(hint)
            self._place(placeholder)
        name_button(self.send, send)

    def _place(self, text: str) -> None:
        self.box.setPlaceholderText(text)
        # Qt does not repaint a placeholder whose text changes.
        self.box.viewport().update()

    def _fit_words(self) -> None:
        """Show as much of what stands in the empty box as one line has room for."""
        room = self.box.viewport().width() - 8
        shown = self.box.fontMetrics().elidedText(self._whole, Qt.TextElideMode.ElideRight, room)
        self._place(shown)
        self.box.setAccessibleName(self._whole)
        self.box.setToolTip(plain_tip(self._whole) if shown != self._whole else "")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._in_row:
            self._fit_words()

    def _on_submitted(self) -> None:
        if (text := self.box.text()) and self.send.isEnabled():
            self.box.clear()
            self.submitted.emit(text)

    def _on_text_changed(self) -> None:
        self.send.setEnabled(bool(self.box.text()))
        self.text_changed.emit()

    def _on_focus_changed(self, focused: bool) -> None:
        restyle(self, focused=focused)
