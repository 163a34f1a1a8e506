"""The way to an MCP server at an address: the kit's streamable HTTP, with limits on what comes back."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from app.core.tool import TOO_MUCH
from app.tools.tool_host.mcp_guard import LINE_BYTES, Guard

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

_TIMEOUT = httpx2.Timeout(30.0, read=300.0)


@asynccontextmanager
async def http_transport(
    url: str, headers: Mapping[str, str], guard: Guard
) -> "AsyncGenerator[TransportStreams, None]":
    """Yield the streams of messages to and from an address."""

    async def limit(response: httpx2.Response) -> None:
        if response.status_code >= 400:
            guard.http_status = f"HTTP {response.status_code} {response.reason_phrase}"
        if response.headers.get("content-encoding", "identity") != "identity":
            # A small packed answer can be of any size unpacked, and nobody asked for one.
            guard.end("It sent a packed answer, though it was asked not to.", TOO_MUCH)
            raise httpx2.RemoteProtocolError("packed answer")
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            # The kit limits the events of a stream, and takes any other answer whole.
            response.stream = _LimitedBody(response.stream, guard)

    async with (
        httpx2.AsyncClient(
            headers={"accept-encoding": "identity", **headers},
            timeout=_TIMEOUT,
            event_hooks={"response": [limit]},
        ) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=LINE_BYTES) as (read, write),
    ):
        yield _CountedStream(read, guard), write


class _LimitedBody(httpx2.AsyncByteStream):
    """The body of an answer, up to the longest that is taken."""

    def __init__(self, body: Any, guard: Guard) -> None:
        self._body = body
        self._guard = guard

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for data in self._body:
            size += len(data)
            if size > LINE_BYTES:
                self._guard.end(f"It sent an answer of more than {LINE_BYTES // 1_000_000} MB.", TOO_MUCH)
                raise httpx2.RemoteProtocolError("answer too long")
            yield data

    async def aclose(self) -> None:
        """Close the answer."""
        await self._body.aclose()


class _CountedStream:
    """The messages of a server, until there are too many."""

    def __init__(self, stream: Any, guard: Guard) -> None:
        self._stream = stream
        self._guard = guard

    @property
    def last_context(self) -> Any:
        """The context of who caused the last message; the kit calls back in it."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message; raises anyio.EndOfStream."""
        item: SessionMessage | Exception = await self._stream.receive()
        if not self._guard.allows(item):
            await self._stream.aclose()
            raise anyio.EndOfStream
        return item

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    def __aiter__(self) -> "_CountedStream":
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> "_CountedStream":
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._stream.__aexit__(*error)
