"""The session store: an append-only log for each session, and the list of all sessions.

Implements `core.store.SessionStore`.
"""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TypeVar

from app.core.errors import BadInput, NotFound, StorageError
from app.core.events import (
    Event,
    EventBus,
    MessageDelta,
    MessageFinished,
    MessageStarted,
    SessionChanged,
    SessionStarted,
)
from app.core.ids import is_id
from app.core.message import Message
from app.core.session import Session, SessionSummary
from app.core.store import Hit, SessionStore, StoredSession
from app.storage.access import WriterLock
from app.storage.file_system import FileId, FileSystem, storage_error, storage_errors, write_whole
from app.storage.index import SessionIndex, load_index, newest_first, save_index
from app.storage.json_file import place_in_trash
from app.storage.log import Replay, load_session, read_summary, read_tail
from app.storage.other_versions import Replaced
from app.storage.paths import DataPaths
from app.storage.records import checked_session, summary_of, summary_record
from app.storage.search import find_in_sessions
from app.storage.session_log import FLUSH_BYTES, SessionLog, invalid_record, log_of
from app.storage.threads import in_thread
from app.storage.trash import remove_old
from app.storage.writer import LogWriter

Result = TypeVar("Result")

TEXT_SECONDS = 0.1
"""How long text that streams is gathered before the writer's thread is woken for it."""
STORED = (SessionStarted, SessionChanged, MessageStarted, MessageDelta, MessageFinished)


class JsonLogStore:
    """Keeps the sessions of a data directory; with `read_only` it writes nothing.

    A second, reading Moot shows what runs in the first as running. A session that is running according to its
    log, but has no writer or only a later one, was interrupted and is shown as paused. `recall` returns an open session
    as it is in memory, and `on_replaced` is told if another program replaced its log; both run on the writer's thread.
    """

    def __init__(
        self,
        paths: DataPaths,
        *,
        read_only: bool = False,
        file_system: FileSystem | None = None,
        on_writer_failure: Callable[[StorageError], None] = lambda _: None,
        recall: Callable[[str], StoredSession | None] = lambda _: None,
        on_replaced: Callable[[Replaced], None] = lambda _: None,
    ) -> None:
        self._paths = paths
        self._read_only = read_only
        self._disk = file_system or FileSystem()
        self._on_replaced = on_replaced
        self._recall = recall
        self._writer = LogWriter(self._new_log, self._save_index, on_writer_failure)
        self._index_lock = threading.Lock()
        self._index: SessionIndex | None = None
        self._index_stale = False
        self._summaries: dict[str, SessionSummary] = {}
        self._live: dict[str, set[str]] = {}
        self._appended: set[str] = set()
        # Text of sessions that the writer was not given yet, and when it will be.
        self._text: dict[str, list[Event]] = {}
        self._text_bytes = 0
        self._text_due: asyncio.TimerHandle | None = None
        self._other_since_ns: int | None = None

    async def open(self) -> None:
        """Read the index in a thread, so that `summaries` need not. Raises StorageError."""
        await in_thread(self.prepare, "moot-index")

    def prepare(self) -> None:
        """Read the index unless that was done; any thread may call this."""
        with self._index_lock:
            if self._index is not None:
                return
            if self._read_only:
                self._other_since_ns = WriterLock(self._paths).held_since_ns()
            with storage_errors(self._paths.sessions):
                index, self._index_stale = load_index(self._disk, self._paths)
            self._index = index
            self._summaries = index.summaries | self._summaries
        if not self._read_only:
            self._writer.call(self._tidy)

    def summaries(self) -> list[SessionSummary]:
        """Return all sessions, newest first. Raises StorageError."""
        self.prepare()
        return newest_first(self._summaries.values(), self._is_cut_off)

    def tail(self, session_id: str, count: int) -> list[Message]:
        """Return the last finished messages, from the end of the file. Raises NotFound, StorageError."""
        path = self._path(session_id)
        with self._errors(path):
            return read_tail(self._disk, path, count)

    async def load(self, session_id: str) -> StoredSession:
        """Read a whole session, in a thread. Raises NotFound, StorageError."""
        path = self._path(session_id)
        if session_id in self._appended:
            await self.flush(session_id)
        with self._errors(path):
            known, stored, replay = await in_thread(lambda: self._load(session_id, path), "moot-load")
        if not self._read_only and session_id not in self._appended:
            self._live[session_id] = {message.id for message in stored.messages}
            self._summaries[session_id] = summary_of(
                session_id, replay.session, len(stored.messages), replay.latest, stored.read_only
            )
            self._writer.call(lambda: self._writer.log(session_id).adopt(replay, known))
        return stored

    def _load(self, session_id: str, path: Path) -> tuple[FileId | None, StoredSession, Replay]:
        known = None
        with contextlib.suppress(OSError):
            known = self._disk.identity(path)
        return known, *load_session(self._disk, path, mend=self._is_cut_off(session_id))

    def append(self, events: tuple[Event, ...]) -> None:
        """Queue a batch of one session as one line of its log; never blocks."""
        stored = tuple([event for event in events if isinstance(event, STORED)])
        if not stored:
            return
        session_id = stored[0].session_id
        if self._read_only:
            raise StorageError("read_only", path=str(self._paths.root), detail="")
        self._appended.add(session_id)
        if all(isinstance(event, MessageDelta) for event in stored):
            self._gather(session_id, stored)
            return
        self._post_text()
        self._writer.post(session_id, stored, self._summarise(session_id, stored))

    def _gather(self, session_id: str, deltas: Sequence[Event]) -> None:
        """Gather text for a moment: to wake the writer's thread for each token costs more than all else about it."""
        self._text.setdefault(session_id, []).extend(deltas)
        self._text_bytes += sum(
            len(one.text) + len(one.thinking) for one in deltas if isinstance(one, MessageDelta)
        )
        if self._text_bytes >= FLUSH_BYTES:
            self._post_text()
        elif self._text_due is None:
            self._text_due = asyncio.get_running_loop().call_later(TEXT_SECONDS, self._post_text)

    def _post_text(self) -> None:
        """Give the writer the text that was gathered."""
        if self._text_due is not None:
            self._text_due.cancel()
        text, self._text, self._text_bytes, self._text_due = self._text, {}, 0, None
        for session_id, deltas in text.items():
            self._writer.post(session_id, tuple(deltas), None)

    async def flush(self, session_id: str) -> None:
        """Return when everything appended is on the disk. Raises StorageError.

        What could not be written stays queued; the next call tries again.
        """

        def write() -> None:
            log = self._writer.log(session_id)
            log.gather_text()
            log.write(sync=True)

        if session_id in self._appended:
            await self._run(write)

    async def discard(self, session_id: str) -> None:
        """Remove a session whose first line could not be written, and its queue."""

        def drop() -> None:
            log = self._writer.log(session_id)
            # A disk that refused the line may refuse this too; the file is empty then.
            with contextlib.suppress(OSError):
                log.drop()
            with contextlib.suppress(OSError):
                self._disk.remove(log.path)

        await self._run(drop)
        self._appended.discard(session_id)
        self._live.pop(session_id, None)
        self._summaries.pop(session_id, None)

    async def delete(self, session_id: str) -> None:
        """Move a session to the trash. Raises NotFound, StorageError."""
        path = self._path(session_id)

        def move() -> None:
            log = self._writer.log(session_id)
            log.gather_text()
            with contextlib.suppress(StorageError):  # It stays queued, and is written after a restore.
                log.write(sync=True)
            log.close()
            self._disk.make_folder(self._paths.trash)
            self._move(path, place_in_trash(self._disk, self._paths.trash, session_id, ".jsonl"))
            log.deleted = True
            self._forget_entry(session_id)

        self.prepare()
        await self._run(move, path)
        self._summaries.pop(session_id, None)

    async def restore(self, session_id: str, file: str = "") -> None:
        """Restore a session from the trash: this file, or the one that was deleted last.

        Raises NotFound, StorageError, and BadInput if the session exists: nothing is overwritten.
        """
        path = self._path(session_id)

        def move() -> SessionSummary | None:
            thrown = [
                one.name
                for one in self._disk.scan(self._paths.trash)
                if one.name.startswith(f"{session_id}.") and one.name.endswith(".jsonl")
            ]
            if not thrown or (file and file not in thrown):
                raise FileNotFoundError(session_id)
            if self._disk.exists(path):
                summary = self._summaries.get(session_id)
                raise BadInput("bin_place_taken", name=summary.title if summary else session_id)
            self._disk.make_folder(self._paths.sessions)
            self._move(self._paths.trash / (file or max(thrown)), path)
            self._writer.log(session_id).start_over()
            return read_summary(self._disk, path)

        self.prepare()
        summary = await self._run(move, path)
        if summary is not None:
            self._summaries[session_id] = summary

    async def bring_in(self, session: Session, messages: Sequence[Message]) -> None:
        """Save a session from elsewhere, completely or not at all. Raises StorageError."""
        await self.put(session.id, lambda: log_of(checked_session(session), messages))

    async def put(self, session_id: str, make: Callable[[], bytes]) -> None:
        """Create a log, whose contents have been checked. Raises StorageError."""
        path = self._path(session_id)

        def write() -> SessionSummary | None:
            if self._disk.exists(path):
                raise StorageError("disk_error", path=str(path), detail="it is there already")
            try:
                data = make()
            except ValueError as error:
                raise invalid_record(path, error) from error
            write_whole(self._disk, path, data)
            # A session of this id may have been written before, and be in the trash now.
            if (before := self._writer.logs.pop(session_id, None)) is not None:
                before.close()
            self._forget_entry(session_id)
            return read_summary(self._disk, path)

        self.prepare()
        summary = await self._run(write, path)
        self._appended.discard(session_id)
        self._live.pop(session_id, None)
        if summary is not None:
            self._summaries[session_id] = summary

    async def search(self, text: str, limit: int) -> list[Hit]:
        """Search titles and finished messages, newest session first, in a thread.

        Raises StorageError if the sessions cannot be listed.
        """
        if self._index is None:
            await self.open()
        stopped = threading.Event()
        sessions = [(one, self._paths.session(one.id)) for one in self.summaries()]
        try:
            return await in_thread(
                lambda: find_in_sessions(self._disk, sessions, text, limit, stopped.is_set), "moot-search"
            )
        finally:
            stopped.set()

    async def close(self) -> None:
        """Write the queues and close every file. Raises StorageError."""

        def finish() -> StorageError | None:
            failed = None
            for log in self._writer.logs.values():
                log.gather_text()
                try:
                    log.write(sync=True)
                except StorageError as error:
                    failed = error
                log.close()
            self._save_index()
            return failed

        if self._read_only:
            return
        failed = await self._run(finish)
        await asyncio.wrap_future(self._writer.stop())
        if failed is not None:
            raise failed

    def in_turn(self, job: Callable[[], Result]) -> "Future[Result]":
        """Run a job on the writer's thread, after everything queued before it."""
        return self._writer.call(job)

    async def _run(self, job: Callable[[], Result], path: Path | None = None) -> Result:
        self._post_text()
        future: Future[Result] = self._writer.call(job)
        with self._errors(path):
            # Shielded, so that cancelling the caller does not leave it unknown whether the record was written.
            return await asyncio.shield(asyncio.wrap_future(future))

    @contextlib.contextmanager
    def _errors(self, path: Path | None) -> Iterator[None]:
        """Raise NotFound for a log that is not there, and the StorageError for any other OSError."""
        try:
            yield
        except FileNotFoundError:
            raise NotFound("session_not_found", session=path.stem if path else "") from None
        except OSError as error:
            raise storage_error(error, path or self._paths.root) from error

    def _new_log(self, session_id: str) -> SessionLog:
        return SessionLog(
            self._disk, self._paths, session_id, lambda: self._recall(session_id), self._note_replaced
        )

    def _path(self, session_id: str) -> Path:
        if not is_id(session_id):
            raise NotFound("session_not_found", session=session_id[:80])
        return self._paths.session(session_id)

    def _is_cut_off(self, session_id: str) -> bool:
        """Return whether a session that is running according to its log was left so by a process that is gone."""
        self.prepare()
        if session_id in self._appended or self._index is None:
            return False
        return self._index.is_cut_off(session_id, self._other_since_ns)

    def _summarise(self, session_id: str, events: tuple[Event, ...]) -> SessionSummary | None:
        """Update the summary of a session; return None if its messages were never counted."""
        summary = self._summaries.get(session_id)
        known = self._live.get(session_id)
        count = summary.messages if summary else 0
        latest = summary.updated_at if summary else ""
        session: Session | None = None
        if isinstance(events[0], SessionStarted):
            known, count, latest = self._live.setdefault(session_id, set()), 0, ""
        for event in events:
            match event:
                case SessionStarted() | SessionChanged():
                    session = event.session
                case MessageStarted() | MessageFinished():
                    latest = max(latest, event.message.created_at)
                    if known is None or event.message.id not in known:
                        count += 1
                    if known is not None:
                        known.add(event.message.id)
        if session is not None:
            summary = summary_of(session_id, summary_record(session), count, latest, read_only=False)
        elif summary is not None:
            summary = summary._replace(messages=count, updated_at=latest)
        if summary is not None:
            self._summaries[session_id] = summary
        return summary if known is not None else None

    def _move(self, source: Path, target: Path) -> None:
        self._disk.replace(source, target)
        self._disk.sync_folder(target.parent)
        self._disk.sync_folder(source.parent)

    def _note_replaced(self, replaced: Replaced) -> None:
        """List another version of a session; on the writer's thread."""
        if replaced.kept_id:
            with contextlib.suppress(OSError):
                path = self._paths.session(replaced.kept_id)
                summary = read_summary(self._disk, path)
                if summary is not None:
                    self._summaries[replaced.kept_id] = summary
                    self._index_stale = True
                    if self._index is not None:
                        self._index.put(replaced.kept_id, summary, self._disk.stat(path))
        self._on_replaced(replaced)

    def _forget_entry(self, session_id: str) -> None:
        """Remove a session from the index; on the writer's thread, which alone changes it."""
        self._index_stale = True
        if self._index is not None:
            self._index.remove(session_id)

    def _save_index(self) -> None:
        """Write the index if files have changed; on the writer's thread."""
        try:
            self.prepare()
            index = self._index
            if index is None:
                return
            for session_id, log in self._writer.logs.items():
                if log.deleted:
                    index.remove(session_id)
                elif log.written is not None and index.put(session_id, *log.written):
                    self._index_stale = True
            if self._index_stale:
                save_index(self._disk, self._paths, index)
                self._index_stale = False
        except (OSError, StorageError):
            pass  # The index is a cache: the next start reads the logs instead.

    def _tidy(self) -> None:
        """Remove temporary files that a crash left, and old files from the trash."""
        try:
            for one in self._disk.scan(self._paths.sessions):
                if one.name.endswith(".tmp"):
                    self._disk.remove(self._paths.sessions / one.name)
            remove_old(self._paths, self._disk)
        except OSError:
            pass


def autosave(bus: EventBus, store: SessionStore) -> Callable[[], None]:
    """Append every batch of the event bus to its session's log; return the function that stops this."""

    def save(events: tuple[Event, ...]) -> None:
        for session_id in dict.fromkeys([event.session_id for event in events if event.session_id]):
            store.append(tuple([event for event in events if event.session_id == session_id]))

    return bus.subscribe(save)
