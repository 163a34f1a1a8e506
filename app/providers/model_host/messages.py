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
    said = {"role": "user", "content": system}
    if rest and rest[0]["role"] == "user":
        return [_joined(said, rest[0]), *rest[1:]]
    return [said, *rest]


def join_turns(messages: list[Message]) -> list[Message]:
    """Make one message of those that one side said in a row, for models that insist on turns."""
    joined: list[Message] = []
    for message in messages:
        before = joined[-1] if joined else {}
        plain = message["role"] in ("user", "assistant") and "tool_calls" not in message
        if plain and before.get("role") == message["role"] and "tool_calls" not in before:
            joined[-1] = _joined(before, message)
        else:
            joined.append(message)
    return joined


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


def _joined(one: Message, other: Message) -> Message:
    contents = one["content"], other["content"]
    if isinstance(contents[0], list) or isinstance(contents[1], list):
        return one | {"content": [part for content in contents for part in _parts(content)]}
    return one | {"content": "\n\n".join(filter(None, contents))}


def _parts(content: object) -> list[Message]:
    return content if isinstance(content, list) else [{"type": "text", "text": text_of(content)}]


def _legal(kind: str, message: Message) -> Message:
    legal = {name: message[name] for name in _FIELDS if name in message}
    if kind == "anthropic" and message.get("thinking_blocks"):
        legal["thinking_blocks"] = message["thinking_blocks"]
    if calls := legal.pop("tool_calls", None):
        legal["tool_calls"] = [_legal_call(kind, call) for call in calls]
        # An empty text beside a call is refused by Gemini, and told to Anthropic as a strange remark.
        legal["content"] = legal.get("content") or None
    elif isinstance(content := legal.get("content"), list):
        legal["content"] = [part for part in content if not _is_blank(part)] or content
    if "tool_call_id" in legal:
        legal["tool_call_id"] = _legal_id(kind, legal["tool_call_id"])
        if kind == "gemini":
            # LiteLLM would read a result that looks like JSON or an image, and fail on a page that
            # only looks like it; so it is given the object it would make of any other text.
            legal["content"] = json.dumps({"content": text_of(legal.get("content"))})
    return legal


def _is_blank(part: Message) -> bool:
    """Say whether a part is an empty text, as beside an image sent without a word; nobody takes it."""
    return part.get("type") == "text" and not part["text"].strip()


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
