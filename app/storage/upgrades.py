"""Upgrades the files of an older Moot step by step, after a backup.

Runs whenever a writer opens a data directory; `schema.json` contains its version.
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
from app.storage.file_system import FileSystem, storage_errors, write_whole
from app.storage.json_file import JsonFile, as_bytes, parse_json
from app.storage.log import READER, Op, by_number, encode_line, read_lines
from app.storage.paths import DataPaths
from app.storage.replay import read_log

Ops = list[Op]


@dataclass(frozen=True, slots=True)
class Step:
    """The step from one version to the next: pure functions of a log line and of a document.

    After a crash a step may be applied to its own result, and must then change nothing.
    """

    line: Callable[[Ops], Ops] = lambda ops: ops
    document: Callable[[str, dict[str, Any]], dict[str, Any]] = lambda _name, document: document


# The step at index n - 1 leads from version n to n + 1. So far there is only version 1.
STEPS: tuple[Step, ...] = ()


def upgrade(paths: DataPaths, disk: FileSystem, steps: Sequence[Step] = STEPS) -> None:
    """Upgrade a data directory; does nothing if it is up to date or newer.

    Raises StorageError; then every file is complete, old or new, and the next start continues.
    """
    newest = 1 + len(steps)
    have = schema_version(paths, disk)
    if have >= newest:
        return
    with storage_errors(paths.root):
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


def upgraded(name: str, data: bytes, have: int, steps: Sequence[Step] = STEPS) -> bytes:
    """Return a file of version `have` in the newest version; an unreadable one is returned unchanged.

    A log contains its own version.
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
            ops = [
                {
                    **(head or {"op": "head"}),
                    "version": newest,
                    "min_reader": READER + len(steps) - len(STEPS),
                },
                *rest,
            ]
        fresh.append(encode_line(line.number, ops))
    return b"".join(fresh)


def _check(name: str, before: bytes, after: bytes) -> None:
    """Raise StorageError if a step lost messages or the session."""
    old, new = read_log(lambda: io.BytesIO(before)), read_log(lambda: io.BytesIO(after))
    if list(old.messages) != list(new.messages) or bool(old.session) != bool(new.session):
        raise StorageError("upgrade_failed", path=name)


def _is_damaged(data: bytes) -> bool:
    return any(line is None for line in read_lines(io.BytesIO(data)))
