"""Search engines: a SearXNG server on a real socket, and the library's engines as far as no network goes."""

import json
import threading
import time
from collections.abc import Callable
from typing import Any

import ddgs
import pytest
from aiohttp import web
from ddgs.engines import ENGINES as KNOWN_TO_LIBRARY
from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

from app.core.tool import ToolError
from app.tools.tool_host.web import ENGINES, MAX_RESULTS, SERVICES, WebLimits, search
from tests.tools.web_server import WebServer

ROW = {"title": "A  bridge\n", "url": "https://example.org/a", "content": "It stands.", "engine": "x"}


def searxng(server: WebServer, rows: object) -> str:
    """Serve a SearXNG server's answer; returns the address a user would give."""

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.query.get("format") != "json":
            return web.Response(text="<html></html>", content_type="text/html")
        return web.json_response({"query": request.query["q"], "results": rows})

    server.answers["/searx/search"] = answer
    return server.url("/searx/")


async def refusal(query: str, engine: str, **more: Any) -> str:
    with pytest.raises(ToolError) as raised:
        await search(query, engine, 5, **more)
    return str(raised.value)


async def test_the_users_own_server_is_asked_although_it_is_on_a_private_address(server: WebServer) -> None:
    arguments = {"query": "다리 & bridge?", "engine": searxng(server, [ROW]), "count": 5}
    found = await SERVICES["web_search"](arguments)
    assert found == {
        "results": [{"title": "A bridge", "url": "https://example.org/a", "snippet": "It stands."}]
    }
    assert server.requests[0].query["q"] == "다리 & bridge?"


async def test_the_address_may_end_in_search(server: WebServer) -> None:
    assert (await search("q", searxng(server, [ROW]) + "search", 5))["results"]


async def test_results_are_capped_and_cleaned(server: WebServer) -> None:
    rows = [
        {"title": "t" * 9_000, "url": "https://example.org/", "content": "c\0" * 9_000},
        {"title": "no address"},
        {"title": "script", "url": "javascript:alert(1)"},
        {"title": "number", "url": 7},
        {"title": "long", "url": "https://example.org/" + "x" * 5_000},
        {"url": "http://example.org/bare"},
        "no row",
        None,
        *[ROW] * 100,
    ]
    address = searxng(server, rows)
    found = (await search("q", address, 1_000))["results"]
    assert len(found) == MAX_RESULTS
    assert (len(found[0]["title"]), len(found[0]["snippet"])) == (200, 500)
    assert "\0" not in found[0]["snippet"]
    assert found[1] == {"title": "", "url": "http://example.org/bare", "snippet": ""}
    assert len((await search("q", address, 3))["results"]) == 3


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'{"results": {}}', b'{"results"', b"[" * 100_000, b'{"error": "no"}', b"\xff\xfe"]
)
async def test_an_answer_that_is_no_searxng_is_told_in_words(server: WebServer, body: bytes) -> None:
    server.says("/search", body, "application/json")
    assert "as a SearXNG server does" in await refusal("q", server.url(""))


async def test_what_a_server_refuses_is_told_in_words(server: WebServer) -> None:
    assert "404" in await refusal("q", server.url(""))
    server.says("/search", b"<html></html>")
    assert "type 'text/html'" in await refusal("q", server.url(""))
    server.sends_on("/search", "http://127.0.0.1:1/secret")
    assert "one redirect too many" in await refusal("q", server.url(""))
    server.streams("/search", b" ", 0.05, **{"Content-Type": "application/json"})
    assert "within 0.5 seconds" in await refusal("q", server.url(""), limits=WebLimits(seconds=0.5))


@pytest.mark.parametrize("engine", ["", "no-such-engine", "file:///etc/passwd", "x" * 10_000])
async def test_an_engine_nobody_knows_is_told_in_words(engine: str) -> None:
    text = await refusal("q", engine)
    assert "duckduckgo" in text
    assert len(text) < 300


def test_the_library_knows_every_engine_of_ours() -> None:
    assert set(ENGINES) <= set(KNOWN_TO_LIBRARY["text"])


def answering(
    monkeypatch: pytest.MonkeyPatch, answer: Callable[[], list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    """Let the library answer without its network; returns what it was asked."""
    asked: list[dict[str, Any]] = []

    class Library:
        def __init__(self, timeout: int) -> None:
            asked.append({"timeout": timeout})

        def text(self, query: str, **more: Any) -> list[dict[str, Any]]:
            asked.append({"query": query, **more})
            return answer()

    monkeypatch.setattr(ddgs, "DDGS", Library)
    return asked


async def test_rows_of_the_library_become_results(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answering(
        monkeypatch,
        lambda: [{"title": "A", "href": "https://example.org/", "body": "b"}, {"title": "no address"}],
    )
    found = await search("bridge", "duckduckgo", 5)
    assert json.loads(json.dumps(found)) == {
        "results": [{"title": "A", "url": "https://example.org/", "snippet": "b"}]
    }
    assert asked[1]["query"] == "bridge"
    assert (asked[1]["backend"], asked[1]["max_results"]) == ("duckduckgo", 5)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RatelimitException("202"), "takes no more questions"),
        (TimeoutException("timed out"), "did not answer in time"),
        (DDGSException("ConnectError:\n  refused " + "x" * 900), "could not be asked: ConnectError: refused"),
    ],
)
async def test_errors_of_the_library_are_told_in_words(
    monkeypatch: pytest.MonkeyPatch, error: Exception, words: str
) -> None:
    def fail() -> list[dict[str, Any]]:
        raise error

    answering(monkeypatch, fail)
    text = await refusal("q", "duckduckgo")
    assert words in text
    assert len(text) < 300


async def test_nothing_found_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing() -> list[dict[str, Any]]:
        raise DDGSException("No results found.")

    answering(monkeypatch, nothing)
    assert await search("q", "duckduckgo", 5) == {"results": []}


async def test_an_engine_that_hangs_ends_with_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    free = threading.Event()

    def hang() -> list[dict[str, Any]]:
        free.wait(10)
        return []

    answering(monkeypatch, hang)
    began = time.monotonic()
    assert "did not answer in time" in await refusal("q", "duckduckgo", limits=WebLimits(seconds=0.3))
    assert time.monotonic() - began < 3
    free.set()


async def test_the_real_library_without_a_network_is_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    # Nothing listens there: the library's own request fails as it would offline.
    monkeypatch.setenv("DDGS_PROXY", "http://127.0.0.1:1")
    assert "duckduckgo could not be asked" in await refusal("bridge", "duckduckgo")
