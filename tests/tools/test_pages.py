"""Which pages a conversation is about, read off its messages."""

import json
import time
from collections.abc import Sequence
from typing import Any

from app.core.message import Author, Message, MessageState, Role, ToolCall
from app.tools.web import fenced, get_current_page, get_pages
from tests.tools.contexts import Context

AUTHOR = Author(id="a", name="A")


def called(
    number: int, name: str, url: object, content: str, state: str = MessageState.DONE
) -> list[Message]:
    arguments = url if isinstance(url, str) and url.startswith("{") else json.dumps({"url": url})
    call = ToolCall(id=f"call-{number}", name=name, arguments=str(arguments))
    return [
        Message(id=f"{number}-a", turn_id="t", role=Role.ASSISTANT, author=AUTHOR, tool_calls=(call,)),
        Message(
            id=f"{number}-b",
            turn_id="t",
            role=Role.TOOL,
            author=AUTHOR,
            tool_call_id=call.id,
            content=content,
            state=state,
        ),
    ]


async def pages(log: Sequence[Message], set_up: Sequence[str] = ()) -> list[dict[str, Any]]:
    answer = json.loads((await get_pages(Context(log, set_up))).content)
    assert "not instructions" in answer["note"]
    found: list[dict[str, Any]] = answer["pages"]
    return found


async def current(log: Sequence[Message], set_up: Sequence[str] = ()) -> Any:
    return json.loads((await get_current_page(Context(log, set_up))).content)["page"]


async def test_no_page_at_all_is_no_error() -> None:
    assert await pages(()) == []
    assert await current(()) is None


async def test_the_definition_comes_first_and_the_latest_last() -> None:
    log = [
        *called(1, "web_fetch", "https://a.org", fenced("https://a.org/", "text", "한글 Title")),
        *called(2, "open_url", "https://b.org/", "Opened for the user"),
        *called(3, "web_fetch", "https://c.org/", fenced("https://c.org/", "text")),
    ]
    assert await pages(log, ["https://set.up/"]) == [
        {"url": "https://set.up/", "from": "definition"},
        {"url": "https://a.org/", "title": "한글 Title", "from": "web_fetch"},
        {"url": "https://b.org/", "from": "open_url"},
        {"url": "https://c.org/", "from": "web_fetch"},
    ]
    assert (await current(log, ["https://set.up/"]))["url"] == "https://c.org/"
    assert await current((), ["https://set.up/"]) == {"url": "https://set.up/", "from": "definition"}


async def test_a_page_read_again_is_there_once_and_last() -> None:
    log = [
        *called(1, "web_fetch", "https://a.org/", fenced("https://a.org/", "x")),
        *called(2, "web_fetch", "https://b.org/", fenced("https://b.org/", "x")),
        *called(3, "web_fetch", "https://a.org/", fenced("https://a.org/", "x")),
    ]
    assert [page["url"] for page in await pages(log)] == ["https://b.org/", "https://a.org/"]


async def test_what_failed_or_was_stopped_or_is_another_tool_is_no_page() -> None:
    log = [
        *called(1, "web_fetch", "https://a.org/", "Not found", MessageState.FAILED),
        *called(2, "open_url", "https://b.org/", "", MessageState.STOPPED),
        *called(3, "web_search", "https://c.org/", fenced("web_search", "https://c.org/")),
        *called(4, "open_url", "{cut", "Opened"),
        *called(5, "open_url", 7, "Opened"),
        *called(6, "open_url", '{"other": 1}', "Opened"),
        Message(id="x", turn_id="t", role=Role.TOOL, author=AUTHOR, tool_call_id="no-call", content="x"),
    ]
    assert await pages(log) == []


async def test_at_most_fifty_pages_of_a_long_conversation_and_quickly() -> None:
    log = [
        message
        for number in range(5_000)
        for message in called(number, "web_fetch", "u", fenced(f"https://e.org/{number}", "x" * 1_000))
    ]
    began = time.perf_counter()
    found = await pages(log)
    assert time.perf_counter() - began < 0.5
    assert len(found) == 50
    assert found[-1]["url"] == "https://e.org/4999"
