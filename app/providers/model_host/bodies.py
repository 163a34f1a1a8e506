"""Limits the size of all HTTP response bodies, and can close those of one call."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from contextvars import ContextVar

import httpx

# One event of a stream, or a body that is no stream of events; an answer has a limit of its own.
MOST_BYTES = 8_000_000
_EVENT_ENDS = (b"\n\n", b"\r\n\r\n", b"\r\r")
_LONGEST_END = 4

_open: ContextVar[list[httpx.Response] | None] = ContextVar("open responses", default=None)
_read = httpx.Response.aiter_bytes


class BodyTooLong(httpx.RequestError):
    """A server sent more than any answer or list of models can contain."""


class OpenBodies:
    """Records the responses that are read in its block, and closes those still open at its end.

    LiteLLM leaves a connection open, and the provider writing, where a stream is not read to its end.
    """

    async def __aenter__(self) -> None:
        self._responses: list[httpx.Response] = []
        self._token = _open.set(self._responses)

    async def __aexit__(self, *_: object) -> None:
        _open.reset(self._token)
        for response in self._responses:
            await response.aclose()


def limit_bodies() -> None:
    """Let every response of httpx be read through here: the one place that LiteLLM and we have in common."""
    httpx.Response.aiter_bytes = _limited  # type: ignore[method-assign]


async def _limited(self: httpx.Response, chunk_size: int | None = None) -> AsyncIterator[bytes]:
    if (responses := _open.get()) is not None:
        responses.append(self)
    kind = self.headers.get("content-type", "")
    has_events = kind.startswith("text/event-stream") and not self.is_error
    size, end = 0, b""
    async with aclosing(_read(self, chunk_size)) as pieces:  # type: ignore[type-var]
        async for data in pieces:
            size += len(data)
            if has_events:
                end += data
                if (at := max(end.rfind(mark) for mark in _EVENT_ENDS)) >= 0:
                    size = len(end) - at
                end = end[-_LONGEST_END:]
            if size > MOST_BYTES:
                raise BodyTooLong(f"more than {MOST_BYTES // 1_000_000} MB at once")
            yield data
