"""The store for definitions: one file each in a folder of their kind, such as `assistants/`, and its earlier versions.

A person may write these files: what is wrong with one is reported, and the file is left as it is.
"""

import contextlib
import dataclasses
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic

from app.core.council import Decision, Panel
from app.core.definitions import Agent, Group, Leader, SavedPrompt, WorkflowDefinition, faults
from app.core.errors import BadInput, Problem, StorageError
from app.core.session import Definition, Folder
from app.storage import json_file
from app.storage.codec import plain, with_unknown
from app.storage.file_system import FileSystem, storage_errors, write_whole
from app.storage.json_file import Field, JsonFile
from app.storage.threads import InThread, awaited

KEPT_VERSIONS = 20
MOST_VERSION = 1_000_000_000

Fault = tuple[str, str, str]

# A definition is data: fields that name something to run are neither used nor kept.
_COMMANDS = frozenset(("command", "code", "script"))


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionKind(Generic[Definition]):
    """What differs between kinds of definitions.

    `least` holds the smallest value of each number.
    `fault` returns (code, field, detail) of what else is wrong with a definition.
    """

    noun: type[Definition]
    fault: Callable[[Definition], Fault | None]
    least: Mapping[str, int] = field(default_factory=dict)


@dataclass(eq=False, repr=False)
class DefinitionFolder(Generic[Definition]):
    """Reads and writes the definitions of one kind. Implements `core.store.DefinitionStore`."""

    _kind: DefinitionKind[Definition]
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
    def change(self, make: Callable[[], Definition]) -> Definition:
        """Write the definition that `make` returns with the next version number and return it so; the version before is kept.

        `make` is called in the documents' thread, between no two other changes. Fields of the file that are unknown here
        stay. Raises BadInput for an id that cannot name a file, and StorageError, also where the file holds what cannot be read.
        """
        definition = make()
        path = self._place(definition.id)
        found = json_file.readable_file(path)
        document: dict[str, Any] = {}
        with storage_errors(path):
            self._keep_known(definition.id, path, found)
            if found is not None:
                self._keep(definition.id, found)
                document = _without_commands(found.value)
            number = max(self._kept(definition.id), default=0) + 1
            definition = dataclasses.replace(definition, version=number)
            data = json_file.as_bytes(with_unknown(self._kind.noun, document, plain(definition)))
            if wrong := self._faults(path, data):
                detail = wrong[-1].field or wrong[-1].code
                raise StorageError("invalid_record", path=str(path), detail=detail)
            write_whole(self._disk, path.resolve(), data)
            self._forget_oldest(definition.id)
        self.load()
        return definition

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
            self._disk.make_folder(self._trash)
            self._disk.replace(path, json_file.place_in_trash(self._disk, self._trash, definition_id))
            self._disk.sync_folder(self._trash)
            self._disk.sync_folder(self._folder)
        self.load()

    @awaited
    def versions(self, definition_id: str) -> tuple[Definition, ...]:
        """Return the versions that are kept, newest first."""
        if not json_file.is_name(definition_id):
            return ()
        kept = sorted(self._kept(definition_id).items(), reverse=True)
        files = (json_file.read_json_file(path) for _, path in kept)
        found = (self._read(file, []) for file in files if isinstance(file, JsonFile))
        return tuple(one for one in found if one is not None)

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
            files = [folder / one.name for one in self._disk.scan(folder)]
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
        known = next((one for one in self._found if _twin(one.id) == _twin(definition_id)), None)
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
        for at in _commands(file.value):
            problems.append(file.problem("no_commands", at))
        found: Definition | None = json_file.validated(self._kind.noun, file, (), file.value, problems)
        fault = self._fault(found) if found is not None else None
        if fault is None:
            return found
        code, name, detail = fault
        problems.append(file.problem(code, (name,), detail))
        return None

    def _fault(self, definition: Definition) -> Fault | None:
        if not json_file.is_name(definition.id):
            return "bad_id", "id", definition.id[:80]
        if not definition.name.strip():
            return "missing", "name", ""
        for name, least in self._kind.least.items():
            number = getattr(definition, name)
            if number < least:
                return "bad_number", name, str(number)[:40]
        return self._kind.fault(definition)


def _agent_fault(agent: Agent) -> Fault | None:
    if _is_whole(agent):
        return None
    return "missing", "model" if agent.provider.strip() else "provider", ""


def _group_fault(group: Group) -> Fault | None:
    return None if _is_whole(group.orchestrator) else ("missing", "orchestrator", "")


def _is_whole(speaker: Agent | Leader) -> bool:
    """Return whether a provider and a model are named together, or neither."""
    return bool(speaker.provider.strip()) == bool(speaker.model.strip())


def _workflow_fault(definition: WorkflowDefinition) -> Fault | None:
    """Return what keeps a workflow from running."""
    for fault in faults(definition):
        return fault.code, fault.path, fault.detail[:300]
    return None


ASSISTANT = DefinitionKind(
    noun=Agent, fault=_agent_fault, least={"max_depth": 0, "max_steps": 1, "version": 1}
)
GROUP = DefinitionKind(noun=Group, fault=_group_fault, least={"turns_limit": 1, "version": 1})
WORKFLOW = DefinitionKind(noun=WorkflowDefinition, fault=_workflow_fault)
PANEL = DefinitionKind(noun=Panel, fault=lambda _panel: None, least={"rounds": 1, "version": 1})
DECISION = DefinitionKind(noun=Decision, fault=lambda _decision: None)
FOLDER = DefinitionKind(noun=Folder, fault=lambda _: None)
SAVED_PROMPT = DefinitionKind(noun=SavedPrompt, fault=lambda _: None)


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
        return {
            name: _without_commands(item) for name, item in value.items() if name.casefold() not in _COMMANDS
        }
    if isinstance(value, list):
        return [_without_commands(item) for item in value]
    return value
