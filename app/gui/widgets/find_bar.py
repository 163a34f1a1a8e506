"""The bar that finds words in the session shown (Ctrl+F); used over a transcript."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit

from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.widgets.controls import icon_button, name_button
from app.gui.widgets.label import plain_label


class FindBar(QFrame):
    """A box for words and the way to the next and the last place; hidden until it is opened."""

    text_changed = Signal(str)
    step_requested = Signal(int)
    closed = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self._language = language
        self._box = QLineEdit()
        self._box.setObjectName("find_box")
        self._count = plain_label("hint")
        self._previous = icon_button(look, "chevron-up", "find_previous")
        self._next = icon_button(look, "chevron-down", "find_next")
        self._close = icon_button(look, "x", "find_close")
        row = QHBoxLayout(self)
        row.setContentsMargins(18, 2, 12, 4)
        row.setSpacing(4)
        row.addWidget(self._box, 1)
        for widget in (self._count, self._previous, self._next, self._close):
            row.addWidget(widget)
        self._box.textChanged.connect(self.text_changed)
        self._previous.clicked.connect(lambda: self.step_requested.emit(-1))
        self._next.clicked.connect(lambda: self.step_requested.emit(1))
        self._close.clicked.connect(self.leave)
        language.changed.connect(self._retranslate)
        self._retranslate()
        self.hide()

    def come(self) -> None:
        """Open, ready to type."""
        self.show()
        self._box.setFocus()
        self._box.selectAll()
        self.text_changed.emit(self._box.text())

    def leave(self) -> None:
        """Close and mark nothing any more."""
        self.hide()
        self.text_changed.emit("")
        self.closed.emit()

    def show_count(self, number: int, count: int) -> None:
        """Say which place of how many is shown."""
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

    def _retranslate(self) -> None:
        self._box.setPlaceholderText(self._language("discussion.find"))
        self._box.setAccessibleName(self._language("discussion.find"))
        name_button(self._previous, self._language("find.previous"), "Shift+Enter")
        name_button(self._next, self._language("find.next"), "Enter")
        name_button(self._close, self._language("find.close"), "Esc")
