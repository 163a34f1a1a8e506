"""Reads and writes small JSON documents, also `providers.json` and `mcp.json`; faults are reported by field.

Also what is kept of a file that another program put in place of one that Moot uses: what is said of it, and
its bytes in quarantine under a name with `.other-`. A session's log that can be read becomes a session of its
own. `mcp.json` has the `mcpServers` object of other MCP clients; backups and the trash contain no secrets
that the user wrote into it. In the trash an entry is a file of its own kind, with its former place.
"""

import contextlib
import copy
import dataclasses
import json
import math
import re
import time
import zlib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

from app.core import servers as core_servers
from app.core.catalog import COMPATIBLE, USUAL, ModelList, ProviderConfig, provider_kind
from app.core.errors import BadInput, Problem, StorageError
from app.core.frozen import Frozen
from app.core.json_values import as_list, object_in
from app.core.provider import KnownFacts, KnownModels, KnownQuirks
from app.core.servers import McpServer, has_key, hidden_address, parted, server_of_entry, usual_entry
from app.core.session_files import DEVICES
from app.core.texts import clean_values
from app.storage.codec import Place, Wrong, encode, plain, read
from app.storage.file_system import FileSystem, storage_errors, write_whole

MAX_BYTES = 5_000_000
MAX_DEPTH = 100
MAX_DIGITS = 300

Field = Place
Noun = TypeVar("Noun")

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)
VERSION = 1
MAX_ID = 64
_NAME = re.compile(r"[^\W_](?:[\w.-]*[\w-])?")
# The field of a document in the trash for its former place in a list.
PLACE = "place"


class JsonFile(Frozen, kw_only=False):
    """A parsed file: its value, and the line on which each of its fields begins."""

    path: Path
    value: Any
    lines: dict[Field, int]

    def problem(self, code: str, at: Field = (), detail: str = "") -> Problem:
        """Return a Problem of a field, with its line."""
        place = at
        while place and place not in self.lines:
            place = place[:-1]
        return _at(self.path, code, self.lines.get(place), at, detail)


def field_name(field: Field) -> str:
    """Return a field as users write it: `providers[0].kind`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in field)
    return text.removeprefix(".")


def read_json_file(path: Path) -> JsonFile | Problem | None:
    """Read a JSON file; None if there is none, a Problem if it cannot be used."""
    try:
        if not path.is_file():
            return _at(path, "not_a_file") if path.exists() or path.is_symlink() else None
        if path.stat().st_size > MAX_BYTES:
            return _at(path, "too_large")
        data = path.read_bytes()
    except OSError as error:
        return _at(path, "unreadable", detail=error.strerror or "")
    return parse_json(path, data)


def readable_file(path: Path) -> JsonFile | None:
    """Read a JSON file that is to be changed; None if there is none. Raises StorageError for a faulty one."""
    found = read_json_file(path)
    if isinstance(found, Problem):
        raise refusal(found)
    return found


def parse_json(path: Path, data: bytes) -> JsonFile | Problem:
    """Parse the bytes of a JSON file."""
    if not data.strip(b"\0 \t\r\n"):
        return _at(path, "empty")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data:
        return _at(path, "encoding", line=data[: data.find(b"\0")].count(b"\n") + 1)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return _at(path, "encoding", line=data[: error.start].count(b"\n") + 1)
    lines, fault = _survey(path, text)
    if fault is not None:
        return fault
    value = parse_object(path, text)
    return value if isinstance(value, Problem) else JsonFile(path, clean_values(value), lines)


def parse_object(path: Path, data: str | bytes) -> dict[str, Any] | Problem:
    """Parse a JSON object as it is: not cleaned, and without a search for the faults that `json` accepts."""
    try:
        value = json.loads(data)
    except json.JSONDecodeError as error:
        return _at(path, "not_json", line=error.lineno, detail=error.msg)
    except (ValueError, RecursionError) as error:
        return _at(path, "not_json", detail=type(error).__name__)
    return value if isinstance(value, dict) else _at(path, "not_an_object", line=1)


def _at(path: Path, code: str, line: int | None = None, field: Field = (), detail: str = "") -> Problem:
    return Problem(path=str(path), code=code, line=line, field=field_name(field), detail=detail)


def _survey(path: Path, text: str) -> tuple[dict[Field, int], Problem | None]:
    """Return the lines of the fields, and the first fault that `json` would accept.

    These are duplicate keys, NaN, huge numbers, and deep nesting.
    """
    lines: dict[Field, int] = {}
    place: list[str | int] = []
    is_list: list[bool] = []
    line, seen, key = 1, 0, False
    for match in _TOKEN.finditer(text):
        line += text.count("\n", seen, match.start())
        seen = match.start()
        word = match.group()
        if word in "[{":
            lines.setdefault(tuple(place), line)
            if len(is_list) >= MAX_DEPTH:
                return lines, _at(path, "too_deep", line)
            is_list.append(word == "[")
            place.append(0 if word == "[" else "")
            key = word == "{"
        elif word in "]}":
            if not is_list:
                return lines, None
            is_list.pop()
            place.pop()
            key = False
        elif word == ",":
            if is_list and is_list[-1]:
                last = place[-1]
                place[-1] = last + 1 if isinstance(last, int) else 0
            key = bool(is_list) and not is_list[-1]
        elif word == ":":
            key = False
        elif key:
            place[-1] = _unquoted(word)
            key = False
            if tuple(place) in lines:
                return lines, _at(path, "duplicate_key", line, tuple(place))
            lines[tuple(place)] = line
        else:
            lines.setdefault(tuple(place), line)
            if word[0] != '"' and not _is_sane(word):
                return lines, _at(path, "bad_number", line, tuple(place), word[:40])
    return lines, None


def _is_sane(word: str) -> bool:
    if word in ("NaN", "Infinity", "-Infinity") or len(word) > MAX_DIGITS:
        return False
    try:
        return math.isfinite(float(word))
    except ValueError:
        return True


def _unquoted(word: str) -> str:
    try:
        return str(json.loads(word))
    except ValueError:
        return word


def previous_of(path: Path) -> Path:
    """Return the path of the previous copy."""
    return path.with_name(path.name + ".bak")


def is_newer(file: JsonFile) -> bool:
    """Return whether a document is of a newer, unknown version."""
    version = file.value.get("version", VERSION)
    return type(version) is not int or version > VERSION


def as_bytes(document: dict[str, Any]) -> bytes:
    """Return a document as bytes: indented, with Korean unescaped."""
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False).encode() + b"\n"


def replace_document(
    disk: FileSystem, path: Path, document: dict[str, Any], previous: dict[str, Any] | None = None
) -> bytes:
    """Write a document and return its bytes; the present file, or `previous`, becomes the previous copy.

    Raises StorageError.
    """
    path = path.resolve()  # The user may have put a link there.
    data = as_bytes(document)
    with storage_errors(path):
        with contextlib.suppress(FileNotFoundError):
            before = disk.read(path)
            write_whole(disk, previous_of(path), before if previous is None else as_bytes(previous))
        write_whole(disk, path, data)
    return data


def own_document(disk: FileSystem, path: Path, quarantine: Path) -> dict[str, Any]:
    """Return one of Moot's own documents for writing; one that cannot be read is set aside first.

    Raises StorageError, also for a document of a newer version.
    """
    found = read_json_file(path)
    if isinstance(found, Problem):
        set_aside(disk, path, quarantine)
        return {}
    if found is not None and is_newer(found):
        raise StorageError("newer_version", path=str(path))
    return found.value if found is not None else {}


def write_to_trash(disk: FileSystem, trash: Path, name: str, document: dict[str, Any]) -> str:
    """Write a document of its own to the trash and return its file there. Raises StorageError."""
    with storage_errors(trash):
        path = place_in_trash(disk, trash, name)
        write_whole(disk, path, as_bytes(document))
    return path.name


def put_back_in_place(entries: list[Any], entry: Any, place: object) -> None:
    """Insert an entry where it was, at the end if its place is not known."""
    entries.insert(place if type(place) is int and place >= 0 else len(entries), entry)


def place_in_trash(disk: FileSystem, trash: Path, name: str, suffix: str = ".json") -> Path:
    """Return a free path in the trash for something of this name that is deleted now. Raises OSError."""
    taken = {stat.name for stat in disk.scan(trash)}
    moment = int(time.time())
    while f"{name}.{moment}{suffix}" in taken:
        moment += 1
    return trash / f"{name}.{moment}{suffix}"


def refusal(problem: Problem) -> StorageError:
    """Return the error for a file that is not overwritten because it could not be read."""
    detail = problem.detail or problem.field or problem.code
    return StorageError("unreadable_file", path=problem.path, line=problem.line or "?", detail=detail)


def set_aside(disk: FileSystem, path: Path, quarantine: Path) -> None:
    """Move one of Moot's own files that cannot be read to quarantine. Raises StorageError."""
    with storage_errors(path):
        number = 1
        while (target := quarantine / f"{path.name}.{number}").exists():
            number += 1
        disk.move(path, target)


def validated(
    kind: type[Noun], file: JsonFile, at: Field, entry: object, problems: list[Problem]
) -> Noun | None:
    """Return the object of class `kind` that an entry describes; None after adding a problem
    for each wrong field.
    """
    wrong: list[Wrong] = []
    found = read(kind, entry, wrong, at)
    problems += [file.problem(item.code, item.place, item.detail) for item in wrong]
    return None if wrong else found


def with_defaults(kind: type[Noun], file: JsonFile, problems: list[Problem]) -> Noun:
    """Return the object of a class that a document describes, after adding a problem for each wrong field.

    Such a field has its default; every field of the class has one.
    """
    wrong: list[Wrong] = []
    found = read(kind, file.value, wrong)
    problems += [file.problem(field.code, field.place, field.detail) for field in wrong]
    return kind() if found is None else found


def is_name(text: str) -> bool:
    """Return whether an id can be part of a file name and of a variable name on every system."""
    fits = len(text) <= MAX_ID and _NAME.fullmatch(text) is not None
    return fits and text.partition(".")[0].casefold() not in DEVICES


_MARK = ".other-"
# What is in the name of a session's cut-off end, before where it began.
TORN = ".torn-"


class Replaced(Frozen):
    """A file that another program deleted, cut or replaced while Moot used it, or the end of a session's log
    that is not one.

    `code` is that of the notice, `name` the session's title or the file's name. The other version is the
    session `kept_id` with the title `kept`, or the file `kept`; "" if it added nothing.
    """

    code: str
    name: str
    session_id: str = ""
    kept: str = ""
    kept_id: str = ""


def keep_bytes(disk: FileSystem, quarantine: Path, path: Path, data: bytes) -> Path:
    """Keep another version of a file in quarantine and return its path. Raises OSError."""
    kept = quarantine / f"{path.stem}{_MARK}{zlib.crc32(data):08x}{path.suffix}"
    if not disk.exists(kept):
        write_whole(disk, kept, data)
    return kept


def kept_versions(disk: FileSystem, quarantine: Path) -> list[Problem]:
    """Return a problem for each file that is kept, so that the user finds it; none
    if the folder cannot be read.
    """
    try:
        names = sorted(stat.name for stat in disk.scan(quarantine) if _MARK in stat.name or TORN in stat.name)
    except OSError:
        return []
    codes = {name: "other_version" if _MARK in name else "torn_end" for name in names}
    return [Problem(path=str(quarantine / name), code=code) for name, code in codes.items()]


PROVIDERS = "providers"
NEWER = "newer_version"


class ProviderEntries(Frozen):
    """The contents of `providers.json`; `document` is all of it.

    `providers` are those to show, `places` the indexes of usable entries. Of an entry in `unusable` only the
    id is certain; its address may be another than the catalogue's. With `damage` nothing in the file is
    certain.
    """

    providers: tuple[ProviderConfig, ...]
    document: dict[str, Any] | None = None
    places: Mapping[str, int] = dataclasses.field(default_factory=dict)
    unusable: Mapping[str, Problem] = dataclasses.field(default_factory=dict)
    damage: Problem | None = None
    problems: tuple[Problem, ...] = ()

    def problem_of(self, provider_id: str) -> Problem | None:
        """Return why the entry of a provider cannot be used, None if it can."""
        return self.damage or self.unusable.get(provider_id)


def read_providers(path: Path) -> ProviderEntries:
    """Read the file; if there is none, return the usual providers that have models."""
    file = read_json_file(path)
    damage = file if isinstance(file, Problem) else None
    entries: Any = file.value.get(PROVIDERS) if isinstance(file, JsonFile) else None
    if isinstance(file, JsonFile) and is_newer(file):
        damage = file.problem(NEWER, ("version",))
    elif isinstance(file, JsonFile) and not isinstance(entries, list):
        damage = file.problem("wrong_type" if PROVIDERS in file.value else "missing", (PROVIDERS,))
    if not isinstance(file, JsonFile) or damage is not None:
        usual = tuple(ProviderConfig(id=row.kind, kind=row.kind) for row in USUAL if row.models)
        return ProviderEntries(providers=usual, damage=damage, problems=(damage,) if damage else ())
    found: dict[str, ProviderConfig] = {}
    places: dict[str, int] = {}
    unusable: dict[str, Problem] = {}
    problems: list[Problem] = []
    for place, entry in enumerate(entries):
        before = len(problems)
        config = _read_entry(file, place, entry, found, problems)
        if len(problems) > before:
            unusable.setdefault(config.id, problems[before])
        else:
            places[config.id] = place
        found.setdefault(config.id, config)
    return ProviderEntries(
        providers=tuple(found.values()),
        document=file.value,
        # Of two entries with the same id, neither can be used.
        places={name: place for name, place in places.items() if name not in unusable},
        unusable=unusable,
        problems=tuple(problems),
    )


def writable_entries(path: Path) -> tuple[dict[str, Any], ProviderEntries]:
    """Return the document for writing, and its contents. Raises StorageError if it must not be
    overwritten.
    """
    entries = read_providers(path)
    if entries.damage is not None and entries.damage.code == NEWER:
        raise StorageError(NEWER, path=str(path))
    if entries.damage is not None:
        raise refusal(entries.damage)
    return entries.document or {"version": VERSION, PROVIDERS: []}, entries


def _read_entry(
    file: JsonFile, place: int, entry: Any, found: Mapping[str, ProviderConfig], problems: list[Problem]
) -> ProviderConfig:
    """Return the provider of an entry; if it is unusable, add a problem and return what is certain of it."""
    at: Field = (PROVIDERS, place)
    config: ProviderConfig | None = validated(ProviderConfig, file, at, entry, problems)
    if config is not None:
        fault = _fault(config, set(found))
        if fault is None:
            return config
        code, name, detail = fault
        problems.append(file.problem(code, (*at, name), detail))
    values = entry if isinstance(entry, dict) else {}
    named, kind = values.get("id"), values.get("kind")
    known = named if isinstance(named, str) and is_name(named) else field_name(at)
    # The kind shown for an entry without a readable one.
    kind = kind if isinstance(kind, str) and provider_kind(kind) else COMPATIBLE
    return ProviderConfig(id=known, kind=kind)


def with_providers(
    before: list[Any], known: Mapping[str, int], providers: tuple[ProviderConfig, ...]
) -> list[Any]:
    """Return the entries of these providers; unknown fields and unusable entries stay."""
    entries = [entry for place, entry in enumerate(before) if place not in known.values()]
    for config in providers:
        entry = copy.deepcopy(before[known[config.id]]) if config.id in known else {}
        for field in dataclasses.fields(ProviderConfig):
            value = plain(getattr(config, field.name))
            if value or field.name in entry or field.name == "enabled":
                entry[field.name] = value
        entries.append(entry)
    return entries


def throw_entry(disk: FileSystem, trash: Path, document: dict[str, Any], place: int, provider_id: str) -> str:
    """Move an entry from a document to the trash; return its file there. Raises StorageError."""
    alone = {"version": VERSION, PLACE: place, PROVIDERS: [document[PROVIDERS].pop(place)]}
    return write_to_trash(disk, trash, provider_id, alone)


def put_entry_back(path: Path, document: dict[str, Any], taken: Collection[str]) -> None:
    """Put an entry from the trash into a document. Raises StorageError, BadInput if its id is taken."""
    thrown = read_providers(path)
    config = next((provider for provider in thrown.providers if provider.id in thrown.places), None)
    if config is None or thrown.document is None:
        fault = refusal(thrown.problems[0]) if thrown.problems else None
        raise fault or StorageError("unreadable_file", path=path)
    if config.id in taken:
        raise BadInput("bin_place_taken", name=config.label or config.id)
    entry = thrown.document[PROVIDERS][thrown.places[config.id]]
    put_back_in_place(document[PROVIDERS], entry, thrown.document.get(PLACE))


def _fault(config: ProviderConfig, taken: set[str]) -> tuple[str, str, str] | None:
    if not is_name(config.id):
        return "bad_id", "id", config.id[:80]
    if config.id in taken:
        return "duplicate_id", "id", config.id
    if provider_kind(config.kind) is None:
        return "unknown_kind", "kind", config.kind[:80]
    if core_servers.has_user(config.base_url) or has_key(config.base_url):
        return "key_in_url", "base_url", hidden_address(config.base_url)[:200]
    if config.base_url and not core_servers.is_web_address(config.base_url):
        return "bad_url", "base_url", hidden_address(config.base_url)[:200]
    return None


class CachedModels(KnownModels):
    """The contents of `models.json`: what is known about single models, and the lists that were fetched."""

    lists: tuple[ModelList, ...] = ()


def read_models(path: Path) -> CachedModels:
    """Return the contents of a file; what is unreadable is left out and learnt again."""
    found = read_json_file(path)
    kinds: dict[str, Any] = {"facts": KnownFacts, "quirks": KnownQuirks, "lists": ModelList}
    known: dict[str, Any] = {}
    if isinstance(found, JsonFile):
        for name, kind in kinds.items():
            entries = [validated(kind, found, (), entry, []) for entry in as_list(found.value.get(name))]
            known[name] = tuple(filter(None, entries))
    return CachedModels(**known)


SERVERS = "mcpServers"

_PAIRS = ("env", "headers")


def read_mcp(path: Path) -> tuple[dict[str, Any], dict[str, McpServer]]:
    """Return `mcp.json`, empty if there is none, and its usable servers. Raises StorageError."""
    found = readable_file(path)
    if found is None:
        return {}, {}
    if not isinstance(found.value.get(SERVERS, {}), dict):
        raise refusal(found.problem("wrong_type", (SERVERS,)))
    return found.value, read_servers(found, [])


def read_servers(file: JsonFile, problems: list[Problem]) -> dict[str, McpServer]:
    """Return the usable entries by name, after adding a problem for each of the others."""
    entries = file.value.get(SERVERS)
    if not isinstance(entries, dict):
        problems.append(file.problem("wrong_type" if SERVERS in file.value else "missing", (SERVERS,)))
        return {}
    found: dict[str, McpServer] = {}
    for name, entry in entries.items():
        at: Field = (SERVERS, name)
        usual = usual_entry(entry) if isinstance(entry, dict) else entry
        fault = core_servers.entry_fault(name, usual)
        if fault is not None:
            code, place, detail = fault
            problems.append(file.problem(code, (*at, *place), detail))
            continue
        found[name] = server_of_entry(name, usual)
    return found


def with_servers(
    document: dict[str, Any], known: dict[str, McpServer], servers: tuple[McpServer, ...]
) -> dict[str, Any]:
    """Return a document with other servers; unknown fields and unusable entries stay."""
    before = document.get(SERVERS, {})
    wanted = {server.name: server for server in servers}
    entries = {name: entry for name, entry in before.items() if name in wanted or name not in known}
    for name, server in wanted.items():
        entries[name] = _entry(server, before.get(name) if name in known else None)
    return {**document, SERVERS: entries}


def without_secrets(document: dict[str, Any], unless: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a document with references in place of the secrets in its entries, also in unusable ones.

    Entries that are the same in `unless` stay.
    """
    entries, same = document.get(SERVERS), (unless or {}).get(SERVERS, {})
    if not isinstance(entries, dict):
        return document
    own = {name: entry for name, entry in entries.items() if isinstance(entry, dict)}
    cleared = {name: _cleared(name, entry) for name, entry in own.items() if same.get(name) != entry}
    return {**document, SERVERS: {**entries, **cleared}}


def throw_server(
    disk: FileSystem, trash: Path, document: dict[str, Any], name: str
) -> tuple[str, dict[str, Any]]:
    """Write an entry to the trash without its secrets; return its file there,
    and the document without the entry.

    Raises StorageError.
    """
    entries = document[SERVERS]
    alone = {PLACE: list(entries).index(name), SERVERS: {name: _cleared(name, entries[name])}}
    file = write_to_trash(disk, trash, name if is_name(name) else "server", alone)
    return file, {**document, SERVERS: {item: entry for item, entry in entries.items() if item != name}}


def with_thrown_server(path: Path, document: dict[str, Any]) -> dict[str, Any]:
    """Return a document with an entry from the trash. Raises StorageError, BadInput if its name is taken."""
    problems: list[Problem] = []
    file = read_json_file(path)
    found = read_servers(file, problems) if isinstance(file, JsonFile) else {}
    if not isinstance(file, JsonFile) or not found:
        raise refusal(file if isinstance(file, Problem) else problems[0])
    name, entries = next(iter(found)), list(document.get(SERVERS, {}).items())
    if any(name == other for other, _ in entries):
        raise BadInput("bin_place_taken", name=name)
    put_back_in_place(entries, (name, file.value[SERVERS][name]), file.value.get(PLACE))
    return {**document, SERVERS: dict(entries)}


def packed(data: bytes) -> bytes:
    """Return `mcp.json` for a backup: without secrets, and empty if it is no JSON."""
    document = object_in(data)
    cleared = without_secrets(document) if document is not None else {}
    return data if cleared == document else as_bytes(cleared)


def unpacked(data: bytes, here: bytes) -> bytes:
    """Return the `mcp.json` of a backup with the secrets of the present file `here`."""
    document = object_in(data) or {}
    entries, others = document.get(SERVERS), (object_in(here) or {}).get(SERVERS)
    if not isinstance(entries, dict) or not isinstance(others, dict):
        return data
    filled = dict(entries)
    for name, entry in entries.items():
        if isinstance(entry, dict) and isinstance(others.get(name), dict):
            filled[name] = _filled(name, entry, others[name])
    return data if filled == entries else as_bytes({**document, SERVERS: filled})


def _cleared(name: str, entry: dict[str, Any]) -> dict[str, Any]:
    return _rewritten(name, entry, lambda server: parted(server)[0])


def _filled(name: str, entry: dict[str, Any], here: dict[str, Any]) -> dict[str, Any]:
    _, secrets = parted(server_of_entry(name, _sound(usual_entry(here))))
    return _rewritten(name, entry, lambda server: core_servers.resolved(server, secrets.get))


def _rewritten(name: str, entry: dict[str, Any], change: Callable[[McpServer], McpServer]) -> dict[str, Any]:
    entry = usual_entry(entry)
    sound = _sound(entry)
    fields = _fields(change(server_of_entry(name, sound)))
    return {**entry, **{field: fields[field] for field in sound}}


def _fields(server: McpServer) -> dict[str, Any]:
    """Return what an entry may hold of a server, empty fields too."""
    fields: dict[str, Any] = json.loads(encode(server))
    del fields["name"]
    return fields


def _sound(entry: dict[str, Any]) -> dict[str, Any]:
    """Return the readable fields of an entry that may contain secrets; the entry may be unusable."""
    args = entry.get("args")
    sound: dict[str, Any] = {"url": entry["url"]} if isinstance(entry.get("url"), str) else {}
    if isinstance(args, list) and all(isinstance(arg, str) for arg in args):
        sound["args"] = args
    for field in _PAIRS:
        pairs = entry.get(field)
        if isinstance(pairs, dict) and all(isinstance(pair, str) for pair in pairs.values()):
            sound[field] = pairs
    return sound


def _entry(server: McpServer, before: dict[str, Any] | None) -> dict[str, Any]:
    entry = copy.deepcopy(usual_entry(before or {}))
    for name, value in _fields(server).items():
        if value:
            entry[name] = value
        elif name in entry:
            del entry[name]
    ways = core_servers.BY_ADDRESS if server.url else core_servers.BY_COMMAND
    if "type" in entry and entry["type"].casefold() not in ways:
        del entry["type"]
    return entry
