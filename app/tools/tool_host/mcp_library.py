"""Resources and prompts of an MCP server: lists of them, and what is in one."""

import contextlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from mcp import Client

from app.core.text import readable, visible
from app.core.tool import ServerProblem
from app.tools.tool_host.errors import RequestError
from app.tools.tool_host.mcp_results import plain_result

_MOST = 500
_PAGES = 20
_NAME_CHARACTERS = 200
_TEXT_CHARACTERS = 1_000
_URI_CHARACTERS = 2_000
_ARGUMENTS = 20

Line = Mapping[str, Any]


async def prompts(client: Client) -> list[dict[str, Any]]:
    """Return the prompts of a server: name, title and arguments of each."""
    if client.server_capabilities.prompts is None:
        return []
    found = await all_of(client.list_prompts, "prompts")
    return [
        {
            "name": one.name,
            "title": _short(one.title or one.name, _NAME_CHARACTERS),
            "arguments": [
                {"name": each.name, "title": _short(each.title or each.name, _NAME_CHARACTERS)}
                for each in (one.arguments or ())[:_ARGUMENTS]
            ],
        }
        for one in found
        if len(one.name) <= _NAME_CHARACTERS
    ]


async def resources(client: Client, _line: Line) -> dict[str, Any]:
    """Return the resources of a server, those with blanks in their addresses last."""
    found = await all_of(client.list_resources, "resources")
    listed = [(one, str(one.uri)) for one in found]
    # Many servers have resources, but no method for templates.
    with contextlib.suppress(Exception):
        templates = await all_of(client.list_resource_templates, "resource_templates")
        listed += [(one, one.uri_template) for one in templates]
    return {
        "resources": [
            {
                "uri": uri,
                "name": _short(one.title or one.name or uri, _NAME_CHARACTERS),
                "description": _short(one.description or "", _TEXT_CHARACTERS),
                "media_type": _short(one.mime_type or "", _NAME_CHARACTERS),
            }
            for one, uri in listed[:_MOST]
            if len(uri) <= _URI_CHARACTERS
        ]
    }


async def read(client: Client, line: Line) -> dict[str, Any]:
    """Return what is in a resource, as files."""
    contents = (await client.read_resource(line["uri"])).contents
    taken = plain_result({"content": [{"type": "resource", "resource": plain_json(one)} for one in contents]})
    if not taken["files"]:
        raise RequestError(taken["text"] or "The resource is empty.", ServerProblem.FAILED)
    return {"files": _readable_files(taken)}


async def prompt(client: Client, line: Line) -> dict[str, Any]:
    """Return the text of a prompt with its arguments filled in, and the files it names."""
    result = await client.get_prompt(line["name"], dict(line["values"]))
    parts = [plain_json(one.content) for one in result.messages]
    # The texts of embedded resources are attached, and not part of the prompt.
    texts = [str(part["text"]) for part in parts if part.get("type") == "text"]
    rest = plain_result({"content": [part for part in parts if part.get("type") != "text"]})
    return {"text": readable("\n\n".join(texts)), "files": _readable_files(rest)}


OPERATIONS: Final[Mapping[str, Callable[[Client, Line], Awaitable[dict[str, Any]]]]] = {
    "resources": resources,
    "read": read,
    "prompt": prompt,
}


async def all_of(list_page: Callable[..., Awaitable[Any]], field: str) -> list[Any]:
    """Return what a server lists, from all its pages, up to a limit."""
    found: list[Any] = []
    cursor: str | None = None
    seen: set[str] = set()
    for _ in range(_PAGES):
        page = await list_page(cursor=cursor, cache_mode="bypass")
        found += getattr(page, field)
        cursor = page.next_cursor
        if cursor is None or cursor in seen or len(found) >= _MOST:
            break
        seen.add(cursor)
    return found[:_MOST]


def _readable_files(taken: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{**file, "text": readable(file["text"])} for file in taken["files"]]


def _short(text: str, most: int) -> str:
    return " ".join(visible(text).split())[:most]


def plain_json(value: Any) -> dict[str, Any]:
    """Return a message of the protocol as JSON values."""
    plain: dict[str, Any] = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return plain
