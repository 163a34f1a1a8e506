"""Backups in one zip file, upgrades, the trash, and files from elsewhere:
implements `core.store.ArchiveFiles`.

A backup has no keys, nor what hidden files and those for keys held, and no consents, caches or logs; a
session's log is packed up to its last whole line. One to restore may come from anywhere, so the usual readers
check every part. Upgrades go step by step, after a backup; `schema.json` has the version.
"""

import asyncio
import contextlib
import functools
import hashlib
import io
import json
import os
import time
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any

from app.core import store
from app.core.errors import BadInput, NotFound, StorageError
from app.core.files import Progress
from app.core.frozen import Frozen
from app.core.ids import derived_id, is_id, stamp, utc_now
from app.core.message import Message, UsageEntry
from app.core.session_files import is_usual
from app.core.skills import is_skill_name
from app.core.store import Backup, BackupContents, BackupReason, Difference, PackedDocument, PackedSession
from app.core.turns import without_approvals
from app.storage import file_system
from app.storage.codec import MessageReader, merge_patch, plain, read_session, summary_of, with_unknown
from app.storage.documents import JsonDocuments
from app.storage.file_system import FileSystem, not_written, storage_error, storage_errors, write_whole
from app.storage.foreign_file import CheckedZip, Limits, read_exported, read_foreign
from app.storage.json_file import JsonFile, as_bytes, packed, parse_json, unpacked
from app.storage.lines import READER, Op, by_number, encode_line, read_lines, with_line
from app.storage.log import read_log, stored_session
from app.storage.paths import DEFINITIONS, DataPaths
from app.storage.session_files import LOG, VERSIONS, bring_in, is_digest, versions_of
from app.storage.sessions import DEFINITION_KINDS, JsonLogStore, remove_for_good, thrown, thrown_at
from app.storage.skills import SKILL_KIND, files_of_skills, fits_skill, read_folder
from app.storage.threads import Result, awaited, in_thread
from app.storage.usage_ledger import read_ledger

MANIFEST = "moot-backup.json"
BACKUP_VERSION = 1
_SESSIONS, _FILES, _CONTENTS, _SKILLS = "sessions/", "files/", "contents/", "skills/"
_LOGS = (_SESSIONS, _FILES)
KEPT = 7
# Data that compresses better than this is stored uncompressed, because readers refuse such a ratio.
MOST_RATIO = 50

_MOST_NAME = 100


def _untold(*_: object) -> None:
    """Tell nobody."""


_SMALL = ("settings.json", "providers.json", "mcp.json", "memory.json", "usage.jsonl", "schedule_runs.json")


def packed_files(paths: DataPaths, disk: FileSystem) -> list[tuple[str, Path]]:
    """Return (name in the zip, file) of all data of the user, sorted."""
    # What is no session's log may not be packed.
    found = [(f"{_SESSIONS}{stat.name}", paths.sessions / stat.name) for stat in disk.scan(paths.sessions)]
    for folder in (*(paths.root / name for name in DEFINITIONS), paths.drafts):
        # A user may have put a link there, and its target is the user's data too.
        files = [*folder.glob("*.json"), *folder.glob(".versions/*/*.json")]
        found += [(file.relative_to(paths.root).as_posix(), file) for file in files if file.is_file()]
    found += files_of_skills(paths.skills)
    found += [(name, paths.root / name) for name in _SMALL if (paths.root / name).is_file()]
    for log in paths.files.glob(f"*/{VERSIONS}/{LOG}"):
        found.append((f"{_FILES}{log.parent.parent.name}.jsonl", log))
        # What hidden files and those for keys held stays here: they are not among these versions.
        with contextlib.suppress(FileNotFoundError):
            digests = [version.sha256 for _, version in versions_of(disk.read(log))]
            found += [(_CONTENTS + digest, log.parent / digest) for digest in digests]
    # What several sessions hold is packed once.
    return sorted({name: file for name, file in found if may_be_packed(name)}.items())


def may_be_packed(name: str) -> bool:
    """Return whether a backup may contain a file of this name; others are neither written nor read."""
    if name in _SMALL:
        return True
    match name.split("/"):
        case ["contents", file]:
            return is_digest(file)
        case ["sessions" | "files", file]:
            return file.endswith(".jsonl") and is_id(file.removesuffix(".jsonl"))
        case ["skills", skill, *path] if path:
            return is_skill_name(skill) and is_usual("/".join(path))
        case [folder, file] if folder in (*DEFINITIONS, "drafts"):
            return _is_file_name(file) and file.endswith(".json")
        case [kind, ".versions", folder, file] if kind in DEFINITIONS:
            number = file.removesuffix(".json")
            return _is_file_name(folder) and file.endswith(".json") and number.isdecimal()
    return False


def _is_file_name(text: str) -> bool:
    fits = 0 < len(text.encode(errors="replace")) <= _MOST_NAME and text.isprintable()
    return fits and {text[0], text[-1]}.isdisjoint(". ") and set(text).isdisjoint('<>:"/\\|?*')


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


@dataclass
class _Sink:
    """A file for writing a zip; it cannot seek."""

    _disk: FileSystem
    _descriptor: int
    size: int = 0

    def write(self, data: bytes) -> int:
        file_system.write_all(self._disk, self._descriptor, data)
        self.size += len(data)
        return len(data)

    def flush(self) -> None:
        """Do nothing: every write goes to the disk at once."""


def write_zip(disk: FileSystem, target: Path, entries: Iterator[tuple[str, bytes]]) -> int:
    """Write a zip of these entries; after a crash there is all of it or the previous file.

    Returns its size in bytes. Raises OSError.
    """
    with file_system.replacing(disk, target) as descriptor:
        sink = _Sink(disk, descriptor)
        with zipfile.ZipFile(sink, "w") as file:  # type: ignore[call-overload]  # no way back
            for name, data in entries:
                info = zipfile.ZipInfo(name, time.localtime()[:6])
                info.external_attr = 0o600 << 16
                file.writestr(info, data, _way_of(data))
        disk.sync(descriptor)
    return sink.size


def _way_of(data: bytes) -> int:
    if len(data) < 1_000:
        return zipfile.ZIP_STORED
    small = zlib.compress(data[:1_000_000], 1)
    return zipfile.ZIP_STORED if min(len(data), 1_000_000) > MOST_RATIO * len(small) else zipfile.ZIP_DEFLATED


def write_backup(
    paths: DataPaths, disk: FileSystem, why: str, target: Path | None = None, progress: Progress = _untold
) -> Backup:
    """Write a backup to `backups/`, which keeps the newest seven of each kind, or to `target`.

    `progress` gets the number of packed files and of all files. Raises StorageError, and whatever `progress`
    raises; then there is no new file.
    """
    files = packed_files(paths, disk)
    made_at = utc_now()
    own = target is None
    if target is None:
        stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
        target = paths.backups / f"moot-{stamp}-{why}.zip"
    manifest: dict[str, Any] = {"version": BACKUP_VERSION, "made_at": made_at, "why": why}
    manifest |= {"schema": schema_version(paths, disk), "state": state_of(files)}
    try:
        size = write_zip(disk, target, _entries(disk, manifest, files, progress))
        if own:
            _forget_oldest(paths, disk, why)
    except OSError as error:
        raise storage_error(error, target) if own else not_written(error, target) from error
    return Backup(path=str(target), made_at=made_at, why=why, size=size)


def _entries(
    disk: FileSystem, manifest: dict[str, Any], files: list[tuple[str, Path]], progress: Progress
) -> Iterator[tuple[str, bytes]]:
    count = 0
    for done, (name, file) in enumerate(files):
        progress(done, len(files))
        try:
            data = disk.read(file.resolve())
        except FileNotFoundError:
            continue
        if name.startswith(_LOGS):
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
    for stat in disk.scan(paths.backups):
        match stat.name.removesuffix(".zip").split("-", 4):
            case ["moot", day, clock, part, why] if stat.name.endswith(".zip"):
                with contextlib.suppress(ValueError):
                    moment = datetime.strptime(f"{day}{clock}{part}", "%Y%m%d%H%M%S%f").replace(tzinfo=UTC)
                    made_at = stamp(moment)
                    path = str(paths.backups / stat.name)
                    found.append(Backup(path=path, made_at=made_at, why=why, size=stat.size))
    return sorted(found, key=lambda backup: backup.made_at, reverse=True)


def is_due(paths: DataPaths, disk: FileSystem, why: str) -> bool:
    """Return whether the daily backup is due: there is none of today,
    and something has changed since the last.
    """
    # Those of a later time were made while the clock was wrong.
    own, now = own_backups(paths, disk), utc_now()
    last = next((backup for backup in own if backup.why == why and backup.made_at <= now), None)
    if last is not None:
        made = datetime.fromisoformat(last.made_at.replace("Z", "+00:00")).astimezone()
        if made.date() == datetime.now().astimezone().date():
            return False
    files = packed_files(paths, disk)
    if last is None:
        return bool(files)
    try:
        with zipfile.ZipFile(last.path) as file:
            manifest = json.loads(file.read(MANIFEST))
        return bool(manifest["state"] != state_of(files))
    except (OSError, KeyError, TypeError, ValueError, RecursionError, zipfile.BadZipFile, StorageError):
        return True


def _forget_oldest(paths: DataPaths, disk: FileSystem, why: str) -> None:
    now = utc_now()
    same = [backup for backup in own_backups(paths, disk) if backup.why == why]
    # Those of a clock that was ahead go first, or the newest would.
    same.sort(key=lambda backup: (backup.made_at <= now, backup.made_at), reverse=True)
    for old in same[KEPT:]:
        disk.remove(Path(old.path))


Ops = list[Op]


class Step(Frozen):
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
                if None in read_lines(io.BytesIO(data)):
                    write_whole(disk, paths.quarantine / f"{path.stem}.before-{newest}", data)
            write_whole(disk, path.resolve(), fresh)
        write_whole(disk, paths.schema, as_bytes({"version": newest}))


def upgraded(name: str, data: bytes, have: int, steps: Sequence[Step] = STEPS) -> bytes:
    """Return a file of version `have` in the newest version; an unreadable one is returned unchanged.

    A log contains its own version.
    """
    if name.startswith("sessions/"):
        return _upgraded_log(data, have, steps)
    if not name.endswith(".json") or name.startswith(_SKILLS) or have > len(steps):
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
            versions = {"version": newest, "min_reader": READER + len(steps) - len(STEPS)}
            ops = [{**(head or {"op": "head"}), **versions}, *rest]
        fresh.append(encode_line(line.number, ops))
    return b"".join(fresh)


def _check(name: str, before: bytes, after: bytes) -> None:
    """Raise StorageError if a step lost messages or the session."""
    old, new = read_log(lambda: io.BytesIO(before)), read_log(lambda: io.BytesIO(after))
    if list(old.messages) != list(new.messages) or bool(old.session) != bool(new.session):
        raise StorageError("upgrade_failed", path=name)


# A year of work may be large, but not a single log or document.
LIMITS = Limits(file=4 << 30, unpacked=16 << 30, entry=512 << 20, entries=100_000)

_LEDGER = "usage.jsonl"


class OpenBackup:
    """An open backup, and the data directory that it would be restored to; all methods block."""

    def __init__(self, paths: DataPaths, disk: FileSystem, path: Path) -> None:
        self._paths = paths
        self._disk = disk
        self._path = path
        self._schema = 1
        self._zip = CheckedZip(path, LIMITS)
        try:
            self.backup = self._read_manifest()
        except BaseException:
            self._zip.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._zip.close()

    def contents(self) -> BackupContents:
        """Return the contents, each part compared with the data directory."""
        sessions = [self._session(name) for name in self._zip.names if name.startswith(_SESSIONS)]
        sessions.sort(key=lambda session: (session.updated_at, session.id), reverse=True)
        states = ((name, self.document_state(name, data)) for name, data in self.documents())
        skills = ((f"{_SKILLS}{name}", self.skill_state(name, held)) for name, held in self.skills())
        documents = tuple(PackedDocument(name=name, state=state) for name, state in (*states, *skills))
        return BackupContents(backup=self.backup, sessions=tuple(sessions), documents=documents)

    def documents(self) -> Iterator[tuple[str, bytes]]:
        """Yield name and bytes of everything except sessions and their files, and skills.

        The usage ledger is left out too: it may be open, and is imported line by line.
        """
        for name in self._zip.names:
            if name not in (MANIFEST, _LEDGER) and not name.startswith((*_LOGS, _CONTENTS, _SKILLS)):
                data = upgraded(name, self._zip.read(name), self._schema)
                if name == "mcp.json":
                    # With the secrets that the user wrote into the present file.
                    with contextlib.suppress(OSError):
                        data = unpacked(data, self._paths.mcp.read_bytes())
                yield name, data

    def skills(self) -> Iterator[tuple[str, dict[str, bytes]]]:
        """Yield the name and the files of each skill."""
        parts = [name.split("/", 2) for name in self._zip.names if name.startswith(_SKILLS)]
        for skill in dict.fromkeys(name for _, name, _ in parts):
            paths = (path for _, name, path in parts if name == skill)
            yield skill, {path: self._zip.read(f"{_SKILLS}{skill}/{path}") for path in paths}

    def skill_state(self, name: str, contents: Mapping[str, bytes]) -> str:
        """Compare a skill with the present one."""
        if not (place := self._paths.skills / name).is_dir():
            return Difference.MISSING if fits_skill(name, contents) else Difference.UNREADABLE
        with contextlib.suppress(BadInput, OSError):
            return Difference.SAME if read_folder(place) == contents else Difference.CHANGED
        return Difference.CHANGED

    def usage(self) -> list[UsageEntry]:
        """Return the model calls in the backup's usage ledger."""
        return list(read_ledger(io.BytesIO(self._zip.read(_LEDGER)))) if _LEDGER in self._zip.names else []

    def log(self, session_id: str) -> bytes:
        """Return the log of a session, after reading it completely. Raises BadInput."""
        name = f"{_SESSIONS}{session_id}.jsonl"
        if name not in self._zip.names:
            raise BadInput("backup_lacks", name=self._path.name, entry=name)
        data = self._log(name)
        replay = read_log(lambda: io.BytesIO(data), MessageReader().read)
        session, _ = read_session(session_id, replay.session)
        if session.kind == "unknown":
            raise BadInput("backup_log_damaged", name=self._path.name, entry=name)
        return data

    def bring_files(self, session_id: str, target: str) -> None:
        """Make the folder with a session's files for the session `target`, if it has any.
        Raises BadInput, OSError.
        """
        if (name := f"{_FILES}{session_id}.jsonl") in self._zip.names:
            bring_in(self._disk, self._paths.files / target, self._zip.read(name), self._content)

    def _content(self, digest: str) -> bytes | None:
        name = _CONTENTS + digest
        return self._zip.read(name) if name in self._zip.names else None

    def session_state(self, session_id: str, data: bytes) -> str:
        """Compare the log of a session with the present one."""
        path = self._paths.session(session_id)
        try:
            here = self._disk.read(path, 0, len(data))
        except FileNotFoundError:
            return Difference.MISSING
        except OSError:
            return Difference.CHANGED
        # A log only grows, so a log that begins with these bytes contains them all.
        return Difference.SAME if here == data else Difference.CHANGED

    def document_state(self, name: str, data: bytes) -> str:
        """Compare a document with the present one."""
        path, here = self._paths.root / name, b""
        with contextlib.suppress(OSError):
            here = path.read_bytes()
        if not here.strip():
            return Difference.MISSING
        found, now = parse_json(path, data), parse_json(path, here)
        if not isinstance(found, JsonFile):
            return Difference.UNREADABLE
        same = isinstance(now, JsonFile) and now.value == found.value
        return Difference.SAME if same else Difference.CHANGED

    def _log(self, name: str) -> bytes:
        return upgraded(name, self._zip.read(name), self._schema)

    def _session(self, name: str) -> PackedSession:
        session_id = name.removeprefix(_SESSIONS).removesuffix(".jsonl")
        data = self._log(name)
        replay = read_log(lambda: io.BytesIO(data))
        summary = summary_of(session_id, replay.session, len(replay.messages), replay.latest, read_only=False)
        state = self.session_state(session_id, data) if replay.session else Difference.UNREADABLE
        names = ("id", "kind", "title", "updated_at", "messages")
        return PackedSession(state=state, **{name: getattr(summary, name) for name in names})

    def _read_manifest(self) -> Backup:
        if MANIFEST not in self._zip.names:
            raise BadInput("not_a_backup", name=self._path.name)
        for name in self._zip.names:
            if name != MANIFEST and not may_be_packed(name):
                raise BadInput("zip_odd_entry", name=self._path.name, entry=name[:120])
        found = parse_json(self._path, self._zip.read(MANIFEST))
        manifest: dict[str, Any] = found.value if isinstance(found, JsonFile) else {}
        version, made_at, why = (manifest.get(key) for key in ("version", "made_at", "why"))
        if type(version) is not int or not isinstance(made_at, str) or not isinstance(why, str):
            raise BadInput("not_a_backup", name=self._path.name)
        schema = manifest.get("schema", 1)
        self._schema = schema if type(schema) is int else 1
        if version > BACKUP_VERSION or self._schema > 1 + len(STEPS):
            raise BadInput("backup_newer", name=self._path.name)
        if manifest.get("files") != len(self._zip.names) - 1:
            raise BadInput("zip_damaged", name=self._path.name, detail=MANIFEST)
        size = self._path.stat().st_size
        return Backup(path=str(self._path), made_at=made_at[:40], why=why[:40], size=size)


def renamed(data: bytes, made_at: str) -> bytes:
    """Return a log with the day of the backup added to its title, to tell the copy from the original."""
    replay = read_log(lambda: io.BytesIO(data))
    title = f"{replay.session.get('title', '')} · {made_at[:10]}"
    return with_line(data, replay.last_number + 1, [{"op": "session", "patch": {"title": title}}])


def unapproved(data: bytes) -> bytes:
    """Return a log with a line added that withdraws the approvals, if it contains any."""
    reader = MessageReader()
    replay = read_log(lambda: io.BytesIO(data), reader.read)
    before = stored_session("", replay, reader, mend=True)
    after = without_approvals(before.session, before.messages)
    ops: list[Op] = []
    for message in after.written:
        record = with_unknown(Message, reader.more.get(message.id), plain(message))
        ops.append({"op": "message", "message": record})
    if patch := merge_patch(plain(before.session), plain(after.session)):
        ops.append({"op": "session", "patch": patch})
    return with_line(data, replay.last_number + 1, ops) if ops else data


_PARTS = ("sessions", "files", "drafts", "skills", *DEFINITIONS, "trash", "quarantine", "backups", "logs")
OTHER = "other"


class _GivenUpError(Exception):
    """Nobody waits for the backup any more."""


@dataclass(eq=False, repr=False)
class FileArchive:
    """Makes and restores backups of a data directory, beside the store and the documents that use it."""

    _paths: DataPaths
    _store: JsonLogStore
    _documents: JsonDocuments
    _disk: FileSystem = field(default_factory=FileSystem)

    async def back_up(self, why: str, target: str = "", progress: Progress = _untold) -> store.Backup:
        """Write a backup; if cancelled, none. Raises StorageError."""
        place = Path(target) if target else None
        loop = asyncio.get_running_loop()
        stopped = Event()

        def tell(done: int, total: int) -> None:
            if stopped.is_set():
                raise _GivenUpError
            loop.call_soon_threadsafe(progress, done, total)

        try:
            return await self._run(lambda: write_backup(self._paths, self._disk, why, place, tell))
        finally:
            # After a cancellation the thread still runs until its next file.
            stopped.set()

    @awaited
    def back_up_if_due(self) -> store.Backup | None:
        """Make the daily backup, if it is due. Raises StorageError."""
        due = is_due(self._paths, self._disk, store.BackupReason.DAILY)
        return write_backup(self._paths, self._disk, store.BackupReason.DAILY) if due else None

    @awaited
    def backups(self) -> tuple[store.Backup, ...]:
        """Return the backups of the data directory, the newest first. Raises StorageError."""
        return tuple(own_backups(self._paths, self._disk))

    @awaited
    def contents(self, path: str) -> store.BackupContents:
        """Return the contents of a backup. Raises BadInput, StorageError."""
        with contextlib.closing(self._opened(path)) as backup:
            return backup.contents()

    async def restore(
        self,
        path: str,
        sessions: Collection[str],
        *,
        documents: bool,
        replace: bool,
        progress: Callable[[int], None] = lambda _: None,
    ) -> store.Restored:
        """Restore parts of a backup, after making a backup of the present state.
        Raises BadInput, StorageError.
        """
        backup = await self._run(lambda: self._opened(path))
        try:
            kept = await self.back_up(store.BackupReason.BEFORE_RESTORE)
            back: list[str] = []
            copies: list[str] = []
            cleared: list[str] = []
            for done, session_id in enumerate(sessions, 1):
                await self._bring_back(backup, session_id, back, copies, cleared)
                progress(done)
            bring = functools.partial(self._bring_documents, backup, replace=replace)
            names = await self._documents.load_after(bring) if documents else ()
            usage = await self._run(backup.usage)
        finally:
            await self._run(backup.close)
        return store.Restored(
            sessions=tuple(back),
            copies=tuple(copies),
            documents=names,
            backup=kept.path,
            usage=tuple(entry for entry in usage if documents or entry.session_id in back),
            unapproved=tuple(cleared),
        )

    @awaited
    def thrown(self) -> tuple[store.Thrown, ...]:
        """Return the contents of the trash, the newest first. Raises StorageError."""
        return thrown(self._paths, self._disk)

    async def take_out(self, file: str) -> str:
        """Restore a file from the trash. Raises NotFound, BadInput, StorageError."""
        found = next((item for item in await self.thrown() if item.file == file), None)
        if found is None:
            raise NotFound("bin_not_found", name=file[:120])
        if found.kind in ("provider", "server"):
            await self._documents.put_entry_back(file, found.kind)
            return ""
        if found.kind == SKILL_KIND:
            await self._documents.skills.put_back(file)
            return ""
        if found.session_id:
            await self._store.restore(found.session_id, file)
            return found.session_id
        target = self._paths.root / DEFINITION_KINDS[found.kind][0] / f"{file.rsplit('.', 2)[0]}.json"

        def put_back() -> None:
            if target.exists():
                raise BadInput("bin_place_taken", name=found.title)
            self._disk.move(self._paths.trash / file, target)

        with storage_errors(target):
            await self._documents.load_after(put_back)
        return ""

    @awaited
    def remove_thrown(self, files: Collection[str]) -> None:
        """Delete files in the trash permanently. Raises StorageError."""
        there = {stat.name for stat in self._disk.scan(self._paths.trash)}
        for name in files:
            if name in there and thrown_at(name) is not None:
                remove_for_good(self._paths, self._disk, name)

    @awaited
    def sizes(self) -> tuple[store.PartSize, ...]:
        """Return the size of each part, the largest first. Raises StorageError."""
        sizes: dict[str, tuple[int, int]] = {}
        for folder, _folders, files in os.walk(self._paths.root):
            below = Path(folder).relative_to(self._paths.root).parts
            part = below[0] if below and below[0] in _PARTS else OTHER
            for file in files:
                with contextlib.suppress(OSError):
                    size, count = sizes.get(part, (0, 0))
                    sizes[part] = (size + os.lstat(Path(folder) / file).st_size, count + 1)
        found = [store.PartSize(name=name, size=size, files=count) for name, (size, count) in sizes.items()]
        return tuple(sorted(found, key=lambda part: part.size, reverse=True))

    def read_foreign(self, path: str) -> Iterator[Any]:
        """Yield the JSON values of a file from elsewhere; blocks. Raises BadInput."""
        return read_foreign(Path(path))

    def read_exported(self, session: object, messages: Sequence[object]) -> store.StoredSession:
        """Return a session from Moot's own export. Raises BadInput."""
        return read_exported(session, messages)

    @awaited
    def write_zip(self, path: str, entries: Iterator[tuple[str, bytes]]) -> None:
        """Write a zip, completely or not at all. Raises StorageError."""
        try:
            write_zip(self._disk, Path(path), entries)
        except OSError as error:
            raise not_written(error, Path(path)) from error

    def _opened(self, path: str) -> OpenBackup:
        return OpenBackup(self._paths, self._disk, Path(path))

    async def _bring_back(
        self, backup: OpenBackup, session_id: str, back: list[str], copies: list[str], cleared: list[str]
    ) -> None:
        """Restore a missing session, or a copy beside a session that differs; both without approvals.

        A copy, because the present session may be open and written to at this moment, and both may contain
        messages that the other lacks.
        """
        data, state, copied = await self._run(lambda: self._compared(backup, session_id))
        if state == store.Difference.MISSING:
            target, log = session_id, data
            back.append(target)
        elif state == store.Difference.CHANGED and copied:
            target, log = copied, await self._run(lambda: renamed(data, backup.backup.made_at))
            copies.append(target)
        else:
            return
        closed = await self._run(lambda: unapproved(log))
        await self._run(lambda: backup.bring_files(session_id, target))
        await self._store.put(target, lambda: closed)
        if closed != log:
            cleared.append(target)

    def _compared(self, backup: OpenBackup, session_id: str) -> tuple[bytes, str, str]:
        """Return a session's log, how it compares, and the id for a copy, "" if that copy exists."""
        data = backup.log(session_id)
        copy_id = derived_id(session_id, hashlib.sha256(data).hexdigest())
        is_there = self._paths.session(copy_id).exists()
        return data, backup.session_state(session_id, data), "" if is_there else copy_id

    def _bring_documents(self, backup: OpenBackup, *, replace: bool) -> tuple[str, ...]:
        names, wanted = [], (store.Difference.MISSING, *((store.Difference.CHANGED,) if replace else ()))
        for name, data in backup.documents():
            state = backup.document_state(name, data)
            # What ran since would run again.
            ran = name == self._paths.schedule_runs.name
            kept = state == store.Difference.CHANGED and (ran or "/.versions/" in name)
            if state in wanted and not kept and self._documents.fits(name, data):
                path = self._paths.root / name
                with storage_errors(path):
                    write_whole(self._disk, path.resolve(), data)
                names.append(name)
        for name, contents in backup.skills():
            if backup.skill_state(name, contents) in wanted and fits_skill(name, contents):
                self._documents.skills.put(name, contents)
                names.append(f"{_SKILLS}{name}")
        return tuple(names)

    async def _run(self, work: Callable[[], Result]) -> Result:
        with storage_errors(self._paths.root):
            return await in_thread(work, "moot-archive")
