"""The small documents: settings, providers and assistants.

`settings.json` is Moot's own: for an unreadable one the previous copy is used, and it goes to
quarantine before the next save.
The rest a person may write: what is wrong there is reported and never touched.
"""

import asyncio
import contextlib
import copy
import dataclasses
import json
import threading
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from app.core.agent import Agent
from app.core.catalog import KINDS, provider_kind
from app.core.errors import StorageError
from app.core.provider import ProviderConfig
from app.core.settings import Settings
from app.core.store import Problem
from app.storage.file_system import FileSystem, RealFileSystem, storage_error, write_whole
from app.storage.json_file import Field, JsonFile, read_json_file
from app.storage.paths import DataPaths
from app.storage.records import plain
from app.storage.threads import run_in_thread

VERSION = 1
MAX_ID = 64


class JsonDocuments:
    """Reads the small documents once, and writes those that the window can change."""

    def __init__(self, paths: DataPaths, *, file_system: FileSystem | None = None) -> None:
        self._paths = paths
        self._disk = file_system or RealFileSystem()
        self._settings = Settings()
        self._providers: tuple[ProviderConfig, ...] | None = None
        self._agents: tuple[Agent, ...] = ()
        self._problems: dict[str, list[Problem]] = {}
        self._writing = threading.Lock()

    def load_settings(self) -> None:
        """Read `settings.json` only, at once and cheaply: the first paint needs the theme."""
        problems: list[Problem] = []
        found = read_json_file(self._paths.settings)
        if isinstance(found, Problem):
            problems.append(found)
            previous = _previous(self._paths.settings)
            found = read_json_file(previous)
            if isinstance(found, JsonFile):
                problems.append(found.problem("previous_used"))
        if isinstance(found, JsonFile):
            self._settings = _read_settings(found, problems)
        self._problems["settings"] = problems

    async def load(self) -> None:
        """Read everything, off the loop's thread."""
        await asyncio.wrap_future(run_in_thread(self._load, "moot-documents"))

    def settings(self) -> Settings:
        """Return the settings as last read or saved."""
        return self._settings

    async def save_settings(self, settings: Settings) -> None:
        """Write the settings, keeping a previous copy. Raises StorageError."""
        await self._write_in_thread(lambda: self._save_settings(settings))

    def providers(self) -> tuple[ProviderConfig, ...]:
        """Return what `providers.json` holds; one row for each of the catalogue's where there is none."""
        if self._providers is None:
            return tuple(ProviderConfig(id=row.kind, kind=row.kind) for row in KINDS if row.models)
        return self._providers

    async def save_providers(self, providers: tuple[ProviderConfig, ...]) -> None:
        """Write `providers.json`; unknown fields and entries that could not be used stay in it.

        Raises StorageError, also where the file as it is could not be read: it is not overwritten.
        """
        await self._write_in_thread(lambda: self._save_providers(providers))

    def agents(self) -> tuple[Agent, ...]:
        """Return the assistants of `assistants/`."""
        return self._agents

    def problems(self) -> tuple[Problem, ...]:
        """Return what could not be read, one entry a fault."""
        return tuple(problem for some in self._problems.values() for problem in some)

    async def _write_in_thread(self, work: Callable[[], None]) -> None:
        def write() -> None:
            with self._writing:
                work()

        await asyncio.shield(asyncio.wrap_future(run_in_thread(write, "moot-documents")))

    def _load(self) -> None:
        self.load_settings()
        self._load_providers()
        self._load_agents()

    def _load_providers(self) -> None:
        problems: list[Problem] = []
        found = read_json_file(self._paths.providers)
        self._providers = None
        if isinstance(found, Problem):
            problems.append(found)
        elif found is not None:
            self._providers = tuple(config for _, config in _read_providers(found, problems))
        self._problems["providers"] = problems

    def _load_agents(self) -> None:
        problems: list[Problem] = []
        agents: dict[str, Agent] = {}
        try:
            files = sorted(self._paths.assistants.glob("*.json"))
        except OSError:
            files = []
        for path in files:
            found = read_json_file(path)
            if isinstance(found, Problem):
                problems.append(found)
            elif found is not None and (agent := _read_agent(found, problems)) is not None:
                twin = unicodedata.normalize("NFC", agent.id).casefold()
                if twin in agents:
                    problems.append(found.problem("duplicate_id", ("id",), agent.id))
                else:
                    agents[twin] = agent
        self._agents = tuple(agents.values())
        self._problems["assistants"] = problems

    def _save_settings(self, settings: Settings) -> None:
        found = read_json_file(self._paths.settings)
        document: dict[str, Any] = {}
        if isinstance(found, Problem):
            self._set_aside(self._paths.settings)
        elif found is not None:
            document = found.value
            if _is_newer(found):
                raise StorageError("newer_version", path=str(self._paths.settings))
        for field in dataclasses.fields(Settings):
            document[field.name] = plain(getattr(settings, field.name))
        self._replace(self._paths.settings, {"version": VERSION, **document})
        self._settings = settings

    def _save_providers(self, providers: tuple[ProviderConfig, ...]) -> None:
        path = self._paths.providers
        found = read_json_file(path)
        document: dict[str, Any] = {"version": VERSION}
        before: list[Any] = []
        known: dict[str, int] = {}
        if isinstance(found, Problem):
            raise StorageError(
                "unreadable_file", path=found.path, line=found.line or "?", detail=found.detail
            )
        if found is not None:
            if _is_newer(found) or not isinstance(found.value.get("providers"), list):
                raise StorageError("newer_version", path=str(path))
            document = found.value
            before = document["providers"]
            known = {config.id: place for place, config in _read_providers(found, [])}
        entries = [entry for place, entry in enumerate(before) if place not in known.values()]
        for config in providers:
            entry = copy.deepcopy(before[known[config.id]]) if config.id in known else {}
            for field in dataclasses.fields(ProviderConfig):
                value = plain(getattr(config, field.name))
                if value or field.name in entry or field.name == "enabled":
                    entry[field.name] = value
            entries.append(entry)
        document["providers"] = entries
        self._replace(path, document)
        self._load_providers()

    def _replace(self, path: Path, document: dict[str, Any]) -> None:
        """Put a document in place; what was there becomes the previous copy."""
        data = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False).encode() + b"\n"
        path = path.resolve()  # A person may keep the file elsewhere and leave a link to it.
        try:
            with contextlib.suppress(FileNotFoundError):
                write_whole(self._disk, _previous(path), self._disk.read(path))
            write_whole(self._disk, path, data)
        except OSError as error:
            raise storage_error(error, path) from error

    def _set_aside(self, path: Path) -> None:
        """Move one of our own files that cannot be read out of the way, keeping it."""
        try:
            self._disk.make_folder(self._paths.quarantine)
            number = 1
            while (target := self._paths.quarantine / f"{path.name}.{number}").exists():
                number += 1
            self._disk.replace(path, target)
        except OSError as error:
            raise storage_error(error, path) from error


def _previous(path: Path) -> Path:
    return path.with_name(path.name + ".bak")


def _is_newer(file: JsonFile) -> bool:
    version = file.value.get("version", VERSION)
    return not isinstance(version, int) or version > VERSION


def _read_settings(file: JsonFile, problems: list[Problem]) -> Settings:
    """Take each setting that is of its kind; the rest keeps its default."""
    values: dict[str, Any] = {}
    for field in dataclasses.fields(Settings):
        if field.name not in file.value:
            continue
        value = file.value[field.name]
        if isinstance(field.default, tuple):
            fits = isinstance(value, list) and all(isinstance(item, str) for item in value)
            value = tuple(value) if fits else value
        else:
            fits = type(value) is type(field.default)
        if fits:
            values[field.name] = value
        else:
            problems.append(file.problem("wrong_type", (field.name,)))
    return Settings(**values)


def _read_providers(file: JsonFile, problems: list[Problem]) -> list[tuple[int, ProviderConfig]]:
    """Return the entries that can be used with their places in the list."""
    entries = file.value.get("providers")
    if _is_newer(file):
        problems.append(file.problem("newer_version", ("version",)))
        return []
    if not isinstance(entries, list):
        problems.append(
            file.problem("wrong_type" if "providers" in file.value else "missing", ("providers",))
        )
        return []
    found: list[tuple[int, ProviderConfig]] = []
    for place, entry in enumerate(entries):
        at: Field = ("providers", place)
        config = _validated(ProviderConfig, file, at, entry, problems)
        if config is None:
            continue
        fault = _provider_fault(config, {other.id for _, other in found})
        if fault is None:
            found.append((place, config))
        else:
            code, name, detail = fault
            problems.append(file.problem(code, (*at, name), detail))
    return found


def _provider_fault(config: ProviderConfig, taken: set[str]) -> tuple[str, str, str] | None:
    if not _is_name(config.id):
        return "bad_id", "id", config.id[:80]
    if config.id in taken:
        return "duplicate_id", "id", config.id
    if provider_kind(config.kind) is None:
        return "unknown_kind", "kind", config.kind[:80]
    if config.base_url and not is_web_address(config.base_url):
        return "bad_url", "base_url", config.base_url[:200]
    return None


def _read_agent(file: JsonFile, problems: list[Problem]) -> Agent | None:
    if _is_newer(file):
        problems.append(file.problem("newer_version", ("version",)))
        return None
    agent: Agent | None = _validated(Agent, file, (), file.value, problems)
    if agent is None:
        return None
    if not _is_name(agent.id):
        problems.append(file.problem("bad_id", ("id",), agent.id[:80]))
        return None
    for name in ("name", "provider", "model"):
        if not getattr(agent, name).strip():
            problems.append(file.problem("missing", (name,)))
            return None
    return agent


def _validated(kind: type, file: JsonFile, at: Field, entry: object, problems: list[Problem]) -> Any:
    """Return the noun an object stands for, None after noting each field that does not fit."""
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(kind).validate_json(json.dumps(entry), strict=True)
    except ValidationError as error:
        for one in error.errors(include_url=False, include_input=False):
            place: Field = (*at, *one["loc"])
            code = "missing" if one["type"] == "missing" else "wrong_type"
            problems.append(file.problem(code, place, one["msg"] if code == "wrong_type" else ""))
        return None


def _is_name(text: str) -> bool:
    """Say whether an id can be part of a file's name and of a variable's name on every system."""
    return (
        0 < len(text) <= MAX_ID
        and all(character.isalnum() or character in "-_." for character in text)
        and text[0].isalnum()
        and text[-1] != "."
    )


def is_web_address(text: str) -> bool:
    """Say whether a base URL is an http or https address with a host and no user or blanks."""
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
