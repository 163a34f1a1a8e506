"""`providers.json`: its entries, read and written, and those that were thrown away. Used by the documents.

In the bin an entry is a `providers.json` of its own that knows its place. A key is in none of these files.
"""

import copy
import dataclasses
from pathlib import Path
from typing import Any

from app.core.catalog import provider_kind
from app.core.errors import BadInput
from app.core.provider import ProviderConfig
from app.core.server_secrets import has_key, has_user, hidden_address
from app.core.store import Problem
from app.storage.document_file import (
    PLACE,
    VERSION,
    as_bytes,
    is_name,
    is_newer,
    is_web_address,
    place_in_bin,
    refusal,
    validated,
)
from app.storage.file_system import FileSystem, storage_error, write_whole
from app.storage.json_file import Field, JsonFile, read_json_file
from app.storage.records import plain

PROVIDERS = "providers"


def read_providers(file: JsonFile, problems: list[Problem]) -> list[tuple[int, ProviderConfig]]:
    """Return the entries that can be used with their places in the list."""
    entries = file.value.get(PROVIDERS)
    if is_newer(file):
        problems.append(file.problem("newer_version", ("version",)))
        return []
    if not isinstance(entries, list):
        problems.append(file.problem("wrong_type" if PROVIDERS in file.value else "missing", (PROVIDERS,)))
        return []
    found: list[tuple[int, ProviderConfig]] = []
    for place, entry in enumerate(entries):
        at: Field = (PROVIDERS, place)
        config = validated(ProviderConfig, file, at, entry, problems)
        if config is None:
            continue
        fault = _fault(config, {other.id for _, other in found})
        if fault is None:
            found.append((place, config))
        else:
            code, name, detail = fault
            problems.append(file.problem(code, (*at, name), detail))
    return found


def with_providers(
    before: list[Any], known: dict[str, int], providers: tuple[ProviderConfig, ...]
) -> list[Any]:
    """Return the entries of these providers; unknown fields and entries that could not be used stay."""
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
    """Take an entry out of a document and write it to the bin; return its file there. Raises StorageError."""
    alone = {"version": VERSION, PLACE: place, PROVIDERS: [document[PROVIDERS].pop(place)]}
    try:
        path = place_in_bin(disk, trash, provider_id)
        write_whole(disk, path, as_bytes(alone))
    except OSError as error:
        raise storage_error(error, trash) from error
    return path.name


def put_entry_back(path: Path, document: dict[str, Any], known: dict[str, int]) -> None:
    """Put the entry of a file of the bin into a document. Raises StorageError, BadInput for an id that is taken."""
    problems: list[Problem] = []
    file = read_json_file(path)
    found = read_providers(file, problems) if isinstance(file, JsonFile) else []
    if not isinstance(file, JsonFile) or not found:
        raise refusal(file if isinstance(file, Problem) else problems[0])
    at, config = found[0]
    if config.id in known:
        raise BadInput("bin_place_taken", name=config.label or config.id)
    place = file.value.get(PLACE)
    entries = document[PROVIDERS]
    entries.insert(place if type(place) is int and place >= 0 else len(entries), file.value[PROVIDERS][at])


def _fault(config: ProviderConfig, taken: set[str]) -> tuple[str, str, str] | None:
    if not is_name(config.id):
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
