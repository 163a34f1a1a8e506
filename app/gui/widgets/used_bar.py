"""A thin bar that says how much of something is used."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.gui.display.style import Look

HEIGHT = 6
NEARLY = 0.8


class UsedBar(QWidget):
    """Fills from the left; another colour when nearly all is used, and when all is."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._part = 0.0
        self.setFixedHeight(HEIGHT)
        look.changed.connect(self.update)

    def show_part(self, part: float) -> None:
        """Show how much is used, as a part of 1."""
        self._part = min(1.0, max(0.0, part))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens = self._look.tokens
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        room = QRectF(self.rect())
        painter.setBrush(QColor(tokens.line))
        painter.drawRoundedRect(room, HEIGHT / 2, HEIGHT / 2)
        if self._part:
            colour = (
                tokens.error if self._part >= 1 else tokens.warn if self._part >= NEARLY else tokens.accent
            )
            painter.setBrush(QColor(colour))
            room.setWidth(max(HEIGHT, room.width() * self._part))
            painter.drawRoundedRect(room, HEIGHT / 2, HEIGHT / 2)
