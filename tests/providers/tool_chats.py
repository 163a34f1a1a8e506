"""What the tests of tools and chats over the four protocols share."""

import asyncio
import json
from typing import Any

from app.core.message import ToolCall
from app.core.provider import ModelRequest
from app.providers.remote import RemoteModels
from tests.providers.asking import Heard, ask, request_to
from tests.wire import WireCall, WireServer
from tests.wire.fixtures import FOUR

TOOLS: tuple[dict[str, Any], ...] = tuple(
    {
        "type": "function",
        "function": {
            "name": name,
            "description": f"Does {name}.",
            "parameters": {
                "type": "object",
                "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
                "required": ["query"],
            },
        },
    }
    for name in ("search", "read_page", "now")
)
SYSTEM = {"role": "system", "content": "Be brief."}
USER = {"role": "user", "content": "What is new? 뉴스?"}
SEARCH = WireCall("search", '{"query": "news, 뉴스 👩‍👩‍👧", "limit": 3}')
READ = WireCall("read_page", '{"query": "https://example.org/?a=1&b=\\"2\\""}')
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def request(server: WireServer, *messages: dict[str, Any], **changes: Any) -> ModelRequest:
    values: dict[str, Any] = {"messages": (SYSTEM, USER, *messages), "tools": TOOLS} | changes
    return request_to(server, **values)


async def ask_all(
    models: RemoteModels, servers: dict[str, WireServer], *messages: dict[str, Any], **changes: Any
) -> dict[str, Heard]:
    asked = (ask(models, request(servers[kind], *messages, **changes)) for kind in FOUR)
    return dict(zip(FOUR, await asyncio.gather(*asked), strict=True))


def said(heard: Heard) -> dict[str, Any]:
    """Return the assistant's message as a loop sends it back."""
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in heard.calls
    ]
    message: dict[str, Any] = {"role": "assistant", "content": heard.text, "tool_calls": calls}
    assert heard.finished is not None
    return message | dict(heard.finished.state or {})


def results(heard: Heard, *texts: str) -> list[dict[str, Any]]:
    return [
        {"role": "tool", "tool_call_id": call.id, "content": text}
        for call, text in zip(heard.calls, texts, strict=True)
    ]


def bare(calls: list[ToolCall]) -> list[tuple[str, Any]]:
    return [(call.name, json.loads(call.arguments or "{}")) for call in calls]


def wanted(*calls: WireCall) -> list[tuple[str, Any]]:
    return [(call.name, json.loads(call.arguments or "{}")) for call in calls]


def assert_all_legal(servers: dict[str, WireServer]) -> None:
    assert [(kind, seen.refused) for kind in servers for seen in servers[kind].requests if seen.refused] == []
