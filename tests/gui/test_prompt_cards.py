"""The cards that ask: keys choose and answer, an approval says no unless it is meant, and nothing hides in it."""

import json
from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QFont, QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPlainTextEdit, QScrollArea, QWidget

from app.core.message import Author, Message, Prompt
from app.core.texts import exact
from app.core.tool import argument_rows
from app.engine.work import question_text
from app.gui.display.appearance import Language, Look
from app.gui.widgets.approval_card import ApprovalCard, ArgumentsBox
from app.gui.widgets.question_card import OptionRow, QuestionCard
from app.gui.widgets.text import ElidedLabel, Paragraph
from app.storage.paths import resources_dir
from tests.gui.seen import inside, saying, shown_card

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
        shown_card(qtbot, card).activateWindow()
        answers: list[str] = []
        card.answered.connect(answers.append)
        card.dismissed.connect(lambda: answers.append("(skipped)"))
        return card, answers

    return make


def rows(card) -> list[OptionRow]:
    return card.findChildren(OptionRow)


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
    assert not inside(card, "prompt_answer").isEnabled()
    QTest.keyClicks(box, "4 of them")
    QTest.keyClick(box, ENTER)
    assert answers == ["4 of them"]


def test_more_options_than_number_keys(made):
    card, answers = made(options(12))
    assert [row._number for row in rows(card)] == [*"123456789", "", "", "", ""]
    QTest.keyClick(card, Qt.Key.Key_0)
    QTest.mouseClick(rows(card)[11], Qt.MouseButton.LeftButton)
    QTest.mouseClick(inside(card, "prompt_answer"), Qt.MouseButton.LeftButton)
    assert answers == ["Answer 11"]


def test_yes_or_no_and_neither_is_chosen_in_advance(made):
    card, answers = made(Prompt(question="Go on?", type="yesno"))
    assert not any(row.isChecked() for row in rows(card)) and not inside(card, "prompt_answer").isEnabled()
    QTest.keyClick(card, ENTER)
    assert answers == []
    assert [row.words() for row in rows(card)] == ["Yes", "No"]
    QTest.keyClick(card, Qt.Key.Key_2)
    QTest.keyClick(card, ENTER)
    assert answers == ["no"]


def test_own_words_and_skipping(made):
    card, answers = made(Prompt(question="Who tests it?"))
    assert not inside(card, "prompt_answer").isEnabled()
    QTest.mouseClick(inside(card, "prompt_skip"), Qt.MouseButton.LeftButton)
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
    row = rows(card)[0]
    card.layout().activate()
    assert row.height() >= row.heightForWidth(row.width()) > 40


@pytest.mark.threat("T14")
@pytest.mark.corpus(51)
def test_letters_that_turn_the_words_round_are_written_out_and_still_answered_with(made):
    turned = "\u202egnp.exe"
    card, answers = made(Prompt(question=f"Run {turned}?", type="options", options=(turned, "no")))
    assert card.findChild(Paragraph).text() == "Run ⟨U+202E⟩gnp.exe?"
    assert rows(card)[0].words() == "⟨U+202E⟩gnp.exe"
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
def test_enter_decides_nothing_until_a_button_was_gone_to(made, qtbot):
    card, answers = made(approval())
    qtbot.waitUntil(card.allow.isEnabled)
    card.setFocus()
    assert card.focusWidget() is card
    assert card.deny.property("kind") == card.allow.property("kind")
    QTest.keyClick(card, ENTER)
    assert answers == []
    QTest.keyClick(card, Qt.Key.Key_Tab)
    card.deny.setFocus()
    held(card.deny)
    assert answers == []
    QTest.keyClick(card.deny, ENTER)
    assert answers == ["deny"]


def asked(count: int, **fields: object) -> list[Message]:
    author = Author(id="b", name="Browser")
    prompts = [
        replace(approval('{"line": "' + "x " * 60 * number + '"}'), **fields) for number in range(count)
    ]
    return [
        Message(id=f"q{number}", turn_id="t", role="system", author=author, prompt=prompt)
        for number, prompt in enumerate(prompts)
    ]


@pytest.mark.threat("T14")
def test_all_of_several_calls_can_be_allowed_once_all_arguments_were_in_view(made, qtbot):
    card, _ = made(approval())
    messages = asked(9)
    card.show_calls(messages)
    together: list[tuple[list[str], str]] = []
    card.all_answered.connect(lambda *said: together.append(said))
    card.resize(620, card.heightForWidth(620))
    qtbot.waitUntil(card.deny.isEnabled)
    assert card.accessibleName() == "Allow these 9 calls?"
    assert not card.allow.isEnabled()
    assert saying(card, "scroll")
    area = card.findChild(QScrollArea)
    bar = area.verticalScrollBar()
    bar.setValue(bar.maximum())
    QApplication.processEvents()
    assert not card.allow.isEnabled(), "what was jumped over was not seen"
    for arguments in [one for one in card.findChildren(ArgumentsBox) if not one.parentWidget().isHidden()]:
        area.ensureWidgetVisible(arguments.parentWidget())
        inner = arguments.verticalScrollBar()
        for line in range(inner.maximum() + 1):
            assert not card.allow.isEnabled()
            inner.setValue(line)
            QApplication.processEvents()
    qtbot.waitUntil(card.allow.isEnabled)
    assert not saying(card, "scroll")
    QTest.mouseClick(card.allow, Qt.MouseButton.LeftButton)
    QTest.mouseClick(card.allow, Qt.MouseButton.LeftButton)
    assert together == [([f"q{number}" for number in range(9)], "allow")]


def test_one_of_several_is_answered_alone_and_the_others_stay(made, qtbot):
    card, _ = made(approval())
    messages = asked(3)
    card.show_calls(messages)
    said: list[tuple[str, str]] = []
    card.call_answered.connect(lambda *each: said.append(each))

    def allows() -> list[QWidget]:
        return [one for one in card.findChildren(QWidget, "call_allow") if one.isVisible()]

    qtbot.waitUntil(lambda: [one.isEnabled() for one in allows()] == [True] * 3)
    QTest.mouseClick(allows()[1], Qt.MouseButton.LeftButton)
    assert said == [("q1", "allow")]
    card.show_calls([messages[0], messages[2]])
    assert card.accessibleName() == "Allow these 2 calls?"


def test_what_always_covers_is_a_choice_of_tool_and_server(made):
    card, answers = made(replace(approval(), tool="files__read", server="files", consent="f/h", reads=True))
    offered = [action.text() for action in card.always.choices.actions()]
    assert offered == [
        "files__read, in this session",
        "Read-only tools of files, in this session",
        "All tools of files, in this session",
        "files__read, from now on",
        "Read-only tools of files, from now on",
        "All tools of files, from now on",
    ]
    card.always.choices.actions()[-1].trigger()
    assert answers == ["forever-server"]
    card, _ = made(approval())
    assert [action.text() for action in card.always.choices.actions()] == ["Open links, in this session"]


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
    assert "Open links" in [label.text() for label in card.findChildren(QLabel)]
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
    for text in (twice, "not json", "[" * 100_000, '["a"]', "{}"):
        assert argument_rows(text) == argument_rows(text, plainly=True) == [("", text)]


@pytest.mark.threat("T14")
def test_arguments_are_rows_in_which_no_value_passes_for_another():
    arguments = json.dumps(
        {"a": 1, "text": "x\ny", "empty": "", "no": "null", "deep": {"b": [2]}, "sp": " x"}
    )
    shown = dict(argument_rows(arguments, plainly=True))
    assert shown == {
        "a": "1",
        "text": "x\ny",
        "empty": '""',
        "no": '"null"',
        "deep": '{\n  "b": [\n    2\n  ]\n}',
        "sp": '" x"',
    }
    assert dict(argument_rows(arguments)) == shown | {"text": '"x\\ny"'}


def of_a_server() -> Prompt:
    arguments = json.dumps({"room": "Sarangbang", "note": "a\nroom  Other"})
    return replace(
        approval(arguments),
        tool="Hanok_desk__book_room_156f0737",
        question="Hanok_desk__book_room_156f0737",
        server="Hanok desk",
        name="book_room",
        about="Books <b>a room</b>.",
        consent="c",
    )


def test_an_approval_shows_the_names_of_the_server_its_words_and_rows_of_arguments(made):
    card, _ = made(of_a_server())
    assert card.accessibleName() == "Allow “book_room (Hanok desk)”?"
    texts = [label.text() for label in card.findChildren(QLabel)]
    assert "Books <b>a room</b>." in texts
    assert not [text for text in texts if "156f0737" in text]
    box = card.findChild(QPlainTextEdit, "approval_arguments")
    assert box.toPlainText() == "room  Sarangbang\nnote  a\n      room  Other"
    bold = ""
    for place in range(box.document().characterCount() - 1):
        cursor = box.textCursor()
        cursor.setPosition(place + 1)
        if cursor.charFormat().fontWeight() >= QFont.Weight.Bold:
            bold += box.toPlainText()[place]
    assert bold.split() == ["room", "note"], "only the names"


def test_what_of_a_server_may_have_run_is_named_and_described(made):
    card, _ = made(replace(of_a_server(), reason="may_have_run"))
    texts = [label.text() for label in card.findChildren(QLabel)]
    assert "book_room (Hanok desk)\nBooks <b>a room</b>." in texts


def test_a_refusal_says_why_by_keyboard(made, qtbot):
    card, answers = made(of_a_server())
    qtbot.waitUntil(card.why_not.isEnabled)
    assert not card.reason.isVisible()
    card.why_not.setFocus()
    QTest.keyClick(card.why_not, ENTER)
    assert card.focusWidget() is card.reason
    QTest.keyClick(card.reason, ENTER)
    assert answers == [], "without a reason nothing is decided"
    QTest.keyClick(card.why_not, ENTER)
    assert not card.reason.isVisible() and card.focusWidget() is card.why_not
    QTest.keyClick(card.why_not, ENTER)
    QTest.keyClicks(card.reason, "Not on a Monday.")
    QTest.keyClick(card.reason, ENTER)
    QTest.keyClick(card.reason, ENTER)
    assert answers == ["deny-Not on a Monday."]


def test_an_external_agent_is_told_no_reason(made):
    card, _ = made(approval(reason="agent_asks"))
    assert not card.why_not.isVisible()


MARKED = "## Which **database**?\n\n> See `db.py` and [the list](https://a.example/list)."


def test_a_question_is_plain_words_in_its_card_and_in_lists(made):
    card, _answers = made(Prompt(question=MARKED, type="text"))
    shown = "Which database?\n\nSee db.py and the list (https://a.example/list)."
    assert card.accessibleName() == shown and saying(card, shown)
    assert question_text(card.message, Language(resources_dir() / "i18n", "en").texts, {}) == " ".join(
        shown.split()
    )
    card, _answers = made(Prompt(question=MARKED, type="text", link="https://a.example"))
    assert card.accessibleName() == MARKED, "what a server asks is shown as it is"
