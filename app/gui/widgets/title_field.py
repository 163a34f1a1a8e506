"""The title of what is open: a line that can be written anew where it is asked to be."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from app.gui.widgets.label import ElidedLabel

MOST_CHARACTERS = 200


class TitleBox(QLineEdit):
    """The box a title is written in; `left` when the user gives it up."""

    left = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.left.emit()


class TitleField(QWidget):
    """A title, shortened where it does not fit; a double click or F2 edits it. Emits `renamed`."""

    renamed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._can_rename = False
        self._label = ElidedLabel("title")
        self._label.setObjectName("session_title")
        self._box = TitleBox()
        self._box.setObjectName("title_box")
        self._box.setMaxLength(MOST_CHARACTERS)
        self._box.setMinimumWidth(260)
        self._box.hide()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._label)
        row.addWidget(self._box)
        self._box.returnPressed.connect(self._on_written)
        self._box.left.connect(self.end)

    def text(self) -> str:
        """Return the whole title."""
        return self._label.text()

    def show_title(self, title: str, *, can_rename: bool) -> None:
        """Show a title."""
        self._can_rename = can_rename
        self._label.setText(title)

    def edit(self) -> None:
        """Let the user write another, where it can be renamed."""
        if self._can_rename:
            self._box.setText(self.text())
            self._box.setAccessibleName(self.text())
            self._label.hide()
            self._box.show()
            self._box.setFocus()
            self._box.selectAll()

    def end(self) -> None:
        """Show the title again."""
        self._box.hide()
        self._label.show()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.edit()

    def _on_written(self) -> None:
        title = self._box.text().strip()
        self.end()
        if title and title != self.text():
            self.renamed.emit(title)
