"""The cards that ask: keys choose and answer, an approval says no unless it is meant, and nothing hides in it."""

import json

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPlainTextEdit

from app.core.message import Author, Message, Prompt
from app.core.text import exact
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.widgets.approval_card import ApprovalCard, readable
from app.gui.widgets.label import ElidedLabel, Paragraph
from app.gui.widgets.question_card import QuestionCard
from app.storage.paths import resources_dir

ENTER = Qt.Key.Key_Return


@pytest.fixture
def made(qtbot, qapp):
    """Return what makes a card that is shown, with the list of its answers."""
    words = Language(resources_dir() / "i18n", "en")
    look = Look(qapp, resources_dir(), "light")

    def make(prompt: Prompt, depth: int = 0) -> tuple[QuestionCard | ApprovalCard, list[str]]:
        author = Author(id="b", name="Browser", kind="sub", path=("architect", "browser"), depth=depth)
        message = Message(id="m", turn_id="t", role="tool", author=author, prompt=prompt)
        card = (ApprovalCard if prompt.type == "approval" else QuestionCard)(words, look, message)
        qtbot.addWidget(card)
        card.resize(620, card.heightForWidth(620))
        card.show()
        card.activateWindow()
        card._shown_at -= 1.0
        answers: list[str] = []
        card.answered.connect(answers.append)
        card.dismissed.connect(lambda: answers.append("(skipped)"))
        return card, answers

    return make


def held(widget, key=ENTER) -> None:
    """Send a key as it comes again and again while it is held down."""
    event = QKeyEvent(QEvent.Type.KeyPress, key, Qt.KeyboardModifier.NoModifier, "\r", True)
    QApplication.sendEvent(widget, event)


def options(count: int = 3) -> Prompt:
    return Prompt(question="Which?", type="options", options=tuple(f"Answer {n}" for n in range(count)))


def test_numbers_choose_and_enter_answers_once(made):
    card, answers = made(options())
    QTest.keyClick(card, Qt.Key.Key_3)
    QTest.keyClick(card, ENTER)
    QTest.keyClick(card, ENTER)
    assert answers == ["Answer 2"]


def test_the_first_answer_is_chosen_and_arrows_go_round(made):
    card, answers = made(options())
    QTest.keyClick(card, Qt.Key.Key_Down)
    QTest.keyClick(card, Qt.Key.Key_Up)
    QTest.keyClick(card, ENTER)
    assert answers == ["Answer 0"]


def test_something_else_is_written(made):
    card, answers = made(options())
    box = card.findChild(QPlainTextEdit, "prompt_text")
    assert box.isHidden()
    QTest.keyClick(card, Qt.Key.Key_4)
    assert box.isVisible() and card.focusWidget() is box
    assert not card._answer.isEnabled()
    QTest.keyClicks(box, "4 of them")
    QTest.keyClick(box, ENTER)
    assert answers == ["4 of them"]


def test_more_options_than_number_keys(made):
    card, answers = made(options(12))
    assert [row._number for row in card._rows] == [*"123456789", "", "", "", ""]
    QTest.keyClick(card, Qt.Key.Key_0)
    QTest.mouseClick(card._rows[11], Qt.MouseButton.LeftButton)
    QTest.mouseClick(card._answer, Qt.MouseButton.LeftButton)
    assert answers == ["Answer 11"]


def test_yes_or_no(made):
    card, answers = made(Prompt(question="Go on?", type="yesno"))
    assert [row.words() for row in card._rows] == ["Yes", "No"]
    QTest.keyClick(card, Qt.Key.Key_2)
    QTest.keyClick(card, ENTER)
    assert answers == ["no"]


def test_own_words_and_skipping(made):
    card, answers = made(Prompt(question="Who tests it?"))
    assert not card._answer.isEnabled()
    QTest.mouseClick(card._skip, Qt.MouseButton.LeftButton)
    assert answers == ["(skipped)"]


@pytest.mark.threat("T14")
def test_a_key_that_was_meant_for_something_else_answers_nothing(made):
    card, answers = made(options())
    held(card)
    assert answers == []
    card.hide()
    card.show()
    QTest.keyClick(card, ENTER)
    assert answers == []


@pytest.mark.threat("T9")
@pytest.mark.corpus(47)
def test_a_question_is_no_markup_and_its_lines_are_all_seen(made):
    text = "<b>Bold</b> <img src='file:///etc/passwd'> " + "word " * 60
    card, _ = made(Prompt(question=text, type="options", options=("<i>a</i> " + "long " * 50,)))
    assert card.findChild(Paragraph).text() == text
    row = card._rows[0]
    card.layout().activate()
    assert row.height() >= row.heightForWidth(row.width()) > 40


@pytest.mark.threat("T14")
@pytest.mark.corpus(51)
def test_letters_that_turn_the_words_round_are_written_out_and_still_answered_with(made):
    turned = "\u202egnp.exe"
    card, answers = made(Prompt(question=f"Run {turned}?", type="options", options=(turned, "no")))
    assert card.findChild(Paragraph).text() == "Run ⟨U+202E⟩gnp.exe?"
    assert card._rows[0].words() == "⟨U+202E⟩gnp.exe"
    QTest.keyClick(card, ENTER)
    assert answers == [turned]


def test_a_sub_agents_question_says_who_asks(made):
    card, _ = made(options(), depth=1)
    assert card.findChild(ElidedLabel).text() == "Browser asks · architect › browser"
    card._language.choose("ko")
    assert "asks" not in card.findChild(ElidedLabel).text()


def approval(arguments: str = '{"url": "https://example.org"}', reason: str = "tool") -> Prompt:
    return Prompt(question="open_url", type="approval", tool="open_url", arguments=arguments, reason=reason)


@pytest.mark.threat("T14")
def test_no_is_what_enter_means(made):
    card, answers = made(approval())
    card.setFocus()
    assert card.focusWidget() is card.deny
    held(card.deny)
    assert answers == []
    QTest.keyClick(card.deny, ENTER)
    assert answers == ["deny"]


@pytest.mark.threat("T14")
def test_what_allows_is_dead_at_first_and_deaf_to_a_held_key(made, qtbot):
    card, answers = made(approval())
    assert not card.allow.isEnabled() and not card.always.isEnabled() and card.deny.isEnabled()
    QTest.mouseClick(card.allow, Qt.MouseButton.LeftButton)
    assert answers == []
    qtbot.waitUntil(card.allow.isEnabled)
    for key in (ENTER, Qt.Key.Key_Space):
        held(card.allow, key)
    assert answers == []
    QTest.mouseClick(card.allow, Qt.MouseButton.LeftButton)
    assert answers == ["allow"]


@pytest.mark.threat("T14")
def test_it_is_dead_again_when_it_comes_back_on_the_screen(made, qtbot):
    card, _ = made(approval())
    qtbot.waitUntil(card.always.isEnabled)
    card.hide()
    card.show()
    assert not card.allow.isEnabled()


def test_what_may_have_run_has_its_own_words(made):
    card, _ = made(approval(reason="may_have_run"))
    assert card.accessibleName() == "This may already have run before Moot closed. Run it again?"
    assert "open_url" in [label.text() for label in card.findChildren(QLabel)]
    assert card.allow.text() == "Run again"
    assert not card.always.isVisible()


@pytest.mark.threat("T14")
def test_the_whole_arguments_are_there_as_plain_text(made):
    arguments = json.dumps({"text": "<b>x</b>\u202eevil\u200b\u0007" + "y" * 20_000, "n": [1, 2]})
    card, _ = made(approval(arguments))
    box = card.findChild(QPlainTextEdit, "approval_arguments")
    shown = box.toPlainText()
    assert "<b>x</b>⟨U+202E⟩evil⟨U+200B⟩" in shown
    assert "y" * 20_000 in shown
    assert box.isReadOnly()
    assert box.height() < 400
    assert not set(shown) & {"\u202e", "\u200b", "\u0007"}


@pytest.mark.threat("T14")
@pytest.mark.parametrize(
    "sign", ["\u202e", "\u2066", "\u200b", "\u00ad", "\ufeff", "\u3164", "\x1b", "\x7f", "\U000e0041"]
)
def test_signs_nobody_sees_are_written_out(sign):
    assert exact(f"a{sign}b") == f"a⟨U+{ord(sign):04X}⟩b"


@pytest.mark.threat("T14")
def test_arguments_that_could_be_read_two_ways_stay_as_they_came():
    twice = '{"path": "/tmp/a", "path": "/etc/passwd"}'
    assert readable(twice) == twice
    assert readable("not json") == "not json"
    assert readable("[" * 100_000) == "[" * 100_000
    assert readable('{"a":1}') == '{\n  "a": 1\n}'
