"""The card that shows a hand-over before it happens: the member, and the instruction to be changed."""

import json

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout

from app.core.message import Consent, Message
from app.core.text import exact, visible
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.widgets.approval_card import DEAD_MS, GuardedButton
from app.gui.widgets.composer import ENTER, TextBox
from app.gui.widgets.label import plain_label
from app.gui.widgets.prompt_card import PromptCard

SWITCH_ASSISTANT = "switchAssistant"


class HandOverCard(PromptCard):
    """Asks whether a member shall be given an instruction; answers allow or deny.

    Emits changed_and_allowed(arguments as JSON text) where the instruction was rewritten.
    """

    changed_and_allowed = Signal(str)

    def __init__(self, language: Language, look: Look, message: Message) -> None:
        assert message.prompt is not None
        self._arguments = arguments_of(message.prompt.arguments)
        member = exact(str(self._arguments.get("assistant", "")))[:80]
        super().__init__(language, look, message, "users", language("hand_over.question", name=member))
        # As it is shown: where it is not changed, the call runs as it is.
        self._instruction = visible(str(self._arguments.get("instruction", "")))
        hint = plain_label("hint", wrap=True)
        hint.setText(language("hand_over.hint"))
        self.box = TextBox(lines=2, most=8, submits=False)
        self.box.setObjectName("hand_over_instruction")
        self.box.setFrameShape(TextBox.Shape.StyledPanel)
        self.box.setAccessibleName(language("hand_over.instruction"))
        self.box.setPlainText(self._instruction)
        self.deny = GuardedButton("primary", "hand_over_deny")
        self.allow = GuardedButton("", "hand_over_allow")
        self.deny.setText(language("hand_over.deny"))
        self.allow.setText(language("hand_over.allow"))
        foot = QHBoxLayout()
        foot.setSpacing(6)
        foot.addWidget(self.deny)
        foot.addWidget(self.allow)
        foot.addStretch(1)
        self.column.addWidget(hint)
        self.column.addWidget(self.box)
        self.column.addSpacing(2)
        self.column.addLayout(foot)
        self.setFocusProxy(self.deny)
        self._wait = QTimer(self)
        self._wait.setSingleShot(True)
        self._wait.setInterval(DEAD_MS)
        self._wait.timeout.connect(self._on_text_changed)
        self.allow.setEnabled(False)
        self.box.textChanged.connect(self._on_text_changed)
        self.deny.clicked.connect(lambda: self._answer(Consent.DENY))
        self.allow.clicked.connect(lambda: self._answer(Consent.ALLOW))

    def showEvent(self, event: QShowEvent) -> None:
        # Anew each time it comes on the screen: a click meant for what was there hits nothing.
        self.allow.setEnabled(False)
        self._wait.start()
        super().showEvent(event)

    def _take_key(self, event: QKeyEvent) -> bool:
        if event.key() in ENTER and not self.box.hasFocus():
            self._answer(Consent.DENY)
            return True
        return False

    def _on_text_changed(self) -> None:
        self.allow.setEnabled(bool(self.box.text()) and not self._wait.isActive())
        self.updateGeometry()

    def _answer(self, answer: str) -> None:
        text = self.box.text()
        for widget in (self.deny, self.allow, self.box):
            widget.setEnabled(False)
        if answer == Consent.ALLOW and text != self._instruction.strip():
            arguments = {**self._arguments, "instruction": text}
            self.changed_and_allowed.emit(json.dumps(arguments, ensure_ascii=False))
        else:
            self.answered.emit(answer)


def arguments_of(text: str) -> dict[str, object]:
    """Return a hand-over's arguments; none where they are no object, or not to be shown as texts."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def is_hand_over(message: Message) -> bool:
    """Say whether a question is about a hand-over whose member and instruction can be shown."""
    prompt = message.prompt
    if prompt is None or prompt.tool != SWITCH_ASSISTANT or prompt.reason == "may_have_run":
        return False
    arguments = arguments_of(prompt.arguments)
    return all(isinstance(arguments.get(name), str) for name in ("assistant", "instruction"))
