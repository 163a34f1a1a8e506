"""The line under a transcript that says who is about to speak, with three dots that take turns.

After some seconds it counts them, so that a wait is never silent.
"""

from time import monotonic

from PySide6.QtCore import QObject, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyle, QWidget

from app.gui.transcript.row_header import Chip, Speaker, paint_avatar, paint_header, place_header
from app.gui.transcript.row_style import RowStyle

TICK_MS = 350
SECOND_MS = 1_000
HEIGHT = 52
COUNTS_AFTER_S = 3


class TypingIndicator(QObject):
    """Who is about to speak; emits `ticked` while its dots move, never when motion is unwanted."""

    ticked = Signal()

    def __init__(self, style: RowStyle, parent: QWidget) -> None:
        super().__init__(parent)
        self._style = style
        self._widget = parent
        self._speaker: Speaker | None = None
        self._role = ""
        self._words = ""
        self._begun = 0.0
        self._step = 0
        self._timer = QTimer(self)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self._on_timeout)

    @property
    def active(self) -> bool:
        """Whether somebody is about to speak."""
        return self._speaker is not None

    @property
    def height(self) -> int:
        """The height it needs, in pixels."""
        return self._style.tall(HEIGHT)

    @property
    def moving(self) -> bool:
        """Whether its dots move."""
        return self._timer.isActive()

    def set_style(self, style: RowStyle) -> None:
        """Paint in another look."""
        self._style = style

    def start(self, speaker: Speaker, role: str, words: str = "") -> None:
        """Show a speaker, and in words what is waited for."""
        if speaker != self._speaker:
            self._begun = monotonic()
        self._speaker, self._role, self._words = speaker, role, words
        self.wake()
        self.ticked.emit()

    def wake(self) -> None:
        """Let the dots and the seconds go on once the transcript is on the screen."""
        if self._speaker is not None and self._widget.isVisible():
            self._timer.start(TICK_MS if self._animated() else SECOND_MS)

    def waiting_text(self) -> str:
        """Return what stands beside the dots: what is waited for, and for how long."""
        seconds = int(monotonic() - self._begun)
        texts = self._style.texts
        if seconds < COUNTS_AFTER_S:
            return self._words
        return texts("transcript.waited", text=self._words or texts("transcript.waiting"), seconds=seconds)

    def stop(self) -> None:
        """Show nobody."""
        self._speaker = None
        self._timer.stop()

    def paint(self, painter: QPainter, rect: QRect) -> None:
        """Paint into the space under the last row."""
        if self._speaker is None:
            return
        style = self._style
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        left = rect.left() + style.margin
        text_left = left + style.text_left
        if not style.wide:
            painter.fillRect(left, rect.top(), 3, self.height - 6, QColor(self._speaker.colour))
        avatar_left = left if style.wide else text_left
        paint_avatar(
            painter, style, self._speaker, QRect(avatar_left, rect.top(), style.avatar, style.avatar)
        )
        name_left = text_left if style.wide else text_left + style.avatar + 9
        chips = [Chip(self._role)] if self._role else []
        pieces = place_header(
            style, self._speaker, chips, "", name_left, rect.top(), rect.right() - style.margin
        )
        paint_header(painter, style, pieces, 0)
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

    def _animated(self) -> bool:
        hint = QStyle.StyleHint.SH_Widget_Animation_Duration
        return self._widget.style().styleHint(hint, None, self._widget) > 0

    def _on_timeout(self) -> None:
        if not self._widget.isVisible():
            self._timer.stop()
            return
        self._step += 1
        self.ticked.emit()
