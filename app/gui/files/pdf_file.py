"""Writes Markdown as a PDF with the program's own layout, so that nothing is ever loaded from the network.

The work is done in small pieces on the main thread: objects that Qt lays out in another thread may be freed in
whichever thread Python's collector runs, which crashes.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from PySide6.QtCore import QIODevice, QMarginsF, QPointF, QRectF, QSaveFile, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QFont,
    QFontDatabase,
    QPageLayout,
    QPageSize,
    QPainter,
    QPdfWriter,
)

from app.gui.display.theme import LIGHT
from app.gui.markdown.blocks import CODE, RULE, TICK_BOXES, Block, Span
from app.gui.markdown.document import INDENT, BlockDocument, TextStyle, gap_between
from app.gui.markdown.message_blocks import StreamingBlocks
from app.gui.transcript.segments import group

DOTS_PER_INCH = 96
MARGIN_MM = 18
FOOT = 26
QUOTE_STEP = 14
CODE_PADDING = 8
BODY_PX = 13
SLICE = 500
TURN_S = 0.004


class PdfError(OSError):
    """The file could not be written."""


async def write_pdf(path: Path, title: str, markdown: str, font: QFont) -> None:
    """Write a document on A4, completely or not at all; may take seconds. Raises OSError.

    If cancelled, an existing file stays as it was.
    """
    file = QSaveFile(str(path))
    if not file.open(QIODevice.OpenModeFlag.WriteOnly):
        raise PdfError(file.errorString())
    writer = QPdfWriter(file)
    writer.setTitle(title)
    writer.setCreator("Moot")
    writer.setResolution(DOTS_PER_INCH)
    writer.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
    margins = QMarginsF(MARGIN_MM, MARGIN_MM, MARGIN_MM, MARGIN_MM)
    writer.setPageMargins(margins, QPageLayout.Unit.Millimeter)
    painter = QPainter()
    if not painter.begin(writer):
        raise PdfError(file.errorString())
    until = perf_counter() + TURN_S
    try:
        for _ in _Pages(writer, painter, font).set_text(markdown):
            if perf_counter() >= until:
                await asyncio.sleep(0)
                until = perf_counter() + TURN_S
    except BaseException:
        file.cancelWriting()
        raise
    finally:
        painter.end()
    if not file.commit():
        raise PdfError(file.errorString())


class _Pages:
    """The pages of a PDF, filled from top to bottom."""

    def __init__(self, writer: QPdfWriter, painter: QPainter, font: QFont) -> None:
        self._writer = writer
        self._painter = painter
        body = QFont(font)
        body.setPixelSize(BODY_PX)
        fixed = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        fixed.setPixelSize(BODY_PX - 1)
        self._style = TextStyle(body, fixed, LIGHT)
        self._foot_font = QFont(body)
        self._foot_font.setPixelSize(BODY_PX - 3)
        self._width = float(writer.width())
        self._height = float(writer.height()) - FOOT
        self._top = 0.0
        self._number = 1
        self._number_page()

    def set_text(self, markdown: str) -> Iterator[None]:
        """Lay out a whole document, piece by piece."""
        stream = StreamingBlocks()
        for start in range(0, len(markdown), SLICE):
            stream.feed(markdown[start : start + SLICE])
            yield
        stream.finish()
        yield from self.set(stream.blocks)

    def set(self, blocks: Sequence[Block]) -> Iterator[None]:
        """Lay out blocks, piece by piece."""
        before: Block | None = None
        for first, end in group(blocks):
            piece = [_with_box(block) for block in blocks[first:end]]
            goes_on = before is not None and piece[0].kind == CODE and not piece[0].first
            self._top += gap_between(before, piece[0]) if before is not None and not goes_on else 0
            self._set_piece(piece)
            before = piece[-1]
            yield

    def _set_piece(self, piece: list[Block]) -> None:
        block = piece[0]
        shift = block.quote * QUOTE_STEP + (block.indent * INDENT if block.kind == CODE else 0)
        left = min(float(shift), self._width / 2)
        if block.kind == RULE:
            self._painter.fillRect(QRectF(left, self._top + 6, self._width - left, 1), QColor(LIGHT.line))
            self._top += 12
            return
        padding = CODE_PADDING if block.kind == CODE else 0
        document = BlockDocument(self._style, piece)
        document.setTextWidth(self._width - left - 2 * padding)
        done = 0.0
        for bottom in self._cuts(document):
            height = bottom - done
            area = QRectF(left, self._top, self._width - left, height)
            if block.kind == CODE:
                self._painter.fillRect(area, QColor(LIGHT.hover))
            for depth in range(block.quote):
                bar = QRectF(left - (block.quote - depth) * QUOTE_STEP, self._top, 2, height)
                self._painter.fillRect(bar, QColor(LIGHT.line_strong))
            self._draw(document, area.adjusted(padding, 0, -padding, 0), done)
            self._top += height
            done = bottom

    def _draw(self, document: BlockDocument, area: QRectF, start: float) -> None:
        """Draw a document from the height `start` on into an area of the page."""
        context = QAbstractTextDocumentLayout.PaintContext()
        context.clip = QRectF(0, start, area.width(), area.height())
        self._painter.save()
        self._painter.setClipRect(area)
        self._painter.translate(area.topLeft() - QPointF(0, start))
        document.documentLayout().draw(self._painter, context)
        self._painter.restore()

    def _cuts(self, document: BlockDocument) -> Iterator[float]:
        """Yield the end of each slice of a document; a new page begins before each slice that does not fit."""
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
        self._number += 1
        self._number_page()

    def _number_page(self) -> None:
        foot = QRectF(0, self._height, self._width, FOOT)
        self._painter.setFont(self._foot_font)
        self._painter.setPen(QColor(LIGHT.text_2))
        where = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom
        self._painter.drawText(foot, int(where), str(self._number))


def _lines(document: BlockDocument) -> list[tuple[float, float]]:
    """Return top and bottom of every line, ordered by top."""
    found = []
    block = document.begin()
    while block.isValid():
        layout = block.layout()
        top = document.documentLayout().blockBoundingRect(block).top()
        for number in range(layout.lineCount()):
            line = layout.lineAt(number)
            found.append((top + line.y(), top + line.y() + line.height()))
        block = block.next()
    return sorted(found)


def _with_box(block: Block) -> Block:
    """Return a task-list item with its tick box as a character."""
    if block.marker not in TICK_BOXES:
        return block
    return replace(block, marker="", spans=(Span(f"{block.marker} "), *block.spans))
