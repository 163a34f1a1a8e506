"""Limits on all HTTP of the host: the size of response bodies, and redirects within the origin only.

Bodies are mended on their way, before they are parsed: events without data, and whole answers that no stream
is. Servers of many makers send both; the OpenAI library and LiteLLM fail on them.
"""

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from contextvars import ContextVar
from typing import Any

import httpx

from app.core.json_values import object_in

_BLANK = (b"\n", b"\r\n", b"\r")
_BOM = b"\xef\xbb\xbf"
_WITHOUT_DATA = re.compile(rb"(?:\xef\xbb\xbf)?(?::|(?:event|id|retry) *(?::|$)|data *:? *$)")

Event = dict[str, Any]
Redirecting = Callable[[Any, httpx.Request, httpx.Response], httpx.Request]


class EventLines:
    """Passes the lines of a stream of events on, without the events that have no data.

    A comment, `retry: 3000` or a lone `event: ping` is legal, and what reads the stream takes it for broken
    JSON.
    """

    def __init__(self) -> None:
        # The bytes of the event that has not ended yet.
        self.size = 0
        self._rest: list[bytes] = []
        self._held: list[bytes] = []
        self._has_data = False
        self._after_return = False

    def feed(self, data: bytes) -> bytes:
        """Add a piece of the body; return the lines that can be passed on."""
        if self._after_return and data.startswith(b"\n"):
            data = data[1:]
        self._after_return = data.endswith(b"\r")
        lines = data.splitlines(keepends=True)
        rest = lines.pop() if lines and not lines[-1].endswith((b"\n", b"\r")) else b""
        if lines and self._rest:
            before = b"".join(self._rest)
            lines[0] = before + lines[0]
            self.size -= len(before)
            self._rest.clear()
        if rest:
            self._rest.append(rest)
        passed = [piece for line in lines for piece in self._take(line)]
        self.size += len(rest)
        return b"".join(passed)

    def finish(self) -> bytes:
        """Return what is left at the end of the body."""
        rest = b"".join(self._rest)
        return b"".join(self._take(rest)) if rest else b""

    def _take(self, line: bytes) -> list[bytes]:
        self.size += len(line)
        if line in _BLANK:
            self.size = 0
            self._held.clear()
            passed = [b"\n"] if self._has_data else []
            self._has_data = False
            return passed
        text = line.rstrip(b"\r\n")
        if _WITHOUT_DATA.match(text):
            self._held.append(text + b"\n")
            return []
        passed = [*self._held, text + b"\n"]
        self._held.clear()
        self._has_data = True
        return passed


def looks_whole(start: bytes) -> bool:
    """Return whether a body begins like JSON and not like a stream of events."""
    return start.removeprefix(_BOM).lstrip()[:1] in (b"{", b"[")


def wants_stream(request: httpx.Request) -> bool:
    """Return whether a request asks for its answer as a stream."""
    if request.url.path.endswith(":streamGenerateContent"):
        return True
    try:
        body = object_in(request.content) or {}
    except httpx.RequestNotRead:
        return False
    return body.get("stream") is True


def as_events(body: bytes) -> bytes:
    """Return a whole answer as the stream that was asked for, "" for JSON that is none; any other body
    as it is.
    """
    try:
        answer = json.loads(body.removeprefix(_BOM))
    except (ValueError, RecursionError):
        return body
    try:
        events = list(_events(answer))
    except (KeyError, TypeError, AttributeError, IndexError, RecursionError):
        return b""
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode()


def _events(answer: Any) -> Iterator[Event]:
    if isinstance(answer, list):
        # Gemini's form of a stream without `alt=sse`.
        for piece in answer:
            yield from _events(piece)
    elif error := answer.get("error"):
        yield {"type": "error", "error": error if isinstance(error, dict) else {"message": str(error)}}
    elif "candidates" in answer:
        yield answer
    elif answer.get("choices"):
        yield _openai_chunk(answer)
    elif answer.get("type") == "message":
        yield from _anthropic_events(answer)


def _openai_chunk(answer: Event) -> Event:
    choice = answer["choices"][0]
    delta = dict(choice["message"])
    if calls := delta.get("tool_calls"):
        delta["tool_calls"] = [{"index": at, **call} for at, call in enumerate(calls)]
    choices = [{"index": 0, "delta": delta, "finish_reason": choice.get("finish_reason") or "stop"}]
    return {**answer, "object": "chat.completion.chunk", "choices": choices}


def _anthropic_events(answer: Event) -> Iterator[Event]:
    started = {**answer, "content": [], "stop_reason": None}
    yield {"type": "message_start", "message": started}
    for index, block in enumerate(answer["content"]):
        start, deltas = _anthropic_block(block)
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    delta = {"stop_reason": answer.get("stop_reason") or "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": answer.get("usage") or {}}
    yield {"type": "message_stop"}


def _anthropic_block(block: Event) -> tuple[Event, list[Event]]:
    match block["type"]:
        case "text":
            return {**block, "text": ""}, [{"type": "text_delta", "text": block["text"]}]
        case "tool_use":
            arguments = json.dumps(block["input"])
            return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": arguments}]
        case "thinking":
            deltas = [{"type": "thinking_delta", "thinking": block["thinking"]}]
            if signature := block.get("signature"):
                deltas.append({"type": "signature_delta", "signature": signature})
            return {"type": "thinking", "thinking": "", "signature": ""}, deltas
    return block, []


# For one event of a stream, which may hold a picture of 20 MB, or for a whole body of another type; an answer
# has a limit of its own.
MOST_BYTES = 28_000_000

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
    """Limit every response body, by replacing the method of httpx that LiteLLM and the host itself read
    with.
    """
    httpx.Response.aiter_bytes = _mended  # type: ignore[method-assign]


async def _mended(self: httpx.Response, chunk_size: int | None = None) -> AsyncIterator[bytes]:
    """Yield the body as the stream that was asked for, whatever its server calls it. Raises BodyTooLong."""
    if (responses := _open.get()) is not None:
        responses.append(self)
    lines = EventLines() if _has_events(self) else None
    whole: list[bytes] = []
    first, is_whole, size = not self.is_error, False, 0
    async with aclosing(_read(self, chunk_size)) as pieces:  # type: ignore[type-var]
        async for data in pieces:
            if first and data.strip():
                first, is_whole = False, looks_whole(data) and wants_stream(self.request)
            size += len(data)
            passed = data
            if is_whole:
                whole.append(data)
                passed = b""
            elif lines is not None:
                passed = lines.feed(data)
                size = lines.size
            if size > MOST_BYTES:
                raise BodyTooLong(f"more than {MOST_BYTES // 1_000_000} MB at once")
            if passed:
                yield passed
    if whole:
        yield as_events(b"".join(whole))
    elif lines is not None and (rest := lines.finish()):
        yield rest


def _has_events(response: httpx.Response) -> bool:
    return response.headers.get("content-type", "").startswith("text/event-stream") and not response.is_error


class RedirectRefused(httpx.RequestError):
    """A server redirected a request to another origin, which the text names; nothing was sent there."""


def refuse_other_origins() -> None:
    """Let no client of httpx follow a redirect to another scheme, host or port.

    Such a redirect would carry the conversation, and with two of the providers the key, to another server.
    All of LiteLLM sends through httpx, whose own setting allows redirects to every origin or to none.
    """
    for client in (httpx.Client, httpx.AsyncClient):
        # WORKAROUND: httpx has no public place between the redirect and the next request.
        build = _within_origin(client._build_redirect_request)  # noqa: SLF001 - see above
        client._build_redirect_request = build  # type: ignore[assignment]  # noqa: SLF001 - see above


def _within_origin(build: Redirecting) -> Redirecting:
    def build_within_origin(self: Any, request: httpx.Request, response: httpx.Response) -> httpx.Request:
        redirected = build(self, request, response)
        if _origin(redirected.url) != _origin(request.url):
            target = f"{redirected.url.scheme}://{redirected.url.netloc.decode('ascii')}"
            raise RedirectRefused(target, request=request)
        return redirected

    return build_within_origin


def _origin(url: httpx.URL) -> tuple[str, bytes, int | None]:
    return url.scheme, url.raw_host, url.port or _PORTS.get(url.scheme)
