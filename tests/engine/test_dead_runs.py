"""Runs that a fault of the program ends, of every kind of session: they fail, say so, and can be resumed."""

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from app.core.definitions import Group, Leader, StepStatus
from app.core.events import Event, MessageFinished, TurnFinished
from app.core.message import MessageState, Role
from app.core.provider import ModelRequest
from app.core.session import Reason, Status, reason_code, reason_text
from app.core.texts import Texts
from app.engine import runner
from app.engine.chat import run as chat_run
from app.engine.council import debate_run
from app.engine.council import run as council_run
from app.engine.debate.run import StatementTree
from app.engine.engine import CouncilSetup
from app.engine.group import commands as group_run
from app.engine.turns.tool_calls import ToolCalls
from app.engine.turns.turn_tree import TurnTree
from app.engine.workflow import run as workflow_run
from tests.builders import Bench, Hang, Script, a_bench, a_log_store, a_setup, left_open, until
from tests.engine.group_tools import PLAN_TOOLS
from tests.engine.test_turn import _asker, a_tool, agent, calling
from tests.engine.test_workflow import DIAMOND, DONE_TEXT
from tests.memory import MemoryStore

SECRET = "a fault with sk-secret-words in it"
RESOURCES = Path(__file__).parents[2] / "resources" / "i18n"
TEXTS = [Texts.load(RESOURCES, language) for language in ("en", "ko")]


@pytest.fixture
def logged() -> Iterator[list[logging.LogRecord]]:
    """Yield what the runner logs; the guard of the tests does not see it."""
    records: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = records.append  # type: ignore[method-assign]
    logger = logging.getLogger(runner.__name__)
    logger.addHandler(handler)
    logger.propagate = False
    yield records
    logger.propagate = True
    logger.removeHandler(handler)


def talk(request: ModelRequest) -> Script:
    """Answer for everybody: a call before the answer, a sub-agent, the end of a step."""
    said = " ".join(str(message["content"]) for message in request.messages)
    heard = [message for message in request.messages if message["role"] == Role.TOOL]
    tools = {str(tool["function"]["name"]) for tool in request.tools}  # type: ignore[index]
    if "subAgent" in tools and not heard:
        return calling(("subAgent", {"name": "helper", "task": "Look it up."}), ("echo", {"word": "hi"}))
    if "one step of a larger task" in said:
        return [DONE_TEXT]
    return ["I say so."]


def an_engine(folder: Path) -> Bench:
    """Return an engine on a real log with an assistant, its sub-agent, a group and a workflow."""
    agents = (
        agent(tools=("subAgent", "echo"), sub_agents=("helper",)),
        agent("helper", provider="", model=""),
        agent("ann", name="Ann"),
    )
    made = a_bench(a_log_store(folder), agents=agents, tools=(*PLAN_TOOLS, a_tool("echo"), _asker()))
    made.models.otherwise = talk
    group = Group(
        id="crew", name="Crew", members=("ann", "main"), orchestrator=Leader(provider="remote0", model="m")
    )
    made.documents.groups.kept = (group,)
    made.documents.workflows.kept = (DIAMOND,)
    left_open.append(made)
    return made


async def begin(made: Bench, kind: str) -> str:
    """Start a session of a kind."""
    engine = made.engine
    if kind == "chat":
        return await engine.chats.start("main", "Do it.")
    if kind == "group":
        return await engine.groups.start("crew", "Do it.")
    if kind == "workflow":
        return await engine.workflows.start("Cut a diamond.", "diamond")
    if kind == "council":
        setup = replace(a_setup(2), mode="council")
        return await engine.councils.start(CouncilSetup(setup=setup, differences=False))
    return await engine.debates.start(a_setup(2))


@dataclass(frozen=True, slots=True)
class Seed:
    """Where a fault is seeded: the first or a later call of a function of a kind's run."""

    kind: str
    owner: Any
    name: str
    after: int = 0
    only: Callable[..., bool] = lambda *_, **__: True


def in_sub_agent(_: TurnTree, turn: Any, *__: object) -> bool:
    return turn.parent_turn_id is not None


SEEDS = {
    "chat, its director": Seed("chat", chat_run, "decide"),
    "chat, after its answer": Seed("chat", chat_run, "decide", after=1),
    "chat, its turn": Seed("chat", TurnTree, "_take"),
    "chat, a call": Seed("chat", ToolCalls, "_answer"),
    "chat, a sub-agent": Seed("chat", TurnTree, "_take", only=in_sub_agent),
    "chat, a sub-agent's call": Seed("chat", ToolCalls, "_delegate"),
    "group, its director": Seed("group", group_run, "decide"),
    "group, its turn": Seed("group", TurnTree, "_take"),
    "debate, its director": Seed("debate", debate_run, "decide", after=3),
    "debate, its turn": Seed("debate", StatementTree, "_request", after=1),
    "debate, its statement": Seed("debate", debate_run, "after_turn", after=2),
    "debate, its end": Seed("debate", debate_run, "failed_turns"),
    "council, its director": Seed("council", council_run, "next_steps", after=1),
    "council, a step": Seed("council", council_run.CouncilRun, "_take", after=1),
    "council, its end": Seed("council", council_run.CouncilRun, "_finish"),
    "workflow, its director": Seed("workflow", workflow_run, "decide", after=2),
    "workflow, a step": Seed("workflow", workflow_run.WorkflowRun, "_prompt", after=1),
    "workflow, a step's turn": Seed("workflow", TurnTree, "_take", after=2),
    "workflow, a step's end": Seed("workflow", workflow_run.WorkflowRun, "_note", after=1),
}
"""Each seeds a fault at the call number `after` + 1."""


def sow(monkeypatch: pytest.MonkeyPatch, seed: Seed) -> None:
    """Let one call raise what nobody foresaw."""
    real, left = getattr(seed.owner, seed.name), [seed.after + 1]

    def faulty(*values: Any, **named: Any) -> Any:
        if seed.only(*values, **named):
            left[0] -= 1
            if left[0] == 0:
                raise RecursionError(SECRET)
        return real(*values, **named)

    monkeypatch.setattr(seed.owner, seed.name, faulty)


def calls_answered(made: Bench, session_id: str) -> bool:
    """Say whether every call has one result, and no message is still being written."""
    messages = made.messages(session_id)
    calls = [
        (one.turn_id, call.id)
        for one in messages
        for call in one.tool_calls
        if one.state == MessageState.DONE
    ]
    results = [(one.turn_id, one.tool_call_id) for one in messages if one.role == Role.TOOL and one.ended]
    return sorted(calls) == sorted(results) and all(one.state != MessageState.STREAMING for one in messages)  # type: ignore[type-var]


@pytest.mark.parametrize("name", SEEDS)
async def test_a_run_that_a_fault_ends_has_failed_and_is_resumed_from_its_last_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, logged: list[logging.LogRecord], name: str
) -> None:
    seed = SEEDS[name]
    made = an_engine(tmp_path)
    sow(monkeypatch, seed)
    session_id = await begin(made, seed.kind)
    ended = await made.engine.wait(session_id)
    assert (ended.status, ended.reason, reason_code(ended.reason)) == (Status.ERROR, "fault", "fault")
    # The log has the fault with its traceback, once; no text has it.
    [record] = logged
    assert (
        record.exc_info is not None and SECRET in str(record.exc_info[1]) and record.exc_info[2] is not None
    )
    assert SECRET not in json.dumps([str(one) for one in made.messages(session_id)]) + str(ended)
    for texts in TEXTS:
        text = reason_text(ended.reason, texts)
        assert text and "fault" not in text and "Traceback" not in text
    # Nothing of it still runs: neither a message, nor a turn, nor a step.
    assert all(one.state != MessageState.STREAMING for one in made.messages(session_id))
    assert turns_open(made.events) == set()
    if ended.workflow is not None:
        assert {one.state for one in ended.workflow.steps} <= {
            StepStatus.PENDING,
            StepStatus.READY,
            StepStatus.DONE,
        }
    # It goes on from what is on the disk.
    said = [one for one in made.messages(session_id) if one.role != Role.TOOL and one.ended]
    await made.engine.shutdown()
    left_open.remove(made)
    again = an_engine(tmp_path)
    live = await again.engine.open(session_id)
    assert (live.session.status, live.session.reason) == (Status.ERROR, "fault")
    await again.engine.resume(session_id)
    done = await again.engine.wait(session_id)
    over = Status.IDLE if seed.kind in ("chat", "group") else Status.COMPLETED
    assert (done.status, reason_code(done.reason)) == (over, "")
    assert calls_answered(again, session_id)
    kept = {one.id: one for one in again.messages(session_id)}
    assert all(kept[one.id] == one for one in said)
    answers = [
        one for one in kept.values() if one.content == "I say so." and one.ended and not one.is_interim
    ]
    assert len(answers) == {"chat": 1, "group": 1, "debate": 4, "council": 2, "workflow": 0}[seed.kind]
    if done.workflow is not None:
        assert {one.state for one in done.workflow.steps} == {StepStatus.DONE}


def turns_open(events: list[Event]) -> set[str]:
    """Return the turns that were announced to have begun with a call, and never to have ended."""
    begun = {
        one.message.turn_id for one in events if isinstance(one, MessageFinished) and one.message.tool_calls
    }
    steps = {
        one.message.turn_id
        for one in events
        if isinstance(one, MessageFinished) and one.message.author.id == "workflow"
    }
    return begun - steps - {one.turn_id for one in events if isinstance(one, TurnFinished)}


async def test_a_fault_while_a_queued_message_is_sent_keeps_it_in_the_queue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, logged: list[logging.LogRecord]
) -> None:
    made = an_engine(tmp_path)
    made.models.otherwise = lambda _: ["Well", Hang()]
    session_id = await made.engine.chats.start("main", "Do it.")
    await until(lambda: made.models.hanging == 1)
    await made.engine.chats.send(session_id, "And then this.")
    live = await made.engine.open(session_id)
    made.models.otherwise = lambda _: ["Done."]
    sow(monkeypatch, Seed("chat", chat_run, "user_message"))
    await made.engine.pause(session_id)
    await made.engine.pause(session_id)
    await made.engine.resume(session_id)
    await made.engine.wait(session_id)
    assert (live.session.status, live.session.reason) == (Status.ERROR, Reason.FAULT) and len(logged) == 1
    assert [one.text for one in live.chat_session.chat.queue] == ["And then this."]
    await made.engine.resume(session_id)
    await made.engine.wait(session_id)
    assert live.session.status == Status.IDLE and not live.chat_session.chat.queue
    said = [one.content for one in made.messages(session_id) if one.state == MessageState.DONE]
    assert said == ["Do it.", "Done.", "And then this.", "Done."]


async def test_a_failed_run_can_be_stopped_and_then_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, logged: list[logging.LogRecord]
) -> None:
    for kind, stands in (("debate", Status.STOPPED), ("workflow", Status.STOPPED), ("chat", Status.STOPPED)):
        made = an_engine(tmp_path / kind)
        sow(monkeypatch, Seed(kind, TurnTree, "take"))
        session_id = await begin(made, kind)
        assert (await made.engine.wait(session_id)).status == Status.ERROR, kind
        await made.engine.stop(session_id)
        live = await made.engine.open(session_id)
        assert (live.session.status, live.session.reason) == (stands, Reason.BY_USER)


async def test_a_listener_that_fails_keeps_nothing_from_the_others(
    tmp_path: Path, logged: list[logging.LogRecord]
) -> None:
    """The first listener fails once, in the middle of an answer; the disk, which listens after it, has all."""
    made = an_engine(tmp_path)
    left = [3]

    def fails(events: tuple[Event, ...]) -> None:
        left[0] -= any(isinstance(event, MessageFinished) for event in events)
        if left[0] == 0:
            left[0] = -1
            raise RuntimeError(SECRET)

    made.engine.bus._listeners.insert(0, fails)
    session_id = await begin(made, "chat")
    ended = await made.engine.wait(session_id)
    assert (ended.status, ended.reason) == (Status.ERROR, Reason.FAULT) and len(logged) == 1
    shown = made.messages(session_id)
    store = a_log_store(tmp_path)
    stored = await store.load(session_id)
    await store.close()
    assert stored.messages == shown and stored.session.status == Status.ERROR
    await made.engine.resume(session_id)
    assert (await made.engine.wait(session_id)).status == Status.IDLE


@pytest.mark.parametrize("deep", ["[" * 5_000, '{"choice":' * 5_000, "[" * 100_000 + "]" * 100_000])
async def test_json_of_many_levels_is_no_answer_to_the_voting_check(deep: str) -> None:
    made = a_bench(MemoryStore())
    made.models.stable = {"model-0": -1, "model-1": -1}
    made.models.otherwise = lambda request: [deep] if "choice" in str(request.schema) else talk(request)
    session_id = await made.run(replace(a_setup(2), polls=True))
    assert made.debate_of(session_id).status == Status.COMPLETED
    assert made.models.stable == {"model-0": 0, "model-1": 0}
    await made.engine.shutdown()
