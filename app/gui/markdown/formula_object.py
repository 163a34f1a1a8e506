"""Formulas as objects in the lines of a QTextDocument: how large they are and how they are painted."""

from functools import lru_cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QRectF, QSizeF
from PySide6.QtGui import (
    QFont,
    QFontMetrics,
    QPainter,
    QPyTextObject,
    QTextCharFormat,
    QTextDocument,
    QTextFormat,
)

from app.core.markdown_marks import is_display, tex_of
from app.formulas import INK, Formula, draw
from app.gui.markdown.blocks import FORMULA, Span

if TYPE_CHECKING:
    from PySide6.QtSvg import QSvgRenderer

OBJECT = "\ufffc"
"""The one character of a document that a formula is."""
_TYPE = QTextFormat.ObjectTypes.UserObject.value + 1
_SOURCE = QTextFormat.Property.UserProperty.value + 1
_EM = QTextFormat.Property.UserProperty.value + 2
_SHIFT = QTextFormat.Property.UserProperty.value + 3
MARKED = QTextFormat.Property.UserProperty.value + 4
"""Says in the format of a selection that formulas in it are marked."""
_SCALE = 1.1
"""The letters of formulas are smaller than those of the text, of the same size."""
_OVER, _UNDER = 0.25, 0.1
"""What is kept free over and under a formula, in em."""


def formula_of(span: Span) -> Formula | None:
    """Return the picture of a formula; None for other text and for a formula that is shown as its source."""
    if not span.style & FORMULA:
        return None
    return draw(tex_of(span.text), display=is_display(span.text))


def format_of(span: Span, formula: Formula, font: QFont, text_format: QTextCharFormat) -> QTextCharFormat:
    """Return the format of the object for a formula, in the colour of a text and the size of a font.

    Qt takes an object of a height H to have (H + shift) / 2 over the base line, with half the height of an x as
    the shift; the object has a font of the size with which that is right.
    """
    em = font.pixelSize() * _SCALE
    over = (formula.ascent + _OVER - _UNDER) * em - _depth(formula, em)
    x_height = QFontMetrics(font).xHeight()
    tuned = QFont(font)
    tuned.setPixelSize(max(1, round(2 * over * font.pixelSize() / x_height)))
    text_format.setObjectType(_TYPE)
    text_format.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignMiddle)
    text_format.setProperty(QTextFormat.Property.FontPixelSize, tuned.pixelSize())
    text_format.setProperty(_SOURCE, span.text)
    text_format.setProperty(_EM, em)
    text_format.setProperty(_SHIFT, QFontMetrics(tuned).xHeight() / 2)
    return text_format


def register(document: QTextDocument) -> None:
    """Have a document paint its formulas."""
    document.documentLayout().registerHandler(_TYPE, _OBJECT)


class _FormulaObject(QPyTextObject):
    """Paints all formulas of all documents; what differs is in their formats."""

    def intrinsicSize(self, document: QTextDocument, _position: int, of: QTextFormat) -> QSizeF:
        formula = _drawn(of)
        if formula is None:
            return QSizeF()
        em, shift = _em(document, of, formula), of.doubleProperty(_SHIFT)
        over = (formula.ascent + _OVER) * em
        under = _depth(formula, em) + _UNDER * em
        return QSizeF(formula.width * em, max(2 * over - shift, 2 * under + shift))

    def drawObject(
        self, painter: QPainter, rect: QRectF, document: QTextDocument, position: int, of: QTextFormat
    ) -> None:
        formula = _drawn(of)
        if formula is None:
            return
        em = _em(document, of, formula)
        # Qt puts the middle of the object on the middle of its line, and letters on whole pixels.
        block = document.findBlock(position)
        line = block.layout().lineForTextPosition(position - block.position())
        device, scale = painter.deviceTransform(), painter.deviceTransform().m22()
        base = rect.center().y() + (line.ascent() - line.descent()) / 2
        base = (round(base * scale + device.dy()) - device.dy()) / scale
        top, height = base - formula.ascent * em, (formula.ascent + formula.descent) * em
        picture = _picture(formula, of.toCharFormat().foreground().color().name())
        place = QRectF(rect.left(), top, formula.width * em, height)
        picture.render(painter, place)
        if of.boolProperty(MARKED):
            _marked.append((picture, place))


_marked: list[tuple["QSvgRenderer", QRectF]] = []


def paint_marked(painter: QPainter) -> None:
    """Paint the formulas of the document painted last that are marked once more: Qt dims marked objects."""
    for picture, place in _marked:
        picture.render(painter, place)
    _marked.clear()


@lru_cache(maxsize=128)
def _picture(formula: Formula, colour: str) -> "QSvgRenderer":
    from PySide6.QtSvg import QSvgRenderer

    return QSvgRenderer(QByteArray(formula.svg.replace(INK, colour).encode()))


def _drawn(of: QTextFormat) -> Formula | None:
    source = of.stringProperty(_SOURCE)
    return draw(tex_of(source), display=is_display(source))


def _depth(formula: Formula, em: float) -> float:
    """Return the pixels of a formula under the base line, at least those of a text."""
    return max(formula.descent, _UNDER) * em


def _em(document: QTextDocument, of: QTextFormat, formula: Formula) -> float:
    """Return the pixels of one em, fewer where the formula would be wider than the document."""
    em, width = of.doubleProperty(_EM), document.textWidth()
    return min(em, width / formula.width) if width > 0 else em


_OBJECT = _FormulaObject()
