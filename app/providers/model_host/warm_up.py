"""One request to a made-up server inside the host: LiteLLM's first call costs near a second."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

# It is about loading code; a machine so busy that this is not enough must not wait for it as well.
_SECONDS = 15.0

_CHUNK = (
    'data: {"id":"0","object":"chat.completion.chunk","created":0,"model":"warm","choices":'
    '[{"index":0,"delta":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}\n\n'
)
_ANSWER = (
    f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{_CHUNK}data: [DONE]\n\n"
)


async def warm_up(acompletion: Callable[..., Awaitable[Any]]) -> None:
    """Stream one answer from a loopback server, so that the user's first turn does not wait."""
    with contextlib.suppress(Exception):
        server = await asyncio.start_server(_answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server, asyncio.timeout(_SECONDS):
            stream = await acompletion(
                model="openai/warm",
                messages=[{"role": "user", "content": "ok"}],
                api_base=f"http://127.0.0.1:{port}/v1",
                api_key="no-key",
                stream=True,
                stream_options={"include_usage": True},
                max_retries=0,
                num_retries=0,
                _skip_mcp_handler=True,
            )
            async for _ in stream:
                pass


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(_ANSWER.encode())
    await writer.drain()
    writer.close()
