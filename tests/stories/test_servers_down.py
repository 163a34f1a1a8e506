"""MCP servers that an assistant names and that cannot be used: each is named once in a run."""

import json
from pathlib import Path

from app.core.tool import McpServer
from tests.stories.every_kind import furnish
from tests.stories.processes import moot
from tests.wire import Answer, WireServer
from tests.wire.fixtures import wire_home, wire_servers

__all__ = ["wire_home", "wire_servers"]

GONE = McpServer(name="gone", command="no-such-program")
NEW = McpServer(name="new", command="no-such-program", args=("--new",))


def write_servers(data_dir: Path) -> None:
    """Write three servers and the consents to two, and let every assistant have all of them."""
    entries = {
        "gone": {"command": GONE.command},
        "new": {"command": NEW.command, "args": list(NEW.args)},
        "waits": {"command": "npx"},
        "off": {"command": "no-such-program", "disabled": True},
    }
    (data_dir / "mcp.json").write_text(json.dumps({"mcpServers": entries}), "utf-8")
    tools = [f"{GONE.fingerprint}/{tool}" for tool in ("", "a", "a/always", "b")]
    document = {"version": 1, "consents": [GONE.fingerprint, NEW.fingerprint, *tools]}
    (data_dir / "consents.json").write_text(json.dumps(document), "utf-8")
    for path in (data_dir / "assistants").iterdir():
        document = json.loads(path.read_text("utf-8"))
        path.write_text(json.dumps({**document, "mcp_servers": list(entries)}), "utf-8")


def test_the_next_run_names_it_again_and_what_waits_for_the_user_is_a_notice_too(
    data_dir: Path, wire_home: dict[str, WireServer]
) -> None:
    furnish(data_dir, wire_home)
    write_servers(data_dir)
    wire_home["openai"].script("openai-wire", lambda _: Answer("Yes."))
    first = moot("ask", "keeper", "Are you there?", "--json")
    session_id = first.events[0]["session_id"]
    second = moot("ask", "--session", session_id, "keeper", "Still there?", "--json")
    for done in (first, second):
        told = [(one["code"], one["level"]) for one in done.events if one["event"] == "notice"]
        assert sorted(told) == [
            ("server_down", "warning"), ("server_down_unknown", "warning"), ("server_waits", "warning")
        ]  # fmt: skip
