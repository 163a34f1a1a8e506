"""What runs in this process, so that `conftest.py` can tell what a test left behind.

Every check looks again for a moment before it complains: a thread or process that is just ending
is not a leftover.
"""

import asyncio
import contextlib
import gc
import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_PATIENCE_S = 3.0
# The loop's own helpers; its runner ends them after the test's fixtures are gone.
_LOOP_THREADS = ("asyncio_", "moot_", "waitpid-")
# Qt keeps one of these for the whole program.
_QT_OWN_WINDOWS = ("QTipLabel",)


@dataclass(frozen=True)
class Snapshot:
    """What was there before a test."""

    threads: frozenset[int]
    children: frozenset[int]
    windows: frozenset[int]
    qt: bool
    timers: frozenset[int] = field(default_factory=frozenset)

    @classmethod
    def take(cls, *, qt: bool) -> "Snapshot":
        """Note what runs now; windows and timers only where the test uses Qt."""
        return cls(
            threads=frozenset(thread.ident or 0 for thread in threading.enumerate()),
            children=frozenset(_children()),
            windows=frozenset(id(window) for window in _windows()) if qt else frozenset(),
            timers=frozenset(id(timer) for timer in _timers()) if qt else frozenset(),
            qt=qt,
        )

    def leftovers(self, loop: asyncio.AbstractEventLoop | None) -> list[str]:
        """Return a line for each thing that is still there; waits a moment for what is ending."""
        left = self._tasks(loop) + _settled(self._threads) + _settled(self._children)
        if self.qt:
            left += self._windows() + self._active_timers(loop)
        return left

    def _tasks(self, loop: asyncio.AbstractEventLoop | None) -> list[str]:
        if loop is None or loop.is_closed():
            return []
        deadline = time.monotonic() + 0.5
        while asyncio.all_tasks(loop) and time.monotonic() < deadline:
            # A task that was cancelled last needs one more turn of the loop.
            loop.run_until_complete(asyncio.sleep(0.01))
        return [f"task {task.get_name()} {task.get_coro()}" for task in asyncio.all_tasks(loop)]

    def _threads(self) -> list[str]:
        return [
            f"thread {thread.name}"
            for thread in threading.enumerate()
            if (thread.ident or 0) not in self.threads and not thread.name.startswith(_LOOP_THREADS)
        ]

    def _children(self) -> list[str]:
        return [f"child process {pid} {_command(pid)}" for pid in _children() if pid not in self.children]

    def _windows(self) -> list[str]:
        from PySide6.QtCore import QCoreApplication, QEvent

        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        new = [window for window in _windows() if id(window) not in self.windows]
        if new:
            del new
            gc.collect()
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        return [
            f"window {type(window).__name__} {window.objectName()!r}"
            for window in _windows()
            if id(window) not in self.windows and type(window).__name__ not in _QT_OWN_WINDOWS
        ]

    def _active_timers(self, loop: asyncio.AbstractEventLoop | None) -> list[str]:
        own = {id(value) for value in vars(loop).values()} if loop is not None else set()
        return [
            f"timer every {timer.interval()} ms of {timer.parent()!r}"
            for timer in _timers()
            if id(timer) not in self.timers and id(timer) not in own
        ]


def _settled(look: Callable[[], list[str]]) -> list[str]:
    deadline = time.monotonic() + _PATIENCE_S
    while (left := look()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


def _children() -> list[int]:
    """Return the ids of this process's children, where the system tells (Linux)."""
    found: list[int] = []
    for path in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):  # the thread ended while we looked
            found += [int(pid) for pid in path.read_text(encoding="ascii").split()]
    return found


def _command(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")[:200]
    return ""


def _windows() -> list[Any]:
    from PySide6.QtWidgets import QApplication

    return QApplication.topLevelWidgets() if QApplication.instance() else []


def _timers() -> list[Any]:
    if "PySide6.QtCore" not in sys.modules:
        return []
    import shiboken6
    from PySide6.QtCore import QTimer

    # Python's own list of objects is a hundred times as long.
    return [one for one in shiboken6.getAllValidWrappers() if isinstance(one, QTimer) and one.isActive()]


@contextlib.contextmanager
def collected_logs() -> Iterator[list[str]]:
    """Yield the list that warnings and errors of the log go to while the context lasts."""
    lines: list[str] = []

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(f"{record.levelname} {record.name}: {record.getMessage()}")

    collector = Collector(logging.WARNING)
    logging.getLogger().addHandler(collector)
    try:
        yield lines
    finally:
        logging.getLogger().removeHandler(collector)
