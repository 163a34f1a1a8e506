"""The card that asks whether a tool may run: the tool, its whole arguments as plain text, and three answers.

"No" is the default; a button that allows is dead for a moment and deaf to a key that is held down.
"""

import json

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QPlainTextEdit

from app.core.message import Consent, Message
from app.core.text import exact
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.widgets.composer import ENTER
from app.gui.widgets.controls import Button
from app.gui.widgets.label import plain_label
from app.gui.widgets.prompt_card import PromptCard

DEAD_MS = 500
MAY_HAVE_RUN = "may_have_run"
MOST_LINES = 12


class GuardedButton(Button):
    """A button that a key held down does not press."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.isAutoRepeat():
            event.accept()
        elif event.key() in ENTER:
            self.click()
        else:
            super().keyPressEvent(event)


class ApprovalCard(PromptCard):
    """Asks whether a tool may run; answers allow, always or deny."""

    def __init__(self, language: Language, look: Look, message: Message) -> None:
        assert message.prompt is not None
        prompt = message.prompt
        again = prompt.reason == MAY_HAVE_RUN
        super().__init__(language, look, message, "shield-question-mark", "")
        why = prompt.tool if again else prompt.question
        if why and (again or why != prompt.tool):
            label = plain_label("hint", wrap=True)
            label.setText(exact(why))
            self.column.addWidget(label)
        self._arguments = QPlainTextEdit()
        self._arguments.setObjectName("approval_arguments")
        self._arguments.setProperty("kind", "code")
        self._arguments.setReadOnly(True)
        self._arguments.setTabChangesFocus(True)
        self._arguments.setFrameShape(QFrame.Shape.NoFrame)
        self._arguments.setPlainText(readable(prompt.arguments))
        self._fit_arguments()
        self.column.addWidget(self._arguments)
        self.deny = GuardedButton("primary", "approval_deny")
        self.allow = GuardedButton("", "approval_allow")
        self.always = GuardedButton("", "approval_always")
        self._foot = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._foot.setSpacing(6)
        for widget in (self.deny, self.allow, self.always):
            self._foot.addWidget(widget)
        self._foot.addStretch(1)
        # Once it may have run, "always" would be an answer to another question.
        self.always.setVisible(not again)
        self.column.addSpacing(2)
        self.column.addLayout(self._foot)
        self.setFocusProxy(self.deny)
        self._wait = QTimer(self)
        self._wait.setSingleShot(True)
        self._wait.setInterval(DEAD_MS)
        self._wait.timeout.connect(lambda: self._set_alive(True))
        self._set_alive(False)
        language.changed.connect(self._retranslate)
        self._retranslate()
        for widget, answer in (
            (self.deny, Consent.DENY),
            (self.allow, Consent.ALLOW),
            (self.always, Consent.ALWAYS),
        ):
            widget.clicked.connect(lambda _checked=False, chosen=answer: self._on_answer(chosen))

    def _retranslate(self) -> None:
        words, prompt = self._language, self.message.prompt
        assert prompt is not None
        again = prompt.reason == MAY_HAVE_RUN
        key = "approval.may_have_run" if again else "approval.question"
        self.ask(words(key, tool=exact(prompt.tool)))
        self._arguments.setAccessibleName(words("approval.arguments"))
        self.deny.setText(words("approval.deny"))
        self.allow.setText(words("approval.run_again" if again else "approval.allow"))
        self.always.setText(words("approval.always"))

    def showEvent(self, event: QShowEvent) -> None:
        # Anew each time it comes on the screen: a click meant for what was there hits nothing.
        self._set_alive(False)
        self._wait.start()
        super().showEvent(event)

    def _take_key(self, event: QKeyEvent) -> bool:
        if event.key() in ENTER:
            self._on_answer(Consent.DENY)
            return True
        return False

    def _set_alive(self, alive: bool) -> None:
        self.allow.setEnabled(alive)
        self.always.setEnabled(alive)

    def _on_answer(self, answer: str) -> None:
        for widget in (self.deny, self.allow, self.always):
            widget.setEnabled(False)
        self.answered.emit(answer)

    def _fit_arguments(self) -> None:
        lines = min(MOST_LINES, self._arguments.document().blockCount())
        longest = max((len(line) for line in self._arguments.toPlainText().splitlines()), default=0)
        lines = max(lines, min(MOST_LINES, longest // 70 + 1))
        self._arguments.setFixedHeight(lines * (self._arguments.fontMetrics().lineSpacing() + 1) + 20)
        self._arguments.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)


def readable(arguments: str) -> str:
    """Return a call's arguments over several lines where that loses nothing, every sign in sight."""
    try:
        found = json.loads(arguments, object_pairs_hook=_without_doubles)
        arguments = json.dumps(found, ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        pass
    return exact(arguments, "\n")


def _without_doubles(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Refuse an object that names a field twice: which one counts is up to who reads it."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a field stands twice")
    return found
