"""MCP servers as people write them: entries of `mcp.json`, and what other programs' configurations and commands say."""

import base64
import json
import re
import shlex
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, cast
from urllib.parse import unquote, urlsplit

from app.core.errors import BadInput
from app.core.server_secrets import REFERENCE, McpServer, has_user, hidden_address

Field = tuple[str | int, ...]
Fault = tuple[str, Field, str]

MAX_NAME: Final = 64
# The names of the two transports in other programs.
BY_COMMAND: Final = frozenset(("stdio", "local"))
BY_ADDRESS: Final = frozenset(("http", "remote", "streamable-http", "streamablehttp", "streamable_http"))

# The fields of an entry, each with its type; what is in a list or an object is text.
_FIELDS = {
    **dict.fromkeys(("command", "cwd", "url", "type"), str),
    "args": list,
    **dict.fromkeys(("env", "headers"), dict),
    "disabled": bool,
}
# What other programs call a field; the last two are those of Windsurf and Gemini CLI.
_OTHER_NAMES = {
    "environment": "env",
    "transport": "type",
    "transportType": "type",
    "serverUrl": "url",
    "httpUrl": "url",
}
_ADDRESSES = ("url", "serverUrl", "httpUrl")
# What stands around the servers: most programs, VS Code, Zed, opencode.
_AROUND = ("mcpServers", "servers", "context_servers", "mcp")

_FENCED = re.compile(r"```[^\n`]*\n(.*?)(?:```|\Z)", re.DOTALL)
# Each matches to the end of the text where its own end is missing: so the time grows with the text alone.
_STRING = r'"(?:[^"\\]++|\\(?:.|\Z))*+(?:"|\Z)'
_COMMENT = re.compile(rf"({_STRING})|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_LAST_COMMA = re.compile(rf"({_STRING})|,(?=\s*[}}\]])", re.DOTALL)
# What another program fills in before it starts a server.
_BLANK = re.compile(r"\$\{(?!secret:)[A-Za-z][^{}]*\}|\{(?:env|file):[^{}]+\}")
_ADD = re.compile(r"(?:[$>%]\s*)?(?:claude|codex|gemini)\s+mcp\s+add(-json)?\s")
# The options of these commands that have a value, by what they are for.
_OPTIONS = {
    **dict.fromkeys(("-e", "--env"), "env"),
    **dict.fromkeys(("-H", "--header"), "headers"),
    **dict.fromkeys(("-t", "--transport"), "type"),
    **dict.fromkeys(("-s", "--scope", "--client-id", "--callback-port"), ""),
    "--url": "url",
}
_PAIR = {"env": re.compile(r"(\w+)=(.*)", re.DOTALL), "headers": re.compile(r"([\w-]+):\s*(.*)", re.DOTALL)}


def is_web_address(text: str) -> bool:
    """Return whether a text is an http or https address with a host, without user and spaces."""
    try:
        parts = urlsplit(text)
        port_is_fine = parts.port is None or parts.port > 0
    except ValueError:
        return False
    return (
        parts.scheme in ("http", "https")
        and bool(parts.hostname)
        and parts.username is None
        and port_is_fine
        and not any(character.isspace() for character in text)
    )


def usual_entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry with the names and types of fields that `mcp.json` has, as far as it can be understood.

    A user and a password in an address become a header, which is kept in the keyring as others are.
    """
    usual = dict(entry)
    if isinstance(usual.get("command"), dict):
        usual |= {"command" if name == "path" else name: one for name, one in usual.pop("command").items()}
    usual = {name: value for name, value in usual.items() if value is not None or name not in _FIELDS}
    for other in _OTHER_NAMES.keys() & usual.keys():
        usual.setdefault(_OTHER_NAMES[other], usual.pop(other))
    for name in ("env", "headers"):
        if isinstance(usual.get(name), dict):
            pairs = usual[name].items()
            usual[name] = {key: _as_text(value) for key, value in pairs if value is not None}
    if isinstance(usual.get("args"), list):
        usual["args"] = [_as_text(one) for one in usual["args"]]
    if isinstance(usual.get("enabled"), bool):
        enabled = usual.pop("enabled")
        usual.setdefault("disabled", not enabled)
    return _with_header(_with_arguments(usual))


def _with_arguments(usual: dict[str, Any]) -> dict[str, Any]:
    """Return an entry whose command is the program alone; one given by its path may have blanks in it."""
    command, args = usual.get("command"), usual.get("args", [])
    if isinstance(command, str) and " " in command.strip() and not re.match(r"\s*[^\s]*[/\\]", command):
        try:
            command = shlex.split(command)
        except ValueError:
            return usual
    if not isinstance(command, list) or not command or not isinstance(args, list):
        return usual
    return {**usual, "command": command[0], "args": [*map(_as_text, command[1:]), *args]}


def _with_header(usual: dict[str, Any]) -> dict[str, Any]:
    url, headers = usual.get("url"), usual.get("headers", {})
    if not isinstance(url, str) or not has_user(url) or not isinstance(headers, dict):
        return usual
    scheme, _, rest = url.partition("://")
    user, _, host = rest.partition("@")
    taken = REFERENCE.search(user) or "authorization" in map(str.casefold, headers)
    if taken or not is_web_address(f"{scheme}://{host}"):
        return usual
    name, _, password = user.partition(":")
    login = base64.b64encode(f"{unquote(name)}:{unquote(password)}".encode()).decode()
    return {**usual, "url": f"{scheme}://{host}", "headers": {**headers, "Authorization": f"Basic {login}"}}


def entry_fault(name: str, usual: object) -> Fault | None:
    """Return (code, field, detail) of the fault of a usual entry, None if it can be used."""
    if not name.strip() or len(name) > MAX_NAME or not name.isprintable():
        return "bad_server_name", (), ""
    if not isinstance(usual, dict):
        return "wrong_type", (), ""
    wrong = _wrong_type(usual)
    if wrong:
        return "wrong_type", wrong, ""
    way = usual.get("type", "").casefold()
    by_address = way in BY_ADDRESS or (not way and bool(usual.get("url")))
    if way and way not in BY_ADDRESS | BY_COMMAND:
        return "unknown_transport", ("type",), way[:40]
    if usual.get("url") and usual.get("command"):
        return "command_and_url", ("url",), ""
    needed = "url" if by_address else "command"
    if not usual.get(needed, "").strip():
        return "missing", (needed,), ""
    if by_address and not is_web_address(usual["url"]):
        return "bad_url", ("url",), hidden_address(usual["url"])[:200]
    return None


def _wrong_type(usual: dict[str, Any]) -> Field:
    for name, kind in _FIELDS.items():
        value = usual.get(name, kind())
        if not isinstance(value, kind):
            return (name,)
        inside: Iterable[tuple[Any, Any]] = ()
        if isinstance(value, list | dict):
            inside = value.items() if isinstance(value, dict) else enumerate(value)
        for place, item in inside:
            if not isinstance(item, str):
                return (name, place)
    return ()


def server_of_entry(name: str, usual: Mapping[str, Any]) -> McpServer:
    """Return the server that a usual entry without a fault describes."""
    fields = {one: usual[one] for one in _FIELDS.keys() & usual.keys() - {"type"}}
    lists = {one: tuple(value) for one, value in fields.items() if isinstance(value, list)}
    return McpServer(name=name, **fields | lists)


def servers_of(text: str) -> tuple[McpServer, ...]:
    """Return the servers of a pasted configuration of any known program, or of its command that adds one, all disabled.

    Raises BadInput with the reason why it cannot be used.
    """
    text = text.strip("\ufeff \t\r\n")
    if fenced := _FENCED.match(text):
        text = fenced[1].strip()
    if not text:
        raise BadInput("server_json_empty")
    if add := _ADD.match(text):
        entries: Mapping[str, object] = _added(text[add.end() :], as_json=bool(add[1]))
    else:
        entries = _entries(_parsed(text))
    if not entries:
        raise BadInput("server_json_empty")
    return tuple(_pasted(str(name), entry) for name, entry in entries.items())


def _parsed(text: str) -> object:
    """Return a text as JSON; comments, commas before a closing bracket and missing outer braces are no faults."""
    bare = text.startswith('"')
    # Places in the text stay as they are.
    whole = _COMMENT.sub(
        lambda match: match[1] or re.sub(r"[^\n]", " ", match[0]), f"{{{text}}}" if bare else text
    )
    whole = _LAST_COMMA.sub(lambda match: match[1] or " ", whole)
    try:
        return json.loads(whole)
    except json.JSONDecodeError as error:
        column = error.colno - (bare and error.lineno == 1)
        raise BadInput(
            "server_json_unreadable", line=error.lineno, column=column, detail=error.msg
        ) from error
    except (ValueError, RecursionError) as error:
        raise BadInput("server_json_unreadable", line=1, column=1, detail=type(error).__name__) from error


def _entries(document: object) -> Mapping[str, object]:
    if not isinstance(document, dict):
        return {}
    if _is_entry(document):
        raise BadInput("server_entry_unnamed")
    around = next((name for name in _AROUND if name in document and not _is_entry(document[name])), "")
    inner = document[around] if around else document
    if around and isinstance(inner, dict) and not _is_entry(inner.get("servers")):
        # VS Code's settings have `servers` in `mcp`.
        inner = inner.get("servers", inner)
    return inner if isinstance(inner, dict) else {}


def _is_entry(value: object) -> bool:
    fields = ("command", *_ADDRESSES)
    return isinstance(value, dict) and any(isinstance(value.get(name), str | list) for name in fields)


def _pasted(name: str, entry: object) -> McpServer:
    if isinstance(entry, dict):
        if any(has_user(str(entry.get(field, ""))) for field in _ADDRESSES):
            raise BadInput("server_address_user")
        entry = usual_entry(entry)
    if fault := entry_fault(name, entry):
        code, field, detail = fault
        if detail == "sse" or not field or code == "missing":
            code = {"unknown_transport": "sse", "bad_server_name": code}.get(code, "bad")
        raise BadInput(f"server_entry_{code}", name=name, field=".".join(map(str, field)), detail=detail)
    server = server_of_entry(name, cast("dict[str, Any]", entry))
    values = (server.command, *server.args, server.url, *server.env.values(), *server.headers.values())
    if blank := next(filter(None, map(_BLANK.search, values)), None):
        # What stands behind ":-" is a value.
        raise BadInput("server_entry_blank", name=name, blank=blank[0].partition(":-")[0][:80])
    return replace(server, disabled=True)


def _added(text: str, *, as_json: bool) -> dict[str, object]:
    """Return the entry that the arguments of a command `mcp add` describe, by its name. Raises BadInput."""
    try:
        words = deque(shlex.split(re.sub(r"\\\r?\n", " ", text)))
    except ValueError as error:
        raise BadInput("server_line_unreadable", detail=str(error)) from error
    found: list[str] = []
    entry: dict[str, Any] = {"env": {}, "headers": {}}
    while words:
        word = words.popleft()
        option, equals, value = word.partition("=")
        if word == "--" or (len(found) > 1 and not as_json and not _is_address(found[1])):
            # What follows the program's name is the program's own.
            found += [*([] if word == "--" else [word]), *words]
            break
        if option not in _OPTIONS:
            found += [] if word.startswith("-") else [word]
            continue
        given = [value] if equals else [words.popleft()] if words else []
        kind = _OPTIONS[option]
        if kind in _PAIR:
            while words and _PAIR[kind].fullmatch(words[0]):
                given.append(words.popleft())
            entry[kind] |= {match[1]: match[2] for match in map(_PAIR[kind].fullmatch, given) if match}
        elif kind and given:
            entry[kind] = given[0]
    if not found:
        raise BadInput("server_name_empty")
    name, *rest = found
    if as_json:
        return {name: _parsed(" ".join(rest))}
    if rest and _is_address(rest[0]):
        entry["url"] = rest[0]
    elif rest:
        entry |= {"command": rest[0], "args": rest[1:]}
    return {name: entry}


def _is_address(word: str) -> bool:
    return word.startswith(("http://", "https://"))


def _as_text(value: object) -> object:
    """Return a number or a truth value as the text that it is written as; what else there is, as it is."""
    return json.dumps(value) if isinstance(value, bool | int | float) else value
