"""Groups: the orchestrator's six tools, whose turn it is, limits, and members who do not do their part."""

import json
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.criteria import Plan, PlanItem
from app.core.definitions import Agent, Group, Leader
from app.core.errors import BadInput, FailureKind, NotFound, ProviderError
from app.core.message import Message, MessageState, Role
from app.core.provider import ModelRequest
from app.core.session import GroupSession, Status
from app.core.tool import Tool
from app.engine.group.director import addressed
from app.engine.history import request_tokens
from app.engine.request import turns_used
from tests.builders import Bench, Script, a_bench, a_log_store, left_open
from tests.engine.group_tools import PLAN_TOOLS, hand
from tests.engine.test_sub_agents import who
from tests.engine.test_turn import agent, calling, status

CREW = (agent("ann", name="Ann"), agent("bo", name="Bo", tools=("planning",)))


def bench(
    tmp_path: Path,
    answer: Callable[[ModelRequest], Script],
    *,
    crew: Sequence[Agent] = CREW,
    tools: Sequence[Tool] = (),
    **fields: object,
) -> Bench:
    made = a_bench(a_log_store(tmp_path), agents=crew, tools=(*PLAN_TOOLS, *tools))
    made.models.otherwise = answer
    group = Group(
        id="crew", name="Crew", members=("ann", "bo"), orchestrator=Leader(provider="remote0", model="m")
    )
    made.documents.groups.kept = (replace(group, **fields),)  # type: ignore[arg-type]
    left_open.append(made)
    return made


async def run(made: Bench, text: str = "Ship it.") -> str:
    session_id = await made.engine.groups.start("crew", text)
    await made.engine.wait(session_id)
    return session_id


def acting(*steps: Script, member: Script = ("I did it.",)) -> Callable[[ModelRequest], Script]:
    """Return models: the orchestrator takes the steps in turn, members say their line."""
    rest = list(steps)

    def answer(request: ModelRequest) -> Script:
        if who(request) != "orchestrator":
            return member
        return rest.pop(0) if rest else calling(("reportResult", {"result_in_detail": "That is all."}))

    return answer


def talk(made: Bench, session_id: str) -> list[tuple[str, str]]:
    return [
        (one.author.id, one.content)
        for one in made.messages(session_id)
        if one.role in (Role.USER, Role.ASSISTANT) and one.content
    ]


def tool_results(made: Bench, session_id: str) -> list[str]:
    return [one.content for one in made.messages(session_id) if one.role == Role.TOOL]


def a_plan(made: Bench, session_id: str) -> list[tuple[str, bool]]:
    live = made.engine.live(session_id)
    assert live is not None
    return [(item.text, item.done) for item in live.session.plan.items] if live.session.plan else []


async def test_plan_two_hand_overs_and_a_report(tmp_path: Path) -> None:
    script = acting(
        calling(("setPlan", {"items": ["Design", "Build"]}), hand("ann", "Design it.")),
        calling(("checkDone", {"index": 0}), hand("Bo", "Build it.")),
        calling(("checkDone", {"index": 1}), ("reportResult", {"result_in_detail": "It is built."})),
    )
    made = bench(tmp_path, script)
    session_id = await run(made)
    assert talk(made, session_id) == [
        ("user", "Ship it."),
        ("ann", "I did it."),
        ("bo", "I did it."),
        ("orchestrator", "It is built."),
    ]
    assert a_plan(made, session_id) == [("Design", True), ("Build", True)]
    assert status(made, session_id) == Status.IDLE
    live = made.engine.live(session_id)
    assert live is not None
    assert isinstance(live.session, GroupSession) and live.session.plan is not None
    assert [item.by for item in live.session.plan.items] == ["Ann", "Bo"]
    assert turns_used(live) == 3
    assert {one.author.kind for one in live.messages if one.author.id == "orchestrator"} == {"orchestrator"}
    ann = next(one for one in made.models.requests if who(one) == "ann")
    assert "[Orchestrator]: @ann: Design it." in json.dumps(ann.messages)
    back = [one for one in made.models.requests if who(one) == "orchestrator"][1]
    assert "[Ann]: I did it." in json.dumps(back.messages)


async def test_the_gauge_counts_what_the_orchestrator_will_be_sent(tmp_path: Path) -> None:
    report = calling(("reportResult", {"result_in_detail": "Nothing to build."}))
    made = bench(tmp_path, acting(report, report))
    session_id = await run(made)
    use = made.engine.summaries.use_of(session_id)
    await made.engine.chats.send(session_id, "?")
    await made.engine.wait(session_id)
    last = made.models.requests[-1]
    assert use is not None and 0 <= request_tokens(last) - use.tokens < 20, (
        "all but the new message is counted"
    )


async def test_set_plan_over_open_items_changes_nothing(tmp_path: Path) -> None:
    script = acting(calling(("setPlan", {"items": ["A"]})), calling(("setPlan", {"items": ["B"]})))
    made = bench(tmp_path, script)
    session_id = await run(made)
    assert a_plan(made, session_id) == [("A", False)]
    assert "1 items are still open" in tool_results(made, session_id)[1]
    assert "0. [ ] A" in tool_results(made, session_id)[1]


@pytest.mark.corpus(58)
@pytest.mark.parametrize(
    ("arguments", "says"),
    [({"index": "1"}, "whole number"), ({"index": -1}, "numbers go from 0 to 0"), ({"index": 99}, "numbers go from 0 to 0"), ({}, "missing")],
)  # fmt: skip
async def test_check_done_refuses_what_is_not_there(tmp_path: Path, arguments: object, says: str) -> None:
    made = bench(tmp_path, acting(calling(("setPlan", {"items": ["A"]})), calling(("checkDone", arguments))))
    session_id = await run(made)
    assert says in tool_results(made, session_id)[1]
    assert a_plan(made, session_id) == [("A", False)]


@pytest.mark.corpus(58)
@pytest.mark.parametrize("items", [[], ["x"] * 10_000, ["y" * 1_000_000], [" "]])
async def test_a_plan_that_is_none_is_refused(tmp_path: Path, items: list[str]) -> None:
    made = bench(tmp_path, acting(calling(("setPlan", {"items": items}))))
    session_id = await run(made)
    assert a_plan(made, session_id) == []
    assert made.messages(session_id)[-1].content == "That is all."


async def test_an_unknown_member_is_answered_with_the_list(tmp_path: Path) -> None:
    made = bench(tmp_path, acting(calling(hand("zoe"))))
    session_id = await run(made)
    assert tool_results(made, session_id)[0] == "zoe is not a member. You may call: Ann, Bo."


async def test_what_ends_the_turn_wins_over_the_calls_behind_it(tmp_path: Path) -> None:
    script = acting(calling(hand("ann"), ("setPlan", {"items": ["late"]}), hand("bo")))
    made = bench(tmp_path, script)
    session_id = await run(made)
    assert [one for one in tool_results(made, session_id) if one.startswith("Skipped")] == [
        "Skipped: switchAssistant came before it and ends the turn."
    ] * 2
    assert ("bo", "I did it.") not in talk(made, session_id)
    assert a_plan(made, session_id) == []


async def test_a_question_to_the_user_waits_over_a_restart(tmp_path: Path) -> None:
    made = bench(tmp_path, acting(calling(("promptToUser", {"prompt": "Which colour?"}))))
    session_id = await run(made)
    assert status(made, session_id) == Status.WAITING
    await made.engine.shutdown()
    left_open.clear()
    again = bench(tmp_path, acting(calling(("reportResult", {"result_in_detail": "Blue it is."}))))
    await again.engine.open(session_id)
    await again.engine.chats.send(session_id, "Blue")
    await again.engine.wait(session_id)
    assert talk(again, session_id)[-1] == ("orchestrator", "Blue it is.")


async def test_the_limit_of_turns_makes_it_report_what_it_has(tmp_path: Path) -> None:
    numbers = iter(range(100))
    offered: list[list[str]] = []

    def answer(request: ModelRequest) -> Script:
        if who(request) != "orchestrator":
            return ["Still busy."]
        names = [str(one["function"]["name"]) for one in request.tools]  # type: ignore[index]
        offered.append(names)
        if names == ["reportResult"]:
            return calling(("reportResult", {"result_in_detail": "Not finished."}))
        return calling(hand("ann", f"Go on, {next(numbers)}."))

    made = bench(tmp_path, answer, turns_limit=4)
    session_id = await run(made)
    assert len(offered) == 4
    assert offered[-1] == ["reportResult"]
    assert talk(made, session_id)[-1] == ("orchestrator", "Not finished.")
    assert status(made, session_id) == Status.PAUSED


async def test_a_member_that_fails_is_told_to_the_orchestrator(tmp_path: Path) -> None:
    script = acting(calling(hand("ann")), member=[ProviderError(FailureKind.SERVER, "500")])
    made = bench(tmp_path, script)
    session_id = await run(made)
    last = [one for one in made.models.requests if who(one) == "orchestrator"][-1]
    assert "[Ann]: (no answer: server)" in json.dumps(last.messages)
    assert status(made, session_id) == Status.IDLE


async def test_a_member_that_says_nothing_is_no_silence(tmp_path: Path) -> None:
    made = bench(tmp_path, acting(calling(hand("ann")), member=[]))
    session_id = await run(made)
    failed = [
        one
        for one in made.messages(session_id)
        if one.state == MessageState.FAILED and one.author.id == "ann"
    ]
    assert [one.error.kind for one in failed if one.error] == ["empty"]
    assert talk(made, session_id)[-1] == ("orchestrator", "That is all.")


async def test_plain_words_of_the_orchestrator_end_the_loop(tmp_path: Path) -> None:
    made = bench(tmp_path, acting(["Hello! What shall we do?"]))
    session_id = await run(made, "Hi")
    assert len(made.models.requests) == 1
    assert status(made, session_id) == Status.IDLE


async def test_a_member_can_be_addressed_by_name(tmp_path: Path) -> None:
    made = bench(tmp_path, acting(member=["Bo here."]))
    session_id = await run(made, "@Bo what do you think?")
    assert [who(one) for one in made.models.requests] == ["bo", "orchestrator"]
    assert talk(made, session_id)[1] == ("bo", "Bo here.")


@pytest.mark.parametrize(
    ("text", "found"),
    [("@Ann, please", "ann"), ("@anna?", ""), ("Ann?", ""), ("@bo", "bo"), ("@nobody x", "")],
)
def test_who_is_addressed(text: str, found: str) -> None:
    assert addressed(text, CREW) == found


@pytest.mark.parametrize("text", ["@철수야", "@철수님, 봐 줘", "@철수에게 맡겨", "@철수가 해", "＠철수 해"])
def test_a_korean_name_is_addressed_with_its_particles(text: str) -> None:
    people = (agent("a1", name="철수"), agent("a2", name="철수연"))
    for written in (text, unicodedata.normalize("NFD", text)):
        assert addressed(written, people) == "a1"
    assert addressed("@철수연 해", people) == "a2"


async def test_a_hand_over_can_be_asked_about_changed_and_refused(tmp_path: Path) -> None:
    script = acting(calling(hand("ann", "Delete it all.")), calling(hand("bo", "Try.")))
    made = bench(tmp_path, script, ask_before_hand_over=True)
    session_id = await run(made)
    question = _open(made, session_id)
    changed = json.dumps({"assistant": "bo", "instruction": "Look first."})
    await made.engine.chats.answer(session_id, question.id, "allow", changed)
    await made.engine.wait(session_id)
    bo = next(one for one in made.models.requests if who(one) == "bo")
    assert "@bo: Look first." in json.dumps(bo.messages)
    await made.engine.chats.answer(session_id, _open(made, session_id).id, "deny")
    await made.engine.wait(session_id)
    assert "did not allow" in tool_results(made, session_id)[-2]
    assert talk(made, session_id)[-1] == ("orchestrator", "That is all.")


async def test_the_user_changes_the_plan_and_the_orchestrator_is_told(tmp_path: Path) -> None:
    script = acting(calling(("setPlan", {"items": ["A", "B"]}), ("promptToUser", {"prompt": "Fine?"})))
    made = bench(tmp_path, script)
    session_id = await run(made)
    plan = Plan(items=(PlanItem(text="B"), PlanItem(text="C")))
    await made.engine.groups.change_plan(session_id, plan)
    await made.engine.chats.send(session_id, "Yes")
    await made.engine.wait(session_id)
    assert "The plan now:\\n0. [ ] B\\n1. [ ] C" in json.dumps(made.models.requests[-1].messages)
    with pytest.raises(BadInput):
        await made.engine.groups.change_plan(session_id, Plan(items=(PlanItem(text=""),)))


async def test_a_member_that_was_deleted_is_told_and_the_run_ends(tmp_path: Path) -> None:
    made = bench(tmp_path, acting(calling(hand("ann")), calling(hand("ann"))))

    real = made.models.otherwise

    def answer(request: ModelRequest) -> Script:
        made.documents.assistants.kept = tuple(one for one in CREW if one.id != "ann")
        return real(request)

    made.models.otherwise = answer
    session_id = await run(made)
    assert status(made, session_id) == Status.IDLE
    assert talk(made, session_id)[-1] == ("orchestrator", "That is all.")


async def test_a_group_nobody_is_in_does_not_start(tmp_path: Path) -> None:
    made = bench(tmp_path, acting(), members=("gone",))
    with pytest.raises(BadInput, match="group_empty"):
        await made.engine.groups.start("crew", "Go")
    with pytest.raises(NotFound):
        await made.engine.groups.start("other", "Go")


async def test_a_budget_pauses_a_group_and_it_goes_on(tmp_path: Path) -> None:
    made = bench(tmp_path, acting(calling(hand("ann")), calling(hand("bo"))))
    made.documents._settings = replace(made.documents.settings(), max_model_calls=2)
    session_id = await run(made)
    assert status(made, session_id) == Status.PAUSED
    await made.engine.resume(session_id)
    await made.engine.wait(session_id)
    assert [who(one) for one in made.models.requests][:3] == ["orchestrator", "ann", "orchestrator"]


async def test_planning_tools_say_the_new_state(tmp_path: Path) -> None:
    script = acting(calling(hand("bo")))
    steps: list[Script] = [
        calling(("create_goal", {"goal": "Ship"}), ("add_todo", {"name": "Test"})),
        calling(("toggle_todo", {"index": 0})),
        calling(("toggle_todo", {"index": 0}), ("clear_goal", {})),
        ["Planned."],
    ]
    made = bench(tmp_path, lambda request: steps.pop(0) if who(request) == "bo" else script(request))
    session_id = await run(made)
    told = tool_results(made, session_id)
    assert "0 is now done: Test" in told[3]
    assert "0 is now open again: Test" in told[4]
    assert a_plan(made, session_id) == [("Test", False)]
    assert not any(one.resources for one in made.messages(session_id))


@pytest.mark.threat("T11")
async def test_a_shared_group_comes_in_with_its_members(tmp_path: Path) -> None:
    made = bench(tmp_path, acting())
    text = made.engine.groups.share("crew")
    assert "remote0" in text
    shared = made.engine.groups.read_shared(
        text.replace('"turns_limit"', '"command": "rm -rf /", "turns_limit"')
    )
    assert shared.dropped == ("command",)
    brought = await made.engine.groups.bring_in(shared)
    assert brought.id == "crew-2"
    assert brought.members == ("ann", "bo")


def _open(made: Bench, session_id: str) -> Message:
    [question] = [one for one in made.messages(session_id) if one.asks]
    return question
