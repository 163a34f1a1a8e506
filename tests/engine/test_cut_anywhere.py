"""A tree of turns that is cut after each of its batches: every start from there comes to the same end."""

import asyncio
from collections.abc import Mapping

from app.core.message import MessageState, Role
from app.core.provider import ModelRequest
from app.core.session import Status
from app.core.tool import Tool, ToolContext, ToolResult
from tests.builders import Bench, Script, a_bench
from tests.engine.test_sub_agents import crew, tree_of_four, who
from tests.engine.test_turn import _asker, a_tool, calling
from tests.memory import MemoryStore


def _answer(request: ModelRequest) -> Script:
    """Act as the crew does; the second sub-agent sends a letter, which must not be sent twice."""
    heard = [one for one in request.messages if one["role"] == "tool"]
    if who(request) == "b" and not heard:
        return calling(("send", {"to": "the mayor"}))
    return tree_of_four(request)


def _bench(store: MemoryStore, sent: list[int]) -> Bench:
    async def send(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        sent.append(1)
        await asyncio.sleep(0)
        return ToolResult(content="sent")

    tools: tuple[Tool, ...] = (_asker(), a_tool("send", send, repeatable=False))
    agents = tuple(one if one.id != "b" else type(one)(id="b", name="B", tools=("send",)) for one in crew())
    made = a_bench(store, agents=agents, tools=tools)
    made.models.otherwise = _answer
    return made


async def _to_the_end(made: Bench, session_id: str) -> None:
    """Answer whatever is asked until the user's turn; what may have run is not run again."""
    for _ in range(10):
        session = await made.engine.wait(session_id)
        if session.status == Status.IDLE:
            return
        if session.status == Status.PAUSED:
            await made.engine.resume(session_id)
        for _, question in made.engine.chats.needs_you() if session.status == Status.WAITING else ():
            assert question.prompt is not None
            answer = "deny" if question.prompt.reason == "may_have_run" else "Blue"
            await made.engine.chats.answer(session_id, question.id, answer)
    raise AssertionError("it never came to an end")


async def test_every_cut_leads_to_the_same_end() -> None:
    store, sent = MemoryStore(), list[int]()
    made = _bench(store, sent)
    session_id = await made.engine.chats.start("main", "Find out.")
    await _to_the_end(made, session_id)
    assert sent == [1]
    whole = list(store.batches)
    assert len(whole) > 30
    for cut in range(2, len(whole) + 1):
        rest, again = MemoryStore(), list[int]()
        rest.batches = whole[:cut]
        resumed = _bench(rest, again)
        live = await resumed.engine.open(session_id)
        was_sent = any(
            one.role == Role.TOOL and one.state not in (MessageState.DONE, MessageState.FAILED)
            for one in live.messages
        )
        await resumed.engine.resume(session_id)
        await _to_the_end(resumed, session_id)
        messages = live.messages
        ended = {
            one.author.id
            for one in messages
            if one.role == Role.ASSISTANT and one.content.endswith("is done.")
        }
        assert ended == {"main", "a", "b", "c"}, cut
        assert len({one.id for one in messages}) == len(messages), cut
        results = [one.tool_call_id for one in messages if one.role == Role.TOOL and one.ended]
        calls = [call.id for one in messages for call in one.tool_calls]
        assert len(results) == len(calls), cut
        assert not (was_sent and again), f"the letter may have been sent twice after cut {cut}"
