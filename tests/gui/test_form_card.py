"""The card of a form: all fields at once, defaults, what may stay empty, and what is checked before it is sent."""

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton

from app.core.message import Author, FormField, Message, Prompt, PromptType
from app.gui.display.appearance import Language, Look
from app.gui.widgets.controls import Choice, WrappedTick
from app.gui.widgets.question_card import FormCard
from app.storage.paths import resources_dir
from tests.gui.seen import inside, shown_card

FIELDS = (
    FormField(key="name", label="<b>Name</b>", required=True),
    FormField(key="mail", label="E-mail", kind="email"),
    FormField(key="seats", label="Seats", kind="integer", default=("2",), least=1, most=4),
    FormField(key="paid", label="Paid", kind="yesno", required=True),
    FormField(key="days", label="Days", kind="many", options=("sa", "so"), labels=("Saturday", "Sunday"), default=("so",)),
)  # fmt: skip


@pytest.fixture
def card(qtbot, qapp):
    words, look = Language(resources_dir() / "i18n", "en"), Look(qapp, resources_dir(), "light")
    prompt = Prompt(question="A table?", type=PromptType.FORM, fields=FIELDS)
    message = Message(id="m", turn_id="t", role="system", author=Author(id="b", name="B"), prompt=prompt)
    return shown_card(qtbot, FormCard(words, look, message))


def wrong(card: FormCard) -> list[str]:
    labels = [one for one in card.findChildren(QLabel) if one.property("kind") == "error"]
    return [one.text() for one in labels if one.isVisible()]


def test_a_form_is_filled_in_at_once_and_checked_before_it_is_sent(card):
    answers = []
    card.answered.connect(answers.append)
    name, mail, seats = card.findChildren(QLineEdit)
    [paid], (saturday, sunday) = card.findChildren(Choice), card.findChildren(WrappedTick)
    assert (seats.text(), paid.currentText(), saturday.isChecked(), sunday.isChecked()) == (
        "2",
        "Choose…",
        False,
        True,
    )
    [label] = [one for one in card.findChildren(QLabel) if one.text() == "<b>Name</b>"]
    assert label.textFormat() == Qt.TextFormat.PlainText
    mail.setText("ada")
    seats.setText("5")
    inside(card, "prompt_answer").click()
    assert wrong(card) == [
        "Fill this in.",
        "Enter an e-mail address, such as name@example.org.",
        "Enter a number from 1 to 4.",
        "Fill this in.",
    ]
    assert answers == []
    card._language.choose("ko")
    assert wrong(card)[0] == card._language("form.wrong.empty") != "Fill this in."
    name.setText("Ada")
    mail.setText("")
    seats.setText("4")
    paid.setCurrentIndex(2)
    saturday.setChecked(True)
    assert wrong(card) == []
    QTest.keyClick(name, Qt.Key.Key_Return)
    assert [json.loads(one) for one in answers] == [
        {"name": ["Ada"], "mail": [], "seats": ["4"], "paid": ["no"], "days": ["sa", "so"]}
    ]


def test_what_was_entered_is_told_and_can_be_shown_again(card):
    told = []
    card.written.connect(told.append)
    name, _mail, seats = card.findChildren(QLineEdit)
    name.setText("Ada")
    card.findChildren(WrappedTick)[0].setChecked(True)
    card.findChildren(Choice)[0].setCurrentIndex(2)
    assert json.loads(told[-1]) == {
        "name": ["Ada"],
        "mail": [],
        "seats": ["2"],
        "paid": ["no"],
        "days": ["sa", "so"],
    }
    kept = told[-1]
    name.clear()
    seats.setText("3")
    card.findChildren(WrappedTick)[1].setChecked(False)
    card.write(kept)
    assert json.loads(told[-1]) == json.loads(kept)


def test_a_link_of_a_form_is_a_button_that_says_where_it_leads(qtbot, qapp):
    words, look = Language(resources_dir() / "i18n", "en"), Look(qapp, resources_dir(), "light")
    field = FormField(key="code", label="Code", detail="From https://example.org/codes?a=1&b=2.")
    prompt = Prompt(question="Which one?", type=PromptType.FORM, fields=(field,))
    card = FormCard(
        words,
        look,
        Message(id="m", turn_id="t", role="system", author=Author(id="b", name="B"), prompt=prompt),
    )
    qtbot.addWidget(card)
    asked = []
    card.link_requested.connect(asked.append)
    [link] = [one for one in card.findChildren(QPushButton) if one.objectName().startswith("form_link")]
    link.click()
    assert asked == ["https://example.org/codes?a=1&b=2"]
    assert link.text().replace("&&", "&") == asked[0]
