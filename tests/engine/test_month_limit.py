"""The month's limit in every kind of run: whichever call it stops, the run pauses there and goes on from there."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.message import MessageState, Role, Usage
from app.core.provider import Finished, ModelRequest
from app.core.session import Status
from app.core.settings import Settings
from tests.builders import Bench, Script
from tests.engine import test_group, test_sub_agents, test_verdict, test_workflow
from tests.engine.test_turn import agent, calling, status

COST = 0.25


def paid(answer: Callable[[ModelRequest], Script]) -> Callable[[ModelRequest], Script]:
    """Return models that answer so, each answer for the same money."""

    def answer_paid(request: ModelRequest) -> Script:
        pieces = list(answer(request))
        end = pieces.pop() if isinstance(pieces[-1], Finished) else Finished()
        return [*pieces, replace(end, usage=Usage(input_tokens=10, output_tokens=5, cost_usd=COST))]

    return answer_paid


def asking(request: ModelRequest) -> Script:
    """Answer as a tree of three: main calls a, a calls b."""
    name = test_sub_agents.who(request)
    heard = [one for one in request.messages if one["role"] == "tool"]
    if name in "main a" and not heard:
        below = {"main": "a", "a": "b"}[name]
        return calling(("subAgent", {"name": below, "task": "Look."}))
    return [f"{name} is done."]


async def tree(folder: Path) -> tuple[Bench, str]:
    agents = (
        agent("main", tools=("subAgent",), sub_agents=("a",)),
        agent("a", tools=("subAgent",), sub_agents=("b",)),
        agent("b"),
    )
    made = test_sub_agents.bench(folder, paid(asking), agents)
    return made, "main"


async def group(folder: Path) -> tuple[Bench, str]:
    steps = (calling(test_group.hand("ann")), calling(test_group.hand("bo")))
    return test_group.bench(folder, paid(test_group.acting(*steps))), "crew"


async def workflow(folder: Path) -> tuple[Bench, str]:
    definition = replace(test_workflow.DIAMOND, steps=(test_workflow.step("a"), test_workflow.step("b", "a")))
    answer = paid(lambda _: [test_workflow.DONE_TEXT])
    return test_workflow.bench(folder, answer, definition=definition), "diamond"


async def begin(made: Bench, whom: str) -> str:
    engine = made.engine
    starts = {"crew": engine.groups.start, "main": engine.chats.start}
    if whom == "diamond":
        return await engine.workflows.start("Cut a diamond.", whom)
    return await starts[whom](whom, "Go.")


def said(made: Bench, session_id: str) -> list[tuple[str, str, str]]:
    return [
        (one.author.id, one.state, one.content)
        for one in made.messages(session_id)
        if one.role == Role.ASSISTANT and one.usage is not None
    ]


@pytest.mark.parametrize("make", [tree, group, workflow])
async def test_whichever_call_is_held_the_run_pauses_and_ends_as_it_would_have(
    make: Callable[[Path], "object"], tmp_path: Path
) -> None:
    whole, whom = await make(tmp_path / "whole")  # type: ignore[misc]
    session_id = await begin(whole, whom)
    await whole.engine.wait(session_id)
    calls, ended = len(whole.models.requests), said(whole, session_id)
    assert calls >= 2
    assert len(ended) == calls
    for allowed in range(1, calls):
        made, whom = await make(tmp_path / str(allowed))  # type: ignore[misc]
        await made.engine.change_settings(
            lambda _, allowed=allowed: Settings(max_month_usd=allowed * COST, max_cost_usd=0)
        )
        held_id = await begin(made, whom)
        session = await made.engine.wait(held_id)
        assert (session.status, session.reason) == (Status.PAUSED, "budget_month")
        assert len(made.models.requests) == allowed
        await made.engine.resume(held_id)
        await made.engine.wait(held_id)
        assert len(made.models.requests) == allowed
        await made.engine.change_settings(lambda _: Settings(max_month_usd=0, max_cost_usd=0))
        await made.engine.resume(held_id)
        await made.engine.wait(held_id)
        assert status(made, held_id) == status(whole, session_id)
        assert said(made, held_id) == ended
        assert len(made.models.requests) == calls
        assert {state for _, state, _ in said(made, held_id)} == {MessageState.DONE}
        month = await made.engine.usage.this_month()
        assert (month.calls, month.known_usd) == (calls, calls * COST)


async def test_choosing_a_workflow_is_counted_and_held_too(tmp_path: Path) -> None:
    made = test_workflow.bench(
        tmp_path, paid(lambda _: ['{"id": "diamond"}']), agent("ann", role="QA", name="Ann")
    )
    found = await made.engine.workflows.classify("Do what must be done.")
    assert found is not None
    assert (await made.engine.usage.this_month()).known_usd == COST
    report = await made.engine.usage.of((await made.engine.usage.months())[0][0])
    assert [name for name, _ in report.authors] == [""]
    await made.engine.change_settings(lambda _: Settings(max_month_usd=COST))
    assert await made.engine.workflows.classify("Do what must be done.") is None
    assert len(made.models.requests) == 1


async def test_a_vote_and_a_verdict_wait_for_the_limit_and_are_taken_once(tmp_path: Path) -> None:
    def answer(request: ModelRequest) -> Script:
        return test_verdict.concluding(request)

    for allowed in range(1, 11):
        made = test_verdict.bench(tmp_path / str(allowed), paid(answer))
        await made.engine.change_settings(lambda _, allowed=allowed: Settings(max_month_usd=allowed * COST))
        session_id = await test_verdict.held(made)
        assert made.debate_of(session_id).reason == "budget_month", allowed
        # Of two votes that go out at once both are made.
        assert allowed <= len(made.models.requests) <= allowed + 1
        await made.engine.change_settings(lambda _: Settings())
        await made.engine.resume(session_id)
        await made.engine.wait(session_id)
        assert made.debate_of(session_id).status == Status.COMPLETED
        assert [one.round for one in test_verdict.cast(made, session_id)] == [0, 0, 1, 1, 2, 2]
        result = test_verdict.result_of(made, session_id)
        assert (result.headline, result.failure) == ("u1", "")
        assert len(made.models.requests) == 12
        assert (await made.engine.usage.this_month()).calls == 12
