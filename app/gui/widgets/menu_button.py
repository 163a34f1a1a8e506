"""A quiet button that opens a menu over itself, where under it there is no room."""

from PySide6.QtCore import QPoint
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu

from app.gui.display.style import Look
from app.gui.widgets.controls import ShorteningButton

CHEVRON = 14
ROOM = CHEVRON + 6


class MenuButton(ShorteningButton):
    """A flat button with an icon, its words, and a chevron where `chevron` asks for one."""

    def __init__(self, look: Look, icon: str, name: str, *, chevron: bool) -> None:
        super().__init__("menu" if chevron else "plain", name)
        self._look = look
        self._chevron = chevron
        self.choices = QMenu(self)
        self.dress(look, icon)
        self.clicked.connect(self._on_clicked)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._chevron:
            picture = self._look.picture("chevron-down", "text_2", CHEVRON, self.devicePixelRatioF())
            place = QPoint(self.width() - ROOM, (self.height() - CHEVRON) // 2)
            QPainter(self).drawPixmap(place, picture)

    def _on_clicked(self) -> None:
        self.choices.popup(self.mapToGlobal(QPoint(0, -self.choices.sizeHint().height() - 4)))
