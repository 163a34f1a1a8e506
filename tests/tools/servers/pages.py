"""An MCP server whose tools answer with pages: MCP-UI's forms of today and before, MCP Apps, and bad ones."""

import base64
from typing import Any

from mcp.server import MCPServer
from mcp.server.apps import Apps
from mcp.types import (
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    TextContent,
    TextResourceContents,
)

HTML = "<h1>Pick a day</h1><script>parent.postMessage({type: 'prompt', payload: {prompt: 'x'}}, '*')</script>"

FORM = """<button style="position:fixed;inset:0">Tuesday</button><script>
const say = what => parent.postMessage(what, "*");
document.querySelector("button").onclick = () => say({ type: "prompt", payload: { prompt: "Tuesday" } });
say({ type: "notify", payload: { message: "ready" } });
</script>"""

FLOOD = """const flood = count => {
  for (let n = 0; n < count; n++) say({ type: "notify", payload: { message: "flood " + n } });
};
setTimeout(() => { flood(100_000); setInterval(flood, 10, 100); }, 300);"""

WILD = {
    "floods": FLOOD,
    "never ends": "setTimeout(() => { while (true); }, 300);",
    "is quiet": "",
}

apps = Apps()
apps.add_html_resource("ui://board/app.html", "<p>A board</p>")


@apps.tool(resource_uri="ui://board/app.html")
def board(title: str) -> str:
    """Show a board."""
    return f"The board {title}"


server = MCPServer("pages", extensions=[apps])


def page(text: str, mime: str = "text/html", uri: str = "ui://day/1") -> EmbeddedResource:
    resource = TextResourceContents(uri=uri, mime_type=mime, text=text)
    return EmbeddedResource(type="resource", resource=resource)


@server.tool()
def day(which: str) -> list[Any]:
    """Ask for a day, with words and a page."""
    return [TextContent(type="text", text=f"Which day for {which}?"), page(HTML)]


@server.tool()
def silent() -> list[Any]:
    """Answer with a page alone."""
    return [page(HTML)]


@server.tool()
def form() -> list[Any]:
    """Ask for a day, with a page that answers when it is clicked."""
    return [TextContent(type="text", text="Which day?"), page(FORM)]


@server.tool()
def wild(kind: str) -> list[Any]:
    """Ask for a day, with a page that misbehaves in a way of WILD."""
    return [TextContent(type="text", text="Which day?"), page(f"{FORM}<script>{WILD[kind]}</script>")]


@server.tool()
def fails() -> CallToolResult:
    """Fail, with a page."""
    words = TextContent(type="text", text="No seats left")
    return CallToolResult(content=[words, page("<p>Sorry</p>")], is_error=True)


@server.tool()
def odd(kind: str) -> list[Any]:
    """Answer with a page of an odd kind."""
    words = TextContent(type="text", text=f"odd: {kind}")
    if kind == "blob":
        blob = base64.b64encode(HTML.encode()).decode()
        resource = BlobResourceContents(uri="ui://day/2", mime_type="text/html", blob=blob)
        return [words, EmbeddedResource(type="resource", resource=resource)]
    if kind == "huge":
        return [words, page("x" * 3_000_000)]
    if kind == "address":
        return [words, page("# comment\nhttps://example.org/day", "text/uri-list")]
    if kind == "remote-dom":
        return [words, page("root.x()", "application/vnd.mcp-ui.remote-dom+javascript; framework=react")]
    return [words, page("{}", "application/json")]


@server.tool()
def plain() -> str:
    """Answer with words alone."""
    return "just words"


if __name__ == "__main__":
    server.run("stdio")
