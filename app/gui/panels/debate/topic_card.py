"""A debate's topic and its files over the debate, in one line that unfolds."""

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from app.core.message import tokens_text
from app.core.session import Debate
from app.gui.display.appearance import Language, Look
from app.gui.files.user_files import CHARACTERS_PER_TOKEN, is_seen
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.controls import icon_button, scrolling
from app.gui.widgets.text import ElidedLabel, Paragraph, name_button, plain_label

MOST_HEIGHT = 240
MARGIN = 14


class TopicCard(QFrame):
    """Shows a debate's topic and the names and sizes of its files;
    a button unfolds what does not fit into one line.
    """

    def __init__(self, language: Language, look: Look, name: str) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self.setObjectName(name)
        self._language = language
        self._debate: Debate | None = None
        self._line = ElidedLabel("value")
        self._count = plain_label("hint")
        self._toggle = icon_button(look, "chevron-down", f"{name}_toggle", self._refresh, checkable=True)
        self._toggle.setFixedSize(26, 24)
        self._text = Paragraph()
        self._files = plain_label("hint", wrap=True)
        body = QWidget()
        vbox(self._text, self._files, STRETCH, inside=body, margins=(0, 0, 8, 0), spacing=8)
        self._whole = scrolling(body)
        head = hbox((self._line, 1), self._count, self._toggle, spacing=8)
        vbox(head, self._whole, inside=self, margins=(MARGIN, 7, 8, 7), spacing=6)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        language.changed.connect(self._refresh)

    def show_debate(self, debate: Debate) -> None:
        """Show the topic of a debate, folded if it is another one."""
        if self._debate is None or self._debate.topic != debate.topic:
            self._toggle.setChecked(False)
        self._debate = debate
        self._refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()

    def _refresh(self) -> None:
        debate, words = self._debate, self._language
        if debate is None:
            return
        unfolded = self._toggle.isChecked()
        self._line.setText(words("setup.topic") if unfolded else debate.topic)
        self._count.setText(words("topic.files", count=len(debate.context)) if debate.context else "")
        self._toggle.set_icon("chevron-up" if unfolded else "chevron-down")
        name_button(self._toggle, words("topic.fold" if unfolded else "topic.unfold"))
        self._whole.setVisible(unfolded)
        self._text.setText(debate.topic)
        sizes = [
            words("chat.tip.seen", name=one.name)
            if is_seen(one)
            else words("topic.file", name=one.name, tokens=tokens_text(len(one.text) // CHARACTERS_PER_TOKEN))
            for one in debate.context
        ]
        self._files.setText("\n".join(sizes))
        self._files.setVisible(bool(sizes))
        self._fit()

    def _fit(self) -> None:
        """Set the height of the unfolded topic to that of its text and files at the card's width."""
        if self._toggle.isChecked():
            width = max(1, self.width() - 2 * MARGIN - 12)
            lines = self._files.heightForWidth(width) + 8 if self._files.text() else 0
            self._whole.setFixedHeight(min(MOST_HEIGHT, self._text.heightForWidth(width) + lines + 4))
