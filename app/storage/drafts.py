"""What was written and not sent yet, `drafts/`: a file for each session, as one may hold many pictures.

Implements `core.store.DraftFiles`; the wiring makes it, the engine's drafts use it.
"""

import asyncio
import contextlib
import dataclasses
import json
import threading
from pathlib import Path

from app.core.draft import Draft
from app.core.errors import StorageError
from app.core.store import Problem
from app.storage.document_file import VERSION, is_name, is_newer, set_aside, validated
from app.storage.file_system import FileSystem, RealFileSystem, storage_error, write_whole
from app.storage.json_file import JsonFile
from app.storage.paths import DataPaths
from app.storage.threads import run_in_thread


class DraftFolder:
    """Reads all drafts at once and writes them one by one, off the loop's thread."""

    def __init__(self, paths: DataPaths, *, file_system: FileSystem | None = None) -> None:
        self._paths = paths
        self._disk = file_system or RealFileSystem()
        self._problems: list[Problem] = []
        self._writing = threading.Lock()

    async def load(self) -> dict[str, Draft]:
        """Return all that is kept; what cannot be read is set aside and is among the `problems`."""
        return await asyncio.wrap_future(run_in_thread(self._load, "moot-drafts"))

    async def save(self, name: str, draft: Draft) -> None:
        """Write a draft, an empty one by removing its file. Raises StorageError."""

        def write() -> None:
            path = self._paths.draft(name)
            try:
                with self._writing:
                    if draft == Draft():
                        with contextlib.suppress(FileNotFoundError):
                            self._disk.remove(path)
                    else:
                        write_whole(self._disk, path, _as_bytes(draft))
            except OSError as error:
                raise storage_error(error, path) from error

        await asyncio.shield(asyncio.wrap_future(run_in_thread(write, "moot-drafts")))

    def problems(self) -> tuple[Problem, ...]:
        """Return what could not be read, one entry a fault."""
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
                return draft
        # The place is written to again: what was there must not be lost by that.
        with contextlib.suppress(StorageError):
            set_aside(self._disk, path, self._paths.quarantine)
        self._problems += problems
        return None


def _as_bytes(draft: Draft) -> bytes:
    document = {"version": VERSION, **dataclasses.asdict(draft)}
    # What a box holds may be half a character: no encoding can store that.
    return json.dumps(document, ensure_ascii=False, indent=2).encode(errors="replace") + b"\n"


def _parsed(path: Path, data: bytes) -> JsonFile | Problem:
    """Return what a file of ours holds; without the lines of its fields, as pictures make it long."""
    try:
        value = json.loads(data)
    except json.JSONDecodeError as error:
        return Problem(path=str(path), code="not_json", line=error.lineno, detail=error.msg)
    except (ValueError, RecursionError) as error:
        return Problem(path=str(path), code="not_json", detail=type(error).__name__)
    if not isinstance(value, dict):
        return Problem(path=str(path), code="not_an_object", line=1)
    return JsonFile(path, value, {})


def _unreadable(path: Path, error: OSError) -> Problem:
    return Problem(path=str(path), code="unreadable", detail=error.strerror or "")
