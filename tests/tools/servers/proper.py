"""An MCP server that behaves, made with the kit: `proper.py` over stdio, `proper.py PORT` over HTTP."""

import asyncio
import os
import sys

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.types import ToolAnnotations

server = MCPServer("proper")


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


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run("stdio")
