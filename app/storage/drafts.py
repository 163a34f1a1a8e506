"""Unsent drafts in `drafts/`: a file for each session, because a draft may contain many pictures.

Implements `core.store.DraftFiles`.
"""

import contextlib
import json
from pathlib import Path

import msgspec

from app.core.draft import Draft
from app.core.errors import StorageError
from app.core.store import Problem
from app.core.texts import clean_values
from app.storage.codec import Plain, is_known, with_unknown
from app.storage.file_system import FileSystem, storage_errors, write_whole
from app.storage.json_file import VERSION, JsonFile, is_name, is_newer, parse_object, set_aside, validated
from app.storage.paths import DataPaths
from app.storage.threads import OneAtATime, in_thread


class DraftFolder:
    """Reads all drafts at once and writes them one by one, in threads."""

    def __init__(self, paths: DataPaths, *, file_system: FileSystem | None = None) -> None:
        self._paths = paths
        self._disk = file_system or FileSystem()
        self._problems: list[Problem] = []
        # What files held that have more than a draft has here, by their names.
        self._more: dict[str, Plain] = {}
        self._threads = OneAtATime("moot-drafts")

    async def load(self) -> dict[str, Draft]:
        """Return all drafts by session; an unreadable file is set aside and added to the `problems`."""
        return await in_thread(self._load, "moot-drafts")

    async def save(self, name: str, draft: Draft) -> None:
        """Write a draft, or remove the file of an empty one. Raises StorageError."""

        def write() -> None:
            path = self._paths.draft(name)
            with storage_errors(path):
                if draft == Draft():
                    self._more.pop(name, None)
                    with contextlib.suppress(FileNotFoundError):
                        self._disk.remove(path)
                else:
                    write_whole(self._disk, path, _as_bytes(draft, self._more.get(name)))

        await self._threads.run(write)

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
            if name != one.name and is_name(name):
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
        elif is_newer(file):
            problems.append(file.problem("newer_version", ("version",)))
        else:
            draft: Draft | None = validated(Draft, file, (), file.value, problems)
            if draft is not None:
                record = {name: value for name, value in file.value.items() if name != "version"}
                if not is_known(Draft, record):
                    self._more[path.stem] = record
                return draft
        # The file will be overwritten, and its contents must not be lost.
        with contextlib.suppress(StorageError):
            set_aside(self._disk, path, self._paths.quarantine)
        self._problems += problems
        return None


def _as_bytes(draft: Draft, before: Plain | None) -> bytes:
    document = {"version": VERSION, **with_unknown(Draft, before, msgspec.to_builtins(draft))}
    # A text box may contain a lone surrogate, which no encoding can store.
    return json.dumps(document, ensure_ascii=False, indent=2).encode(errors="replace") + b"\n"


def _parsed(path: Path, data: bytes) -> JsonFile | Problem:
    """Parse a draft, without the line numbers of its fields: pictures make the file long."""
    value = parse_object(path, data)
    if isinstance(value, Problem):
        return value
    try:
        # A lone surrogate is no text that any encoding can store.
        return JsonFile(path, clean_values(value), {})
    except RecursionError:
        return Problem(path=str(path), code="too_deep")


def _unreadable(path: Path, error: OSError) -> Problem:
    return Problem(path=str(path), code="unreadable", detail=error.strerror or "")
