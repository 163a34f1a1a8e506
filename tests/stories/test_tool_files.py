"""What a server's tool returns besides text: to the models that take pictures, to the window and to the disk."""

import base64
import sys
from functools import partial
from pathlib import Path

import pytest

from app.core.definitions import Agent
from app.core.message import Consent, Message, Role
from app.core.servers import McpServer
from app.core.session import ExportFormat
from app.wiring import Moot, open_moot
from tests import app_driver
from tests.app_driver import at_window
from tests.gui.test_transcript_feed import click
from tests.tools.serving import SERVERS, allow
from tests.wire import Answer, WireCall, WireServer
from tests.wire.fixtures import wire_home, wire_servers
from tests.wire.server import Recorded

__all__ = ["wire_home", "wire_servers"]

ENTRY = McpServer(name="files", command=sys.executable, args=(str(SERVERS / "files.py"),))
until = partial(app_driver.until, seconds=60.0)


def calls(tool: str, request: Recorded) -> Answer:
    called = any(message.role == "tool" for message in request.messages)
    return Answer("I see it.") if called else Answer(calls=(WireCall(f"files__{tool}"),))


async def prepare(moot: Moot, provider: str) -> None:
    await moot.engine.servers.save((ENTRY,))
    agent = Agent(id="a", name="A", provider=provider, model=f"{provider}-wire", mcp_servers=("files",))
    await moot.engine.assistants.save(agent)
    await allow(moot.engine, "files")


async def ask(moot: Moot) -> list[Message]:
    session_id = await moot.engine.chats.start("a", "Go.")
    await moot.engine.wait(session_id)
    [(_, asked)] = moot.engine.chats.needs_you()
    await moot.engine.chats.answer(session_id, asked.id, Consent.ALLOW)
    await moot.engine.wait(session_id)
    return (await moot.engine.open(session_id)).shown()


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini"])
async def test_models_that_take_pictures_see_what_a_tool_returned(
    data_dir: Path, wire_home: dict[str, WireServer], provider: str
) -> None:
    server = wire_home[provider]
    server.script(f"{provider}-wire", partial(calls, "draw"))
    moot = await open_moot(data_dir)
    try:
        await prepare(moot, provider)
        messages = await ask(moot)
        assert messages[-1].content == "I see it.", messages[-1]
        sent = server.requests[-1]
        assert [image for one in sent.messages for image in one.images] == ["image/png"], sent.body
        [result] = [one for one in messages if one.role == Role.TOOL]
        assert result.content.startswith("A red field\n[image-1.png, image/png")
        assert {one.status for one in server.requests} == {200}
    finally:
        await moot.close()


async def test_what_a_tool_returned_is_shown_and_saved(
    qapp: object, data_dir: Path, wire_home: dict[str, WireServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = wire_home["openai"]
    server.script("openai-wire", partial(calls, "everything"))
    async with at_window(data_dir) as person:
        moot = person.window.controller
        await moot.engine.servers.save((ENTRY,))
        agent = Agent(id="a", name="A", provider="openai", model="openai-wire", mcp_servers=("files",))
        await moot.engine.assistants.save(agent)
        await allow(moot.engine, "files")
        session_id = await moot.engine.chats.start("a", "Go.")
        await moot.engine.wait(session_id)
        [(_, asked)] = moot.engine.chats.needs_you()
        await moot.engine.chats.answer(session_id, asked.id, Consent.ALLOW)
        await moot.engine.wait(session_id)
        moot.show_session(session_id)
        page = moot.chat_page
        await until(lambda: page.session_id == session_id and page.transcript.message_ids)
        view = page.transcript
        [card] = [one for one in view.message_ids if "/" in one]
        row = view.canvas.row(view.model.index(card))
        said = view.describe(card)
        for part in (
            "Image image-1.png, 60 × 40 pixels",
            "audio-2.wav",
            "day one.txt",
            "a.bin",
            "report Link",
        ):
            assert part in said, said
        assert [action for action, _ in row.action_rects[1:]] == [
            "view_picture/0", "save_file/1", "save_file/2", "save_file/3", "open_link/0"
        ]  # fmt: skip
        saved = data_dir / "kept"
        monkeypatch.setattr(
            "app.gui.controllers.sessions.ask_where", lambda over, title, name, then, suffix: then(saved)
        )
        for action, content in (("save_file/1", b"RIFF....WAVE"), ("save_file/2", b"It rained.")):
            saved.unlink(missing_ok=True)
            click(view, card, action)
            await until(lambda content=content: saved.is_file() and saved.read_bytes() == content)
        # The second one does not wait for the first, nor is it dropped.
        places = [data_dir / "one", data_dir / "two"]
        left = iter(places)
        monkeypatch.setattr(
            "app.gui.controllers.sessions.ask_where",
            lambda over, title, name, then, suffix: then(next(left)),
        )
        click(view, card, "save_file/1")
        click(view, card, "save_file/2")
        await until(lambda: all(one.is_file() for one in places), what="both files")
        assert [one.read_bytes() for one in places] == [b"RIFF....WAVE", b"It rained."]
        click(view, card, "view_picture/0")
        await until(lambda: person.sees("picture_viewer"), what="the viewer")
        result = view.model.book.messages[row.source_id]
        lines = result.content.splitlines()
        assert lines[2:] == [
            "It rained.",
            "[a.bin, application/x-data, 3 bytes: shown to the user]",
            "[report](https://example.org/r): All",
            "[image-5.png, image/png, 3 bytes: broken, not shown]",
            '{"rain": true}',
        ]
        assert b"Ada" not in base64.b64decode(result.attachments[0].data)
        exported = await moot.engine.export(session_id, ExportFormat.HTML)
        assert result.attachments[0].data in exported and "It rained." in exported
