"""The box of a chat's composer: takes files and pictures as well as text, and remembers what was said."""

from pathlib import Path

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtGui import QImage, QKeyEvent

from app.gui.attachments import LONG_PASTE
from app.gui.widgets.composer import TextBox


class MessageBox(TextBox):
    """A text box that hands on what is no text to write, and brings back earlier messages with Up.

    Signals: files_given(paths), image_given(picture), long_text_given(text), escaped() when Escape
    has nothing to do here.
    """

    files_given = Signal(object)
    image_given = Signal(object)
    long_text_given = Signal(str)
    escaped = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._said: list[str] = []
        self._back = 0

    def set_said(self, texts: list[str]) -> None:
        """Know the user's own messages, oldest first."""
        # Told again and again while a chat runs: who is looking back keeps their place.
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
        elif len(source.text()) > LONG_PASTE:
            self.long_text_given.emit(source.text())
        else:
            super().insertFromMimeData(source)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}.get(Qt.Key(event.key()), 0)
        if step and not event.modifiers() and self._recall(step):
            event.accept()
        elif event.key() == Qt.Key.Key_Escape and not self.composing:
            self.escaped.emit()
            event.accept()
        else:
            super().keyPressEvent(event)

    def _recall(self, step: int) -> bool:
        """Show an earlier or later message, while the box is empty or shows one as it was said."""
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
