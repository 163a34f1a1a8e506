"""Definitions, one file each in `assistants/`, `groups/` and `workflows/`, and the versions each of them had.

A person may write them: what is wrong is reported and never touched. Used by the documents.
"""

import contextlib
import dataclasses
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

from app.core.agent import Agent, Busy, Group, Leader
from app.core.errors import BadInput, StorageError
from app.core.store import Problem
from app.core.workflow import WorkflowDefinition, faults
from app.storage.document_file import MAX_ID, as_bytes, is_name, place_in_bin, refusal, validated
from app.storage.file_system import FileSystem, storage_error, write_whole
from app.storage.json_file import Field, JsonFile, parse_json, read_json_file
from app.storage.records import plain

KEPT_VERSIONS = 20

Fault = tuple[str, str, str]

# A definition is data: what could be run is neither run nor kept.
_COMMANDS = frozenset(("command", "code", "script"))


Definition = TypeVar("Definition", Agent, Group, WorkflowDefinition)


class DefinitionFolder(Generic[Definition]):
    """Reads and writes the definitions of one kind; everything here may block."""

    def __init__(self, kind: type[Definition], folder: Path, trash: Path, disk: FileSystem) -> None:
        self._kind: type[Definition] = kind
        self._folder = folder
        self._trash = trash
        self._disk = disk
        self._files: dict[str, Path] = {}

    def read(self) -> tuple[tuple[Definition, ...], list[Problem]]:
        """Return the definitions that can be used, and what is wrong with the rest."""
        problems: list[Problem] = []
        agents: dict[str, Definition] = {}
        places: dict[str, Path] = {}
        try:
            files = sorted(self._folder.glob("*.json"))
        except OSError:
            files = []
        for path in files:
            found = read_json_file(path)
            if isinstance(found, Problem):
                problems.append(found)
            elif found is not None and (agent := self._read(found, problems)) is not None:
                twin = _twin(agent.id)
                if twin in agents:
                    problems.append(found.problem("duplicate_id", ("id",), agent.id))
                else:
                    agents[twin] = agent
                    places[twin] = path
        self._files = places
        return tuple(agents.values()), problems

    def save(self, agent: Definition) -> Definition:
        """Write a definition with the next version number; the one before is kept.

        Raises BadInput for an id that can name no file, StorageError also where a file is in the way.
        """
        path = self._place(agent.id)
        found = read_json_file(path)
        if isinstance(found, Problem):
            raise refusal(found)
        document: dict[str, Any] = {}
        try:
            if found is not None:
                self._keep(agent.id, found)
                document = _without_commands(found.value)
            agent = dataclasses.replace(agent, version=max(self._kept(agent.id), default=0) + 1)
            data = as_bytes(_merged(document, plain(agent), self._kind))
            self._check(path, data)
            write_whole(self._disk, path.resolve(), data)
            self._forget_oldest(agent.id)
        except OSError as error:
            raise storage_error(error, path) from error
        self._files[_twin(agent.id)] = path
        return agent

    def delete(self, agent_id: str) -> None:
        """Move a definition to the bin and keep it as a version. Raises StorageError."""
        path = self._place(agent_id)
        found = read_json_file(path)
        if found is None:
            return
        if isinstance(found, Problem):
            raise refusal(found)
        try:
            self._keep(agent_id, found)
            self._disk.make_folder(self._trash)
            self._disk.replace(path, place_in_bin(self._disk, self._trash, agent_id))
            self._disk.sync_folder(self._trash)
            self._disk.sync_folder(self._folder)
        except OSError as error:
            raise storage_error(error, path) from error
        self._files.pop(_twin(agent_id), None)

    def versions(self, agent_id: str) -> tuple[Definition, ...]:
        """Return the versions that are kept, newest first."""
        if not is_name(agent_id):
            return ()
        agents = []
        for _, path in sorted(self._kept(agent_id).items(), reverse=True):
            found = read_json_file(path)
            if isinstance(found, JsonFile) and (agent := self._read(found, [])) is not None:
                agents.append(agent)
        return tuple(agents)

    def fits(self, path: Path, data: bytes) -> bool:
        """Say whether these bytes are a definition without any fault."""
        file = parse_json(path, data)
        problems: list[Problem] = []
        return isinstance(file, JsonFile) and self._read(file, problems) is not None and not problems

    def _place(self, agent_id: str) -> Path:
        """Return the file of an assistant: the one it was read from, else one named after it."""
        if not is_name(agent_id):
            raise BadInput("assistant_id_invalid", assistant=agent_id[:80], most=MAX_ID)
        return self._files.get(_twin(agent_id), self._folder / f"{agent_id}.json")

    def _versions_of(self, agent_id: str) -> Path:
        return self._folder / ".versions" / _twin(agent_id)

    def _kept(self, agent_id: str) -> dict[int, Path]:
        folder = self._versions_of(agent_id)
        try:
            files = [folder / one.name for one in self._disk.scan(folder)]
        except OSError:
            files = []
        return {int(path.stem): path for path in files if path.suffix == ".json" and path.stem.isdecimal()}

    def _keep(self, agent_id: str, file: JsonFile) -> None:
        """Keep a definition as it is now among its versions. Raises StorageError where it is another's."""
        problems: list[Problem] = []
        before = self._read(file, problems)
        if before is None:
            raise refusal(problems[-1])
        if _twin(before.id) != _twin(agent_id):
            raise refusal(file.problem("duplicate_id", ("id",)))
        kept = self._kept(agent_id)
        data = as_bytes(_without_commands(file.value))
        number = before.version
        if number in kept and kept[number].read_bytes() != data:
            number = max(kept) + 1  # Written by hand with a number that is taken.
        write_whole(self._disk, self._versions_of(agent_id) / f"{number}.json", data)

    def _forget_oldest(self, agent_id: str) -> None:
        kept = sorted(self._kept(agent_id).items(), reverse=True)
        for _, path in kept[KEPT_VERSIONS:]:
            with contextlib.suppress(FileNotFoundError):
                self._disk.remove(path)

    def _check(self, path: Path, data: bytes) -> None:
        """Raise StorageError for a definition that could not be read back."""
        problems: list[Problem] = []
        file = parse_json(path, data)
        if isinstance(file, Problem):
            problems = [file]
        elif self._read(file, problems) is not None:
            return
        fault = problems[-1]
        raise StorageError("invalid_record", path=str(path), detail=fault.field or fault.code)

    def _read(self, file: JsonFile, problems: list[Problem]) -> Definition | None:
        for at in _commands(file.value):
            problems.append(file.problem("no_commands", at))
        found: Definition | None = validated(self._kind, file, (), file.value, problems)
        fault = _FAULTS[self._kind](found) if found is not None else None
        if fault is None:
            return found
        code, name, detail = fault
        problems.append(file.problem(code, (name,), detail))
        return None


def _agent_fault(agent: Agent) -> Fault | None:
    """Return (code, field, detail) of what is wrong with an assistant."""
    if not is_name(agent.id):
        return "bad_id", "id", agent.id[:80]
    needed = ("name", "provider", "model") if agent.provider.strip() or agent.model.strip() else ("name",)
    for name in needed:
        if not getattr(agent, name).strip():
            return "missing", name, ""
    for name, least in (("max_depth", 0), ("max_steps", 1), ("version", 1)):
        if getattr(agent, name) < least:
            return "bad_number", name, str(getattr(agent, name))[:40]
    return None


def _group_fault(group: Group) -> Fault | None:
    """Return (code, field, detail) of what is wrong with a group."""
    if not is_name(group.id):
        return "bad_id", "id", group.id[:80]
    if not group.name.strip():
        return "missing", "name", ""
    if bool(group.orchestrator.provider.strip()) != bool(group.orchestrator.model.strip()):
        return "missing", "orchestrator", ""
    for name in ("turns_limit", "version"):
        if getattr(group, name) < 1:
            return "bad_number", name, str(getattr(group, name))[:40]
    return None


def _workflow_fault(definition: WorkflowDefinition) -> Fault | None:
    """Return (code, field, detail) of what keeps a workflow from running."""
    if not is_name(definition.id):
        return "bad_id", "id", definition.id[:80]
    if not definition.name.strip():
        return "missing", "name", ""
    for fault in faults(definition):
        place = "" if fault.place is None else f"steps[{fault.place}]."
        return fault.code, f"{place}{fault.field}", fault.detail[:300]
    return None


_FAULTS: dict[type, Callable[[Any], Fault | None]] = {
    Agent: _agent_fault,
    Group: _group_fault,
    WorkflowDefinition: _workflow_fault,
}


def _twin(agent_id: str) -> str:
    """Return what two ids share that would be one file on some system."""
    return unicodedata.normalize("NFC", agent_id).casefold()


def _merged(before: dict[str, Any], record: dict[str, Any], kind: type) -> dict[str, Any]:
    """Return what a definition says now, with the fields of before that are unknown here."""
    known = {field.name for field in dataclasses.fields(kind)}
    merged = {name: value for name, value in before.items() if name in record or name not in known}
    for name, value in record.items():
        inside = merged.get(name)
        nested = _NESTED.get(name)
        merged[name] = _merged(inside, value, nested) if nested and isinstance(inside, dict) else value
    return merged


_NESTED: dict[str, type] = {"busy": Busy, "orchestrator": Leader}


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
