"""An MCP server as a person gives it: by a name and a line, or as the `mcpServers` JSON of another client."""

import json
import shlex

from app.core.errors import BadInput
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
        return McpServer(name=name, url=line, headers=pairs, disabled=True)
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise BadInput("server_line_unreadable", detail=str(error)) from error
    if not words:
        raise BadInput("server_line_empty")
    return McpServer(name=name, command=words[0], args=tuple(words[1:]), env=pairs, disabled=True)


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


def _pairs(text: str) -> dict[str, str]:
    pairs = {}
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if not line.strip():
            continue
        if not equals or not name.strip():
            raise BadInput("server_variable_bad", line=line[:80])
        pairs[name.strip()] = value.strip()
    return pairs
