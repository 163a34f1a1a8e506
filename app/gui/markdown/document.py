"""Blocks as QTextDocuments, built with a cursor, never from HTML or Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import Any

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontMetricsF,
    QImage,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextLength,
    QTextListFormat,
    QTextOption,
    QTextTable,
    QTextTableFormat,
)

from app.gui.display.theme import Tokens
from app.gui.markdown.blocks import (
    BOLD,
    CODE,
    FORMULA,
    HEADING,
    IMAGE,
    INLINE_CODE,
    ITALIC,
    LITERAL,
    PARAGRAPH,
    STRUCK,
    TABLE,
    TICK_BOXES,
    Block,
    Span,
    plain,
    stands_apart,
)
from app.gui.markdown.formula_object import OBJECT, format_of, formula_of, register
from app.gui.markdown.utf16 import units

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
_NOTHING = QImage(1, 1, QImage.Format.Format_ARGB32)
_NOTHING.fill(Qt.GlobalColor.transparent)


@dataclass(frozen=True, slots=True)
class TextStyle:
    """The look of documents: fonts with sizes in pixels, and the colours of a theme."""

    font: QFont
    code_font: QFont
    tokens: Tokens

    @property
    def line_height(self) -> int:
        """The height of a line of text in pixels."""
        return round(self.font.pixelSize() * LINE_HEIGHT)


def gap_between(upper: Block, lower: Block) -> int:
    """Return the space between two neighbouring blocks, in pixels."""
    if upper.kind == lower.kind == LITERAL:
        return 0
    if upper.indent and lower.indent:
        return ITEM_GAP
    return HEADING_GAP if lower.kind == HEADING else BLOCK_GAP


class BlockDocument(QTextDocument):
    """Neighbouring blocks of a message: text, one stretch of code, or one table; it can be changed in place."""

    def __init__(self, style: TextStyle, blocks: list[Block]) -> None:
        super().__init__()
        self._style = style
        self.blocks: list[Block] = []
        self._table: QTextTable | None = None
        code = blocks[0].kind == CODE
        self.setUndoRedoEnabled(False)
        self.setDocumentMargin(0)
        self.setIndentWidth(INDENT)
        self.setDefaultFont(style.code_font if code else style.font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        option.setTabStopDistance(TAB * QFontMetricsF(self.defaultFont()).horizontalAdvance(" "))
        self.setDefaultTextOption(option)
        register(self)
        self._insert(blocks)

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """Return a transparent pixel for every resource, so that nothing is ever read or fetched."""
        return _NOTHING

    def patch(self, blocks: list[Block]) -> bool:
        """Change the content to `blocks` with few edits; return False if the document must be made anew."""
        old = self.blocks
        same = 0
        while same < min(len(old), len(blocks)) and old[same] == blocks[same]:
            same += 1
        if same == len(old) == len(blocks):
            return True
        if same == len(old):
            self._insert(blocks[same:])
            return True
        if same == len(old) - 1 and same < len(blocks) and _grew(old[same], blocks[same]):
            self._grow(old[same], blocks[same])
            self.blocks[same] = blocks[same]
            self._insert(blocks[same + 1 :])
            return True
        if same == 0 or old[0].kind in (CODE, TABLE):
            return False
        cursor = QTextCursor(self.findBlockByNumber(same - 1))
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock)
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        del self.blocks[same:]
        self._insert(blocks[same:])
        return True

    def _insert(self, blocks: list[Block]) -> None:
        cursor = QTextCursor(self)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.beginEditBlock()
        for block in blocks:
            if block.kind == CODE:
                cursor.setBlockFormat(_block_format(block, round(self._style.code_font.pixelSize() * 1.5)))
                cursor.insertText(plain(block.spans), self._character_format(block, Span("")))
            elif block.kind == TABLE:
                self._insert_table(cursor, block)
            else:
                self._insert_text(cursor, block)
            self.blocks.append(block)
        cursor.endEditBlock()

    def _insert_text(self, cursor: QTextCursor, block: Block) -> None:
        block_format = _block_format(block, self._line(block))
        if self.blocks:
            block_format.setTopMargin(gap_between(self.blocks[-1], block))
            # A bullet has the format of its block, not that of what came before, such as a link.
            cursor.insertBlock(block_format, self._character_format(block, Span("")))
        else:
            cursor.setBlockFormat(block_format)
        if block.marker and block.marker not in TICK_BOXES:
            cursor.createList(_list_format(block))
        for span in block.spans:
            self._insert_span(cursor, block, span)

    def _size(self, block: Block) -> int:
        return round(self._style.font.pixelSize() * _HEADING_SIZES.get(block.level, 1.0))

    def _line(self, block: Block) -> int:
        return round(self._style.line_height * _HEADING_SIZES.get(block.level, 1.0))

    def _insert_span(self, cursor: QTextCursor, block: Block, span: Span, *, head: bool = False) -> None:
        text_format = self._character_format(block, span)
        if head:
            text_format.setFontWeight(QFont.Weight.DemiBold)
        formula = formula_of(span)
        if formula is not None:
            font = QFont(self._style.font)
            font.setPixelSize(self._size(block))
            cursor.insertText(OBJECT, format_of(span, formula, font, text_format))
        else:
            cursor.insertText(span.text.replace("\n", "\u2028"), text_format)

    def _insert_table(self, cursor: QTextCursor, block: Block) -> None:
        table_format = QTextTableFormat()
        table_format.setBorderCollapse(True)
        table_format.setBorder(1)
        table_format.setBorderBrush(QColor(self._style.tokens.line))
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
                cell_format = QTextBlockFormat(block_format)
                cell_format.setAlignment(_ALIGNMENT[block.alignment[column]])
                place = table.cellAt(number, column).firstCursorPosition()
                place.setBlockFormat(cell_format)
                for span in cell:
                    self._insert_span(place, block, span, head=not number)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        end = QTextBlockFormat()
        end.setLineHeight(0.0, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        cursor.setBlockFormat(end)
        tiny = QTextCharFormat()
        tiny.setFontPointSize(1)
        cursor.setBlockCharFormat(tiny)

    def setTextWidth(self, width: float) -> None:
        """Lay out in a width in pixels, which the columns of a table share."""
        if self._table is not None and width != self.textWidth():
            table_format = self._table.format().toTableFormat()
            percent = QTextLength.Type.PercentageLength
            shares = [QTextLength(percent, 100 * one / width) for one in shared(self._needs, width)]
            table_format.setColumnWidthConstraints(shares)
            self._table.setFormat(table_format)
        super().setTextWidth(width)

    def _grow(self, old: Block, new: Block) -> None:
        """Change the last block from where its text differs."""
        cursor = QTextCursor(self)
        same = 0
        while same < min(len(old.spans), len(new.spans)) and old.spans[same] == new.spans[same]:
            same += 1
        stale = sum([_length(span) for span in old.spans[same:]])
        rest = list(new.spans[same:])
        if same < len(old.spans) and rest:
            before, after = old.spans[same], rest[0]
            alike = (before.style, before.link) == (after.style, after.link)
            if alike and not after.style & FORMULA and after.text.startswith(before.text):
                stale -= units(before.text)
                rest[0] = Span(after.text[len(before.text) :], after.style, after.link)
        cursor.beginEditBlock()
        cursor.movePosition(QTextCursor.MoveOperation.End)
        if stale:
            cursor.setPosition(cursor.position() - stale, QTextCursor.MoveMode.KeepAnchor)
            cursor.removeSelectedText()
        for span in rest:
            if new.kind == CODE:
                cursor.insertText(span.text, self._character_format(new, span))
            else:
                self._insert_span(cursor, new, span)
        if new.kind != CODE:
            cursor.mergeBlockFormat(_block_format(new, self._line(new)))
        cursor.endEditBlock()

    def _character_format(self, block: Block, span: Span) -> QTextCharFormat:
        tokens = self._style.tokens
        result = QTextCharFormat()
        result.setForeground(QBrush(QColor(tokens.text_2 if block.quote else tokens.text)))
        if block.kind == CODE:
            return result
        if block.kind == HEADING:
            result.setProperty(QTextFormat.Property.FontPixelSize, self._size(block))
            result.setFontWeight(QFont.Weight.DemiBold)
        if span.style & BOLD:
            result.setFontWeight(QFont.Weight.DemiBold)
        if span.style & ITALIC:
            result.setFontItalic(True)
        if span.style & STRUCK:
            result.setFontStrikeOut(True)
        if span.style & INLINE_CODE:
            result.setFontFamilies(self._style.code_font.families())
            result.setProperty(QTextFormat.Property.FontPixelSize, self._style.code_font.pixelSize())
            result.setBackground(QBrush(QColor(tokens.hover)))
        if span.style & FORMULA and formula_of(span) is None:
            result.setFontFamilies(self._style.code_font.families())
            result.setProperty(QTextFormat.Property.FontPixelSize, self._style.code_font.pixelSize())
        if span.style & IMAGE:
            result.setBackground(QBrush(QColor(tokens.hover)))
        if span.link:
            result.setAnchor(True)
            result.setAnchorHref(span.link)
            result.setForeground(QBrush(QColor(tokens.accent)))
        return result


_ALIGNMENT = {
    "None": Qt.AlignmentFlag.AlignLeft,
    "Left": Qt.AlignmentFlag.AlignLeft,
    "Center": Qt.AlignmentFlag.AlignHCenter,
    "Right": Qt.AlignmentFlag.AlignRight,
}


def _grew(old: Block, new: Block) -> bool:
    """Return whether two blocks differ only in their text."""
    return (
        old.kind == new.kind
        and old.kind != TABLE
        and (old.level, old.indent, old.quote, old.marker) == (new.level, new.indent, new.quote, new.marker)
    )


def _length(span: Span) -> int:
    """Return the length of a span in the document."""
    return 1 if formula_of(span) is not None else units(span.text)


def _block_format(block: Block, line: int) -> QTextBlockFormat:
    result = QTextBlockFormat()
    heights = QTextBlockFormat.LineHeightTypes
    has_formula = any(
        span.style & FORMULA for row in block.rows or ((block.spans,),) for cell in row for span in cell
    )
    # A line with a tall formula is taller than the others.
    result.setLineHeight(line, (heights.MinimumHeight if has_formula else heights.FixedHeight).value)
    if (
        block.kind == PARAGRAPH
        and not block.marker
        and len(block.spans) == 1
        and stands_apart(block.spans[0])
    ):
        result.setAlignment(Qt.AlignmentFlag.AlignHCenter)
    if block.indent and (not block.marker or block.marker in TICK_BOXES):
        result.setIndent(block.indent)
    return result


def _list_format(block: Block) -> QTextListFormat:
    result = QTextListFormat()
    result.setIndent(block.indent)
    styles = QTextListFormat.Style
    if block.marker.endswith("."):
        result.setStyle(styles.ListDecimal)
        result.setStart(int(block.marker[:-1]))
    else:
        result.setStyle(styles.ListDisc if block.indent % 2 else styles.ListCircle)
    return result


def _column_needs(block: Block, style: TextStyle) -> list[tuple[float, float]]:
    """Return for each column of a table the width of its longest word and of its longest cell, in pixels."""
    bold = QFont(style.font)
    bold.setWeight(QFont.Weight.DemiBold)
    metrics = QFontMetricsF(bold)
    needs = []
    for column in range(len(block.alignment)):
        cells = [plain(row[column]) for row in block.rows if column < len(row)]
        words = {word for cell in cells for word in cell.split()}
        lines = {line for cell in cells for line in cell.splitlines()}
        word, line = (
            max(
                (metrics.horizontalAdvance(one[:_LONGEST]) for one in nlargest(_MEASURED, texts, _wide)),
                default=0,
            )
            for texts in (words, lines)
        )
        needs.append((word + _CELL, line + _CELL))
    return needs


def _wide(text: str) -> int:
    """Estimate the width of a text: letters beyond Latin ones are wider."""
    return len(text) if text.isascii() else 2 * len(text)


def shared(needs: Sequence[tuple[float, float]], width: float) -> list[float]:
    """Share a width among columns by their longest words and cells; words break only where nothing else is left."""
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
