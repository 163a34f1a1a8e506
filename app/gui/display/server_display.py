"""How an MCP server is shown: its state in words with a tone, and its command line but for secrets."""

from app.core.server_secrets import shown_line
from app.core.text import exact
from app.core.tool import McpServer, ServerState, ServerStatus
from app.gui.display.i18n import Language

TONES: dict[str, str] = {
    ServerState.CONNECTED: "ok",
    ServerState.CONNECTING: "neutral",
    ServerState.DOWN: "error",
    ServerState.ASKING: "warn",
    ServerState.OFF: "neutral",
}


def server_state(status: ServerStatus, words: Language) -> tuple[str, str]:
    """Return a server's state in a word or two and the tone of its chip."""
    if status.state == ServerState.OFF and not status.server.disabled:
        return words("server.state.ready"), "neutral"
    if status.state not in TONES:
        return status.state, "neutral"
    return words(f"server.state.{status.state}"), TONES[status.state]


def server_trouble(status: ServerStatus, words: Language) -> str:
    """Return what is wrong with a server that is down, in words; its last words alone where nobody knows."""
    parts = [words.problem(status.problem) if status.problem else "", status.detail]
    return " ".join(part for part in parts if part)


def server_line(server: McpServer) -> str:
    """Return what would be run or asked, exactly: the command with its arguments, or the address.

    A mark stands for each secret. What cannot be seen, or would turn the line round, is written as its code.
    """
    return exact(shown_line(server))
