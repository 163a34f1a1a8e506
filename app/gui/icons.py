"""The line icons: SVG files tinted with a colour of the theme while they are painted.

Used through `Look.icon`; an icon follows a change of theme by itself.
"""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QIconEngine, QPainter, QPixmap

Pictures = dict[tuple[str, str, int, float], QPixmap]


class TintedIcon(QIconEngine):
    """Paints one SVG whose `currentColor` is the colour asked for at that moment."""

    def __init__(
        self, path: Path, colour: Callable[[QIcon.Mode, QIcon.State], str], pictures: Pictures
    ) -> None:
        super().__init__()
        self._path = path
        self._colour = colour
        self._pictures = pictures

    def clone(self) -> QIconEngine:
        return TintedIcon(self._path, self._colour, self._pictures)

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        side = min(rect.width(), rect.height())
        ratio = painter.device().devicePixelRatioF() if painter.device() else 1.0
        target = QRect(0, 0, side, side)
        target.moveCenter(rect.center())
        painter.drawPixmap(target, self._picture(side, ratio, self._colour(mode, state)))

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        return self._picture(min(size.width(), size.height()), 1.0, self._colour(mode, state))

    def scaledPixmap(
        self, size: QSize, mode: QIcon.Mode, state: QIcon.State, scale: float
    ) -> QPixmap:
        side = round(min(size.width(), size.height()) / scale)
        return self._picture(side, scale, self._colour(mode, state))

    def _picture(self, side: int, ratio: float, colour: str) -> QPixmap:
        key = (self._path.name, colour, side, ratio)
        picture = self._pictures.get(key)
        if picture is None:
            picture = self._pictures[key] = draw_svg(self._path, side, ratio, colour)
        return picture


def draw_svg(path: Path, side: int, ratio: float, colour: str) -> QPixmap:
    """Draw an SVG into a square of `side` points, `currentColor` being `colour` (`#RRGGBB`)."""
    from PySide6.QtSvg import QSvgRenderer

    picture = QPixmap(QSize(side, side) * ratio)
    picture.fill(Qt.GlobalColor.transparent)
    renderer = QSvgRenderer(path.read_bytes().replace(b"currentColor", colour.encode()))
    painter = QPainter(picture)
    renderer.render(painter, QRectF(QPoint(0, 0), picture.size()))
    painter.end()
    picture.setDevicePixelRatio(ratio)
    return picture
