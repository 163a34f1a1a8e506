"""The files that came with a message, as chips with name and size; nothing of them is ever decoded."""

from collections.abc import Sequence

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from app.core.message import Attachment
from app.gui.markdown.blocks import clean
from app.gui.transcript.row_style import RowStyle

HEIGHT = 26
GAP = 6
WIDEST = 260


def size_of(attachment: Attachment) -> int:
    """Return how many bytes an attachment has."""
    return (
        len(attachment.data) * 3 // 4 if attachment.data else len(attachment.text.encode("utf-8", "replace"))
    )


def size_text(size: int) -> str:
    """Return a number of bytes in short."""
    if size < 1_000:
        return f"{size} B"
    return f"{size / 1_000:.0f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"


class AttachmentChips:
    """Chips in rows, as many beside each other as fit."""

    def __init__(self, style: RowStyle, attachments: Sequence[Attachment]) -> None:
        self._style = style
        self._words = [
            (" ".join(clean(each.name).split())[:120], size_text(size_of(each))) for each in attachments
        ]
        self._chips: list[tuple[QRect, str, str]] = []
        self.rect = QRect()

    def place(self, left: int, top: int, width: int) -> int:
        """Lay out; return the lower edge."""
        metrics, high = self._style.chip_metrics, self._style.tall(HEIGHT)
        x, y, right = left, top, left
        self._chips = []
        for name, size in self._words:
            said = metrics.horizontalAdvance(f"  {size}") + 20
            shown = metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, min(WIDEST, width) - said)
            wide = metrics.horizontalAdvance(shown) + said
            if x > left and x + wide > left + width:
                x, y = left, y + high + GAP
            self._chips.append((QRect(x, y, wide, high), shown, size))
            right = max(right, x + wide)
            x += wide + GAP
        self.rect = QRect(left, top, right - left, y + high - top)
        return y + high

    def paint(self, painter: QPainter) -> None:
        """Paint the chips."""
        tokens = self._style.tokens
        painter.setFont(self._style.chip_font)
        middle = int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
        for rect, name, size in self._chips:
            painter.setPen(QColor(tokens.line_strong))
            painter.setBrush(QColor(tokens.surface))
            painter.drawRoundedRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5), 7, 7)
            inner = rect.adjusted(9, 0, -9, 0)
            painter.setPen(QColor(tokens.text))
            painter.drawText(inner, middle | int(Qt.AlignmentFlag.AlignLeft), name)
            painter.setPen(QColor(tokens.text_2))
            painter.drawText(inner, middle | int(Qt.AlignmentFlag.AlignRight), size)

    @property
    def words(self) -> str:
        """Name and size of each, as a screen reader says them."""
        return ", ".join(f"{name} {size}" for name, size in self._words)
