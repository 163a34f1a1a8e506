"""Converts messages to what a provider accepts; a chat may have begun with another provider."""

import json
import re
from hashlib import sha256
from typing import Any

from app.core.text import clean_values

Message = dict[str, Any]

OWN_PROTOCOLS = ("anthropic", "gemini")
"""The kinds of providers that do not speak OpenAI's API; each has a state of its own."""

_FIELDS = ("role", "content", "tool_calls", "tool_call_id")
_NOT_OF_A_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_BAD_ESCAPE = re.compile(r"\\u(?:d[89a-f]|0000)", re.IGNORECASE)
_SHORT_ID = re.compile(r"[a-zA-Z0-9]{9}")
_LONGEST_NAME = 64
_LONGEST_ID = 40


def legal_messages(kind: str, messages: list[Message], *, thoughts: bool = False) -> list[Message]:
    """Return the messages as this kind of provider accepts them; changes nothing in place.

    With `thoughts` a model gets back what it thought before its calls, which most refuse.
    """
    legal = [_legal_message(kind, message) for message in messages]
    if thoughts:
        for message, made in zip(messages, legal, strict=True):
            if "tool_calls" in made:
                # An answer of another model has no thought, but none may be without one.
                made["reasoning_content"] = message.get("reasoning_content") or " "
    return legal


def fold_system(messages: list[Message]) -> list[Message]:
    """Put the system text into the first user message, for models that have no system role."""
    system = "\n\n".join(text_of(message["content"]) for message in messages if message["role"] == "system")
    rest = [message for message in messages if message["role"] != "system"]
    if not system:
        return rest
    said = {"role": "user", "content": system}
    if rest and rest[0]["role"] == "user":
        return [_joined(said, rest[0]), *rest[1:]]
    return [said, *rest]


def join_turns(messages: list[Message]) -> list[Message]:
    """Join successive messages of one role, for models that insist on alternating turns."""
    joined: list[Message] = []
    for message in messages:
        before = joined[-1] if joined else {}
        plain = message["role"] in ("user", "assistant") and "tool_calls" not in message
        if plain and before.get("role") == message["role"] and "tool_calls" not in before:
            joined[-1] = _joined(before, message)
        else:
            joined.append(message)
    return joined


def shorten_ids(messages: list[Message]) -> list[Message]:
    """Give the tool calls, and their results, ids of nine letters and digits where they have others."""
    short: list[Message] = []
    for message in messages:
        changed = dict(message)
        if "tool_call_id" in message:
            changed["tool_call_id"] = _short_id(message["tool_call_id"])
        if "tool_calls" in message:
            changed["tool_calls"] = [call | {"id": _short_id(call["id"])} for call in message["tool_calls"]]
        short.append(changed)
    return short


def speak_after_tools(messages: list[Message]) -> list[Message]:
    """Put an assistant's message without words between the result of a tool and a user's message."""
    spoken: list[Message] = []
    for message in messages:
        if message["role"] == "user" and spoken and spoken[-1]["role"] == "tool":
            spoken.append({"role": "assistant", "content": "…"})
        spoken.append(message)
    return spoken


def is_json(text: str) -> bool:
    """Return whether the text is a whole JSON value."""
    try:
        _loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def text_of(content: object) -> str:
    """Return the text of a message's content, which may be a text, a list of parts or None."""
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content if part.get("type") == "text")
    return str(content or "")


def called_functions(messages: list[Message]) -> list[Message]:
    """Return a bare definition of every function that the messages call."""
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


def _legal_message(kind: str, message: Message) -> Message:
    legal = {name: message[name] for name in _FIELDS if name in message}
    if kind == "anthropic" and message.get("thinking_blocks"):
        legal["thinking_blocks"] = message["thinking_blocks"]
    beside = () if kind in OWN_PROTOCOLS else message.get("calls_sent_back") or ()
    if kind not in OWN_PROTOCOLS:
        legal = {**(message.get("sent_back") or {}), **legal}
    if kind == "gemini" and message.get("images"):
        legal["images"] = message["images"]
        if signatures := message.get("thought_signatures"):
            legal["provider_specific_fields"] = {"thought_signatures": signatures}
    elif message.get("images") and not text_of(legal.get("content")).strip():
        legal["content"] = "[image]"
    if calls := legal.pop("tool_calls", None):
        legal["tool_calls"] = [
            (beside[place] if place < len(beside) else {}) | _legal_call(kind, call)
            for place, call in enumerate(calls)
        ]
        # Gemini refuses an empty text beside a call, and LiteLLM replaces it for Anthropic.
        legal["content"] = legal.get("content") or None
    elif isinstance(content := legal.get("content"), list):
        parts = [part for part in content if not _is_blank(part)] or content
        # The number of a file's pages is for the estimate alone.
        legal["content"] = [{name: part[name] for name in part if name != "pages"} for part in parts]
    if "tool_call_id" in legal:
        legal["tool_call_id"] = _legal_id(kind, legal["tool_call_id"])
        if kind == "gemini":
            # LiteLLM would parse a result that looks like JSON or an image, and fail on a page that only
            # looks like it; this is the object that it makes of any other text.
            legal["content"] = json.dumps({"content": text_of(legal.get("content"))})
    return legal


def _is_blank(part: Message) -> bool:
    """Return whether a part is an empty text, as beside an image sent alone; no provider accepts one."""
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
    # Gemini's ids carry the signature of its thoughts and must go back unchanged.
    if kind == "gemini" or (len(call_id) <= _LONGEST_ID and not _NOT_OF_A_NAME.search(call_id)):
        return call_id
    return f"call_{sha256(call_id.encode()).hexdigest()[:24]}"


def _short_id(call_id: str) -> str:
    return call_id if _SHORT_ID.fullmatch(call_id) else sha256(call_id.encode()).hexdigest()[:9]


def _legal_arguments(arguments: str) -> str:
    try:
        value = _loads(arguments)
    except (ValueError, RecursionError):
        return "{}"
    if not isinstance(value, dict):
        return "{}"
    # A lone surrogate or a NUL may be written as an escape, which providers decode and then refuse.
    return json.dumps(clean_values(value)) if _BAD_ESCAPE.search(arguments) else arguments


def _loads(text: str) -> object:
    return json.loads(text, parse_constant=_refuse)


def _refuse(constant: str) -> None:
    raise ValueError(constant)
