"""Blocks as QTextDocuments, built with a cursor, never from HTML or Markdown, and as text to copy.

A formula is an object in a line of the document. The program counts characters and converts positions that it
passes to Qt or gets from it: Qt counts UTF-16 code units, and an emoji is two of those.

Code is coloured by one regular expression per family of languages: a hundred lines take well under a
millisecond, so neither a thread nor a cache nor the import of a lexer is needed.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import nlargest
from typing import TYPE_CHECKING, Any

from PySide6 import QtGui
from PySide6.QtCore import QByteArray, QRectF, QSizeF, Qt, QUrl
from PySide6.QtGui import QColor, QPainter, QTextCharFormat, QTextDocument, QTextFormat, QTextLayout

from app.core.texts import is_display, tex_of
from app.formulas import INK, Formula, draw
from app.gui.display.theme import Tokens
from app.gui.markdown import blocks as kinds
from app.gui.markdown.blocks import Block, Cell, Span, plain, same_start, stands_apart

if TYPE_CHECKING:
    from PySide6.QtSvg import QSvgRenderer

_WIDE = re.compile("[\U00010000-\U0010ffff]")


def units(text: str) -> int:
    """Return the number of UTF-16 code units of a text, its length in Qt."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


class Utf16Places:
    """Converts positions between a text and its document; fast where all characters take one code unit.

    Each of `objects`, ranges of the text in order, is one character in the document.
    """

    __slots__ = ("_ends", "_lost", "_starts")

    def __init__(self, text: str, objects: Sequence[tuple[int, int]] = ()) -> None:
        wide = units(text) != len(text)
        odd = [(match.start(), match.end(), 2) for match in _WIDE.finditer(text)] if wide else []
        if objects:
            odd = [each for each in odd if not any(start <= each[0] < end for start, end in objects)]
            odd = sorted(odd + [(start, end, 1) for start, end in objects])
        self._starts = [start for start, _, _ in odd]
        self._ends = [end for _, end, _ in odd]
        self._lost = [0]
        """How much shorter the document is than the text, before each of them."""
        for start, end, taken in odd:
            self._lost.append(self._lost[-1] + end - start - taken)

    def to_qt(self, position: int, *, end: bool = False) -> int:
        """Return a position in the document for one in the text; inside an object, its start or its `end`."""
        if not self._starts:
            return position
        number = bisect_left(self._starts, position)
        if number and position < self._ends[number - 1]:
            number -= 1
            position = self._ends[number] if end else self._starts[number]
            number += end
        return position - self._lost[number]

    def from_qt(self, position: int) -> int:
        """Return a position in the text for one in the document; inside a character, where it begins."""
        if not self._starts:
            return position
        number = bisect_left(range(len(self._starts)), position, key=self._begins)
        if number and position < self._ends[number - 1] - self._lost[number]:
            return self._starts[number - 1]
        return position + self._lost[number]

    def _begins(self, number: int) -> int:
        return self._starts[number] - self._lost[number]


OBJECT = "\ufffc"
"""The one character of a document that a formula is."""
_TYPE = QtGui.QTextFormat.ObjectTypes.UserObject.value + 1
_SOURCE = QtGui.QTextFormat.Property.UserProperty.value + 1
_EM = QtGui.QTextFormat.Property.UserProperty.value + 2
_SHIFT = QtGui.QTextFormat.Property.UserProperty.value + 3
MARKED = QtGui.QTextFormat.Property.UserProperty.value + 4
"""Says in the format of a selection that formulas in it are marked."""
_SCALE = 1.1
"""The letters of formulas are smaller than those of the text, of the same size."""
_OVER, _UNDER = 0.25, 0.1
"""What is kept free over and under a formula, in em."""


def formula_of(span: Span) -> Formula | None:
    """Return the picture of a formula; None for other text and for a formula that is shown as its source."""
    return _drawn(span.text) if span.style & kinds.FORMULA else None


def format_of(
    span: Span, formula: Formula, font: QtGui.QFont, text_format: QtGui.QTextCharFormat
) -> QtGui.QTextCharFormat:
    """Return the format of the object for a formula, in the colour of a text and the size of a font.

    Qt takes an object of a height H to have (H + shift) / 2 over the base line, with half the height of an x
    as the shift; the object has a font of the size with which that is right.
    """
    em = font.pixelSize() * _SCALE
    over = (formula.ascent + _OVER - _UNDER) * em - _depth(formula, em)
    x_height, tuned = QtGui.QFontMetrics(font).xHeight(), QtGui.QFont(font)
    tuned.setPixelSize(max(1, round(2 * over * font.pixelSize() / x_height)))
    text_format.setObjectType(_TYPE)
    text_format.setVerticalAlignment(QtGui.QTextCharFormat.VerticalAlignment.AlignMiddle)
    text_format.setProperty(QtGui.QTextFormat.Property.FontPixelSize, tuned.pixelSize())
    text_format.setProperty(_SOURCE, span.text)
    text_format.setProperty(_EM, em)
    text_format.setProperty(_SHIFT, QtGui.QFontMetrics(tuned).xHeight() / 2)
    return text_format


class _FormulaObject(QtGui.QPyTextObject):
    """Paints all formulas of all documents; what differs is in their formats."""

    def intrinsicSize(self, document: QtGui.QTextDocument, _position: int, of: QtGui.QTextFormat) -> QSizeF:
        formula = _drawn(of.stringProperty(_SOURCE))
        if formula is None:
            return QSizeF()
        em, shift = _em(document, of, formula), of.doubleProperty(_SHIFT)
        over = (formula.ascent + _OVER) * em
        under = _depth(formula, em) + _UNDER * em
        return QSizeF(formula.width * em, max(2 * over - shift, 2 * under + shift))

    def drawObject(
        self, painter: QPainter, rect: QRectF, document: QTextDocument, position: int, of: QTextFormat
    ) -> None:
        formula = _drawn(of.stringProperty(_SOURCE))
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


def paint_marked(painter: QtGui.QPainter) -> None:
    """Paint the formulas of the document painted last that are marked once more: Qt dims marked objects."""
    for picture, place in _marked:
        picture.render(painter, place)
    _marked.clear()


@lru_cache(maxsize=128)
def _picture(formula: Formula, colour: str) -> "QSvgRenderer":
    from PySide6.QtSvg import QSvgRenderer

    return QSvgRenderer(QByteArray(formula.svg.replace(INK, colour).encode()))


def _drawn(source: str) -> Formula | None:
    return draw(tex_of(source), display=is_display(source))


def _depth(formula: Formula, em: float) -> float:
    """Return the pixels of a formula under the base line, at least those of a text."""
    return max(formula.descent, _UNDER) * em


def _em(document: QtGui.QTextDocument, of: QtGui.QTextFormat, formula: Formula) -> float:
    """Return the pixels of one em, fewer where the formula would be wider than the document."""
    em, width = of.doubleProperty(_EM), document.textWidth()
    return min(em, width / formula.width) if width > 0 else em


_OBJECT = _FormulaObject()


LINE_HEIGHT = 1.5
BLOCK_GAP = 8
ITEM_GAP = 4
HEADING_GAP = 14
INDENT = 20
# A tab is as wide as this many blanks.
TAB = 4
# Padding and border of a cell at both sides.
_CELL = 15
# How many of a column's longest texts are measured, and how much of each.
_MEASURED = 3
_LONGEST = 200
_HEADING_SIZES = {1: 1.3, 2: 1.18, 3: 1.08}
_NOTHING = QtGui.QImage(1, 1, QtGui.QImage.Format.Format_ARGB32)
_NOTHING.fill(Qt.GlobalColor.transparent)


@dataclass(frozen=True, slots=True)
class TextStyle:
    """The look of documents: fonts with sizes in pixels, and the colours of a theme."""

    font: QtGui.QFont
    code_font: QtGui.QFont
    tokens: Tokens

    @property
    def line_height(self) -> int:
        """The height of a line of text in pixels."""
        return round(self.font.pixelSize() * LINE_HEIGHT)


def gap_between(upper: Block, lower: Block) -> int:
    """Return the space between two neighbouring blocks, in pixels."""
    if upper.kind == lower.kind == kinds.LITERAL:
        return 0
    if upper.indent and lower.indent:
        return ITEM_GAP
    return HEADING_GAP if lower.kind == kinds.HEADING else BLOCK_GAP


class BlockDocument(QtGui.QTextDocument):
    """Neighbouring blocks of a message: text, one stretch of code, or one table; it can be changed in
    place.
    """

    def __init__(self, style: TextStyle, blocks: list[Block]) -> None:
        super().__init__()
        self._style = style
        self.blocks: list[Block] = []
        self._table: QtGui.QTextTable | None = None
        code = blocks[0].kind == kinds.CODE
        self.setUndoRedoEnabled(False)
        self.setDocumentMargin(0)
        self.setIndentWidth(INDENT)
        self.setDefaultFont(style.code_font if code else style.font)
        option = QtGui.QTextOption()
        option.setWrapMode(QtGui.QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        option.setTabStopDistance(TAB * QtGui.QFontMetricsF(self.defaultFont()).horizontalAdvance(" "))
        self.setDefaultTextOption(option)
        self.documentLayout().registerHandler(_TYPE, _OBJECT)
        self._insert(blocks)

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """Return a transparent pixel for every resource, so that nothing is ever read or fetched."""
        return _NOTHING

    def patch(self, blocks: list[Block]) -> bool:
        """Change the content to `blocks` with few edits; return False if the document must be made anew."""
        old = self.blocks
        same = same_start(old, blocks)
        if same == len(old) - 1 and same < len(blocks) and _grew(old[same], blocks[same]):
            self._grow(old[same], blocks[same])
            old[same] = blocks[same]
            same += 1
        elif same < len(old):
            if same == 0 or old[0].kind in (kinds.CODE, kinds.TABLE):
                return False
            cursor = QtGui.QTextCursor(self.findBlockByNumber(same - 1))
            cursor.movePosition(QtGui.QTextCursor.MoveOperation.EndOfBlock)
            cursor.movePosition(QtGui.QTextCursor.MoveOperation.End, QtGui.QTextCursor.MoveMode.KeepAnchor)
            cursor.removeSelectedText()
            del old[same:]
        self._insert(blocks[same:])
        return True

    def _insert(self, blocks: list[Block]) -> None:
        cursor = QtGui.QTextCursor(self)
        cursor.movePosition(QtGui.QTextCursor.MoveOperation.End)
        cursor.beginEditBlock()
        for block in blocks:
            if block.kind == kinds.CODE:
                cursor.setBlockFormat(_block_format(block, round(self._style.code_font.pixelSize() * 1.5)))
                cursor.insertText(plain(block.spans), self._character_format(block, Span("")))
            elif block.kind == kinds.TABLE:
                self._insert_table(cursor, block)
            else:
                self._insert_text(cursor, block)
            self.blocks.append(block)
        cursor.endEditBlock()

    def _insert_text(self, cursor: QtGui.QTextCursor, block: Block) -> None:
        block_format = _block_format(block, self._line(block))
        if self.blocks:
            block_format.setTopMargin(gap_between(self.blocks[-1], block))
            # A bullet has the format of its block, not that of what came before, such as a link.
            cursor.insertBlock(block_format, self._character_format(block, Span("")))
        else:
            cursor.setBlockFormat(block_format)
        if block.marker and block.marker not in kinds.TICK_BOXES:
            cursor.createList(_list_format(block))
        for span in block.spans:
            self._insert_span(cursor, block, span)

    def _size(self, block: Block) -> int:
        return round(self._style.font.pixelSize() * _HEADING_SIZES.get(block.level, 1.0))

    def _line(self, block: Block) -> int:
        return round(self._style.line_height * _HEADING_SIZES.get(block.level, 1.0))

    def _insert_span(
        self, cursor: QtGui.QTextCursor, block: Block, span: Span, *, head: bool = False
    ) -> None:
        text_format = self._character_format(block, span)
        if head:
            text_format.setFontWeight(QtGui.QFont.Weight.DemiBold)
        if (formula := formula_of(span)) is not None:
            font = QtGui.QFont(self._style.font)
            font.setPixelSize(self._size(block))
            cursor.insertText(OBJECT, format_of(span, formula, font, text_format))
        else:
            cursor.insertText(span.text.replace("\n", "\u2028"), text_format)

    def _insert_table(self, cursor: QtGui.QTextCursor, block: Block) -> None:
        table_format = QtGui.QTextTableFormat()
        table_format.setBorderCollapse(True)
        table_format.setBorder(1)
        table_format.setBorderBrush(QtGui.QColor(self._style.tokens.line))
        table_format.setBorderStyle(table_format.BorderStyle.BorderStyle_Solid)
        table_format.setCellPadding(6)
        table_format.setCellSpacing(0)
        table_format.setHeaderRowCount(1)
        columns = len(block.alignment)
        table = self._table = cursor.insertTable(len(block.rows), columns, table_format)
        self._needs = _column_needs(block, self._style)
        block_format = _block_format(block, self._style.line_height)
        for number, row in enumerate(block.rows):
            for column, cell in enumerate(row[:columns]):
                cell_format = QtGui.QTextBlockFormat(block_format)
                cell_format.setAlignment(_ALIGNMENT[block.alignment[column]])
                place = table.cellAt(number, column).firstCursorPosition()
                place.setBlockFormat(cell_format)
                for span in cell:
                    self._insert_span(place, block, span, head=not number)
        cursor.movePosition(QtGui.QTextCursor.MoveOperation.End)
        end = QtGui.QTextBlockFormat()
        end.setLineHeight(0.0, QtGui.QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        cursor.setBlockFormat(end)
        tiny = QtGui.QTextCharFormat()
        tiny.setFontPointSize(1)
        cursor.setBlockCharFormat(tiny)

    def setTextWidth(self, width: float) -> None:
        """Lay out in a width in pixels, which the columns of a table share."""
        if self._table is not None and width != self.textWidth():
            table_format = self._table.format().toTableFormat()
            percent = QtGui.QTextLength.Type.PercentageLength
            shares = [QtGui.QTextLength(percent, 100 * item / width) for item in shared(self._needs, width)]
            table_format.setColumnWidthConstraints(shares)
            self._table.setFormat(table_format)
        super().setTextWidth(width)

    def _grow(self, old: Block, new: Block) -> None:
        """Change the last block from where its text differs."""
        cursor = QtGui.QTextCursor(self)
        same = same_start(old.spans, new.spans)
        stale = sum([_length(span) for span in old.spans[same:]])
        rest = list(new.spans[same:])
        if same < len(old.spans) and rest:
            before, after = old.spans[same], rest[0]
            alike = (before.style, before.link) == (after.style, after.link)
            if alike and not after.style & kinds.FORMULA and after.text.startswith(before.text):
                stale -= units(before.text)
                rest[0] = Span(after.text[len(before.text) :], after.style, after.link)
        cursor.beginEditBlock()
        cursor.movePosition(QtGui.QTextCursor.MoveOperation.End)
        if stale:
            cursor.setPosition(cursor.position() - stale, QtGui.QTextCursor.MoveMode.KeepAnchor)
            cursor.removeSelectedText()
        for span in rest:
            if new.kind == kinds.CODE:
                cursor.insertText(span.text, self._character_format(new, span))
            else:
                self._insert_span(cursor, new, span)
        if new.kind != kinds.CODE:
            cursor.mergeBlockFormat(_block_format(new, self._line(new)))
        cursor.endEditBlock()

    def _character_format(self, block: Block, span: Span) -> QtGui.QTextCharFormat:
        tokens, result = self._style.tokens, QtGui.QTextCharFormat()
        result.setForeground(QtGui.QBrush(QtGui.QColor(tokens.text_2 if block.quote else tokens.text)))
        if block.kind == kinds.CODE:
            return result
        if block.kind == kinds.HEADING:
            result.setProperty(QtGui.QTextFormat.Property.FontPixelSize, self._size(block))
            result.setFontWeight(QtGui.QFont.Weight.DemiBold)
        if span.style & kinds.BOLD:
            result.setFontWeight(QtGui.QFont.Weight.DemiBold)
        if span.style & kinds.ITALIC:
            result.setFontItalic(True)
        if span.style & kinds.STRUCK:
            result.setFontStrikeOut(True)
        if span.style & kinds.INLINE_CODE or (span.style & kinds.FORMULA and formula_of(span) is None):
            result.setFontFamilies(self._style.code_font.families())
            result.setProperty(QtGui.QTextFormat.Property.FontPixelSize, self._style.code_font.pixelSize())
        if span.style & (kinds.INLINE_CODE | kinds.IMAGE):
            result.setBackground(QtGui.QBrush(QtGui.QColor(tokens.hover)))
        if span.link:
            result.setAnchor(True)
            result.setAnchorHref(span.link)
            result.setForeground(QtGui.QBrush(QtGui.QColor(tokens.accent)))
        return result


_ALIGNMENT = {
    "None": Qt.AlignmentFlag.AlignLeft,
    "Left": Qt.AlignmentFlag.AlignLeft,
    "Center": Qt.AlignmentFlag.AlignHCenter,
    "Right": Qt.AlignmentFlag.AlignRight,
}


def _grew(old: Block, new: Block) -> bool:
    """Return whether two blocks differ only in their text."""
    apart = [(each.kind, each.level, each.indent, each.quote, each.marker) for each in (old, new)]
    return old.kind != kinds.TABLE and apart[0] == apart[1]


def _length(span: Span) -> int:
    """Return the length of a span in the document."""
    return 1 if formula_of(span) is not None else units(span.text)


def _block_format(block: Block, line: int) -> QtGui.QTextBlockFormat:
    result = QtGui.QTextBlockFormat()
    heights = QtGui.QTextBlockFormat.LineHeightTypes
    cells = [cell for row in block.rows or ((block.spans,),) for cell in row]
    has_formula = any(span.style & kinds.FORMULA for cell in cells for span in cell)
    # A line with a tall formula is taller than the others.
    result.setLineHeight(line, (heights.MinimumHeight if has_formula else heights.FixedHeight).value)
    alone = block.kind == kinds.PARAGRAPH and not block.marker and len(block.spans) == 1
    if alone and stands_apart(block.spans[0]):
        result.setAlignment(Qt.AlignmentFlag.AlignHCenter)
    if block.indent and (not block.marker or block.marker in kinds.TICK_BOXES):
        result.setIndent(block.indent)
    return result


def _list_format(block: Block) -> QtGui.QTextListFormat:
    result = QtGui.QTextListFormat()
    result.setIndent(block.indent)
    styles = QtGui.QTextListFormat.Style
    if block.marker.endswith("."):
        result.setStyle(styles.ListDecimal)
        result.setStart(int(block.marker[:-1]))
    else:
        result.setStyle(styles.ListDisc if block.indent % 2 else styles.ListCircle)
    return result


def _column_needs(block: Block, style: TextStyle) -> list[tuple[float, float]]:
    """Return for each column of a table the width of its longest word and of its longest cell, in pixels."""
    bold = QtGui.QFont(style.font)
    bold.setWeight(QtGui.QFont.Weight.DemiBold)
    metrics = QtGui.QFontMetricsF(bold)
    needs = []
    for column in range(len(block.alignment)):
        cells = [plain(row[column]) for row in block.rows if column < len(row)]
        words = {word for cell in cells for word in cell.split()}
        lines = {line for cell in cells for line in cell.splitlines()}
        longest = (nlargest(_MEASURED, texts, _wide) for texts in (words, lines))
        widths = [[metrics.horizontalAdvance(item[:_LONGEST]) for item in texts] for texts in longest]
        word, line = (max(each, default=0.0) for each in widths)
        needs.append((word + _CELL, line + _CELL))
    return needs


def _wide(text: str) -> int:
    """Estimate the width of a text: letters beyond Latin ones are wider."""
    return len(text) if text.isascii() else 2 * len(text)


def shared(needs: Sequence[tuple[float, float]], width: float) -> list[float]:
    """Share a width among columns by their longest words and cells; words break only
    where nothing else is left.
    """
    words = [word for word, _ in needs]
    if sum(words) >= width:
        # The widest columns give, all to the same width.
        left, most = width, width
        for place, word in enumerate(sorted(words)):
            most = left / (len(words) - place)
            if word > most:
                break
            left -= word
        return [min(word, most) for word in words]
    wants = [cell - word for word, cell in needs]
    spare = width - sum(words)
    if sum(wants) > spare:
        return [word + spare * want / sum(wants) for word, want in zip(words, wants, strict=True)]
    cells = [cell for _, cell in needs]
    return [cell * width / sum(cells) for cell in cells]


def markdown_of(blocks: Sequence[Block], start: int, end: int) -> str:
    """Return a range of the plain text as Markdown."""
    parts: list[str] = []
    above: Block | None = None
    for block, begin, stop in _covered(blocks, start, end):
        if above is not None:
            items = above.indent and block.indent
            tight = items or block.kind == kinds.LITERAL or (block.kind == kinds.CODE and not block.first)
            parts.append("\n" if tight else "\n\n")
        parts.append(_markdown(block, begin, stop))
        above = block
    return "".join(parts).replace("\n```\n\n```", "").replace(kinds.BREAK, "")


def plain_of(blocks: Sequence[Block], start: int, end: int) -> str:
    """Return a range of the plain text without marks."""
    parts = []
    for block, begin, stop in _covered(blocks, start, end):
        marker = f"{block.marker} " if block.marker and not begin else ""
        parts.append("  " * max(0, block.indent - 1) + marker + block.text[begin:stop])
    return "\n".join(parts).replace(kinds.BREAK, "")


def _covered(blocks: Sequence[Block], start: int, end: int) -> list[tuple[Block, int, int]]:
    result = []
    position = 0
    for block in blocks:
        length = len(block.text)
        if position <= end and start <= position + length:
            result.append((block, max(0, start - position), min(length, end - position)))
        position += length + 1
    return result


def _markdown(block: Block, begin: int, stop: int) -> str:
    quote = "> " * block.quote
    if block.kind == kinds.RULE:
        return quote + "---"
    if block.kind == kinds.LITERAL:
        return block.text[begin:stop]
    if block.kind == kinds.TABLE:
        return _table(block) if begin == 0 and stop >= len(block.text) else block.text[begin:stop]
    if block.kind == kinds.CODE:
        code = block.text[begin:stop]
        fence = "````" if "```" in code else "```"
        return f"{fence}{block.language}\n{code}\n{fence}"
    text = inline(_sliced(block.spans, begin, stop)).replace("\n", "  \n")
    if begin:
        return quote + text
    head = "#" * block.level + " " if block.kind == kinds.HEADING else ""
    marker = {"•": "- ", "☐": "- [ ] ", "☑": "- [x] ", "": ""}.get(block.marker, f"{block.marker} ")
    return quote + "  " * max(0, block.indent - (1 if marker else 0)) + head + marker + text


def _table(block: Block) -> str:
    marks = {"None": "---", "Left": ":---", "Center": ":-:", "Right": "---:"}
    rows = [[inline(cell).replace("\n", "<br>") for cell in row] for row in block.rows]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|" + "|".join(marks[each] for each in block.alignment) + "|")
    return "\n".join(lines)


def _sliced(spans: Cell, begin: int, stop: int) -> list[Span]:
    result = []
    position = 0
    for span in spans:
        if text := span.text[max(0, begin - position) : max(0, stop - position)]:
            result.append(Span(text, span.style, span.link))
        position += len(span.text)
    return result


def inline(spans: Sequence[Span]) -> str:
    """Return spans as Markdown."""
    parts = []
    for span in spans:
        text = span.text
        if span.style & kinds.INLINE_CODE:
            text = f"`{text}`"
        for style, mark in ((kinds.STRUCK, "~~"), (kinds.ITALIC, "*"), (kinds.BOLD, "**")):
            if span.style & style:
                text = f"{mark}{text}{mark}"
        if span.link and span.link != span.text:
            text = f"[{text}]({span.link})"
        parts.append(text)
    return "".join(parts)


Run = tuple[int, int, str]

COMMENT = "comment"
STRING = "string"
NUMBER = "number"
KEYWORD = "keyword"
NAME = "name"
MARK = "mark"

MAX_CODE = 20_000
"""Longer stretches of code stay plain, in characters."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_HASH = _words(
    "python py python3 bash sh shell zsh console ruby rb yaml yml toml perl r make makefile"
    " dockerfile ini conf powershell ps1 elixir nix julia"
)
_SLASH = _words(
    "c cpp c++ h hpp java javascript js jsx typescript ts tsx go golang rust rs swift kotlin kt"
    " csharp cs c# php scala dart css scss less json jsonc json5 proto zig groovy"
)
_DASH = _words("sql sqlite postgresql mysql lua haskell hs elm ada")
_ANGLE = _words("html xml svg xhtml vue")

_KEYWORDS = _words(
    """
    abstract alias and any as assert async await auto begin bool boolean break by byte case catch char class
    const constexpr continue create crate data def default defer del delete deriving do done double drop dyn
    echo elif else elsif end ensure enum esac except exec export extends extern false False fi final finally
    float fn for foreach from fun func function global go goto group guard having if impl implements import in
    index inner insert instance instanceof int interface internal into is join lambda left let limit local
    long loop match mod module move mut namespace new nil None nonlocal not null nullptr object of offset on
    open operator or order outer override package pass primary private protected pub public raise readonly
    ref references require rescue return right select self Self set short signed sizeof static str string
    struct super switch table template then this throw throws trait true True try type typedef typename
    typeof undefined union unless unsafe unsigned until update use using values var view virtual void
    volatile when where while with yield
    """
)

_WORDS = r"""
    |(?P<mark>(?:^[ \t]*)?[@][A-Za-z_][\w.]*)
    |(?P<number>\b(?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?)\w{0,3}\b)
    |(?P<word>[^\W\d]\w*)(?P<call>(?=[ ]?\())?
"""
_QUOTED = r"""(?P<string>%s"(?:\\.|[^"\\\n])*"?|(?<!\w)'(?:\\.|[^'\\\n])*'?)"""
_TRIPLE = r'"{3}(?:\\.|[^\\])*?(?:"{3}|\Z)|\'{3}(?:\\.|[^\\])*?(?:\'{3}|\Z)|'
_BACKTICKS = r"`(?:\\.|[^`\\])*`?|"


def _scanner(comment: str, more_strings: str = "") -> re.Pattern[str]:
    pattern = f"(?P<comment>{comment})|{_QUOTED % more_strings}{_WORDS}"
    return re.compile(pattern, re.VERBOSE | re.MULTILINE | re.DOTALL)


_SCANNERS = {
    **dict.fromkeys(_HASH, _scanner(r"(?<![\w$&{\\])\#[^\n]*", _TRIPLE)),
    **dict.fromkeys(_SLASH, _scanner(r"//[^\n]*|/\*.*?(?:\*/|\Z)", _BACKTICKS)),
    **dict.fromkeys(_DASH, _scanner(r"--[^\n]*|/\*.*?(?:\*/|\Z)")),
    **dict.fromkeys(
        _ANGLE,
        re.compile(
            r"""(?P<comment><!--.*?(?:-->|\Z))|(?P<mark></?[A-Za-z][\w:.-]*|/?>)|(?P<string>"[^"\n]*"?)""",
            re.DOTALL,
        ),
    ),
}
_CASELESS = _words("sql sqlite postgresql mysql")


def lex(language: str, code: str) -> list[Run]:
    """Return runs of (start, length, kind); none for an unknown language or more than MAX_CODE characters."""
    language = language.lower()
    scanner = _SCANNERS.get(language)
    if scanner is None or len(code) > MAX_CODE:
        return []
    caseless = language in _CASELESS
    runs: list[Run] = []
    for match in scanner.finditer(code):
        kind, text = match.lastgroup, match.group()
        if kind in ("word", "call"):
            if (text.lower() if caseless else text) in _KEYWORDS:
                kind = KEYWORD
            elif kind == "call":
                kind = NAME
            else:
                continue
        assert kind is not None
        runs.append((match.start(), len(text), kind))
    return runs


def colour(document: QTextDocument, code: str, runs: Sequence[Run], tokens: Tokens) -> None:
    """Colour the code of a document without a new layout."""
    places, formats = Utf16Places(code), _formats(tokens)
    ranges: dict[int, list[QTextLayout.FormatRange]] = {}
    for start, length, kind in runs:
        position, end = places.to_qt(start), places.to_qt(start + length)
        while position < end:
            block = document.findBlock(position)
            if not block.isValid():
                break
            stop = min(end, block.position() + block.length())
            piece = QTextLayout.FormatRange()
            piece.start, piece.length = position - block.position(), stop - position
            piece.format = formats[kind]
            ranges.setdefault(block.blockNumber(), []).append(piece)
            position = stop
    for number, pieces in ranges.items():
        block = document.findBlockByNumber(number)
        block.layout().setFormats(pieces)
        document.markContentsDirty(block.position(), block.length())


def _formats(tokens: Tokens) -> dict[str, QTextCharFormat]:
    """Return the format of each kind of run."""
    colours = dict(zip((STRING, NUMBER, NAME, MARK), [colour for colour, _ in tokens.speakers], strict=False))
    formats = {}
    for kind, colour in (colours | {KEYWORD: tokens.accent, COMMENT: tokens.text_2}).items():
        formats[kind] = QTextCharFormat()
        formats[kind].setForeground(QColor(colour))
    return formats
