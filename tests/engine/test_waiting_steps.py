"""Steps that wait for a busy assistant, or for the user: left out, stopped and tried again."""

import asyncio
from pathlib import Path

import pytest

from app.core.definitions import WorkflowDefinition
from app.core.errors import BadInput
from app.core.provider import ModelRequest
from app.core.session import Status
from tests.builders import Bench, Script, until
from tests.engine.test_queues import QUEUE, TWO, gated, waiting
from tests.engine.test_turn import agent, calling, status
from tests.engine.test_workflow import DONE_TEXT, bench, reasons, run, states, step, step_of

CHAIN = WorkflowDefinition(
    id="diamond", name="Chain", steps=(step("a", role="PO"), step("b", role="PO"), step("c", "b", role="BE"))
)


async def at_work(
    tmp_path: Path, definition: WorkflowDefinition = TWO
) -> tuple[Bench, asyncio.Event, str, str]:
    """Return a workflow whose one step runs until the gate opens, and the id of one that waits for it."""
    made, gate = gated(tmp_path, agent("po", role="PO", busy=QUEUE), definition=definition)
    session_id = await made.engine.workflows.start("Go", "diamond")
    await until(lambda: bool(waiting(made)))
    [held] = [one for one, state in states(made, session_id).items() if state == "waiting"]
    return made, gate, session_id, held


def asked_for(made: Bench) -> list[str]:
    return [step_of(request) for request in made.models.requests]


async def test_a_step_left_out_while_it_waits_never_runs_and_what_is_behind_it_goes_on(
    tmp_path: Path,
) -> None:
    made, gate, session_id, held = await at_work(tmp_path, CHAIN)
    assert held == "b"
    await made.engine.workflows.skip(session_id, "b")
    assert states(made, session_id)["b"] == "skipped"
    await until(lambda: not waiting(made))
    await until(lambda: states(made, session_id)["c"] == "running")
    gate.set()
    await made.engine.wait(session_id)
    assert states(made, session_id) == {"a": "done", "b": "skipped", "c": "done"}
    assert (reasons(made, session_id), status(made, session_id)) == ({"b": "by_user"}, Status.COMPLETED)
    assert sorted(asked_for(made)) == ["a", "c"], "the model was asked for a step that was left out"
    await made.engine.workflows.retry(session_id, "b")
    await made.engine.wait(session_id)
    assert states(made, session_id)["b"] == "done" and asked_for(made).count("b") == 1


async def test_left_out_in_the_moment_its_turn_comes_it_does_not_run_either(tmp_path: Path) -> None:
    made, gate, session_id, held = await at_work(tmp_path)
    [job] = waiting(made)
    # The slot is given, and the step has not seen it yet.
    made.engine._slots._entries[job.id].start.set_result(None)
    await made.engine.workflows.skip(session_id, held)
    gate.set()
    await made.engine.wait(session_id)
    assert sorted(states(made, session_id).values()) == ["done", "skipped"]
    assert held not in asked_for(made)


async def test_stopped_while_it_waits_it_is_cancelled_and_can_be_tried_again(tmp_path: Path) -> None:
    made, gate, session_id, held = await at_work(tmp_path)
    for command in (made.engine.workflows.retry, made.engine.workflows.accept):
        with pytest.raises(BadInput):
            await command(session_id, held)
    await made.engine.workflows.stop_step(session_id, held)
    await until(lambda: states(made, session_id)[held] == "cancelled")
    assert not waiting(made)
    await made.engine.workflows.retry(session_id, held)
    await until(lambda: bool(waiting(made)))
    gate.set()
    await made.engine.wait(session_id)
    assert (status(made, session_id), asked_for(made).count(held)) == (Status.COMPLETED, 1)


async def test_left_out_and_tried_again_at_once_it_waits_again(tmp_path: Path) -> None:
    made, gate, session_id, held = await at_work(tmp_path)
    await asyncio.gather(
        made.engine.workflows.skip(session_id, held), made.engine.workflows.retry(session_id, held)
    )
    await until(lambda: states(made, session_id)[held] == "waiting")
    gate.set()
    await made.engine.wait(session_id)
    assert (status(made, session_id), asked_for(made).count(held)) == (Status.COMPLETED, 1)


async def test_the_whole_stopped_nothing_waits_any_more(tmp_path: Path) -> None:
    made, gate, session_id, held = await at_work(tmp_path)
    await made.engine.stop(session_id)
    assert not made.engine.queues.jobs()
    assert set(states(made, session_id).values()) <= {"ready", "pending"}
    gate.set()
    assert (status(made, session_id), held in asked_for(made)) == (Status.STOPPED, False)


@pytest.mark.parametrize("command", ["skip", "retry"])
async def test_what_a_step_asked_is_asked_no_more_once_it_is_left_out_or_tried_again(
    tmp_path: Path, command: str
) -> None:
    asks = [True]

    def answer(_: ModelRequest) -> Script:
        return calling(("promptUser", {"question": "Which?"})) if asks[0] else [DONE_TEXT]  # type: ignore[return-value]

    made = bench(tmp_path, answer, definition=WorkflowDefinition(id="diamond", name="D", steps=(step("a"),)))
    await made.engine.assistants.save(agent("qa", role="QA", tools=("promptUser",)))
    session_id = await run(made)
    assert reasons(made, session_id) == {"a": "question"}
    asks[0] = False
    await getattr(made.engine.workflows, command)(session_id, "a")
    await made.engine.wait(session_id)
    assert status(made, session_id) == Status.COMPLETED
    assert made.engine.chats.needs_you() == []


async def test_a_step_may_delegate_as_deep_as_a_chat(tmp_path: Path) -> None:
    """With one level each may call whom it may call, and that one nobody more; in a group it is as in a chat."""
    levels = {"tools": ("subAgent",), "max_depth": 1}
    agents = (
        agent("boss", role="QA", sub_agents=("helper",), **levels),
        agent("helper", sub_agents=("last",), **levels),
        agent("last"),
    )
    told: list[list[str]] = []

    def answer(request: ModelRequest) -> Script:
        told.append([str(one["function"]["name"]) for one in request.tools])  # type: ignore[index]
        if any(one["role"] == "tool" for one in request.messages) or "subAgent" not in told[-1]:
            return [DONE_TEXT]
        return calling(("subAgent", {"name": "helper", "task": "Help."}))  # type: ignore[return-value]

    one = WorkflowDefinition(id="diamond", name="D", steps=(step("a"),))
    made = bench(tmp_path, answer, *agents, definition=one)
    session_id = await run(made)
    assert (status(made, session_id), states(made, session_id)) == (Status.COMPLETED, {"a": "done"})
    in_a_step, told[:] = list(told), []
    await made.engine.wait(await made.engine.chats.start("boss", "Go."))
    assert in_a_step == told == [["subAgent"], [], ["subAgent"]]


async def test_a_pause_lets_no_step_begin_that_waited(tmp_path: Path) -> None:
    made, gate, session_id, held = await at_work(tmp_path)
    await made.engine.pause(session_id)
    await until(lambda: not waiting(made))
    assert states(made, session_id)[held] == "ready"
    gate.set()
    await made.engine.wait(session_id)
    assert status(made, session_id) == Status.PAUSED
    assert states(made, session_id)[held] == "ready" and len(asked_for(made)) == 1
    await made.engine.resume(session_id)
    await made.engine.wait(session_id)
    assert status(made, session_id) == Status.COMPLETED
    assert sorted(asked_for(made)) == ["a", "b"]


async def test_a_pause_that_is_forgotten_lets_a_waiting_step_wait_again(tmp_path: Path) -> None:
    made, gate, session_id, held = await at_work(tmp_path)
    await made.engine.pause(session_id)
    await until(lambda: not waiting(made))
    await made.engine.resume(session_id)
    await until(lambda: states(made, session_id)[held] == "waiting")
    gate.set()
    await made.engine.wait(session_id)
    assert status(made, session_id) == Status.COMPLETED


async def test_where_all_steps_wait_a_pause_comes_at_once(tmp_path: Path) -> None:
    made, gate = gated(tmp_path, agent("po", role="PO", busy=QUEUE), definition=TWO)
    await made.engine.chats.start("po", "Are you there?")
    await until(lambda: len(made.engine.queues.jobs("po")) == 1)
    session_id = await made.engine.workflows.start("Go", "diamond")
    await until(lambda: len(waiting(made)) == 2)
    await made.engine.pause(session_id)
    assert status(made, session_id) == Status.PAUSED
    assert set(states(made, session_id).values()) == {"ready"} and not waiting(made)
    gate.set()


async def test_a_chat_that_waits_for_its_assistant_is_paused_at_once(tmp_path: Path) -> None:
    made, gate = gated(tmp_path, agent("po", role="PO", busy=QUEUE))
    await made.engine.chats.start("po", "Are you there?")
    await until(lambda: len(made.engine.queues.jobs("po")) == 1)
    session_id = await made.engine.chats.start("po", "And for me?")
    await until(lambda: bool(waiting(made)))
    await made.engine.pause(session_id)
    assert status(made, session_id) == Status.PAUSED and not waiting(made)
    gate.set()
    await made.engine.resume(session_id)
    await made.engine.wait(session_id)
    assert made.messages(session_id)[-1].state == "done"
