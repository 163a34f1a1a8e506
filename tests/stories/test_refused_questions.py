"""A server that asks too much while its tool runs: the session is told once for each call that some was not shown."""

import asyncio
from pathlib import Path

import pytest

from app.core.definitions import Agent
from app.core.events import Event, Notice
from app.core.message import Consent, PromptType, Role
from app.core.session import Status
from app.wiring import open_moot
from tests.repeats import slow_after
from tests.split_hosts import loaded_tool_host, own_host, split_tool_hosts  # noqa: F401
from tests.tools.serving import allow, rude
from tests.wire import Answer, WireCall, WireServer
from tests.wire.fixtures import wire_home, wire_servers
from tests.wire.server import Recorded

__all__ = ["wire_home", "wire_servers"]


def twice(request: Recorded) -> Answer:
    called = sum(message.role == "tool" for message in request.messages)
    return Answer("Done.") if called == 2 else Answer(calls=(WireCall("asks_much__add"),))


@pytest.mark.threat("T12")
@pytest.mark.parametrize(("how", "refused"), slow_after(1, [("at once", 12), ("in turn", 8)]))
async def test_a_session_is_told_once_for_each_call_that_questions_were_refused(
    data_dir: Path, wire_home: dict[str, WireServer], how: str, refused: int
) -> None:
    wire_home["openai"].script("openai-wire", twice)
    moot = await open_moot(data_dir)
    notices: list[Notice] = []

    def listen(events: tuple[Event, ...]) -> None:
        notices.extend(event for event in events if isinstance(event, Notice))

    moot.engine.bus.subscribe(listen)
    engine = moot.engine
    try:
        await engine.servers.save((rude("asks_much", how),))
        await allow(engine, "asks_much")
        agent = Agent(
            id="ann", name="Ann", provider="openai", model="openai-wire", mcp_servers=("asks_much",)
        )
        await engine.assistants.save(agent)
        session_id = await engine.chats.start("ann", "Add them.")
        live = await engine.open(session_id)
        async with asyncio.timeout(60):
            while live.session.status != Status.IDLE:
                waiting = [one for _, one in engine.chats.needs_you() if one.prompt]
                for question in waiting[:1]:
                    assert question.prompt is not None
                    if question.prompt.type == PromptType.APPROVAL:
                        await engine.chats.answer(session_id, question.id, Consent.ALLOW)
                    elif how == "in turn":
                        await engine.chats.answer(session_id, question.id, "yes")
                await asyncio.sleep(0.01)
        results = [one.content for one in live.messages if one.role == Role.TOOL and one.prompt is None]
        assert results == [f"{refused} refused"] * 2
        told = [(one.session_id, one.code, dict(one.details)) for one in notices]
        assert told == [(session_id, "questions_refused", {"name": "add (asks_much)"})] * 2
    finally:
        await moot.close()
