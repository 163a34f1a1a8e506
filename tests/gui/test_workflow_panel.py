"""Work in steps as a person has it: recognised, begun, watched, steered, defined; against a local provider."""

import json
from dataclasses import replace
from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPlainTextEdit

from app.core.definitions import WorkflowDefinition, WorkflowStep
from app.core.session import WorkflowSession
from app.gui.panels.workflow.definitions_view import with_step_again
from tests import app_driver
from tests.app_driver import Person, at_window
from tests.chat_scenes import architect
from tests.gui.models import give_prices
from tests.gui.seen import button, saying, texts_in, toasts
from tests.gui.test_main_window import cut_off
from tests.repeats import slow_after
from tests.wire import Answer, Fault
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

until = partial(app_driver.until, seconds=120.0)
MODEL = "openai-wire"
DONE = "It is done.\n\n[STEP_COMPLETE]\nartifacts: patch.diff, [the notes](https://example.com/notes)\nstatus: done"


@pytest.fixture
async def person(qapp, data_dir):
    async with at_window(data_dir, size=(900, 600)) as person:
        yield person


def panel(person: Person):
    return person.window.controller.workflows.panel


def row(person: Person, step_id: str):
    return panel(person).work.steps.rows[step_id]


async def test_what_is_to_be_done_is_recognised_and_can_be_changed(person):
    await person.click("workflow_button")
    assert person.sees("workflow_command")
    assert not person.sees("debate_topic")
    await person.write("workflow_command", "Fix the login loop")
    assert person.find("workflow_choice").currentText() == "Bug fix"
    await person.write("workflow_command", "로그인 오류를 고쳐 주세요")
    assert person.find("workflow_choice").currentText() == "Bug fix"
    await person.choose("workflow_choice", "Feature request")
    await person.write("workflow_command", "Fix the login loop again")
    assert person.find("workflow_choice").currentText() == "Feature request", "what the user chose stays"


async def test_what_the_work_may_use_is_said_before_it_starts(person, monkeypatch):
    engine = person.window.controller.engine

    give_prices(monkeypatch, engine)
    await person.click("workflow_button")

    def line() -> str:
        return saying(panel(person).work.start_box, " steps · ")

    assert not line()
    await person.write("workflow_command", "Hello there")
    assert not line(), "nothing would start"
    await person.write("workflow_command", "Fix the login loop")
    await until(lambda: "$" in line())
    steps = len(engine.workflows.find("bug-fix").steps)
    assert line().startswith(f"{steps} steps · ")
    assert "tokens" in line()
    before = line()
    await person.choose("workflow_choice", "Feature request")
    await until(lambda: line() != before)
    await person.write("workflow_command", "")
    await until(lambda: not line())


async def test_where_nothing_is_recognised_the_user_picks(person):
    await person.click("workflow_button")
    await person.write("workflow_command", "Hello there")
    await person.press("workflow_command", Qt.Key.Key_Return)
    choice = person.find("workflow_choice")
    words = person.window.language
    await until(lambda: words("workflow.pick") in texts_in(panel(person).work.start_box))
    assert choice.currentData() == ""
    assert person.find("workflow_start").isEnabled()


async def test_one_panel_is_open_at_a_time(person):
    await person.click("workflow_button")
    await person.click("debate_button")
    assert not panel(person).isVisible()
    await person.click("workflow_button")
    assert panel(person).isVisible()
    assert not person.window.controller.panel.isVisible()
    await person.click("plan_button")
    assert not panel(person).isVisible()


@pytest.mark.parametrize("language", slow_after(1, [("en",), ("ko",)]))
async def test_nothing_is_cut_off_in_the_smallest_window(qapp, data_dir, language):
    async with at_window(data_dir, language=language, size=(900, 600)) as person:
        await person.click("workflow_button")
        await person.write("workflow_command", "Fix it")
        await person.settle()
        assert cut_off(person) == []
        await person.click("tab_definitions")
        await person.settle()
        assert cut_off(person) == []


@pytest.mark.slow
async def test_a_definition_is_copied_changed_and_kept_and_a_circle_is_named(person, data_dir):
    await person.click("workflow_button")
    await person.click("tab_definitions")
    assert person.find("workflow_name").isReadOnly(), "one that comes with Moot is only looked at"
    await person.click("workflow_duplicate")
    view = panel(person).definitions
    await until(lambda: not person.find("workflow_name").isReadOnly())
    definition_id = view.definition_id
    path = data_dir / "workflows" / f"{definition_id}.json"
    before = path.read_text("utf-8")
    view.forms[0].after.choose("verify")
    assert view.forms[1].error.isVisibleTo(view)
    assert "Verify" in view.forms[1].error.text()
    view.save_now()
    await person.settle(0.2)
    assert path.read_text("utf-8") == before, "what cannot run is not saved"
    view.forms[0].after.remove("verify")
    await person.click("workflow_add_step")
    view.forms[-1].role.setText("Nobody at all")
    view.forms[-1].role.textEdited.emit("Nobody at all")
    assert "Nobody at all".casefold() in view.forms[-1].error.text().casefold()
    view.forms[-1].role.setText("QA")
    view.forms[-1].role.textEdited.emit("QA")
    assert not view.forms[-1].error.text()
    await until(lambda: len(json.loads(path.read_text("utf-8"))["steps"]) == 6)
    assert len(view.graph.boxes()) == 6
    assert "Verify" in view.graph.accessibleDescription()
    view.name.setText("Mine")
    view.name.textEdited.emit("Mine")
    library = person.window.controller.engine.workflows
    await library.change(definition_id, lambda one: replace(one, keywords=("meanwhile",)))
    await until(lambda: view.keywords.text() == "meanwhile")
    found = library.find(definition_id)
    assert (found.name, found.keywords) == (view.name.text(), ("meanwhile",)) == ("Mine", ("meanwhile",))
    await person.click("workflow_delete")
    await until(lambda: not path.exists() and person.sees("toast_action"))
    await person.click("toast_action")
    await until(path.exists)


@pytest.mark.slow
async def test_a_step_that_was_taken_out_comes_back_as_it_was(person, data_dir):
    await person.click("workflow_button")
    await person.click("tab_definitions")
    await person.click("workflow_duplicate")
    await until(lambda: not person.find("workflow_name").isReadOnly())
    view = panel(person).definitions
    before = view.definition()
    path = data_dir / "workflows" / f"{before.id}.json"

    def kept():
        return [one["id"] for one in json.loads(path.read_text("utf-8"))["steps"]]

    ids = [one.id for one in before.steps]
    assert any(ids[1] in one.depends_on for one in before.steps), "something comes after it"
    view.forms[1].remove.click()
    await until(lambda: kept() == [ids[0], *ids[2:]])
    assert not any(ids[1] in one.depends_on for one in view.definition().steps)
    await person.click("toast_action")
    await until(lambda: kept() == ids)
    assert view.definition().steps == before.steps
    # By the keyboard, with another definition in front, and with what was written since.
    view.forms[1].remove.click()
    await person.write("workflow_name", "Renamed")
    view.name.textEdited.emit("Renamed")
    await until(lambda: kept() == [ids[0], *ids[2:]])
    workflows = person.window.controller.engine.workflows.all()
    other = next(one.id for one in workflows if one.id != before.id)
    view.show_definition(other)
    view.list.setFocus()
    QTest.keyClick(view.list, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    await until(lambda: kept() == ids)
    assert view.definition().steps == before.steps
    assert json.loads(path.read_text("utf-8"))["name"] == "Renamed"


def test_a_step_comes_back_into_what_has_changed_meanwhile():
    def step(step_id, *after):
        return WorkflowStep(id=step_id, name=step_id, role="QA", prompt="", depends_on=after)

    before = WorkflowDefinition(
        id="x", name="x", steps=(step("a"), step("b", "a"), step("c", "b"), step("d", "b"))
    )
    gone = before.steps[1]
    now = replace(before, steps=(replace(step("c", "a"), prompt="new"), step("e")))
    assert with_step_again(now, before, gone).steps == (
        replace(step("c", "b"), prompt="new"),
        step("b"),
        step("e"),
    )
    taken = replace(before, steps=(step("a"), step("b")))
    assert with_step_again(taken, before, gone) == before


@pytest.mark.slow
async def test_steps_are_watched_and_steered_to_their_end(qapp, data_dir, wire_home, wire_servers):  # noqa: F811
    def reply(request):
        # Which step it is stands in the first message, in quotes; what is asked again comes after it.
        task = str(request.body["messages"][1]["content"])
        return Answer("I have looked at it." if task.split('"')[1] == "Second" else DONE)

    async with at_window(data_dir) as person:
        wire_servers["openai"].script(MODEL, reply)
        engine = person.window.controller.engine
        await engine.assistants.save(architect(model=MODEL, role="Architect", tools=(), sub_agents=()))
        steps = (
            WorkflowStep(id="one", name="First", role="Architect", prompt="Do it."),
            WorkflowStep(id="two", name="Second", role="Architect", prompt="Do it.", depends_on=("one",)),
            WorkflowStep(id="three", name="Third", role="Architect", prompt="Do it.", depends_on=("two",)),
        )
        await engine.workflows.save(
            WorkflowDefinition(id="trio", name="Trio", keywords=("diamond",), steps=steps)
        )
        await person.click("workflow_button")
        await person.write("workflow_command", "Cut the diamond")
        await person.click("workflow_start")
        page = person.window.controller.chat_page
        await until(lambda: isinstance(page.session, WorkflowSession))
        await until(lambda: person.window.top_bar.mode.text() == "Workflow")
        accept = person.window.language("step.do.accept")
        await until(lambda: button(row(person, "two"), accept), what="the step that gave no end")
        asked = [one for one in engine.live(page.session_id).messages if one.role == "user"][-1]
        assert asked.turn_id != engine.live(page.session_id).messages[0].turn_id
        assert page.transcript.model.name(asked, person.window.language) == "Trio", "nobody wrote that"
        assert (await engine.export(page.session_id, "md")).count("You") == 1
        assert saying(row(person, "one"), "patch.diff")
        assert row(person, "one").indent() < row(person, "two").indent() < row(person, "three").indent()
        assert row(person, "two").accessibleName() == "Second, Architect, waiting"
        row(person, "one").menu.actions()[-1].trigger()
        assert QGuiApplication.clipboard().text() == "patch.diff, [the notes](https://example.com/notes)"
        next(one for one in row(person, "one").menu.actions() if "the notes" in one.text()).trigger()
        await until(lambda: person.sees("link_dialog"))
        person.find("link_dialog").close()
        assert not person.window.controller.workflows._clock.isActive(), "nothing ticks while nothing runs"
        row(person, "one").setFocus()
        await person.press("step_one", Qt.Key.Key_Down)
        assert person.window.focusWidget() is row(person, "two")
        await person.press("step_two", Qt.Key.Key_Return)
        assert any("/" in one or ":" in one for one in page.transcript.message_ids)
        await person.click("step_action_two")
        await until(lambda: engine.live(page.session_id).session.status == "completed")
        assert "3 of 3" in texts_in(panel(person).work)
        assert cut_off(person) == []


@pytest.mark.slow
async def test_going_on_after_a_failure_tries_again_what_failed(qapp, data_dir, wire_home, wire_servers):  # noqa: F811
    broken = [True]
    async with at_window(data_dir) as person:
        wire_servers["openai"].script(MODEL, lambda _: Fault("ctx") if broken[0] else Answer(DONE))
        engine, page = person.window.controller.engine, person.window.controller.chat_page
        await engine.assistants.save(architect(model=MODEL, role="Architect", tools=(), sub_agents=()))
        steps = (
            WorkflowStep(id="one", name="First", role="Architect", prompt="Do it."),
            WorkflowStep(id="two", name="Second", role="Architect", prompt="Do it.", depends_on=("one",)),
        )
        await engine.workflows.save(WorkflowDefinition(id="duo", name="Duo", keywords=("gem",), steps=steps))
        await person.click("workflow_button")
        await person.write("workflow_command", "Cut the gem")
        await person.click("workflow_start")
        await until(lambda: page.session is not None and page.session.status == "paused")
        assert "0 of 2" in texts_in(panel(person).work), "what a failure blocks is not done"
        model, look = page.transcript.model, person.window.look
        failed = next(
            one for one in engine.live(page.session_id).messages if one.state == "failed" and one.error
        )
        await until(lambda: failed.id in model)
        context = model.context(model.index(failed.id), look.tokens, person.window.language.texts)
        assert not context.can_retry, "a step is tried again in its row"
        broken[0] = False
        assert person.sees("workflow_resume")
        await person.click("chat_resume")
        await until(lambda: page.session.status == "completed")
        assert "2 of 2" in texts_in(panel(person).work)
        assert not person.sees("workflow_resume")


async def test_who_picks_while_a_model_looks_for_it_can_start_at_once(
    qapp,
    data_dir,
    wire_home,  # noqa: F811
    wire_servers,  # noqa: F811
):
    wire_servers["openai"].script(MODEL, lambda _: Answer("none", delay=600.0))
    async with at_window(data_dir) as person:
        box = panel(person).work.start_box
        await person.click("workflow_button")
        await person.write("workflow_command", "Hello there")
        await person.click("workflow_start")
        looking = person.window.language("workflow.looking")
        await until(lambda: wire_servers["openai"].requests and looking in texts_in(box))
        assert not box.start.isEnabled()
        await person.choose("workflow_choice", "Bug fix")
        assert box.start.isEnabled() and looking not in texts_in(box)


@pytest.mark.slow
async def test_what_cannot_start_says_why_and_can_be_started_again(qapp, data_dir):
    async with at_window(data_dir) as person:
        engine, box = person.window.controller.engine, panel(person).work.start_box
        await engine.assistants.save(architect(id="merlin", role="Wizard", tools=(), sub_agents=()))
        step = WorkflowStep(id="one", name="First", role="Wizard", prompt="Do it.")
        await engine.workflows.save(
            WorkflowDefinition(id="magic", name="Magic", keywords=("spell",), steps=(step,))
        )
        await engine.assistants.delete("merlin")
        await person.click("workflow_button")
        await person.write("workflow_command", "Cast a spell")
        recognised = person.window.language("workflow.recognised")
        assert recognised in texts_in(box)
        await person.click("workflow_start")
        await until(lambda: any("Wizard" in text for text in toasts(person.window)))
        assert recognised in texts_in(box), "nothing is being looked for"
        assert box.start.isEnabled()


@pytest.mark.slow
async def test_a_definition_is_shared_as_a_file_and_brought_in_again(person, data_dir, tmp_path):
    await person.click("workflow_button")
    await person.click("tab_definitions")
    view = panel(person).definitions
    shown = view.definition_id
    path = tmp_path / "shared.json"
    await person.click("workflow_share")
    person.choose_file(path)
    await until(lambda: path.is_file() and path.stat().st_size)
    document = json.loads(path.read_text("utf-8"))
    document["steps"][0]["script"] = "rm -rf /"
    path.write_text(json.dumps(document), "utf-8")
    await person.click("workflow_bring_in")
    person.choose_file(path)
    await until(lambda: person.sees("bring_in_dialog"))
    assert person.find("bring_in_dialog").windowTitle() == "Import a workflow"
    assert "steps: script" in person.find("bring_in_dropped", QLabel).text()
    assert (
        document["steps"][0]["prompt"] in person.find("bring_in_instructions", QPlainTextEdit).toPlainText()
    )
    await person.click("bring_in_keep")
    await until(lambda: view.definition_id not in ("", shown))
    assert view.name.text() == f"{document['name']} 2"
    assert [one.name.text() for one in view.forms] == [step["name"] for step in document["steps"]]
    saved = json.loads((data_dir / "workflows" / f"{view.definition_id}.json").read_text("utf-8"))
    assert [step["prompt"] for step in saved["steps"]] == [step["prompt"] for step in document["steps"]]
    # Whichever menu it comes in by.
    person.choose_new("assistant", "side.import_assistant")
    person.choose_file(path)
    await until(lambda: person.sees("bring_in_dialog"))
    assert person.find("bring_in_dialog").windowTitle() == "Import a workflow"
    await person.click("bring_in_cancel")


async def test_what_is_undone_by_the_keyboard_is_not_undone_again_by_the_message(person):
    await person.click("workflow_button")
    await person.click("tab_definitions")
    await person.click("workflow_duplicate")
    await until(lambda: not person.find("workflow_name").isReadOnly())
    view = panel(person).definitions
    view.forms[1].remove.click()
    await until(lambda: person.sees("toast_action"))
    view.forms[0].prompt.setFocus()
    _key(Qt.Key.Key_Z)
    view.forms[0].prompt.setFocus()
    QTest.keyClicks(view.forms[0].prompt, "Look first. ")
    written = view.definition().steps
    await person.click("toast_action")
    assert view.definition().steps == written and "Look first. " in written[0].prompt


def _key(key, *more):
    """Press a key with Ctrl where the focus is, as a person would."""
    modifiers = Qt.KeyboardModifier.ControlModifier
    for one in more:
        modifiers |= one
    QTest.keyClick(QApplication.focusWidget(), key, modifiers)


@pytest.mark.slow
async def test_changes_of_steps_are_undone_and_made_again_by_keys(person, data_dir):
    await person.click("workflow_button")
    await person.click("tab_definitions")
    await person.click("workflow_duplicate")
    await until(lambda: not person.find("workflow_name").isReadOnly())
    view = panel(person).definitions
    path = data_dir / "workflows" / f"{view.definition_id}.json"
    seen = [view.definition().steps]

    def changed():
        assert view.definition().steps != seen[-1]
        seen.append(view.definition().steps)

    await person.click("workflow_add_step")
    changed()
    view.forms[-1].prompt.setFocus()
    QTest.keyClicks(view.forms[-1].prompt, "Look again")
    assert view.definition().steps[-1].prompt == "Look again"
    changed()
    view.forms[-1].up.click()
    changed()
    view.forms[0].remove.click()
    changed()
    await until(lambda: len(json.loads(path.read_text("utf-8"))["steps"]) == len(seen[-1]))
    for wanted in reversed(seen[:-1]):
        _key(Qt.Key.Key_Z)
        assert view.definition().steps == wanted
        assert view.isAncestorOf(QApplication.focusWidget()), "the next key is for the workflow too"
    for wanted in seen[1:]:
        _key(Qt.Key.Key_Z, Qt.KeyboardModifier.ShiftModifier)
        assert view.definition().steps == wanted
    _key(Qt.Key.Key_Z, Qt.KeyboardModifier.ShiftModifier)
    await until(lambda: person.sees("toast"))
    assert view.definition().steps == seen[-1], "nothing is left to do again"
    _key(Qt.Key.Key_Z)
    assert view.definition().steps == seen[-2]
    await until(lambda: len(json.loads(path.read_text("utf-8"))["steps"]) == len(seen[-2]))
    # What another workflow was like is no business of this one.
    view.show_definition(next(one for one in view._definitions if one != view.definition_id))
    assert not view.undo()
