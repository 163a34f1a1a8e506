"""The pill over a transcript that leads back to its end and counts what came since."""

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QWidget

from app.gui.display.style import sized, tall
from app.gui.display.theme import Tokens


class JumpPill(QAbstractButton):
    """A rounded button painted by hand, cheap enough to be painted with every scroll step."""

    def __init__(self, parent: QWidget, tokens: Tokens) -> None:
        super().__init__(parent)
        self._tokens = tokens
        self.setFont(sized(self.font(), 12))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()

    def set_theme(self, tokens: Tokens) -> None:
        """Paint in another theme."""
        self._tokens = tokens
        self.setFont(sized(self.font(), 12))
        self.place()
        self.update()

    def say(self, words: str) -> None:
        """Show words and take the room they need."""
        if words != self.text():
            self.setText(words)
            self.setAccessibleName(words)
            self.place()

    def place(self) -> None:
        """Stand at the middle of the parent's lower edge."""
        box = QRect(QPoint(), self.sizeHint())
        parent = self.parentWidget()
        box.moveCenter(QPoint(parent.width() // 2, 0))
        box.moveBottom(parent.height() - 10)
        self.setGeometry(box)

    def sizeHint(self) -> QSize:
        return QSize(self.fontMetrics().horizontalAdvance(self.text()) + 46, tall(30))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(QColor(self._tokens.line_strong))
        painter.setBrush(QColor(self._tokens.accent_bg if self.underMouse() else self._tokens.surface))
        painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
        painter.setPen(QColor(self._tokens.accent))
        painter.drawText(self.rect().adjusted(26, 0, -10, 0), int(Qt.AlignmentFlag.AlignCenter), self.text())
        x, y = 20.0, box.center().y()
        painter.drawLine(round(x), round(y - 5), round(x), round(y + 5))
        painter.drawLine(round(x - 4), round(y + 1), round(x), round(y + 5))
        painter.drawLine(round(x + 4), round(y + 1), round(x), round(y + 5))
