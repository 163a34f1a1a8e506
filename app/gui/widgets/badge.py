"""Small painted marks, as widgets and for delegates: initials, chips, and a usage bar."""

from collections.abc import Sequence

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from app.gui.display.appearance import Look, sized, tall
from app.gui.display.theme import Tokens
from app.gui.widgets.text import PaintedText, plain_tip

CHIP_HEIGHT = 22
CHIP_PADDING = 9
LEAST_CHIP = 96
AVATAR = 22
HEADING_ICON = 16


def initial(name: str) -> str:
    """Return the initial of a name."""
    return name.strip()[:1].upper() or "?"


def initials(names: Sequence[str]) -> list[str]:
    """Return the initial of each name, with the first letter that tells it from others with the same one."""
    return [told_apart(name, [item for item in names if item != name]) for name in names]


def told_apart(name: str, others: Sequence[str]) -> str:
    """Return the initial of a name, with the first letter that tells it from others with the same one."""
    first, own = initial(name), name.strip().casefold()
    same = [other.strip().casefold() for other in others if initial(other) == first]
    for place in range(1, len(own)) if same else ():
        if not own[place].isspace() and all(item[place : place + 1] != own[place] for item in same):
            return first + own[place]
    return first


def chip_colours(tokens: Tokens, tone: str) -> tuple[str, str]:
    """Return text and background of a chip; `tone` is neutral, accent, ok, warn or error."""
    if tone == "neutral":
        return tokens.text_2, tokens.hover
    return getattr(tokens, tone), getattr(tokens, f"{tone}_bg")


def fill_box(painter: QPainter, room: QRectF, colour: str, radius: float) -> None:
    """Paint a rounded rectangle in a colour."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colour))
    painter.drawRoundedRect(room, radius, radius)


def paint_box(
    painter: QPainter, rect: QRect | QRectF, line: str, ground: str, radius: float, *, wide: float = 1
) -> None:
    """Paint a rounded rectangle with a line around it, inside of a QRect, and on the edge of a QRectF."""
    box = rect if isinstance(rect, QRectF) else QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(line), wide))
    painter.setBrush(QColor(ground))
    painter.drawRoundedRect(box, radius, radius)


_MIDDLE = int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)


def paint_text(
    painter: QPainter,
    font: QFont,
    colour: str,
    room: QRect,
    words: str,
    flag: Qt.AlignmentFlag | Qt.TextFlag = Qt.AlignmentFlag.AlignLeft,
) -> None:
    """Paint one line of text in the middle of a room's height; `flag` is one more that drawText knows."""
    painter.setFont(font)
    painter.setPen(QColor(colour))
    painter.drawText(room, _MIDDLE | flag.value, words)


def paint_avatar(
    painter: QPainter, rect: QRect, name: str, colours: tuple[str, str], letters: str = ""
) -> None:
    """Paint a speaker's initial, or these letters, on a rounded square of their colour."""
    fill_box(painter, QRectF(rect), colours[1], 6)
    font, centre = sized(painter.font(), 11, 650), Qt.AlignmentFlag.AlignHCenter
    paint_text(painter, font, colours[0], rect, letters or initial(name), centre)


def paint_tile(painter: QPainter, rect: QRect, look: Look, icon: str) -> None:
    """Paint an icon on a rounded square in the accent colour, the mark of a group."""
    fill_box(painter, QRectF(rect), look.tokens.accent_bg, 6)
    side = rect.height() * 2 // 3
    picture = look.picture(icon, "accent", side, painter.device().devicePixelRatioF())
    painter.drawPixmap(rect.center().x() - (side - 1) // 2, rect.center().y() - (side - 1) // 2, picture)


def paint_chip(painter: QPainter, rect: QRect, text: str, colours: tuple[str, str]) -> None:
    """Paint a chip's text on its rounded background, filling `rect`."""
    fill_box(painter, QRectF(rect), colours[1], rect.height() / 2)
    paint_text(painter, painter.font(), colours[0], rect, text, Qt.AlignmentFlag.AlignHCenter)


class Avatar(QWidget):
    """A speaker's initial in their colour; grey until `set_speaker`."""

    def __init__(self, look: Look, side: int = AVATAR) -> None:
        super().__init__()
        self._look = look
        self._name = self._letters = ""
        self._index: int | None = None
        self.setFixedSize(side, side)

    def set_speaker(self, name: str, index: int | None, *, letters: str = "") -> None:
        """Show a name's initial, or `letters`, in the colour of an index, None for grey."""
        self._name, self._index, self._letters = name, index, letters
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens = self._look.tokens
        colours = (tokens.text_2, tokens.hover) if self._index is None else tokens.speaker(self._index)
        painter = QPainter(self)
        if not self.isEnabled():
            painter.setOpacity(0.6)
        paint_avatar(painter, self.rect(), self._name, colours, self._letters)


class Chip(PaintedText):
    """A short text on a rounded background, with or without an icon; hidden while it has no text."""

    def __init__(self, look: Look, parent: QWidget | None = None, *, icon: str = "") -> None:
        super().__init__(parent)
        self._look, self._icon = look, icon
        self._short = ""
        self._tone = "neutral"
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setVisible(False)

    def set_text(self, text: str, tone: str = "neutral", short: str = "") -> None:
        """Show `text` in a tone of `chip_colours`, or `short` if it does not fit; "" hides the chip."""
        if (text, tone, short) == (self._text, self._tone, self._short):
            return
        self._text, self._tone, self._short = text, tone, short
        self.setAccessibleName(text)
        self.setVisible(bool(text))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._width_of(self._text), tall(CHIP_HEIGHT))

    def minimumSizeHint(self) -> QSize:
        least = self._width_of(self._short) if self._short else min(self.sizeHint().width(), LEAST_CHIP)
        return QSize(least, tall(CHIP_HEIGHT))

    def shown_text(self) -> str:
        """Return what fits: the text, its short form, or the elided text."""
        room = self.width() - 2 * CHIP_PADDING - (18 if self._icon else 0)
        metrics = QFontMetrics(self._chip_font())
        text = self._text if metrics.horizontalAdvance(self._text) <= room else self._short or self._text
        return metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)

    def _width_of(self, text: str) -> int:
        width = QFontMetrics(self._chip_font()).horizontalAdvance(text) + 2 * CHIP_PADDING + 2
        return width + (18 if self._icon else 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setFont(self._chip_font())
        shown = self.shown_text()
        if not self._short:
            self.setToolTip(plain_tip(self._text) if shown != self._text else "")
        colours = chip_colours(self._look.tokens, self._tone)
        paint_chip(painter, self.rect(), "" if self._icon else shown, colours)
        if self._icon:
            icon = self._look.picture(self._icon, "text_2", 14, self.devicePixelRatioF())
            painter.drawPixmap(CHIP_PADDING, (self.height() - 14) // 2, icon)
            room = self.rect().adjusted(CHIP_PADDING + 18, 0, 0, 0)
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, shown)

    def _chip_font(self) -> QFont:
        return sized(self.font(), 12, 500)


BAR_HEIGHT = 6
NEARLY = 0.8


class UsedBar(QWidget):
    """A bar filled from the left; its colour changes when nearly all is used, and when all is."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._part = 0.0
        self.setFixedHeight(BAR_HEIGHT)

    def show_part(self, part: float) -> None:
        """Show the used part, 0 to 1."""
        self._part = min(1.0, max(0.0, part))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens, painter = self._look.tokens, QPainter(self)
        room = QRectF(self.rect())
        fill_box(painter, room, tokens.line, BAR_HEIGHT / 2)
        if self._part:
            room.setWidth(max(BAR_HEIGHT, room.width() * self._part))
            tone = "error" if self._part >= 1 else "warn" if self._part >= NEARLY else "accent"
            fill_box(painter, room, getattr(tokens, tone), BAR_HEIGHT / 2)


class HeadingIcon(QLabel):
    """An icon that follows the theme."""

    def __init__(self, look: Look, icon: str, colour: str, side: int = HEADING_ICON) -> None:
        super().__init__()
        self._look, self._icon, self._colour, self._side = look, icon, colour, side
        look.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        self.setPixmap(self._look.picture(self._icon, self._colour, self._side, self.devicePixelRatioF()))
