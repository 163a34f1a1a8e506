"""The base of the cards that ask the user: the frame, who asks, and protection from keys meant for something else.

The transcript lays a card over the message that asks.
"""

import time

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QLabel

from app.core.message import Author, Message
from app.core.text import visible
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.widgets.boxes import hbox, vbox
from app.gui.widgets.composer import ENTER
from app.gui.widgets.label import ElidedLabel, Paragraph

WIDEST = 640
DEAD_S = 0.5


class PromptCard(QFrame):
    """A question over its message. Emits `came` when it is shown, `answered` or `dismissed`."""

    answered = Signal(str)
    dismissed = Signal()
    came = Signal()

    def __init__(self, language: Language, look: Look, message: Message, icon: str, question: str) -> None:
        super().__init__()
        assert message.prompt is not None
        self.setObjectName("prompt_card")
        self.setProperty("kind", "prompt")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMaximumWidth(WIDEST)
        self.message = message
        self._language = language
        self._look = look
        self._icon = icon
        self._shown_at = time.monotonic()
        self._picture = QLabel()
        self._picture.setContentsMargins(0, 2, 0, 0)
        self._question = Paragraph("card_title")
        self.ask(question)
        self.column = vbox(inside=self, margins=(15, 13, 15, 12), spacing=6)
        self._who = ElidedLabel("meta")
        self._who.setVisible(message.author.depth > 0)
        self.column.addWidget(self._who)
        head = hbox((self._picture, 0, Qt.AlignmentFlag.AlignTop), (self._question, 1), spacing=8)
        self.column.addLayout(head)
        self.column.addSpacing(2)
        look.changed.connect(self._draw)
        language.changed.connect(self._say_who)
        self._draw()
        self._say_who()

    def ask(self, question: str) -> None:
        """Set the question."""
        question = visible(question)
        self._question.setText(question)
        self.setAccessibleName(question)

    def sizeHint(self) -> QSize:
        width = min(WIDEST, max(320, self.width()))
        return QSize(width, self.heightForWidth(width))

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self.layout().totalHeightForWidth(min(width, WIDEST))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.updateGeometry()

    def showEvent(self, event: QShowEvent) -> None:
        self._shown_at = time.monotonic()
        super().showEvent(event)
        self.came.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # A held key, or one pressed just when the card came, was meant for something else.
        fresh = event.key() in ENTER and time.monotonic() - self._shown_at < DEAD_S
        if event.isAutoRepeat() or fresh or self._take_key(event):
            event.accept()
        else:
            super().keyPressEvent(event)

    def _take_key(self, event: QKeyEvent) -> bool:
        """Handle a key; return False if the card has no use for it."""
        return False

    def _say_who(self) -> None:
        author = self.message.author
        self._who.setText(
            self._language("prompt.asks", name=visible(author.name), path=visible(path_of(author)))
        )

    def _draw(self) -> None:
        self._picture.setPixmap(self._look.picture(self._icon, "text", 17, self.devicePixelRatioF()))


def path_of(author: Author) -> str:
    """Return the path from the root to a sub-agent as text."""
    return " › ".join(author.path)
