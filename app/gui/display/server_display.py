"""How MCP servers and tools are shown: the state as text and tone, the command line without secrets, names."""

from app.core.message import Prompt
from app.core.server_secrets import shown_line
from app.core.text import exact
from app.core.texts import Texts
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
    """Return a server's state in a word or two, and the tone of its chip."""
    if status.state == ServerState.OFF and not status.server.disabled:
        return words("server.state.ready"), "neutral"
    if status.state not in TONES:
        return status.state, "neutral"
    return words(f"server.state.{status.state}"), TONES[status.state]


def server_trouble(status: ServerStatus, words: Language) -> str:
    """Return what is wrong with a server that is down; its last output if the reason is unknown."""
    parts = [
        words.problem(status.problem) if status.problem else "",
        status.detail,
        words("server.restarts") if status.restarts else "",
    ]
    return " ".join(part for part in parts if part)


def server_line(server: McpServer) -> str:
    """Return exactly what would run: the command with its arguments, or the address.

    A mark replaces each secret. Invisible characters, and those that change the text direction, are shown as codes.
    """
    return exact(shown_line(server))


def tool_name(key: str, words: Language) -> str:
    """Return a tool's name: that of one of Moot's own in words, that of a server's without the server."""
    return (
        words(f"tool.{key}.name")
        if f"tool.{key}.name" in words.texts
        else exact(key.partition("__")[2] or key)
    )


def called(prompt: Prompt, texts: Texts) -> str:
    """Return what the tool of an approval is called: one of Moot's own in words, one of a server by the server's names."""
    ours = f"tool.{prompt.tool}.name"
    return texts(ours) if not prompt.server and ours in texts else prompt.called
