"""Reads and writes `mcp.json`, the `mcpServers` object that other MCP clients use too.

Backups and the trash contain no secrets that the user wrote into it. In the trash an entry is an `mcp.json` of
its own, with its former place.
"""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.core.errors import BadInput
from app.core.servers import (
    BY_ADDRESS,
    BY_COMMAND,
    McpServer,
    entry_fault,
    parted,
    resolved,
    server_of_entry,
    usual_entry,
)
from app.core.store import Problem
from app.storage.codec import encode
from app.storage.file_system import FileSystem
from app.storage.json_file import (
    PLACE,
    Field,
    JsonFile,
    as_bytes,
    is_name,
    put_back_in_place,
    read_json_file,
    readable_file,
    refusal,
    write_to_trash,
)

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
        fault = entry_fault(name, usual)
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
    entries = document.get(SERVERS)
    if not isinstance(entries, dict):
        return document
    same = (unless or {}).get(SERVERS, {})
    cleared = {
        name: entry if not isinstance(entry, dict) or same.get(name) == entry else _cleared(name, entry)
        for name, entry in entries.items()
    }
    return {**document, SERVERS: cleared}


def throw_server(
    disk: FileSystem, trash: Path, document: dict[str, Any], name: str
) -> tuple[str, dict[str, Any]]:
    """Write an entry to the trash without its secrets; return its file there, and the document without the entry.

    Raises StorageError.
    """
    entries = document[SERVERS]
    alone = {PLACE: list(entries).index(name), SERVERS: {name: _cleared(name, entries[name])}}
    file = write_to_trash(disk, trash, name if is_name(name) else "server", alone)
    return file, {**document, SERVERS: {one: entry for one, entry in entries.items() if one != name}}


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
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return b"{}\n"
    cleared = without_secrets(document) if isinstance(document, dict) else {}
    return data if cleared == document else as_bytes(cleared)


def unpacked(data: bytes, here: bytes) -> bytes:
    """Return the `mcp.json` of a backup with the secrets of the present file `here`."""
    try:
        document, now = json.loads(data), json.loads(here)
        entries, others = document[SERVERS], now[SERVERS]
    except (ValueError, RecursionError, KeyError, TypeError):
        return data
    if not isinstance(entries, dict) or not isinstance(others, dict):
        return data
    filled = {
        name: _filled(name, entry, others[name])
        if isinstance(entry, dict) and isinstance(others.get(name), dict)
        else entry
        for name, entry in entries.items()
    }
    return data if filled == entries else as_bytes({**document, SERVERS: filled})


def _cleared(name: str, entry: dict[str, Any]) -> dict[str, Any]:
    return _rewritten(name, entry, lambda server: parted(server)[0])


def _filled(name: str, entry: dict[str, Any], here: dict[str, Any]) -> dict[str, Any]:
    _, secrets = parted(server_of_entry(name, _sound(usual_entry(here))))
    return _rewritten(name, entry, lambda server: resolved(server, secrets.get))


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
    if isinstance(args, list) and all(isinstance(one, str) for one in args):
        sound["args"] = args
    for field in _PAIRS:
        pairs = entry.get(field)
        if isinstance(pairs, dict) and all(isinstance(one, str) for one in pairs.values()):
            sound[field] = pairs
    return sound


def _entry(server: McpServer, before: dict[str, Any] | None) -> dict[str, Any]:
    entry = copy.deepcopy(usual_entry(before or {}))
    for name, value in _fields(server).items():
        if value:
            entry[name] = value
        elif name in entry:
            del entry[name]
    ways = BY_ADDRESS if server.url else BY_COMMAND
    if "type" in entry and entry["type"].casefold() not in ways:
        del entry["type"]
    return entry
