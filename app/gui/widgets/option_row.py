"""One of several answers to choose from: a tick, the words in as many lines as they need, and its number key."""

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy

from app.gui.display.style import Look, sized

LEFT = 36
RIGHT = 46
AIR = 9
TICK = 16
WRAP = int(Qt.TextFlag.TextWordWrap) | int(Qt.AlignmentFlag.AlignVCenter)


class OptionRow(QAbstractButton):
    """A row that is chosen with a click or its number; its text is never read as a format."""

    def __init__(self, look: Look, text: str, number: int) -> None:
        super().__init__()
        self._look = look
        self._words = text
        self._number = str(number) if number <= 9 else ""
        self.setObjectName(f"prompt_option_{number}")
        self.setAccessibleName(text)
        self.setCheckable(True)
        self.setAutoExclusive(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        look.changed.connect(self.update)

    def set_words(self, words: str) -> None:
        """Say the same in other words."""
        self._words = words
        self.setAccessibleName(words)
        self.updateGeometry()
        self.update()

    def words(self) -> str:
        """Return the answer it stands for."""
        return self._words

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        room = QRect(0, 0, max(40, width - LEFT - RIGHT), 10_000)
        return QFontMetrics(self.font()).boundingRect(room, WRAP, self._words).height() + 2 * AIR

    def sizeHint(self) -> QSize:
        return QSize(320, self.heightForWidth(max(320, self.width())))

    def minimumSizeHint(self) -> QSize:
        return QSize(120, QFontMetrics(self.font()).height() + 2 * AIR)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens = self._look.tokens
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        on = self.isChecked()
        border = tokens.accent if on or self.hasFocus() else tokens.edge
        painter.setPen(QPen(QColor(border), 1.5 if self.hasFocus() else 1))
        painter.setBrush(
            QColor(tokens.accent_bg if on else tokens.hover if self.underMouse() else tokens.surface)
        )
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 8, 8)
        self._paint_tick(painter, on)
        painter.setPen(QColor(tokens.text))
        painter.setFont(self.font())
        painter.drawText(self.rect().adjusted(LEFT, 0, -RIGHT, 0), WRAP, self._words)
        if self._number:
            self._paint_number(painter)

    def _paint_tick(self, painter: QPainter, on: bool) -> None:
        tokens = self._look.tokens
        box = QRectF(12.5, (self.height() - TICK) / 2 + 0.5, TICK - 1, TICK - 1)
        painter.setPen(QPen(QColor(tokens.accent if on else tokens.edge), 1))
        painter.setBrush(QColor(tokens.accent if on else tokens.surface))
        painter.drawRoundedRect(box, 4.5, 4.5)
        if on:
            pen = QPen(QColor(tokens.on_accent), 1.8)
            pen.setCapStyle(Qt.PenCapStyle.RoundCap)
            painter.setPen(pen)
            points = ((3.8, 7.9), (6.6, 10.6), (11.4, 4.9))
            painter.drawPolyline([QPointF(box.left() + x, box.top() + y) for x, y in points])

    def _paint_number(self, painter: QPainter) -> None:
        tokens = self._look.tokens
        key = QRectF(self.width() - 31.5, (self.height() - 17) / 2, 19, 17)
        painter.setPen(QPen(QColor(tokens.line_strong), 1))
        painter.setBrush(QColor(tokens.surface))
        painter.drawRoundedRect(key, 4, 4)
        painter.setPen(QColor(tokens.text_2))
        painter.setFont(sized(self.font(), 11))
        painter.drawText(key, Qt.AlignmentFlag.AlignCenter, self._number)
