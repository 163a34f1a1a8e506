"""What was said at the beginning of a long chat reaches every provider: as it was said, or in a summary."""

from functools import partial
from pathlib import Path

import pytest

from app.core.definitions import Agent
from app.core.message import Role
from app.core.session import Status
from app.core.settings import Settings
from app.wiring import open_moot
from tests.repeats import slow_after
from tests.wire import Answer, WireServer
from tests.wire.fixtures import FOUR, wire_home, wire_servers
from tests.wire.replies import Reply
from tests.wire.server import Recorded

__all__ = ["wire_home", "wire_servers"]

FACT = "My boat is called Marigold."
LONG = "Tell me more about boats, harbours, tides and the weather along the coast. "
ASKS = "Write notes that will stand in place of its beginning"


def _reply(turns: int, request: Recorded) -> Reply:
    if ASKS not in request.messages[-1].text:
        return Answer("Boats float. " * (3_600 // turns))
    seen = "\n".join(one.text for one in request.messages)
    return Answer("The boat is called Marigold." if "Marigold" in seen else "Nothing is known.")


@pytest.mark.slow
@pytest.mark.allow_blocking
@pytest.mark.parametrize(
    ("turns", "history", "kind"),
    # In the short run one of each: asked for a summary, none, and a window too small to do without.
    slow_after(
        3,
        [
            (12, "thrifty", "anthropic"),
            (12, "all", "openai"),
            (12, "all", "ollama"),
            *((12, "thrifty", kind) for kind in FOUR if kind != "anthropic"),
            *((12, "all", kind) for kind in FOUR if kind not in {"openai", "ollama"}),
            *((60, history, kind) for history in ("thrifty", "all") for kind in FOUR),
        ],
    ),
)
async def test_a_fact_of_the_first_message_is_in_the_last_request(
    turns: int, history: str, kind: str, wire_home: dict[str, WireServer], data_dir: Path
) -> None:
    server = wire_home[kind]
    server.script(server.model, partial(_reply, turns))
    # As long in all, however many messages it has.
    long = LONG * (1_200 // turns)
    moot = await open_moot(data_dir)
    try:
        engine = moot.engine
        await moot.documents.change_settings(lambda _: Settings(history=history, titles=False))
        await engine.assistants.save(Agent(id="ada", name="Ada", provider=kind, model=server.model))
        session_id = await engine.chats.start("ada", f"{FACT} {long}")
        for number in range(1, turns):
            assert (await engine.wait(session_id)).status == Status.IDLE
            await engine.chats.send(session_id, f"Question {number}. {long}")
        assert (await engine.wait(session_id)).status == Status.IDLE
        live = await engine.open(session_id)
        assert not [one.error for one in live.messages if one.error]
        summaries = [one for one in live.messages if one.role == Role.SUMMARY]
        calls = [one for one in server.requests if ASKS not in one.messages[-1].text]
        assert len(calls) == turns
        assert not [one.refused for one in server.requests if one.refused]
        assert all("Marigold" in "".join(said.text for said in one.messages) for one in calls)
        # Ollama's window is small whatever is wanted.
        assert bool(summaries) == (history == "thrifty" or kind == "ollama")
        if not summaries:
            assert len(calls[-1].messages) == 2 * turns - 1
    finally:
        await moot.close()
