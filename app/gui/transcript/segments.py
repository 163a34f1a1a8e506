"""The text of a row as pieces from top to bottom, each with a document of its own.

Neighbouring text shares a document until it holds about 1,500 characters, so a growing message changes only the last.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QPainter,
    QPalette,
    QPen,
    QTextCharFormat,
    QTextCursor,
)

from app.core.markdown_marks import tex_of
from app.formulas import speech
from app.gui.markdown.blocks import CODE, FORMULA, RULE, TABLE, TICK_BOXES, TICKED, Block, Span
from app.gui.markdown.document import INDENT, BlockDocument, gap_between
from app.gui.markdown.formula_object import MARKED, formula_of, paint_marked
from app.gui.markdown.utf16 import Utf16Places
from app.gui.transcript.row_style import RowStyle

SEGMENT_CHARACTERS = 1_500
QUOTE_STEP = 14
CODE_PADDING = 10
CODE_HEAD = 26
RULE_HEIGHT = 9
RULES_DRAWN = 400
"""Blocks of a message up to which a rule is a line of its own; after them it is an empty line."""


@dataclass(frozen=True, slots=True)
class Range:
    """A range of a row's plain text, or of its thinking, to mark; the colours are names that QColor knows.

    `underline` is that of a dotted line under the words.
    """

    start: int
    end: int
    background: str = "transparent"
    foreground: str = ""
    thought: bool = False
    underline: str = ""


def group(blocks: Sequence[Block], start: int = 0) -> list[tuple[int, int]]:
    """Return (first, end) of the blocks of each piece; a piece depends only on the blocks up to its end."""
    groups: list[tuple[int, int]] = []
    first, characters = start, 0
    for index in range(start, len(blocks)):
        block = blocks[index]
        if index > first and (
            characters >= SEGMENT_CHARACTERS
            or not _is_text(block, index)
            or not _is_text(blocks[index - 1], index - 1)
            or block.quote != blocks[index - 1].quote
        ):
            groups.append((first, index))
            first, characters = index, 0
        characters += sum([len(span.text) for span in block.spans])
    if first < len(blocks):
        groups.append((first, len(blocks)))
    return groups


def _is_text(block: Block, index: int) -> bool:
    """Whether a block shares a document; thousands of rules would otherwise make as many documents."""
    return block.kind not in (CODE, TABLE, RULE) or (block.kind == RULE and index >= RULES_DRAWN)


class Segment:
    """One piece: its document, its rectangle in the row and its range in the plain text."""

    def __init__(self, style: RowStyle, blocks: list[Block], first_block: int, start: int) -> None:
        self._style = style
        self.first_block = first_block
        self.start = start
        self._take(blocks)
        self.kind = blocks[0].kind if not _is_text(blocks[0], first_block) else "text"
        self.rect = QRect()
        self.goes_on = False
        self.highlighted = False
        self.document = None if self.kind == RULE else BlockDocument(style.text, blocks)

    def update(self, blocks: list[Block]) -> None:
        """Show other blocks, with the least change to the document."""
        if blocks == self.blocks:
            return
        kind = blocks[0].kind if not _is_text(blocks[0], self.first_block) else "text"
        same_box = kind == self.kind and blocks[0].quote == self.blocks[0].quote
        self._take(blocks)
        self.highlighted = False
        if self.document is None or not same_box or not self.document.patch(blocks):
            self.kind = kind
            self.document = None if kind == RULE else BlockDocument(self._style.text, blocks)

    def _take(self, blocks: list[Block]) -> None:
        text = "\n".join([block.text for block in blocks])
        self.blocks = blocks
        self.length = len(text)
        formulas = [(at, at + len(span.text)) for at, span in self._spans() if formula_of(span) is not None]
        self._places = Utf16Places(text, formulas)

    def gap_below(self, upper: "Segment") -> int:
        """Return the space between the piece above and this one in pixels."""
        return 0 if upper.goes_on else gap_between(upper.blocks[-1], self.blocks[0])

    def place(self, left: int, top: int, width: int) -> None:
        """Lay out in a width in pixels."""
        block = self.blocks[0]
        shift = block.quote * QUOTE_STEP
        if self.kind != "text":
            shift += block.indent * INDENT
        shift = min(shift, width // 2)
        self.rect = QRect(left + shift, top, width - shift, RULE_HEIGHT)
        if self.document is not None:
            self.document.setTextWidth(self.rect.width() - 2 * self._padding)
            height = round(self.document.size().height()) + self._head + self._foot
            self.rect.setHeight(height)

    @property
    def _padding(self) -> int:
        return CODE_PADDING if self.kind == CODE else 0

    @property
    def _head(self) -> int:
        return self._style.tall(CODE_HEAD) if self.kind == CODE and self.blocks[0].first else 0

    @property
    def _foot(self) -> int:
        return 8 if self.kind == CODE and not self.goes_on else 0

    @property
    def copy_rect(self) -> QRect:
        """The copy button of a code block; empty for other blocks."""
        if not self._head:
            return QRect()
        width = self._style.chip_metrics.horizontalAdvance(self._style.texts("transcript.copy_code")) + 20
        return QRect(self.rect.right() - width, self.rect.top(), width, self._head)

    def paint(self, painter: QPainter, clip: QRect, ranges: Sequence[Range]) -> None:
        """Paint what lies inside `clip`, in the row's coordinates."""
        tokens = self._style.tokens
        for depth in range(self.blocks[0].quote):
            x = self.rect.left() - (self.blocks[0].quote - depth) * QUOTE_STEP
            painter.fillRect(x, self.rect.top(), 2, self.rect.height(), QColor(tokens.line_strong))
        if self.document is None:
            painter.fillRect(
                self.rect.left(), self.rect.center().y(), self.rect.width(), 1, QColor(tokens.line_strong)
            )
            return
        if self.kind == CODE:
            self._paint_box(painter)
        origin = self._origin
        context = QAbstractTextDocumentLayout.PaintContext()
        context.clip = (
            QRectF(clip).translated(-origin).intersected(QRectF(0, 0, self.rect.width(), self.rect.height()))
        )
        context.palette.setColor(QPalette.ColorRole.Text, QColor(tokens.text))
        chosen = [self._selection(each) for each in ranges if self._touches(each)]
        if chosen:
            context.selections = chosen
        painter.save()
        painter.translate(origin)
        painter.setClipRect(context.clip, Qt.ClipOperation.IntersectClip)
        self.document.documentLayout().draw(painter, context)
        paint_marked(painter)
        painter.restore()
        for position, ticked in self._tick_boxes():
            self._paint_tick_box(painter, position, ticked)

    def position_at(self, point: QPointF) -> int:
        """Return the position in the plain text nearest to a point of the row."""
        if self.document is None:
            return self.start
        position = self.document.documentLayout().hitTest(point - self._origin, Qt.HitTestAccuracy.FuzzyHit)
        return self.start + max(0, min(self._places.from_qt(position - self._lead), self.length))

    def link_at(self, point: QPointF) -> tuple[str, str]:
        """Return address and text of the link at a point of the row, or two empty texts."""
        if self.document is None:
            return "", ""
        layout = self.document.documentLayout()
        url = layout.anchorAt(point - self._origin)
        if not url:
            return "", ""
        return url, self._link_text(url)

    def is_source_at(self, point: QPointF) -> bool:
        """Whether at a point of the row is a formula that cannot be drawn."""
        position = self.position_at(point) - self.start
        return any(
            at <= position < at + len(span.text) and formula_of(span) is None
            for at, span in self._spans()
            if span.style & FORMULA
        )

    def position_rect(self, position: int) -> QRect:
        """Return the rectangle of a position of the plain text in the row; it is one pixel wide."""
        if self.document is None:
            return QRect(self.rect.left(), self.rect.top(), 1, self.rect.height())
        place = self._in_document(position - self.start)
        block = self.document.findBlock(place)
        line = block.layout().lineForTextPosition(place - block.position())
        top = self.document.documentLayout().blockBoundingRect(block).topLeft() + self._origin
        if not line.isValid():
            return QRect(round(top.x()), round(top.y()), 1, self._style.text.line_height)
        x: Any = line.cursorToX(place - block.position())
        if isinstance(x, tuple):
            x = x[0]
        origin = block.layout().position() + self._origin
        if self.kind == TABLE:
            # In a table the layout gives the position in the cell only.
            origin = top - block.layout().boundingRect().topLeft()
        return QRect(round(origin.x() + x), round(origin.y() + line.y()), 1, round(line.height()))

    @property
    def links(self) -> list[tuple[int, Span]]:
        """The links of this piece and their positions in the plain text."""
        return [(self.start + at, span) for at, span in self._spans() if span.link]

    def _spans(self) -> Iterator[tuple[int, Span]]:
        """Yield the spans and their positions in this piece's plain text."""
        position = 0
        for block in self.blocks:
            at = position
            for cell in [cell for row in block.rows for cell in row] or [block.spans]:
                for span in cell:
                    yield at, span
                    at += len(span.text)
                at += 1
            position += len(block.text) + 1

    def spoken(self, language: str) -> str:
        """Return this piece's plain text with formulas as words."""
        text, position = "\n".join([block.text for block in self.blocks]), 0
        parts: list[str] = []
        for at, span in self._spans():
            if formula_of(span) is not None:
                parts += [text[position:at], speech(tex_of(span.text), language)]
                position = at + len(span.text)
        return "".join([*parts, text[position:]])

    def _places_of_blocks(self) -> Iterator[tuple[int, Block]]:
        """Yield the blocks and their positions in the plain text."""
        position = self.start
        for block in self.blocks:
            yield position, block
            position += len(block.text) + 1

    @property
    def _origin(self) -> QPointF:
        return QPointF(self.rect.left() + self._padding, self.rect.top() + self._head)

    @property
    def _lead(self) -> int:
        return 1 if self.kind == TABLE else 0

    def _in_document(self, position: int, *, end: bool = False) -> int:
        """Return the position in the document of a position in this piece's plain text."""
        return self._places.to_qt(position, end=end) + self._lead

    def _link_text(self, url: str) -> str:
        return next((span.text for _, span in self.links if span.link == url), url)

    def _touches(self, each: Range) -> bool:
        return each.start < self.start + self.length + 1 and each.end > self.start

    def _selection(self, each: Range) -> QAbstractTextDocumentLayout.Selection:
        assert self.document is not None
        result = QAbstractTextDocumentLayout.Selection()
        cursor = QTextCursor(self.document)
        last = self.document.characterCount() - 1
        begin, end = max(0, each.start - self.start), max(0, min(each.end - self.start, self.length))
        cursor.setPosition(min(last, self._in_document(begin)))
        cursor.setPosition(min(last, self._in_document(end, end=True)), QTextCursor.MoveMode.KeepAnchor)
        result.cursor = cursor
        text_format = QTextCharFormat()
        text_format.setBackground(QColor(each.background))
        text_format.setProperty(MARKED, True)
        if each.underline:
            text_format.setUnderlineStyle(QTextCharFormat.UnderlineStyle.DotLine)
            text_format.setUnderlineColor(QColor(each.underline))
        if each.foreground:
            text_format.setForeground(QColor(each.foreground))
        result.format = text_format
        return result

    def _tick_boxes(self) -> list[tuple[int, bool]]:
        """Return the positions of the items of task lists, and whether they are done."""
        return [
            (position, block.marker == TICKED)
            for position, block in self._places_of_blocks()
            if block.marker in TICK_BOXES
        ]

    def _paint_tick_box(self, painter: QPainter, position: int, ticked: bool) -> None:
        """Paint the box before an item; Qt's own looks the same ticked and not."""
        tokens = self._style.tokens
        line = self.position_rect(position)
        box = QRectF(line.left() - 18.5, line.center().y() - 5.5, 12, 12)
        painter.setPen(QColor(tokens.accent if ticked else tokens.line_strong))
        painter.setBrush(QColor(tokens.accent if ticked else tokens.surface))
        painter.drawRoundedRect(box, 3, 3)
        if ticked:
            painter.setPen(QPen(QColor(tokens.on_accent), 1.6))
            painter.drawPolyline(
                [box.topLeft() + QPointF(x, y) for x, y in ((2.8, 6.2), (5.2, 8.6), (9.4, 3.6))]
            )

    def _paint_box(self, painter: QPainter) -> None:
        tokens = self._style.tokens
        box = QRectF(self.rect).adjusted(0.5, 0.5, -0.5, -0.5)
        if not self.blocks[0].first:
            box.setTop(box.top() - 12)
        if self.goes_on:
            box.setBottom(box.bottom() + 12)
        painter.save()
        painter.setClipRect(self.rect, Qt.ClipOperation.IntersectClip)
        painter.setPen(QColor(tokens.line))
        painter.setBrush(QColor(tokens.surface))
        painter.drawRoundedRect(box, 8, 8)
        painter.restore()
        if self._head:
            middle = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
            head = QRect(self.rect.left() + CODE_PADDING, self.rect.top(), self.rect.width() // 2, self._head)
            painter.setFont(self._style.meta_font)
            painter.setPen(QColor(tokens.text_2))
            painter.drawText(head, middle, self.blocks[0].language)
            painter.setFont(self._style.chip_font)
            centre = int(Qt.AlignmentFlag.AlignCenter)
            painter.drawText(self.copy_rect, centre, self._style.texts("transcript.copy_code"))
