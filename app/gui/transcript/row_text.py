"""The text of a row: its look, and its pieces from top to bottom, each with a document of its own.

`RowStyle` has the fonts, distances in pixels, colours and texts of one layout. Neighbouring text shares a
document until it holds about 1,500 characters, so a growing message changes only the last.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6 import QtGui
from PySide6.QtCore import QMargins, QPoint, QPointF, QRect, QRectF, QSize, Qt

from app.core.message import Attachment
from app.core.texts import Texts, tex_of
from app.formulas import speech
from app.gui.display.appearance import BODY_PX
from app.gui.display.theme import Tokens
from app.gui.markdown import document
from app.gui.markdown.blocks import CODE, FORMULA, RULE, TABLE, TICK_BOXES, TICKED, Block, Span
from app.gui.transcript.row_heights import RowEstimate
from app.gui.widgets.badge import paint_box, paint_text

COMPACT = "compact"
WIDE = "wide"
DEBATE = "debate"
"""As wide, with bars in the speakers' colours."""
COLUMN = "column"
"""Of one speaker, beside others: rows without names."""
MAX_COLUMN = 860
MAX_CARD = 700
DEEP = 4
BAR = 14
"""The room of a bar in a speaker's colour."""

Picture = Callable[[str, str, int, float], QtGui.QPixmap]
"""Gives an icon's picture: its name, a colour's token, side in points, device pixels a point."""


Thumbnail = Callable[[str, int, Attachment, QSize], QtGui.QImage | None]
"""Gives a picture of a row in a size: the row's id, the attachment's place, the attachment, device pixels."""


def _sized(font: QtGui.QFont, pixels: int, weight: int = 400) -> QtGui.QFont:
    result = QtGui.QFont(font)
    result.setPixelSize(pixels)
    result.setWeight(QtGui.QFont.Weight(weight))
    return result


def body_font(font: QtGui.QFont) -> QtGui.QFont:
    """Return a widget's font with its size in pixels."""
    font = QtGui.QFont(font)
    if font.pixelSize() <= 0:
        font.setPixelSize(BODY_PX)
    return font


def code_font(pixels: int) -> QtGui.QFont:
    """Return the system's fixed font."""
    font = QtGui.QFontDatabase.systemFont(QtGui.QFontDatabase.SystemFont.FixedFont)
    font.setPixelSize(pixels)
    return font


class RowStyle:
    """Fonts, metrics and distances (pixels) of one layout in one theme."""

    def __init__(
        self,
        layout: str,
        font: QtGui.QFont,
        tokens: Tokens,
        texts: Texts,
        picture: Picture | None = None,
        thumbnail: Thumbnail | None = None,
        moves: Callable[[], bool] = lambda: False,
    ) -> None:
        self.layout, self.font, self.tokens, self.texts = layout, font, tokens, texts
        self.picture, self.thumbnail, self.moves = picture, thumbnail, moves
        body = font.pixelSize()
        self.text = document.TextStyle(font, code_font(max(9, body - 1)), tokens)
        self.name_font = _sized(font, body, 620)
        self.meta_font = _sized(font, body - 2)
        self.chip_font = _sized(font, body - 2, 500)
        self.label_font = _sized(font, body - 3, 600)
        self.label_font.setLetterSpacing(QtGui.QFont.SpacingType.AbsoluteSpacing, 0.6)
        self.name_metrics = QtGui.QFontMetrics(self.name_font)
        self.meta_metrics = QtGui.QFontMetrics(self.meta_font)
        self.chip_metrics = QtGui.QFontMetrics(self.chip_font)
        # Whether the layout is one of the main area.
        self.wide = layout in (WIDE, DEBATE)
        # Whether a bar beside each row has its speaker's colour.
        self.barred = layout not in (WIDE, COLUMN)
        # The space left and right of the rows.
        self.margin = 28 if self.wide else 14 if layout == COLUMN else 18
        # The left edge of the square with the initial, from the row's left edge, and its side.
        self.avatar_left = BAR if self.barred else 0
        self.avatar = 30 if self.wide else 22
        # The left edge of text, from the row's left edge.
        self.text_left = 0 if layout == COLUMN else self.avatar_left + (41 if self.wide else 0)
        # The left edge of the name.
        self.name_left = self.text_left if self.wide else self.text_left + self.avatar + 9
        # The height of the line with name and chips.
        self.header = self.tall(22)
        # The space over the first row, and under each.
        self.lead = 14 if self.wide else 4
        self.row_gap = 22 if self.wide else 13

    def side_margins(self, width: int, bar: int) -> QMargins:
        """Return the margins that centre the widest row in a view of a width with a scroll bar at its
        right.
        """
        row = MAX_COLUMN + 2 * self.margin
        left = max(0, (width - row) // 2)
        return QMargins(left, 0, max(0, width - bar - left - row), 0)

    def estimate(self, width: int) -> RowEstimate:
        """Return the estimate of row heights for a width in pixels."""
        column = min(width - 2 * self.margin, MAX_COLUMN) - self.text_left
        per_line = max(10.0, column / (self.font.pixelSize() * 0.52))
        line = self.text.line_height
        return RowEstimate(self.header + self.row_gap + line, line * 0.8, line / per_line)

    def indent(self, depth: int) -> int:
        """Return the indent of rows of sub-agents in pixels; beyond DEEP levels it grows slowly."""
        step = 51 if self.wide else 20
        return step * min(depth, DEEP) + 8 * min(max(0, depth - DEEP), 8)

    def tall(self, pixels: int) -> int:
        """Return a height for text, scaled up for larger fonts."""
        return round(pixels * max(1.0, self.font.pixelSize() / BODY_PX))


SEGMENT_CHARACTERS = 1_500
QUOTE_STEP = 14
CODE_PADDING = 10
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
        before = blocks[index - 1]
        alike = _is_text(block, index) and _is_text(before, index - 1) and block.quote == before.quote
        if index > first and (characters >= SEGMENT_CHARACTERS or not alike):
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
        self._style, self.first_block, self.start = style, first_block, start
        self.rect = QRect()
        self._origin = QPointF()
        self._head = 0
        self.goes_on = False
        self.kind = ""
        self.blocks: list[Block] = []
        self.document: document.BlockDocument | None = None
        self.update(blocks)

    def update(self, blocks: list[Block]) -> None:
        """Show other blocks, with the least change to the document."""
        if blocks == self.blocks:
            return
        kind = blocks[0].kind if not _is_text(blocks[0], self.first_block) else "text"
        same_box = kind == self.kind and blocks[0].quote == self.blocks[0].quote
        self.blocks, self.kind, self.highlighted = blocks, kind, False
        # A table stands behind the first character of its document.
        self._before = int(kind == TABLE)
        if self.document is None or not same_box or not self.document.patch(blocks):
            self.document = None if kind == RULE else document.BlockDocument(self._style.text, blocks)
        text = "\n".join([block.text for block in blocks])
        self.length = len(text)
        drawn = [(at, span) for at, span in self._spans() if document.formula_of(span) is not None]
        objects = [(at, at + len(span.text)) for at, span in drawn]
        self._places = document.Utf16Places(text, objects)

    def place(self, left: int, top: int, width: int) -> None:
        """Lay out in a width in pixels."""
        block = self.blocks[0]
        shift = block.quote * QUOTE_STEP
        if self.kind != "text":
            shift += block.indent * document.INDENT
        shift = min(shift, width // 2)
        self.rect = QRect(left + shift, top, width - shift, 9)
        padding = CODE_PADDING if self.kind == CODE else 0
        self._head = self._style.tall(26) if padding and block.first else 0
        self._origin = QPointF(self.rect.left() + padding, top + self._head)
        if self.document is not None:
            self.document.setTextWidth(self.rect.width() - 2 * padding)
            foot = 8 if padding and not self.goes_on else 0
            self.rect.setHeight(round(self.document.size().height()) + self._head + foot)

    @property
    def copy_rect(self) -> QRect:
        """The copy button of a code block; empty for other blocks."""
        if not self._head:
            return QRect()
        width = self._style.chip_metrics.horizontalAdvance(self._style.texts("transcript.copy_code")) + 20
        return QRect(self.rect.right() - width, self.rect.top(), width, self._head)

    def paint(self, painter: QtGui.QPainter, clip: QRect, ranges: Sequence[Range]) -> None:
        """Paint what lies inside `clip`, in the row's coordinates."""
        tokens = self._style.tokens
        for depth in range(self.blocks[0].quote):
            x = self.rect.left() - (self.blocks[0].quote - depth) * QUOTE_STEP
            painter.fillRect(x, self.rect.top(), 2, self.rect.height(), QtGui.QColor(tokens.line_strong))
        if self.document is None:
            rule = QRect(self.rect.left(), self.rect.center().y(), self.rect.width(), 1)
            painter.fillRect(rule, QtGui.QColor(tokens.line_strong))
            return
        if self.kind == CODE:
            self._paint_box(painter)
        origin = self._origin
        context = QtGui.QAbstractTextDocumentLayout.PaintContext()
        whole = QRectF(0, 0, self.rect.width(), self.rect.height())
        context.clip = QRectF(clip).translated(-origin).intersected(whole)
        context.palette.setColor(QtGui.QPalette.ColorRole.Text, QtGui.QColor(tokens.text))
        end = self.start + self.length + 1
        chosen = [self._selection(each) for each in ranges if each.start < end and each.end > self.start]
        if chosen:
            context.selections = chosen
        painter.save()
        painter.translate(origin)
        painter.setClipRect(context.clip, Qt.ClipOperation.IntersectClip)
        self.document.documentLayout().draw(painter, context)
        document.paint_marked(painter)
        painter.restore()
        for position, ticked in self._tick_boxes():
            self._paint_tick_box(painter, position, ticked)

    def position_at(self, point: QPointF) -> int:
        """Return the position in the plain text nearest to a point of the row."""
        if self.document is None:
            return self.start
        position = self.document.documentLayout().hitTest(point - self._origin, Qt.HitTestAccuracy.FuzzyHit)
        return self.start + max(0, min(self._places.from_qt(position - self._before), self.length))

    def link_at(self, point: QPointF) -> str:
        """Return the address of the link at a point of the row, or nothing."""
        if self.document is None:
            return ""
        return self.document.documentLayout().anchorAt(point - self._origin)

    def is_source_at(self, point: QPointF) -> bool:
        """Whether at a point of the row is a formula that cannot be drawn."""
        position = self.position_at(point) - self.start
        return any(
            at <= position < at + len(span.text) and document.formula_of(span) is None
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
            if document.formula_of(span) is not None:
                parts += [text[position:at], speech(tex_of(span.text), language)]
                position = at + len(span.text)
        return "".join([*parts, text[position:]])

    def _in_document(self, position: int, *, end: bool = False) -> int:
        """Return the position in the document of a position in this piece's plain text."""
        return self._places.to_qt(position, end=end) + self._before

    def _selection(self, each: Range) -> QtGui.QAbstractTextDocumentLayout.Selection:
        assert self.document is not None
        result = QtGui.QAbstractTextDocumentLayout.Selection()
        cursor = QtGui.QTextCursor(self.document)
        last = self.document.characterCount() - 1
        begin, end = max(0, each.start - self.start), max(0, min(each.end - self.start, self.length))
        cursor.setPosition(min(last, self._in_document(begin)))
        cursor.setPosition(min(last, self._in_document(end, end=True)), QtGui.QTextCursor.MoveMode.KeepAnchor)
        result.cursor = cursor
        text_format = QtGui.QTextCharFormat()
        text_format.setBackground(QtGui.QColor(each.background))
        text_format.setProperty(document.MARKED, True)
        if each.underline:
            text_format.setUnderlineStyle(QtGui.QTextCharFormat.UnderlineStyle.DotLine)
            text_format.setUnderlineColor(QtGui.QColor(each.underline))
        if each.foreground:
            text_format.setForeground(QtGui.QColor(each.foreground))
        result.format = text_format
        return result

    def _tick_boxes(self) -> Iterator[tuple[int, bool]]:
        """Yield the positions of the items of task lists, and whether they are done."""
        position = self.start
        for block in self.blocks:
            if block.marker in TICK_BOXES:
                yield position, block.marker == TICKED
            position += len(block.text) + 1

    def _paint_tick_box(self, painter: QtGui.QPainter, position: int, ticked: bool) -> None:
        """Paint the box before an item; Qt's own looks the same ticked and not."""
        tokens, line = self._style.tokens, self.position_rect(position)
        box = QRectF(line.left() - 18.5, line.center().y() - 5.5, 12, 12)
        colours = (tokens.accent, tokens.accent) if ticked else (tokens.line_strong, tokens.surface)
        paint_box(painter, box, *colours, 3)
        if ticked:
            painter.setPen(QtGui.QPen(QtGui.QColor(tokens.on_accent), 1.6))
            tick = ((2.8, 6.2), (5.2, 8.6), (9.4, 3.6))
            painter.drawPolyline([box.topLeft() + QPointF(x, y) for x, y in tick])

    def _paint_box(self, painter: QtGui.QPainter) -> None:
        tokens = self._style.tokens
        box = QRectF(self.rect).adjusted(0.5, 0.5, -0.5, -0.5)
        if not self.blocks[0].first:
            box.setTop(box.top() - 12)
        if self.goes_on:
            box.setBottom(box.bottom() + 12)
        painter.save()
        painter.setClipRect(self.rect, Qt.ClipOperation.IntersectClip)
        paint_box(painter, box, tokens.line, tokens.surface, 8)
        painter.restore()
        if self._head:
            head = QRect(self.rect.left() + CODE_PADDING, self.rect.top(), self.rect.width() // 2, self._head)
            paint_text(painter, self._style.meta_font, tokens.text_2, head, self.blocks[0].language)
            words, centre = self._style.texts("transcript.copy_code"), Qt.AlignmentFlag.AlignHCenter
            paint_text(painter, self._style.chip_font, tokens.text_2, self.copy_rect, words, centre)


class SegmentStack:
    """The pieces of one text; `stale` is the index of the first piece to lay out again."""

    def __init__(self, style: RowStyle) -> None:
        self._style = style
        self.blocks: list[Block] = []
        self.segments: list[Segment] = []
        self.stale = self._coloured = 0

    @property
    def documents(self) -> int:
        """The number of documents."""
        return sum([segment.document is not None for segment in self.segments])

    @property
    def plain_text(self) -> str:
        """The text without Markdown marks."""
        return "\n".join([block.text for block in self.blocks])

    def spoken(self, language: str) -> str:
        """Return the plain text with formulas as words."""
        return "\n".join([segment.spoken(language) for segment in self.segments])

    @property
    def length(self) -> int:
        """The length of the plain text."""
        return self.segments[-1].start + self.segments[-1].length if self.segments else 0

    @property
    def bottom(self) -> int:
        """The lower edge of the last piece."""
        return self.segments[-1].rect.bottom() + 1 if self.segments else 0

    def set_blocks(self, blocks: Sequence[Block], first: int) -> None:
        """Show other blocks, of which `first` is the first that changed."""
        kept = max(0, bisect_right(self.segments, first, key=lambda segment: segment.first_block) - 1)
        start_block = self.segments[kept].first_block if self.segments else 0
        position = self.segments[kept].start if self.segments else 0
        self.blocks = list(blocks)
        segments = self.segments[:kept]
        for index, (begin, end) in enumerate(group(blocks, start_block)):
            part = list(blocks[begin:end])
            if kept + index < len(self.segments):
                segment = self.segments[kept + index]
                segment.first_block, segment.start = begin, position
                segment.update(part)
            else:
                segment = Segment(self._style, part, begin, position)
            segment.goes_on = end < len(blocks) and blocks[end].kind == CODE and not blocks[end].first
            position += segment.length + 1
            segments.append(segment)
        self.segments = segments
        self.stale = min(self.stale, kept)
        self._coloured = min(self._coloured, kept)

    def plain_code(self, *, growing: bool) -> Segment | None:
        """Return the first code without colours; the last piece does not count while it grows."""
        while self._coloured < len(self.segments) - growing:
            segment = self.segments[self._coloured]
            if segment.kind == CODE and not segment.highlighted:
                return segment
            self._coloured += 1
        return None

    def place(self, left: int, top: int, width: int) -> int:
        """Lay out what is stale or moved; return the lower edge, or `top` if there is no text."""
        moved = bool(self.segments) and self.segments[0].rect.top() != top
        for number in range(0 if moved else self.stale, len(self.segments)):
            segment = self.segments[number]
            if number:
                upper = self.segments[number - 1]
                gap = 0 if upper.goes_on else document.gap_between(upper.blocks[-1], segment.blocks[0])
                top = upper.rect.bottom() + 1 + gap
            segment.place(left, top, width)
        self.stale = len(self.segments)
        return self.bottom if self.segments else top

    def paint(self, painter: QtGui.QPainter, clip: QRect, ranges: Sequence[Range]) -> None:
        """Paint what lies inside `clip`."""
        for segment in self.segments[self._number_at(clip.top()) :]:
            if segment.rect.top() > clip.bottom():
                break
            segment.paint(painter, clip, ranges)

    @property
    def links(self) -> list[tuple[int, Span]]:
        """The links of the text and their positions."""
        return [found for segment in self.segments for found in segment.links]

    @property
    def copy_rects(self) -> list[QRect]:
        """The copy buttons of code blocks."""
        return [segment.copy_rect for segment in self.segments if not segment.copy_rect.isEmpty()]

    def code_at(self, point: QPoint) -> str:
        """Return the code of the block whose copy button is at a point."""
        code: list[str] = []
        for segment in self.segments:
            if code and not segment.blocks[0].first:
                code.append(segment.blocks[0].text)
            elif code:
                break
            elif segment.copy_rect.contains(point):
                code.append(segment.blocks[0].text)
        return "\n".join(code)

    def link_at(self, point: QPoint) -> str:
        """Return the address of the link at a point, or nothing."""
        segment = self._at(point.y())
        return segment.link_at(QPointF(point)) if segment and segment.rect.contains(point) else ""

    def is_source_at(self, point: QPoint) -> bool:
        """Whether at a point is a formula that cannot be drawn."""
        segment = self._at(point.y())
        return segment is not None and segment.rect.contains(point) and segment.is_source_at(QPointF(point))

    def position_at(self, point: QPoint) -> int:
        """Return the position in the plain text nearest to a point."""
        segment = self._at(point.y())
        if segment is None or (segment is self.segments[0] and point.y() < segment.rect.top()):
            return 0
        return segment.position_at(QPointF(point))

    def position_rect(self, position: int) -> QRect | None:
        """Return the rectangle of a position of the plain text, None without text."""
        for segment in reversed(self.segments):
            if position >= segment.start:
                return segment.position_rect(position)
        return None

    def _at(self, y: int) -> Segment | None:
        number = min(self._number_at(y), len(self.segments) - 1)
        return self.segments[number] if self.segments else None

    def _number_at(self, y: int) -> int:
        """Return the index of the first piece whose lower edge is not above a height."""
        return bisect_left(self.segments, y, key=lambda segment: segment.rect.bottom())
