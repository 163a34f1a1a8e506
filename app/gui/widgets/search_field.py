"""The field of the side bar that opens the palette: looks like a search box, is a button."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent

from app.gui.display.style import Look
from app.gui.widgets.controls import ShorteningButton, paint_shortcut


class SearchField(ShorteningButton):
    """Opens the search; emits `typed` with the first letter where someone types at it."""

    typed = Signal(str)

    def __init__(self, look: Look, name: str) -> None:
        super().__init__("search", name)
        self._look = look
        self._shortcut = ""
        self.dress(look, "search", side=16, room=6)
        self.clicked.connect(lambda: self.typed.emit(""))

    def set_keys(self, shortcut: str) -> None:
        """Show these keys at the right."""
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
