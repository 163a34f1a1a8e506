"""The line above a message: initial, name, chips and meta text, placed and painted."""

from dataclasses import dataclass

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter

from app.gui.transcript.row_style import RowStyle

NAME = "name"
CHIP = "chip"
META = "meta"

_CHIP_COLOURS = {
    "plain": ("hover", "text_2"),
    "accent": ("accent_bg", "accent"),
    "warn": ("warn_bg", "warn"),
    "error": ("error_bg", "error"),
}


@dataclass(frozen=True, slots=True)
class Chip:
    """A rounded label; `tone` is plain, accent, warn or error."""

    text: str
    tone: str = "plain"


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who a row belongs to, as painted: colours are (foreground, background) of the initial.

    `icon` is the name of a picture that stands instead of the initial.
    """

    name: str
    initial: str
    colour: str
    background: str
    icon: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """A placed part of the line; `tip` is its whole text where it was elided."""

    kind: str
    rect: QRect
    text: str
    tone: str = "plain"
    tip: str = ""


def place_header(
    style: RowStyle,
    speaker: Speaker,
    chips: list[Chip],
    meta: str,
    left: int,
    top: int,
    right: int,
    *,
    tip: str = "",
) -> list[Piece]:
    """Set name, chips and meta one after the other; what has no room is elided or left out.

    `tip` is said over the meta text.
    """
    pieces: list[Piece] = []
    height = style.header
    elide = Qt.TextElideMode.ElideRight

    def text_piece(kind: str, text: str, x: int, said: str = "") -> int:
        metrics = style.name_metrics if kind == NAME else style.meta_metrics
        width = metrics.horizontalAdvance(text) + 2
        room = right - x
        if width > room:
            if room < 32:
                return x
            shown = metrics.elidedText(text, elide, room)
            pieces.append(Piece(kind, QRect(x, top, room, height), shown, tip=said or text))
            return right
        pieces.append(Piece(kind, QRect(x, top, width, height), text, tip=said))
        return x + width

    x = text_piece(NAME, speaker.name, left)
    for chip in chips:
        width = style.chip_metrics.horizontalAdvance(chip.text) + 18
        room = min(right - x - 8, 220)
        if width > room and room < 44:
            break
        shown = style.chip_metrics.elidedText(chip.text, elide, min(width, room) - 16)
        tip = chip.text if shown != chip.text else ""
        pieces.append(Piece(CHIP, QRect(x + 8, top + 1, min(width, room), height - 2), shown, chip.tone, tip))
        x += 8 + min(width, room)
    if meta:
        text_piece(META, meta, x + 8, tip)
    return pieces


def paint_header(painter: QPainter, style: RowStyle, pieces: list[Piece], top: int) -> None:
    """Paint the placed parts `top` pixels further down."""
    middle = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine
    for piece in pieces:
        rect = piece.rect.translated(0, top)
        if piece.kind == CHIP:
            background, foreground = _CHIP_COLOURS[piece.tone]
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(getattr(style.tokens, background)))
            painter.drawRoundedRect(QRectF(rect), rect.height() / 2, rect.height() / 2)
            painter.setPen(QColor(getattr(style.tokens, foreground)))
            painter.setFont(style.chip_font)
            painter.drawText(rect, int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextSingleLine), piece.text)
            continue
        name = piece.kind == NAME
        painter.setPen(QColor(style.tokens.text if name else style.tokens.text_2))
        painter.setFont(style.name_font if name else style.meta_font)
        painter.drawText(rect, int(middle), piece.text)


def paint_avatar(painter: QPainter, style: RowStyle, speaker: Speaker, rect: QRect) -> None:
    """Paint the square with the speaker's initial."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(speaker.background))
    radius = 7 if style.wide else 5
    painter.drawRoundedRect(QRectF(rect), radius, radius)
    if speaker.icon and style.picture is not None:
        side = round(rect.height() * 0.54)
        ratio = painter.device().devicePixelRatioF()
        picture = style.picture(speaker.icon, "accent", side, ratio)
        painter.drawPixmap(rect.center().x() - (side - 1) // 2, rect.center().y() - (side - 1) // 2, picture)
        return
    font = QFont(style.name_font)
    font.setPixelSize(round(rect.height() * 0.46))
    painter.setFont(font)
    painter.setPen(QColor(speaker.colour))
    painter.drawText(rect, int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextSingleLine), speaker.initial)
