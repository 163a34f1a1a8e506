"""A row of a list whose text can be edited in place, dragged or moved up and down, and removed."""

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QApplication, QFrame

from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.widgets.composer import ENTER, TextBox
from app.gui.widgets.controls import bring_into_sight, icon_button, name_button

EDITS = (*ENTER, Qt.Key.Key_F2)
STEPS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}


class EditBox(TextBox):
    """The box a row is edited in; emits `cancelled` on Escape."""

    cancelled = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and not self.composing:
            self.cancelled.emit()
        else:
            super().keyPressEvent(event)

    def show_text(self, text: str) -> None:
        """Show a text, with the cursor at its end."""
        self.setPlainText(text)
        self.moveCursor(self.textCursor().MoveOperation.End)


class EditableRow(QFrame):
    """The row with its box and its four buttons, `tools`. Emits moved(step) and removed()."""

    moved = Signal(int)
    removed = Signal()

    def __init__(self, language: Language, look: Look, name: str, *, side: int, most: int) -> None:
        """`side` is that of a button in pixels, `most` the largest number of lines of the box."""
        super().__init__()
        self._language = language
        self._pressed: QPoint | None = None
        self._from: int | None = None
        self._box = EditBox(lines=1, most=most)
        self._box.setObjectName(f"{name}_edit_box")
        self._box.hide()
        self.edit = icon_button(look, "pencil", f"{name}_edit")
        self.up = icon_button(look, "chevron-up", f"{name}_up")
        self.down = icon_button(look, "chevron-down", f"{name}_down")
        self.remove = icon_button(look, "x", f"{name}_remove")
        self.tools = (self.edit, self.up, self.down, self.remove)
        for tool in self.tools:
            tool.setFixedSize(side, side)
        self.edit.clicked.connect(
            lambda: self._begin() if self._box.isHidden() else self._box.submitted.emit()
        )
        self.up.clicked.connect(lambda: self.moved.emit(-1))
        self.down.clicked.connect(lambda: self.moved.emit(1))
        self.remove.clicked.connect(self.removed)

    @property
    def box(self) -> EditBox:
        """The box the text is edited in."""
        return self._box

    def _show_tools(self, edit: str, remove: str, *, first: bool, last: bool) -> None:
        """Name the buttons; `edit` and `remove` are keys of texts."""
        self.up.setEnabled(not first)
        self.down.setEnabled(not last)
        texts = ((edit, "Enter"), ("queue.up", "Alt+Up"), ("queue.down", "Alt+Down"), (remove, "Del"))
        for tool, (key, shortcut) in zip(self.tools, texts, strict=True):
            name_button(tool, self._language(key), shortcut)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and event.key() == Qt.Key.Key_F2:  # type: ignore[attr-defined]
            # The window uses F2 too.
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in STEPS and event.modifiers() & Qt.KeyboardModifier.AltModifier:
            self.moved.emit(STEPS[key])
        elif key == Qt.Key.Key_Delete:
            self.removed.emit()
        elif key in EDITS and not event.isAutoRepeat():
            self._begin()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        drags = event.button() == Qt.MouseButton.LeftButton and self._box.isHidden()
        self._pressed = event.position().toPoint() if drags else None
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed is None:
            return
        point = event.position().toPoint()
        if self._from is None:
            if abs(point.y() - self._pressed.y()) < QApplication.startDragDistance():
                return
            self._from = self._place()
            self.raise_()
        self.move(self.x(), self.mapToParent(point).y() - self._pressed.y())
        bring_into_sight(self)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        before, self._pressed, self._from = self._from, None, None
        if before is not None:
            step = self._place() - before
            self.parentWidget().layout().invalidate()
            self.parentWidget().layout().activate()
            if step:
                self.moved.emit(step)
        super().mouseReleaseEvent(event)

    def _place(self) -> int:
        """Return how many rows of the list are above this one."""
        rows = [
            one for one in self.parentWidget().findChildren(EditableRow) if one.isVisibleTo(self.window())
        ]
        middle = self.geometry().center().y()
        return sum(one is not self and one.geometry().center().y() < middle for one in rows)

    def _begin(self) -> None:
        """Begin to edit."""
        raise NotImplementedError
