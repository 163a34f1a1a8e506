"""The line over a row that says who speaks: initial, name, chips and meta text; and the typing indicator."""

from dataclasses import dataclass
from time import monotonic

from PySide6.QtCore import QObject, QPoint, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFont, QPainter
from PySide6.QtWidgets import QStyle, QWidget

from app.core.texts import clock_text
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
class HeaderChip:
    """A rounded label; `tone` is plain, accent, warn or error."""

    text: str
    tone: str = "plain"


@dataclass(frozen=True, slots=True)
class RowSpeaker:
    """How a speaker is painted: the colours are foreground and background of the initial.

    `icon` is the name of a picture shown in place of the initial.
    """

    name: str
    initial: str
    colour: str
    background: str
    icon: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """A placed part of the line; `tip` is its full text if it is elided."""

    kind: str
    rect: QRect
    text: str
    tone: str = "plain"
    tip: str = ""


def place_header(
    style: RowStyle,
    speaker: RowSpeaker,
    chips: list[HeaderChip],
    meta: str,
    left: int,
    top: int,
    right: int,
    *,
    tip: str = "",
) -> list[Piece]:
    """Place name, chips and meta text side by side; what does not fit is elided or left out.

    `tip` is the tool tip of the meta text.
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


def paint_header(painter: QPainter, style: RowStyle, pieces: list[Piece]) -> None:
    """Paint the placed parts."""
    middle = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine
    for piece in pieces:
        rect = piece.rect
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


def paint_avatar(painter: QPainter, style: RowStyle, speaker: RowSpeaker, rect: QRect) -> None:
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


TICK_MS = 350
SECOND_MS = 1_000
TYPING_HEIGHT = 52
COUNTS_AFTER_S = 3
THINKS_AFTER_S = 10
"""A model that has said nothing for so long most likely thinks."""


def animated(widget: QWidget) -> bool:
    """Say whether the user wants things to move."""
    hint = QStyle.StyleHint.SH_Widget_Animation_Duration
    return widget.style().styleHint(hint, None, widget) > 0


class TypingIndicator(QObject):
    """Shows under a transcript who speaks next, with moving dots; after some seconds it counts them.

    Emits `ticked` while the dots move; they do not if animations are off. With `can_stop` it offers to stop a model that
    thinks for long.
    """

    ticked = Signal()

    def __init__(self, style: RowStyle, parent: QWidget) -> None:
        super().__init__(parent)
        self._style = style
        self._widget = parent
        self._speaker: RowSpeaker | None = None
        self._role = ""
        self._words = ""
        self._begun = 0.0
        self._step = 0
        self._stop_rect = QRect()
        self.can_stop = False
        self._timer = QTimer(self)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self._on_timeout)

    @property
    def active(self) -> bool:
        """Whether a speaker is shown."""
        return self._speaker is not None

    @property
    def height(self) -> int:
        """The height in pixels."""
        return self._style.tall(TYPING_HEIGHT)

    @property
    def moving(self) -> bool:
        """Whether its dots move."""
        return self._timer.isActive()

    def set_style(self, style: RowStyle) -> None:
        """Paint in another look."""
        self._style = style

    def dress(self, speaker: RowSpeaker) -> None:
        """Show the same speaker in other colours or words; the seconds go on."""
        self._speaker = speaker

    def start(self, speaker: RowSpeaker, role: str, words: str = "") -> None:
        """Show a speaker, and in words what is waited for."""
        if speaker != self._speaker:
            self._begun = monotonic()
        self._speaker, self._role, self._words = speaker, role, words
        self.wake()
        self.ticked.emit()

    def wake(self) -> None:
        """Start the timer if the transcript is on the screen."""
        if self._speaker is not None and self._widget.isVisible():
            self._timer.start(TICK_MS if self._animated() else SECOND_MS)

    def waiting_text(self) -> str:
        """Return what is waited for, and how long it has taken."""
        seconds = int(monotonic() - self._begun)
        texts = self._style.texts
        if self._thinks():
            return texts("transcript.thinking_for", time=clock_text(seconds))
        if seconds < COUNTS_AFTER_S:
            return self._words
        return texts("transcript.waited", text=self._words or texts("transcript.waiting"), seconds=seconds)

    def stops_at(self, point: QPoint) -> bool:
        """Return whether a click at a point of the viewport stops the model."""
        return self.active and self._stop_rect.contains(point)

    def _thinks(self) -> bool:
        return not self._words and monotonic() - self._begun >= THINKS_AFTER_S

    def stop(self) -> None:
        """Show no speaker."""
        self._speaker = None
        self._stop_rect = QRect()
        self._timer.stop()

    def paint(self, painter: QPainter, rect: QRect) -> None:
        """Paint into the space under the last row."""
        if self._speaker is None:
            return
        style = self._style
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        left = rect.left() + style.margin
        text_left = left + style.text_left
        if style.barred:
            painter.fillRect(left, rect.top(), 3, self.height - 6, QColor(self._speaker.colour))
        avatar_left = left + style.avatar_left
        paint_avatar(
            painter, style, self._speaker, QRect(avatar_left, rect.top(), style.avatar, style.avatar)
        )
        name_left = text_left if style.wide else text_left + style.avatar + 9
        chips = [HeaderChip(self._role)] if self._role else []
        pieces = place_header(
            style, self._speaker, chips, "", name_left, rect.top(), rect.right() - style.margin
        )
        paint_header(painter, style, pieces)
        painter.setPen(Qt.PenStyle.NoPen)
        for dot in range(3):
            lit = not self._animated() or dot == self._step % 3
            painter.setBrush(QColor(style.tokens.text_2 if lit else style.tokens.line_strong))
            painter.drawEllipse(QRectF(text_left + dot * 12, rect.top() + style.header + 10, 6, 6))
        words_left = text_left + 44
        room = QRect(
            words_left,
            rect.top() + style.header + 3,
            rect.right() - style.margin - words_left,
            style.tall(20),
        )
        painter.setPen(QColor(style.tokens.text_2))
        painter.setFont(style.meta_font)
        shown = style.meta_metrics.elidedText(self.waiting_text(), Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter), shown)
        self._stop_rect = QRect()
        if self.can_stop and self._thinks():
            stop = style.texts("transcript.group.stop")
            at = room.left() + style.meta_metrics.horizontalAdvance(shown) + 16
            self._stop_rect = QRect(at, room.top(), style.meta_metrics.horizontalAdvance(stop), room.height())
            painter.setPen(QColor(style.tokens.accent))
            painter.drawText(self._stop_rect, int(Qt.AlignmentFlag.AlignVCenter), stop)

    def _animated(self) -> bool:
        return animated(self._widget)

    def _on_timeout(self) -> None:
        if not self._widget.isVisible():
            self._timer.stop()
            return
        self._step += 1
        self.ticked.emit()
