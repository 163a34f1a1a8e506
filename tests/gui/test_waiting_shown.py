"""Who waits for a busy assistant says so: in the chat, over it and in the sidebar; against a slow provider."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt

from app.core.definitions import Group, Leader, WorkflowDefinition, WorkflowStep
from app.core.session import Status
from tests.app_driver import Person, at_window
from tests.chat_scenes import call, said_last
from tests.group_scenes import leads
from tests.gui.seen import texts_in
from tests.gui.test_work_page import DONE, MODEL, ONE, jobs, status, until
from tests.repeats import slow_after
from tests.wire import Answer
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

BOSS = replace(ONE, id="boss", name="Boss", tools=("subAgent",), sub_agents=(ONE.id,), busy=None, role="")
HOLD, ASK, LEAD = "Hold it.", "Ask them.", "Lead them."
FREE = "Waiting until the assistant is free."


class Server:
    """The slow provider: what holds the assistant lasts until `slow` is over."""

    def __init__(self) -> None:
        self.slow = True

    def __call__(self, request: object) -> Answer:
        words = said_last(request)  # type: ignore[arg-type]
        if HOLD in words and self.slow:
            return Answer(DONE * 20, pace=0.3, pieces=30)
        if words != "tool" and words.endswith(ASK):
            return Answer(calls=(call("subAgent", name=ONE.id, task="Look."),))
        if leads(request) and "Yes." not in str(request.body["messages"]):  # type: ignore[arg-type, attr-defined]
            return Answer(calls=(call("switchAssistant", assistant=ONE.name, instruction="Look."),))
        return Answer(DONE if "Do it." in words else "Yes.")


@pytest.fixture
async def held(qapp, data_dir, wire_home, wire_servers):  # noqa: F811
    """Give a person, a server, and the id of a chat that holds the one assistant everybody waits for."""
    server = Server()
    wire_servers["openai"].script(MODEL, server)
    async with at_window(data_dir) as person:
        engine = person.window.controller.engine
        await engine.assistants.save(ONE)
        await engine.assistants.save(BOSS)
        await engine.groups.save(
            Group(
                id="two",
                name="Two",
                members=(ONE.id, "boss"),
                orchestrator=Leader(provider="openai", model=MODEL),
            )
        )
        session_id = await engine.chats.start(ONE.id, HOLD)
        await until(lambda: len(jobs(person)) == 1)
        yield person, server, session_id


def line(person: Person) -> str:
    return " ".join(texts_in(person.find("chat_state"))) if person.sees("chat_state") else ""


def listed(person: Person, session_id: str) -> str:
    """Return what a screen reader says of a session in the sidebar."""
    model = person.window.side_bar.sessions.model()
    rows = [model.index(row, 0) for row in range(model.rowCount())]
    names = {getattr(one.data(Qt.ItemDataRole.UserRole), "id", ""): one for one in rows}
    found = names.get(session_id)
    return str(found.data(Qt.ItemDataRole.AccessibleTextRole)) if found else ""


@pytest.mark.parametrize(
    ("partner", "text"),
    slow_after(
        1,
        [({"assistant_id": "boss"}, ASK), ({"assistant_id": ONE.id}, "Me too."), ({"group_id": "two"}, LEAD)],
    ),
)
async def test_what_waits_for_a_busy_assistant_says_so_until_its_turn_comes(held, partner, text):
    person, server, holder = held
    person.window.controller.show_new(**partner)
    await person.write("composer", text)
    await person.press("composer", Qt.Key.Key_Return)
    page = person.window.controller.chat_page
    await until(lambda: line(person) == FREE, what="the line over the composer")
    assert not person.sees("chat_resume")
    assert person.window.top_bar.status.text() == "Waiting in the queue"
    await until(lambda: listed(person, page.session_id).endswith("Waiting in the queue"), what="the sidebar")
    assert page.session.status == "running"
    server.slow = False
    await person.window.controller.engine.stop(holder)
    await until(lambda: status(person, page.session_id) == Status.IDLE)
    await until(lambda: not line(person))
    assert "Yes." in person.transcript("transcript")[-1]
    await until(
        lambda: not listed(person, page.session_id).endswith("Waiting in the queue"), what="the sidebar"
    )


@pytest.mark.slow
async def test_a_step_that_waits_is_left_out_by_its_menu_and_is_never_asked(held, wire_servers):  # noqa: F811
    person, server, holder = held
    engine = person.window.controller.engine
    await engine.assistants.save(replace(ONE, id="other", name="Other", role="Tester"))
    steps = (
        WorkflowStep(id="one", name="First", role="Architect", prompt="Do it."),
        WorkflowStep(id="two", name="Second", role="Tester", prompt="Do it.", depends_on=("one",)),
    )
    await engine.workflows.save(WorkflowDefinition(id="pair", name="Pair", keywords=("pair",), steps=steps))
    await person.click("workflow_button")
    session_id = await engine.workflows.start("Do the pair", "pair")
    desk = person.window.controller
    await until(lambda: desk.sessions.summary(session_id) is not None)
    desk.show_session(session_id)

    def waits() -> bool:
        row = desk.workflows.panel.work.steps.rows.get("one")
        return row is not None and "Waiting until" in row.accessibleDescription()

    await until(waits)
    rows = desk.workflows.panel.work.steps.rows
    words = person.window.language("step.do.skip")
    next(action for action in rows["one"].menu.actions() if action.text() == words).trigger()
    await until(lambda: status(person, session_id) == Status.COMPLETED)
    server.slow = False
    await engine.stop(holder)
    await until(lambda: not jobs(person))
    asked = [said_last(one) for one in wire_servers["openai"].requests if "Do it." in said_last(one)]
    assert len(asked) == 1 and "Second" in asked[0]
