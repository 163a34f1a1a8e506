"""Makes the messages of a chat legal for the provider they go to; a chat may have been with another one."""

import json
import re
from hashlib import sha256
from typing import Any

from app.core.text import clean_values

Message = dict[str, Any]

_FIELDS = ("role", "content", "tool_calls", "tool_call_id")
_NOT_OF_A_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_BAD_ESCAPE = re.compile(r"\\u(?:d[89a-f]|0000)", re.IGNORECASE)
_LONGEST_NAME = 64
_LONGEST_ID = 40


def legal_messages(kind: str, messages: list[Message]) -> list[Message]:
    """Return the messages as this kind of provider takes them; the given ones stay as they are."""
    return [_legal(kind, message) for message in messages]


def fold_system(messages: list[Message]) -> list[Message]:
    """Put the system text before the first user message, for models that know no system role."""
    system = "\n\n".join(text_of(message["content"]) for message in messages if message["role"] == "system")
    rest = [message for message in messages if message["role"] != "system"]
    if not system:
        return rest
    if rest and rest[0]["role"] == "user":
        content = rest[0]["content"]
        if isinstance(content, str):
            folded: object = f"{system}\n\n{content}"
        else:
            folded = [{"type": "text", "text": system}, *content]
        return [rest[0] | {"content": folded}, *rest[1:]]
    return [{"role": "user", "content": system}, *rest]


def is_json(text: str) -> bool:
    """Say whether the text is a whole JSON value."""
    try:
        _loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def text_of(content: object) -> str:
    """Return the text of a message's content, be it a text, parts or nothing."""
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content if part.get("type") == "text")
    return str(content or "")


def called_functions(messages: list[Message]) -> list[Message]:
    """Return a bare definition of every function that was called in the messages."""
    names = {
        call["function"]["name"]: None for message in messages for call in message.get("tool_calls") or ()
    }
    return [
        {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
        for name in names
    ]


def _legal(kind: str, message: Message) -> Message:
    legal = {name: message[name] for name in _FIELDS if name in message}
    if kind == "anthropic" and message.get("thinking_blocks"):
        legal["thinking_blocks"] = message["thinking_blocks"]
    if calls := legal.pop("tool_calls", None):
        legal["tool_calls"] = [_legal_call(kind, call) for call in calls]
        # An empty text beside a call is refused by Gemini, and told to Anthropic as a strange remark.
        legal["content"] = legal.get("content") or None
    if "tool_call_id" in legal:
        legal["tool_call_id"] = _legal_id(kind, legal["tool_call_id"])
    return legal


def _legal_call(kind: str, call: Message) -> Message:
    function = call["function"]
    name = _NOT_OF_A_NAME.sub("_", function["name"])[:_LONGEST_NAME] or "unnamed"
    return {
        "id": _legal_id(kind, call["id"]),
        "type": "function",
        "function": {"name": name, "arguments": _legal_arguments(function.get("arguments") or "")},
    }


def _legal_id(kind: str, call_id: str) -> str:
    # Gemini's ids carry the signature of its thoughts and go back as they came.
    if kind == "gemini" or (len(call_id) <= _LONGEST_ID and not _NOT_OF_A_NAME.search(call_id)):
        return call_id
    return f"call_{sha256(call_id.encode()).hexdigest()[:24]}"


def _legal_arguments(arguments: str) -> str:
    try:
        value = _loads(arguments)
    except (ValueError, RecursionError):
        return "{}"
    if not isinstance(value, dict):
        return "{}"
    # Half of a character, or a NUL, may be written as an escape, which providers read and refuse.
    return json.dumps(clean_values(value)) if _BAD_ESCAPE.search(arguments) else arguments


def _loads(text: str) -> object:
    return json.loads(text, parse_constant=_refuse)


def _refuse(constant: str) -> None:
    raise ValueError(constant)
