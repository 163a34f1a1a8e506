"""An assistant that uses an MCP server: allowed by the user, asked about, questioned, killed and started anew.

The real thing from end to end: a strict wire server as the model, the hosts, and a server made with the kit.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.core.definitions import Agent
from app.core.errors import BadInput
from app.core.message import Message, PromptType, Role
from app.core.tool import ServerState
from app.tools.toolbox import tool_key
from app.wiring import Moot, open_moot
from tests.tools.serving import allow, proper
from tests.wire import Answer, WireCall, WireServer
from tests.wire.fixtures import wire_home, wire_servers
from tests.wire.server import Recorded

__all__ = ["wire_home", "wire_servers"]


@pytest.fixture
async def app(wire_home: dict[str, WireServer], data_dir: Path) -> AsyncIterator[Moot]:
    def answer(request: Recorded) -> Answer:
        results = [message.text for message in request.messages if message.role == "tool"]
        if results:
            return Answer(f"It said: {results[-1]}")
        return Answer(calls=(WireCall("proper__greet"),))

    wire_home["openai"].script("openai-wire", answer)
    moot = await open_moot(data_dir)
    yield moot
    await moot.close()


async def question(moot: Moot) -> tuple[str, Message]:
    async with asyncio.timeout(30):
        while not (waiting := moot.engine.chats.needs_you()):
            await asyncio.sleep(0.02)
    return waiting[0]


async def test_a_server_is_allowed_used_asked_about_and_survives_the_death_of_its_host(
    app: Moot, wire_home: dict[str, WireServer]
) -> None:
    engine = app.engine
    await engine.servers.save((proper(),))
    agent = Agent(
        id="greeter", name="Greeter", provider="openai", model="openai-wire", mcp_servers=("proper",)
    )
    await engine.assistants.save(agent)
    await engine.servers.attach(["proper"])
    assert engine.servers.all()[0].state == ServerState.ASKING
    await allow(engine, "proper")
    assert engine.servers.all()[0].state == ServerState.CONNECTED

    session_id = await engine.chats.start("greeter", "Greet me.")
    for _ in range(2):
        _, approval = await question(app)
        assert approval.prompt is not None
        assert (approval.prompt.type, approval.prompt.tool) == (PromptType.APPROVAL, "proper__greet")
        await engine.chats.answer(session_id, approval.id, "allow")
        _, asked = await question(app)
        assert asked.prompt is not None and asked.prompt.type == PromptType.FORM
        assert [(one.key, one.kind, one.required) for one in asked.prompt.fields] == [
            ("name", "text", True), ("old", "yesno", False)
        ]  # fmt: skip
        with pytest.raises(BadInput, match="form_unfit"):
            await engine.chats.answer(session_id, asked.id, '{"old": "yes"}')
        await engine.chats.answer(session_id, asked.id, '{"name": "Ada", "old": "yes"}')
        await engine.wait(session_id)
        messages = (await engine.open(session_id)).shown()
        [*_, result] = [one for one in messages if one.role == Role.TOOL]
        assert (result.content, result.state) == ("Hello Ada, True", "done")
        assert messages[-1].content == "It said: Hello Ada, True"

        host = app.tools._host.host_pid
        assert host is not None
        os.kill(host, signal.SIGKILL)
        # Another version of the answer: the server is started anew, on its next use.
        await engine.chats.retry(session_id, messages[-1].id)
    await question(app)
    await engine.stop(session_id)
    assert {one.status for one in wire_home["openai"].requests} == {200}


@pytest.mark.slow
async def test_permissions_last_as_long_and_cover_as_much_as_was_said(
    data_dir: Path, wire_home: dict[str, WireServer]
) -> None:
    calls = (
        WireCall("proper__fail"),
        WireCall("proper__add", '{"a": 1, "b": 2}'),
        WireCall("proper__environment"),
    )

    def answer(request: Recorded) -> Answer:
        return Answer("Done.") if request.messages[-1].role == "tool" else Answer(calls=calls)

    async def asked_for(moot: Moot, session_id: str) -> dict[str, str]:
        """Wait until the session stands still; return the open approvals by tool."""
        await moot.engine.wait(session_id)
        return {one.prompt.tool: one.id for _, one in moot.engine.chats.needs_you() if one.prompt is not None}

    wire_home["openai"].script("openai-wire", answer)
    moot = await open_moot(data_dir)
    chats = moot.engine.chats
    await moot.engine.servers.save((proper(),))
    agent = Agent(id="a", name="A", provider="openai", model="openai-wire", mcp_servers=("proper",))
    await moot.engine.assistants.save(agent)
    await allow(moot.engine, "proper")
    session_id = await chats.start("a", "Go.")
    asked = await asked_for(moot, session_id)
    assert set(asked) == {"proper__fail", "proper__add", "proper__environment"}
    await chats.answer(session_id, asked["proper__fail"], "forever-reading")
    with pytest.raises(BadInput):
        await chats.answer(session_id, asked["proper__add"], "forever-reading")
    await chats.answer_calls(session_id, [asked["proper__add"], asked["proper__environment"]], "deny")
    assert await asked_for(moot, session_id) == {}
    await chats.send(session_id, "Again.")
    asked = await asked_for(moot, session_id)
    assert set(asked) == {"proper__add", "proper__environment"}
    await chats.answer(session_id, asked["proper__add"], "always-server")
    assert await asked_for(moot, session_id) == {}, "the other call is covered as well"
    await chats.send(session_id, "And again.")
    assert await asked_for(moot, session_id) == {}
    await moot.close()

    moot = await open_moot(data_dir)
    await moot.engine.chats.send(session_id, "After a restart.")
    assert await asked_for(moot, session_id) == {}
    other = await moot.engine.chats.start("a", "Another session.")
    assert set(await asked_for(moot, other)) == {"proper__add", "proper__environment"}
    await moot.engine.stop(other)
    lasting, here = moot.engine.permissions.all()
    assert (lasting.server, lasting.session_id, here.server, here.session_id) == (
        "proper", "", "proper", session_id
    )  # fmt: skip
    assert "proper__fail" in lasting.tools and "proper__add" not in lasting.tools
    assert {"proper__add", "proper__environment"} <= set(here.tools) and here.count == len(here.tools)
    before = moot.engine.sessions()
    await moot.engine.permissions.revoke(here)
    assert [one.id for one in moot.engine.sessions()] == [one.id for one in before]
    assert moot.engine.permissions.all() == (lasting,)
    await moot.close()

    moot = await open_moot(data_dir)
    [lasting] = moot.engine.permissions.all()
    assert (lasting.tools, lasting.count > 0) == ((), True), "the server has not been connected yet"
    await moot.engine.chats.send(session_id, "Once more.")
    assert set(await asked_for(moot, session_id)) == {"proper__add", "proper__environment"}
    await moot.engine.stop(session_id)
    await moot.engine.permissions.revoke(lasting)
    assert moot.engine.permissions.all() == ()
    third = await moot.engine.chats.start("a", "A third one.")
    assert set(await asked_for(moot, third)) == {"proper__fail", "proper__add", "proper__environment"}
    await moot.close()


async def test_an_approval_has_the_servers_own_names_and_a_refusal_its_reason(
    data_dir: Path, wire_home: dict[str, WireServer]
) -> None:
    name = "Hanok desk 서점"
    told: list[str] = []

    def answer(request: Recorded) -> Answer:
        results = [message.text for message in request.messages if message.role == "tool"]
        told.extend(results)
        return (
            Answer("Done.")
            if results
            else Answer(calls=(WireCall(tool_key(name, "add"), '{"a": 1, "b": 2}'),))
        )

    wire_home["openai"].script("openai-wire", answer)
    moot = await open_moot(data_dir)
    await moot.engine.servers.save((proper(name),))
    agent = Agent(id="a", name="A", provider="openai", model="openai-wire", mcp_servers=(name,))
    await moot.engine.assistants.save(agent)
    await allow(moot.engine, name)
    session_id = await moot.engine.chats.start("a", "Go.")
    _, asked = await question(moot)
    prompt = asked.prompt
    assert prompt is not None
    assert (prompt.name, prompt.server, prompt.about) == ("add", name, "Add two numbers.")
    assert prompt.called == f"add ({name})" and prompt.tool == tool_key(name, "add")
    await moot.engine.chats.answer(session_id, asked.id, "deny-Not on a Monday.")
    await moot.engine.wait(session_id)
    assert told == [
        "The user did not allow this call, and says why: Not on a Monday.\nDo not try it again as it is."
    ]
    said = [one.content for one in (await moot.engine.open(session_id)).messages if one.answers == asked.id]
    assert said == ["deny: Not on a Monday."]
    document = await moot.engine.export(session_id, "md")
    assert f"add ({name})" in document and "Not on a Monday." in document
    await moot.close()
