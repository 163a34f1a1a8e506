"""The line icons: SVG files drawn in a colour of the theme; used through `Look.picture` and `Look.icon`."""

from pathlib import Path

from PySide6.QtCore import QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPixmap


def draw_svg(path: Path, side: int, ratio: float, colour: str, room: int = 0) -> QPixmap:
    """Draw an SVG into a square of `side` points, `currentColor` being `colour` (`#RRGGBB`).

    `room` points are left free at its right, to part it from a button's text.
    """
    from PySide6.QtSvg import QSvgRenderer

    picture = QPixmap(QSize(side + room, side) * ratio)
    picture.fill(Qt.GlobalColor.transparent)
    renderer = QSvgRenderer(path.read_bytes().replace(b"currentColor", colour.encode()))
    painter = QPainter(picture)
    renderer.render(painter, QRectF(QPoint(0, 0), QSize(side, side) * ratio))
    painter.end()
    picture.setDevicePixelRatio(ratio)
    return picture
