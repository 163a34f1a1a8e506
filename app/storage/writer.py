"""The thread that writes all session logs, in the order in which events and jobs were queued."""

import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

from app.core.errors import StorageError
from app.core.events import Event
from app.core.session import SessionSummary
from app.storage.session_log import RETRY_SECONDS, SessionLog
from app.storage.threads import settle

Result = TypeVar("Result")

_LOGGER = logging.getLogger(__name__)
_IDLE_SECONDS = 2.0
_MOST_OPEN = 32


@dataclass(frozen=True, slots=True)
class _WriterJob:
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


class LogWriter:
    """Writes batches and runs jobs from any thread, in order, on one thread of its own.

    Exceptions of batches and jobs do not end the thread. If it ends all the same, `on_failure` is called with a
    StorageError, and every queued and later job fails with that error, so that nothing is reported as saved.
    `make_log` returns the log of a session; it, `on_idle` and `on_failure` run on the writer's thread.
    """

    def __init__(
        self,
        make_log: Callable[[str], SessionLog],
        on_idle: Callable[[], None],
        on_failure: Callable[[StorageError], None],
    ) -> None:
        self.logs: dict[str, SessionLog] = {}
        self._make_log = make_log
        self._on_idle = on_idle
        self._on_failure = on_failure
        self._queue: queue.SimpleQueue[_WriterJob] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._failure: StorageError | None = None
        self._thread: threading.Thread | None = None
        self._ending: threading.Thread | None = None
        self._touched: set[str] = set()
        self._idle_at: float | None = None

    def post(self, session_id: str, events: tuple[Event, ...], summary: SessionSummary | None) -> None:
        """Queue one batch of a session."""
        self._put(_WriterJob(lambda: self._add(session_id, events, summary)))

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
                    self._work_off(item)
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

    def _work_off(self, item: _WriterJob) -> None:
        if item.future is not None:
            self._guarded(self._write_touched)
        item.run()

    def _add(self, session_id: str, events: tuple[Event, ...], summary: SessionSummary | None) -> None:
        """Queue events of one session that go into one line of its log."""
        try:
            log = self.log(session_id)
            self._touched.add(session_id)
            try:
                log.add(events, summary)
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
        for log in [one for one in self.logs.values() if one.is_open][:-_MOST_OPEN]:
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
