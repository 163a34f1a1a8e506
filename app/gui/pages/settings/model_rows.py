"""The list of models in the settings: headings of providers, and under each its models with their ticks."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.core.text import visible
from app.gui.display.style import Look, sized, tall
from app.gui.widgets.controls import TICK, paint_tick

ROW_HEIGHT = 32
HEADING_HEIGHT = 38
PROVIDER = Qt.ItemDataRole.UserRole
MODEL = Qt.ItemDataRole.UserRole + 1
NOTE = Qt.ItemDataRole.UserRole + 2
TICKED = Qt.ItemDataRole.UserRole + 3
_TICK_ROOM = 36


class ModelRows(QListWidget):
    """The rows; emits `ticked` for one whose tick was clicked, or that Space was pressed on."""

    ticked = Signal(QListWidgetItem)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setItemDelegate(_ModelDelegate(look, self))
        self.setObjectName("models_list")
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space and self.currentRow() >= 0:
            self.ticked.emit(self.currentItem())
        else:
            super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        point = event.position().toPoint()
        row = self.indexAt(point).row()
        if row >= 0 and point.x() - self.visualItemRect(self.item(row)).left() < _TICK_ROOM:
            self.ticked.emit(self.item(row))


class _ModelDelegate(QStyledItemDelegate):
    """Paints a row without MODEL as a heading; NOTE is the quiet text at the right."""

    def __init__(self, look: Look, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(80, tall(ROW_HEIGHT if index.data(MODEL) else HEADING_HEIGHT))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        tokens = self._look.tokens
        rect: QRect = option.rect
        model = bool(index.data(MODEL))
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        selected = model and bool(option.state & QStyle.StateFlag.State_Selected)
        focused = bool(option.state & QStyle.StateFlag.State_HasFocus)
        if focused or (model and (selected or option.state & QStyle.StateFlag.State_MouseOver)):
            painter.setPen(QColor(tokens.accent) if focused else Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.accent_bg if selected else tokens.hover))
            painter.drawRoundedRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5), 7, 7)
        if model:
            box = QRectF(rect.left() + 10.5, rect.center().y() - TICK / 2 + 1.5, TICK - 1, TICK - 1)
            paint_tick(painter, self._look, box, bool(index.data(TICKED)))
        room = rect.adjusted(_TICK_ROOM if model else 10, 0 if model else 8, -10, 0)
        note = str(index.data(NOTE) or "")
        painter.setFont(sized(painter.font(), 12))
        width = painter.fontMetrics().horizontalAdvance(note)
        painter.setPen(QColor(tokens.text_2))
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, note)
        font = sized(painter.font(), 13)
        font.setWeight(QFont.Weight.Normal if model else QFont.Weight.DemiBold)
        painter.setFont(font)
        painter.setPen(QColor(tokens.text))
        name = painter.fontMetrics().elidedText(
            visible(str(index.data())), Qt.TextElideMode.ElideMiddle, max(40, room.width() - width - 12)
        )
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, name)
        painter.restore()
