"""A plan edited by hand: what each key asks for, what stays as it is, and what is never lost."""

import sys
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.core.criteria import Criterion, CriterionState, Plan, PlanItem
from app.engine.group.commands import MAX_ITEM, MAX_ITEMS
from app.gui.display.appearance import Language, Look
from app.gui.widgets.controls import scrolling
from app.gui.widgets.editable_lists import PlanList
from app.storage.paths import resources_dir

KEYS = Qt.Key
ALT = Qt.KeyboardModifier.AltModifier


@pytest.fixture
def plan_list(qapp):
    """A list of three, the first of them done, that takes over every plan it asks for."""
    made = PlanList(Language(resources_dir() / "i18n", "en"), Look(qapp, resources_dir(), "light"), "plan")
    area = scrolling(made)
    area.resize(300, 60)
    area.show()
    area.activateWindow()
    made.asked = []
    made.plan_requested.connect(
        lambda plan: (made.asked.append(plan), made.show_plan(plan, editable=True, working=True))
    )
    items = tuple(PlanItem(text=text, done=text == "one") for text in ("one", "two", "three"))
    made.show_plan(Plan(goal="Ship", items=items), editable=True, working=True)
    yield made
    area.close()
    area.deleteLater()


def texts(plan_list) -> list[str]:
    return [item.text + "✓" * item.done for item in plan_list.asked[-1].items]


def test_keys_tick_move_and_strike_out_and_the_goal_stays(plan_list):
    rows = plan_list.rows()
    rows[1].setFocus()
    QTest.keyClick(rows[1], KEYS.Key_Space)
    assert texts(plan_list) == ["one✓", "two✓", "three"]
    QTest.keyClick(rows[1], KEYS.Key_Up, ALT)
    assert texts(plan_list) == ["two✓", "one✓", "three"]
    QTest.keyClick(rows[0], KEYS.Key_Up, ALT)
    assert len(plan_list.asked) == 2
    gone = []
    plan_list.item_removed.connect(lambda item, place: gone.append((item.text, place)))
    QTest.keyClick(rows[2], KEYS.Key_Delete)
    assert texts(plan_list) == ["two✓", "one✓"]
    assert gone == [("three", 2)]
    assert plan_list.asked[-1].goal == "Ship"


def test_a_mac_strikes_out_with_its_delete_key(plan_list, monkeypatch):
    row = plan_list.rows()[2]
    row.setFocus()
    QTest.keyClick(row, KEYS.Key_Backspace)
    assert plan_list.asked == []
    monkeypatch.setattr(sys, "platform", "darwin")
    QTest.keyClick(row, KEYS.Key_Backspace)
    assert texts(plan_list) == ["one✓", "two"]
    assert plan_list.rows()[0].remove.toolTip().endswith("(Backspace)")
    assert plan_list.rows()[0].accessibleDescription().endswith("Backspace to remove")


def test_one_row_at_a_time_is_a_stop_for_tab_and_arrows_bring_rows_into_sight(plan_list):
    rows = plan_list.rows()
    strong = Qt.FocusPolicy.StrongFocus
    assert [row.focusPolicy() == strong for row in rows] == [True, False, False]
    rows[0].setFocus()
    QTest.keyClick(rows[0], KEYS.Key_Down)
    QTest.keyClick(rows[1], KEYS.Key_Down)
    assert [row.focusPolicy() == strong for row in rows] == [False, False, True]
    assert not rows[2].visibleRegion().isEmpty()


def test_what_is_rewritten_meets_its_item_wherever_that_is_by_then(plan_list):
    row = plan_list.rows()[1]
    row.setFocus()
    QTest.keyClick(row, KEYS.Key_F2)
    row.box.setPlainText("two,\nbetter")
    items = tuple(PlanItem(text=text) for text in ("zero", "one", "two"))
    plan_list.show_plan(Plan(items=items), editable=True, working=True)
    assert row.box.toPlainText() == "two,\nbetter"
    QTest.keyClick(row.box, KEYS.Key_Return)
    assert texts(plan_list) == ["zero", "one", "two, better"]


def test_escape_leaves_an_item_as_it_is_and_an_empty_text_asks_for_nothing(plan_list):
    row = plan_list.rows()[1]
    row.setFocus()
    QTest.keyClick(row, KEYS.Key_Return)
    row.box.setPlainText("other")
    QTest.keyClick(row.box, KEYS.Key_Escape)
    assert not row.box.isVisible()
    QTest.keyClick(row, KEYS.Key_Return)
    assert row.box.toPlainText() == "two"
    row.box.setPlainText("  ")
    QTest.keyClick(row.box, KEYS.Key_Return)
    assert plan_list.asked == []


def test_a_text_that_is_too_long_stays_to_be_made_shorter(plan_list):
    row = plan_list.rows()[1]
    row.setFocus()
    QTest.keyClick(row, KEYS.Key_Return)
    row.box.setPlainText("x" * (MAX_ITEM + 1))
    QTest.keyClick(row.box, KEYS.Key_Return)
    assert plan_list.asked == []
    assert row.box.isVisible()
    assert str(MAX_ITEM) in row.box.accessibleDescription()
    row.box.setPlainText("x" * MAX_ITEM)
    QTest.keyClick(row.box, KEYS.Key_Return)
    assert texts(plan_list)[1] == "x" * MAX_ITEM


def test_a_full_plan_takes_no_more_and_one_that_is_read_only_nothing(plan_list):
    add = plan_list.stops()[-1]
    QTest.keyClicks(add, " four ")
    QTest.keyClick(add, KEYS.Key_Return)
    assert texts(plan_list)[-1] == "four"
    assert add.text() == ""
    items = tuple(PlanItem(text=f"{number}") for number in range(MAX_ITEMS))
    plan_list.show_plan(Plan(items=items), editable=True, working=True)
    assert not add.isVisible()
    plan_list.show_plan(Plan(items=items[:2]), editable=False, working=False)
    assert not add.isVisible()
    asked = len(plan_list.asked)
    QTest.keyClick(plan_list.rows()[0], KEYS.Key_Space)
    assert len(plan_list.asked) == asked


def test_an_item_says_how_many_of_its_criteria_are_met_and_keeps_them(plan_list):
    means = Criterion(text="<b>blue</b>", state=CriterionState.MET), Criterion(text="one page")
    item = PlanItem(text="Paint", criteria=means)
    plan_list.show_plan(Plan(items=(item, PlanItem(text="Ship"))), editable=True, working=True)
    row, plain = plan_list.rows()
    assert "Paint · 1 of 2 met" in row.toolTip() and plain.toolTip() == "Ship"
    assert "&lt;b&gt;blue" in row.toolTip() and "one page" in row.toolTip()
    row.setFocus()
    QTest.keyClick(row, KEYS.Key_F2)
    assert row.box.toPlainText() == "Paint"
    row.box.setPlainText("Paint it")
    QTest.keyClick(row.box, KEYS.Key_Return)
    QTest.keyClick(row, KEYS.Key_Space)
    taken = (means[0], replace(means[1], state=CriterionState.ACCEPTED))
    assert plan_list.asked[-1].items[0] == PlanItem(text="Paint it", done=True, criteria=taken)
    plan_list.show_plan(plan_list.asked[-1], editable=True, working=True)
    assert row._shown == "Paint it · 1 of 2 met", "what the user takes as it is, is not met"


def means(plan_list) -> list[list[str]]:
    return [[one.text for one in item.criteria] for item in plan_list.asked[-1].items]


def test_what_must_be_true_of_an_item_is_typed_under_it_and_what_was_found_stays(plan_list):
    row = plan_list.rows()[1]
    row.setFocus()
    assert not row.means.isVisible()
    QTest.keyClick(row, KEYS.Key_F2)
    assert row.means.isVisible() and row.means.placeholderText() == "Done means… (one thing per line)"
    QTest.keyClick(row.box, KEYS.Key_Tab)
    assert row.means.hasFocus()
    row.means.insertPlainText("It works")
    QTest.keyClick(row.means, KEYS.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    row.means.insertPlainText("  It   is tested ")
    QTest.keyClick(row.means, KEYS.Key_Return)
    assert means(plan_list) == [[], ["It works", "It is tested"], []]
    assert row.hasFocus() and not row.means.isVisible()
    assert "two · 0 of 2 met" in row.toolTip()
    # What a checker has found of the first meanwhile is kept.
    goal, items = plan_list.asked[-1].goal, list(plan_list.asked[-1].items)
    works = replace(items[1].criteria[0], state=CriterionState.MET, round=1)
    items[1] = replace(items[1], criteria=(works, items[1].criteria[1]))
    plan_list.show_plan(Plan(goal=goal, items=tuple(items)), editable=True, working=True)
    QTest.keyClick(row, KEYS.Key_F2)
    assert row.means.toPlainText() == "It works\nIt is tested"
    row.means.setPlainText("It works\nIt is fast")
    QTest.keyClick(row.means, KEYS.Key_Return)
    assert plan_list.asked[-1].items[1].criteria == (works, Criterion(text="It is fast"))


def test_too_many_criteria_are_kept_to_be_mended_and_a_new_one_opens_what_was_done(plan_list):
    row = plan_list.rows()[0]
    row.setFocus()
    QTest.keyClick(row, KEYS.Key_F2)
    row.means.setPlainText("\n".join(map(str, range(21))))
    QTest.keyClick(row.means, KEYS.Key_Return)
    assert plan_list.asked == [] and row.means.isVisible() and "20" in row._problem.text()
    row.means.setPlainText("It holds")
    QTest.keyClick(row.means, KEYS.Key_Return)
    assert texts(plan_list) == ["one", "two", "three"], "nobody has looked whether it holds"
    QTest.keyClick(row, KEYS.Key_F2)
    row.means.insertPlainText("x")
    QTest.keyClick(row.means, KEYS.Key_Escape)
    assert not row.means.isVisible() and len(plan_list.asked) == 1
    QTest.keyClick(row, KEYS.Key_Space)
    assert texts(plan_list) == ["one✓", "two", "three"]
    assert [one.state for one in plan_list.asked[-1].items[0].criteria] == ["accepted"]


def test_who_did_an_item_and_who_does_the_next_stands_beside_it(plan_list):
    one, two, three = plan_list._plan.items
    plan = Plan(items=(replace(one, by="Mina"), two, three))
    plan_list.show_plan(plan, editable=True, working=True, who=("Dana · asks you",))
    rows = plan_list.rows()
    assert [row._note.text() for row in rows] == ["Mina", "Dana · asks you", "waits for step 2"]
    assert rows[0].accessibleName() == "1 of 3: one, done, Mina"
    assert rows[1].accessibleName() == "2 of 3: two, next, Dana · asks you"
    assert rows[2].accessibleName() == "3 of 3: three, open, waits for step 2"
    plan_list.show_plan(plan, editable=True, working=False, who=("Dana",))
    assert [row._note.text() for row in rows] == ["Mina", "not started", "not started"], "nobody works"
    plan_list.show_plan(plan, editable=True, working=True, who=("Dana", "Jun"))
    assert [row._note.text() for row in rows] == ["Mina", "Dana, Jun", ""], "one of them may be on the last"
    plan_list.show_plan(plan, editable=True, working=True)
    assert [row._note.text() for row in rows] == ["Mina", "", ""], "nobody is named"
