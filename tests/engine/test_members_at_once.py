"""Members whom one answer hands over to work side by side; what they say comes back in order."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from app.cli.printing.lines import load_texts
from app.core.definitions import Busy, Group, Leader
from app.core.errors import FailureKind, ProviderError
from app.core.events import TurnStarted
from app.core.message import Message, MessageState, Role
from app.core.provider import ModelRequest
from app.core.session import Status
from app.core.turns import asked_at
from app.engine.availability import Strategy
from app.engine.group import director
from app.engine.request import turns_used
from tests.builders import Bench, Hang, Script, a_bench, until
from tests.engine.group_tools import TOOLS, hand
from tests.engine.test_group import CREW, acting, bench, run, status, talk, tool_results
from tests.engine.test_sub_agents import who
from tests.engine.test_turn import agent, calling
from tests.memory import MemoryStore

EN = load_texts("en")
BOTH = calling(hand("ann", "Design it."), hand("Bo", "Build it."))
REPORT = calling(("reportResult", {"result_in_detail": "It is done."}))
ORCHESTRATOR = "orchestrator"


def texts(request: ModelRequest) -> list[str]:
    """Return what a request says, without the system text."""
    return [str(one["content"]) for one in request.messages[1:]]


def asked_of(made: Bench, name: str) -> list[ModelRequest]:
    return [one for one in made.models.requests if who(one) == name]


async def test_they_work_at_once_and_their_answers_come_back_in_order(tmp_path: Path) -> None:
    meet, bo_is_done = asyncio.Barrier(2), asyncio.Event()
    lead = acting(BOTH, REPORT)

    def answer(request: ModelRequest) -> Script:
        if who(request) == "ann":
            return [meet, bo_is_done, "Designed."]
        return [meet, "Built."] if who(request) == "bo" else lead(request)

    made = bench(tmp_path, answer)
    session_id = await made.engine.groups.start("crew", "Ship it.")
    await until(lambda: ("bo", "Built.") in talk(made, session_id))
    assert made.models.open == 1, "Ann still works when Bo is done"
    bo_is_done.set()
    await made.engine.wait(session_id)
    first, second = asked_of(made, ORCHESTRATOR)
    results = [str(one["content"]) for one in second.messages if one["role"] == Role.TOOL]
    assert results == ["[Ann]: Designed.", "[Bo]: Built."]
    assert len(texts(first)) < len(texts(second))
    assert talk(made, session_id)[-1] == (ORCHESTRATOR, "It is done.")
    live = made.engine.live(session_id)
    assert live is not None
    assert turns_used(live) == 2, "what comes after them is a turn of its own, which counts"
    said = {one.author.id: one for one in live.messages if one.content in ("Designed.", "Built.")}
    assert {(one.author.kind, one.author.depth) for one in said.values()} == {("main", 0)}
    assert status(made, session_id) == Status.IDLE


async def test_a_long_answer_is_read_whole_as_that_of_one_alone(tmp_path: Path) -> None:
    said = "word " * 5_000 + "end"
    made = bench(tmp_path, acting(BOTH, calling(hand("ann", "Alone.")), REPORT, member=[said]))
    await run(made)
    *_, last = asked_of(made, ORCHESTRATOR)
    assert "\n".join(texts(last)).count(said) == 3, "both who worked side by side, and then one alone"


async def test_a_very_long_answer_is_kept_whole(tmp_path: Path) -> None:
    said = "word " * 22_000 + "end"
    made = bench(tmp_path, acting(BOTH, REPORT, member=[said]))
    session_id = await run(made)
    assert tool_results(made, session_id)[:2] == [f"[Ann]: {said}", f"[Bo]: {said}"]


async def test_each_reads_what_came_before_and_its_own_instruction_alone(tmp_path: Path) -> None:
    script = acting(calling(hand("ann", "Look first.")), BOTH, calling(hand("bo", "Check it.")), REPORT)
    made = bench(tmp_path, script)
    await run(made)
    _, second, third = asked_of(made, "bo")[0], *asked_of(made, "ann")[1:], asked_of(made, "bo")[1]
    bo = "\n".join(texts(asked_of(made, "bo")[0]))
    assert "Ship it." in bo
    assert "[Ann]: I did it." in bo, "what Ann found alone"
    assert "[Orchestrator]: @Bo: Build it." in bo
    assert "Design it." not in bo
    assert "Build it." not in "\n".join(texts(second))
    later = "\n".join(texts(third))
    for said in ("@ann: Design it.", "[Ann]: I did it.", "@Bo: Build it.", "[Bo]: I did it."):
        assert said in later, "who comes later reads all of it"
    assert later.index("@ann: Design it.") < later.index("@Bo: Build it.") < later.index("@bo: Check it.")


async def test_one_assistant_does_one_thing_at_a_time(tmp_path: Path) -> None:
    script = acting(calling(hand("ann", "One."), hand("ann", "Two.")), REPORT)
    made = bench(
        tmp_path, script, crew=(agent("ann", name="Ann", busy=Busy(strategy=Strategy.QUEUE)), agent("bo"))
    )
    most = 0

    def counting(request: ModelRequest) -> Script:
        nonlocal most
        if who(request) == "ann":
            most = max(most, made.models.open + 1)
        return script(request)

    made.models.otherwise = counting
    session_id = await run(made)
    assert most == 1
    assert tool_results(made, session_id)[:2] == ["[Ann]: I did it."] * 2
    assert [text for one in asked_of(made, "ann") for text in texts(one) if "@ann: One." in text]


async def test_a_call_between_hand_overs_ends_what_is_at_once(tmp_path: Path) -> None:
    script = acting(
        calling(("setPlan", {"items": ["A"]}), hand("ann"), hand("bo"), ("checkDone", {"index": 0}))
    )
    made = bench(tmp_path, script)
    session_id = await run(made)
    told = tool_results(made, session_id)
    assert sum(one.startswith("Skipped: switchAssistant came before it") for one in told) == 1
    assert {"[Ann]: I did it.", "[Bo]: I did it."} <= set(told)


async def test_hand_overs_behind_a_question_are_skipped(tmp_path: Path) -> None:
    asks = ("promptToUser", {"prompt": "Which colour?"})
    made = bench(tmp_path, acting(calling(asks, hand("ann"), hand("bo"))))
    session_id = await run(made)
    assert status(made, session_id) == Status.WAITING
    assert (
        tool_results(made, session_id)[:2] == ["Skipped: promptToUser came before it and ends the turn."] * 2
    )
    assert asked_of(made, "ann") == asked_of(made, "bo") == []


async def test_one_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    script = acting(calling(hand("zoe"), hand("ann"), hand("bo", " ")), REPORT)
    made = bench(tmp_path, script)
    session_id = await run(made)
    unknown, empty = (
        "zoe is not a member. You may call: Ann, Bo.",
        "switchAssistant: argument `instruction` is empty: say what the member shall do.",
    )
    assert sorted(tool_results(made, session_id)[:3]) == sorted([unknown, "[Ann]: I did it.", empty])
    assert talk(made, session_id)[-1] == (ORCHESTRATOR, "It is done.")
    assert asked_of(made, "bo") == []


async def test_what_follows_members_who_all_failed_is_a_new_question(tmp_path: Path) -> None:
    lead = acting(BOTH, ["I did it myself."])

    def answer(request: ModelRequest) -> Script:
        return (
            lead(request) if who(request) == ORCHESTRATOR else [ProviderError(FailureKind.BAD_REQUEST, "no")]
        )

    made = bench(tmp_path, answer)
    session_id = await run(made)
    await made.engine.chats.send(session_id, "Now the map.")
    await made.engine.wait(session_id)
    live = made.engine.live(session_id)
    assert live is not None
    assert live.messages[asked_at(live.messages, group=True)].content == "Now the map."


async def test_a_small_model_hears_what_was_said_and_its_instruction(tmp_path: Path) -> None:
    lead = acting(BOTH, REPORT)
    small = replace(CREW[0], provider="embedded", model="smollm2-135m")

    def answer(request: ModelRequest) -> Script:
        return lead(request) if request.provider != "embedded" and who(request) == ORCHESTRATOR else ["Done."]

    made = bench(tmp_path, answer, crew=(small, *CREW[1:]))
    await run(made)
    [asked] = [one for one in made.models.requests if one.provider == "embedded"]
    assert texts(asked)[0] == "Ship it." and texts(asked)[-1] == "Design it."


async def test_stop_and_resume_go_on_with_those_who_were_not_done(tmp_path: Path) -> None:
    lead, hangs = acting(BOTH, REPORT), True

    def answer(request: ModelRequest) -> Script:
        if who(request) == "ann":
            return ["Half a", Hang()] if hangs else ["Designed."]
        return ["Built."] if who(request) == "bo" else lead(request)

    made = bench(tmp_path, answer)
    session_id = await made.engine.groups.start("crew", "Ship it.")
    await until(lambda: made.models.hanging == 1 and ("bo", "Built.") in talk(made, session_id))
    await made.engine.stop(session_id)
    assert status(made, session_id) == Status.STOPPED
    hangs = False
    await made.engine.resume(session_id)
    await made.engine.wait(session_id)
    assert len(asked_of(made, "bo")) == 1, "who was done is not asked again"
    assert [one for one in talk(made, session_id) if one[0] == "ann"][-1] == ("ann", "Designed.")
    assert talk(made, session_id)[-1] == (ORCHESTRATOR, "It is done.")


async def test_the_user_is_asked_about_each_and_may_change_one(tmp_path: Path) -> None:
    made = bench(tmp_path, acting(BOTH, REPORT), ask_before_hand_over=True)
    session_id = await run(made)
    questions = [one for _, one in made.engine.chats.needs_you()]
    assert [one.prompt.arguments for one in questions if one.prompt] == [
        '{"assistant": "ann", "instruction": "Design it."}',
        '{"assistant": "Bo", "instruction": "Build it."}',
    ]
    await made.engine.chats.answer(session_id, questions[0].id, "allow")
    changed = '{"assistant": "Bo", "instruction": "Build it in blue."}'
    await made.engine.chats.answer(session_id, questions[1].id, "allow", changed)
    await made.engine.wait(session_id)
    assert "@Bo: Build it in blue." in "\n".join(texts(asked_of(made, "bo")[0]))
    assert talk(made, session_id)[-1] == (ORCHESTRATOR, "It is done.")


async def test_a_message_on_the_way_is_read_when_all_are_back(tmp_path: Path) -> None:
    gate = asyncio.Event()
    lead = acting(BOTH, REPORT)
    made = bench(
        tmp_path, lambda request: lead(request) if who(request) == ORCHESTRATOR else [gate, "I did it."]
    )
    session_id = await made.engine.groups.start("crew", "Ship it.")
    await until(lambda: made.models.open == 2)
    await made.engine.chats.send(session_id, "Also add a map.")
    gate.set()
    await made.engine.wait(session_id)
    last = texts(asked_of(made, ORCHESTRATOR)[-1])
    assert "Also add a map." in last[-2:][0] + last[-1]
    live = made.engine.live(session_id)
    assert live is not None
    assert live.messages[asked_at(live.messages, group=True)].content == "Ship it."


async def test_one_that_is_silent_is_left_behind_and_the_other_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, lead = asyncio.Event(), acting(BOTH, REPORT)

    def answer(request: ModelRequest) -> Script:
        if who(request) == "ann":
            return [Hang()]
        return [gate, "Built."] if who(request) == "bo" else lead(request)

    made = bench(tmp_path, answer)
    session_id = await made.engine.groups.start("crew", "Ship it.")
    await until(lambda: made.models.hanging == 1 and made.models.open == 2)
    live = made.engine.live(session_id)
    assert live is not None
    assert made.engine.groups.silent(live) == []
    with monkeypatch.context() as patch:
        patch.setattr(director, "SILENT", 0.0)
        assert made.engine.groups.silent(live) == ["ann", "bo"]
    begun = [one for one in made.events if isinstance(one, TurnStarted) and one.author.id == "ann"]
    live._heard[begun[-1].turn_id] -= 60
    await asyncio.to_thread(made.store.prepare)  # type: ignore[attr-defined]
    [row] = made.engine.work.rows(EN)
    assert row.says == "No word from Ann for a while"
    await made.engine.groups.go_on_without(session_id, "ann")
    gate.set()
    await made.engine.wait(session_id)
    told = tool_results(made, session_id)
    assert '"error": "The user stopped it."' in told[0]
    assert told[1] == "[Bo]: Built."
    assert talk(made, session_id)[-1] == (ORCHESTRATOR, "It is done.")


STEPS = ["Design", "Build"]


def _answer(request: ModelRequest) -> Script:
    """Act as a group that works side by side: what comes next is a function of what was said."""
    text = "\n".join(map(str, texts(request)))
    if who(request) == "ann":
        done = [one for one in request.messages if one["role"] == Role.TOOL]
        return calling(("add_todo", {"name": "Sketch"})) if not done else ["Designed."]
    if who(request) == "bo":
        return ["Built."]
    if "[ ] Design" not in text and "[x] Design" not in text:
        return calling(("setPlan", {"items": STEPS}), hand("ann", "Design it."), hand("bo", "Build it."))
    if "[Ann]: Designed." not in text or "[Bo]: Built." not in text:
        return calling(hand("ann", "Design it."), hand("bo", "Build it."))
    return calling(("checkDone", {"index": 0}), ("checkDone", {"index": 1}), REPORT_CALL)


REPORT_CALL = ("reportResult", {"result_in_detail": "Blue!"})


def _bench(store: MemoryStore, answer: Callable[[ModelRequest], Script] = _answer) -> Bench:
    crew = (agent("ann", name="Ann", tools=("planning",)), agent("bo", name="Bo"))
    made = a_bench(store, agents=crew, tools=TOOLS)
    made.models.otherwise = answer
    leader = Leader(provider="remote0", model="m")
    made.documents.groups.kept = (Group(id="crew", name="Crew", members=("ann", "bo"), orchestrator=leader),)
    return made


def _said(messages: list[Message]) -> list[str]:
    ended = (one for one in messages if one.role == Role.ASSISTANT and one.state == MessageState.DONE)
    return [one.content for one in ended if one.content]


async def test_every_cut_leads_to_the_same_end() -> None:
    store = MemoryStore()
    made = _bench(store)
    session_id = await made.engine.groups.start("crew", "Make it.")
    await made.engine.wait(session_id)
    whole = list(store.batches)
    assert len(whole) > 20
    for cut in range(2, len(whole) + 1):
        rest = MemoryStore()
        rest.batches = whole[:cut]
        resumed = _bench(rest)
        live = await resumed.engine.open(session_id)
        await resumed.engine.resume(session_id)
        await resumed.engine.wait(session_id)
        assert live.session.status == Status.IDLE, cut
        said = _said(live.messages)
        assert (sorted(said[:2]), said[2:]) == (["Built.", "Designed."], ["Blue!"]), cut
        plan = live.session.plan
        assert plan is not None
        items = [item.text for item in plan.items]
        assert items == ["Design", "Build", "Sketch"], cut
        ended = [one for one in live.messages if one.role == Role.TOOL and one.ended]
        assert len({(one.turn_id, one.tool_call_id) for one in ended}) == len(ended) == 7, cut
