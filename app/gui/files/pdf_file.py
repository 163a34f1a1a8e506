"""Writes a session's document as a PDF with the program's own layout, so that nothing is ever loaded
from the network.

The work is done in small pieces on the main thread: objects that Qt lays out in another thread may be freed
in whichever thread Python's collector runs, which crashes.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from PySide6 import QtGui
from PySide6.QtCore import QByteArray, QIODevice, QMarginsF, QPointF, QRectF, QSaveFile, Qt
from PySide6.QtSvg import QSvgRenderer

from app.core.texts import with_lower_headings
from app.engine.export.document import QUIET, Chart, DocumentHead, DocumentPart, Entry, Section
from app.engine.export.formats import CHART_HEIGHT, CHART_WIDTH, chart_svg, entry_text, files_as_markdown
from app.gui.display.theme import LIGHT
from app.gui.markdown import blocks as kinds
from app.gui.markdown.blocks import Block, Cell, Span, StreamingBlocks, break_words, clean, finished
from app.gui.markdown.document import INDENT, ITEM_GAP, BlockDocument, TextStyle, gap_between
from app.gui.transcript.row_text import code_font, group

DOTS_PER_INCH = 96
MARGIN_MM = 18
FOOT = 26
QUOTE_STEP = 14
CODE_PADDING = 8
BODY_PX = 13
BAR_STEP = 12
PART_GAP = 14
ROOM_WITH_HEADING = 90
"""What a heading and the first lines below it need, in pixels."""
SLICE = 500
TURN_S = 0.004


async def write_pdf(path: Path, title: str, parts: Iterable[DocumentPart], font: QtGui.QFont) -> None:
    """Write a document on A4, completely or not at all; may take seconds. Raises OSError.

    If cancelled, an existing file stays as it was.
    """
    file = QSaveFile(str(path))
    if not file.open(QIODevice.OpenModeFlag.WriteOnly):
        raise OSError(file.errorString())
    writer = QtGui.QPdfWriter(file)
    writer.setTitle(title)
    writer.setCreator("Moot")
    writer.setResolution(DOTS_PER_INCH)
    writer.setPageSize(QtGui.QPageSize(QtGui.QPageSize.PageSizeId.A4))
    margins = QMarginsF(MARGIN_MM, MARGIN_MM, MARGIN_MM, MARGIN_MM)
    writer.setPageMargins(margins, QtGui.QPageLayout.Unit.Millimeter)
    painter = QtGui.QPainter()
    if not painter.begin(writer):
        raise OSError(file.errorString())
    until = perf_counter() + TURN_S
    try:
        for _ in _Pages(writer, painter, font).set(parts):
            if perf_counter() >= until:
                await asyncio.sleep(0)
                until = perf_counter() + TURN_S
    except BaseException:
        file.cancelWriting()
        raise
    finally:
        painter.end()
    if not file.commit():
        raise OSError(file.errorString())


class _Pages:
    """The pages of a PDF, filled from top to bottom."""

    def __init__(self, writer: QtGui.QPdfWriter, painter: QtGui.QPainter, font: QtGui.QFont) -> None:
        self._writer, self._painter = writer, painter
        body = QtGui.QFont(font)
        body.setPixelSize(BODY_PX)
        self._style = TextStyle(body, code_font(BODY_PX - 1), LIGHT)
        self._foot_font = QtGui.QFont(body)
        self._foot_font.setPixelSize(BODY_PX - 3)
        self._width = float(writer.width())
        self._height = float(writer.height()) - FOOT
        self._top = self._left = 0.0
        self._bar: tuple[QtGui.QColor, float] | None = None
        self._number = 1
        self._number_page()

    def set(self, parts: Iterable[DocumentPart]) -> Iterator[None]:
        """Lay out a document, piece by piece."""
        for part in parts:
            match part:
                case DocumentHead():
                    yield from self._set_head(part)
                case Section():
                    yield from self._set_section(part)
                case Entry():
                    yield from self._set_entry(part)

    def _set_head(self, head: DocumentHead) -> Iterator[None]:
        yield from self.set_blocks([Block(kinds.HEADING, _spans(head.title), level=1)])
        self._top += PART_GAP / 2
        grey = self._in_colour(QUIET)
        for label, value in head.facts:
            yield from self.set_blocks([Block(kinds.LITERAL, _spans(f"{label}: {value}"))], grey)

    def _set_section(self, section: Section) -> Iterator[None]:
        self._begin_part(2 * PART_GAP)
        if section.chart is not None:
            self._keep_together(self._chart_height() + (len(section.lines) + 2) * 2 * BODY_PX)
        yield from self.set_blocks([Block(kinds.HEADING, _spans(section.heading), level=2)])
        self._top += PART_GAP / 2
        if section.text:
            yield from self.set_blocks([Block(kinds.PARAGRAPH, _spans(section.text))])
        for line in section.lines:
            marker = "•" if line.done is None else kinds.TICKED if line.done else kinds.UNTICKED
            cites = (Span(f" {cite.text}", link=f"#{cite.anchor}") for cite in line.cites)
            item = Block(kinds.PARAGRAPH, (*_spans(line.text), *cites), indent=1, marker=marker)
            yield from self.set_blocks([item], self._in_colour(line.colour) if line.colour else None)
            self._left = BAR_STEP if line.body else 0.0
            yield from self._set_markdown(with_lower_headings(line.body))
            self._left = 0.0
            self._top += ITEM_GAP
        if section.chart is not None:
            self._set_chart(section.chart)
        yield from self._set_markdown("\n".join(files_as_markdown(section.files)))

    def _chart_height(self) -> float:
        return min(0.8 * self._width * CHART_HEIGHT / CHART_WIDTH, self._height)

    def _set_chart(self, chart: Chart) -> None:
        height = self._chart_height()
        self._keep_together(height)
        picture = QSvgRenderer(QByteArray(chart_svg(chart).encode()))
        self._painter.save()
        self._painter.setFont(self._style.font)
        picture.render(self._painter, QRectF(0, self._top, height * CHART_WIDTH / CHART_HEIGHT, height))
        self._painter.restore()
        self._top += height

    def _set_entry(self, entry: Entry) -> Iterator[None]:
        self._begin_part(PART_GAP)
        self._left = min(entry.depth * INDENT, self._width / 2) + BAR_STEP
        self._bar = (QtGui.QColor(entry.colour), self._top)
        if entry.heading:
            heading = Block(kinds.PARAGRAPH, (Span(clean(entry.heading), kinds.BOLD),))
            yield from self.set_blocks([heading], self._in_colour(entry.colour), entry.anchor)
            self._top += ITEM_GAP
        yield from self._set_markdown(entry_text(entry))
        self._left, self._bar = 0.0, None

    def _in_colour(self, colour: str) -> TextStyle:
        return TextStyle(self._style.font, self._style.code_font, replace(LIGHT, text=colour))

    def _begin_part(self, gap: float) -> None:
        """Leave a gap, or begin a page where only a heading would fit."""
        self._top += gap if self._top else 0
        self._keep_together(ROOM_WITH_HEADING)

    def _keep_together(self, height: float) -> None:
        if self._top and self._height - self._top < height:
            self._begin_page()

    def _set_markdown(self, markdown: str) -> Iterator[None]:
        stream = StreamingBlocks()
        for start in range(0, len(markdown), SLICE):
            stream.feed(markdown[start : start + SLICE])
            yield
        stream.finish()
        yield from self.set_blocks(stream.blocks)

    def set_blocks(
        self, blocks: Sequence[Block], style: TextStyle | None = None, anchor: str = ""
    ) -> Iterator[None]:
        """Lay out blocks, piece by piece; links of the document lead to `anchor`."""
        before: Block | None = None
        for first, end in group(blocks):
            piece = [_with_box(block) for block in blocks[first:end]]
            goes_on = before is not None and piece[0].kind == kinds.CODE and not piece[0].first
            self._top += gap_between(before, piece[0]) if before is not None and not goes_on else 0
            self._set_piece(piece, style or self._style, anchor)
            before = piece[-1]
            yield

    def _set_piece(self, piece: list[Block], style: TextStyle, anchor: str) -> None:
        block, code = piece[0], piece[0].kind == kinds.CODE
        shift = self._left + block.quote * QUOTE_STEP + (block.indent * INDENT if code else 0)
        left = min(float(shift), self._width / 2 + BAR_STEP)
        if block.kind == kinds.RULE:
            line = QRectF(left, self._top + 6, self._width - left, 1)
            self._painter.fillRect(line, QtGui.QColor(LIGHT.line))
            self._top += 12
            self._draw_bar()
            return
        padding = CODE_PADDING if code else 0
        document = BlockDocument(style, piece)
        if anchor:
            _name(document, anchor)
        document.setTextWidth(self._width - left - 2 * padding)
        done = 0.0
        for bottom in self._cuts(document):
            height = bottom - done
            area = QRectF(left, self._top, self._width - left, height)
            if code:
                self._painter.fillRect(area, QtGui.QColor(LIGHT.hover))
            for depth in range(block.quote):
                bar = QRectF(left - (block.quote - depth) * QUOTE_STEP, self._top, 2, height)
                self._painter.fillRect(bar, QtGui.QColor(LIGHT.line_strong))
            self._draw(document, area.adjusted(padding, 0, -padding, 0), done)
            self._top += height
            self._draw_bar()
            done = bottom

    def _draw_bar(self) -> None:
        """Draw the bar of an entry down to here."""
        if self._bar is not None:
            colour, top = self._bar
            self._painter.fillRect(QRectF(self._left - BAR_STEP, top, 3, self._top - top), colour)
            self._bar = (colour, self._top)

    def _draw(self, document: BlockDocument, area: QRectF, start: float) -> None:
        """Draw a document from the height `start` on into an area of the page."""
        context = QtGui.QAbstractTextDocumentLayout.PaintContext()
        context.clip = QRectF(0, start, area.width(), area.height())
        self._painter.save()
        self._painter.setClipRect(area)
        self._painter.translate(area.topLeft() - QPointF(0, start))
        document.documentLayout().draw(self._painter, context)
        self._painter.restore()

    def _cuts(self, document: BlockDocument) -> Iterator[float]:
        """Yield the end of each slice of a document; a new page begins before each slice that does not
        fit.
        """
        lines = _lines(document)
        whole, done = document.size().height(), 0.0
        while done < whole:
            room = done + self._height - self._top
            if whole <= room:
                yield whole
                return
            # The last height on this page that cuts no line, also none of a table's cells.
            bottom = room
            for upper, lower in reversed(lines):
                if upper < bottom < lower:
                    bottom = upper
            if bottom > done:
                yield bottom
                done = bottom
            elif self._top == 0.0:  # A line is higher than a page.
                yield room
                done = room
            self._begin_page()

    def _begin_page(self) -> None:
        self._writer.newPage()
        self._top = 0.0
        self._bar = (self._bar[0], 0.0) if self._bar is not None else None
        self._number += 1
        self._number_page()

    def _number_page(self) -> None:
        foot = QRectF(0, self._height, self._width, FOOT)
        self._painter.setFont(self._foot_font)
        self._painter.setPen(QtGui.QColor(LIGHT.text_2))
        where = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom
        self._painter.drawText(foot, int(where), str(self._number))


def _lines(document: BlockDocument) -> list[tuple[float, float]]:
    """Return top and bottom of every line, ordered by top; a heading reaches to the end of the line below
    it.
    """
    # A table has more blocks than it was made from, and no heading.
    heads = {number for number, item in enumerate(document.blocks) if item.kind == kinds.HEADING}
    found: list[tuple[float, float]] = []
    began: float | None = None
    block = document.begin()
    while block.isValid():
        layout = block.layout()
        top = document.documentLayout().blockBoundingRect(block).top()
        for number in range(layout.lineCount()):
            line = layout.lineAt(number)
            upper, lower = top + line.y(), top + line.y() + line.height()
            found.append((upper, lower))
            if began is not None:
                found.append((began, lower))
                began = None
        if block.blockNumber() in heads:
            began = top
        block = block.next()
    return sorted(found)


def _spans(text: str) -> Cell:
    """Return a text with the addresses in it as links."""
    return finished([Span(break_words(clean(text)))])


def _name(document: BlockDocument, anchor: str) -> None:
    """Make the first character of a document what a link can lead to."""
    cursor = QtGui.QTextCursor(document)
    cursor.movePosition(QtGui.QTextCursor.MoveOperation.NextCharacter, QtGui.QTextCursor.MoveMode.KeepAnchor)
    named = QtGui.QTextCharFormat()
    named.setAnchor(True)
    named.setAnchorNames([anchor])
    cursor.mergeCharFormat(named)


def _with_box(block: Block) -> Block:
    """Return a task-list item with its tick box as a character."""
    if block.marker not in kinds.TICK_BOXES:
        return block
    return replace(block, marker="", spans=(Span(f"{block.marker} "), *block.spans))
