"""`moot mcp` as other agents use it: a real client, real processes, a window that opens before or after."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt

from app.cli.control import owner_pid
from app.storage.access import WriterLock
from app.storage.paths import DataPaths
from tests.app_driver import Person, at_window, until
from tests.mcp_caller import Caller, calling, end_owner
from tests.wire.fixtures import wire_home, wire_servers
from tests.wire.replies import Answer
from tests.wire.server import Recorded, WireServer

__all__ = ["wire_home", "wire_servers"]

TWO = ["Ada=ollama/ollama-wire", "Ben=ollama/ollama-other"]


@pytest.fixture
async def home(data_dir: Path, wire_home: dict[str, WireServer]) -> AsyncIterator[WireServer]:
    """A data directory with a server whose models need no key; the Moot that runs there is ended."""
    yield wire_home["ollama"]
    await end_owner(data_dir)


def numbered(server: WireServer, text: str = "Point", **how: Any) -> None:
    """Let each request be answered with another text."""

    def answer(request: Recorded) -> Answer:
        return Answer(f"{text} {len(server.requests)} of {request.model}.", **how)

    for model in server.models:
        server.script(model, answer)


async def begun(caller: Caller, **arguments: Any) -> "asyncio.Task[dict[str, Any]]":
    """Ask for a debate, and return the call that goes on."""
    wanted = {"topic": "Tea or coffee?", "participants": TWO, "rounds": 2} | arguments
    return asyncio.create_task(caller.call("debate", **wanted))


def first_session(data_dir: Path) -> str:
    """Return the id of the only session."""
    [log] = (data_dir / "sessions").glob("*.jsonl")
    return log.stem


def spoken(server: WireServer) -> Callable[[], bool]:
    """Return whether a model is being asked."""
    return lambda: bool(server.requests)


async def test_an_agent_lists_and_holds_a_debate(home: WireServer, data_dir: Path) -> None:
    numbered(home)
    async with calling(data_dir) as caller:
        tools = (await caller.session.list_tools()).tools
        assert [one.name for one in tools] == ["ask", "debate", "council", "wait", "say", "list"]
        assert sum(len(one.model_dump_json(exclude_none=True)) for one in tools) < 4000
        models = await caller.call("list", what="models")
        assert "ollama/ollama-wire" in models["models"]
        found = await (await begun(caller, verdict=True))
        found = await caller.to_the_end(found)
        sessions = await caller.call("list", what="sessions")
    assert found["status"] == "completed" and found["result"]
    assert [one["name"] for one in caller.statements] == ["Ada", "Ben", "Ada", "Ben"]
    assert len(set(caller.said())) == 4
    assert [one["session_id"] for one in sessions["sessions"]] == [found["session_id"]]


async def test_an_agent_asks_an_assistant_and_several_models(home: WireServer, data_dir: Path) -> None:
    numbered(home)
    async with calling(data_dir) as caller:
        names = [one["name"] for one in (await caller.call("list", what="assistants"))["assistants"]]
        found = await caller.to_the_end(await caller.call("ask", who=names[0], text="Good morning."))
        [first] = caller.said()
        assert found["status"] == "completed" and "Point" in first
        again = await caller.call("ask", who=names[0], text="And?", session_id=found["session_id"])
        await caller.to_the_end(again)
        assert len(caller.statements) == 2 and again["session_id"] == found["session_id"]
        caller.statements.clear()
        council = await caller.call("council", question="Tea or coffee?", participants=TWO)
        council = await caller.to_the_end(council)
    assert [one["name"] for one in caller.statements] == ["Ada", "Ben"]
    assert council["status"] == "completed" and council["result"]


async def test_what_cannot_be_done_is_said_with_a_code(home: WireServer, data_dir: Path) -> None:
    numbered(home, pace=0.5)
    async with calling(data_dir) as caller:
        for tool, arguments, code in (
            ("ask", {"who": "Nobody at all", "text": "Hello"}, "nobody_called"),
            ("wait", {"session_id": "x"}, "session_not_found"),
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


@pytest.mark.parametrize("by", ["variable", "ancestor"])
async def test_an_agent_that_moot_has_started_cannot_call_it(
    home: WireServer, data_dir: Path, by: str
) -> None:
    variables = {"MOOT_AGENTS": "1"} if by == "variable" else {}
    if by == "ancestor":
        # As if this test were the Moot that holds the data directory.
        data_dir.mkdir(exist_ok=True)
        DataPaths(data_dir).control.write_text(f'{{"pid": {os.getpid()}}}')
    async with calling(data_dir, environment=variables, orphaned=False) as caller:
        assert (await caller.call("list", what="models"))["error"] == "called_from_moot"
    assert not WriterLock(DataPaths(data_dir)).is_held()


async def test_a_cancelled_call_lets_the_debate_go_on(home: WireServer, data_dir: Path) -> None:
    numbered(home, pace=0.05)
    async with calling(data_dir) as caller:
        call = await begun(caller)
        await until(spoken(home))
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        session_id = first_session(data_dir)
        said = await caller.call("say", session_id=session_id, text="Think of the children.")
        assert said["status"] == "running"
        await caller.to_the_end(said)
    assert [one["name"] for one in caller.statements] == ["Ada", "Ben", "Ada", "Ben"]
    assert any("Think of the children." in str(one.body) for one in home.requests)


async def test_an_owner_that_is_killed_loses_nothing(home: WireServer, data_dir: Path) -> None:
    numbered(home, pace=0.05)
    async with calling(data_dir) as caller:
        call = await begun(caller)
        await until(lambda: len(home.requests) == 2)
        owner = owner_pid(DataPaths(data_dir).control)
        assert owner is not None
        os.kill(owner, signal.SIGKILL)
        found = await caller.to_the_end(await call)
    assert found["status"] == "completed"
    assert [one["name"] for one in caller.statements] == ["Ada", "Ben", "Ada", "Ben"]


async def statements_in(person: Person, session_id: str, count: int) -> list[str]:
    """Show a debate in the window, and return what is said of its statements once they are so many."""
    person.window.controller.show_session(session_id)
    await until(lambda: person.sees("debate_transcript"))

    def shown() -> list[str]:
        return [one for one in person.transcript() if "Point" in one or "I say" in one]

    await until(lambda: len(shown()) >= count)
    return shown()


async def test_a_window_that_is_open_shows_the_debate_and_steps_in(
    qapp: object, home: WireServer, data_dir: Path
) -> None:
    numbered(home, pace=0.1)
    async with at_window(data_dir) as person, calling(data_dir) as caller:
        call = await begun(caller)
        await until(spoken(home))
        session_id = first_session(data_dir)
        person.window.controller.show_session(session_id)
        await until(lambda: person.sees("debate_interject"))
        await person.write("debate_interject", "I say this in the window.")
        await person.press("debate_interject", Qt.Key.Key_Return)
        await caller.call("say", session_id=session_id, text="I say this from outside.")
        found = await caller.to_the_end(await call)
        shown = await statements_in(person, session_id, 6)
        assert len(shown) == len(set(shown)) == 6
    assert found["status"] == "completed"
    # What the caller said itself is not told to it again.
    assert sorted(one["name"] for one in caller.statements) == ["Ada", "Ada", "Ben", "Ben", "User"]
    assert len(set(caller.said())) == 5


async def test_a_window_that_opens_later_takes_the_debate_over(
    qapp: object, home: WireServer, data_dir: Path
) -> None:
    numbered(home, pace=0.2)
    async with calling(data_dir) as caller:
        call = await begun(caller)
        await until(lambda: len(home.requests) == 2)
        owner = owner_pid(DataPaths(data_dir).control)
        async with at_window(data_dir) as person:
            assert owner_pid(DataPaths(data_dir).control) == os.getpid() != owner
            session_id = first_session(data_dir)
            found = await caller.to_the_end(await call)
            shown = await statements_in(person, session_id, 4)
            # What was cut off when the window opened is marked so, and said again.
            whole = [one for one in shown if "stopped" not in one]
            assert len(whole) == len(set(whole)) == 4
    assert found["status"] == "completed"
    assert [one["name"] for one in caller.statements] == ["Ada", "Ben", "Ada", "Ben"]
    assert len(set(caller.said())) == 4
