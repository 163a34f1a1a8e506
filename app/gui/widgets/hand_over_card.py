"""The card that asks whether a task may be handed over to a member of a group."""

import json
from collections.abc import Mapping

from PySide6.QtCore import Signal

from app.core.json_values import object_in
from app.core.message import SWITCH_ASSISTANT, Consent, Message, PromptReason
from app.core.text import exact, visible
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.widgets.approval_card import GuardedButton, GuardedCard
from app.gui.widgets.composer import TextBox
from app.gui.widgets.label import plain_label


class HandOverCard(GuardedCard):
    """Asks whether a member of a group may be given an instruction; answers allow or deny.

    Emits changed_and_allowed(arguments as JSON) if the user changed the instruction.
    """

    changed_and_allowed = Signal(str)

    def __init__(self, language: Language, look: Look, message: Message, names: Mapping[str, str]) -> None:
        """`names` are those of the assistants by id."""
        assert message.prompt is not None
        self._arguments = arguments_of(message.prompt.arguments)
        member = str(self._arguments.get("assistant", ""))
        member = exact(names.get(member, member))[:80]
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
        self.deny = GuardedButton("", "hand_over_deny")
        self.allow = GuardedButton("", "hand_over_allow")
        self.deny.setText(language("hand_over.deny"))
        self.allow.setText(language("hand_over.allow"))
        self.column.addWidget(hint)
        self.column.addWidget(self.box)
        self._add_answers((self.deny, Consent.DENY), (self.allow, Consent.ALLOW))
        self.box.textChanged.connect(self._show_state)

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
    return object_in(text) or {}


def is_hand_over(message: Message) -> bool:
    """Say whether a question is a hand-over whose member and instruction are texts."""
    prompt = message.prompt
    if prompt is None or prompt.tool != SWITCH_ASSISTANT or prompt.reason == PromptReason.MAY_HAVE_RUN:
        return False
    arguments = arguments_of(prompt.arguments)
    return all(isinstance(arguments.get(name), str) for name in ("assistant", "instruction"))
