"""Mends the bodies of answers before they are parsed: events without data, and whole answers that no stream is.

Servers of many makers send both; the OpenAI library and LiteLLM fail on them.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx

_BLANK = (b"\n", b"\r\n", b"\r")
_BOM = b"\xef\xbb\xbf"
_WITHOUT_DATA = re.compile(rb"(?:\xef\xbb\xbf)?(?::|(?:event|id|retry) *(?::|$)|data *:? *$)")

Event = dict[str, Any]


class EventLines:
    """Passes the lines of a stream of events on, without the events that have no data.

    A comment, `retry: 3000` or a lone `event: ping` is legal, and what reads the stream takes it for broken JSON.
    """

    def __init__(self) -> None:
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
            lines[0] = b"".join([*self._rest, lines[0]])
            self._rest.clear()
        if rest:
            self._rest.append(rest)
        passed: list[bytes] = []
        for line in lines:
            passed += self._take(line)
        return b"".join(passed)

    def finish(self) -> bytes:
        """Return what is left at the end of the body."""
        rest = b"".join(self._rest)
        return b"".join(self._take(rest)) if rest else b""

    def _take(self, line: bytes) -> list[bytes]:
        if line in _BLANK:
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
        body = json.loads(request.content)
    except (ValueError, RecursionError, httpx.RequestNotRead):
        return False
    return isinstance(body, dict) and body.get("stream") is True


def as_events(body: bytes) -> bytes:
    """Return a whole answer as the stream that was asked for, "" for JSON that is none; any other body as it is."""
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
