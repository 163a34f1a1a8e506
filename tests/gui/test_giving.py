"""Who does which step of a workflow, as a person sees and changes it: before the start, after a failure, in the editor."""

import json
from dataclasses import replace
from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu

from app.core.definitions import WorkflowDefinition, WorkflowStep
from app.gui.pages.work.work_page import SHOWN_S
from tests import app_driver
from tests.app_driver import Person, at_window
from tests.chat_scenes import architect
from tests.gui.seen import saying, texts_in
from tests.gui.test_main_window import cut_off
from tests.wire import Answer, Fault
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

until = partial(app_driver.until, seconds=120.0)
MODEL = "openai-wire"
DONE = "It is done.\n\n[STEP_COMPLETE]\nartifacts: patch.diff\nstatus: done"
ONE = architect(model=MODEL, role="Architect", tools=(), sub_agents=())
OTHER = replace(ONE, id="other", name="Other & co", role="", description="")
STEPS = (
    WorkflowStep(id="one", name="First", role="Architect", prompt="Do it."),
    WorkflowStep(id="two", name="Second", role="Architect", prompt="Do it.", depends_on=("one",)),
)
DUO = WorkflowDefinition(id="duo", name="Duo", keywords=("gem",), steps=STEPS)


@pytest.fixture
async def crew(qapp, data_dir, wire_home, wire_servers):  # noqa: F811
    """Give a person at the window with two assistants and a workflow, and a list that is true while all fails."""
    broken = [True]
    wire_servers["openai"].script(MODEL, lambda _: Fault("ctx") if broken[0] else Answer(DONE))
    async with at_window(data_dir) as person:
        engine = person.window.controller.engine
        for one in (ONE, OTHER):
            await engine.assistants.save(one)
        await engine.workflows.save(DUO)
        yield person, broken


def who(person: Person) -> dict[str, str]:
    """Return who did the steps of the workflow in front."""
    session = person.window.controller.chat_page.session
    return {one.id: one.assistant_id for one in session.workflow.steps}


def takers(person: Person, name: str) -> dict[str, object]:
    menu = next(
        one for one in person.window.findChildren(QMenu) if one.objectName() == name and one.isVisible()
    )
    return {one.text(): one for one in menu.actions()}


def who_menu(person: Person, button: str, step_id: str) -> dict[str, object]:
    """Return what the menu of a button offers for a step."""
    person.find(button).choices.aboutToShow.emit()
    inside = person.find(button).choices.findChildren(QMenu, f"who_{step_id}")[-1]
    return {one.text(): one for one in inside.actions()}


async def failed(person: Person) -> str:
    """Begin the workflow, and wait until its first step has failed."""
    page = person.window.controller.chat_page
    await person.click("workflow_button")
    await person.write("workflow_command", "Cut the gem")
    await person.click("workflow_start")
    await until(lambda: page.session is not None and page.session.status == "paused")
    return page.session_id


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
async def test_a_failed_step_is_given_to_somebody_else_in_its_row(crew):
    person, broken = crew
    page = person.window.controller.chat_page
    await failed(person)
    row = person.window.controller.workflows.panel.work.steps.rows["one"]
    others = {one.text(): one for one in row.menu.actions()}
    assert list(others) == ["Give to…", "Skip"]
    others["Give to…"].trigger()
    offered = takers(person, "step_takers")
    assert next(iter(offered)) == "Other && co" and "Architect" not in offered, "the user's own come first"
    broken[0] = False
    offered["Other && co"].trigger()
    await until(lambda: page.session.status == "completed")
    assert who(person) == {"one": "other", "two": "architect"}
    assert "Other & co" in texts_in(row)


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
async def test_a_failed_step_is_given_to_somebody_else_on_the_page_of_work(crew):
    person, broken = crew
    page = person.window.controller.chat_page
    session_id = await failed(person)
    # Where the details would cover the list.
    person.window.resize(900, 600)
    person.window.controller.work.show()
    await person.settle(SHOWN_S + 0.1)
    view = person.find("work_page").list
    assert view.item(view.rows.row_of(session_id)).button == "Give to…"
    where = view.button_of(session_id).center()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=where)
    broken[0] = False
    assert view.isVisible(), "the details cover the list, and so its menu"
    takers(person, "work_takers")["Other && co"].trigger()
    await until(lambda: person.window.controller.engine.live(session_id).session.status == "completed")
    person.window.controller.show_session(session_id)
    await until(lambda: page.session is not None and page.session_id == session_id)
    assert who(person) == {"one": "other", "two": "architect"}


async def test_before_the_start_a_line_says_who_does_what_and_a_menu_changes_it(crew):
    person, broken = crew
    broken[0] = False
    page, box = person.window.controller.chat_page, person.window.controller.workflows.panel.work.start_box
    await person.click("workflow_button")
    await person.write("workflow_command", "Hello there")
    assert not saying(box, "Who does what") and not person.sees("workflow_who"), "nothing would start"
    await person.write("workflow_command", "Cut the gem")
    assert "Who does what: Architect (First, Second)" in texts_in(box)
    entries = who_menu(person, "workflow_who", "two")
    assert (
        next(iter(entries)) == "Who fits the role Architect"
        and entries["Who fits the role Architect"].isChecked()
    )
    entries["Other && co"].trigger()
    assert "Who does what: Architect (First), Other & co (Second)" in texts_in(box)
    assert who_menu(person, "workflow_who", "two")["Other && co"].isChecked()
    await person.choose("workflow_choice", "Bug fix")
    line = saying(box, "temporary assistants (Reproduce")
    assert line and "Other" not in line
    await person.choose("workflow_choice", "Duo")
    assert "Who does what: Architect (First, Second)" in texts_in(box), "a choice is for one workflow"
    who_menu(person, "workflow_who", "two")["Other && co"].trigger()
    assert cut_off(person) == []
    await person.click("workflow_start")
    await until(lambda: page.session is not None and page.session.status == "completed")
    assert who(person) == {"one": "architect", "two": "other"}
    assert not box._assistants


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("en", "Who does what: Other & co (First), Architect (Second)"),
        ("ko", "담당: Other & co(First), Architect(Second)"),
    ],
)
async def test_the_first_page_says_it_too(qapp, data_dir, wire_home, wire_servers, language, line):  # noqa: F811
    wire_servers["openai"].script(MODEL, lambda _: Answer(DONE))
    async with at_window(data_dir, language=language) as person:
        engine, page = person.window.controller.engine, person.window.chat_page
        for one in (ONE, OTHER):
            await engine.assistants.save(one)
        await engine.workflows.save(DUO)
        await person.click("segment_work")
        assert not person.sees("work_who")
        person.choose_from("work_with", "Duo")
        assert person.sees("work_who")
        who_menu(person, "work_with", "one")["Other && co"].trigger()
        assert person.find("work_who").text() == line
        await person.click("segment_chat")
        assert not person.sees("work_who")
        await person.click("segment_work")
        await person.write("composer", "Cut it.")
        await person.press("composer", Qt.Key.Key_Return)
        await until(lambda: page.session is not None and page.session.status == "completed")
        assert who(person) == {"one": "other", "two": "architect"}


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
async def test_the_editor_has_assistant_criteria_and_gate_and_offers_no_circle(qapp, data_dir):
    steps = [
        {"id": "one", "name": "First", "role": "Architect", "prompt": "Do it.", "assistant": "Other & co"},
        {"id": "two", "name": "Second", "role": "Architect", "prompt": "Do it.", "depends_on": ["one"]},
        {"id": "three", "name": "Third", "role": "QA", "prompt": "Look.", "depends_on": ["two"]},
    ]
    steps[0]["mine"] = {"kept": 7}
    path = data_dir / "workflows" / "duo.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"version": 1, "id": "duo", "name": "Duo", "steps": steps}), "utf-8")
    async with at_window(data_dir, size=(900, 600)) as person:
        engine = person.window.controller.engine
        for agent in (ONE, OTHER):
            await engine.assistants.save(agent)
        await person.click("workflow_button")
        await person.click("tab_definitions")
        view = person.window.controller.workflows.panel.definitions
        view.show_definition("duo")
        # The forms of the definition before go.
        await person.settle()
        first, second, third = view.forms
        assert first.assistant.currentText() == "Other & co"
        assert first.assistant.itemText(0) == second.assistant.currentText() == "Who fits the role"
        offered = [set(form.after._offers) for form in view.forms]
        assert offered == [set(), {"one"}, {"one", "two"}], "nothing that is behind a step"
        second.after.remove("one")
        assert [set(form.after._offers) for form in view.forms] == [
            {"two", "three"},
            {"one"},
            {"one", "two"},
        ]
        second.after.choose("one")
        roles = first._roles.model().stringList()
        assert roles[:7] == ["PO", "PM", "Designer", "Architect", "FE", "BE", "QA"]
        assert len(set(roles)) == len(roles)
        first._pick.trigger()
        await until(lambda: first._roles.popup().isVisible())
        first._roles.popup().hide()
        await person.choose("step_assistant_1", "Architect")
        await person.write("step_means_0", "It shines\n\n It is cut ")
        third.gate.click()
        assert "criteria" in third.error.text(), "a gate needs some"
        await person.write("step_means_2", "It is sold")

        def kept():
            return json.loads(path.read_text("utf-8"))["steps"]

        await until(lambda: kept()[2].get("done_means") == ["It is sold"])
        one, two, three = kept()
        assert (one["assistant"], one["mine"]) == ("Other & co", {"kept": 7}), "the file stays as it is"
        assert one["done_means"] == ["It shines", "It is cut"]
        assert (two["assistant"], two["depends_on"], three["gate"]) == ("architect", ["one"], True)
        await person.settle()
        assert cut_off(person) == []
        await engine.assistants.save(replace(OTHER, name="Renamed"))
        await until(lambda: "doesn’t exist" in first.error.text(), what="the name is nobody's any more")
