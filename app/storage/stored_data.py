"""Backups, the trash, and files from elsewhere: implements `core.store.ArchiveFiles`."""

import asyncio
import contextlib
import hashlib
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

from app.core import store
from app.core.errors import BadInput, NotFound
from app.core.ids import derived_id
from app.storage.backup import OpenBackup, is_due, own_backups, renamed, unapproved, write_backup, write_zip
from app.storage.documents import JsonDocuments
from app.storage.file_system import FileSystem, not_written, storage_errors, write_whole
from app.storage.foreign_file import read_exported, read_foreign
from app.storage.paths import DEFINITIONS, DataPaths
from app.storage.sessions import JsonLogStore
from app.storage.threads import Result, awaited, in_thread
from app.storage.trash import DEFINITION_KINDS, remove_for_good, thrown, thrown_at

_PARTS = ("sessions", "files", "drafts", *DEFINITIONS, "trash", "quarantine", "backups", "logs")
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

    async def back_up(
        self, why: str, target: str = "", progress: Callable[[int, int], None] = lambda _done, _total: None
    ) -> store.Backup:
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
        """Restore parts of a backup, after making a backup of the present state. Raises BadInput, StorageError."""
        backup = await self._run(lambda: self._opened(path))
        try:
            kept = await self.back_up(store.BackupReason.BEFORE_RESTORE)
            back: list[str] = []
            copies: list[str] = []
            cleared: list[str] = []
            for done, session_id in enumerate(sessions, 1):
                await self._bring_back(backup, session_id, back, copies, cleared)
                progress(done)
            names: tuple[str, ...] = ()
            if documents:
                names = await self._documents.load_after(
                    lambda: self._bring_documents(backup, replace=replace)
                )
            usage = await self._run(backup.usage)
        finally:
            await self._run(backup.close)
        return store.Restored(
            sessions=tuple(back),
            copies=tuple(copies),
            documents=names,
            backup=kept.path,
            usage=tuple(one for one in usage if documents or one.session_id in back),
            unapproved=tuple(cleared),
        )

    @awaited
    def thrown(self) -> tuple[store.Thrown, ...]:
        """Return the contents of the trash, the newest first. Raises StorageError."""
        return thrown(self._paths, self._disk)

    async def take_out(self, file: str) -> str:
        """Restore a file from the trash. Raises NotFound, BadInput, StorageError."""
        found = next((one for one in await self.thrown() if one.file == file), None)
        if found is None:
            raise NotFound("bin_not_found", name=file[:120])
        if found.kind in ("provider", "server"):
            await self._documents.put_entry_back(file, found.kind)
            return ""
        if found.session_id:
            await self._store.restore(found.session_id, file)
            return found.session_id
        target = self._paths.root / DEFINITION_KINDS[found.kind][0] / f"{file.rsplit('.', 2)[0]}.json"

        def move() -> None:
            if target.exists():
                raise BadInput("bin_place_taken", name=found.title)
            self._disk.make_folder(target.parent)
            self._disk.replace(self._paths.trash / file, target)
            self._disk.sync_folder(target.parent)
            self._disk.sync_folder(self._paths.trash)

        with storage_errors(target):
            await self._documents.load_after(move)
        return ""

    @awaited
    def remove_thrown(self, files: Collection[str]) -> None:
        """Delete files in the trash permanently. Raises StorageError."""
        there = {one.name for one in self._disk.scan(self._paths.trash)}
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
        names = []
        for name, data in backup.documents():
            state = backup.document_state(name, data)
            is_old = "/.versions/" in name
            wanted = state == store.Difference.MISSING or (
                state == store.Difference.CHANGED and replace and not is_old
            )
            if not wanted or not self._documents.fits(name, data):
                continue
            path = self._paths.root / name
            with storage_errors(path):
                write_whole(self._disk, path.resolve(), data)
            names.append(name)
        return tuple(names)

    async def _run(self, work: Callable[[], Result]) -> Result:
        with storage_errors(self._paths.root):
            return await in_thread(work, "moot-archive")
