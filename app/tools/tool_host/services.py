"""What the tool host does for Moot: the functions it may be asked for, by name; loaded when first used."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

Service = Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]


class ServiceError(Exception):
    """A service could not do it; the text says what, where and what to do, for the model to read."""


async def _web_fetch(arguments: Mapping[str, Any]) -> dict[str, Any]:
    from app.tools.tool_host.web_fetch import fetch

    return await fetch(arguments["url"])


async def _web_search(arguments: Mapping[str, Any]) -> dict[str, Any]:
    from app.tools.tool_host.web_search import search

    return await search(arguments["query"], arguments["engine"], arguments["count"])


SERVICES: Final[Mapping[str, Service]] = {"web_fetch": _web_fetch, "web_search": _web_search}
