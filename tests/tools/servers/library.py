"""An MCP server with resources and prompts, made with the kit."""

from mcp.server import MCPServer
from mcp.server.mcpserver.prompts.base import AssistantMessage, UserMessage

server = MCPServer("library")


@server.resource("notes://today", name="Today", description="What happened today", mime_type="text/markdown")
def today() -> str:
    return "# Today\n\nIt rained."


@server.resource("notes://{month}/{day}", name="A day")
def day(month: str, day: str) -> str:
    return f"Notes of {month} {day}"


@server.resource("notes://broken", name="Broken")
def broken() -> str:
    raise ValueError("the disk is gone")


@server.prompt(title="Review code")
def review(code: str, style: str = "") -> list[UserMessage | AssistantMessage]:
    """Ask for a review."""
    return [UserMessage(f"Review this{f', {style}' if style else ''}: {code}"), AssistantMessage("Gladly.")]


@server.prompt(title="Plain words")
def plain() -> str:
    """Say something."""
    return "Say it plainly."


@server.prompt(title="Hidden\u200b words")
def hidden() -> str:
    """Hide something."""
    return "Say" + "\n \u200b" + "\n" * 200 + "\u202ehello"


@server.resource("notes://hidden", name="Hid\u2060den", description="Line" + "\n" * 200 + "line")
def hidden_note() -> str:
    return "Note" + "\n\t" * 200 + "\u200bend"


if __name__ == "__main__":
    server.run("stdio")
