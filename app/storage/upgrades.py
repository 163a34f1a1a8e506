"""Brings what an older Moot wrote to the form of now, step by step: a backup first, then each file anew.

Runs at every opening by the writer; `schema.json` says how far the data directory has come.
"""

import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.core.errors import StorageError
from app.core.stored_data import BackupReason
from app.storage.backup import packed_files, schema_version, write_backup
from app.storage.document_file import as_bytes
from app.storage.file_system import FileSystem, storage_error, write_whole
from app.storage.json_file import JsonFile, parse_json
from app.storage.log import Op, by_number, encode_line, read_lines
from app.storage.paths import DataPaths
from app.storage.replay import read_log

Ops = list[Op]


@dataclass(frozen=True, slots=True)
class Step:
    """How one version becomes the next: pure functions of a line of a log and of a document by its name.

    What a step made may come to it again, after a crash: then it changes nothing.
    """

    line: Callable[[Ops], Ops] = lambda ops: ops
    document: Callable[[str, dict[str, Any]], dict[str, Any]] = lambda _name, document: document


# The step at place n - 1 leads from version n to the next. Version 1 is the only one there has been.
STEPS: tuple[Step, ...] = ()


def upgrade(paths: DataPaths, disk: FileSystem, steps: Sequence[Step] = STEPS) -> None:
    """Bring a data directory to the newest version; does nothing where it is there, or ahead.

    Raises StorageError; then every file is whole, as it was or as it shall be, and it goes on next time.
    """
    newest = 1 + len(steps)
    have = schema_version(paths, disk)
    if have >= newest:
        return
    try:
        files = packed_files(paths, disk)
        if files:
            write_backup(paths, disk, BackupReason.BEFORE_UPGRADE)
        for name, path in files:
            data = disk.read(path.resolve())
            fresh = upgraded(name, data, have, steps)
            if fresh == data:
                continue
            if name.endswith(".jsonl"):
                _check(name, data, fresh)
                if _is_damaged(data):
                    write_whole(disk, paths.quarantine / f"{path.stem}.before-{newest}", data)
            write_whole(disk, path.resolve(), fresh)
        write_whole(disk, paths.schema, as_bytes({"version": newest}))
    except OSError as error:
        raise storage_error(error, paths.root) from error


def upgraded(name: str, data: bytes, have: int, steps: Sequence[Step] = STEPS) -> bytes:
    """Return a file of version `have` as the newest one has it; what cannot be read stays as it is.

    A log says itself which version it is of.
    """
    if name.startswith("sessions/"):
        return _upgraded_log(data, have, steps)
    if not name.endswith(".json") or have > len(steps):
        return data
    found = parse_json(Path(name), data)
    if not isinstance(found, JsonFile):
        return data
    document = found.value
    for step in steps[have - 1 :]:
        document = step.document(name, document)
    return data if document == json.loads(data.decode("utf-8-sig")) else as_bytes(document)


def _upgraded_log(data: bytes, have: int, steps: Sequence[Step]) -> bytes:
    lines = by_number(line for line in read_lines(io.BytesIO(data)) if line is not None)
    head = next((op for line in lines[:1] for op in line.ops if op.get("op") == "head"), None)
    version = head.get("version") if head else have
    newest = 1 + len(steps)
    if not lines or type(version) is not int or not 1 <= version < newest:
        return data
    fresh = []
    for place, line in enumerate(lines):
        ops = line.ops
        for step in steps[version - 1 :]:
            ops = step.line(ops)
        if place == 0:
            rest = [op for op in ops if op.get("op") != "head"]
            ops = [{**(head or {"op": "head"}), "version": newest, "min_reader": newest}, *rest]
        fresh.append(encode_line(line.number, ops))
    return b"".join(fresh)


def _check(name: str, before: bytes, after: bytes) -> None:
    """Raise StorageError where a step lost messages or the session itself."""
    old, new = read_log(lambda: io.BytesIO(before)), read_log(lambda: io.BytesIO(after))
    if list(old.messages) != list(new.messages) or bool(old.session) != bool(new.session):
        raise StorageError("upgrade_failed", path=name)


def _is_damaged(data: bytes) -> bool:
    return any(line is None for line in read_lines(io.BytesIO(data)))
