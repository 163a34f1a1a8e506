"""What stays open after many sessions: what runs, what waits, what is held, and the latest of the rest."""

import gc
from pathlib import Path

import pytest

from app.core.definitions import Agent
from app.core.errors import StorageError
from app.core.message import Message
from app.core.provider import CallPiece, Finished, ModelRequest
from app.core.session import Status
from app.core.tool import Tool, ToolResult
from app.engine.live_session import LiveSession
from app.engine.runner import KEPT, Run
from tests.builders import Bench, Script, a_bench, a_log_store

ANN = Agent(id="ann", name="Ann", provider="remote0", model="model-0", tools=("open",))


async def _open(*_: object) -> ToolResult:
    return ToolResult(content="opened")


OPEN = Tool(key="open", description="Opens.", parameters={"type": "object"}, run=_open, asks=True)


def answer(request: ModelRequest) -> Script:
    asks = "please ask" in str(request.messages[-1]["content"])
    call = CallPiece(index=0, id="c", name="open", arguments="{}")
    return [call, Finished(reason="tool_calls")] if asks else ["It is calm."]


def opened(made: Bench) -> int:
    gc.collect()
    engines = made.engine
    return sum(isinstance(one, LiveSession) and one._bus is engines.bus for one in gc.get_objects())


@pytest.mark.allow_blocking
async def test_of_many_sessions_the_latest_stay_open(tmp_path: Path) -> None:
    made = a_bench(a_log_store(tmp_path / "data"), agents=(ANN,), tools=(OPEN,))
    made.models.otherwise = answer
    waiting = await made.engine.chats.start("ann", "please ask")
    await made.engine.wait(waiting)
    first = await made.engine.chats.start("ann", "And the sea?")
    await made.engine.wait(first)
    held = await made.engine.open(first)
    for number in range(2 * KEPT):
        await made.engine.wait(await made.engine.chats.start("ann", f"Number {number}"))
    assert opened(made) <= KEPT + 3
    runs = [one for one in gc.get_objects() if isinstance(one, Run) and one._live._bus is made.engine.bus]
    assert len(runs) <= 3
    # What waits for the user is still listed; what somebody shows is still the same object.
    assert [session_id for session_id, _ in made.engine.chats.needs_you()] == [waiting]
    assert await made.engine.open(first) is held
    await made.engine.chats.send(first, "And tomorrow?")
    await made.engine.wait(first)
    assert [one.content for one in held.messages][-1] == "It is calm."
    assert held.session.status == Status.IDLE
    await made.engine.shutdown()


@pytest.mark.allow_blocking
async def test_one_that_was_let_go_is_read_again_as_it_was(tmp_path: Path) -> None:
    made = a_bench(a_log_store(tmp_path / "data"), agents=(ANN,), tools=(OPEN,))
    made.models.otherwise = answer
    ids = []
    for number in range(KEPT + 5):
        ids.append(await made.engine.chats.start("ann", f"Number {number}"))
        await made.engine.wait(ids[-1])
    gc.collect()
    assert made.engine.live(ids[0]) is None
    live = await made.engine.open(ids[0])
    said: list[Message] = live.messages
    assert [one.content for one in said] == ["Number 0", "It is calm."]
    assert live.session.status == Status.IDLE
    await made.engine.chats.send(ids[0], "please ask")
    await made.engine.wait(ids[0])
    assert live.session.status == Status.WAITING
    await made.engine.shutdown()


@pytest.mark.allow_blocking
async def test_what_could_not_be_saved_is_not_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = a_log_store(tmp_path / "data")
    made = a_bench(store, agents=(ANN,), tools=(OPEN,))
    made.models.otherwise = answer
    unsaved = await made.engine.chats.start("ann", "Kept in memory only")
    await made.engine.wait(unsaved)
    flush = store.flush

    async def refused(session_id: str) -> None:
        if session_id == unsaved:
            raise StorageError("disk_full")
        await flush(session_id)

    monkeypatch.setattr(store, "flush", refused)
    await made.engine.chats.send(unsaved, "More")
    await made.engine.wait(unsaved)
    for number in range(KEPT + 5):
        await made.engine.wait(await made.engine.chats.start("ann", f"Number {number}"))
    gc.collect()
    assert made.engine.live(unsaved) is not None
    monkeypatch.undo()
    await made.engine.shutdown()
