"""A list's row of two lines: a name, and quieter under it a state. Used by the lists of the settings."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.gui.display.style import Look, sized, tall

ROW_HEIGHT = 48


class TwoLineDelegate(QStyledItemDelegate):
    """Paints the part of a row's text before its line break, and quieter under it the rest."""

    def __init__(self, look: Look, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(80, tall(ROW_HEIGHT))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        tokens = self._look.tokens
        name, _, state = str(index.data()).partition("\n")
        rect: QRect = option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        focused = bool(option.state & QStyle.StateFlag.State_HasFocus)
        if selected or focused or option.state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(QColor(tokens.accent) if focused else Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.accent_bg if selected else tokens.hover))
            painter.drawRoundedRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5), 7, 7)
        room = rect.adjusted(10, 6, -8, -6)
        for text, pixels, colour, line in (
            (name, 13, tokens.text, Qt.AlignmentFlag.AlignTop),
            (state, 12, tokens.text_2, Qt.AlignmentFlag.AlignBottom),
        ):
            painter.setFont(sized(painter.font(), pixels))
            painter.setPen(QColor(colour))
            shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room.width())
            painter.drawText(room, line, shown)
        painter.restore()
