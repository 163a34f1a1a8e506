"""The pixels of rows: pictures of finished rows, rows painted without one, and pixels moved by scrolling.

Scrolling copies pixels instead of laying out and painting text.
"""

from collections.abc import Callable, Collection, Sequence
from mmap import mmap
from typing import NamedTuple

from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QWidget

from app.gui.transcript.painted_row import PaintedRow
from app.gui.transcript.row_heights import Placed
from app.gui.transcript.row_text import Range

MAX_HEIGHT = 1_600
"""Taller rows are painted each time, in pixels."""

FREE_BYTES = 4_000_000
"""How much memory is kept for the next pictures."""


class _Picture(NamedTuple):
    image: QImage
    memory: mmap
    version: int


class RowPictures:
    """One image for each finished row on or near the screen, by row id.

    The pixels are in anonymous memory maps, which are used again: the allocator of the C library keeps freed
    blocks of this size in its heap, where they fragment.
    """

    def __init__(self) -> None:
        self._pictures: dict[str, _Picture] = {}
        self._free: list[mmap] = []

    def has(self, row: PaintedRow) -> bool:
        """Whether there is a picture of a row as it is now."""
        picture = self._pictures.get(row.row_id)
        return picture is not None and picture.version == row.version

    @staticmethod
    def can_have(row: PaintedRow) -> bool:
        """Whether a row is finished and small enough for a picture."""
        return row.settled and row.height <= MAX_HEIGHT

    def get(self, row: PaintedRow, width: int, ratio: float) -> QImage:
        """Return the picture of a row, `ratio` device pixels a pixel; paint it if there is none."""
        if self.has(row):
            return self._pictures[row.row_id].image
        self.drop(row.row_id)
        size = QSize(width, row.height)
        pixels = size * ratio
        stride = 4 * pixels.width()
        memory = self._take(stride * pixels.height())
        image = QImage(
            memoryview(memory), pixels.width(), pixels.height(), stride, QImage.Format.Format_RGB32
        )
        image.setDevicePixelRatio(ratio)
        image.fill(QColor(row.style.tokens.bg))
        painter = QPainter(image)
        row.paint(painter, QRect(QPoint(), size), ())
        painter.end()
        self._pictures[row.row_id] = _Picture(image, memory, row.version)
        return image

    def keep(self, row_ids: Collection[str]) -> None:
        """Drop the pictures of all rows but these."""
        for row_id in [each for each in self._pictures if each not in row_ids]:
            self.drop(row_id)

    def drop(self, row_id: str) -> None:
        """Drop the picture of a row, if there is one, and keep its memory for another."""
        picture = self._pictures.pop(row_id, None)
        if picture is not None:
            self._free.append(picture.memory)
            while sum(map(len, self._free)) > FREE_BYTES:
                self._free.pop(0)

    def _take(self, size: int) -> mmap:
        """Return memory of at least `size` bytes, one that was used before if it is not far too large."""
        fits = [each for each in self._free if size <= len(each) <= 3 * size]
        if not fits:
            return mmap(-1, size)
        smallest = min(fits, key=len)
        self._free.remove(smallest)
        return smallest


def paint_row(
    painter: QPainter, area: QRect, placed: Placed, row: PaintedRow, ranges: Sequence[Range]
) -> None:
    """Paint the part of a row that lies in `area`, with what is marked in it."""
    painter.save()
    painter.translate(0, placed.top)
    clip = area.translated(0, -placed.top).intersected(QRect(0, 0, painter.device().width(), placed.height))
    painter.setClipRect(clip)
    painter.fillRect(clip, QColor(row.style.tokens.bg))
    row.paint(painter, clip, ranges)
    painter.restore()


def move_pixels(
    viewport: QWidget,
    overlays: Sequence[QWidget],
    old: dict[int, Placed],
    now: Sequence[Placed],
    changed: Collection[int],
    changed_from: Callable[[int], int],
) -> bool:
    """Move the pixels of the rows that only moved and update the others; return False where all must be painted.

    `changed` are the rows with new content; `changed_from` returns how far down, in pixels, such a row is as before.
    """
    width, height = viewport.width(), viewport.height()
    distances = {placed.top - old[placed.row].top for placed in now if placed.row in old}
    if len(distances) != 1 and now:
        return False
    distance = distances.pop() if distances else 0
    if abs(distance) >= height:
        return False
    if distance:
        over = [child.geometry() for child in overlays if child.isVisible()]
        if over:
            viewport.scroll(0, distance, QRect(0, 0, width, height))
            for box in over:
                viewport.update(box.united(box.translated(0, distance)))
        else:
            viewport.scroll(0, distance)
    for placed in now:
        before = old.get(placed.row)
        if before is None:
            viewport.update(0, placed.top, width, placed.height)
        elif placed.row in changed or placed.height != before.height:
            top = placed.top + changed_from(placed.row)
            end = height if placed.height != before.height else placed.top + placed.height
            viewport.update(0, top, width, end - top)
    return True
