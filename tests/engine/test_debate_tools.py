"""Participants that use tools before they make a statement: in the loop of all assistants, with its questions and restarts."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.message import Consent, MessageState, PromptReason, Role
from app.core.provider import ModelRequest
from app.core.session import DebateTools, Status
from app.core.tool import ToolContext, ToolResult
from tests.builders import (
    PROMPTS,
    Bench,
    Hang,
    Script,
    a_bench,
    a_log_store,
    a_setup,
    export_in_turns,
    left_open,
    until,
)
from tests.engine.test_turn import a_tool, agent, calling

FACT = "Cars took 40 % of the streets in 2019."


def answer(request: ModelRequest) -> Script:
    """Look a fact up first where there is a tool for it; then say who speaks."""
    tools = {one["function"]["name"] for one in request.tools}  # type: ignore[index]
    used = any(one["role"] == Role.TOOL for one in request.messages)
    wanted = sorted(tools & {"look_up", "web_search"})
    return calling((wanted[0], {"q": request.model})) if wanted and not used else [f"I am {request.model}."]


def bench(folder: Path, runs: list[str], *, asks: bool = False, repeatable: bool = True) -> Bench:
    """Return an engine with a tool that Ann has, and web tools that nobody's definition names."""

    async def look_up(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        runs.append(str(arguments))
        return ToolResult(content=FACT)

    tools = (
        a_tool("look_up", look_up, asks=asks, repeatable=repeatable),
        a_tool("web_search", look_up, group="web"),
        a_tool("open_url", look_up, group="web", asks=True),
    )
    made = a_bench(a_log_store(folder), agents=(agent("ann", tools=("look_up",)),), tools=tools)
    made.models.otherwise = answer
    left_open.append(made)
    return made


async def debate(made: Bench, tools: str = DebateTools.OWN, rounds: int = 1) -> str:
    """Start a debate of the assistant Ann and a plain model, and wait until nothing runs any more."""
    first, second = a_setup(2).participants
    ann = replace(first, id="ann", name="Ann")
    setup = a_setup(2, participants=(ann, second), rounds=rounds, tools=tools)
    session_id = await made.engine.debates.start(setup)
    await made.engine.wait(session_id)
    return session_id


def statements(made: Bench, session_id: str) -> list[tuple[str, str]]:
    return [
        (one.author.name, one.content)
        for one in made.messages(session_id)
        if one.state == MessageState.DONE and not one.is_interim
    ]


async def test_an_assistant_looks_up_before_its_statement(tmp_path: Path) -> None:
    runs: list[str] = []
    made = bench(tmp_path, runs)
    session_id = await debate(made)
    assert made.debate_of(session_id).status == Status.COMPLETED
    assert len(runs) == 1 and len(statements(made, session_id)) == 2
    offered = [[one["function"]["name"] for one in request.tools] for request in made.models.requests]  # type: ignore[index]
    assert offered == [["look_up"], ["look_up"], []]
    first, second, other = made.models.requests
    assert [one["role"] for one in first.messages] == ["system", "user"]
    assert [one["role"] for one in second.messages] == ["system", "user", "assistant", "tool"]
    assert second.messages[3]["content"] == FACT
    # The others read what was said, not what was looked up; and so do documents.
    assert "I am model-0." in str(other.messages) and FACT not in str(other.messages)
    live = made.engine.live(session_id)
    assert live is not None
    for kind in ("md", "html"):
        document = await export_in_turns(live, kind, PROMPTS, lambda text: text)
        assert "I am model-0." in document and "look_up" not in document and FACT not in document
    assert [one.content for one in await made.engine.debates.turns(session_id)] == [
        "I am model-0.",
        "I am model-1.",
    ]
    marks = {(one.round, one.why) for one in made.messages(session_id)}
    assert marks == {(1, "in_order")}


@pytest.mark.parametrize(
    ("tools", "names"), [(DebateTools.NONE, set()), (DebateTools.READING, {"web_search"})]
)
async def test_all_participants_have_what_the_debate_allows(
    tmp_path: Path, tools: str, names: set[str]
) -> None:
    made = bench(tmp_path, [])
    session_id = await debate(made, tools)
    assert len(statements(made, session_id)) == 2
    for request in made.models.requests:
        assert {one["function"]["name"] for one in request.tools} == names  # type: ignore[index]


async def test_an_approval_is_asked_for_and_the_turn_goes_on(tmp_path: Path) -> None:
    runs: list[str] = []
    made = bench(tmp_path, runs, asks=True)
    session_id = await debate(made, rounds=2)
    session = made.debate_of(session_id)
    assert (session.status, session.reason, runs) == (Status.WAITING, "question", [])
    [(asked_in, question)] = made.engine.chats.needs_you()
    assert asked_in == session_id and question.prompt is not None and question.prompt.tool == "look_up"
    await made.engine.chats.answer(session_id, question.id, Consent.ALWAYS)
    await made.engine.wait(session_id)
    # Allowed for the session: the second round asks nothing.
    assert made.debate_of(session_id).status == Status.COMPLETED
    assert len(runs) == 2 and len(statements(made, session_id)) == 4
    assert made.debate_of(session_id).debate.always == ("look_up",)


async def test_a_question_waits_over_a_restart_and_no_call_is_repeated(tmp_path: Path) -> None:
    runs: list[str] = []
    made = bench(tmp_path, runs, asks=True)
    session_id = await debate(made)
    await made.engine.shutdown()
    left_open.clear()
    again = bench(tmp_path, runs, asks=True)
    await asyncio.to_thread(again.store.prepare)  # type: ignore[attr-defined]
    await again.engine.open_waiting()
    [(_, question)] = again.engine.chats.needs_you()
    await again.engine.chats.answer(session_id, question.id, Consent.ALLOW)
    await again.engine.wait(session_id)
    assert again.debate_of(session_id).status == Status.COMPLETED
    # One call led to the statement, the other is the second participant's.
    assert len(again.models.requests) == 2 and len(runs) == 1
    said = [one for one in again.messages(session_id) if one.author.id == "ann"]
    assert len({one.turn_id for one in said}) == 1


async def test_what_may_have_run_when_moot_ended_is_asked_about(tmp_path: Path) -> None:
    runs: list[str] = []
    made = bench(tmp_path, runs, repeatable=False)
    made.models.otherwise = lambda request: [*answer(request)] if not runs else [Hang()]
    session_id = await made.engine.debates.start(
        a_setup(
            2,
            participants=(
                replace(a_setup(2).participants[0], id="ann", name="Ann"),
                a_setup(2).participants[1],
            ),
            rounds=1,
            tools=DebateTools.OWN,
        )
    )
    await until(lambda: made.models.hanging == 1)
    await made.engine.shutdown()
    left_open.clear()
    again = bench(tmp_path, runs, repeatable=False)
    await again.engine.resume(session_id)
    await again.engine.wait(session_id)
    # The call had its result: the turn goes on behind it, and the tool does not run again.
    assert again.debate_of(session_id).status == Status.COMPLETED and len(runs) == 1


@pytest.mark.parametrize("way", ["skip", "without", "stop"])
async def test_a_turn_that_waits_for_the_user_can_be_left(tmp_path: Path, way: str) -> None:
    made = bench(tmp_path, [], asks=True)
    first, second, third = a_setup(3).participants
    people = (replace(first, id="ann", name="Ann"), second, third)
    setup = a_setup(3, participants=people, rounds=1, tools=DebateTools.OWN)
    session_id = await made.engine.debates.start(setup)
    await made.engine.wait(session_id)
    assert made.engine.chats.needs_you()
    if way == "skip":
        await made.engine.debates.held.skip(session_id)
    elif way == "without":
        await made.engine.debates.held.go_on_without(session_id, "ann")
    else:
        await made.engine.stop(session_id)
    await made.engine.wait(session_id)
    assert made.engine.chats.needs_you() == []
    assert all(one.ended for one in made.messages(session_id))
    said = statements(made, session_id)
    assert len(said) == (0 if way == "stop" else 2)
    assert made.debate_of(session_id).status == (Status.STOPPED if way == "stop" else Status.COMPLETED)


async def test_a_denied_call_leads_to_a_statement_without_it(tmp_path: Path) -> None:
    runs: list[str] = []
    made = bench(tmp_path, runs, asks=True)
    session_id = await debate(made)
    [(_, question)] = made.engine.chats.needs_you()
    assert question.prompt is not None and question.prompt.reason == PromptReason.TOOL
    await made.engine.chats.answer(session_id, question.id, Consent.DENY)
    await made.engine.wait(session_id)
    assert runs == [] and len(statements(made, session_id)) == 2


async def test_a_participant_asks_its_sub_agent(tmp_path: Path) -> None:
    """A sub-agent has no chat around it here: it is asked as in a chat all the same."""

    def asks_bob(request: ModelRequest) -> Script:
        tools = {one["function"]["name"] for one in request.tools}  # type: ignore[index]
        asked = any(one["role"] == Role.TOOL for one in request.messages)
        return calling(("subAgent", {"name": "bob", "task": "Look."})) if tools and not asked else ["Said."]

    agents = (agent("ann", tools=("subAgent",), sub_agents=("bob",)), agent("bob"))
    made = a_bench(a_log_store(tmp_path), agents=agents, tools=())
    made.models.otherwise = asks_bob
    left_open.append(made)
    session_id = await debate(made)
    assert made.debate_of(session_id).status == Status.COMPLETED
    assert [one.content for one in made.messages(session_id) if one.author.kind == "sub"] == ["Said."]
    assert len(statements(made, session_id)) == 2
