"""Asks a search engine for `web_search`: one of ENGINES, or a SearXNG server."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any, Final

from app.core.text import clean_text
from app.tools.tool_host.errors import RequestError
from app.tools.tool_host.web_client import LIMITS, AddressPolicy, WebLimits, download

MAX_RESULTS: Final = 20

_MAX_TITLE = 200
_MAX_SNIPPET = 500
_MAX_ADDRESS = 1_000


# Names of the ddgs library.
ENGINES: Final = ("duckduckgo",)


async def search(query: str, engine: str, count: int, *, limits: WebLimits = LIMITS) -> dict[str, Any]:
    """Return `results`, at most `count`, the best first, each with `title`, `url` and `snippet`.

    `engine` is a name of ENGINES or the address of a SearXNG server. Raises RequestError.
    """
    count = max(1, min(count, MAX_RESULTS))
    if engine.startswith(("http://", "https://")):
        rows = await _searxng(query, engine, limits)
    else:
        if engine not in ENGINES:
            names = ", ".join(ENGINES)
            raise RequestError(
                f"There is no search engine {engine[:100]!r}; the settings take {names}"
                " or the address of a SearXNG server."
            )
        rows = await _ddgs(query, engine, count, limits)
    return {"results": [found for row in rows if (found := _result(row))][:count]}


async def _ddgs(query: str, engine: str, count: int, limits: WebLimits) -> list[Mapping[str, Any]]:
    from ddgs import DDGS
    from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

    def ask() -> list[dict[str, Any]]:
        library = DDGS(timeout=max(1, int(limits.seconds / 2)))
        return library.text(query, backend=engine, region="wt-wt", max_results=count)

    try:
        async with asyncio.timeout(limits.seconds):
            rows = await asyncio.to_thread(ask)
    except (TimeoutError, TimeoutException):
        raise RequestError(f"{engine} did not answer in time; try again later.") from None
    except RatelimitException:
        raise RequestError(f"{engine} takes no more questions for now; wait, or use fewer.") from None
    except DDGSException as error:
        if "No results" in str(error):
            return []
        raise RequestError(f"{engine} could not be asked: {' '.join(str(error).split())[:200]}") from None
    return [{"title": row.get("title"), "url": row.get("href"), "content": row.get("body")} for row in rows]


async def _searxng(query: str, address: str, limits: WebLimits) -> list[Mapping[str, Any]]:
    # The user chose this address, so it may be on the user's own computer or network.
    answer = await download(
        address.rstrip("/").removesuffix("/search") + "/search",
        policy=AddressPolicy(anywhere=True),
        limits=WebLimits(limits.seconds, limits.size, redirects=0),
        accepts=("application/json",),
        query={"q": query, "format": "json"},
    )
    try:
        rows = json.loads(answer.data)["results"]
    except (ValueError, KeyError, TypeError, RecursionError):
        rows = None
    if not isinstance(rows, list):
        raise RequestError(f"{address[:200]} did not answer as a SearXNG server does (JSON with results).")
    return [row for row in rows if isinstance(row, dict)]


def _result(row: Mapping[str, Any]) -> dict[str, str] | None:
    """Return a result for the model, None if it has no web address."""
    url = row.get("url")
    if not isinstance(url, str) or not url.startswith(("http://", "https://")) or len(url) > _MAX_ADDRESS:
        return None
    return {
        "title": _line(row.get("title"), _MAX_TITLE),
        "url": _line(url, _MAX_ADDRESS),
        "snippet": _line(row.get("content"), _MAX_SNIPPET),
    }


def _line(text: object, longest: int) -> str:
    return " ".join(clean_text(text).split())[:longest] if isinstance(text, str) else ""
