"""The little bar over the message under the mouse: copy, retry, edit and the like."""

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from app.gui.transcript.row_actions import ICONS, WORDS
from app.gui.transcript.row_style import RowStyle

SIDE = 26


class ActionBar(QWidget):
    """Buttons for one message; emits `chosen(message id, action)`. The keyboard has the menu instead."""

    chosen = Signal(str, str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._message_id = ""
        self._colours = ("", "")
        self._buttons: dict[str, QToolButton] = {}
        self._line = QHBoxLayout(self)
        self._line.setContentsMargins(2, 2, 2, 2)
        self._line.setSpacing(0)
        self.hide()

    @property
    def message_id(self) -> str:
        """The message it stands over, "" while it is hidden."""
        return "" if self.isHidden() else self._message_id

    def offer(self, message_id: str, actions: Sequence[str], style: RowStyle, top_right: QPoint) -> None:
        """Stand at a place of the parent with the buttons of a message."""
        if message_id == self.message_id:
            return
        self._message_id = message_id
        self._colours = (style.tokens.surface, style.tokens.line_strong)
        for action in actions:
            if action not in self._buttons:
                self._buttons[action] = self._button(action)
        for action, button in self._buttons.items():
            button.setVisible(action in actions)
            button.setToolTip(style.texts(WORDS[action]))
            button.setAccessibleName(style.texts(WORDS[action]))
            if style.picture is not None:
                button.setIcon(style.picture(ICONS[action], "text_2", 15, self.devicePixelRatioF()))
        size = QSize(SIDE * len(actions) + 4, SIDE + 4)
        self.setGeometry(QRect(QPoint(top_right.x() - size.width(), max(0, top_right.y())), size))
        self.show()
        self.raise_()

    def _button(self, action: str) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName(f"message_{action}")
        button.setAutoRaise(True)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.setFixedSize(SIDE, SIDE)
        button.setIconSize(QSize(15, 15))
        button.clicked.connect(lambda: self.chosen.emit(self._message_id, action))
        self._line.addWidget(button)
        return button

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(self._colours[1]))
        painter.setBrush(QColor(self._colours[0]))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 7, 7)
