"""The transcript's scroll bar: a plain rounded handle, cheap enough to be painted with every scroll step."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QScrollBar, QStyle, QStyleOptionSlider, QWidget

from app.gui.display.theme import Tokens


class ThinBar(QScrollBar):
    """A vertical scroll bar that the style places and this paints."""

    def __init__(self, tokens: Tokens, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        self._tokens = tokens
        self._option = QStyleOptionSlider()

    def set_theme(self, tokens: Tokens) -> None:
        """Paint in another theme."""
        self._tokens = tokens
        self.update()

    def showEvent(self, event: QShowEvent) -> None:
        # Style sheets take it away; without it everything behind the bar is painted as well.
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        super().showEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(self._tokens.bg))
        if self.maximum() == self.minimum():
            return
        self.initStyleOption(self._option)
        handle = self.style().subControlRect(
            QStyle.ComplexControl.CC_ScrollBar, self._option, QStyle.SubControl.SC_ScrollBarSlider, self
        )
        held = self.isSliderDown() or self.underMouse()
        box = QRectF(handle)
        space = max(0.0, (box.width() - 6) / 2)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self._tokens.text_3 if held else self._tokens.line_strong))
        painter.drawRoundedRect(box.adjusted(space, 0, -space, 0), 3, 3)
