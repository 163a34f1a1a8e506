"""An MCP server as a person gives it: by a name and a line, or as the `mcpServers` JSON of another client."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import replace

from app.core.errors import BadInput
from app.core.server_secrets import has_user, is_reference, parted, resolved
from app.core.tool import McpServer

WEB = ("http://", "https://")


def server_of(name: str, line: str, variables: str) -> McpServer:
    """Return the server of a form: `line` is a command or an address, `variables` are NAME=value lines.

    It arrives disabled. Raises BadInput.
    """
    name, line = name.strip(), line.strip()
    if not name:
        raise BadInput("server_name_empty")
    pairs = _pairs(variables)
    if line.startswith(WEB):
        _check_address(line)
        return McpServer(name=name, url=line, headers=pairs, disabled=True)
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise BadInput("server_line_unreadable", detail=str(error)) from error
    if not words:
        raise BadInput("server_line_empty")
    return McpServer(name=name, command=words[0], args=tuple(words[1:]), env=pairs, disabled=True)


def form_of(server: McpServer) -> tuple[str, str, tuple[str, ...]]:
    """Return line and variables of a server as its form shows them, and the names whose values are not shown."""
    kept, _ = parted(server)
    pairs = _pairs_of(kept)
    secret = tuple(name for name, value in pairs.items() if is_reference(value))
    lines = (f"{name}={'' if name in secret else value}" for name, value in pairs.items())
    return kept.url or shlex.join((kept.command, *kept.args)), "\n".join(lines), secret


def edited(server: McpServer, name: str, line: str | None, variables: str) -> McpServer:
    """Return a server as its form has it now; `line` is None where it was not touched. Raises BadInput.

    An empty value that was not shown stays as it is, and so does what the form does not show at all.
    """
    kept, values = parted(server)
    fresh = server_of(name, form_of(server)[0] if line is None else line, variables)
    if line is None:
        fresh = replace(fresh, command=kept.command, args=kept.args, url=kept.url)
    before, now = _pairs_of(kept), _pairs_of(fresh)
    pairs = {
        one: before[one] if not value and is_reference(before.get(one, "")) else value
        for one, value in now.items()
    }
    same_kind = bool(fresh.url) == bool(kept.url)
    other: Mapping[str, str] = (kept.env if kept.url else kept.headers) if same_kind else {}
    env, headers = (other, pairs) if fresh.url else (pairs, other)
    fresh = replace(fresh, env=env, headers=headers, cwd=server.cwd, disabled=server.disabled)
    return resolved(fresh, values.get)


def _pairs_of(server: McpServer) -> Mapping[str, str]:
    return server.headers if server.url else server.env


def servers_of(text: str) -> tuple[McpServer, ...]:
    """Return the servers of a pasted JSON, with or without `mcpServers` around them; all arrive disabled.

    Raises BadInput naming the entry that cannot be used.
    """
    try:
        document = json.loads(text)
    except ValueError as error:
        raise BadInput("server_json_unreadable", detail=str(error)) from error
    entries = document.get("mcpServers", document) if isinstance(document, dict) else None
    if not isinstance(entries, dict) or not entries:
        raise BadInput("server_json_empty")
    return tuple(_server(str(name), entry) for name, entry in entries.items())


def _server(name: str, entry: object) -> McpServer:
    if not isinstance(entry, dict):
        raise BadInput("server_entry_bad", name=name)
    command, url, cwd = (entry.get(field, "") for field in ("command", "url", "cwd"))
    args, env, headers = entry.get("args", []), entry.get("env", {}), entry.get("headers", {})
    texts = all(isinstance(one, str) for one in (command, url, cwd))
    fits = texts and isinstance(args, list) and all(isinstance(one, str) for one in args)
    pairs = all(
        isinstance(one, dict) and all(isinstance(value, str) for value in one.values())
        for one in (env, headers)
    )
    if not fits or not pairs or bool(command) == bool(url) or (url and not url.startswith(WEB)):
        raise BadInput("server_entry_bad", name=name)
    _check_address(url)
    return McpServer(
        name=name,
        command=command,
        args=tuple(args),
        env=env,
        cwd=cwd,
        url=url,
        headers=headers,
        disabled=True,
    )


def _check_address(address: str) -> None:
    if has_user(address):
        raise BadInput("server_address_user")


def _pairs(text: str) -> dict[str, str]:
    pairs = {}
    for number, line in enumerate(text.splitlines(), 1):
        name, equals, value = line.partition("=")
        if not line.strip():
            continue
        if not equals or not name.strip():
            # Not the line itself: it may be nothing but a key.
            raise BadInput("server_variable_bad", line=number)
        pairs[name.strip()] = value.strip()
    return pairs
