"""The small documents: settings, providers, definitions, MCP servers, consents, memory; and unsent drafts.

`settings.json`, `consents.json`, `memory.json` and `schedule_runs.json` are Moot's own: an unreadable one
goes to quarantine before the next save. The user may edit the others, a definition in a file each: faulty
ones are reported and left alone. A file that another program has changed is read again, and what Moot knew of
it is kept in quarantine.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from app.core.catalog import ModelList, ProviderConfig
from app.core.council import Decision, Panel
from app.core.definitions import Agent, Group, Leader, SavedPrompt, WorkflowDefinition, faults
from app.core.draft import Draft
from app.core.errors import BadInput, NotFound, Problem, StorageError
from app.core.frozen import Frozen
from app.core.memory import Note
from app.core.provider import KnownModels
from app.core.schedule import Schedule, ScheduleRun, wrong_field
from app.core.servers import McpServer
from app.core.session import Definition, Folder
from app.core.settings import Settings, rules
from app.core.texts import clean_values
from app.storage import json_file
from app.storage.codec import Plain, is_known, plain, with_unknown
from app.storage.file_system import FileSystem, storage_errors, write_whole
from app.storage.json_file import PROVIDERS, VERSION, Field, JsonFile
from app.storage.paths import DEFINITIONS, DataPaths
from app.storage.skills import SkillFolders
from app.storage.threads import InThread, OneAtATime, Result, awaited, in_thread

if TYPE_CHECKING:
    from app.core.store import Change, DefinitionStore

Own = TypeVar("Own", bound=Frozen)
KEPT_VERSIONS = 20
MOST_VERSION = 1_000_000_000

# A definition is data: fields that name something to run are neither used nor kept.
_COMMANDS = frozenset(("command", "code", "script"))


# The smallest values of the numbers of definitions.
_LEAST: Mapping[type, Mapping[str, int]] = {
    Agent: {"max_depth": 0, "max_steps": 1, "version": 1},
    Group: {"turns_limit": 1, "version": 1},
    Panel: {"rounds": 1, "version": 1},
}


@dataclass(eq=False, repr=False)
class DefinitionFolder(Generic[Definition]):
    """Reads and writes the definitions of one class. Implements `core.store.DefinitionStore`."""

    _noun: type[Definition]
    _folder: Path
    _trash: Path
    _disk: FileSystem
    _run: InThread
    _on_replaced: Callable[[json_file.Replaced], None]
    _found: tuple[Definition, ...] = field(default=(), init=False)
    _files: dict[str, Path] = field(default_factory=dict, init=False)
    problems: list[Problem] = field(default_factory=list, init=False)

    def load(self) -> None:
        """Read the folder; `problems` says what is wrong with the files that cannot be used. Blocks."""
        problems: list[Problem] = []
        definitions: dict[str, Definition] = {}
        places: dict[str, Path] = {}
        try:
            files = sorted(self._folder.glob("*.json"))
        except OSError:
            files = []
        for path in files:
            found = json_file.read_json_file(path)
            if isinstance(found, Problem):
                problems.append(found)
            elif found is not None and (definition := self._read(found, problems)) is not None:
                twin = _twin(definition.id)
                if twin in definitions:
                    problems.append(found.problem("duplicate_id", ("id",), definition.id))
                else:
                    definitions[twin] = definition
                    places[twin] = path
        self._found, self._files, self.problems = tuple(definitions.values()), places, problems

    def all(self) -> tuple[Definition, ...]:
        """Return the definitions that can be used."""
        return self._found

    @awaited
    def change(self, make: Callable[[], Definition], *, restores: bool = False) -> Definition:
        """Write the definition that `make` returns with the next version number and return it so;
        the version before is kept. With `restores` it is taken out of the trash.

        `make` is called in the documents' thread, between no two other changes. Fields of the file that are
        unknown here stay. Raises BadInput for an id that cannot name a file, and StorageError, also where the
        file holds what cannot be read.
        """
        definition = make()
        path = self._place(definition.id)
        found = json_file.readable_file(path)
        document: dict[str, Any] = {} if found is None else _without_commands(found.value)
        with storage_errors(path):
            thrown = self._thrown(definition) if restores else None
            if thrown is not None:
                document = _without_commands(thrown.value)
            self._keep_known(definition.id, path, found)
            if found is not None:
                self._keep(definition.id, found)
            number = max(self._kept(definition.id), default=0) + 1
            definition = dataclasses.replace(definition, version=number)
            data = json_file.as_bytes(with_unknown(self._noun, document, plain(definition)))
            if wrong := self._faults(path, data):
                detail = wrong[-1].field or wrong[-1].code
                raise StorageError("invalid_record", path=str(path), detail=detail)
            write_whole(self._disk, path.resolve(), data)
            self._forget_oldest(definition.id)
            if thrown is not None:
                self._disk.remove(thrown.path)
        self.load()
        return definition

    def _thrown(self, definition: Definition) -> JsonFile | None:
        """Return the newest file of the trash that holds a definition as it is."""
        names = [stat.name for stat in self._disk.scan(self._trash) if stat.name.endswith(".json")]
        for name in sorted(names, reverse=True):
            if name.rsplit(".", 2)[0] == definition.id:
                file = json_file.read_json_file(self._trash / name)
                if isinstance(file, JsonFile) and self._read(file, []) == definition:
                    return file
        return None

    @awaited
    def delete(self, definition_id: str) -> None:
        """Move a definition to the trash and keep it as a version. Raises BadInput, StorageError."""
        path = self._place(definition_id)
        found = json_file.readable_file(path)
        if found is None:
            return
        with storage_errors(path):
            self._keep_known(definition_id, path, found)
            self._keep(definition_id, found)
            self._disk.move(path, json_file.place_in_trash(self._disk, self._trash, definition_id))
        self.load()

    @awaited
    def versions(self, definition_id: str) -> tuple[Definition, ...]:
        """Return the versions that are kept, newest first."""
        if not json_file.is_name(definition_id):
            return ()
        kept = sorted(self._kept(definition_id).items(), reverse=True)
        files = (json_file.read_json_file(path) for _, path in kept)
        found = (self._read(file, []) for file in files if isinstance(file, JsonFile))
        return tuple(item for item in found if item is not None)

    def fits(self, path: Path, data: bytes) -> bool:
        """Say whether these bytes are a definition without any fault."""
        return not self._faults(path, data)

    def _place(self, definition_id: str) -> Path:
        """Return the file of a definition: the one it was read from, else one named after its id."""
        if not json_file.is_name(definition_id):
            raise BadInput("assistant_id_invalid", assistant=definition_id[:80], most=json_file.MAX_ID)
        return self._files.get(_twin(definition_id), self._folder / f"{definition_id}.json")

    def _versions_of(self, definition_id: str) -> Path:
        return self._folder / ".versions" / _twin(definition_id)

    def _kept(self, definition_id: str) -> dict[int, Path]:
        folder = self._versions_of(definition_id)
        try:
            files = [folder / item.name for item in self._disk.scan(folder)]
        except OSError:
            files = []
        return {int(path.stem): path for path in files if path.suffix == ".json" and path.stem.isdecimal()}

    def _keep(self, definition_id: str, file: JsonFile) -> None:
        """Keep a definition as it is now among its versions. Raises StorageError where it is another's."""
        problems: list[Problem] = []
        before = self._read(file, problems)
        if before is None:
            raise json_file.refusal(problems[-1])
        if _twin(before.id) != _twin(definition_id):
            raise json_file.refusal(file.problem("duplicate_id", ("id",)))
        kept = self._kept(definition_id)
        data = json_file.as_bytes(_without_commands(file.value))
        number = before.version
        is_taken = number in kept and kept[number].read_bytes() != data
        if is_taken or not 0 < number <= MOST_VERSION:
            number = max(kept, default=0) + 1  # Written by hand.
        write_whole(self._disk, self._versions_of(definition_id) / f"{number}.json", data)

    def _keep_known(self, definition_id: str, path: Path, file: JsonFile | None) -> None:
        """Keep a definition as it was read last, if another program has changed or deleted its file since."""
        known = next((item for item in self._found if _twin(item.id) == _twin(definition_id)), None)
        if known is None or (file is not None and self._read(file, []) == known):
            return
        self._keep(definition_id, JsonFile(path, plain(known), {}))
        if file is not None:
            self._on_replaced(json_file.Replaced(code="definition_changed", name=known.name))

    def _forget_oldest(self, definition_id: str) -> None:
        kept = sorted(self._kept(definition_id).items(), reverse=True)
        for _, path in kept[KEPT_VERSIONS:]:
            with contextlib.suppress(FileNotFoundError):
                self._disk.remove(path)

    def _faults(self, path: Path, data: bytes) -> list[Problem]:
        """Return what is wrong with the bytes of a definition."""
        problems: list[Problem] = []
        file = json_file.parse_json(path, data)
        if isinstance(file, Problem):
            return [file]
        self._read(file, problems)
        return problems

    def _read(self, file: JsonFile, problems: list[Problem]) -> Definition | None:
        problems += [file.problem("no_commands", at) for at in _commands(file.value)]
        found: Definition | None = json_file.validated(self._noun, file, (), file.value, problems)
        for code, name, detail in _faults_of(found) if found is not None else ():
            problems.append(file.problem(code, (name,), detail))
            return None
        return found


def _faults_of(definition: Any) -> Iterator[tuple[str, str, str]]:
    """Yield what keeps a definition from being used: a code, the field and a detail."""
    if not json_file.is_name(definition.id):
        yield "bad_id", "id", definition.id[:80]
    if not definition.name.strip():
        yield "missing", "name", ""
    for name, least in _LEAST.get(type(definition), {}).items():
        if (number := getattr(definition, name)) < least:
            yield "bad_number", name, str(number)[:40]
    if isinstance(definition, Schedule) and (name := wrong_field(definition)):
        yield "unknown_choice", name, str(getattr(definition, name))[:40]
    if isinstance(definition, WorkflowDefinition):
        yield from ((fault.code, fault.path, fault.detail[:300]) for fault in faults(definition))
    speaker = definition.orchestrator if isinstance(definition, Group) else definition
    # A provider and a model are named together, or neither.
    if isinstance(speaker, Agent | Leader) and bool(speaker.provider.strip()) != bool(speaker.model.strip()):
        of_agent = "model" if speaker.provider.strip() else "provider"
        yield "missing", of_agent if speaker is definition else "orchestrator", ""


def _twin(definition_id: str) -> str:
    """Return what two ids share that would be one file on some system."""
    return unicodedata.normalize("NFC", definition_id).casefold()


def _commands(value: object, at: Field = ()) -> list[Field]:
    """Return where a definition carries something that could be run."""
    found: list[Field] = []
    if isinstance(value, dict):
        for name, item in value.items():
            if name.casefold() in _COMMANDS:
                found.append((*at, name))
            else:
                found += _commands(item, (*at, name))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            found += _commands(item, (*at, place))
    return found


def _without_commands(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {name: item for name, item in value.items() if name.casefold() not in _COMMANDS}
        return {name: _without_commands(item) for name, item in kept.items()}
    return [_without_commands(item) for item in value] if isinstance(value, list) else value


class _Consents(Frozen):
    """The contents of `consents.json`: the fingerprints that the user has allowed."""

    consents: tuple[str, ...] = ()


class _Memory(Frozen):
    """The contents of `memory.json`: the notes, the oldest first."""

    notes: tuple[Note, ...] = ()


class _ScheduleRuns(Frozen):
    """The contents of `schedule_runs.json`: what came of each time a schedule was due."""

    runs: tuple[ScheduleRun, ...] = ()


class JsonDocuments:
    """Reads the small documents once, and writes those that the user can change; `on_replaced` runs
    in a thread.
    """

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
        # The settings in use, those of the file, and the changes between them, which take effect before they
        # are written.
        self._settings = self._written = Settings()
        self._unwritten: list[Change[Settings]] = []
        self._providers = json_file.ProviderEntries(providers=())
        self._models = json_file.CachedModels()
        self._run = OneAtATime("moot-documents").run

        def kept(noun: type[Definition], folder: str) -> DefinitionStore[Definition]:
            return DefinitionFolder(
                noun, paths.root / folder, paths.trash, self._disk, self._run, on_replaced
            )

        self.assistants = kept(Agent, "assistants")
        self.groups = kept(Group, "groups")
        self.workflows = kept(WorkflowDefinition, "workflows")
        self.panels = kept(Panel, "panels")
        self.journal = kept(Decision, "journal")
        self.folders = kept(Folder, "folders")
        self.saved_prompts = kept(SavedPrompt, "saved_prompts")
        self.skills = SkillFolders(paths, self._disk, self._run)
        self.schedules = kept(Schedule, "schedules")
        self._folders: dict[str, DefinitionFolder[Any]] = {name: getattr(self, name) for name in DEFINITIONS}
        self._servers: tuple[McpServer, ...] = ()
        self._consents: frozenset[str] = frozenset()
        self._notes: tuple[Note, ...] = ()
        self._due: tuple[ScheduleRun, ...] | None = ()
        self._problems: dict[str, list[Problem]] = {}
        # The documents that are read again where another program has changed them.
        self._loads = {
            paths.settings: self.load_settings,
            paths.providers: self._load_providers,
            paths.mcp: self._load_servers,
            paths.consents: self._load_consents,
            paths.memory: self._load_memory,
            paths.schedule_runs: self._load_runs,
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
        """Write what `change` makes of the settings, keeping a previous copy.
        Raises StorageError; then they are as before.

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

        As in all changes below, `change` is called in the documents' thread, between no two other changes, so
        that none is lost. Raises StorageError, also if the present file cannot be read: it is not
        overwritten.
        """
        self._look_again(self._paths.providers)
        providers = change(self._providers.providers)
        document, entries = json_file.writable_entries(self._paths.providers)
        # Entries that cannot be read, now or when the program started, stay as they are.
        unread = {*entries.unusable, *self._providers.unusable}
        places = {name: place for name, place in entries.places.items() if name not in unread}
        readable = tuple(config for config in providers if config.id not in unread)
        document[PROVIDERS] = json_file.with_providers(document[PROVIDERS], places, readable)
        self._write(self._paths.providers, document)

    @awaited
    def throw_provider(self, provider_id: str) -> str:
        """Move an entry of `providers.json` to the trash and return its file there. Raises StorageError."""
        self._look_again(self._paths.providers)
        document, entries = json_file.writable_entries(self._paths.providers)
        places = entries.places
        if entries.document is None:
            # There is no file yet from which a built-in provider could be removed.
            document[PROVIDERS] = json_file.with_providers([], {}, entries.providers)
            places = {config.id: place for place, config in enumerate(entries.providers)}
        if problem := entries.problem_of(provider_id):
            raise json_file.refusal(problem)
        if provider_id not in places:
            raise NotFound("provider_not_found", provider=provider_id)
        place = places[provider_id]
        file = json_file.throw_entry(self._disk, self._paths.trash, document, place, provider_id)
        self._write(self._paths.providers, document)
        return file

    @awaited
    def put_entry_back(self, file: str, kind: str) -> None:
        """Put a provider or server back from the trash. Raises StorageError, BadInput if its id is taken."""
        path = self._paths.trash / file
        if kind == "provider":
            self._look_again(self._paths.providers)
            document, entries = json_file.writable_entries(self._paths.providers)
            json_file.put_entry_back(path, document, {*entries.places, *entries.unusable})
            self._write(self._paths.providers, document)
        else:
            self._look_again(self._paths.mcp)
            before, _ = json_file.read_mcp(self._paths.mcp)
            self._replace_servers(before, json_file.with_thrown_server(path, before))
        with storage_errors(path):
            self._disk.remove(path)

    def model_lists(self) -> tuple[ModelList, ...]:
        """Return the lists of models that were fetched from the providers."""
        return self._models.lists

    async def change_model_lists(self, change: Change[tuple[ModelList, ...]]) -> None:
        """Write what `change` makes of `models.json`, a cache that can be fetched again. Raises
        StorageError.
        """
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
        before, known = json_file.read_mcp(self._paths.mcp)
        document = json_file.with_servers(before, known, servers)
        problems: list[Problem] = []
        usable = json_file.read_servers(JsonFile(self._paths.mcp, document, {}), problems)
        if any(server.name not in usable for server in servers):
            raise StorageError("invalid_record", path=str(self._paths.mcp), detail=problems[-1].field)
        self._replace_servers(before, document)

    @awaited
    def throw_server(self, name: str) -> str:
        """Move an entry of `mcp.json` to the trash and return its file there. Raises NotFound,
        StorageError.
        """
        self._look_again(self._paths.mcp)
        before, known = json_file.read_mcp(self._paths.mcp)
        if name not in known:
            raise NotFound("mcp_server_not_found", name=name)
        file, document = json_file.throw_server(self._disk, self._paths.trash, before, name)
        self._replace_servers(before, document)
        return file

    def consents(self) -> frozenset[str]:
        """Return the fingerprints that the user has allowed."""
        return self._consents

    @awaited
    def change_consents(self, change: Change[frozenset[str]]) -> None:
        """Write what `change` makes of the fingerprints that the user has allowed, if that is another.
        Raises StorageError.
        """
        self._look_again(self._paths.consents)
        consents = change(self._consents)
        if consents == self._consents:
            return
        path = self._paths.consents
        document = json_file.own_document(self._disk, path, self._paths.quarantine)
        self._write(path, {"version": VERSION, **document, "consents": sorted(consents)})

    def notes(self) -> tuple[Note, ...]:
        """Return what assistants remember, the oldest first."""
        return self._notes

    @awaited
    def change_notes(self, change: Change[tuple[Note, ...]]) -> None:
        """Write what `change` makes of the notes; unknown fields stay. Raises StorageError."""
        self._change_own(self._paths.memory, lambda: _Memory(notes=change(self._notes)))

    def schedule_runs(self) -> tuple[ScheduleRun, ...] | None:
        """Return what came of each time a schedule was due, None where the file cannot be read."""
        return self._due

    @awaited
    def change_schedule_runs(self, change: Change[tuple[ScheduleRun, ...]]) -> None:
        """Write what `change` makes of what came of the times of schedules. Raises StorageError."""
        path = self._paths.schedule_runs
        self._change_own(path, lambda: _ScheduleRuns(runs=change(self._due or ())))

    def problems(self) -> tuple[Problem, ...]:
        """Return the faults found in the documents."""
        found = (*self._problems.values(), *(folder.problems for folder in self._folders.values()))
        return tuple(problem for some in found for problem in some)

    def look_at_kept(self) -> None:
        """See what is in quarantine, so that it is among the problems; blocks."""
        self._problems["kept"] = json_file.kept_versions(self._disk, self._paths.quarantine)

    def read(self) -> None:
        """Read all documents; blocks."""
        for path in self._loads:
            self._see(path)
        self.look_at_kept()
        for load in self._loads.values():
            load()
        self._models = json_file.read_models(self._paths.models)
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

        One that was deleted is written again, and so is one of Moot's own that cannot be read now: then the
        other version is kept. Raises StorageError.
        """
        if path not in self._seen:
            return
        known, now = self._seen[path], self._see(path)
        if now == known:
            return
        if known is None:
            self._loads[path]()
            return
        is_users = path in (self._paths.providers, self._paths.mcp)
        theirs = now is not None and (is_users or isinstance(json_file.parse_json(path, now), JsonFile))
        code, kept = "file_deleted", ""
        with storage_errors(path):
            if now is not None:
                code, other = ("file_changed", known) if theirs else ("file_unreadable", now)
                other = json_file.packed(other) if path == self._paths.mcp else other
                kept = str(json_file.keep_bytes(self._disk, self._paths.quarantine, path, other))
            if not theirs:
                write_whole(self._disk, path.resolve(), known)
                self._seen[path] = known
        self._loads[path]()
        self.look_at_kept()
        self._on_replaced(json_file.Replaced(code=code, name=path.name, kept=kept))

    def _load_providers(self) -> None:
        self._providers = json_file.read_providers(self._paths.providers)
        self._problems["providers"] = list(self._providers.problems)

    def _file(self, path: Path) -> tuple[JsonFile | None, list[Problem]]:
        """Return a document, None if none can be read, and the list of its problems, which begins anew."""
        found = json_file.read_json_file(path)
        problems = self._problems[path.stem] = [found] if isinstance(found, Problem) else []
        return found if isinstance(found, JsonFile) else None, problems

    def _load_servers(self) -> None:
        found, problems = self._file(self._paths.mcp)
        self._servers = tuple(json_file.read_servers(found, problems).values()) if found is not None else ()

    def _load_consents(self) -> None:
        """Read the consents; if they cannot be read there are none, and the user is asked again."""
        self._consents = frozenset(self._own(self._paths.consents, _Consents()).consents)

    def _load_memory(self) -> None:
        self._notes = self._own(self._paths.memory, _Memory()).notes

    def _own(self, path: Path, nothing: Own) -> Own:
        """Return the contents of a document of Moot's own, `nothing` if it cannot be read."""
        found, problems = self._file(path)
        if found is not None and json_file.is_newer(found):
            problems.append(found.problem("newer_version", ("version",)))
        elif found is not None:
            return json_file.with_defaults(type(nothing), found, problems)
        return nothing

    def _load_runs(self) -> None:
        path = self._paths.schedule_runs
        runs = self._own(path, _ScheduleRuns()).runs
        self._due = None if self._problems[path.stem] else runs

    def _change_own(self, path: Path, make: Callable[[], Own]) -> None:
        """Write a document of Moot's own as `make` says; unknown fields stay."""
        self._look_again(path)
        contents = make()
        document = json_file.own_document(self._disk, path, self._paths.quarantine)
        whole = with_unknown(type(contents), document, plain(contents))
        self._write(path, {"version": VERSION, **whole})

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
        document = {"version": VERSION, **plain(self._models)}
        json_file.replace_document(self._disk, self._paths.models, document)

    def _replace_servers(self, before: dict[str, Any], document: dict[str, Any]) -> None:
        # The previous copy must not keep a secret that was moved to the keyring.
        previous = json_file.without_secrets(before, unless=document)
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
        for file in files:
            name = file.name.removesuffix(".json")
            if name != file.name and json_file.is_name(name):
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
