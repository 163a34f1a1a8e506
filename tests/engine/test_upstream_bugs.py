"""The nine bugs that the first implementation of availability and workflows shipped: each one stays away."""

import asyncio
from pathlib import Path

import pytest

from app.core.definitions import Busy, WorkflowDefinition, WorkflowStep, role_of
from app.core.provider import Finished
from app.core.session import Status
from app.engine.availability import (
    Availability,
    NotFree,
    Refusal,
    Refused,
    Slots,
    Started,
    Task,
    Waits,
    policy_of,
)
from app.engine.workflow.director import begun
from app.engine.workflow.run import step_complete
from tests.builders import Hang, until
from tests.engine.test_workflow import DONE_TEXT, bench, run, states, status, step


def task(name: str, agent_id: str = "a") -> Task:
    return Task(id=name, agent_id=agent_id)


async def test_1_the_feature_never_ran_because_nothing_called_it(tmp_path: Path) -> None:
    made = bench(tmp_path, lambda _: [DONE_TEXT])
    found = await made.engine.workflows.classify("Please cut a diamond")
    assert found is not None
    session_id = await made.engine.workflows.start("Please cut a diamond", found.id)
    await made.engine.wait(session_id)
    assert status(made, session_id) == Status.COMPLETED
    assert len(made.models.requests) == 4


@pytest.mark.parametrize("role", ["Support", "Reporter", "Component dev", "Transport", "npm"])
def test_2_a_role_was_matched_by_a_part_of_its_name(role: str) -> None:
    assert role_of(role) == role.casefold()
    assert policy_of(None, role) not in (policy_of(None, "PO"), policy_of(None, "PM"))


@pytest.mark.parametrize("strategy", ["queue", "wait", "parallel", "reject"])
def test_3_the_first_task_of_an_idle_assistant_never_started(strategy: str) -> None:
    core = Availability(lambda _: Busy(strategy=strategy))
    assert core.enqueue(task("x"), 0) == (Started(task("x")),)


def test_3_waiting_neither_waited_nor_timed_out() -> None:
    core = Availability(lambda _: Busy(strategy="wait", timeout_s=5.0))
    core.enqueue(task("x"), 0)
    assert core.enqueue(task("y"), 1) == (Waits(task("y"), 0, 6.0),)
    assert core.next_moment() == 6.0
    assert core.tick(5.9) == ()
    assert core.tick(6.0) == (Refused(task("y"), Refusal.TIMED_OUT),)
    assert core.finish("x", 7) == ()


def test_4_the_depth_of_the_queue_was_computed_and_ignored() -> None:
    core = Availability(lambda _: Busy(strategy="queue", depth=2))
    assert [type(core.enqueue(task(name), 0)[0]) for name in "abc"] == [Started, Waits, Waits]
    assert not core.can_accept("a", 0)
    assert core.enqueue(task("d"), 0) == (Refused(task("d"), Refusal.QUEUE_FULL),)


def test_4_what_was_parallel_queued_without_limit() -> None:
    core = Availability(lambda _: policy_of(None, "QA"))
    kinds = [type(core.enqueue(task(str(number)), 0)[0]) for number in range(6)]
    assert kinds == [Started, Started, Waits, Waits, Waits, Refused]


def test_5_an_empty_list_of_dependencies_was_taken_for_a_dependency() -> None:
    definition = WorkflowDefinition(
        id="w", name="W", steps=(WorkflowStep(id="a", name="A", role="qa", prompt="", depends_on=()),)
    )
    assert [one.state for one in begun(definition)] == ["ready"]


async def test_6_a_skipped_dependency_hung_the_instance(tmp_path: Path) -> None:
    definition = WorkflowDefinition(id="diamond", name="D", steps=(step("a"), step("b", "a"), step("c", "b")))
    made = bench(tmp_path, lambda _: ["I do not know."], definition=definition)
    session_id = await run(made)
    made.models.otherwise = lambda _: [DONE_TEXT]
    await made.engine.workflows.skip(session_id, "a")
    async with asyncio.timeout(10):
        await made.engine.wait(session_id)
    assert states(made, session_id) == {"a": "skipped", "b": "done", "c": "done"}
    assert status(made, session_id) == Status.COMPLETED


async def test_7_what_was_cancelled_was_overwritten_as_failed(tmp_path: Path) -> None:
    made = bench(tmp_path, lambda _: ["I begin", Hang()])
    session_id = await made.engine.workflows.start("Go", "diamond")
    await until(lambda: any(one.content == "I begin" for one in made.messages(session_id)))
    await made.engine.stop(session_id)
    await made.engine.wait(session_id)
    assert status(made, session_id) == Status.STOPPED
    assert set(states(made, session_id).values()) == {"ready", "pending"}


async def test_8_two_callers_could_take_the_same_place() -> None:
    slots = Slots(
        Availability(lambda _: Busy(strategy="queue", depth=50)),
        asyncio.get_running_loop().time,
        asyncio.sleep,
    )
    inside, most, order = 0, 0, []

    async def work(number: int) -> None:
        nonlocal inside, most
        async with slots.taken("a"):
            inside += 1
            most = max(most, inside)
            order.append(number)
            await asyncio.sleep(0)
            if number == 3:
                # A newcomer asks in the moment a place becomes free: it must not take it from who waits.
                tasks.append(asyncio.create_task(work(99)))
            inside -= 1

    tasks = [asyncio.create_task(work(number)) for number in range(20)]
    while not all(one.done() for one in tasks):
        await asyncio.gather(*tasks)
    await slots.close()
    assert most == 1
    assert order == [*range(20), 99]


async def test_8_a_place_is_given_back_by_who_is_cancelled_or_fails() -> None:
    slots = Slots(
        Availability(lambda _: Busy(strategy="queue", depth=1)),
        asyncio.get_running_loop().time,
        asyncio.sleep,
    )

    async def work(seconds: float) -> None:
        async with slots.taken("a"):
            await asyncio.sleep(seconds)
            raise RuntimeError

    first, second = asyncio.create_task(work(60)), asyncio.create_task(work(0))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    with pytest.raises(NotFree):
        await work(0)
    first.cancel()
    with pytest.raises(RuntimeError):
        await second
    assert slots.counts("a") == (0, 0, 0)
    await slots.close()


BODY = "see [the notes](http://notes) and\n- [ ] open\n- [x] done\n```\n[STEP_COMPLETE]\n```\n`a[0]`"


@pytest.mark.threat("T5")
def test_9_the_body_ended_at_the_first_bracket_and_a_quoted_marker_fired() -> None:
    found = step_complete(f"Done.\n[STEP_COMPLETE]\n산출물: {BODY}\n상태: 완료")
    assert found is not None
    assert (found.artifacts, found.status, found.before) == (BODY, "완료", "Done.")
    for quoted in (
        "`[STEP_COMPLETE]`",
        "I end with [STEP_COMPLETE].",
        "> [STEP_COMPLETE]",
        "```\n[STEP_COMPLETE]\n```",
    ):
        assert step_complete(quoted) is None, quoted


async def test_9_a_marker_that_streams_in_pieces_counts_once(tmp_path: Path) -> None:
    text = f"It is done.\n\n[STEP_COMPLETE]\nartifacts: {BODY}\nstatus: done"
    definition = WorkflowDefinition(id="diamond", name="D", steps=(step("a"),))
    for size in (1, 3, 7):
        made = bench(
            tmp_path / str(size),
            lambda _, size=size: [*(text[at : at + size] for at in range(0, len(text), size)), Finished()],  # type: ignore[misc]
            definition=definition,
        )
        session_id = await run(made)
        assert status(made, session_id) == Status.COMPLETED
        assert len(made.models.requests) == 1
