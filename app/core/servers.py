"""MCP servers: their entries as people write them, and which parts of one are secrets.

References stand for secrets, for the engine, which keeps them in the keyring, for whoever starts a server,
and for whoever shows one. A part is named by its field: `env.TOKEN`, `headers.Authorization`, `args.token`.
"""

import base64
import json
import re
import shlex
import sys
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import field, replace
from hashlib import sha256
from typing import Any, Final, cast
from urllib.parse import unquote, urlsplit

from app.core.errors import BadInput
from app.core.frozen import Frozen
from app.core.json_values import object_in
from app.core.texts import join_command

# The placeholder in an MCP server's entry for a secret that is stored in the keyring.
REFERENCE: Final = re.compile(r"\$\{secret:([^{}]{1,200})\}")
WINDOWS: Final = sys.platform == "win32"


class McpServer(Frozen):
    """An entry of `mcp.json`: a command with its arguments and environment, or an address."""

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    disabled: bool = False

    @property
    def fingerprint(self) -> str:
        """What consent is bound to: the exact command line, folder and address, the names of all variables
        and headers, and the value of each that is not kept in the keyring. Any variable may change what runs.
        """
        names, headers = sorted(self.env), sorted(self.headers)
        bound: list[object] = [self.command, list(self.args), names, self.cwd, self.url, headers]
        both = [pairs.items() for pairs in (self.env, self.headers)]
        values = [{name: value for name, value in pairs if not is_reference(value)} for pairs in both]
        if any(values):
            bound += values
        return sha256(json.dumps(bound, sort_keys=True).encode()).hexdigest()


PLACE = "mcp:"
LOGIN = "login"
HIDDEN = "•••"

# What no secret is, whatever it belongs to.
_HARMLESS = re.compile(
    r"(?i)\s*(|true|false|yes|no|on|off|none|null|auto|default|all|debug|info|"
    r"warn|warning|error|trace|verbose"
    r"|quiet|silent|production|development|test|staging|local|localhost)\s*"
)
# What none is unless its name says so: a number, a language, a place in the file system, a plain address.
_PLAIN = re.compile(
    r"-?\d{1,6}(\.\d+)?|[a-z]{2}([_-][A-Za-z]{2})?(\.(utf|UTF)-?8)?"
    r"|(~|\.{1,2}|[A-Za-z]:)?[\\/][^\n]*|(https?|wss?)://[\w.:-]+(/[\w./-]*)?"
)
_PLAIN_HEADERS = frozenset(
    ("accept", "accept-encoding", "accept-language", "cache-control", "content-type", "user-agent")
)
_NAME_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SECRET_WORD = re.compile(
    r"keys?|pass|passwd|passphrase|pwd|pw|auth|authorization|credentials?|cookies?|bearer|jwt|sig|signature"
    r"|session|pat|pin|otp|private|dsn|.*(apikey|accesskey|secretkey|authkey|tokens?|secrets?|passwords?)"
)
# A key as providers make them. Package names have no capitals: none can pass for one.
_KEY = re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[A-Za-z]{2,12}[-_][\w-]{16,}|(AIza|AKIA|eyJ)[\w.-]{12,}")
# What only a machine thinks of.
_RANDOM = re.compile(r"(?=.*\d.*\d)(?=.*[A-Za-z].*[A-Za-z])[\w.~%+=-]{20,}")
_SCHEME = re.compile(r"(?i)((?:bearer|basic|token)\s+)(\S.*)")
_QUERY = re.compile(r"(?<=[?&])([^=&#]+)=([^&#]*)")
_USER = re.compile(r"(?<=://)([^/?#@\s]*)@")
_FLAG = re.compile(r"--?[A-Za-z][\w.-]+")
_PATH = re.compile(r"(~|\.{1,2}|[A-Za-z]:)?[\\/][\w.@ \\/-]*")
_NAMED = re.compile(r"(-{0,2}[A-Za-z_][\w.-]*)=(.+)", re.DOTALL)
_HEADER = re.compile(r"([A-Za-z][\w-]*)(:\s*)(.+)", re.DOTALL)
_SHORTEST_HIDDEN = 4


def secret_place(server: str, field: str) -> str:
    """Return what a server's secret is kept under."""
    return f"{PLACE}{server}:{field}"


def is_login_to(kept: str, url: str) -> bool:
    """Say whether the kept text of a login is one to this address."""
    return bool(kept) and kept_login(kept).get("url") == url


def login_texts(kept: str) -> tuple[str, ...]:
    """Return the secrets in the kept text of a login: its tokens, and what the client is known by."""
    login = kept_login(kept)
    places = [("tokens", "access_token"), ("tokens", "refresh_token")]
    places += [("client", "client_secret"), ("given", "client_secret")]
    texts = [str((login.get(part) or {}).get(name) or "") for part, name in places]
    return tuple(text for text in texts if len(text) >= _SHORTEST_HIDDEN)


def kept_login(kept: str) -> dict[str, Any]:
    """Return what is kept of a login as JSON text; nothing where it cannot be read."""
    return object_in(kept) or {}


def secret_fields(server: McpServer) -> tuple[str, ...]:
    """Return the fields a server refers to, each once."""
    texts = (*server.args, server.url, *server.env.values(), *server.headers.values())
    return tuple(dict.fromkeys(field for text in texts for field in REFERENCE.findall(text)))


def parted(server: McpServer, leave: Collection[str] = ()) -> tuple[McpServer, dict[str, str]]:
    """Return a server with references in place of its secrets, and the secrets by their fields.

    Those of the fields to `leave` stay where they are.
    """
    parts = _Parts(secret_fields(server), leave)
    args, url = parts.arguments(server.args), parts.address("url", server.url)
    return _with_values(replace(server, args=args, url=url), parts.variable), parts.found


def resolved(server: McpServer, value: Callable[[str], str | None]) -> McpServer:
    """Return a server with its secrets in place of the references; one without a value stays a reference."""

    def fill(text: str) -> str:
        return REFERENCE.sub(lambda match: match[0] if (kept := value(match[1])) is None else kept, text)

    filled = replace(server, args=tuple(map(fill, server.args)), url=fill(server.url))
    return _with_values(filled, lambda _kind, _name, text: fill(text))


def _with_values(server: McpServer, change: Callable[[str, str, str], str]) -> McpServer:
    """Return a server whose variables and headers have what `change` returns of kind, name and value."""
    env = {name: change("env", name, value) for name, value in server.env.items()}
    headers = {name: change("headers", name, value) for name, value in server.headers.items()}
    return replace(server, env=env, headers=headers)


def split_command(line: str, *, windows: bool = WINDOWS) -> list[str]:
    """Return the words of a command line as the user's system reads it. Raises ValueError.

    On Windows: https://learn.microsoft.com/en-us/cpp/c-language/parsing-c-command-line-arguments
    """
    if not windows:
        return shlex.split(line)
    words: list[str] = []
    word: str | None = None
    quoted = False
    for piece in re.findall(r'\\*"|\s+|\\+|[^\s"\\]+', line):
        if piece.endswith('"'):
            # Backslashes are part of a path, except those before a quotation mark.
            pairs, escaped = divmod(len(piece) - 1, 2)
            word = (word or "") + "\\" * pairs + '"' * escaped
            quoted ^= not escaped
        elif quoted or not piece.isspace():
            word = (word or "") + piece
        elif word is not None:
            words.append(word)
            word = None
    if quoted:
        raise ValueError("No closing quotation")
    return words if word is None else [*words, word]


def hidden(text: str) -> str:
    """Return a text of a server with a mark in place of each reference."""
    return REFERENCE.sub(HIDDEN, text)


def shown_line(server: McpServer) -> str:
    """Return what would be run or asked: the command with its arguments, or the address, without secrets."""
    safe, _ = parted(server)
    return hidden(safe.url or join_command([safe.command, *safe.args]))


def shown_values(server: McpServer) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the variables and headers whose values may be shown, and the names of those that are secrets."""
    safe, _ = parted(server)
    pairs = {**safe.env, **safe.headers}
    shown = {name: value for name, value in sorted(pairs.items()) if not has_reference(value)}
    return shown, tuple(sorted(pairs.keys() - shown.keys()))


def is_reference(text: str) -> bool:
    """Say whether a value is nothing but a reference."""
    return REFERENCE.fullmatch(text) is not None


def has_reference(text: str) -> bool:
    """Say whether a text of a server refers to a secret."""
    return REFERENCE.search(text) is not None


def hidden_address(address: str) -> str:
    """Return an address, sound or not, with a mark in place of its user and of every value in its query."""
    return _QUERY.sub(rf"\1={HIDDEN}", _USER.sub(f"{HIDDEN}@", address))


def has_user(address: str) -> bool:
    """Say whether an address, sound or not, holds a user or a password."""
    return _USER.search(address) is not None


def has_key(address: str) -> bool:
    """Say whether the query of an address, sound or not, holds what looks like a key."""
    return any(_is_part(name, value) for name, value in _QUERY.findall(address))


def to_hide(field: str, value: str) -> tuple[str, ...]:
    """Return the texts by which a secret is known wherever it turns up.

    None for a value that may be an ordinary word, such as the name of a region: taking that out of all
    texts would spoil them.
    """
    kind, _, name = field.partition(".")
    telling = kind != "env" or _is_secret_name(name) or len(value) >= 20 or _KEY.fullmatch(value) is not None
    telling = telling or (len(value) >= 12 and any(map(str.isdigit, value)) and any(map(str.isalpha, value)))
    if not telling:
        return ()
    texts = [value.strip(), unquote(value)]
    texts += [match[2] for match in [_SCHEME.fullmatch(value.strip())] if match]
    texts += [user.partition(":")[2] for user in _USER.findall(value)]
    texts += [line.strip() for line in value.splitlines() if len(line) >= 20]
    return tuple(dict.fromkeys(text for text in texts if len(text) >= _SHORTEST_HIDDEN))


def texts_to_hide(secrets: Mapping[str, str]) -> tuple[str, ...]:
    """Return the texts by which these secrets, given by their fields, are known."""
    return tuple(text for field, value in secrets.items() for text in to_hide(field, value))


class _Parts:
    """Takes the secrets out of one server, each under a field of its own."""

    def __init__(self, used: Iterable[str], leave: Collection[str]) -> None:
        self.found: dict[str, str] = {}
        self._used = set(used)
        self._leave = leave

    def variable(self, kind: str, name: str, value: str) -> str:
        """Return a variable's or header's value, or the reference to it: all but what is plainly harmless."""
        if (
            REFERENCE.search(value)
            or _HARMLESS.fullmatch(value)
            or (kind == "headers" and name.lower() in _PLAIN_HEADERS)
            or (not _is_secret_name(name) and (_PLAIN.fullmatch(value) or _must_be_seen(value)))
        ):
            return value
        return self._take(f"{kind}.{name}", value)

    def arguments(self, args: tuple[str, ...]) -> tuple[str, ...]:
        """Return arguments with references in place of what their flags, names or looks give away."""
        parted, flag = [], ""
        for text in args:
            parted.append(self._argument(flag, text))
            flag = text if _FLAG.fullmatch(text) else ""
        return tuple(parted)

    def _argument(self, flag: str, text: str) -> str:
        if flag and not text.startswith("-") and _is_given(flag, text):
            return self._take(f"args.{flag.lstrip('-')}", text)
        if (pair := _NAMED.fullmatch(text)) and _is_given(pair[1], pair[2]):
            name = pair[1].lstrip("-")
            return f"{pair[1]}={self._take(f'args.{name}', pair[2])}"
        if "://" in text:
            return self.address("args", text)
        if (header := _HEADER.fullmatch(text)) and _is_flag(header[1]) and _is_named(header[1], header[3]):
            return header[1] + header[2] + self._take(f"args.{header[1]}", header[3])
        if (scheme := _SCHEME.fullmatch(text)) and not REFERENCE.search(text):
            return scheme[1] + self._take("args.key", scheme[2])
        return self._take("args.key", text) if _KEY.fullmatch(text) else text

    def address(self, kind: str, address: str) -> str:
        """Return an address with references in place of a password, and of what looks like a key in it."""

        def user(match: re.Match[str]) -> str:
            if REFERENCE.search(match[1]):
                return match[0]
            name, colon, password = match[1].partition(":")
            if not colon and (_KEY.fullmatch(name) or _RANDOM.fullmatch(name)):
                return f"{self._take(f'{kind}.user', name)}@"
            if not password:
                return match[0]
            return f"{name}{colon}{self._take(f'{kind}.password', password)}@"

        def value(match: re.Match[str]) -> str:
            if not _is_part(match[1], match[2], kind):
                return match[0]
            return f"{match[1]}={self._take(f'{kind}.{match[1]}', match[2])}"

        address, mark, query = _USER.sub(user, address).partition("?")
        if kind == "url":
            address = "/".join(
                self._take(f"{kind}.path", piece) if place > 2 and _RANDOM.fullmatch(piece) else piece
                for place, piece in enumerate(address.split("/"))
            )
        return address + _QUERY.sub(value, mark + query)

    def _take(self, field: str, value: str) -> str:
        field = re.sub(r"[{}]", "_", field)[:180]
        number, name = 1, field
        while name in self._used:
            number += 1
            name = f"{field}.{number}"
        self._used.add(name)
        if name in self._leave:
            return value
        self.found[name] = value
        return f"${{secret:{name}}}"


def _is_named(name: str, value: str) -> bool:
    return _is_secret_name(name) and not _HARMLESS.fullmatch(value) and not REFERENCE.search(value)


def _is_flag(name: str) -> bool:
    """Say whether the name of an argument says so with its last word: `--auth-command` is none."""
    words = _NAME_WORD.findall(name)
    return bool(words) and _is_secret_name(words[-1])


def _is_given(name: str, value: str) -> bool:
    """Say whether an argument is a secret by its name.

    A place in the file system is none, nor is what has blanks: it may be what runs, and must be seen.
    """
    may_run = _PATH.fullmatch(value) or re.search(r"\s", value)
    return _is_flag(name) and _is_named(name, value) and not may_run


def _is_part(name: str, value: str, kind: str = "url") -> bool:
    """Say whether a value in the query of an address is a secret; one of an argument not by its length
    alone.
    """
    if REFERENCE.search(value):
        return False
    random = kind == "url" and _RANDOM.fullmatch(value) is not None
    return random or _is_named(unquote(name), value) or _KEY.fullmatch(value) is not None


def _must_be_seen(value: str) -> bool:
    """Say whether a variable's value may decide what runs, and holds no secret: an address, options,
    a command.
    """
    if "\n" in value or value.lstrip().startswith(("{", "[")):
        return False
    if re.fullmatch(r"[A-Za-z][\w+.-]*://\S+", value):
        return not has_user(value) and _Parts((), ()).address("url", value) == value
    try:
        words = split_command(value)
    except ValueError:
        words = value.split()
    # What follows the name of an option: "/x.jar" of "-javaagent:/x.jar".
    operands = [re.sub(r"^-{1,2}[\w.-]+[=:]", "", word) for word in words]
    if not any(word.startswith("-") or _PATH.fullmatch(word) for word in (*words, *operands)):
        return False
    pieces = [
        piece for word in operands if not _PATH.fullmatch(word) for piece in re.split(r"[\s=:/,;]", word)
    ]
    if any(_KEY.fullmatch(piece) or _RANDOM.fullmatch(piece.lstrip("-")) for piece in pieces):
        return False
    return _Parts((), ()).arguments(tuple(words)) == tuple(words)


def _is_secret_name(name: str) -> bool:
    return any(_SECRET_WORD.fullmatch(word.lower()) for word in _NAME_WORD.findall(name))


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
    **dict.fromkeys(("transport", "transportType"), "type"),
    **dict.fromkeys(("serverUrl", "httpUrl"), "url"),
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
    is_plain = parts.username is None and port_is_fine and not any(map(str.isspace, text))
    return parts.scheme in ("http", "https") and bool(parts.hostname) and is_plain


def usual_entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry with the names and types of fields that `mcp.json` has, as far as it can be understood.

    A user and a password in an address become a header, which is kept in the keyring as others are.
    """
    usual = dict(entry)
    if isinstance(usual.get("command"), dict):
        usual |= {"command" if name == "path" else name: item for name, item in usual.pop("command").items()}
    usual = {name: value for name, value in usual.items() if value is not None or name not in _FIELDS}
    for other in _OTHER_NAMES.keys() & usual.keys():
        usual.setdefault(_OTHER_NAMES[other], usual.pop(other))
    for name in ("env", "headers"):
        if isinstance(usual.get(name), dict):
            pairs = usual[name].items()
            usual[name] = {key: _as_text(value) for key, value in pairs if value is not None}
    if isinstance(usual.get("args"), list):
        usual["args"] = [_as_text(item) for item in usual["args"]]
    if isinstance(usual.get("enabled"), bool):
        usual.setdefault("disabled", not usual.pop("enabled"))
    return _with_header(_with_arguments(usual))


def _with_arguments(usual: dict[str, Any]) -> dict[str, Any]:
    """Return an entry whose command is the program alone; one given by its path may have blanks in it."""
    command, args = usual.get("command"), usual.get("args", [])
    if isinstance(command, str) and " " in command.strip() and not re.match(r"\s*[^\s]*[/\\]", command):
        try:
            command = split_command(command)
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
    fields = {item: usual[item] for item in _FIELDS.keys() & usual.keys() - {"type"}}
    lists = {item: tuple(value) for item, value in fields.items() if isinstance(value, list)}
    return McpServer(name=name, **fields | lists)


def servers_of(text: str) -> tuple[McpServer, ...]:
    """Return the servers of a pasted configuration of any known program, or of its command that adds one,
    all disabled.

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
    """Return a text as JSON; comments, commas before a closing bracket
    and missing outer braces are no faults.
    """
    bare = text.startswith('"')
    whole = f"{{{text}}}" if bare else text
    # Places in the text stay as they are.
    whole = _COMMENT.sub(lambda match: match[1] or re.sub(r"[^\n]", " ", match[0]), whole)
    whole = _LAST_COMMA.sub(lambda match: match[1] or " ", whole)
    try:
        return json.loads(whole)
    except json.JSONDecodeError as error:
        column = error.colno - (bare and error.lineno == 1)
        place = {"line": error.lineno, "column": column}
        raise BadInput("server_json_unreadable", **place, detail=error.msg) from error
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
    line = re.sub(r"\\\r?\n", " ", text)
    try:
        # Pages about servers quote as a POSIX shell does, also those for Windows.
        words = deque(split_command(line, windows=WINDOWS and "\\" in line))
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
