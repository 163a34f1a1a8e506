"""Pictures of finished rows: scrolling copies pixels instead of painting text."""

from collections.abc import Collection
from mmap import mmap
from typing import NamedTuple

from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtGui import QColor, QImage, QPainter

from app.gui.transcript.painted_row import PaintedRow

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
