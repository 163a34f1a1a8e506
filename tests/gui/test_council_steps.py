"""The frame of a council's page: its steps, how much of it the answers have, its bar, and the keyboard."""

from dataclasses import replace
from functools import partial
from itertools import pairwise

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from app.core.events import TurnStarted
from app.core.message import Author, CouncilPart
from app.core.session import Status
from app.gui.pages.council.council_page import CouncilPage
from app.gui.pages.council.decision_steps import ANSWERS, DECISION, DIFFERENCES, STEPS, StepButton
from app.gui.widgets.badge import Chip
from app.gui.widgets.boxes import stops_in
from app.gui.widgets.controls import Choice, MenuButton
from tests.app_driver import Person, at_window, until
from tests.gui.seen import inside, texts_in
from tests.gui.test_council_page import HOLDS, ask, ended, heard, next_step, offered, opened, person, script
from tests.wire.fixtures import wire_home, wire_servers

__all__ = ["person", "wire_home", "wire_servers"]


def focus_order(page: CouncilPage) -> list[str]:
    """Return the names of what Tab stops at on the page, in order."""
    return [one.objectName() for one in stops_in(page) if one.isVisible() and one.isEnabled()]


async def test_the_steps_are_opened_by_click_and_key_and_say_what_they_would_do(person: Person) -> None:
    page = await heard(person)
    for name in ("decision_page", "council_view", "decision_steps", "council_tabs", "decision_next"):
        assert person.sees(name), name
    for name in ("decision_more", "decision_input", "composer", "send_button", "council_column_1"):
        assert person.sees(name), name
    await person.click("segment_differences")
    assert page.steps.value() == DIFFERENCES and person.sees("council_options")
    assert not page.columns.isVisible()
    keys = {one.key().toString(): one for one in page.steps.findChildren(QShortcut)}
    assert [*keys] == [f"Alt+{number}" for number in range(1, 7)]
    QTest.keyClick(person.window, Qt.Key.Key_6, Qt.KeyboardModifier.AltModifier)
    await until(lambda: person.sees("decision_option"), what="the form")
    assert page.steps.value() == DECISION
    # One that is not reached stays shut.
    QTest.keyClick(person.window, Qt.Key.Key_5, Qt.KeyboardModifier.AltModifier)
    assert page.steps.value() == DECISION
    verdict = person.find("segment_verdict")
    assert not verdict.isEnabled()
    assert verdict.accessibleDescription() == "The verdict follows after a debate · at most 14 calls"
    assert person.find("segment_debate").toolTip().endswith("all vote in secret · at most 14 calls")
    person.find("segment_decision").setFocus()
    await person.press("council_tabs", Qt.Key.Key_Left)
    await person.press("council_tabs", Qt.Key.Key_Left)
    assert page.steps.value() == ANSWERS and person.window.focusWidget() is person.find("segment_answers")
    assert page.columns.isVisible()


async def test_the_focus_stays_where_one_writes_when_the_step_that_had_it_is_left(person: Person) -> None:
    page = await heard(person)
    window, alt = person.window, Qt.KeyboardModifier.AltModifier
    page.columns.all["p1"].transcript.setFocus()
    QTest.keyClick(window, Qt.Key.Key_2, alt)
    # Not on the button of the next step, which costs something.
    assert page.steps.value() == DIFFERENCES and window.focusWidget() is page.composer.box
    QTest.keyClick(window, Qt.Key.Key_6, alt)
    await until(lambda: window.focusWidget().objectName() == "decision_option", what="the form")
    QTest.keyClick(window, Qt.Key.Key_1, alt)
    assert window.focusWidget() is page.composer.box
    # With another answer chosen the form is made anew, and has the focus again.
    await person.click("council_use_2")
    await until(lambda: person.find("council_use_2").text() == "In use", what="the choice")
    QTest.keyClick(window, Qt.Key.Key_6, alt)
    box = partial(person.find, "decision_option", Choice)
    await until(lambda: box().currentText() == HOLDS["anthropic"], what="the answer that is in use")
    assert window.focusWidget() is box()
    QTest.keyClick(window.focusWidget(), Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    await until(lambda: person.sees("decision_show_memo"), what="what was decided")
    # From there the memo is one click away.
    await person.click("decision_show_memo")
    await until(lambda: person.sees("memo_page"), what="the memo")


@pytest.mark.parametrize("name", STEPS)
async def test_the_words_of_an_open_step_are_whole(person: Person, name: str) -> None:
    page = await heard(person)
    step = person.find(f"segment_{name}", StepButton)
    page.steps.set_value(name)
    await person.settle()
    bold = QFont(step.font())
    bold.setWeight(QFont.Weight(620))
    bold.setPixelSize(14)
    # The circle is at the left; at the right a margin, or how much the step has.
    left, right = 25, max(6, step.fontMetrics().horizontalAdvance(step._much))
    assert QFontMetricsF(bold).horizontalAdvance(step.text()) <= step.width() - left - right


async def test_the_marks_are_switched_each_by_its_word(person: Person) -> None:
    page = await heard(person)
    search = page.columns.all["p0"].transcript.search
    row = page.columns.all["p0"].transcript.canvas.row(0)

    def marked() -> list[str]:
        ranges = search.marks.ranges(row, person.window.look.tokens)
        return [row.text.plain_text[one.start : one.end] for one in ranges]

    agreed, differs = marked()
    await person.click("council_mark_differ")
    assert marked() == [agreed]
    await person.click("council_mark_agreed")
    assert marked() == []
    await person.click("council_mark_differ")
    assert marked() == [differs]
    page.steps.set_value(DIFFERENCES)
    assert not person.sees("council_mark_differ")


async def test_the_page_is_mostly_answers_and_has_one_row_of_what_is_next(person: Person) -> None:
    page = await heard(person)
    await person.settle(0.2)
    assert page.columns.height() >= 0.6 * person.window.height()
    shown = [column for column in page.columns.all.values() if column.isVisible()]
    assert [one.transcript.height() >= 0.6 * person.window.height() for one in shown] == [True] * 3
    bar = [person.find(name) for name in ("decision_next", "decision_more", "decision_input")]
    assert len({(one.mapTo(page, one.rect().bottomLeft()).y(), one.height()) for one in bar}) == 1
    assert bar[0].height() == 40


@pytest.mark.parametrize(("language", "at"), [("en", "1 of 6 Answers"), ("ko", "1/6 답변")])
async def test_a_narrow_page_has_a_menu_of_the_steps(qapp, data_dir, wire_home, language, at) -> None:  # type: ignore[no-untyped-def]
    script(wire_home)
    async with at_window(data_dir, language=language, size=(900, 600)) as person:
        person.window.show_side(True)
        page = await heard(person)
        await person.settle(0.2)
        assert page.columns.height() >= 0.45 * person.window.height()
        assert (
            not person.sees("segment_answers") and inside(page.steps, "decision_step").accessibleName() == at
        )
        assert page.width() < 700
        menu = inside(page.steps, "decision_step", MenuButton).choices
        menu.aboutToShow.emit()
        entries = menu.actions()
        assert [one.isEnabled() for one in entries] == [True, True, False, False, False, True]
        assert [one.isChecked() for one in entries] == [step == ANSWERS for step in STEPS]
        entries[1].trigger()
        assert page.steps.value() == DIFFERENCES
        # All of the bar is there, the price whole.
        assert page.box.next.text() == page.box.next.accessibleName()
        for name in ("decision_next", "decision_more", "decision_target", "composer", "send_button"):
            part = person.find(name)
            assert part.isVisible() and page.rect().contains(part.mapTo(page, part.rect().center())), name
        # Beside the panel all of it is there without words, in one row.
        person.find("debate_button").setChecked(True)  # type: ignore[attr-defined]
        await until(lambda: page.width() < 400, what="the panel")
        await person.settle(0.2)
        bar = [person.find(name) for name in ("decision_next", "decision_more", "decision_input")]
        places = [one.mapTo(page, one.rect().topLeft()) for one in bar]
        assert len({one.y() for one in places}) == 1 and bar[0].text() == ""  # type: ignore[attr-defined]
        for part, after in pairwise(bar):
            assert (
                part.mapTo(page, part.rect().topRight()).x() < after.mapTo(page, after.rect().topLeft()).x()
            )
        assert places[-1].x() + bar[-1].width() <= page.width()


async def test_tab_goes_from_the_steps_over_the_columns_to_the_bar_and_all_have_names(person: Person) -> None:
    page = await heard(person)
    names = focus_order(page)
    order = [
        "segment_answers",
        "council_mark_differ",
        "council_copy_1",
        "council_use_1",
        "council_use_3",
        "decision_next",
        "decision_more",
        "decision_target",
        "composer",
    ]
    assert [one for one in names if one in order] == order
    named = [one for one in page.findChildren(QAbstractButton) if one.isVisible()]
    assert [one.objectName() for one in named if not (one.accessibleName() or one.text())] == []
    assert page.composer.box.accessibleName() == "What if…? Everyone answers · 4 calls"
    person.use_keyboard()
    step = person.find("segment_answers", QWidget)
    page.composer.setFocus()
    plain = step.grab().toImage()
    step.setFocus(Qt.FocusReason.TabFocusReason)
    QApplication.sendEvent(step, QEvent(QEvent.Type.UpdateRequest))
    assert step.grab().toImage() != plain, "the focus is seen"


async def test_the_next_step_is_pause_while_it_runs_and_keeps_its_colour_for_what_is_asked_for(
    person: Person, wire_home
) -> None:  # type: ignore[no-untyped-def]
    script(wire_home, pace=0.05)
    page = await opened(person)
    await until(lambda: next_step(page) == "pause")
    assert page.box.next.text() == "Pause" and page.box.next.property("kind") == "primary"
    assert page.composer.box.placeholderText() == "You can send this once all have answered"
    await ended(page)
    assert [*offered(page)] == ["merge", "again", "stress", "hide_names", "debate"]
    assert offered(page)["stress"] == "Stress-test · at most 9 calls"
    assert page.box.next.property("kind") == "primary"
    # There what the user decides comes first.
    assert texts_in(page.box, Chip)
    page.steps.set_value(DECISION)
    assert page.box.next.property("kind") == "" and not texts_in(page.box, Chip)


async def test_the_bar_says_what_is_done_while_nobody_speaks(person: Person) -> None:
    page = await heard(person)
    session = page.session
    assert session is not None
    page.show_change(replace(session, status=Status.RUNNING))
    author = Author(id="p0", name="GPT", kind="participant")
    for part, said in (
        (CouncilPart.BALLOT, "Voting…"),
        (CouncilPart.READING, "Judging…"),
        (CouncilPart.DISSENT, "The minority writes its reasons…"),
    ):
        turn = TurnStarted(session_id=session.id, turn_id=part, author=author, part=part, round=1)
        page.show_turn(turn, starting="")
        assert said in texts_in(page.box)
        assert page.transcript.typing.active == (part == CouncilPart.DISSENT), "a vote is no turn"
    page.show_change(session)
    assert not {"Voting…", "Judging…"} & {*texts_in(page.box)}


@pytest.mark.slow
async def test_a_council_is_forked_as_it_stood_at_an_earlier_verdict(person: Person) -> None:
    page = await heard(person)
    await ask(person, "council_debate")
    await until(lambda: page.session is not None and page.session.status == "running", what="the debate")
    await ended(page)
    await person.write("composer", "And below 20 writers?")
    await person.press("composer", Qt.Key.Key_Return)
    await until(lambda: page.session is not None and page.session.status == "running", what="the round")
    await ended(page)
    first, said = page.session_id, len(page.messages)
    person.choose_from("decision_more", "As it stood at verdict 1")
    await until(lambda: page.session_id not in ("", first), what="the fork")
    assert 0 < len(page.messages) < said and person.find("segment_verdict").isEnabled()


async def test_a_decision_is_found_in_the_palette_by_what_it_may_be(person: Person) -> None:
    commands = person.window.controller.palette.commands()
    (begins,) = [one for one in commands if one.id == "new_debate"]
    assert {"council", "debate", "decide", "vote"} <= {*begins.more.split()}
