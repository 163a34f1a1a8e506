"""The queue as people see it: what runs, what waits and how long; take out, move, give away, hold, stop a step."""

import asyncio
from pathlib import Path

import pytest

from app.core.definitions import Agent, Busy, WorkflowDefinition
from app.core.errors import BadInput, NotFound
from app.core.events import AvailabilityChanged, Notice
from app.core.message import MessageState, Role
from app.core.provider import ModelRequest
from app.core.session import Status
from app.engine.availability import Availability, Job, Slots
from tests.builders import Bench, until
from tests.engine.group_tools import bound
from tests.engine.test_turn import agent, calling, status
from tests.engine.test_workflow import DONE_TEXT, bench, reasons, run, states, step, step_of

QUEUE = Busy(strategy="queue", depth=3)
TWO = WorkflowDefinition(id="diamond", name="Two", steps=(step("a", role="PO"), step("b", role="PO")))


def gated(tmp_path: Path, *agents: Agent, **fields: object) -> tuple[Bench, asyncio.Event]:
    """Return a bench whose models begin at once and end when the gate opens."""
    gate = asyncio.Event()
    made = bench(tmp_path, lambda _: ["I begin.\n", gate, DONE_TEXT], *agents, **fields)  # type: ignore[arg-type]
    return made, gate


def waiting(made: Bench, agent_id: str = "") -> list[Job]:
    return [job for job in made.engine.queues.jobs(agent_id) if job.place is not None]


async def ask(made: Bench, *texts: str, assistant: str = "po") -> list[str]:
    sessions = [await made.engine.chats.start(assistant, text) for text in texts]
    await until(lambda: len(made.engine.queues.jobs()) == len(texts))
    return sessions


async def test_what_runs_and_what_waits_is_seen_with_its_session_and_time(tmp_path: Path) -> None:
    made, gate = gated(tmp_path, agent("po", busy=QUEUE))
    told: list[tuple[int, int, int]] = []
    made.engine.bus.subscribe(
        lambda batch: told.extend(
            (one.running, one.queued, one.waiting) for one in batch if isinstance(one, AvailabilityChanged)
        )
    )
    first, second, third = await ask(made, "One", "Two", "Three")
    jobs = made.engine.queues.jobs("po")
    assert [(job.work.session_id, job.place) for job in jobs] == [(first, None), (second, 0), (third, 1)]
    assert all(job.seconds >= 0 and job.left is None and job.expected is None for job in jobs)
    gate.set()
    for session_id in (first, second, third):
        await made.engine.wait(session_id)
    assert made.engine.queues.jobs() == []
    assert told[-1] == (0, 0, 0) and (1, 2, 0) in told


async def test_how_long_yet_is_told_from_what_it_took_before(tmp_path: Path) -> None:
    made, gate = gated(tmp_path, agent("po", busy=QUEUE))
    gate.set()
    # Not with `ask`: it waits for a task that may be over before anyone looks.
    before = await made.engine.chats.start("po", "Before")
    await made.engine.wait(before)
    gate.clear()
    await ask(made, "One", "Two")
    [job] = waiting(made)
    assert job.expected is not None and job.expected >= 0
    gate.set()


async def test_how_long_it_will_wait_at_most_is_told() -> None:
    slots = Slots(
        Availability(lambda _: Busy(strategy="wait", timeout_s=60)),
        asyncio.get_running_loop().time,
        asyncio.sleep,
    )

    async def hold() -> None:
        async with slots.taken("ann"):
            await asyncio.Event().wait()

    tasks = [asyncio.create_task(hold()) for _ in range(2)]
    await until(lambda: len(slots.jobs()) == 2)
    runs, waits = slots.jobs()
    assert runs.place is None and runs.left is None
    assert waits.left is not None and 50 < waits.left <= 60
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert slots.jobs() == []
    await slots.close()


async def test_the_time_a_task_waited_is_no_part_of_the_time_it_runs() -> None:
    now, begun, gates = [0.0], list[int](), [asyncio.Event() for _ in range(3)]
    slots = Slots(Availability(lambda _: QUEUE), lambda: now[0], asyncio.sleep)

    async def hold(place: int) -> None:
        async with slots.taken("ann"):
            begun.append(place)
            await gates[place].wait()

    tasks = [asyncio.create_task(hold(place)) for place in range(3)]
    await until(lambda: len(slots.jobs()) == 3)
    now[0] = 10.0
    gates[0].set()
    await until(lambda: begun == [0, 1])
    now[0] = 13.0
    runs, waits = slots.jobs()
    assert (runs.place, runs.seconds) == (None, 3.0)
    # The first took ten seconds, of which the second has had three.
    assert (waits.place, waits.seconds, waits.expected) == (0, 13.0, 7.0)
    for gate in gates:
        gate.set()
    await asyncio.gather(*tasks)
    await slots.close()


async def test_taken_out_it_never_runs_and_says_why(tmp_path: Path) -> None:
    made, gate = gated(tmp_path, agent("po", busy=QUEUE))
    first, second = await ask(made, "One", "Two")
    [job] = waiting(made)
    made.engine.queues.take_out(job.id)
    await made.engine.wait(second)
    [answer] = [one for one in made.messages(second) if one.role == Role.ASSISTANT]
    assert (answer.state, answer.error and answer.error.kind) == (MessageState.FAILED, "dequeued")
    with pytest.raises(NotFound):
        made.engine.queues.take_out(job.id)
    gate.set()
    await made.engine.wait(first)
    assert len(made.models.requests) == 1


async def test_the_last_can_be_the_next(tmp_path: Path) -> None:
    made, gate = gated(tmp_path, agent("po", busy=QUEUE))
    _, second, third = await ask(made, "One", "Two", "Three")
    made.engine.queues.move_to_front(waiting(made)[1].id)
    assert [job.work.session_id for job in waiting(made)] == [third, second]
    gate.set()
    await made.engine.wait(second)
    asked = [str(one.messages[-1]["content"]) for one in made.models.requests]
    assert asked == ["One", "Three", "Two"]


async def test_a_chat_goes_to_another_assistant(tmp_path: Path) -> None:
    made, gate = gated(tmp_path, agent("po", busy=QUEUE), agent("ann"), agent("off", enabled=False))
    first, second = await ask(made, "One", "Two")
    [job] = waiting(made)
    assert "ann" in [one.id for one in made.engine.queues.takers(job.id)]
    assert not {"po", "off"} & {one.id for one in made.engine.queues.takers(job.id)}
    made.engine.queues.send(job.id, "ann")
    await until(lambda: len(made.models.requests) + made.models.open >= 0 and not waiting(made))
    gate.set()
    await made.engine.wait(second)
    assert {one.author.id for one in made.messages(second) if one.role == Role.ASSISTANT} == {"ann"}
    await made.engine.wait(first)


async def test_one_that_has_too_much_to_do_takes_nothing(tmp_path: Path) -> None:
    made, gate = gated(tmp_path, agent("po", busy=QUEUE), agent("no", busy=Busy(strategy="reject")))
    await ask(made, "One", "Two")
    await made.engine.chats.start("no", "Three")
    await until(lambda: bool(made.engine.queues.jobs("no")))
    [job] = waiting(made, "po")
    assert "no" not in [one.id for one in made.engine.queues.takers(job.id)]
    with pytest.raises(BadInput, match="assistant_busy"):
        made.engine.queues.send(job.id, "no")
    with pytest.raises(NotFound):
        made.engine.queues.send(job.id, "nobody")
    gate.set()


async def test_held_back_it_begins_nothing_and_then_goes_on(tmp_path: Path) -> None:
    made, gate = gated(tmp_path, agent("po", busy=QUEUE))
    gate.set()
    await made.engine.queues.hold("po", True)
    session_id = await made.engine.chats.start("po", "One")
    await until(lambda: bool(waiting(made)))
    assert made.engine.queues.is_held("po") and not made.models.requests
    [told] = [one for one in made.events if isinstance(one, Notice)]
    assert (told.session_id, told.code, told.details["name"]) == (session_id, "held_back", "Po")
    await made.engine.queues.hold("po", False)
    await made.engine.wait(session_id)
    assert len(made.models.requests) == 1


async def test_a_step_goes_to_another_assistant_and_says_so(tmp_path: Path) -> None:
    made, gate = gated(tmp_path, agent("po", role="PO", busy=QUEUE), agent("ann", role="BE"), definition=TWO)
    session_id = await made.engine.workflows.start("Go", "diamond")
    await until(lambda: bool(waiting(made)))
    [job] = waiting(made)
    assert job.work.about in ("A", "B")
    made.engine.queues.send(job.id, "ann")
    await until(lambda: len(made.engine.queues.jobs("ann")) == 1)
    gate.set()
    await made.engine.wait(session_id)
    assert status(made, session_id) == Status.COMPLETED
    live = made.engine.live(session_id)
    assert live is not None
    who = {one.id: (one.assistant_id, one.attempt) for one in live.session.workflow.steps}  # type: ignore[attr-defined]
    assert sorted(who.values()) == [("ann", 2), ("po", 1)]
    assert "Given to Ann." in [one.content for one in made.messages(session_id) if one.role == Role.TOOL]


async def test_a_step_that_is_taken_out_is_cancelled_and_can_be_retried(tmp_path: Path) -> None:
    made, gate = gated(tmp_path, agent("po", role="PO", busy=QUEUE), definition=TWO)
    session_id = await made.engine.workflows.start("Go", "diamond")
    await until(lambda: bool(waiting(made)))
    made.engine.queues.take_out(waiting(made)[0].id)
    gate.set()
    await made.engine.wait(session_id)
    assert sorted(states(made, session_id).values()) == ["cancelled", "done"]
    assert set(reasons(made, session_id).values()) == {"by_user"}
    [cancelled] = [one for one, state in states(made, session_id).items() if state == "cancelled"]
    await made.engine.workflows.retry(session_id, cancelled)
    await made.engine.wait(session_id)
    assert status(made, session_id) == Status.COMPLETED


async def test_one_step_is_stopped_and_the_others_go_on(tmp_path: Path) -> None:
    definition = WorkflowDefinition(
        id="diamond", name="D", steps=(step("a"), step("b", "a"), step("c", role="BE"), step("d", role="FE"))
    )
    made, gate = gated(tmp_path, definition=definition)
    session_id = await made.engine.workflows.start("Go", "diamond")
    await until(lambda: sum(one.content == "I begin.\n" for one in made.messages(session_id)) == 3)
    live = made.engine.live(session_id)
    assert live is not None
    turns = {one.parent_call_id: one.turn_id for one in live.messages if one.parent_call_id}
    for step_id in ("a", "d"):
        await made.engine.chats.stop_turn(session_id, turns[f"{step_id}.1"])
    await until(lambda: states(made, session_id)["a"] == states(made, session_id)["d"] == "cancelled")
    gate.set()
    await made.engine.wait(session_id)
    assert states(made, session_id) == {"a": "cancelled", "b": "skipped", "c": "done", "d": "cancelled"}
    assert status(made, session_id) == Status.PAUSED
    # The one goes on with what waited for it; the other, stopped by itself, stays stopped.
    await made.engine.workflows.retry(session_id, "a")
    await made.engine.wait(session_id)
    assert states(made, session_id) == {"a": "done", "b": "done", "c": "done", "d": "cancelled"}


async def test_a_step_says_that_it_is_done_by_the_tool(tmp_path: Path) -> None:
    from app.tools.planning import STEP_TOOLS

    def answer(request: ModelRequest) -> list[object]:
        if request.tools == ():
            return ["Hello."]
        told = {"result": f"Result of {step_of(request)}.", "artifacts": "a.txt", "status": "ok"}
        return calling(("step_complete", told))  # type: ignore[return-value]

    definition = WorkflowDefinition(id="diamond", name="D", steps=(step("a"), step("b", "a")))
    made = bench(tmp_path, answer, definition=definition)  # type: ignore[arg-type]
    made.engine._directory._tools._tools = bound(*STEP_TOOLS)  # type: ignore[attr-defined]
    session_id = await run(made)
    assert status(made, session_id) == Status.COMPLETED
    live = made.engine.live(session_id)
    assert live is not None
    done = live.session.workflow.steps  # type: ignore[attr-defined]
    assert [(one.artifacts, one.reason, one.result) for one in done] == [
        ("a.txt", "", "Result of a."),
        ("a.txt", "", "Result of b."),
    ]
    assert "Result of a." in str(made.models.requests[1].messages[1]["content"])
    offered = [one["function"]["name"] for one in made.models.requests[0].tools]  # type: ignore[index]
    assert offered == ["step_complete"]
    # In a chat nobody has it, also where a definition names it.
    chat = await made.engine.chats.start((await made.engine.assistants.save(agent("ann"))).id, "Hello")
    await made.engine.wait(chat)
    assert made.models.requests[-1].tools == ()


async def test_what_is_said_while_a_workflow_runs_reaches_the_steps_to_come(tmp_path: Path) -> None:
    definition = WorkflowDefinition(id="diamond", name="D", steps=(step("a"), step("b", "a")))
    made, gate = gated(tmp_path, definition=definition)
    session_id = await made.engine.workflows.start("Go", "diamond")
    await until(lambda: any(one.content == "I begin.\n" for one in made.messages(session_id)))
    await made.engine.chats.send(session_id, "Mind the tests.")
    gate.set()
    await made.engine.wait(session_id)
    assert status(made, session_id) == Status.COMPLETED
    told = ["Mind the tests." in str(one.messages[1]["content"]) for one in made.models.requests]
    assert told == [False, True]
    await made.engine.chats.send(session_id, "Make it shorter.")
    assert (await made.engine.wait(session_id)).status == Status.COMPLETED
    last = str(made.models.requests[-1].messages[1]["content"])
    assert len(made.models.requests) == 3, "only the last step is taken again"
    assert "Make it shorter." in last and 'Result of "B"' in last, "it knows what it made before"


async def test_how_long_a_step_takes_is_without_its_wait(tmp_path: Path) -> None:
    made, gate = gated(tmp_path, agent("po", role="PO", busy=QUEUE), definition=TWO)
    session_id = await made.engine.workflows.start("Go", "diamond")
    await until(lambda: sorted(states(made, session_id).values()) == ["running", "waiting"])
    made.time.now += 100.0
    gate.set()
    await made.engine.wait(session_id)
    live = made.engine.live(session_id)
    assert live is not None
    took = sorted(one.seconds for one in live.session.workflow.steps)  # type: ignore[attr-defined]
    assert took[0] < 100.0 <= took[1]
