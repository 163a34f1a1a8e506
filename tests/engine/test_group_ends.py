"""A group always comes to an end that the user can read, whatever its members and its orchestrator do."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.definitions import Group, Leader
from app.core.errors import BadInput, FailureKind, ProviderError
from app.core.events import Notice
from app.core.message import Message, MessageState, Role
from app.core.provider import ModelRequest
from app.core.session import GroupSession, Status
from app.engine.request import turns_used
from tests.builders import Bench, Hang, Script, a_bench, a_log_store, left_open, until
from tests.engine.group_tools import TOOLS, hand
from tests.engine.test_sub_agents import who
from tests.engine.test_summaries import asks_for_summary
from tests.engine.test_turn import agent, calling, status
from tests.memory import MemoryStore

CREW = (agent("ann", name="Ann"), agent("bo", name="Bo"), agent("cy", name="Cy"), agent("di", name="Di"))
REPORT = calling(("reportResult", {"result_in_detail": "That is all."}))


def bench(store: object, answer: Callable[[ModelRequest], Script], limit: int = 20) -> Bench:
    made = a_bench(store, agents=CREW, tools=TOOLS)  # type: ignore[arg-type]
    made.models.otherwise = answer
    leader = Leader(provider="remote0", model="m")
    group = Group(id="crew", name="Crew", members=("ann", "bo"), orchestrator=leader, turns_limit=limit)
    made.documents.groups.kept = (group, replace(group, id="others", name="Others", members=("cy", "di")))
    left_open.append(made)
    return made


async def run(made: Bench, text: str = "Ship it.") -> str:
    session_id = await made.engine.groups.start("crew", text)
    await asyncio.wait_for(made.engine.wait(session_id), 30)
    assert status(made, session_id) in (Status.IDLE, Status.PAUSED)
    return session_id


def notices(made: Bench) -> list[str]:
    return [event.code for event in made.events if isinstance(event, Notice)]


def last(made: Bench, session_id: str) -> Message:
    return made.messages(session_id)[-1]


def lead_asks(made: Bench) -> list[ModelRequest]:
    return [one for one in made.models.requests if who(one) == "orchestrator"]


async def test_a_member_that_never_answers_is_gone_on_without(tmp_path: Path) -> None:
    def answer(request: ModelRequest) -> Script:
        if who(request) != "orchestrator":
            return ["Half a", Hang()]
        return REPORT if "no answer: skipped" in json.dumps(request.messages) else calling(hand("ann"))

    made = bench(a_log_store(tmp_path), answer)
    session_id = await made.engine.groups.start("crew", "Ship it.")
    await until(lambda: made.messages(session_id)[-1].content == "Half a")
    await made.engine.groups.go_on_without(session_id)
    await asyncio.wait_for(made.engine.wait(session_id), 30)
    assert last(made, session_id).content == "That is all."
    lost = [one for one in made.messages(session_id) if one.author.id == "ann"]
    assert [(one.state, one.content, one.error.kind if one.error else "") for one in lost] == [
        ("stopped", "Half a", ""),
        (MessageState.FAILED, "", "skipped"),
    ]
    with pytest.raises(BadInput, match="nobody_hangs"):
        await made.engine.groups.go_on_without(session_id)


@pytest.mark.parametrize(
    ("member", "reason"),
    [
        ([ProviderError(FailureKind.STALL, "")], "stall"),
        ([], "empty"),
        (["So", ProviderError("server", "500")], "server"),
    ],
)
async def test_a_member_that_gives_no_answer_is_told_with_the_reason(
    tmp_path: Path, member: Script, reason: str
) -> None:
    def answer(request: ModelRequest) -> Script:
        if who(request) != "orchestrator":
            return member
        return REPORT if "[Ann]:" in json.dumps(request.messages) else calling(hand("ann"))

    made = bench(a_log_store(tmp_path), answer)
    session_id = await run(made)
    assert f"(no answer: {reason})" in json.dumps(lead_asks(made)[-1].messages)
    assert last(made, session_id).content == "That is all."


async def test_handing_the_same_over_for_ever_ends(tmp_path: Path) -> None:
    def answer(request: ModelRequest) -> Script:
        return calling(hand("ann")) if who(request) == "orchestrator" else ["Great!"]

    made = bench(a_log_store(tmp_path), answer)
    session_id = await run(made)
    asked = [one for one in made.models.requests if who(one) == "ann"]
    assert len(asked) == 2, "the third time with the same words is refused"
    assert "was called 2 times with these arguments already" in json.dumps(lead_asks(made)[-1].messages)
    assert len(lead_asks(made)) == 4, "who is told so and does it again is asked no more"
    end = last(made, session_id)
    assert (end.author.id, end.state, end.error.kind if end.error else "") == (
        "orchestrator",
        MessageState.FAILED,
        "repeated",
    )


async def test_handing_over_in_ever_new_words_ends_at_the_limit(tmp_path: Path) -> None:
    numbers = iter(range(1_000))

    def answer(request: ModelRequest) -> Script:
        if who(request) != "orchestrator":
            return ["Great!"]
        return calling(hand(("ann", "bo")[next(numbers) % 2], f"Try {next(numbers)}."))

    made = bench(a_log_store(tmp_path), answer, limit=5)
    session_id = await run(made)
    live = made.engine.live(session_id)
    assert live is not None
    assert turns_used(live) == 5
    assert "turns_limit" in notices(made)
    end = last(made, session_id)
    assert (end.author.id, end.state, end.error.kind if end.error else "") == (
        "orchestrator",
        MessageState.FAILED,
        "steps",
    )


async def test_a_plan_that_never_completes_is_said(tmp_path: Path) -> None:
    steps = iter([calling(("setPlan", {"items": ["A", "B"]})), ["Great, we are done!"]])
    made = bench(a_log_store(tmp_path), lambda _: next(steps))
    session_id = await run(made)
    assert last(made, session_id).content == "Great, we are done!"
    [notice] = [event for event in made.events if isinstance(event, Notice)]
    assert (notice.code, notice.details) == ("plan_open", {"count": 2})


async def test_an_orchestrator_that_makes_plans_only_ends(tmp_path: Path) -> None:
    numbers = iter(range(1_000))

    def answer(request: ModelRequest) -> Script:
        return calling(("setPlan", {"items": [f"A {next(numbers)}"]}), ("clearPlan", {}))

    made = bench(a_log_store(tmp_path), answer)
    session_id = await run(made)
    error = last(made, session_id).error
    assert error is not None
    assert error.kind == "steps"


async def test_an_orchestrator_that_fails_says_why(tmp_path: Path) -> None:
    made = bench(a_log_store(tmp_path), lambda _: [ProviderError("server", "500")])
    session_id = await run(made)
    end = last(made, session_id)
    assert (end.author.id, end.state) == ("orchestrator", MessageState.FAILED)


async def test_a_group_of_one_and_two_of_one_name(tmp_path: Path) -> None:
    steps = iter([calling(hand("Ann")), calling(hand("ann")), calling(hand("Twin")), REPORT])
    made = bench(
        a_log_store(tmp_path),
        lambda request: next(steps) if who(request) == "orchestrator" else ["I did it."],
    )
    made.documents.assistants.kept = (
        agent("ann", name="Twin"),
        agent("bo", name="Ann"),
        agent("cy", name="Ann"),
    )
    group = replace(made.documents.groups.kept[0], members=("ann", "bo", "cy"))
    made.documents.groups.kept = (group,)
    session_id = await run(made)
    # A name goes before an id, and which of two is meant nobody knows.
    messages = made.messages(session_id)
    assert [one.author.id for one in messages if one.content == "I did it."] == ["ann"]
    assert len([one for one in messages if one.role == Role.TOOL and one.state == MessageState.FAILED]) == 2
    made.documents.groups.kept = (replace(group, members=("bo",)),)
    steps = iter([calling(hand("ann")), REPORT])
    session_id = await run(made)
    assert [one.author.id for one in made.messages(session_id) if one.content == "I did it."] == ["bo"]


@pytest.mark.slow
async def test_two_groups_at_once_for_a_hundred_turns_each() -> None:
    """Each model says which session it was asked for; nothing of one may ever be seen in the other."""
    turns: dict[str, int] = {"Red": 0, "Green": 0}

    def answer(request: ModelRequest) -> Script:
        text = json.dumps(request.messages)
        [colour] = [one for one in turns if f"{one} job" in text or f"{one} said" in text]
        other = {"Red": "Green", "Green": "Red"}[colour]
        assert other not in text, "a word of the other session"
        assert f"{colour} job." in text, "what the user asked for is told to the end"
        if asks_for_summary(request):
            return [f"{colour} said much."]
        if who(request) != "orchestrator":
            assert who(request) in {"Red": ("ann", "bo"), "Green": ("cy", "di")}[colour]
            return [f"{colour} said {turns[colour]}."]
        turns[colour] += 1
        number = turns[colour]
        if number % 100 == 0:
            return calling(("reportResult", {"result_in_detail": f"{colour} said the end."}))
        member = {"Red": ("ann", "bo"), "Green": ("cy", "di")}[colour][number % 2]
        plan = (
            [("setPlan", {"items": [f"{colour} step {place}" for place in range(99)]})] if number == 1 else []
        )
        done = [("checkDone", {"index": number - 2})] if number > 1 else []
        return calling(*plan, *done, hand(member, f"{colour} job {number}."))

    made = bench(MemoryStore(), answer, limit=101)
    made.documents._settings = replace(
        made.documents.settings(), max_model_calls=1_000, max_tool_rounds=1_000
    )
    red = await made.engine.groups.start("crew", "Red job.")
    green = await made.engine.groups.start("others", "Green job.")
    await asyncio.wait_for(asyncio.gather(made.engine.wait(red), made.engine.wait(green)), 120)
    for session_id, colour, other, members in (
        (red, "Red", "Green", {"ann", "bo"}),
        (green, "Green", "Red", {"cy", "di"}),
    ):
        live = made.engine.live(session_id)
        assert live is not None
        assert isinstance(live.session, GroupSession)
        assert (live.session.status, live.session.reason) == (Status.IDLE, "")
        assert turns_used(live) == 100
        messages = made.messages(session_id)
        assert other not in json.dumps([one.content for one in messages])
        assert {one.author.id for one in messages} == {"user", "orchestrator", *members}
        assert sum(one.role == Role.ASSISTANT and one.author.id in members for one in messages) == 99
        assert live.session.plan is not None
        assert [item.done for item in live.session.plan.items] == [True] * 98 + [False]
        assert all(item.text.startswith(colour) for item in live.session.plan.items)
        assert sum(one.role == Role.USER for one in messages) == 1
        assert sum(one.role == Role.TOOL for one in messages) == 100 + 98 + 1
    ids = [{one.id for one in made.messages(session_id)} for session_id in (red, green)]
    assert not ids[0] & ids[1]


async def test_the_turns_count_on_after_a_pause(tmp_path: Path) -> None:
    asked = 0

    def answer(request: ModelRequest) -> Script:
        nonlocal asked
        if who(request) != "orchestrator":
            return ["Done."]
        asked += 1
        return calling(hand("ann")) if asked == 1 else ["Thinking", Hang()] if asked == 2 else REPORT

    made = bench(a_log_store(tmp_path), answer)
    session_id = await made.engine.groups.start("crew", "Ship it.")
    await until(lambda: made.messages(session_id)[-1].content == "Thinking")
    assert turns_used(made.engine.live(session_id)) == 2
    await made.engine.pause(session_id)
    await made.engine.pause(session_id)
    assert status(made, session_id) == Status.PAUSED
    await made.engine.resume(session_id)
    assert turns_used(made.engine.live(session_id)) == 2
    await asyncio.wait_for(made.engine.wait(session_id), 30)
    assert last(made, session_id).content == "That is all."
