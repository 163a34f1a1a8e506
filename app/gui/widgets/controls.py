"""Buttons, tick boxes and choices as the look draws them; all are the native widgets underneath."""

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QSlider,
    QToolButton,
    QWidget,
)

from app.gui.style import Look

TICK = 16


def button(kind: str = "", name: str = "", parent: QWidget | None = None) -> QPushButton:
    """Return a push button; `kind` is primary, plain, link or "" (outlined)."""
    result = QPushButton(parent)
    result.setProperty("kind", kind)
    result.setObjectName(name)
    result.setCursor(Qt.CursorShape.PointingHandCursor)
    return result


def icon_button(look: Look, icon: str, name: str = "", *, checkable: bool = False) -> QToolButton:
    """Return a flat button that shows only an icon; give it a tool tip and an accessible name."""
    result = QToolButton()
    result.setObjectName(name)
    result.setIcon(look.icon(icon))
    result.setIconSize(QSize(17, 17))
    result.setFixedSize(34, 30)
    result.setCheckable(checkable)
    result.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    look.changed.connect(result.update)
    return result


def name_button(target: QToolButton | QPushButton, text: str, shortcut: str = "") -> None:
    """Give an icon's button its words: for the screen reader, and as a tool tip with the shortcut."""
    target.setAccessibleName(text)
    target.setToolTip(f"{text}  ({shortcut})" if shortcut else text)


class TickBox(QCheckBox):
    """A tick box drawn in the accent."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        look.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        if not self.text():
            return QSize(TICK + 4, TICK + 6)
        width = self.fontMetrics().horizontalAdvance(self.text())
        return QSize(TICK + 12 + width + 4, max(TICK + 6, self.fontMetrics().height() + 4))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def hitButton(self, point: QPoint) -> bool:
        return True

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens = self._look.tokens
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(2.5, (self.height() - TICK) / 2 + 0.5, TICK - 1, TICK - 1)
        if not self.isEnabled():
            painter.setOpacity(0.6)
        on = self.isChecked()
        painter.setPen(QPen(QColor(tokens.accent if on else tokens.line_strong), 1))
        painter.setBrush(QColor(tokens.accent if on else tokens.surface))
        painter.drawRoundedRect(box, 4.5, 4.5)
        if on:
            pen = QPen(QColor(tokens.on_accent), 1.8)
            pen.setCapStyle(Qt.PenCapStyle.RoundCap)
            pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
            painter.setPen(pen)
            left, top = box.left(), box.top()
            points = ((3.8, 7.9), (6.6, 10.6), (11.4, 4.9))
            painter.drawPolyline([QPointF(left + x, top + y) for x, y in points])
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(tokens.accent), 1.5))
            painter.drawRoundedRect(box.adjusted(-2, -2, 2, 2), 6, 6)
        painter.setPen(QColor(tokens.text))
        text = self.rect().adjusted(TICK + 12, 0, 0, 0)
        painter.drawText(text, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, self.text())


class Choice(QComboBox):
    """A drop-down list with the look's chevron; the wheel scrolls the page, not the choice."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._chevron = look.icon("chevron-down")
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        look.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        self._chevron.paint(painter, QRect(self.width() - 23, (self.height() - 14) // 2, 14, 14))

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class RoundsSlider(QSlider):
    """A horizontal slider the wheel does not move by accident."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class Segmented(QFrame):
    """A row of exclusive segments; emits `chosen` with the value of the one picked."""

    chosen = Signal(str)

    def __init__(self, values: tuple[str, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "segmented")
        self._values = values
        self._group = QButtonGroup(self)
        row = QHBoxLayout(self)
        row.setContentsMargins(3, 3, 3, 3)
        row.setSpacing(2)
        for index, value in enumerate(values):
            segment = button("segment", f"segment_{value}")
            segment.setCheckable(True)
            self._group.addButton(segment, index)
            row.addWidget(segment, 1)
        self._group.button(0).setChecked(True)
        self._group.idToggled.connect(self._on_toggled)

    def value(self) -> str:
        """Return the value of the chosen segment."""
        return self._values[self._group.checkedId()]

    def set_value(self, value: str) -> None:
        """Choose a segment."""
        self._group.button(self._values.index(value)).setChecked(True)

    def set_texts(self, texts: tuple[str, ...]) -> None:
        """Name the segments, in the order of their values."""
        for index, text in enumerate(texts):
            self._group.button(index).setText(text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        index = self._group.checkedId() + step
        if step and 0 <= index < len(self._values):
            self._group.button(index).setChecked(True)
            self._group.button(index).setFocus()
        else:
            super().keyPressEvent(event)

    def _on_toggled(self, index: int, checked: bool) -> None:
        if checked:
            self.chosen.emit(self._values[index])
