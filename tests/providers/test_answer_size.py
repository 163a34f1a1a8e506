"""Answers without an end: they stop at the documented size, the connection is closed, the host stays small."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from app.providers.remote import RemoteModels
from tests.providers.asking import Heard, ask, request_to
from tests.providers.conftest import LIMITS, Book
from tests.providers.tool_chats import TOOLS
from tests.wire import Answer, WireCall, WireServer
from tests.wire.fixtures import FOUR
from tests.wire.server import Recorded

pytestmark = pytest.mark.asyncio(loop_scope="module")

KINDS = (*FOUR, "openai-compatible")
MOST = LIMITS.answer_bytes
# Several times what the sockets between the two take.
MUCH = 24_000_000
PIECE = 100_000


async def ask_each(
    models: RemoteModels, servers: dict[str, WireServer], kinds: tuple[str, ...]
) -> list[Heard]:
    """Ask one after the other, as each has much to say; see that each connection is closed."""
    heard = []
    for kind in kinds:
        server = servers[kind]
        heard.append(await ask(models, request_to(server)))
        request = server.requests[-1]
        assert await asyncio.to_thread(server.wait_for, partial(was_closed, request)), kind
        assert request.done_at is None
    return heard


def was_closed(request: Recorded) -> bool:
    """Say whether the host has closed the connection of a request."""
    return request.closed_at is not None


async def test_a_text_stops_at_its_limit(models: RemoteModels, servers: dict[str, WireServer]) -> None:
    for kind in KINDS:
        servers[kind].script(servers[kind].model, [Answer("x" * MUCH, pieces=PIECE)])
    for heard in await ask_each(models, servers, KINDS):
        assert heard.outcome == "length" and heard.text == "x" * MOST
        # The provider's count does not come any more: whoever asked makes an estimate.
        assert heard.finished and heard.finished.usage.estimated and not heard.finished.usage.output_tokens


async def test_thinking_stops_at_its_limit(models: RemoteModels, servers: dict[str, WireServer]) -> None:
    kinds = ("openai-compatible", "anthropic", "gemini")
    for kind in kinds:
        servers[kind].script(
            servers[kind].model, [Answer("x" * MUCH, thinking="y" * (MOST + 1), pieces=PIECE)]
        )
    for heard in await ask_each(models, servers, kinds):
        assert heard.outcome == "length" and heard.thinking == "y" * MOST and heard.text == ""


async def test_what_is_given_to_tools_stops_at_its_limit(
    models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    server = servers["openai"]
    call = WireCall("search", '{"query": "' + "x" * 900_000 + '"}')
    server.script(server.model, [Answer(calls=(call,) * 8, odd="whole")])
    heard = await ask(models, request_to(server, tools=TOOLS))
    assert heard.outcome == "length"
    assert len(heard.calls) == 3


@pytest.mark.parametrize("text", ["가나다" * 400, "a" + "😀" * 400, "plain " * 300])
async def test_no_character_is_cut_in_half(text: str, server: WireServer) -> None:
    models = Book({"openai": server}).models(limits=replace(LIMITS, answer_bytes=1_000))
    server.script(server.model, [Answer(text, pieces=50)])
    try:
        heard = await ask(models, request_to(server))
    finally:
        await models.close()
    assert heard.outcome == "length" and text.startswith(heard.text)
    assert 996 < len(heard.text.encode()) <= 1_000


@pytest.mark.parametrize("usage", [True, False])
async def test_pieces_are_not_kept(usage: bool, models: RemoteModels, servers: dict[str, WireServer]) -> None:
    """LiteLLM keeps some kilobytes for each, to count their tokens where the provider does not."""
    server = servers["openai"]
    server.script(server.model, [Answer("ab " * 1_100, pieces=3, usage=usage, output_tokens=1_100)])
    heard = await ask(models, request_to(server))
    assert heard.outcome == "stop" and len(heard.text) == 3_300 and heard.finished
    assert heard.finished.usage.estimated != usage
    assert heard.finished.usage.output_tokens == (1_100 if usage else 0)


@pytest.mark.parametrize("kind", ["openai", "anthropic", "gemini"])
async def test_an_event_without_an_end_does_not_fill_the_memory(
    kind: str, models: RemoteModels, book: Book
) -> None:
    before = peak_memory(models)
    async with endless(b"text/event-stream", b"data: ") as address:
        book.add(f"endless-{kind}", kind, address, "sk-canary-0123456789", ("m",))
        heard = await ask(
            models, replace(request_to(WireServer(kind)), provider=f"endless-{kind}", model="m")
        )
    # With OpenAI's library the reading takes so long that the time limit may come first.
    assert heard.outcome in ("bad_response", "no_answer")
    async with endless(b"application/json", b'{"data": [') as address:
        book.add(f"endless-{kind}", kind, address, "sk-canary-0123456789", ("m",))
        listed = await models.list_models(f"endless-{kind}")
    assert listed.failure == "bad_response" and "8 MB" in listed.detail
    assert peak_memory(models) - before < 100_000


@asynccontextmanager
async def endless(kind: bytes, start: bytes) -> AsyncIterator[str]:
    """Serve an answer that begins like this and never ends."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: " + kind + b"\r\nconnection: close\r\n\r\n" + start)
        try:
            while True:
                writer.write(b"\\u0041" * 50_000)
                await writer.drain()
        except ConnectionError:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def peak_memory(models: RemoteModels) -> int:
    """Return the most memory the host has used so far, in kB."""
    status = Path(f"/proc/{models.host_pid}/status").read_text(encoding="utf-8")
    return int(status.split("VmHWM:")[1].split()[0])
