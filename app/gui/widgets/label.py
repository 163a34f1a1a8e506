"""Labels and tool tips that never read their text as HTML: one label shortens what does not fit, one has lines."""

import html
import math

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QTextLayout
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from app.gui.markdown.utf16 import Utf16Places
from app.gui.widgets.painted_text import PaintedText
from app.gui.widgets.wrapped_text import WrappedText


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


class Paragraph(WrappedText):
    """Some sentences of plain text."""

    def __init__(self, kind: str = "", parent: QWidget | None = None, *, centred: bool = False) -> None:
        super().__init__(kind, parent)
        self._text = ""
        if centred:
            self.alignment = Qt.AlignmentFlag.AlignHCenter

    def text(self) -> str:
        """Return the text."""
        return self._text

    def setText(self, text: str) -> None:
        """Show `text`."""
        self._text = text
        self.setAccessibleName(text)
        self._place()

    def lines(self) -> list[str]:
        """Return the lines as they are broken at the width of now."""
        layout = self._layouts(self.width())[0]
        lines = [layout.lineAt(number) for number in range(layout.lineCount())]
        places = Utf16Places(self._text)
        ends = [(line.textStart(), line.textStart() + line.textLength()) for line in lines]
        return [self._text[places.from_qt(start) : places.from_qt(end)] for start, end in ends]

    def heightForWidth(self, width: int) -> int:
        return math.ceil(self._layouts(width)[0].lineCount() * self._line_height())

    def sizeHint(self) -> QSize:
        self.ensurePolished()
        width = min(QFontMetrics(self.font()).horizontalAdvance(self._text) + 2, 260)
        return QSize(width, self.heightForWidth(max(width, self.width())))

    def _layouts(self, width: int) -> tuple[QTextLayout]:
        self.ensurePolished()
        return (self._laid_out(self._text, width)[0],)
