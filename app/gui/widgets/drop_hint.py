"""Shows, while files are dragged over a page, that they can be dropped anywhere on it."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QMimeData, QObject, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QWidget

from app.gui.display.style import Look, sized, tall

EDGE = 10


class DropHint(QWidget):
    """Covers a page while acceptable data is dragged over it; emits dropped(data)."""

    dropped = Signal(QMimeData)

    def __init__(
        self, look: Look, page: QWidget, over: Sequence[QWidget], takes: Callable[[QMimeData], bool]
    ) -> None:
        """`over` are the parts of the page that accept drops themselves."""
        super().__init__(page)
        self.setObjectName("drop_hint")
        self._look, self._page, self._takes = look, page, takes
        self._watched = (page, *over)
        self.words = ""
        self.setAcceptDrops(True)
        page.setAcceptDrops(True)
        for widget in self._watched:
            widget.installEventFilter(self)
        self.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched in self._watched and isinstance(event, QDragEnterEvent) and self._takes(event.mimeData()):
            self.setGeometry(self._page.rect())
            self.show()
            self.raise_()
            event.acceptProposedAction()
            return True
        if event.type() == QEvent.Type.DragLeave:
            # Left the window, or moved on to this widget, which shows itself again.
            self.hide()
        if watched is self._page and event.type() == QEvent.Type.Resize:
            self.setGeometry(self._page.rect())
        return super().eventFilter(watched, event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        self.show()
        event.acceptProposedAction()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        event.acceptProposedAction()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        self.hide()
        event.acceptProposedAction()
        self.dropped.emit(event.mimeData())

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens = self._look.tokens
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        veil = QColor(tokens.bg)
        veil.setAlpha(215)
        painter.fillRect(self.rect(), veil)
        painter.setPen(QPen(QColor(tokens.accent), 2, Qt.PenStyle.DashLine))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(EDGE, EDGE, -EDGE, -EDGE), 12, 12)
        painter.setFont(sized(self.font(), 15, 560))
        wrapped = int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap)
        room = self.rect().adjusted(3 * EDGE, 3 * EDGE, -3 * EDGE, -3 * EDGE)
        text = painter.boundingRect(room, wrapped, self.words)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens.accent_bg))
        margin = tall(12)
        box = QRect(text).adjusted(-2 * margin, -margin, 2 * margin, margin)
        painter.drawRoundedRect(box, 10, 10)
        painter.setPen(QColor(tokens.accent))
        painter.drawText(text, wrapped, self.words)
