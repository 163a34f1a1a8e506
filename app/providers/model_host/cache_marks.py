"""Says to the provider what of a request it shall keep, in the way that this provider takes.

Only Anthropic, Claude models behind OpenRouter, and OpenAI are told anything: others refuse it, or make a paid store.
"""

import json
import re
from typing import Any
from urllib.parse import urlsplit

from app.core.provider import CachePlan
from app.providers.endpoints import is_open_router
from app.providers.model_host.quirks import Quirks
from app.providers.model_host.request import ModelCall

Message = dict[str, Any]

_CLAUDE = re.compile(r"^~?anthropic/claude")
# Those that keep only what ends at a breakpoint.
_BREAKPOINTS = re.compile(r"^gpt-(?:5\.(?:[6-9]|\d\d)|[6-9]|\d\d)")
# Anthropic looks for what it keeps in this many blocks before a mark; a second mark half-way finds what is further back.
_FAR = 15
_LEAST = 1_024
_BYTES_PER_TOKEN = 3


def with_marks(call: ModelCall, arguments: dict[str, Any], quirks: Quirks) -> dict[str, Any]:
    """Return the arguments of a call with its cache plan; without one, or for other providers, each text is one."""
    told: dict[str, Any] = {}
    if call.kind == "openai" and call.cache is not None and "prompt_cache_key" not in quirks.without:
        told["prompt_cache_key"] = call.cache.key
    plan, messages = call.cache, arguments["messages"]
    native = call.kind == "anthropic"
    routed = is_open_router(call.base_url) and bool(_CLAUDE.match(call.model))
    breaks = _is_openai(call) and bool(_BREAKPOINTS.match(call.model))
    if plan is None or not plan.life or not (native or routed or breaks):
        return arguments | told | {"messages": [_joined(message) for message in messages]}
    life = {"ttl": "1h"} if plan.life == "1h" else {}
    mark: dict[str, Any] = {"cache_control": {"type": "ephemeral"} | life}
    if breaks:
        mark = {"prompt_cache_breakpoint": {"mode": "explicit"}}
    size, marked = len(json.dumps(arguments.get("tools", []))), []
    places = set(_places(messages, plan))
    for at, message in enumerate(messages):
        parts = message["content"] if isinstance(message.get("content"), list) else [message.get("content")]
        long = []
        for number, part in enumerate(parts):
            size += len(str(part).encode("utf-8", "replace"))
            enough = size // _BYTES_PER_TOKEN >= (call.facts.cache_min or _LEAST)
            long += [number] if enough and (at, number) in places else []
        marked.append(_marked(message, long, mark, whole=native) if long else message)
    return arguments | told | {"messages": marked}


def _is_openai(call: ModelCall) -> bool:
    host = urlsplit(call.base_url).hostname or ""
    return call.kind == "openai" and (host == "openai.com" or host.endswith(".openai.com"))


def _places(messages: list[Message], plan: CachePlan) -> list[tuple[int, int]]:
    """Return where the marks are, as (message, part): the system text, the brief, far back, and the newest."""
    places = [(0, 0)] if messages[0]["role"] == "system" else []
    first = len(places)
    if plan.brief and len(messages) > first:
        # What is seen of the files comes before the brief.
        content = messages[first].get("content")
        parts = content if isinstance(content, list) else []
        texts = (number for number, part in enumerate(parts) if part.get("type") == "text")
        places.append((first, next(texts, 0)))
    if not plan.grows:
        return places
    ends = [
        (at, _parts(message) - 1)
        for at, message in enumerate(messages)
        if at >= first and message["role"] in ("user", "tool")
    ]
    if plan.tail and ends and ends[-1][0] == len(messages) - 1:
        at, part = ends.pop()
        ends += [(at, part - 1)] if part else []
    if not ends:
        return places
    behind = 0
    for at in range(ends[-1][0], first - 1, -1):
        if behind >= _FAR and messages[at]["role"] in ("user", "tool"):
            places.append((at, _parts(messages[at]) - 1))
            break
        behind += _parts(messages[at]) + len(messages[at].get("tool_calls") or ())
    return [*places, ends[-1]]


def _parts(message: Message) -> int:
    return len(message["content"]) if isinstance(message.get("content"), list) else 1


def _marked(message: Message, parts: list[int], mark: dict[str, Any], *, whole: bool) -> Message:
    """Return a message with marks at these parts; where it is `whole`, a text stays one."""
    if isinstance(message["content"], list):
        content = [part | mark if at in parts else part for at, part in enumerate(message["content"])]
        return message | {"content": content}
    if whole:
        return message | mark
    return message | {"content": [{"type": "text", "text": message["content"]} | mark]}


def _joined(message: Message) -> Message:
    """Return a message whose texts are one: not every server takes a list of them."""
    content = message.get("content")
    if not isinstance(content, list) or any(part.get("type") != "text" for part in content):
        return message
    return message | {"content": "\n\n".join(part["text"] for part in content)}
