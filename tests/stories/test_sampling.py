"""What an MCP server asks the model while its tool runs: after the user's yes, within the limit, and counted."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from app.core.agent import Agent
from app.core.message import Consent, PromptReason, Role
from app.core.tool import McpServer
from app.engine.chat.branches import shown
from app.wiring import open_moot
from tests.tools.serving import SERVERS, allow
from tests.wire import Answer, WireCall, WireServer
from tests.wire.fixtures import wire_home, wire_servers
from tests.wire.server import Recorded

__all__ = ["wire_home", "wire_servers"]

ENTRY = McpServer(name="mill", command=sys.executable, args=(str(SERVERS / "working.py"),), sampling=True)


def answer(request: Recorded) -> Answer:
    if request.messages[-1].text == "How much flour?":
        return Answer("Four sacks.")
    called = any(message.role == "tool" for message in request.messages)
    return Answer("Done.") if called else Answer(calls=(WireCall("mill__think"),))


@pytest.mark.threat("T12")
@pytest.mark.parametrize("said", [Consent.ALLOW, Consent.DENY])
async def test_the_model_is_asked_after_the_users_yes_alone(
    data_dir: Path, wire_home: dict[str, WireServer], said: Consent
) -> None:
    server = wire_home["openai"]
    server.script("openai-wire", answer)
    moot = await open_moot(data_dir)
    chats = moot.engine.chats
    try:
        await moot.engine.servers.save((ENTRY,))
        agent = Agent(id="a", name="A", provider="openai", model="openai-wire", mcp_servers=("mill",))
        await moot.engine.assistants.save(agent)
        await allow(moot.engine, "mill")
        session_id = await chats.start("a", "Go.")
        await moot.engine.wait(session_id)
        [(_, approval)] = chats.needs_you()
        await chats.answer(session_id, approval.id, Consent.ALLOW)
        # The tool runs while the question is open.
        async with asyncio.timeout(30):
            while not (waiting := chats.needs_you()):
                await asyncio.sleep(0.02)
        [(_, asked)] = waiting
        assert asked.prompt is not None
        assert (asked.prompt.reason, asked.prompt.server) == (PromptReason.SAMPLING, "mill")
        assert json.loads(asked.prompt.arguments) == {
            "system": "Be brief.", "messages": [{"role": "user", "text": "How much flour?"}]
        }  # fmt: skip
        assert len(server.requests) == 1, "nothing is asked before"
        with pytest.raises(Exception, match="answer_unfit"):
            await chats.answer(session_id, asked.id, Consent.FOREVER)
        await chats.answer(session_id, asked.id, said)
        await moot.engine.wait(session_id)
        messages = shown(await moot.engine.open(session_id))
        [result] = [one for one in messages if one.role == Role.TOOL]
        told = json.loads(result.content)
        if said == Consent.ALLOW:
            assert told["result"]["content"]["text"] == "Four sacks."
            sampled = server.requests[1]
            assert (sampled.system, sampled.tools) == ("Be brief.", [])
            assert sampled.body.get("max_tokens", sampled.body.get("max_completion_tokens")) == 50
        else:
            assert "The model was not asked." in told["error"]["message"]
            assert len(server.requests) == 2
    finally:
        await moot.close()
