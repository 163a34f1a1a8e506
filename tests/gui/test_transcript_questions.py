"""Questions in a chat's transcript: the widget over an open one, what is painted of an answered one."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.core.message import Consent, FormField, Message, Prompt, PromptType
from app.gui.transcript.message_rows import MessageRow, QuestionRow
from app.gui.transcript.transcript_view import TranscriptView
from tests.gui.chats import SESSION, call, gave, question, spoke
from tests.gui.shown_view import shown_view
from tests.gui.test_transcript_feed import row, state

OPEN = Prompt(question="Which file types?", type="options", options=("CSV", "JSON"))


@pytest.fixture
def view(qtbot: QtBot) -> TranscriptView:
    """Return a shown, wide view."""
    return shown_view(qtbot, 900, 700)


class Card(QWidget):
    """A stand-in for the card of a question: a box, a button, and one more line on demand."""

    made: list["Card"] = []

    def __init__(self, message: Message) -> None:
        super().__init__()
        self.message = message
        self.box, self.button = QLineEdit(), QPushButton("Answer")
        self.lines = QVBoxLayout(self)
        self.lines.addWidget(self.box)
        self.lines.addWidget(self.button)
        Card.made.append(self)


def test_an_open_question_has_its_widget_while_it_is_on_screen(view: TranscriptView, qtbot: QtBot) -> None:
    Card.made = []
    view.questions.set_factory(Card)
    prefix = [spoke(f"x{number}", f"tx{number}", "Words " * 200) for number in range(30)]
    ask = spoke("m1", "tm", "", [call("c", "promptUser")])
    view.feed.show_session(SESSION, [*prefix, ask, question("q", "tm", "c", OPEN, role="tool")])
    (card,) = Card.made
    assert card.isVisible()
    placed = view.message_rect("q")
    assert placed is not None
    assert placed.contains(card.geometry())
    assert card.height() == card.sizeHint().height()
    assert isinstance(row(view, "m1"), MessageRow) and row(view, "m1").context.waiting
    card.box.setText("half an answer")
    view.go_to("x0", 0)
    assert not card.isVisible()
    view.jump_to_latest()
    assert card.isVisible() and card.box.text() == "half an answer"
    tall = QLineEdit()
    tall.setMinimumHeight(150)
    card.lines.addWidget(tall)
    qtbot.waitUntil(lambda: card.height() >= 190)
    answered = replace(OPEN, answered_by="w", answer="CSV")
    with qtbot.waitSignal(card.destroyed):
        view.feed.message_finished(question("q", "tm", "c", answered, role="tool"))
    made = row(view, "q")
    assert isinstance(made, QuestionRow)
    assert (made.question_text(), made.answer_text()) == ("Which file types?", "CSV")


def test_tab_goes_from_the_transcript_into_the_widget(view: TranscriptView, qtbot: QtBot) -> None:
    view.questions.set_factory(Card)
    view.feed.show_session(
        SESSION,
        [spoke("m1", "tm", "", [call("c", "promptUser")]), question("q", "tm", "c", OPEN, role="tool")],
    )
    view.setFocus()
    card = view.questions.widget("q")
    assert isinstance(card, Card)
    for _ in range(4):
        QTest.keyClick(view.window().focusWidget() or view, Qt.Key.Key_Tab)
        if card.box.hasFocus():
            return
    raise AssertionError("Tab never reached the box")


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        (replace(OPEN, dismissed=True), "Skipped"),
        (Prompt(question="Sure?", type="yesno", answered_by="w", answer="no"), "No"),
        (Prompt(question="Name?", type="text", answered_by="w", answer="<b>Ada</b>"), "<b>Ada</b>"),
        (
            Prompt(
                question="A table?",
                type="form",
                fields=(FormField(key="o", label="Outside", kind="yesno"), FormField(key="y", label="Yes")),
                answered_by="w",
                answer='{"o": ["no"], "y": ["no"]}',
            ),
            "Outside: No\nYes: no",
        ),
    ],
)
def test_answered_questions_are_painted(view: TranscriptView, prompt: Prompt, said: str) -> None:
    view.feed.show_session(SESSION, [spoke("m1", "tm", "", [call("c")]), question("q", "tm", "c", prompt)])
    made = row(view, "q")
    assert isinstance(made, QuestionRow)
    assert made.answer_text() == said
    assert said.partition("\n")[0] in view.describe("q")
    view.grab()


@pytest.mark.parametrize(
    ("answer", "result", "said"),
    [
        (Consent.ALLOW, "done", "allowed · done"),
        (Consent.FOREVER_SERVER, "done", "always allowed · done"),
        (Consent.DENY, "failed", "not allowed"),
    ],
)
def test_an_answered_approval_folds_into_the_row_of_its_call(
    view: TranscriptView, answer: str, result: str, said: str
) -> None:
    prompt = Prompt(question="", type=PromptType.APPROVAL, tool="open_url", answered_by="w", answer=answer)
    messages = [spoke("m1", "tm", "", [call("c", "open_url")]), question("q", "tm", "c", prompt)]
    view.feed.show_session(SESSION, [*messages, gave("r", "tm", "c", state=result)])
    assert "q" not in view.model
    words = "Opened" if result == "done" else "Opening"
    assert view.describe("m1/0").startswith(f"{words} https://example.org/, {said},")


def test_an_open_approval_makes_its_card_wait(view: TranscriptView) -> None:
    prompt = Prompt(question="", type=PromptType.APPROVAL, tool="open_url", arguments="{}")
    view.feed.show_session(SESSION, [spoke("m1", "tm", "", [call("c", "open_url")])])
    view.feed.message_started(question("q", "tm", "c", prompt))
    assert state(view, "m1/0") == "waiting"
    view.feed.message_finished(
        question("q", "tm", "c", replace(prompt, answered_by="w", answer=Consent.ALLOW))
    )
    assert state(view, "m1/0") == "running"
