"""The box of a chat in which a message is written, with the list of names after an @ and of prompts after a /."""

from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QFocusEvent, QImage, QKeyEvent
from PySide6.QtWidgets import QListWidget, QWidget

from app.core.matching import fits
from app.gui.display.appearance import tall
from app.gui.files.attachments import LONG_PASTE
from app.gui.markdown.utf16 import Utf16Places, units
from app.gui.widgets.controls import ENTER, TextBox

ROW = 32
MOST_ROWS = 6
WIDTH = 240


class NameList(QListWidget):
    """A list of names over a box, without focus; emits name_chosen(name)."""

    name_chosen = Signal(str)

    def __init__(self, box: QWidget) -> None:
        super().__init__(box)
        self.setObjectName("name_list")
        self.setProperty("kind", "names")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._box = box
        self.itemClicked.connect(lambda item: self.name_chosen.emit(item.text()))
        self.hide()

    def offer(self, names: list[str]) -> None:
        """Show these names over the box and choose the first; hide the list if there are none."""
        if not names:
            self.hide()
            return
        if [self.item(row).text() for row in range(self.count())] != names or self.isHidden():
            self.clear()
            self.addItems(names)
            self.choose(0)
        # A child of the window, so that it lies over everything in it.
        self.setParent(self._box.window())
        height = min(MOST_ROWS, len(names)) * tall(ROW) + 10
        corner = self._box.mapTo(self._box.window(), QPoint(-4, -height - 14))
        self.setGeometry(corner.x(), corner.y(), WIDTH, height)
        self.show()
        self.raise_()

    def step(self, step: int) -> None:
        """Choose the next or previous name, wrapping around."""
        self.choose((self.currentRow() + step) % max(1, self.count()))

    def choose(self, row: int) -> None:
        """Choose a name, and let the screen reader at the box say it."""
        self.setCurrentRow(row)
        self._box.setAccessibleDescription(self.chosen)
        event = QAccessibleEvent(self._box, QAccessible.Event.DescriptionChanged)
        QAccessible.updateAccessibility(event)

    @property
    def chosen(self) -> str:
        """The chosen name."""
        return self.item(self.currentRow()).text() if self.count() else ""


class MessageBox(TextBox):
    """A text box that passes on pasted files and pictures as well, and recalls earlier messages with Up.

    Signals: files_given(paths), image_given(picture), escaped() if Escape has no other use, prompt_chosen(name).
    """

    files_given = Signal(object)
    image_given = Signal(object)
    escaped = Signal()
    prompt_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__(longest_paste=LONG_PASTE)
        self._said: list[str] = []
        self._back = 0
        self._names: tuple[str, ...] = ()
        self._prompts: tuple[str, ...] = ()
        self._name_list = NameList(self)
        self._name_list.name_chosen.connect(self._complete)
        self.textChanged.connect(self._offer_names)
        self.cursorPositionChanged.connect(self._offer_names)

    def set_names(self, names: tuple[str, ...]) -> None:
        """Set the names an @ at the beginning can call."""
        self._names = names
        self._offer_names()

    def set_prompts(self, names: tuple[str, ...]) -> None:
        """Set the prompts that a / at the beginning can call."""
        self._prompts = names

    def begin_with(self, name: str) -> None:
        """Insert a call to a member at the beginning of the message."""
        self._complete(name)
        self.setFocus()

    def set_said(self, texts: list[str]) -> None:
        """Set the user's earlier messages, oldest first."""
        # Called often while a chat runs: keep the position in the history.
        if texts != self._said:
            self._said = list(texts)
            self._back = 0

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return source.hasUrls() or source.hasImage() or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        paths = [Path(url.toLocalFile()) for url in source.urls() if url.isLocalFile()]
        if paths:
            self.files_given.emit(paths)
        elif source.hasImage() and isinstance(image := source.imageData(), QImage):
            self.image_given.emit(image)
        else:
            super().insertFromMimeData(source)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}.get(Qt.Key(event.key()), 0)
        plain = not event.modifiers()
        if self._take_name_key(event, step) or (step and plain and self._recall(step)):
            event.accept()
        elif event.key() == Qt.Key.Key_Escape and not self.composing:
            self.escaped.emit()
            event.accept()
        else:
            super().keyPressEvent(event)

    def _recall(self, step: int) -> bool:
        """Show an earlier or later message, if the box is empty or shows an unchanged earlier message."""
        shown = self.toPlainText()
        recalling = self._back > 0 and shown == self._said[-self._back]
        if self.composing or (shown and not recalling):
            return False
        back = (self._back if recalling else 0) + step
        if not 0 <= back <= len(self._said):
            return recalling
        self._back = back
        self.setPlainText(self._said[-back] if back else "")
        self.moveCursor(self.textCursor().MoveOperation.End)
        return True

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._name_list.hide()

    def _take_name_key(self, event: QKeyEvent, step: int) -> bool:
        """Handle a key for the list of names; return whether it was handled."""
        if not self._name_list.isVisible() or self.composing:
            return False
        if step:
            self._name_list.step(-step)
        elif event.key() == Qt.Key.Key_Escape:
            self._name_list.hide()
        elif event.key() in (*ENTER, Qt.Key.Key_Tab) and not event.modifiers():
            self._complete(self._name_list.chosen)
        else:
            return False
        return True

    def _offer_names(self) -> None:
        """Offer the names that begin with the text between @ and cursor, or the prompts that have the words after a /."""
        text = self.toPlainText()
        written = text[: self._cursor_in(text)]
        if written.startswith("/") and "\n" not in written and self.hasFocus():
            self._name_list.offer([name for name in self._prompts if fits(name, written[1:])])
            return
        begun = written[1:].casefold() if written.startswith("@") and self.hasFocus() else None
        fitting = [
            name
            for name in self._names
            if begun is not None and name.casefold().startswith(begun) and name.casefold() != begun.rstrip()
        ]
        self._name_list.offer(fitting)

    def _complete(self, name: str) -> None:
        """Insert or complete the name after the @ at the beginning; after a / call the prompt of that name."""
        text = self.toPlainText()
        if text.startswith("/"):
            self._name_list.hide()
            self.prompt_chosen.emit(name)
            return
        rest = text[self._cursor_in(text) :] if text.startswith("@") else text
        if text.startswith("@"):
            rest = self._without_name(text) if self._named(text) else rest
        self.setPlainText(f"@{name} {rest.lstrip()}")
        cursor = self.textCursor()
        cursor.setPosition(units(name) + 2)
        self.setTextCursor(cursor)
        self._name_list.hide()

    def _cursor_in(self, text: str) -> int:
        """Return the number of characters before the cursor."""
        return Utf16Places(text).from_qt(self.textCursor().position())

    def _named(self, text: str) -> str:
        """Return the name a message calls, "" for none."""
        found = [name for name in self._names if text[1:].casefold().startswith(name.casefold())]
        return max(found, key=len, default="")

    def _without_name(self, text: str) -> str:
        return text[1 + len(self._named(text)) :]
