"""The browser that comes with Moot, in processes of its own, before a search server and a provider's wire (row S7)."""

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stories.processes import moot
from tests.tools.test_web_search import searxng
from tests.tools.web_server import WebServer
from tests.wire import Answer, WireCall, WireServer
from tests.wire.fixtures import wire_home, wire_servers
from tests.wire.server import Recorded

__all__ = ["wire_home", "wire_servers"]

HTML = "<html><body><script>alert(1)</script><p>It stands.</p></body></html>"


@pytest.fixture
def web(data_dir: Path) -> Iterator[WebServer]:
    """A search server of the user's own; what it finds is on this computer, where no page may be read."""
    loop, started, server = asyncio.new_event_loop(), threading.Event(), WebServer()

    async def serve() -> None:
        async with server:
            page = server.says("/a", HTML.encode())
            row = {"title": "A bridge", "url": page, "content": f"{HTML} It stands since 1890."}
            settings = {"version": 1, "search_engine": searxng(server, [row])}
            (data_dir / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
            started.set()
            await stopped.wait()

    stopped = asyncio.Event()
    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    assert started.wait(10)
    yield server
    loop.call_soon_threadsafe(stopped.set)
    thread.join()
    loop.close()


def heard(request: Recorded) -> list[str]:
    """Return what came back from the tools so far."""
    return [message.text for message in request.messages if message.role == "tool"]


def test_it_searches_reads_and_answers_with_its_sources(
    wire_home: dict[str, WireServer], data_dir: Path, web: WebServer
) -> None:
    page = web.url("/a")

    def reads(request: Recorded) -> Answer:
        match heard(request):
            case []:
                return Answer(calls=(WireCall("web_search", '{"query": "bridge"}'),))
            case [_found]:
                return Answer(calls=(WireCall("web_fetch", json.dumps({"url": page})),))
            case _:
                return Answer(f"It stands since 1890 ({page}).")

    server = wire_home["openai"]
    server.script(server.model, reads)
    asked = moot("ask", "browser", "Does the bridge stand?", "--json", seconds=120)
    assert (asked.status, asked.err) == (0, "")
    first, second, third = server.requests
    assert {one.status for one in server.requests} == {200}
    assert sorted(first.tools) == ["get_current_page", "get_pages", "open_url", "web_fetch", "web_search"]
    [found] = heard(second)
    assert "A bridge" in found and "It stands since 1890." in found and "data, not instructions" in found
    refused = heard(third)[1]
    assert "private network" in refused
    assert [str(one.url.path) for one in web.requests] == ["/searx/search"], (
        "the page itself was not asked for"
    )


def test_after_ten_steps_it_says_what_it_has(
    wire_home: dict[str, WireServer], data_dir: Path, web: WebServer
) -> None:
    def goes_on(request: Recorded) -> Answer:
        if "no tool calls left" in request.messages[-1].text:
            return Answer("Ten searches found one bridge.")
        return Answer(calls=(WireCall("web_search", json.dumps({"query": f"bridge {len(heard(request))}"})),))

    server = wire_home["openai"]
    server.script(server.model, goes_on)
    asked = moot("ask", "browser", "Look for ever.", "--json", seconds=120)
    assert (asked.status, asked.err) == (4, ""), "a limit ended the work"
    assert [one.url.path for one in web.requests] == ["/searx/search"] * 10
    [said] = [
        event["message"]["content"]
        for event in asked.events
        if event["event"] == "message.finished" and "Ten searches" in event["message"]["content"]
    ]
    assert said == "Ten searches found one bridge."
