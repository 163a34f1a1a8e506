"""Labels and tool tips that never read their text as HTML: one label shortens what does not fit, one has lines."""

import html
import math

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import (
    QFontMetrics,
    QFontMetricsF,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextLayout,
    QTextLine,
    QTextOption,
)
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from app.gui.widgets.painted_text import PaintedText


def plain_label(kind: str = "", parent: QWidget | None = None, *, wrap: bool = False) -> QLabel:
    """Return an empty label of plain text; `kind` is what the style sheet knows it by."""
    label = QLabel(parent)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setProperty("kind", kind)
    label.setWordWrap(wrap)
    if wrap:
        label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
    return label


def plain_tip(text: str) -> str:
    """Return a tool tip that is shown letter by letter: Qt would take what looks like markup for markup."""
    if "<" not in text and "&" not in text:
        return text
    return f'<span style="white-space: pre-wrap">{html.escape(text)}</span>'


class ElidedLabel(PaintedText):
    """One line of plain text, shortened with an ellipsis where it does not fit."""

    def __init__(self, kind: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = ""
        self.setProperty("kind", kind)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def text(self) -> str:
        """Return the whole text."""
        return self._text

    def setText(self, text: str) -> None:
        """Show `text`, its line breaks as spaces; a tool tip has the whole of it when it is cut."""
        self._text = " ".join(text.split())
        self.setAccessibleName(self._text)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        return QSize(metrics.horizontalAdvance(self._text) + 2, metrics.height() + 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(24, QFontMetrics(self.font()).height() + 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        self.ensurePolished()
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        room = self.contentsRect()
        shown = QFontMetrics(self.font()).elidedText(self._text, Qt.TextElideMode.ElideRight, room.width())
        self.setToolTip(plain_tip(self._text) if shown != self._text else "")
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)


class Paragraph(PaintedText):
    """Some sentences of plain text, wrapped, with the air between lines that a plain label lacks."""

    LINE_HEIGHT = 1.5

    def __init__(self, kind: str = "", parent: QWidget | None = None, *, centred: bool = False) -> None:
        super().__init__(parent)
        self._text = ""
        self._centred = centred
        self.setProperty("kind", kind)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def text(self) -> str:
        """Return the text."""
        return self._text

    def setText(self, text: str) -> None:
        """Show `text`."""
        self._text = text
        self.setAccessibleName(text)
        self.updateGeometry()
        self.update()

    def lines(self) -> list[str]:
        """Return the lines as they are broken at the width of now."""
        layout = self._laid_out(self.width())
        return [
            self._text[line.textStart() : line.textStart() + line.textLength()] for line in _lines(layout)
        ]

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return math.ceil(self._laid_out(width).lineCount() * self._line_height())

    def sizeHint(self) -> QSize:
        self.ensurePolished()
        width = min(QFontMetrics(self.font()).horizontalAdvance(self._text) + 2, 260)
        return QSize(width, self.heightForWidth(max(width, self.width())))

    def minimumSizeHint(self) -> QSize:
        return QSize(80, math.ceil(self._line_height()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        self.ensurePolished()
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        self._laid_out(self.width()).draw(painter, QPointF())

    def _line_height(self) -> float:
        return self.font().pixelSize() * self.LINE_HEIGHT

    def _laid_out(self, width: int) -> QTextLayout:
        self.ensurePolished()
        layout = QTextLayout(self._text, self.font())
        option = QTextOption(Qt.AlignmentFlag.AlignHCenter if self._centred else Qt.AlignmentFlag.AlignLeft)
        option.setWrapMode(QTextOption.WrapMode.WordWrap)
        layout.setTextOption(option)
        height = self._line_height()
        air = (height - QFontMetricsF(self.font()).height()) / 2
        layout.beginLayout()
        y = air
        while (line := layout.createLine()).isValid():
            line.setLineWidth(max(1, width))
            line.setPosition(QPointF(0, y))
            y += height
        layout.endLayout()
        return layout


def _lines(layout: QTextLayout) -> list[QTextLine]:
    return [layout.lineAt(number) for number in range(layout.lineCount())]
