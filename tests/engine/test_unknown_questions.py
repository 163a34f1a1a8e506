"""A log of another version asks for a reason that this one does not know: the question has ended, the turn goes on."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.events import MessageFinished, MessageStarted, SessionStarted
from app.core.ids import new_id
from app.core.message import Author, Message, MessageState, Prompt, PromptType, Role, ToolCall
from app.core.session import Chat, ChatSession, Status
from app.core.tool import ToolContext, ToolResult
from tests.builders import USER_AUTHOR, a_log_store
from tests.engine.test_turn import ANSWER, a_tool, bench, results, status

CALL = ToolCall(id="c1", name="mill__think", arguments="{}")
OPEN = Prompt(
    question=CALL.name,
    type=PromptType.APPROVAL,
    tool=CALL.name,
    arguments='{"messages": [{"role": "user", "text": "How much flour?"}]}',
    server="mill",
)


async def killed_while_asking(folder: Path, reason: str) -> tuple[str, str]:
    """Write the log of a chat whose tool asked something when Moot was killed; return the session and the question."""
    chat = ChatSession(
        id=new_id(),
        title="t",
        status=Status.RUNNING,
        chat=Chat(assistant_id="main", assistant_name="Main", head="a"),
    )
    asked = Message(id=new_id(), turn_id="u", role=Role.USER, author=USER_AUTHOR, content="Go.", follows="")
    author = Author(id="main", name="Main", path=("main",))
    called = Message(
        id=new_id(), turn_id="a", role=Role.ASSISTANT, author=author, follows="u", tool_calls=(CALL,)
    )
    running = replace(
        called,
        id=new_id(),
        role=Role.TOOL,
        tool_calls=(),
        tool_call_id=CALL.id,
        state=MessageState.STREAMING,
    )
    question = replace(
        running,
        id=new_id(),
        role=Role.SYSTEM,
        state=MessageState.DONE,
        prompt=replace(OPEN, reason=reason),
    )
    store = a_log_store(folder)
    store.append((SessionStarted(session_id=chat.id, session=chat),))
    for one in (asked, called):
        store.append((MessageFinished(session_id=chat.id, message=one),))
    store.append((MessageStarted(session_id=chat.id, message=running),))
    store.append((MessageFinished(session_id=chat.id, message=question),))
    await store.close()
    return chat.id, question.id


@pytest.mark.parametrize("reason", ["sampling", "of a later version"])
async def test_a_question_for_an_unknown_reason_has_ended_and_its_turn_goes_on(
    tmp_path: Path, reason: str
) -> None:
    async def think(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        return ToolResult(content="Four sacks")

    session_id, old = await killed_while_asking(tmp_path, reason)
    made = bench(tmp_path, [[ANSWER]], a_tool(CALL.name, think, repeatable=False))
    live = await made.engine.open(session_id)
    assert (live.session.status, made.engine.chats.needs_you()) == (Status.PAUSED, [])
    assert not live.turns.messages[old].asks
    await made.engine.resume(session_id)
    await made.engine.wait(session_id)
    [(_, again)] = made.engine.chats.needs_you()
    assert again.prompt is not None and again.prompt.reason == "may_have_run"
    await made.engine.chats.answer(session_id, again.id, "allow")
    await made.engine.wait(session_id)
    assert results(made, session_id)[-1] == (MessageState.DONE, "Four sacks")
    assert status(made, session_id) == Status.IDLE
