"""A tick box for a sentence: where the room is narrow, its words go on in the next line."""

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.gui.display.style import Look
from app.gui.widgets.controls import TickBox

LEAST = 120


class WrappedTick(TickBox):
    """A tick box whose words are wrapped."""

    TEXT = TickBox.TEXT | Qt.TextFlag.TextWordWrap

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(look, parent)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def minimumSizeHint(self) -> QSize:
        return QSize(LEAST, super().sizeHint().height())

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        room = QRect(0, 0, max(1, width - self.BEFORE), 1 << 16)
        words = self.fontMetrics().boundingRect(room, self.TEXT, self.text())
        return max(super().sizeHint().height(), words.height() + 4)
