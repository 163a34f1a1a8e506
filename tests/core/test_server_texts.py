"""What other programs say of MCP servers: understood, or refused with the reason."""

import base64
import contextlib
import json
import time

import pytest

from app.core.errors import BadInput
from app.core.servers import McpServer, servers_of, usual_entry

FILES = McpServer(name="files", command="npx", args=("-y", "x"), disabled=True)
WEB = McpServer(name="web", url="https://example.org/mcp", disabled=True)
KEYED = McpServer(
    name="web",
    url="https://example.org/mcp",
    headers={"Authorization": "Bearer a b", "X-Team": "1"},
    disabled=True,
)
ENTRY = '"files": {"command": "npx", "args": ["-y", "x"]}'

UNDERSTOOD = {
    "usual": (f'{{"mcpServers": {{{ENTRY}}}}}', FILES),
    "alone": (f"{{{ENTRY}}}", FILES),
    "an entry and a comma": (f"{ENTRY},", FILES),
    "the usual without braces": (f'"mcpServers": {{{ENTRY}}}', FILES),
    "settings of VS Code": (f'{{"editor": 1, "mcp": {{"inputs": [], "servers": {{{ENTRY}}}}}}}', FILES),
    "settings of Zed": (f'// Zed\n{{"theme": "x", "context_servers": {{{ENTRY}, }}, /* }} */ }}', FILES),
    "a server with the name of a frame": (
        '{"mcp": {"command": "npx", "args": ["-y", "x"]}}',
        McpServer(name="mcp", command="npx", args=("-y", "x"), disabled=True),
    ),
    "marks of comments in texts": (
        '{"web": {"url": "https://example.org/mcp", "headers": {"A": "// \\",} /*"}}}',
        McpServer(name="web", url=WEB.url, headers={"A": '// ",} /*'}, disabled=True),
    ),
    "a fence with blanks": (f"\n ```jsonc\n{{{ENTRY}}}\n```\nRestart the program.", FILES),
    "claude": ("claude mcp add files -- npx -y x", FILES),
    "claude, without a mark": ("$ claude mcp add --scope user files npx -y x", FILES),
    "claude, variables": (
        "claude mcp add -e A=1 B=2 --transport stdio files \\\n  -- npx -y x",
        McpServer(name="files", command="npx", args=("-y", "x"), env={"A": "1", "B": "2"}, disabled=True),
    ),
    "claude, an address": (
        (
            "claude mcp add --transport http web https://example.org/mcp "
            '--header "Authorization: Bearer a b" "X-Team: 1"'
        ),
        KEYED,
    ),
    "claude, JSON": (
        (
            'claude mcp add-json web \'{"type":"http","url":"https://example.org/mcp",'
            '"headers":{"Authorization":"Bearer a b","X-Team":1}}\''
        ),
        KEYED,
    ),
    "codex": ("codex mcp add web --url https://example.org/mcp", WEB),
}


@pytest.mark.parametrize(("text", "server"), UNDERSTOOD.values(), ids=list(UNDERSTOOD))
def test_what_other_programs_write_is_understood(text, server):
    assert servers_of(text) == (server,)


def test_a_line_without_paths_of_windows_is_quoted_as_in_a_posix_shell_there_too(monkeypatch):
    monkeypatch.setattr("app.core.servers.WINDOWS", True)
    [server] = servers_of("claude mcp add files \\\n -- npx -y 'my server'")
    assert server.args == ("-y", "my server")
    [server] = servers_of(r'claude mcp add files -- C:\Tools\files.exe "C:\My Files"')
    assert (server.command, server.args) == (r"C:\Tools\files.exe", (r"C:\My Files",))


REFUSED = [
    ("", "server_json_empty", {}),
    ("[]", "server_json_empty", {}),
    ('{"mcpServers": {}}', "server_json_empty", {}),
    ('{"a": 3}', "server_entry_bad", {"name": "a"}),
    ('{"a": {"args": ["x"]}}', "server_entry_bad", {"name": "a"}),
    ('{"a": {"command": "x", "url": "https://y"}}', "server_entry_command_and_url", {"name": "a"}),
    ('{"a": {"url": "file:///etc"}}', "server_entry_bad_url", {"detail": "file:///etc"}),
    ('{"a": {"url": "https://me:pw@h"}}', "server_address_user", {}),
    ('{"a": {"serverUrl": "https://me:pw@h"}}', "server_address_user", {}),
    ('{"a": {"command": "x", "args": "y"}}', "server_entry_wrong_type", {"field": "args"}),
    ('{"a": {"command": "x", "env": {"A": []}}}', "server_entry_wrong_type", {"field": "env.A"}),
    ('{"command": "x"}', "server_entry_unnamed", {}),
    ('{"a\\nb": {"command": "x"}}', "server_entry_bad_server_name", {}),
    ('{"a": {"type": "sse", "url": "https://h/sse"}}', "server_entry_sse", {"name": "a"}),
    ('{"a": {"transport": "sse", "url": "https://h/sse"}}', "server_entry_sse", {"name": "a"}),
    ("claude mcp add --transport sse a https://h/sse", "server_entry_sse", {"name": "a"}),
    ('{"a": {"type": "ws", "url": "wss://h"}}', "server_entry_unknown_transport", {"detail": "ws"}),
    ('{"a": {"command": "x", "env": {"K": "${input:k}"}}}', "server_entry_blank", {"blank": "${input:k}"}),
    ('{"a": {"command": ["x", "{env:K}"]}}', "server_entry_blank", {"blank": "{env:K}"}),
    ('{"a": {"command": "x", "env": {"K": "${K:-canary}"}}}', "server_entry_blank", {"blank": "${K"}),
    ("claude mcp add", "server_json_unreadable", {}),
    ("claude mcp add --scope user", "server_name_empty", {}),
    ("claude mcp add a -- 'x", "server_line_unreadable", {}),
    ('{\n  "a": {"command" "x"}\n}', "server_json_unreadable", {"line": 2, "column": 19}),
    ('// one\n{"a": /* two */ x}', "server_json_unreadable", {"line": 2, "column": 17}),
    ('"a": x', "server_json_unreadable", {"line": 1, "column": 6}),
    ("[" * 100_000, "server_json_unreadable", {"detail": "RecursionError"}),
]


@pytest.mark.parametrize(("text", "code", "details"), REFUSED, ids=[text[:40] for text, _, _ in REFUSED])
def test_what_cannot_be_used_is_refused_with_the_reason(text, code, details):
    with pytest.raises(BadInput) as caught:
        servers_of(text)
    assert (caught.value.code, caught.value.details | details) == (code, caught.value.details)
    assert "pw" not in str(caught.value.details) and "canary" not in str(caught.value.details)


def test_a_user_in_an_address_becomes_a_header():
    usual = usual_entry({"url": "https://me:p%40ss@h.test/mcp?x=1", "headers": {"A": "b"}})
    login = base64.b64encode(b"me:p@ss").decode()
    assert usual == {
        "url": "https://h.test/mcp?x=1",
        "headers": {"A": "b", "Authorization": f"Basic {login}"},
    }


PIECES = [
    '"',
    "\\",
    '\\"',
    "/",
    "/*",
    "//",
    ",",
    ", ",
    "{",
    "[",
    " ",
    "`",
    "```\n",
    "${",
    "{env:",
    "a=",
    "-e ",
]


@pytest.mark.parametrize("start", ["", '{"a": "', "claude mcp add a "])
@pytest.mark.parametrize("piece", PIECES)
def test_the_time_to_read_a_text_grows_with_its_length_alone(start, piece):
    def taken(times: int) -> float:
        text = start + piece * times
        best = 9.0
        for _ in range(3):
            began = time.process_time()
            with contextlib.suppress(BadInput):
                servers_of(text)
            best = min(best, time.process_time() - began)
        return best

    # Twenty times the text: a quadratic reading takes four hundred times as long.
    assert taken(20_000) < 100 * max(taken(1_000), 0.0005)


def test_the_order_of_servers_stays():
    entries = {f"s{number}": {"command": "x"} for number in range(9)}
    assert [one.name for one in servers_of(json.dumps(entries))] == list(entries)
