"""Packs all data of the user into one zip file, without keys, consents, caches and logs.

A session's log may grow meanwhile, so it is packed up to its last whole line.
"""

import contextlib
import hashlib
import json
import time
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.core.errors import StorageError
from app.core.events import utc_now
from app.core.ids import is_id
from app.core.stored_data import Backup
from app.storage.file_system import FileSystem, not_written, storage_error, write_all
from app.storage.json_file import as_bytes
from app.storage.mcp_file import packed
from app.storage.paths import DEFINITIONS, DataPaths

MANIFEST = "moot-backup.json"
BACKUP_VERSION = 1
KEPT = 7
# Data that compresses better than this is stored uncompressed, because readers refuse such a ratio.
MOST_RATIO = 50

_MOST_NAME = 100


def packed_files(paths: DataPaths, disk: FileSystem) -> list[tuple[str, Path]]:
    """Return (name in the zip, file) of all data of the user, sorted."""
    found = [
        (f"sessions/{one.name}", paths.sessions / one.name)
        for one in disk.scan(paths.sessions)
        if one.name.endswith(".jsonl") and is_id(one.name.removesuffix(".jsonl"))
    ]
    for folder in (*(paths.root / name for name in DEFINITIONS), paths.drafts):
        # A user may have put a link there, and its target is the user's data too.
        files = [*folder.glob("*.json"), *folder.glob(".versions/*/*.json")]
        found += [(file.relative_to(paths.root).as_posix(), file) for file in files if file.is_file()]
    small = (paths.settings, paths.providers, paths.mcp, paths.usage)
    found += [(file.name, file) for file in small if file.is_file()]
    return sorted((name, file) for name, file in found if may_be_packed(name))


def may_be_packed(name: str) -> bool:
    """Return whether a backup may contain a file of this name; others are neither written nor read."""
    if name in ("settings.json", "providers.json", "mcp.json", "usage.jsonl"):
        return True
    match name.split("/"):
        case ["sessions", file]:
            return file.endswith(".jsonl") and is_id(file.removesuffix(".jsonl"))
        case [folder, file] if folder in (*DEFINITIONS, "drafts"):
            return _is_file_name(file) and file.endswith(".json")
        case [kind, ".versions", folder, file] if kind in DEFINITIONS:
            number = file.removesuffix(".json")
            return _is_file_name(folder) and file.endswith(".json") and number.isdecimal()
    return False


def _is_file_name(text: str) -> bool:
    return (
        0 < len(text.encode(errors="replace")) <= _MOST_NAME
        and text[0] not in ". "
        and text[-1] not in ". "
        and text.isprintable()
        and not any(character in '<>:"/\\|?*' for character in text)
    )


def schema_version(paths: DataPaths, disk: FileSystem) -> int:
    """Return the version of the files of a data directory; 1 if it has none."""
    try:
        found = json.loads(disk.read(paths.schema))["version"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return 1
    return found if type(found) is int else 1


def state_of(files: Iterable[tuple[str, Path]]) -> str:
    """Return a digest of the names, sizes and times of files, which changes when they do."""
    digest = hashlib.sha256()
    for name, file in files:
        with contextlib.suppress(OSError):
            stat = file.stat()
            digest.update(f"{name}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()


class _Sink:
    """A file for writing a zip; it cannot seek."""

    def __init__(self, disk: FileSystem, descriptor: int) -> None:
        self._disk = disk
        self._descriptor = descriptor
        self.size = 0

    def write(self, data: bytes) -> int:
        write_all(self._disk, self._descriptor, data)
        self.size += len(data)
        return len(data)

    def flush(self) -> None:
        """Do nothing: every write goes to the disk at once."""


def write_zip(disk: FileSystem, target: Path, entries: Iterator[tuple[str, bytes]]) -> int:
    """Write a zip of these entries; after a crash there is all of it or the previous file.

    Returns its size in bytes. Raises OSError.
    """
    disk.make_folder(target.parent)
    fresh = target.with_name(target.name + ".tmp")
    with contextlib.suppress(FileNotFoundError):
        disk.remove(fresh)
    descriptor = disk.create(fresh)
    try:
        sink = _Sink(disk, descriptor)
        with zipfile.ZipFile(sink, "w") as file:  # type: ignore[call-overload]  # no way back
            for name, data in entries:
                info = zipfile.ZipInfo(name, time.localtime()[:6])
                info.external_attr = 0o600 << 16
                file.writestr(info, data, _way_of(data))
        disk.sync(descriptor)
    except BaseException:
        disk.close(descriptor)
        with contextlib.suppress(OSError):
            disk.remove(fresh)
        raise
    disk.close(descriptor)
    disk.replace(fresh, target)
    disk.sync_folder(target.parent)
    return sink.size


def _way_of(data: bytes) -> int:
    if len(data) < 1_000:
        return zipfile.ZIP_STORED
    small = zlib.compress(data[:1_000_000], 1)
    return zipfile.ZIP_STORED if min(len(data), 1_000_000) > MOST_RATIO * len(small) else zipfile.ZIP_DEFLATED


def write_backup(
    paths: DataPaths,
    disk: FileSystem,
    why: str,
    target: Path | None = None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Backup:
    """Write a backup to `backups/`, which keeps the newest seven of each kind, or to `target`.

    `progress` gets the number of packed files and of all files. Raises StorageError, and whatever `progress` raises;
    then there is no new file.
    """
    files = packed_files(paths, disk)
    made_at = utc_now()
    own = target is None
    if target is None:
        stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
        target = paths.backups / f"moot-{stamp}-{why}.zip"
    manifest = {
        "version": BACKUP_VERSION,
        "made_at": made_at,
        "why": why,
        "schema": schema_version(paths, disk),
        "state": state_of(files),
    }
    try:
        size = write_zip(disk, target, _entries(disk, manifest, files, progress))
        if own:
            _forget_oldest(paths, disk, why)
    except OSError as error:
        raise storage_error(error, target) if own else not_written(error, target) from error
    return Backup(path=str(target), made_at=made_at, why=why, size=size)


def _entries(
    disk: FileSystem,
    manifest: dict[str, Any],
    files: list[tuple[str, Path]],
    progress: Callable[[int, int], None],
) -> Iterator[tuple[str, bytes]]:
    count = 0
    for done, (name, file) in enumerate(files):
        progress(done, len(files))
        try:
            data = disk.read(file.resolve())
        except FileNotFoundError:
            continue
        if name.startswith("sessions/"):
            data = data[: data.rfind(b"\n") + 1]
        elif name == "mcp.json":
            data = packed(data)
        count += 1
        yield name, data
    # Last, so that a truncated zip has none.
    yield MANIFEST, as_bytes({**manifest, "files": count})


def own_backups(paths: DataPaths, disk: FileSystem) -> list[Backup]:
    """Return the backups in `backups/`, read from their file names, the newest first."""
    found = []
    for one in disk.scan(paths.backups):
        match one.name.removesuffix(".zip").split("-", 4):
            case ["moot", day, clock, part, why] if one.name.endswith(".zip"):
                with contextlib.suppress(ValueError):
                    moment = datetime.strptime(f"{day}{clock}{part}", "%Y%m%d%H%M%S%f").replace(tzinfo=UTC)
                    made_at = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
                    path = str(paths.backups / one.name)
                    found.append(Backup(path=path, made_at=made_at, why=why, size=one.size))
    return sorted(found, key=lambda backup: backup.made_at, reverse=True)


def is_due(paths: DataPaths, disk: FileSystem, why: str) -> bool:
    """Return whether the daily backup is due: there is none of today, and something has changed since the last."""
    last = next((one for one in own_backups(paths, disk) if one.why == why), None)
    files = packed_files(paths, disk)
    if last is None:
        return bool(files)
    made = datetime.fromisoformat(last.made_at.replace("Z", "+00:00")).astimezone()
    if made.date() >= datetime.now().astimezone().date():
        return False
    try:
        with zipfile.ZipFile(last.path) as file:
            manifest = json.loads(file.read(MANIFEST))
        return bool(manifest["state"] != state_of(files))
    except (OSError, KeyError, TypeError, ValueError, RecursionError, zipfile.BadZipFile, StorageError):
        return True


def _forget_oldest(paths: DataPaths, disk: FileSystem, why: str) -> None:
    same = [one for one in own_backups(paths, disk) if one.why == why]
    for old in same[KEPT:]:
        disk.remove(Path(old.path))
