"""The one thread that writes: batches in the order they came, jobs between them, nothing lost.

Used by the session store; each session's own state is a `SessionLog`.
"""

import logging
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from app.core.errors import StorageError
from app.core.events import Event
from app.core.session import SessionSummary
from app.storage.file_system import FileSystem
from app.storage.paths import DataPaths
from app.storage.session_log import RETRY_SECONDS, SessionLog

Result = TypeVar("Result")

_LOGGER = logging.getLogger(__name__)
_Post = tuple[str, tuple[Event, ...], SessionSummary | None]
_Item = _Post | Callable[[], None] | Future[None]
_IDLE_SECONDS = 2.0
_MOST_OPEN = 32


class LogWriter:
    """Takes batches and jobs from any thread and works them off on its own; `on_idle` runs there too."""

    def __init__(self, paths: DataPaths, file_system: FileSystem, on_idle: Callable[[], None]) -> None:
        self.logs: dict[str, SessionLog] = {}
        self._paths = paths
        self._file_system = file_system
        self._on_idle = on_idle
        self._queue: queue.SimpleQueue[_Item] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._touched: set[str] = set()
        self._idle_at: float | None = None

    def post(self, session_id: str, events: tuple[Event, ...], summary: SessionSummary | None) -> None:
        """Queue one batch of a session."""
        self._queue.put((session_id, events, summary))
        self._start()

    def call(self, job: Callable[[], Result]) -> "Future[Result]":
        """Run a job after all that was queued before it; the future gets its result or error."""
        future: Future[Result] = Future()

        def run() -> None:
            try:
                result = job()
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)

        self._queue.put(run)
        self._start()
        return future

    def stop(self) -> "Future[None]":
        """End the thread after what was queued before; the next call starts another."""
        ended: Future[None] = Future()
        if self._thread is None:
            ended.set_result(None)
        else:
            self._thread = None
            self._queue.put(ended)
        return ended

    def log(self, session_id: str) -> SessionLog:
        """Return a session's log; on the writer's thread only."""
        if session_id not in self.logs:
            self.logs[session_id] = SessionLog(
                self._file_system, self._paths.session(session_id), self._paths.quarantine
            )
        return self.logs[session_id]

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="moot-writer", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            items = self._take()
            for item in items:
                if isinstance(item, Future):
                    self._write_touched()
                    item.set_result(None)
                    return
                if callable(item):
                    self._write_touched()
                    item()
                else:
                    session_id, events, summary = item
                    self.log(session_id).add(events, summary)
                    self._touched.add(session_id)
            self._write_touched()
            self._write_due()

    def _take(self) -> list[_Item]:
        times = [log.due for log in self.logs.values() if log.due is not None]
        if self._idle_at is not None:
            times.append(self._idle_at)
        timeout = max(0.0, min(times) - time.monotonic()) if times else None
        items: list[_Item] = []
        try:
            items.append(self._queue.get(timeout=timeout))
            while not isinstance(items[-1], Future):
                items.append(self._queue.get_nowait())
        except queue.Empty:
            pass
        return items

    def _write_touched(self) -> None:
        for session_id in self._touched:
            log = self.logs[session_id]
            if log.waiting and log.retry_at is None:
                self._write(log)
                # The last to be written is the last to be closed.
                self.logs[session_id] = self.logs.pop(session_id)
        if self._touched:
            self._close_oldest()
        self._touched.clear()

    def _close_oldest(self) -> None:
        """Let go of files: a program may have only so many open. The next write opens them again."""
        for log in [one for one in self.logs.values() if one.is_open][:-_MOST_OPEN]:
            if not log.waiting and log.due is None:
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
            # Kept queued by the log; whoever waits for it is told by flush.
            pass
        except Exception:
            log.retry_at = time.monotonic() + RETRY_SECONDS
            _LOGGER.exception("a session's log could not be written")
