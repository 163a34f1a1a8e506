"""The journal in the window: what was decided after a council, the list of it, and what came of it."""

from dataclasses import replace
from datetime import date
from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.core.council import CastVote, Decision
from app.gui.pages.council.verdict_page import HolderBar
from app.gui.widgets.text import Paragraph
from tests import app_driver
from tests.app_driver import Person, at_window
from tests.gui.test_council_page import HOLDS, ended, opened, script
from tests.wire.fixtures import wire_home, wire_servers

__all__ = ["wire_home", "wire_servers"]

until = partial(app_driver.until, seconds=60.0)


@pytest.fixture
async def person(qapp, data_dir, wire_home):
    script(wire_home)
    async with at_window(data_dir) as person:
        yield person


@pytest.mark.slow
async def test_a_decision_is_kept_and_comes_back_when_it_is_due(person: Person) -> None:
    page = await opened(person)
    await ended(page)
    journal = person.window.controller.engine.journal
    await person.click("council_journal")
    await until(lambda: person.sees("decision_dialog"))
    assert person.find("decision_option").currentText() == HOLDS["openai"]
    keep = person.find("decision_keep")
    await person.write("decision_due", "soon")
    assert not keep.isEnabled()
    await person.write("decision_due", "2026-01-31")
    await person.click("decision_keep")
    badge = person.window.top_bar.needs_you
    await until(badge.isVisible, what="the decision that is due")
    badge.open()
    badge._list.picked.emit(0)
    await until(lambda: person.sees("result_dialog"))
    assert not person.sees("result_right")
    await person.choose("result_choice", "It was wrong")
    await person.choose("result_right", HOLDS["anthropic"])
    await person.click("result_keep")
    await until(lambda: not badge.isVisible())
    (kept,) = journal.all()
    assert (kept.result, kept.right) == ("failed", HOLDS["anthropic"])
    assert journal.scores()["anthropic/anthropic-wire"].after == pytest.approx((1 - 0.71) ** 2)


@pytest.mark.slow
async def test_the_journal_lists_what_is_due_first_and_how_right_all_have_been(person: Person) -> None:
    journal, button = (
        person.window.controller.engine.journal,
        person.window.side_bar.decisions_button,
    )
    button.click()
    await until(lambda: person.sees("journal_dialog"))
    assert person.sees("journal_none") and not person.sees("journal_list")
    assert not person.find("journal_result").isEnabled()
    await person.click("journal_close")
    vote = CastVote(model="openai/gpt", before="A", before_sure=80, after="A", after_sure=80)
    for place in range(10):
        known = Decision(
            id=f"d{place}", name=f"Question {place}", decided="A", headline="A", state="settled",
            panel="Two", result="held", right="A", votes=(vote,),
        )  # fmt: skip
        await journal.save(known)
    await journal.save(Decision(id="late", name="Postgres?", decided="Postgres", due="2026-01-31"))
    await journal.save(Decision(id="soon", name="Rust?", decided="Go", due="2999-01-31"))
    await until(lambda: button.accessibleName() == "Decisions, 1 due")
    person.window.controller.actions()["journal"]()
    await until(lambda: person.sees("journal_list"))
    rows = person.find("journal_list")
    said = [rows.item(place).data(Qt.ItemDataRole.AccessibleTextRole) for place in range(3)]
    assert said == [
        "Postgres, due since 2026-01-31 · Postgres?",
        "Go, due on 2999-01-31 · Rust?",
        "A, It was right · Question 0",
    ]
    standing = person.find("journal_standing").text().splitlines()
    assert standing == [
        "openai/gpt: mean squared error of its confidence 0.04 at first, 0.04 at the end",
        "Panel Two: mean squared error of the confidence 0.04 at first, 0.04 at the end",
        "Two: 10 of 10 held up (95% interval: 72 to 100%)",
        "All agree: 10 of 10 held up (95% interval: 72 to 100%)",
    ]
    assert not person.find("journal_open").isEnabled(), "its council is gone"
    await person.press("journal_list", Qt.Key.Key_Return)
    await until(lambda: person.sees("result_dialog"))
    await person.click("result_keep")
    await until(lambda: rows.item(0).text().startswith("Go"))
    assert button.accessibleName() == "Decisions" and journal.find("late").result == "held"


async def test_a_decision_is_due_as_soon_as_its_day_begins(person: Person) -> None:
    controller = person.window.controller
    journal, badge = controller.engine.journal, person.window.top_bar.needs_you
    journal.today = lambda: date(2026, 1, 30)
    journal.look_at_day()
    await journal.save(Decision(id="late", name="Postgres?", decided="Postgres", due="2026-01-31"))
    await person.settle()
    button = person.window.side_bar.decisions_button
    assert controller.journal.clock.isActive() and not badge.isVisible()
    assert button.accessibleName() == "Decisions"
    # The computer slept over midnight, and the clock goes on.
    journal.today = lambda: date(2026, 2, 1)
    controller.journal.clock.timeout.emit()
    await until(badge.isVisible, what="the decision that is due")
    assert button.accessibleName() == "Decisions, 1 due"


async def test_a_decision_is_deleted_and_brought_back(person: Person) -> None:
    journal = person.window.controller.engine.journal
    for name in ("Postgres", "Go"):
        await journal.save(Decision(id=name.lower(), name="?", decided=name, due="2026-01-31"))
    person.window.controller.actions()["journal"]()
    await until(lambda: person.sees("journal_list"))
    rows, badge = person.find("journal_list"), person.window.top_bar.needs_you
    await person.press("journal_list", Qt.Key.Key_Delete)
    await until(lambda: rows.count() == 1)
    await person.click("toast_action")
    await until(lambda: rows.count() == 2, what="the decision again")
    for left in (1, 0):
        await person.click("journal_delete")
        await until(lambda left=left: rows.count() == left, what="the list without the decision")
    assert not journal.all()
    await until(lambda: person.sees("journal_none") and not badge.isVisible())
    assert not person.find("journal_delete").isEnabled()
    gone = await person.window.controller.engine.archive.thrown()
    assert {one.kind for one in gone} == {"decision_file"}


@pytest.mark.slow
async def test_a_verdict_says_how_often_such_results_held_up_and_keeps_the_decision(person: Person) -> None:
    journal = person.window.controller.engine.journal
    for place in range(3):
        result, right = ("held", "A") if place else ("failed", "B")
        known = Decision(id=f"d{place}", name="?", decided="A", headline="A", result=result, right=right)
        await journal.save(replace(known, state="settled"))
    vote = CastVote(model="openai/openai-wire", before="A", before_sure=80, after="A", after_sure=90)
    for place in range(10):
        known = Decision(id=f"v{place}", name="?", decided="A", headline="A", result="held", right="A")
        await journal.save(replace(known, votes=(vote,)))
    page = await opened(person)
    await ended(page)
    await person.click("council_debate")
    await until(lambda: page.verdict.isVisible(), what="the verdict")
    said = "Of the results that were as settled as this one, 2 of 3 held up."
    assert said in [one.text() for one in page.verdict.findChildren(Paragraph)]
    names = [one.accessibleName() for one in page.verdict.findChildren(QWidget)]
    assert "Brier score, 10 votes: GPT 0.01" in names
    (bar,) = page.verdict.findChildren(HolderBar)
    shown = bar.grab().toImage().pixelColor(1, 1)
    assert shown == QColor(page._look.tokens.speaker(page.people()["p1"].colour)[0])
    page.verdict.findChild(QWidget, "verdict_decision").setFocus()
    QTest.keyClick(person.window.focusWidget(), Qt.Key.Key_Space)
    await until(lambda: person.sees("decision_dialog"))
    QTest.keyClick(person.find("decision_sign"), Qt.Key.Key_Return)
    await until(lambda: journal.get(page.session_id) is not None)

    def on_the_card() -> list[str]:
        card = page.verdict.findChild(QWidget, "council_journal_card")
        return [one.text() for one in card.findChildren(Paragraph)]

    kept = [f"You decided: {HOLDS['openai']}", f"due on {journal.get(page.session_id).due}"]
    await until(lambda: on_the_card() == kept, what=f"{kept}")
    assert person.window.focusWidget().objectName() == "verdict_decision"
    exported = await person.window.controller.engine.export(page.session_id, "md")
    assert f"## Your decision\n\n- {HOLDS['openai']}" in exported
    await person.click("verdict_decision")
    await until(lambda: person.sees("result_dialog"))
    await person.click("result_keep")
    await until(lambda: journal.get(page.session_id).result == "held")
    await until(lambda: "It was right" in on_the_card(), what="the result on the card")
