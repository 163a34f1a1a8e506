"""SIGKILL while a chat is being summarised: resumed, the model is sent the same, and nothing is asked for twice."""

import shutil
from pathlib import Path

import pytest

from app.core.definitions import Agent
from app.core.message import Role
from app.core.session import Status
from app.core.settings import Settings
from app.wiring import open_moot
from tests.stories.processes import Running, moot
from tests.stories.test_long_chat import ASKS, FACT, LONG
from tests.wire import Answer, WireServer
from tests.wire.fixtures import wire_home, wire_servers
from tests.wire.replies import Reply
from tests.wire.server import Recorded

__all__ = ["wire_home", "wire_servers"]

FOREVER = 60.0


def _asks(request: Recorded) -> bool:
    return ASKS in request.messages[-1].text


async def _chat(server: WireServer, data_dir: Path) -> str:
    """Return the id of a chat whose next request is too long."""
    server.script(server.model, lambda _request: Answer("Boats float. " * 700))
    moot = await open_moot(data_dir)
    try:
        await moot.documents.change_settings(lambda _: Settings(history="thrifty", titles=False))
        await moot.engine.assistants.save(
            Agent(id="ada", name="Ada", provider=server.kind, model=server.model)
        )
        session_id = await moot.engine.chats.start("ada", f"{FACT} {LONG * 300}")
        for number in (1, 2, 3):
            assert (await moot.engine.wait(session_id)).status == Status.IDLE
            await moot.engine.chats.send(session_id, f"Question {number}. {LONG * 120}")
        assert (await moot.engine.wait(session_id)).status == Status.IDLE
        assert not any(one.role == Role.SUMMARY for one in (await moot.engine.open(session_id)).messages)
    finally:
        await moot.close()
    return session_id


def _reply(request: Recorded, *, held: str = "") -> Reply:
    """Answer; what is `held`, the summary or the answer, never comes."""
    if _asks(request):
        return Answer("The boat is called Marigold.", delay=FOREVER if held == "summary" else 0)
    return Answer("It is Marigold.", delay=FOREVER if held == "answer" else 0)


@pytest.mark.slow
@pytest.mark.allow_blocking
@pytest.mark.parametrize("held", ["summary", "answer"])
async def test_killed_while_it_is_summarised_a_chat_goes_on_as_if_nothing_had_been(
    held: str, wire_home: dict[str, WireServer], data_dir: Path
) -> None:
    server = wire_home["openai"]
    session_id = await _chat(server, data_dir)
    undisturbed = data_dir.with_name("undisturbed")
    shutil.copytree(data_dir, undisturbed)
    server.reset()
    server.script(server.model, _reply)
    question = f"What is my boat called? {LONG * 250}"
    assert moot("--data-dir", str(undisturbed), "reply", session_id, question).status == 0
    asked, answered = server.requests
    assert _asks(asked) and not _asks(answered)

    server.reset()
    server.script(server.model, lambda request: _reply(request, held=held))
    calls = 1 if held == "summary" else 2
    with Running("reply", session_id, question, "--json") as running:
        assert server.wait_for(lambda: len(server.requests) == calls, 30)
        running.kill()
    assert [_asks(one) for one in server.requests] == [True, False][:calls]

    server.reset()
    server.script(server.model, _reply)
    assert moot("resume", session_id).status == 0
    again = server.requests
    assert [_asks(one) for one in again] == ([True, False] if held == "summary" else [False])
    assert [(one.role, one.text) for one in again[-1].messages] == [
        (one.role, one.text) for one in answered.messages
    ]
    shown = moot("show", session_id, "--json")
    said = shown.json["messages"]
    assert [one["role"] for one in said].count("summary") == 1
    assert said[-1]["content"] == "It is Marigold." and not any(one.get("error") for one in said)
