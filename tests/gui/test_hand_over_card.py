"""Which questions are shown as hand-overs, and what is sent when one is rewritten."""

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from app.core.message import Message, Prompt, PromptType
from app.engine.work import is_hand_over
from app.gui.display.appearance import Language, Look
from app.gui.widgets.approval_card import HandOverCard
from app.storage.paths import resources_dir
from tests.gui.chats import MASTER


def asked(arguments: str, tool: str = "switchAssistant", reason: str = "tool") -> Message:
    prompt = Prompt(question="", type=PromptType.APPROVAL, tool=tool, arguments=arguments, reason=reason)
    return Message(id="m", turn_id="t", role="system", author=MASTER, prompt=prompt)


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        (asked('{"assistant": "ann", "instruction": "Do it."}'), True),
        (asked('{"assistant": "ann", "instruction": 3}'), False),
        (asked('{"assistant": "ann"}'), False),
        (asked('["ann"]'), False),
        (asked("no JSON"), False),
        (asked('{"assistant": "ann", "instruction": "Do it."}', tool="open_url"), False),
        (asked('{"assistant": "ann", "instruction": "Do it."}', reason="may_have_run"), False),
    ],
)
def test_only_what_can_be_shown_whole_is_a_hand_over(message: Message, shown: bool) -> None:
    assert is_hand_over(message) is shown


@pytest.fixture
def card(qapp):
    arguments = json.dumps({"assistant": "Ann\u202e", "instruction": "Do it.", "more": 1})
    made = HandOverCard(
        Language(resources_dir() / "i18n", "en"), Look(qapp, resources_dir(), "light"), asked(arguments), {}
    )
    made.said = []
    made.answered.connect(made.said.append)
    made.changed_and_allowed.connect(lambda text: made.said.append(json.loads(text)))
    made.show()
    yield made
    made.close()
    made.deleteLater()


@pytest.mark.parametrize(
    ("language", "said"), [("en", "Ann will get this instruction:"), ("ko", "Ann에게 전할 지시:")]
)
def test_it_says_who_gets_the_instruction(qapp, language: str, said: str) -> None:
    words, look = Language(resources_dir() / "i18n", language), Look(qapp, resources_dir(), "light")
    made = HandOverCard(words, look, asked('{"assistant": "a1", "instruction": "Do it."}'), {"a1": "Ann"})
    assert said in [label.text() for label in made.findChildren(QLabel)]
    made.deleteLater()


def test_nothing_is_allowed_at_once_and_what_hides_is_seen(card) -> None:
    assert not card.allow.isEnabled()
    assert card.accessibleName() == "Hand over to Ann⟨U+202E⟩?"
    QTest.mouseClick(card.deny, Qt.MouseButton.LeftButton)
    assert card.said == ["deny"]


async def test_as_it_is_or_rewritten_but_never_empty(card) -> None:
    card._wait.timeout.emit()
    card._wait.stop()
    card._show_state()
    card.box.setPlainText("  ")
    assert not card.allow.isEnabled()
    card.box.setPlainText("Do it well.")
    QTest.mouseClick(card.allow, Qt.MouseButton.LeftButton)
    assert card.said == [{"assistant": "Ann\u202e", "instruction": "Do it well.", "more": 1}]


def test_enter_breaks_the_line_in_the_instruction(card) -> None:
    card.box.setFocus()
    QTest.keyClick(card.box, Qt.Key.Key_Return)
    assert card.said == []
    assert "\n" in card.box.toPlainText()
