"""Limits on all HTTP of the host: the size of response bodies, and redirects within the origin only.

Bodies are mended on their way (`answer_bodies`).
"""

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from contextvars import ContextVar
from typing import Any

import httpx

from app.providers.model_host.answer_bodies import EventLines, as_events, looks_whole, wants_stream

# For one event of a stream, which may hold a picture of 20 MB, or for a whole body of another type; an answer has a
# limit of its own.
MOST_BYTES = 28_000_000
_EVENT_ENDS = (b"\n\n", b"\r\n\r\n", b"\r\r")
_LONGEST_END = 4

_open: ContextVar[list[httpx.Response] | None] = ContextVar("open responses", default=None)
_read = httpx.Response.aiter_bytes
_PORTS = {"http": 80, "https": 443}


class BodyTooLong(httpx.RequestError):
    """A server sent more than any answer or list of models contains."""


class OpenBodies:
    """Records the responses that are read inside its block, and closes those that are still open at its end.

    LiteLLM leaves a connection open, with the provider sending, when a stream is not read to its end.
    """

    def __init__(self) -> None:
        self._responses: list[httpx.Response] = []

    @property
    def streamed(self) -> bool:
        """Whether the last of the responses is a stream of events."""
        return bool(self._responses) and _has_events(self._responses[-1])

    async def __aenter__(self) -> None:
        self._token = _open.set(self._responses)

    async def __aexit__(self, *_: object) -> None:
        _open.reset(self._token)
        for response in self._responses:
            await response.aclose()


def limit_bodies() -> None:
    """Limit every response body, by replacing the method of httpx that LiteLLM and the host itself read with."""
    httpx.Response.aiter_bytes = _mended  # type: ignore[method-assign]


async def _mended(self: httpx.Response, chunk_size: int | None = None) -> AsyncIterator[bytes]:
    """Yield the body as the stream that was asked for, whatever its server calls it."""
    async with aclosing(_limited(self, chunk_size)) as pieces:  # type: ignore[type-var]
        lines = EventLines() if _has_events(self) else None
        whole: list[bytes] = []
        first = not self.is_error
        async for data in pieces:
            if first and data.strip():
                first = False
                if looks_whole(data) and wants_stream(self.request):
                    whole.append(data)
                    continue
            if whole:
                whole.append(data)
            elif lines is None:
                yield data
            elif mended := lines.feed(data):
                yield mended
        if whole:
            yield as_events(b"".join(whole))
        elif lines is not None and (rest := lines.finish()):
            yield rest


async def _limited(self: httpx.Response, chunk_size: int | None = None) -> AsyncIterator[bytes]:
    if (responses := _open.get()) is not None:
        responses.append(self)
    has_events = _has_events(self)
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


def _has_events(response: httpx.Response) -> bool:
    return response.headers.get("content-type", "").startswith("text/event-stream") and not response.is_error


class RedirectRefused(httpx.RequestError):
    """A server redirected a request to another origin, which the text names; nothing was sent there."""


def refuse_other_origins() -> None:
    """Let no client of httpx follow a redirect to another scheme, host or port.

    Such a redirect would carry the conversation, and with two of the providers the key, to another server. All of
    LiteLLM sends through httpx, whose own setting allows redirects to every origin or to none.
    """
    for client in (httpx.Client, httpx.AsyncClient):
        # WORKAROUND: httpx has no public place between the redirect and the next request.
        build = _within_origin(client._build_redirect_request)  # noqa: SLF001 - see above
        client._build_redirect_request = build  # type: ignore[assignment]  # noqa: SLF001 - see above


def _within_origin(
    build: Callable[[Any, httpx.Request, httpx.Response], httpx.Request],
) -> Callable[[Any, httpx.Request, httpx.Response], httpx.Request]:
    def build_within_origin(self: Any, request: httpx.Request, response: httpx.Response) -> httpx.Request:
        redirected = build(self, request, response)
        if _origin(redirected.url) != _origin(request.url):
            target = f"{redirected.url.scheme}://{redirected.url.netloc.decode('ascii')}"
            raise RedirectRefused(target, request=request)
        return redirected

    return build_within_origin


def _origin(url: httpx.URL) -> tuple[str, bytes, int | None]:
    return url.scheme, url.raw_host, url.port or _PORTS.get(url.scheme)
