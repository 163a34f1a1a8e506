"""An MCP server that behaves, made with the kit: `proper.py` over stdio, `proper.py PORT` over HTTP."""

import asyncio
import os
import sys
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.apps import Apps
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp.types import EmbeddedResource, ImageContent, TextContent, TextResourceContents, ToolAnnotations
from pydantic import BaseModel

apps = Apps()
apps.add_html_resource("ui://clock/app.html", "<p>It is time</p>")


@apps.tool(resource_uri="ui://clock/app.html")
def clock() -> str:
    """Tell the time, with a page."""
    return "twelve"


server = MCPServer("proper", extensions=[apps])


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def environment() -> dict[str, str]:
    """Tell which variables this server was given."""
    return dict(os.environ)


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def fail() -> str:
    """Fail."""
    raise ValueError("it went wrong")


@server.tool()
async def slow(seconds: float, context: Context) -> str:
    """Take some time, and say so."""
    print(f"slow {seconds}", file=sys.stderr, flush=True)
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        print("slow was cancelled", file=sys.stderr, flush=True)
        raise
    return "done"


@server.tool()
def long(characters: int) -> str:
    """Return a long text."""
    return "x" * characters


@server.tool()
def page() -> list[Any]:
    """Return a page in the way of MCP-UI, and a picture."""
    resource = TextResourceContents(uri="ui://form/1", mime_type="text/html", text="<p>Hello</p>")
    return [
        EmbeddedResource(type="resource", resource=resource),
        TextContent(type="text", text="A form"),
        ImageContent(type="image", data="AAAA", mime_type="image/png"),
    ]


@server.tool()
async def grow(context: Context) -> str:
    """Get another tool."""
    server.add_tool(late)
    await context.notify_tools_changed()
    return "grown"


def late() -> str:
    """Come late."""
    return "late"


class Name(BaseModel):
    """What the server wants to know."""

    name: str
    old: bool = False


def ask_name() -> Elicit[Name]:
    return Elicit("Who is it?", Name)


@server.tool()
def greet(person: Annotated[Name, Resolve(ask_name)]) -> str:
    """Greet somebody, after asking who it is."""
    return f"Hello {person.name}, {person.old}"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run("stdio")
