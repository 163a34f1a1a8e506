"""`moot mcp` as other agents use it: a real client, real processes, a Moot without a window."""

import asyncio
import json
import os
import signal
import time
from pathlib import Path

import pytest

from app.cli.control import owner_pid
from app.storage.access import WriterLock
from app.storage.paths import DataPaths
from tests.app_driver import until
from tests.mcp_caller import TWO, begun, calling, first_session, numbered
from tests.repeats import slow_after
from tests.wire.fixtures import wire_home, wire_servers
from tests.wire.replies import Answer, WireCall
from tests.wire.server import WireServer

__all__ = ["wire_home", "wire_servers"]


@pytest.mark.threat("T13")
async def test_an_agent_lists_and_holds_a_debate(
    asked: WireServer, wire_home: dict[str, WireServer], data_dir: Path
) -> None:
    numbered(asked)
    for_moot = {"MOOT_KEY_ANTHROPIC": wire_home["anthropic"].key}
    async with calling(data_dir, environment=for_moot) as caller:
        tools = (await caller.session.list_tools()).tools
        assert [one.name for one in tools] == ["ask", "debate", "council", "wait", "say", "list"]
        assert sum(len(one.model_dump_json(exclude_none=True)) for one in tools) < 4000
        models = await caller.call("list", what="models")
        assert "ollama/ollama-wire" in models["models"]
        # The keys of all are in the environment, where they may be the agent's own; one is there for Moot.
        assert "anthropic/anthropic-wire" in models["models"]
        assert not [one for one in models["models"] if one.startswith(("openai/", "gemini/"))]
        everything = await caller.call("list")
        assert set(everything) == {"assistants", "groups", "panels", "models", "sessions"}
        assert everything["models"] == models["models"] and not everything["sessions"]
        reading = {one.name for one in tools if one.annotations and one.annotations.read_only_hint}
        assert reading == {"wait", "list"}
        found = await (await begun(caller, verdict=True))
        found = await caller.to_the_end(found)
        sessions = await caller.call("list", what="sessions")
    assert found["status"] == "completed" and found["result"]
    assert [one["name"] for one in caller.statements] == ["Ada", "Ben", "Ada", "Ben"]
    assert len(set(caller.said())) == 4
    assert [one["session_id"] for one in sessions["sessions"]] == [found["session_id"]]


async def test_an_agent_asks_an_assistant_and_several_models(asked: WireServer, data_dir: Path) -> None:
    numbered(asked)
    async with calling(data_dir) as caller:
        names = [one["name"] for one in (await caller.call("list", what="assistants"))["assistants"]]
        found = await caller.to_the_end(await caller.call("ask", who=names[0], text="Good morning."))
        [first] = caller.said()
        assert found["status"] == "completed" and "Point" in first
        again = await caller.call("ask", who=names[0], text="And?", session_id=found["session_id"])
        await caller.to_the_end(again)
        assert "[Claude Code (through MCP)]: And?" in str(asked.requests[-1].body)
        assert len(caller.statements) == 2 and again["session_id"] == found["session_id"]
        caller.statements.clear()
        council = await caller.call("council", question="Tea or coffee?", participants=TWO)
        council = await caller.to_the_end(council)
    assert [one["name"] for one in caller.statements] == ["Ada", "Ben"]
    assert council["status"] == "completed" and council["result"]


async def test_what_cannot_be_done_is_said_with_a_code(asked: WireServer, data_dir: Path) -> None:
    numbered(asked, pace=0.5)
    async with calling(data_dir) as caller:
        for tool, arguments, code in (
            ("ask", {"who": "Nobody at all", "text": "Hello"}, "nobody_called"),
            ("wait", {"session_id": "x"}, "session_not_found"),
            ("wait", {"session_id": "x", "seconds": 46}, "arguments"),
            ("debate", {"topic": "T", "participants": TWO, "rounds": 4}, "arguments"),
            ("debate", {"topic": "T", "participants": TWO, "mode": "council"}, "arguments"),
            ("debate", {"topic": "T", "participants": ["ollama/none", TWO[0]]}, "unknown_model"),
            (
                "debate",
                {"topic": "T", "participants": [f"{n}={TWO[0][4:]}" for n in "ABCDEF"]},
                "too_many_participants",
            ),
            ("debate", {"topic": "T" * 70_000, "participants": TWO}, "too_long"),
        ):
            assert (await caller.call(tool, **arguments))["error"] == code
        both = [await begun(caller), await begun(caller)]
        await until(lambda: len(list((data_dir / "sessions").glob("*.jsonl"))) == 2)
        assert (await caller.call("debate", topic="T", participants=TWO))["error"] == "calls_at_once"
        for one in both:
            one.cancel()
        await asyncio.gather(*both, return_exceptions=True)


@pytest.mark.parametrize("by", slow_after(1, [("ancestor",), ("variable",)]))
async def test_an_agent_that_moot_has_started_cannot_call_it(
    asked: WireServer, data_dir: Path, by: str
) -> None:
    variables = {"MOOT_AGENTS": "1"} if by == "variable" else {}
    if by == "ancestor":
        # As if this test were the Moot that holds the data directory.
        data_dir.mkdir(exist_ok=True)
        DataPaths(data_dir).control.write_text(f'{{"pid": {os.getpid()}}}')
    async with calling(data_dir, environment=variables, orphaned=False) as caller:
        assert (await caller.call("list", what="models"))["error"] == "called_from_moot"
    assert not WriterLock(DataPaths(data_dir)).is_held()


async def test_a_cancelled_call_lets_the_debate_go_on(asked: WireServer, data_dir: Path) -> None:
    numbered(asked, pace=0.05)
    async with calling(data_dir) as caller:
        call = await begun(caller)
        await until(lambda: asked.requests)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        session_id = first_session(data_dir)
        said = await caller.call("say", session_id=session_id, text="Think of the children.")
        assert said["status"] == "running"
        await caller.to_the_end(said)
    assert [one["name"] for one in caller.statements] == ["Ada", "Ben", "Ada", "Ben"]
    assert any("Think of the children." in str(one.body) for one in asked.requests)


@pytest.mark.slow
async def test_an_owner_that_is_killed_loses_nothing(asked: WireServer, data_dir: Path) -> None:
    numbered(asked, pace=0.05)
    async with calling(data_dir) as caller:
        call = await begun(caller)
        await until(lambda: len(asked.requests) == 2)
        owner = owner_pid(DataPaths(data_dir).control)
        assert owner is not None
        os.kill(owner, signal.SIGKILL)
        found = await caller.to_the_end(await call)
    assert found["status"] == "completed"
    assert [one["name"] for one in caller.statements] == ["Ada", "Ben", "Ada", "Ben"]


GUIDE = {
    "version": 1,
    "id": "guide",
    "name": "Guide",
    "provider": "ollama",
    "model": "ollama-wire",
    "tools": ["ask", "web"],
}


def with_guide(data_dir: Path) -> None:
    """Add an assistant that speaks with the server's model."""
    (data_dir / "assistants").mkdir(exist_ok=True)
    (data_dir / "assistants" / "guide.json").write_text(json.dumps(GUIDE))


@pytest.mark.threat("T11")
async def test_a_question_and_an_approval_are_answered_by_the_user_alone(
    asked: WireServer, data_dir: Path
) -> None:
    with_guide(data_dir)
    question = WireCall("promptUser", json.dumps({"question": "Which city?", "type": "text"}))
    opens = WireCall("open_url", json.dumps({"url": "https://example.com/"}))
    asked.script(asked.model, [Answer(calls=(question,)), Answer(calls=(opens,))])
    async with calling(data_dir) as caller:
        for asks, answer in (("Which city?", "Seoul"), ("open_url", "allow")):
            found = await caller.call("ask", who="Guide", text="Plan a trip.")
            session_id = found["session_id"]
            assert (found["status"], found["question"], found["for_user"]) == ("waiting", asks, True)
            for tool, more in (("say", {}), ("ask", {"who": "Guide"})):
                refused = await caller.call(tool, session_id=session_id, text=answer, **more)
                assert refused["error"] == "only_user_answers", tool
            found = await caller.call("wait", session_id=session_id)
            assert (found["status"], found["question"], found["for_user"]) == ("waiting", asks, True)
    # Nobody was asked on.
    assert len(asked.requests) == 2


async def test_a_long_answer_comes_in_parts(asked: WireServer, data_dir: Path) -> None:
    with_guide(data_dir)
    whole = " ".join(f"말{number}" for number in range(5000))
    asked.script(asked.model, [Answer(whole, pieces=1000)])
    async with calling(data_dir) as caller:
        found = await caller.call("ask", who="guide", text="Tell me all.")
        assert found["more"] and len(json.dumps(found, ensure_ascii=False).encode()) < 21_000
        await caller.to_the_end(found)
    assert "".join(one["text"] for one in caller.statements) == whole


async def test_a_moot_that_cannot_start_says_why(asked: WireServer, data_dir: Path) -> None:
    (data_dir / "sessions").write_text("This is no folder.")
    async with calling(data_dir) as caller:
        failed = await caller.call("list", what="models")
    assert failed["error"] == "not_started" and "sessions" in failed["message"]


@pytest.mark.slow
async def test_a_debate_of_150_seconds_is_told_whole(asked: WireServer, data_dir: Path) -> None:
    numbered(asked, text=" ".join(["Point"] * 24), pace=1.0)
    async with calling(data_dir) as caller:
        started = time.monotonic()
        found = await caller.call("debate", topic="Tea or coffee?", participants=TWO, rounds=3)
        assert found["status"] == "running"
        found = await caller.to_the_end(found)
        assert time.monotonic() - started > 150
    assert found["status"] == "completed"
    assert [one["name"] for one in caller.statements] == ["Ada", "Ben"] * 3
    assert len(set(caller.said())) == 6
    # Every five seconds, and what is going on.
    assert len(caller.progress) >= 25
    assert any(words.startswith("round 2 of 3: ") for words in caller.progress)
