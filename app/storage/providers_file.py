"""Reads and writes `providers.json`, and what is cached about models in `models.json`; neither contains keys.

In the trash an entry is a `providers.json` of its own, with its former place.
"""

import copy
import dataclasses
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

from app.core.catalog import USUAL, ModelList, ProviderConfig, provider_kind
from app.core.errors import BadInput, StorageError
from app.core.model_facts import KnownFacts, KnownModels, KnownQuirks
from app.core.servers import has_key, has_user, hidden_address, is_web_address
from app.core.store import Problem
from app.storage.codec import plain
from app.storage.file_system import FileSystem
from app.storage.json_file import (
    PLACE,
    VERSION,
    Field,
    JsonFile,
    field_name,
    is_name,
    is_newer,
    put_back_in_place,
    read_json_file,
    refusal,
    replace_document,
    validated,
    write_to_trash,
)

PROVIDERS = "providers"
NEWER = "newer_version"
_Cached = TypeVar("_Cached", ModelList, KnownFacts, KnownQuirks)
# The kind shown for an entry without a readable one.
OTHER_KIND = "openai-compatible"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ProviderEntries:
    """The contents of `providers.json`; `document` is all of it.

    `providers` are those to show, `places` the indexes of usable entries. Of an entry in `unusable` only the id
    is certain; its address may be another than the catalogue's. With `damage` nothing in the file is certain.
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
    """Return the document for writing, and its contents. Raises StorageError if it must not be overwritten."""
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
    return ProviderConfig(
        id=named if isinstance(named, str) and is_name(named) else field_name(at),
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
    return write_to_trash(disk, trash, provider_id, alone)


def put_entry_back(path: Path, document: dict[str, Any], taken: Collection[str]) -> None:
    """Put an entry from the trash into a document. Raises StorageError, BadInput if its id is taken."""
    thrown = read_providers(path)
    config = next((one for one in thrown.providers if one.id in thrown.places), None)
    if config is None or thrown.document is None:
        raise refusal(thrown.problems[0]) if thrown.problems else StorageError("unreadable_file", path=path)
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
    if has_user(config.base_url) or has_key(config.base_url):
        return "key_in_url", "base_url", hidden_address(config.base_url)[:200]
    if config.base_url and not is_web_address(config.base_url):
        return "bad_url", "base_url", hidden_address(config.base_url)[:200]
    return None


@dataclasses.dataclass(frozen=True, slots=True)
class CachedModels:
    """The contents of `models.json`: the lists that were fetched, and what is known about single models."""

    lists: tuple[ModelList, ...] = ()
    known: KnownModels = dataclasses.field(default_factory=KnownModels)


def read_models(path: Path) -> CachedModels:
    """Return the contents of a file; what is unreadable is left out and learnt again."""
    found = read_json_file(path)
    if not isinstance(found, JsonFile):
        return CachedModels()
    return CachedModels(
        lists=_cached(ModelList, found, "lists"),
        known=KnownModels(
            facts=_cached(KnownFacts, found, "facts"), quirks=_cached(KnownQuirks, found, "quirks")
        ),
    )


def _cached(kind: type[_Cached], file: JsonFile, name: str) -> tuple[_Cached, ...]:
    entries = file.value.get(name)
    unused: list[Problem] = []
    read = (
        validated(kind, file, (name, place), entry, unused)
        for place, entry in enumerate(entries if isinstance(entries, list) else ())
    )
    return tuple(one for one in read if one is not None)


def save_models(disk: FileSystem, path: Path, models: CachedModels) -> None:
    """Write the file. Raises StorageError."""
    document = {
        "version": VERSION,
        "lists": [dataclasses.asdict(one) for one in models.lists],
        "facts": [plain(one) for one in models.known.facts],
        "quirks": [plain(one) for one in models.known.quirks],
    }
    replace_document(disk, path, document)
