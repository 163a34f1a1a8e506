"""The framed box in which the user writes, with what sends it."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame

from app.gui.display.appearance import Look
from app.gui.widgets.boxes import hbox, vbox
from app.gui.widgets.controls import TextBox, button
from app.gui.widgets.text import ElidedLabel, name_button, named, plain_tip, restyle

LEAST_BOX = 60


class Composer(QFrame):
    """A framed box with a hint and a send button; emits `submitted` with the text, and clears the box."""

    submitted = Signal(str)
    text_changed = Signal()

    def __init__(self, look: Look, *, box_name: str, button_name: str, box: TextBox | None = None) -> None:
        """`box` replaces the plain text box."""
        super().__init__()
        self.setProperty("kind", "composer")
        self.box = named(box_name, box or TextBox())
        self._hint = ElidedLabel("hint")
        self.send = button("send", button_name)
        self.send.dress(look, "arrow-up", "on_accent", side=17, room=0)
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
        self.box.setMinimumWidth(LEAST_BOX)
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
        text = self.box.text()
        if text and self.send.isEnabled():
            self.box.clear()
            self.submitted.emit(text)

    def _on_text_changed(self) -> None:
        self.send.setEnabled(bool(self.box.text()))
        self.text_changed.emit()

    def _on_focus_changed(self, focused: bool) -> None:
        restyle(self, focused=focused)
