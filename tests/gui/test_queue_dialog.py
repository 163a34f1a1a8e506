"""Work that waits, and steps that run, as a person steers them by click: against a local provider that is slow."""

from dataclasses import replace
from functools import partial

import pytest

from app.core.agent import Busy
from app.core.summary import Status
from app.core.workflow import WorkflowDefinition, WorkflowStep
from tests import app_driver
from tests.app_driver import Person, at_window
from tests.chat_scenes import architect
from tests.wire import Answer
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

until = partial(app_driver.until, seconds=120.0)
MODEL = "openai-wire"
DONE = "It is done.\n\n[STEP_COMPLETE]\nartifacts: patch.diff\nstatus: done"
ONE = architect(model=MODEL, role="Architect", tools=(), sub_agents=(), busy=Busy(strategy="queue", depth=5))


class Pace:
    """What the server does: it answers slowly, a word each `seconds`, until it is told to hurry."""

    def __init__(self, seconds: float = 0.4) -> None:
        self.slow = True
        self._seconds = seconds

    def __call__(self, _request: object) -> Answer:
        return Answer(DONE, pace=self._seconds, pieces=30) if self.slow else Answer(DONE)


def jobs(person: Person) -> list[tuple[str, int | None]]:
    return [(one.id, one.place) for one in person.window.controller.engine.queues.jobs(ONE.id)]


def status(person: Person, session_id: str) -> str:
    live = person.window.controller.engine.live(session_id)
    return live.session.status if live else ""


@pytest.fixture
async def busy(qapp, data_dir, wire_home, wire_servers):  # noqa: F811
    """Give a person at the window, an assistant that answers one after the other, and the server's pace."""
    pace = Pace()
    wire_servers["openai"].script(MODEL, pace)
    async with at_window(data_dir) as person:
        person.unfold_team()
        engine = person.window.controller.engine
        await engine.assistants.save(ONE)
        await engine.assistants.save(replace(ONE, id="other", name="Other", role="Tester"))
        yield person, pace


async def test_what_waits_is_moved_given_away_and_taken_out(busy):
    person, pace = busy
    engine = person.window.controller.engine
    sessions = [await engine.chats.start(ONE.id, text) for text in ("One", "Two", "Three", "Four")]
    await until(lambda: len(jobs(person)) == 4)
    side = person.window.side_bar.assistants
    await until(lambda: "3 waiting" in side.item(side.ids().index(ONE.id)).tip)
    person.window.controller.workflows.queues.show(ONE.id)
    await person.settle()
    dialog = person.find("queue_dialog")
    assert dialog.isVisible()
    (running, _), second, third, fourth = jobs(person)
    assert person.sees(f"queue_open_{running}") and not person.sees(f"queue_out_{running}")
    assert not person.sees(f"queue_front_{second[0]}"), "the next is at the front already"
    await person.click(f"queue_front_{fourth[0]}")
    assert [one for one, place in jobs(person) if place is not None] == [fourth[0], second[0], third[0]]
    await person.click(f"queue_out_{third[0]}")
    await until(lambda: status(person, sessions[2]) == Status.IDLE)
    assert person.sees("toast_action"), "the way to where it can be tried again is offered over the dialog"
    give = person.find(f"queue_give_{second[0]}")
    next(action for action in give.menu().actions() if action.text() == "Other").trigger()
    await until(lambda: engine.queues.jobs("other"))
    assert "waiting for" in dialog._states[fourth[0]].text()
    await person.click(f"queue_hold_{ONE.id}")
    pace.slow = False
    await until(lambda: status(person, sessions[0]) == Status.IDLE)
    assert jobs(person) == [(fourth[0], 0)], "held back, it begins nothing more"
    await person.click(f"queue_hold_{ONE.id}")
    await until(lambda: all(status(person, one) == Status.IDLE for one in sessions))
    assert not dialog.findChildren(type(give), f"queue_out_{fourth[0]}")
    other = engine.live(sessions[1])
    assert other is not None
    assert other.messages[-1].author.id == "other"


@pytest.mark.slow
async def test_what_was_taken_out_is_tried_again_where_it_was_asked_for(busy):
    person, pace = busy
    engine = person.window.controller.engine
    sessions = [await engine.chats.start(ONE.id, text) for text in ("One", "Two")]
    await until(lambda: len(jobs(person)) == 2)
    person.window.controller.workflows.queues.show(ONE.id)
    await person.settle()
    await person.click(f"queue_out_{jobs(person)[1][0]}")
    await person.click("toast_action")
    page = person.window.controller.chat_page
    await until(lambda: page.session_id == sessions[1] and not person.sees("queue_dialog"))
    await until(lambda: status(person, sessions[1]) == Status.IDLE)
    pace.slow = False
    live = engine.live(sessions[1])
    page.transcript.action_requested.emit(live.messages[-1].id, "retry")
    await until(lambda: live.messages[-1].state == "done" and status(person, sessions[1]) == Status.IDLE)


@pytest.mark.slow
async def test_who_is_held_back_stays_so_after_a_restart_until_the_user_lets_go(
    qapp,
    data_dir,
    wire_home,  # noqa: F811
    wire_servers,  # noqa: F811
):
    wire_servers["openai"].script(MODEL, lambda _: Answer(DONE))
    async with at_window(data_dir) as person:
        await person.window.controller.engine.assistants.save(ONE)
        person.window.controller.workflows.queues.show(ONE.id)
        await person.click(f"queue_hold_{ONE.id}")
        await until(lambda: person.window.controller.engine.queues.is_held(ONE.id))
    async with at_window(data_dir) as person:
        person.unfold_team()
        desk, side = person.window.controller, person.window.side_bar.assistants
        assert "on hold" in side.item(side.ids().index(ONE.id)).tip
        session_id = await desk.engine.chats.start(ONE.id, "One")
        desk.show_session(session_id)
        line = desk.chat_page.state_line
        await until(lambda: line.isVisible() and "on hold" in line._text.text())
        assert not wire_servers["openai"].requests
        desk.workflows.queues.show()
        await person.settle()
        assert person.sees(f"queue_hold_{ONE.id}")
        await person.click("queue_close")
        await person.click("chat_resume")
        await until(lambda: status(person, session_id) == Status.IDLE)
        assert len(wire_servers["openai"].requests) == 1
        assert desk.engine.settings().held_back == ()


@pytest.mark.slow
async def test_a_step_is_stopped_retried_and_skipped_and_the_whole_paused_and_cancelled(busy):
    person, pace = busy
    engine = person.window.controller.engine
    steps = (
        WorkflowStep(id="one", name="First", role="Architect", prompt="Do it."),
        WorkflowStep(id="two", name="Second", role="Tester", prompt="Do it."),
        WorkflowStep(id="three", name="Third", role="Tester", prompt="Do it.", depends_on=("one",)),
        WorkflowStep(id="four", name="Fourth", role="Tester", prompt="Do it.", depends_on=("three",)),
    )
    await engine.workflows.save(
        WorkflowDefinition(id="trio", name="Trio", keywords=("diamond",), steps=steps)
    )
    await person.click("workflow_button")
    await person.write("workflow_command", "Cut the diamond")
    await person.click("workflow_start")
    page = person.window.controller.chat_page

    def states() -> list[str]:
        return [one.state for one in page.session.workflow.steps] if page.session else []

    await until(lambda: states() == ["running", "running", "pending", "pending"])
    await person.click("step_action_one")
    await until(lambda: states() == ["cancelled", "running", "skipped", "skipped"])
    await person.click("step_action_one")
    await until(lambda: states() == ["running", "running", "pending", "pending"])
    pace.slow = False
    await person.click("workflow_pause")
    await until(lambda: page.session.status == Status.PAUSED)
    pace.slow = True
    await person.click("workflow_resume")
    await until(lambda: states()[2:] == ["running", "pending"])
    rows = person.window.controller.workflows.panel.work.steps.rows
    words = person.window.language("step.do.skip")
    next(one for one in rows["four"].menu.actions() if one.text() == words).trigger()
    await until(lambda: states()[3] == "skipped")
    await person.click("workflow_cancel")
    await until(lambda: page.session.status in (Status.STOPPED, Status.COMPLETED))
    assert not {"running", "waiting"} & set(states())
