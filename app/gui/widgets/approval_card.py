"""The cards that ask before something happens: a tool call, or handing a task over to a member of a group.

"No" is the default. A button that allows is disabled for half a second, so that a click or key meant for what
was there before does nothing.
"""

import json

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QPlainTextEdit

from app.core.message import Consent, Message, PromptReason
from app.core.text import exact, visible
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.widgets.boxes import STRETCH, hbox
from app.gui.widgets.composer import ENTER, TextBox
from app.gui.widgets.controls import Button
from app.gui.widgets.label import plain_label
from app.gui.widgets.question_card import PromptCard

DEAD_MS = 500
MOST_LINES = 12


class GuardedButton(Button):
    """A button that a held key does not press."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.isAutoRepeat():
            event.accept()
        elif event.key() in ENTER:
            self.click()
        else:
            super().keyPressEvent(event)


class GuardedCard(PromptCard):
    """A card whose answers run something; the first one denies and has the focus.

    The others are disabled for half a second each time the card is shown, so that a click meant for something else
    does nothing.
    """

    def __init__(
        self, language: Language, look: Look, message: Message, icon: str, question: str = ""
    ) -> None:
        super().__init__(language, look, message, icon, question)
        self._wait = QTimer(self, singleShot=True, interval=DEAD_MS)
        self._wait.timeout.connect(self._show_state)

    def _add_answers(self, *answers: tuple[GuardedButton, str]) -> None:
        """Add buttons, each with the answer it gives."""
        self._answers = tuple(one for one, _ in answers)
        self.column.addSpacing(2)
        self.column.addLayout(hbox(*self._answers, STRETCH, spacing=6))
        self.setFocusProxy(self._answers[0])
        for one, answer in answers:
            one.clicked.connect(lambda _checked=False, chosen=answer: self._on_answer(chosen))
            one.setEnabled(one is self._answers[0])

    def showEvent(self, event: QShowEvent) -> None:
        self._wait.start()
        self._show_state()
        super().showEvent(event)

    def _show_state(self) -> None:
        for one in self._answers[1:]:
            one.setEnabled(not self._wait.isActive())

    def _on_answer(self, answer: str) -> None:
        for one in self._answers:
            one.setEnabled(False)
        self.answered.emit(answer)


class ApprovalCard(GuardedCard):
    """Asks whether a tool may run; answers allow, always or deny."""

    def __init__(self, language: Language, look: Look, message: Message) -> None:
        assert message.prompt is not None
        prompt = message.prompt
        again = prompt.reason == PromptReason.MAY_HAVE_RUN
        super().__init__(language, look, message, "shield-question-mark")
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
        # After it may have run, "always" would answer another question.
        self.always.setVisible(not again)
        self._add_answers(
            (self.deny, Consent.DENY), (self.allow, Consent.ALLOW), (self.always, Consent.ALWAYS)
        )
        language.changed.connect(self._retranslate)
        self._retranslate()

    def _retranslate(self) -> None:
        words, prompt = self._language, self.message.prompt
        assert prompt is not None
        again = prompt.reason == PromptReason.MAY_HAVE_RUN
        key = "approval.may_have_run" if again else "approval.question"
        self.ask(words(key, tool=exact(prompt.tool)))
        self._arguments.setAccessibleName(words("approval.arguments"))
        self.deny.setText(words("approval.deny"))
        self.allow.setText(words("approval.run_again" if again else "approval.allow"))
        self.always.setText(words("approval.always"))

    def _take_key(self, event: QKeyEvent) -> bool:
        if event.key() in ENTER:
            self._on_answer(Consent.DENY)
            return True
        return False

    def _fit_arguments(self) -> None:
        lines = min(MOST_LINES, self._arguments.document().blockCount())
        longest = max((len(line) for line in self._arguments.toPlainText().splitlines()), default=0)
        lines = max(lines, min(MOST_LINES, longest // 70 + 1))
        self._arguments.setFixedHeight(lines * (self._arguments.fontMetrics().lineSpacing() + 1) + 20)
        self._arguments.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)


def readable(arguments: str) -> str:
    """Return JSON arguments over several lines if nothing is lost by that, with invisible characters made visible."""
    try:
        found = json.loads(arguments, object_pairs_hook=_without_doubles)
        arguments = json.dumps(found, ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        pass
    return exact(arguments, "\n")


def _without_doubles(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Refuse an object with a repeated field: parsers differ in which one they use."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a field stands twice")
    return found


SWITCH_ASSISTANT = "switchAssistant"


class HandOverCard(GuardedCard):
    """Asks whether a member of a group may be given an instruction; answers allow or deny.

    Emits changed_and_allowed(arguments as JSON) if the user changed the instruction.
    """

    changed_and_allowed = Signal(str)

    def __init__(self, language: Language, look: Look, message: Message) -> None:
        assert message.prompt is not None
        self._arguments = arguments_of(message.prompt.arguments)
        member = exact(str(self._arguments.get("assistant", "")))[:80]
        super().__init__(language, look, message, "users", language("hand_over.question", name=member))
        # As shown: if it is not changed, the call runs with its own arguments.
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
        self.column.addWidget(hint)
        self.column.addWidget(self.box)
        self._add_answers((self.deny, Consent.DENY), (self.allow, Consent.ALLOW))
        self.box.textChanged.connect(self._show_state)

    def _take_key(self, event: QKeyEvent) -> bool:
        if event.key() in ENTER and not self.box.hasFocus():
            self._on_answer(Consent.DENY)
            return True
        return False

    def _show_state(self) -> None:
        self.allow.setEnabled(bool(self.box.text()) and not self._wait.isActive())
        self.updateGeometry()

    def _on_answer(self, answer: str) -> None:
        text = self.box.text()
        self.box.setEnabled(False)
        if answer == Consent.ALLOW and text != self._instruction.strip():
            for one in self._answers:
                one.setEnabled(False)
            arguments = {**self._arguments, "instruction": text}
            self.changed_and_allowed.emit(json.dumps(arguments, ensure_ascii=False))
        else:
            super()._on_answer(answer)


def arguments_of(text: str) -> dict[str, object]:
    """Return the arguments of a hand-over from JSON, empty if they are no object."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def is_hand_over(message: Message) -> bool:
    """Say whether a question is a hand-over whose member and instruction are texts."""
    prompt = message.prompt
    if prompt is None or prompt.tool != SWITCH_ASSISTANT or prompt.reason == "may_have_run":
        return False
    arguments = arguments_of(prompt.arguments)
    return all(isinstance(arguments.get(name), str) for name in ("assistant", "instruction"))
