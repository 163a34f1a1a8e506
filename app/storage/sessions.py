"""The session store: an append-only log for each session, and the list of all sessions; and the trash.

Implements `core.store.SessionStore`. A thread of its own writes all logs, in the order in which events and
jobs were queued. What was deleted is kept for thirty days.
"""

import asyncio
import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from app.core import events
from app.core.errors import BadInput, NotFound, Problem, StorageError
from app.core.frozen import Frozen
from app.core.ids import is_id, stamp
from app.core.message import Message
from app.core.session import Hit, Session, SessionSummary
from app.core.session_files import files_named
from app.core.store import SessionStore, StoredSession, Thrown
from app.storage import codec, json_file
from app.storage.access import WriterLock
from app.storage.file_system import FileId, FileStat, FileSystem, storage_error, storage_errors, write_whole
from app.storage.index import SessionIndex, find_in_sessions, load_index, newest_first, save_index
from app.storage.json_file import JsonFile, Replaced, place_in_trash, read_json_file, read_providers
from app.storage.log import Replay, load_session, read_summary, read_tail
from app.storage.paths import DataPaths
from app.storage.session_files import ASIDE, FOLDER, VERSIONS, move_folder, remove_folder
from app.storage.session_log import FLUSH_BYTES, RETRY_SECONDS, SessionLog, invalid_record, log_of
from app.storage.skills import SKILL_KIND, ZIP
from app.storage.threads import Result, in_thread, settle

TRASH_DAYS = 30
_DAY = 86_400
# The file whose time says when the trash was last looked through, and the longest time since then that is
# believed.
LOOKED = "looked"
MOST_AWAY = 14 * _DAY
# A time with more digits is none that a calendar has.
_DIGITS = 11
# The folder of each kind of definition, and a field of this kind alone, "" where there is none.
DEFINITION_KINDS = {
    "workflow_file": ("workflows", "steps"),
    "group_file": ("groups", "members"),
    "panel_file": ("panels", "participants"),
    "decision_file": ("journal", "decided"),
    "schedule_file": ("schedules", "words"),
    "assistant": ("assistants", ""),
    "folder": ("folders", ""),
    "saved_prompt": ("saved_prompts", ""),
}


def thrown_at(file: str) -> int | None:
    """Return when a file was deleted, in seconds since 1970; None if it is not one of ours."""
    parts = file.rsplit(".", 2)  # An assistant's id may contain dots.
    is_time = len(parts) == 3 and parts[1].isdecimal() and len(parts[1]) <= _DIGITS
    return int(parts[1]) if is_time else None


def thrown(paths: DataPaths, disk: FileSystem) -> tuple[Thrown, ...]:
    """Return the contents of the trash, the newest first. Raises OSError."""
    found = [
        _thrown(paths, disk, stat, moment)
        for stat in disk.scan(paths.trash)
        if (moment := thrown_at(stat.name)) is not None and stat.name.endswith((".json", ".jsonl", ZIP))
    ]
    return tuple(sorted(found, key=lambda item: (item.thrown_at, item.file), reverse=True))


def _thrown(paths: DataPaths, disk: FileSystem, one: FileStat, moment: int) -> Thrown:
    name = one.name.rsplit(".", 2)[0]
    title, kind, session_id = name, "assistant", ""
    if one.name.endswith(".jsonl") and is_id(name):
        session_id = name
        with contextlib.suppress(OSError):
            if summary := read_summary(disk, paths.trash / one.name):
                title, kind = summary.title, summary.kind
    elif one.name.endswith(ZIP):
        kind = SKILL_KIND
    else:
        title, kind = _definition(paths.trash / one.name, name)
    names = {"file": one.name, "session_id": session_id, "kind": kind, "title": title}
    return Thrown(
        **names,
        thrown_at=stamp(datetime.fromtimestamp(moment, UTC), "seconds"),
        days_left=max(0, TRASH_DAYS - int(time.time() - moment) // _DAY),
        size=one.size,
    )


def _definition(path: Path, name: str) -> tuple[str, str]:
    found = read_json_file(path)
    if not isinstance(found, JsonFile):
        return name, "assistant"
    value = found.value
    if json_file.PROVIDERS in value:
        configs = read_providers(path).providers
        return (configs[0].label or name if configs else name), "provider"
    if isinstance(servers := value.get(json_file.SERVERS), dict):
        return next(iter(servers), name), "server"
    kind = next((kind for kind, (_, mark) in DEFINITION_KINDS.items() if mark and mark in value), "assistant")
    kind = value["kind"] if value.get("kind") in ("folder", "saved_prompt") else kind
    title = value.get("name")
    return title if isinstance(title, str) else name, kind


def remove_old(paths: DataPaths, disk: FileSystem) -> None:
    """Permanently delete files that are older than thirty days. Raises OSError.

    Nothing goes where this was last called long ago or in the future: the clock may be wrong, if only this
    once.
    """
    now, files = time.time(), disk.scan(paths.trash)
    looked = next((file.mtime_ns / 1e9 for file in files if file.name == LOOKED), 0.0)
    if files:
        descriptor = (disk.open if looked else disk.create)(paths.trash / LOOKED)
        disk.truncate(descriptor, 0)
        disk.write(descriptor, b"\n")
        disk.close(descriptor)
    if not 0 <= now - looked <= MOST_AWAY:
        return
    for file in files:
        moment = thrown_at(file.name)
        if moment is not None and moment < now - TRASH_DAYS * _DAY:
            remove_for_good(paths, disk, file.name)


def remove_for_good(paths: DataPaths, disk: FileSystem, file: str) -> None:
    """Permanently delete a file of the trash, and the files and the draft of a deleted session.
    Raises OSError.
    """
    name = file.rsplit(".", 2)[0]
    if file.endswith(".jsonl") and is_id(name):
        remove_folder((paths.trash / file).with_suffix(FOLDER))
        # The session may have been restored from a backup meanwhile.
        if not paths.session(name).exists():
            remove_folder(paths.files / name)
            with contextlib.suppress(FileNotFoundError):
                disk.remove(paths.draft(name))
    disk.remove(paths.trash / file)


_LOGGER = logging.getLogger(__name__)
_IDLE_SECONDS = 2.0
_MOST_OPEN = 32


class _WriterJob(Frozen, kw_only=False):
    """Work to do in turn, and the future of its result; the queueing of a batch of events has none."""

    work: Callable[[], Any]
    future: "Future[Any] | None" = None
    is_last: bool = False

    def run(self) -> None:
        """Do the work and set its result; skip it if the caller has cancelled it."""
        if self.future is None:
            self.work()
            return
        # From here the future cannot be cancelled any more, so that setting its result cannot fail.
        if not self.future.set_running_or_notify_cancel():
            return
        settle(self.future, self.work)

    def fail(self, error: BaseException) -> None:
        """Give the caller an error instead of a result."""
        if self.future is not None and self.future.set_running_or_notify_cancel():
            self.future.set_exception(error)


@dataclass(eq=False, repr=False)
class LogWriter:
    """Writes batches and runs jobs from any thread, in order, on one thread of its own.

    Exceptions of batches and jobs do not end the thread. If it ends all the same, `on_failure` is called with
    a StorageError, and every queued and later job fails with that error, so that nothing is reported as
    saved. `make_log` returns the log of a session; it, `on_idle` and `on_failure` run on the writer's thread.
    """

    _make_log: Callable[[str], SessionLog]
    _on_idle: Callable[[], None]
    _on_failure: Callable[[StorageError], None]
    logs: dict[str, SessionLog] = field(default_factory=dict, init=False)
    _queue: "queue.SimpleQueue[_WriterJob]" = field(default_factory=queue.SimpleQueue, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _failure: StorageError | None = field(default=None, init=False)
    _thread: threading.Thread | None = field(default=None, init=False)
    _ending: threading.Thread | None = field(default=None, init=False)
    _touched: set[str] = field(default_factory=set, init=False)
    _idle_at: float | None = field(default=None, init=False)

    def post(self, session_id: str, batch: tuple[events.Event, ...], summary: SessionSummary | None) -> None:
        """Queue one batch of a session."""
        self._put(_WriterJob(lambda: self._add(session_id, batch, summary)))

    def call(self, work: Callable[[], Result]) -> "Future[Result]":
        """Run a job after everything queued before it; the future gets its result or error.

        Cancelling the future before the job has begun removes the job; later it has no effect.
        """
        future: Future[Result] = Future()
        self._put(_WriterJob(work, future))
        return future

    def stop(self) -> "Future[None]":
        """End the thread after everything queued before; the next call starts another."""
        future: Future[None] = Future()
        job = _WriterJob(lambda: None, future, is_last=True)
        with self._lock:
            running = self._thread is not None and self._failure is None
            if running:
                self._queue.put(job)
                self._ending, self._thread = self._thread, None
        if not running:
            job.run()
        return future

    def log(self, session_id: str) -> SessionLog:
        """Return a session's log; on the writer's thread only."""
        if session_id not in self.logs:
            self.logs[session_id] = self._make_log(session_id)
        return self.logs[session_id]

    def _put(self, item: _WriterJob) -> None:
        with self._lock:
            if self._failure is None:
                self._queue.put(item)
                if self._thread is None:
                    self._thread = threading.Thread(
                        target=self._run, args=(self._ending,), name="moot-writer", daemon=True
                    )
                    self._thread.start()
                return
        item.fail(self._failure)

    def _run(self, before: threading.Thread | None) -> None:
        items: list[_WriterJob] = []
        try:
            if before is not None:
                before.join()  # Only one thread at a time takes from the queue.
            while self._failure is None:
                items = self._take()
                while items:
                    item = items.pop(0)
                    if item.future is not None:
                        self._guarded(self._write_touched)
                    item.run()
                    if item.is_last:
                        return
                self._guarded(self._write_touched)
                self._guarded(self._write_due)
        except BaseException as error:
            _LOGGER.critical("the thread that saves sessions has ended", exc_info=True)
            self._fail(error, items)

    def _fail(self, error: BaseException, items: list[_WriterJob]) -> None:
        """Fail all present and later jobs, and report it."""
        failure = StorageError("writer_stopped", detail=" ".join(f"{type(error).__name__}: {error}".split()))
        with self._lock:
            self._failure = failure
            with contextlib.suppress(queue.Empty):
                while True:
                    items.append(self._queue.get_nowait())
        for item in items:
            item.fail(failure)
        self._on_failure(failure)

    def _add(self, session_id: str, batch: tuple[events.Event, ...], summary: SessionSummary | None) -> None:
        """Queue events of one session that go into one line of its log."""
        try:
            log = self.log(session_id)
            self._touched.add(session_id)
            try:
                log.add(batch, summary)
            except Exception as error:
                log.refuse(error)
                raise
        except Exception:
            _LOGGER.exception("a session's events could not be queued")

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception:
            _LOGGER.exception("a step of the thread that saves sessions failed")

    def _take(self) -> list[_WriterJob]:
        times = [log.due for log in self.logs.values() if log.due is not None]
        if self._idle_at is not None:
            times.append(self._idle_at)
        timeout = max(0.0, min(times) - time.monotonic()) if times else None
        items: list[_WriterJob] = []
        with contextlib.suppress(queue.Empty):
            items.append(self._queue.get(timeout=timeout))
            # Items after the last job belong to the next thread.
            while not items[-1].is_last:
                items.append(self._queue.get_nowait())
        return items

    def _write_touched(self) -> None:
        touched, self._touched = self._touched, set()
        for session_id in touched:
            log = self.logs.get(session_id)
            if log is not None and log.waiting and log.retry_at is None:
                self._write(log)
                # The most recently written logs are closed last.
                self.logs[session_id] = self.logs.pop(session_id)
        if touched:
            self._close_oldest()

    def _close_oldest(self) -> None:
        """Close files, because a process may have only so many open; the next write reopens them."""
        for log in [item for item in self.logs.values() if item.is_open][:-_MOST_OPEN]:
            if not log.waiting and log.due is None:
                with contextlib.suppress(OSError):
                    log.close()

    def _write_due(self) -> None:
        now = time.monotonic()
        for log in self.logs.values():
            if log.due is not None and log.due <= now:
                log.gather_text()
                self._write(log)
        if self._idle_at is not None and self._idle_at <= now:
            self._idle_at = None
            self._on_idle()

    def _write(self, log: SessionLog) -> None:
        self._idle_at = time.monotonic() + _IDLE_SECONDS
        try:
            log.write()
        except StorageError:
            # It stays queued in the log, and `flush` reports it.
            pass
        except Exception:
            log.retry_at = time.monotonic() + RETRY_SECONDS
            _LOGGER.exception("a session's log could not be written")


# How long text that streams is gathered before the writer's thread is woken for it.
TEXT_SECONDS = 0.1
STORED = (
    events.SessionStarted,
    events.SessionChanged,
    events.MessageStarted,
    events.MessageDelta,
    events.MessageFinished,
)


class JsonLogStore:
    """Keeps the sessions of a data directory; with `read_only` it writes nothing.

    A second, reading Moot shows what runs in the first as running. A session that is running according to its
    log, but has no writer or only a later one, was interrupted and is shown as paused. `recall` returns an
    open session as it is in memory, and `on_replaced` is told if another program changed its log; both run
    on the writer's thread.
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
        # What the calls of each session that was read cost, by the ids of all its messages.
        self._live: dict[str, dict[str, float]] = {}
        self._appended: set[str] = set()
        # Text of sessions that the writer was not given yet, and when it will be.
        self._text: dict[str, list[events.Event]] = {}
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

    def problems(self) -> tuple[Problem, ...]:
        """Return the logs that are damaged, newest first. Raises StorageError."""
        titles = {self._paths.session(each.id): each.title for each in self.summaries() if each.damaged}
        return tuple(Problem(path=str(path), code="damaged_log", detail=titles[path]) for path in titles)

    def chosen_folder(self, session_id: str) -> str:
        """Return the folder that the user chose for a session, "" for none. Raises StorageError."""
        self.prepare()
        found = self._summaries.get(session_id)
        return found.chosen_folder if found is not None else ""

    def named_files(self, session_id: str) -> frozenset[str]:
        """Return the paths of the files there that are closed otherwise. Raises StorageError."""
        self.prepare()
        found = self._summaries.get(session_id)
        return files_named(found.always) if found is not None else frozenset()

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
            prices = self._live[session_id] = {
                message.id: codec.price_of(message) for message in stored.messages
            }
            self._summaries[session_id] = codec.summary_of(
                session_id, replay.session, len(prices), replay.latest, stored.read_only, prices
            )._replace(damaged=replay.damaged)
            self._writer.call(lambda: self._writer.log(session_id).adopt(replay, known))
        return stored

    def _load(self, session_id: str, path: Path) -> tuple[FileId | None, StoredSession, Replay]:
        known = None
        with contextlib.suppress(OSError):
            known = self._disk.identity(path)
        return known, *load_session(self._disk, path, mend=self._is_cut_off(session_id))

    def append(self, batch: tuple[events.Event, ...]) -> None:
        """Queue a batch of one session as one line of its log; never blocks."""
        stored = tuple([event for event in batch if isinstance(event, STORED)])
        if not stored:
            return
        session_id = stored[0].session_id
        if self._read_only:
            raise StorageError("read_only", path=str(self._paths.root), detail="")
        self._appended.add(session_id)
        if all(isinstance(event, events.MessageDelta) for event in stored):
            self._gather(session_id, stored)
            return
        self._post_text()
        self._writer.post(session_id, stored, self._summarise(session_id, stored))

    def _gather(self, session_id: str, deltas: Sequence[events.Event]) -> None:
        """Gather text for a moment: to wake the writer's thread for each token costs more
        than all else about it.
        """
        self._text.setdefault(session_id, []).extend(deltas)
        self._text_bytes += sum(
            len(item.text) + len(item.thinking) for item in deltas if isinstance(item, events.MessageDelta)
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

        def throw() -> None:
            log = self._writer.log(session_id)
            log.gather_text()
            with contextlib.suppress(StorageError):  # It stays queued, and is written after a restore.
                log.write(sync=True)
            log.close()
            thrown = place_in_trash(self._disk, self._paths.trash, session_id, ".jsonl")
            self._disk.move(path, thrown)
            move_folder(self._disk, self._paths.files / session_id, thrown.with_suffix(FOLDER))
            log.deleted = True
            self._forget_entry(session_id)

        self.prepare()
        await self._run(throw, path)
        self._summaries.pop(session_id, None)

    async def restore(self, session_id: str, file: str = "") -> None:
        """Restore a session from the trash: this file, or the one that was deleted last.

        Raises NotFound, StorageError, and BadInput if the session exists: nothing is overwritten.
        """
        path = self._path(session_id)

        def take_out() -> SessionSummary | None:
            names = (stat.name for stat in self._disk.scan(self._paths.trash))
            own = (name for name in names if name.startswith(f"{session_id}."))
            thrown = [name for name in own if name.endswith(".jsonl")]
            if not thrown or (file and file not in thrown):
                raise FileNotFoundError(session_id)
            if self._disk.exists(path):
                summary = self._summaries.get(session_id)
                raise BadInput("bin_place_taken", name=summary.title if summary else session_id)
            source = self._paths.trash / (file or max(thrown))
            # First, so that after a crash a session that is there has its files.
            move_folder(self._disk, source.with_suffix(FOLDER), self._paths.files / session_id)
            self._disk.move(source, path)
            self._writer.log(session_id).start_over()
            return read_summary(self._disk, path)

        self.prepare()
        summary = await self._run(take_out, path)
        if summary is not None:
            self._summaries[session_id] = summary

    async def bring_in(self, session: Session, messages: Sequence[Message]) -> None:
        """Save a session from elsewhere, completely or not at all. Raises StorageError."""
        await self.put(session.id, lambda: log_of(codec.checked_session(session), messages))

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
        sessions = [(summary, self._paths.session(summary.id)) for summary in self.summaries()]
        try:
            find = partial(find_in_sessions, self._disk, sessions, text, limit, stopped.is_set)
            return await in_thread(find, "moot-search")
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
            # Shielded, so that cancelling the caller does not leave it unknown whether the record was
            # written.
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
        recall = partial(self._recall, session_id)
        return SessionLog(self._disk, self._paths, session_id, recall, self._note_replaced)

    def _path(self, session_id: str) -> Path:
        if not is_id(session_id):
            raise NotFound("session_not_found", session=session_id[:80])
        return self._paths.session(session_id)

    def _is_cut_off(self, session_id: str) -> bool:
        """Return whether a session that is running according to its log was left so by a process
        that is gone.
        """
        self.prepare()
        if session_id in self._appended or self._index is None:
            return False
        return self._index.is_cut_off(session_id, self._other_since_ns)

    def _summarise(self, session_id: str, batch: tuple[events.Event, ...]) -> SessionSummary | None:
        """Update the summary of a session; return None if its messages were never counted."""
        summary = self._summaries.get(session_id)
        known = self._live.get(session_id)
        count = summary.messages if summary else 0
        latest = summary.updated_at if summary else ""
        cost = summary.cost_usd if summary else 0.0
        session: Session | None = None
        if isinstance(batch[0], events.SessionStarted):
            known, count, latest = self._live.setdefault(session_id, {}), 0, ""
        for event in batch:
            match event:
                case events.SessionStarted() | events.SessionChanged():
                    session = event.session
                case events.MessageStarted() | events.MessageFinished():
                    latest = max(latest, event.message.created_at)
                    if known is None or event.message.id not in known:
                        count += 1
                    if known is not None:
                        price = codec.price_of(event.message)
                        if known.get(event.message.id, 0.0) != price:
                            cost = codec.sum_of((codec.UNPRICED if cost is None else cost, price))
                        known[event.message.id] = price
        if session is not None:
            damaged = summary.damaged if summary else 0
            summary = codec.summarised(session, count, latest, known or {})._replace(damaged=damaged)
        elif summary is not None:
            summary = summary._replace(messages=count, updated_at=latest, cost_usd=cost)
        if summary is not None:
            self._summaries[session_id] = summary
        return summary if known is not None else None

    def _note_replaced(self, replaced: Replaced) -> None:
        """List another version of a session; on the writer's thread."""
        if replaced.kept_id:
            with contextlib.suppress(OSError):
                path = self._paths.session(replaced.kept_id)
                if (summary := read_summary(self._disk, path)) is not None:
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
        """Remove temporary files that a crash left, deleted versions of sessions' files, and old files
        from the trash.
        """
        try:
            for stat in self._disk.scan(self._paths.sessions):
                if stat.name.endswith(".tmp"):
                    self._disk.remove(self._paths.sessions / stat.name)
            for aside in self._paths.files.glob(f"*/{VERSIONS}/{ASIDE}"):
                remove_folder(aside)
            remove_old(self._paths, self._disk)
        except OSError:
            pass


def autosave(bus: events.EventBus, store: SessionStore) -> Callable[[], None]:
    """Append every batch of the event bus to its session's log; return the function that stops this."""

    def save(batch: tuple[events.Event, ...]) -> None:
        for session_id in dict.fromkeys([event.session_id for event in batch if event.session_id]):
            store.append(tuple([event for event in batch if event.session_id == session_id]))

    return bus.subscribe(save)
