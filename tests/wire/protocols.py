"""What the protocols have in common: checks that refuse, bodies of errors, frames of a stream."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.wire.prompt_caches import PromptCache
from tests.wire.replies import Answer, WireCall
from tests.wire.views import Seen

Body = dict[str, Any]


class Refused(Exception):
    """The request is not legal; carries the provider's own answer to it."""

    def __init__(self, status: int, body: Body, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status, body)
        self.status = status
        self.body = body
        self.headers = dict(headers or {})


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as the protocol understands it; `answer` is what it remembers of its own answer."""

    model: str
    body: Body
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    answer: dict[str, Any] = field(default_factory=dict)


class Protocol:
    """A provider's protocol: its paths, its rules, and how its answers look on the wire."""

    kind = ""
    base_path = ""
    content_type = "text/event-stream"

    def __init__(self, key: str, models: tuple[str, ...]) -> None:
        self.key = key
        self.models = models
        self.cache: PromptCache | None = None

    def model_of(self, path: str, body: Body) -> str | None:
        """Return the model a POST to this path asks, None when the path is no such thing."""
        raise NotImplementedError

    def list_path(self) -> str:
        """Return the path of the list of models."""
        raise NotImplementedError

    def list_body(self) -> Body:
        """Return the list of models."""
        raise NotImplementedError

    def told(self, method: str, path: str, body: Body) -> Body | None:
        """Return what the server says of itself at a path of its own, None where it has no such path."""
        return None

    def check_key(self, asked: Asked) -> None:
        """Raise Refused when the key is not ours."""
        raise NotImplementedError

    def check(self, asked: Asked) -> None:
        """Raise Refused unless the request is legal."""
        raise NotImplementedError

    def seen(self, body: Body) -> list[Seen]:
        """Return the messages of a request in the form that all protocols share."""
        raise NotImplementedError

    def tools(self, body: Body) -> list[str]:
        """Return the names of the functions a request offers."""
        raise NotImplementedError

    def system(self, body: Body) -> str:
        """Return the system text of a request."""
        raise NotImplementedError

    def refusal(self, fault: str, retry_after: float | None, sent_key: str) -> Refused:
        """Return the provider's own error for one of the refusing faults."""
        raise NotImplementedError

    def error(self, status: int, message: str) -> Refused:
        """Return a refusal in these words."""
        raise NotImplementedError

    def opening(self, asked: Asked) -> bytes:
        """Return the frames before the first word."""
        return b""

    def piece(self, asked: Asked, text: str, thinking: str = "") -> bytes:
        """Return the frames of one piece of the answer."""
        raise NotImplementedError

    def redacted(self, asked: Asked, data: str) -> bytes:
        """Return the frames of thinking that nobody may read; most send none."""
        return b""

    def call(self, asked: Asked, call: WireCall, number: int, odd: str = "") -> list[bytes]:
        """Return the frames of a tool call, the calls of an answer being numbered from 0."""
        raise NotImplementedError

    def ending(self, asked: Asked, answer: Answer, finish: str) -> bytes:
        """Return the frames after the last word; `finish` is stop, tool_calls, length or content_filter."""
        raise NotImplementedError

    def ping(self) -> bytes:
        """Return a sign of life without content."""
        return b": ping\n\n"

    def broken(self) -> bytes:
        """Return an event whose data is not JSON."""
        return b'data: {"choices": [{"del\n\n'

    def error_frame(self) -> bytes:
        """Return an error in the middle of a stream."""
        raise NotImplementedError


def sse(data: object, event: str = "") -> bytes:
    """Return one server-sent event."""
    head = f"event: {event}\n" if event else ""
    text = json.dumps(data, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        # Half of a character can be sent as an escape only, which is how real servers do it.
        text = json.dumps(data)
    return f"{head}data: {text}\n\n".encode()


def texts_of(content: Any) -> Iterator[str]:
    """Yield the texts of a message's content, be it a string or a list of blocks."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        if not content:
            yield ""
        for block in content:
            if not isinstance(block, dict) or block.get("type", "text") == "text":
                yield str(block.get("text", "")) if isinstance(block, dict) else ""
    else:
        yield ""


def pieces_of(arguments: str) -> list[str]:
    """Cut the text of a call's arguments as a model's tokens would."""
    return [arguments[at : at + 6] for at in range(0, len(arguments), 6)]
