"""What paragraphs and sentences with buttons share: text in lines, with the air a plain label lacks."""

import math
from collections.abc import Sequence

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QResizeEvent, QTextLayout, QTextOption
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.gui.widgets.painted_text import PaintedText


class WrappedText(PaintedText):
    """Plain text in lines; its height follows from its width."""

    LINE_HEIGHT = 1.5
    alignment = Qt.AlignmentFlag.AlignLeft

    def __init__(self, kind: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", kind)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def hasHeightForWidth(self) -> bool:
        return True

    def minimumSizeHint(self) -> QSize:
        return QSize(80, math.ceil(self._line_height()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def paintEvent(self, event: QPaintEvent) -> None:
        self.ensurePolished()
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        for layout in self._layouts(self.width()):
            layout.draw(painter, QPointF())

    def _layouts(self, width: int) -> Sequence[QTextLayout]:
        """Return the text broken at a width."""
        raise NotImplementedError

    def _place(self) -> None:
        """Take note that the text or the width has changed."""
        self.updateGeometry()
        self.update()

    def _line_height(self) -> float:
        return self.font().pixelSize() * self.LINE_HEIGHT

    def _laid_out(
        self, text: str, width: int, x: float = 0.0, y: float = 0.0, indent: int = 0
    ) -> tuple[QTextLayout, float, float]:
        """Lay text out from a place on; return it and the place where it ends."""
        # Of a line end Qt's layout makes nothing at all.
        layout = QTextLayout(text.replace("\n", "\u2028"), self.font())
        option = QTextOption(self.alignment)
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        height = self._line_height()
        air = (height - QFontMetricsF(self.font()).height()) / 2
        layout.beginLayout()
        end, top = x, y
        while (line := layout.createLine()).isValid():
            line.setLineWidth(max(1.0, width - x))
            line.setPosition(QPointF(x, y + air))
            end, top = x + line.naturalTextWidth(), y
            x, y = float(indent), y + height
        layout.endLayout()
        return layout, end, top
