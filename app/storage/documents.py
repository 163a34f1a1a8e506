"""The small documents: settings, providers, definitions, MCP servers and consents; and unsent drafts.

`settings.json` and `consents.json` are Moot's own: an unreadable one goes to quarantine before the next save, the
previous settings are used until then. The user may edit the others: faulty entries are reported and left alone.
A file that another program has changed is read again, and what Moot knew of it is kept in quarantine.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from app.core.catalog import ModelList, ProviderConfig
from app.core.draft import Draft
from app.core.errors import NotFound, Problem, StorageError
from app.core.model_facts import KnownModels
from app.core.servers import McpServer
from app.core.settings import Settings, rules
from app.core.texts import clean_values
from app.storage import connections, definitions, json_file
from app.storage.codec import Plain, is_known, plain, with_unknown
from app.storage.connections import PROVIDERS
from app.storage.definitions import DefinitionFolder
from app.storage.file_system import FileSystem, storage_errors, write_whole
from app.storage.json_file import VERSION, JsonFile
from app.storage.paths import DEFINITIONS, DataPaths
from app.storage.threads import OneAtATime, Result, awaited, in_thread

if TYPE_CHECKING:
    from app.core.store import Change


@dataclasses.dataclass(frozen=True, slots=True)
class _Consents:
    """The contents of `consents.json`: the fingerprints that the user has allowed."""

    consents: tuple[str, ...] = ()


class JsonDocuments:
    """Reads the small documents once, and writes those that the user can change; `on_replaced` runs in a thread."""

    def __init__(
        self,
        paths: DataPaths,
        *,
        file_system: FileSystem | None = None,
        on_replaced: Callable[[json_file.Replaced], None] = lambda _: None,
    ) -> None:
        self._paths = paths
        self._on_replaced = on_replaced
        # The bytes of each document as it was read or written last.
        self._seen: dict[Path, bytes | None] = {}
        self._disk = file_system or FileSystem()
        # The settings in use, those of the file, and the changes between them, which take effect before they are written.
        self._settings = self._written = Settings()
        self._unwritten: list[Change[Settings]] = []
        self._providers = connections.ProviderEntries(providers=())
        self._models = connections.CachedModels()
        self._run = OneAtATime("moot-documents").run
        shared = (paths.trash, self._disk, self._run, on_replaced)
        self.assistants = DefinitionFolder(definitions.ASSISTANT, paths.assistants, *shared)
        self.groups = DefinitionFolder(definitions.GROUP, paths.groups, *shared)
        self.workflows = DefinitionFolder(definitions.WORKFLOW, paths.workflows, *shared)
        self.panels = DefinitionFolder(definitions.PANEL, paths.panels, *shared)
        self.journal = DefinitionFolder(definitions.DECISION, paths.journal, *shared)
        self.folders = DefinitionFolder(definitions.FOLDER, paths.folders, *shared)
        self.saved_prompts = DefinitionFolder(definitions.SAVED_PROMPT, paths.saved_prompts, *shared)
        self._folders: dict[str, DefinitionFolder[Any]] = {name: getattr(self, name) for name in DEFINITIONS}
        self._servers: tuple[McpServer, ...] = ()
        self._consents: frozenset[str] = frozenset()
        self._problems: dict[str, list[Problem]] = {}
        # The documents that are read again where another program has changed them.
        self._loads = {
            paths.settings: self.load_settings,
            paths.providers: self._load_providers,
            paths.mcp: self._load_servers,
            paths.consents: self._load_consents,
        }

    def load_settings(self) -> None:
        """Read only `settings.json`, quickly and at once, because the first paint needs the theme."""
        found, problems = self._file(self._paths.settings)
        if problems:
            previous = json_file.read_json_file(json_file.previous_of(self._paths.settings))
            if isinstance(previous, JsonFile):
                found = previous
                problems.append(found.problem("previous_used"))
        if found is not None:
            self._written = _read_settings(found, problems)
            self._use_written()

    async def load(self) -> None:
        """Read all documents, in a thread."""
        await self._run(self.read)

    async def load_after(self, work: Callable[[], Result]) -> Result:
        """Run `work`, which changes files, and read all documents again; no other change comes in between."""

        def run() -> Result:
            try:
                return work()
            finally:
                self.read()

        return await self._run(run)

    def fits(self, name: str, data: bytes) -> bool:
        """Return whether the data could be used as the document of this name; blocks."""
        folder = self._folders.get(name.partition("/")[0])
        path = self._paths.root / name
        if folder is None:
            found = json_file.parse_json(path, data)
            return isinstance(found, JsonFile) and not json_file.is_newer(found)
        return folder.fits(path, data)

    def settings(self) -> Settings:
        """Return the settings as last read or saved."""
        return self._settings

    async def change_settings(self, change: Change[Settings]) -> None:
        """Write what `change` makes of the settings, keeping a previous copy. Raises StorageError; then they are as before.

        They take effect at once: what the user begins right after this uses them.
        """
        self._settings = change(self._settings)
        self._unwritten.append(change)
        await self._run(lambda: self._save_settings(change))

    def providers(self) -> tuple[ProviderConfig, ...]:
        """Return the providers of `providers.json`; if there is no file, the usual ones."""
        return self._providers.providers

    def provider_problem(self, provider_id: str) -> Problem | None:
        """Return why the entry of a provider cannot be used, None if it can."""
        return self._providers.problem_of(provider_id)

    @awaited
    def change_providers(self, change: Change[tuple[ProviderConfig, ...]]) -> None:
        """Write what `change` makes of `providers.json`; unknown fields and unusable entries stay in it.

        As in all changes below, `change` is called in the documents' thread, between no two other changes, so that none is
        lost. Raises StorageError, also if the present file cannot be read: it is not overwritten.
        """
        self._look_again(self._paths.providers)
        providers = change(self._providers.providers)
        document, entries = connections.writable_entries(self._paths.providers)
        # Entries that cannot be read, now or when the program started, stay as they are.
        unread = {*entries.unusable, *self._providers.unusable}
        places = {name: place for name, place in entries.places.items() if name not in unread}
        readable = tuple(config for config in providers if config.id not in unread)
        document[PROVIDERS] = connections.with_providers(document[PROVIDERS], places, readable)
        self._write(self._paths.providers, document)

    @awaited
    def throw_provider(self, provider_id: str) -> str:
        """Move an entry of `providers.json` to the trash and return its file there. Raises StorageError."""
        self._look_again(self._paths.providers)
        document, entries = connections.writable_entries(self._paths.providers)
        places = entries.places
        if entries.document is None:
            # There is no file yet from which a built-in provider could be removed.
            document[PROVIDERS] = connections.with_providers([], {}, entries.providers)
            places = {config.id: place for place, config in enumerate(entries.providers)}
        if problem := entries.problem_of(provider_id):
            raise json_file.refusal(problem)
        if provider_id not in places:
            raise NotFound("provider_not_found", provider=provider_id)
        place = places[provider_id]
        file = connections.throw_entry(self._disk, self._paths.trash, document, place, provider_id)
        self._write(self._paths.providers, document)
        return file

    @awaited
    def put_entry_back(self, file: str, kind: str) -> None:
        """Put a provider or server back from the trash. Raises StorageError, BadInput if its id is taken."""
        path = self._paths.trash / file
        if kind == "provider":
            self._look_again(self._paths.providers)
            document, entries = connections.writable_entries(self._paths.providers)
            connections.put_entry_back(path, document, {*entries.places, *entries.unusable})
            self._write(self._paths.providers, document)
        else:
            self._look_again(self._paths.mcp)
            before, _ = connections.read_mcp(self._paths.mcp)
            self._replace_servers(before, connections.with_thrown_server(path, before))
        with storage_errors(path):
            self._disk.remove(path)

    def model_lists(self) -> tuple[ModelList, ...]:
        """Return the lists of models that were fetched from the providers."""
        return self._models.lists

    async def change_model_lists(self, change: Change[tuple[ModelList, ...]]) -> None:
        """Write what `change` makes of `models.json`, a cache that can be fetched again. Raises StorageError."""
        await self._run(lambda: self._save_models(lists=change(self._models.lists)))

    def known_models(self) -> KnownModels:
        """Return what is known about single models."""
        return KnownModels(facts=self._models.facts, quirks=self._models.quirks)

    async def save_known_models(self, known: KnownModels) -> None:
        """Write `models.json`, as above. Raises StorageError."""
        await self._run(lambda: self._save_models(facts=known.facts, quirks=known.quirks))

    def mcp_servers(self) -> tuple[McpServer, ...]:
        """Return the servers of `mcp.json`."""
        return self._servers

    @awaited
    def change_mcp_servers(self, change: Change[tuple[McpServer, ...]]) -> None:
        """Write what `change` makes of `mcp.json`; unknown fields and unusable entries stay in it.

        Raises StorageError, also if the present file cannot be read: it is not overwritten.
        """
        self._look_again(self._paths.mcp)
        servers = change(self._servers)
        before, known = connections.read_mcp(self._paths.mcp)
        document = connections.with_servers(before, known, servers)
        problems: list[Problem] = []
        usable = connections.read_servers(JsonFile(self._paths.mcp, document, {}), problems)
        if any(server.name not in usable for server in servers):
            raise StorageError("invalid_record", path=str(self._paths.mcp), detail=problems[-1].field)
        self._replace_servers(before, document)

    @awaited
    def throw_server(self, name: str) -> str:
        """Move an entry of `mcp.json` to the trash and return its file there. Raises NotFound, StorageError."""
        self._look_again(self._paths.mcp)
        before, known = connections.read_mcp(self._paths.mcp)
        if name not in known:
            raise NotFound("mcp_server_not_found", name=name)
        file, document = connections.throw_server(self._disk, self._paths.trash, before, name)
        self._replace_servers(before, document)
        return file

    def consents(self) -> frozenset[str]:
        """Return the fingerprints that the user has allowed."""
        return self._consents

    @awaited
    def change_consents(self, change: Change[frozenset[str]]) -> None:
        """Write what `change` makes of the fingerprints that the user has allowed, if that is another. Raises StorageError."""
        self._look_again(self._paths.consents)
        consents = change(self._consents)
        if consents == self._consents:
            return
        path = self._paths.consents
        document = json_file.own_document(self._disk, path, self._paths.quarantine)
        self._write(path, {"version": VERSION, **document, "consents": sorted(consents)})

    def problems(self) -> tuple[Problem, ...]:
        """Return the faults found in the documents."""
        found = (*self._problems.values(), *(folder.problems for folder in self._folders.values()))
        return tuple(problem for some in found for problem in some)

    def read(self) -> None:
        """Read all documents; blocks."""
        for path in self._loads:
            self._see(path)
        self._problems["kept"] = json_file.kept_versions(self._disk, self._paths.quarantine)
        for load in self._loads.values():
            load()
        self._models = connections.read_models(self._paths.models)
        for folder in self._folders.values():
            folder.load()

    def _see(self, path: Path) -> bytes | None:
        """Note what a file contains; None if it cannot be read."""
        self._seen[path] = None
        with contextlib.suppress(OSError):
            self._seen[path] = self._disk.read(path.resolve())
        return self._seen[path]

    def _look_again(self, path: Path) -> None:
        """Read a document again if another program has changed it, and keep what this program knew of it.

        One that was deleted is written again, and so is one of Moot's own that cannot be read now: then the other
        version is kept. Raises StorageError.
        """
        if path not in self._seen:
            return
        known, now = self._seen[path], self._see(path)
        if now == known:
            return
        if known is None:
            self._loads[path]()
            return
        theirs = now is not None and (
            path in (self._paths.providers, self._paths.mcp)
            or isinstance(json_file.parse_json(path, now), JsonFile)
        )
        code, kept = "file_deleted", ""
        with storage_errors(path):
            if now is not None:
                code, other = ("file_changed", known) if theirs else ("file_unreadable", now)
                other = connections.packed(other) if path == self._paths.mcp else other
                kept = str(json_file.keep_bytes(self._disk, self._paths.quarantine, path, other))
            if not theirs:
                write_whole(self._disk, path.resolve(), known)
                self._seen[path] = known
        self._loads[path]()
        self._problems["kept"] = json_file.kept_versions(self._disk, self._paths.quarantine)
        self._on_replaced(json_file.Replaced(code=code, name=path.name, kept=kept))

    def _load_providers(self) -> None:
        self._providers = connections.read_providers(self._paths.providers)
        self._problems["providers"] = list(self._providers.problems)

    def _file(self, path: Path) -> tuple[JsonFile | None, list[Problem]]:
        """Return a document, None if none can be read, and the list of its problems, which begins anew."""
        found = json_file.read_json_file(path)
        problems = self._problems[path.stem] = [found] if isinstance(found, Problem) else []
        return found if isinstance(found, JsonFile) else None, problems

    def _load_servers(self) -> None:
        found, problems = self._file(self._paths.mcp)
        self._servers = tuple(connections.read_servers(found, problems).values()) if found is not None else ()

    def _load_consents(self) -> None:
        """Read the consents; if they cannot be read there are none, and the user is asked again."""
        found, problems = self._file(self._paths.consents)
        consents: tuple[str, ...] = ()
        if found is not None and json_file.is_newer(found):
            problems.append(found.problem("newer_version", ("version",)))
        elif found is not None:
            consents = json_file.with_defaults(_Consents, found, problems).consents
        self._consents = frozenset(consents)

    def _save_settings(self, change: Change[Settings]) -> None:
        try:
            self._look_again(self._paths.settings)
            settings = change(self._written)
            document = json_file.own_document(self._disk, self._paths.settings, self._paths.quarantine)
            for field in dataclasses.fields(Settings):
                document[field.name] = plain(getattr(settings, field.name))
            self._write(self._paths.settings, {"version": VERSION, **document})
            self._written = settings
        finally:
            self._unwritten.remove(change)
            self._use_written()

    def _write(self, path: Path, document: dict[str, Any], previous: dict[str, Any] | None = None) -> None:
        """Write a document and read it again."""
        self._seen[path] = json_file.replace_document(self._disk, path, document, previous)
        self._loads[path]()

    def _use_written(self) -> None:
        if not self._unwritten:
            self._settings = self._written

    def _save_models(self, **values: Any) -> None:
        self._models = dataclasses.replace(self._models, **values)
        connections.save_models(self._disk, self._paths.models, self._models)

    def _replace_servers(self, before: dict[str, Any], document: dict[str, Any]) -> None:
        # The previous copy must not keep a secret that was moved to the keyring.
        previous = connections.without_secrets(before, unless=document)
        self._write(self._paths.mcp, document, None if previous == before else previous)


def _read_settings(file: JsonFile, problems: list[Problem]) -> Settings:
    """Return the settings that their rules allow; the others have their defaults."""
    found, usual = json_file.with_defaults(Settings, file, problems), Settings()
    for name, rule in rules().items():
        value = getattr(found, name)
        if rule.choices and value not in rule.choices:
            code = "unknown_choice"
        elif type(value) in (int, float) and not rule.least <= value <= rule.most:
            code = "bad_number"
        else:
            continue
        problems.append(file.problem(code, (name,), str(value)[:40]))
        found = dataclasses.replace(found, **{name: getattr(usual, name)})
    return found


class DraftFolder:
    """Implements `core.store.DraftFiles`: a file for each session, because a draft may contain many pictures.

    All are read at once, and written one by one, in threads.
    """

    def __init__(self, paths: DataPaths, *, file_system: FileSystem | None = None) -> None:
        self._paths = paths
        self._disk = file_system or FileSystem()
        self._problems: list[Problem] = []
        # What files held that have more than a draft has here, by their names.
        self._more: dict[str, Plain] = {}
        self._run = OneAtATime("moot-drafts").run

    async def load(self) -> dict[str, Draft]:
        """Return all drafts by session; an unreadable file is set aside and added to the `problems`."""
        return await in_thread(self._load, "moot-drafts")

    @awaited
    def save(self, name: str, draft: Draft) -> None:
        """Write a draft, or remove the file of an empty one. Raises StorageError."""
        path = self._paths.draft(name)
        with storage_errors(path):
            if draft == Draft():
                self._more.pop(name, None)
                with contextlib.suppress(FileNotFoundError):
                    self._disk.remove(path)
            else:
                write_whole(self._disk, path, _as_bytes(draft, self._more.get(name)))

    def problems(self) -> tuple[Problem, ...]:
        """Return the faults found in the files."""
        return tuple(self._problems)

    def _load(self) -> dict[str, Draft]:
        found: dict[str, Draft] = {}
        self._problems = []
        try:
            files = self._disk.scan(self._paths.drafts)
        except OSError as error:
            self._problems.append(_unreadable(self._paths.drafts, error))
            return {}
        for one in files:
            name = one.name.removesuffix(".json")
            if name != one.name and json_file.is_name(name):
                draft = self._read(self._paths.draft(name))
                if draft is not None:
                    found[name] = draft
        return found

    def _read(self, path: Path) -> Draft | None:
        try:
            file = _parsed(path, self._disk.read(path))
        except OSError as error:
            self._problems.append(_unreadable(path, error))
            return None
        problems: list[Problem] = []
        if isinstance(file, Problem):
            problems.append(file)
        elif json_file.is_newer(file):
            problems.append(file.problem("newer_version", ("version",)))
        else:
            draft: Draft | None = json_file.validated(Draft, file, (), file.value, problems)
            if draft is not None:
                record = {name: value for name, value in file.value.items() if name != "version"}
                if not is_known(Draft, record):
                    self._more[path.stem] = record
                return draft
        # The file will be overwritten, and its contents must not be lost.
        with contextlib.suppress(StorageError):
            json_file.set_aside(self._disk, path, self._paths.quarantine)
        self._problems += problems
        return None


def _as_bytes(draft: Draft, before: Plain | None) -> bytes:
    document = {"version": VERSION, **with_unknown(Draft, before, msgspec.to_builtins(draft))}
    # A text box may contain a lone surrogate, which no encoding can store.
    return json.dumps(document, ensure_ascii=False, indent=2).encode(errors="replace") + b"\n"


def _parsed(path: Path, data: bytes) -> JsonFile | Problem:
    """Parse a draft, without the line numbers of its fields: pictures make the file long."""
    value = json_file.parse_object(path, data)
    if isinstance(value, Problem):
        return value
    try:
        # A lone surrogate is no text that any encoding can store.
        return JsonFile(path, clean_values(value), {})
    except RecursionError:
        return Problem(path=str(path), code="too_deep")


def _unreadable(path: Path, error: OSError) -> Problem:
    return Problem(path=str(path), code="unreadable", detail=error.strerror or "")
