"""Reads and writes `providers.json`, `mcp.json`, and what is cached about models in `models.json`.

`mcp.json` has the `mcpServers` object that other MCP clients use too; backups and the trash contain no
secrets that the user wrote into it. In the trash an entry is a file of its own kind, with its former place.
"""

import copy
import dataclasses
import json
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from app.core.catalog import USUAL, ModelList, ProviderConfig, provider_kind
from app.core.errors import BadInput, Problem, StorageError
from app.core.json_values import as_list, object_in
from app.core.model_facts import KnownFacts, KnownModels, KnownQuirks
from app.core.servers import (
    BY_ADDRESS,
    BY_COMMAND,
    McpServer,
    entry_fault,
    has_key,
    has_user,
    hidden_address,
    is_web_address,
    parted,
    resolved,
    server_of_entry,
    usual_entry,
)
from app.storage import json_file
from app.storage.codec import encode, plain
from app.storage.file_system import FileSystem
from app.storage.json_file import PLACE, VERSION, Field, JsonFile

PROVIDERS = "providers"
NEWER = "newer_version"
# The kind shown for an entry without a readable one.
OTHER_KIND = "openai-compatible"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ProviderEntries:
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
    file = json_file.read_json_file(path)
    damage = file if isinstance(file, Problem) else None
    entries: Any = file.value.get(PROVIDERS) if isinstance(file, JsonFile) else None
    if isinstance(file, JsonFile) and json_file.is_newer(file):
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
        raise json_file.refusal(entries.damage)
    return entries.document or {"version": VERSION, PROVIDERS: []}, entries


def _read_entry(
    file: JsonFile, place: int, entry: Any, found: Mapping[str, ProviderConfig], problems: list[Problem]
) -> ProviderConfig:
    """Return the provider of an entry; if it is unusable, add a problem and return what is certain of it."""
    at: Field = (PROVIDERS, place)
    config: ProviderConfig | None = json_file.validated(ProviderConfig, file, at, entry, problems)
    if config is not None:
        fault = _fault(config, set(found))
        if fault is None:
            return config
        code, name, detail = fault
        problems.append(file.problem(code, (*at, name), detail))
    values = entry if isinstance(entry, dict) else {}
    named, kind = values.get("id"), values.get("kind")
    return ProviderConfig(
        id=named if isinstance(named, str) and json_file.is_name(named) else json_file.field_name(at),
        kind=kind if isinstance(kind, str) and provider_kind(kind) else OTHER_KIND,
    )


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
    return json_file.write_to_trash(disk, trash, provider_id, alone)


def put_entry_back(path: Path, document: dict[str, Any], taken: Collection[str]) -> None:
    """Put an entry from the trash into a document. Raises StorageError, BadInput if its id is taken."""
    thrown = read_providers(path)
    config = next((provider for provider in thrown.providers if provider.id in thrown.places), None)
    if config is None or thrown.document is None:
        fault = json_file.refusal(thrown.problems[0]) if thrown.problems else None
        raise fault or StorageError("unreadable_file", path=path)
    if config.id in taken:
        raise BadInput("bin_place_taken", name=config.label or config.id)
    entry = thrown.document[PROVIDERS][thrown.places[config.id]]
    json_file.put_back_in_place(document[PROVIDERS], entry, thrown.document.get(PLACE))


def _fault(config: ProviderConfig, taken: set[str]) -> tuple[str, str, str] | None:
    if not json_file.is_name(config.id):
        return "bad_id", "id", config.id[:80]
    if config.id in taken:
        return "duplicate_id", "id", config.id
    if provider_kind(config.kind) is None:
        return "unknown_kind", "kind", config.kind[:80]
    if has_user(config.base_url) or has_key(config.base_url):
        return "key_in_url", "base_url", hidden_address(config.base_url)[:200]
    if config.base_url and not is_web_address(config.base_url):
        return "bad_url", "base_url", hidden_address(config.base_url)[:200]
    return None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CachedModels(KnownModels):
    """The contents of `models.json`: what is known about single models, and the lists that were fetched."""

    lists: tuple[ModelList, ...] = ()


def read_models(path: Path) -> CachedModels:
    """Return the contents of a file; what is unreadable is left out and learnt again."""
    found = json_file.read_json_file(path)
    kinds: dict[str, Any] = {"facts": KnownFacts, "quirks": KnownQuirks, "lists": ModelList}
    if not isinstance(found, JsonFile):
        return CachedModels()
    read = {
        name: [json_file.validated(kind, found, (), entry, []) for entry in as_list(found.value.get(name))]
        for name, kind in kinds.items()
    }
    return CachedModels(**{name: tuple(filter(None, entries)) for name, entries in read.items()})


def save_models(disk: FileSystem, path: Path, models: CachedModels) -> None:
    """Write the file. Raises StorageError."""
    json_file.replace_document(disk, path, {"version": VERSION, **plain(models)})


SERVERS = "mcpServers"

_PAIRS = ("env", "headers")


def read_mcp(path: Path) -> tuple[dict[str, Any], dict[str, McpServer]]:
    """Return `mcp.json`, empty if there is none, and its usable servers. Raises StorageError."""
    found = json_file.readable_file(path)
    if found is None:
        return {}, {}
    if not isinstance(found.value.get(SERVERS, {}), dict):
        raise json_file.refusal(found.problem("wrong_type", (SERVERS,)))
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
    """Write an entry to the trash without its secrets; return its file there,
    and the document without the entry.

    Raises StorageError.
    """
    entries = document[SERVERS]
    alone = {PLACE: list(entries).index(name), SERVERS: {name: _cleared(name, entries[name])}}
    file = json_file.write_to_trash(disk, trash, name if json_file.is_name(name) else "server", alone)
    return file, {**document, SERVERS: {item: entry for item, entry in entries.items() if item != name}}


def with_thrown_server(path: Path, document: dict[str, Any]) -> dict[str, Any]:
    """Return a document with an entry from the trash. Raises StorageError, BadInput if its name is taken."""
    problems: list[Problem] = []
    file = json_file.read_json_file(path)
    found = read_servers(file, problems) if isinstance(file, JsonFile) else {}
    if not isinstance(file, JsonFile) or not found:
        raise json_file.refusal(file if isinstance(file, Problem) else problems[0])
    name, entries = next(iter(found)), list(document.get(SERVERS, {}).items())
    if any(name == other for other, _ in entries):
        raise BadInput("bin_place_taken", name=name)
    json_file.put_back_in_place(entries, (name, file.value[SERVERS][name]), file.value.get(PLACE))
    return {**document, SERVERS: dict(entries)}


def packed(data: bytes) -> bytes:
    """Return `mcp.json` for a backup: without secrets, and empty if it is no JSON."""
    document = object_in(data)
    cleared = without_secrets(document) if document is not None else {}
    return data if cleared == document else json_file.as_bytes(cleared)


def unpacked(data: bytes, here: bytes) -> bytes:
    """Return the `mcp.json` of a backup with the secrets of the present file `here`."""
    document = object_in(data) or {}
    entries, others = document.get(SERVERS), (object_in(here) or {}).get(SERVERS)
    if not isinstance(entries, dict) or not isinstance(others, dict):
        return data
    filled = {
        name: _filled(name, entry, others[name])
        if isinstance(entry, dict) and isinstance(others.get(name), dict)
        else entry
        for name, entry in entries.items()
    }
    return data if filled == entries else json_file.as_bytes({**document, SERVERS: filled})


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
    ways = BY_ADDRESS if server.url else BY_COMMAND
    if "type" in entry and entry["type"].casefold() not in ways:
        del entry["type"]
    return entry
