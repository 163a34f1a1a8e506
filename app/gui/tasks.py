"""The window's background tasks: coroutines with a name, of which one runs at a time; errors are shown
to the user. Also timers.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from itertools import count

from PySide6.QtCore import QObject, QTimer

from app.core.errors import MootError

log = logging.getLogger(__name__)
Work = Coroutine[object, object, object]


def timer(owner: QObject, ms: int, act: Callable[[], object], *, once: bool = False) -> QTimer:
    """Return a timer that calls `act` every so many milliseconds once it is started, or a single time."""
    result = QTimer(owner, interval=ms, singleShot=once)
    result.timeout.connect(act)
    return result


class Tasks:
    """Starts coroutines from slots, keeps references to them, and passes their errors to `on_error`."""

    def __init__(self, on_error: Callable[[str, MootError], None]) -> None:
        self._on_error = on_error
        self._running: dict[str, asyncio.Task[None]] = {}
        # Includes replaced tasks that are still being cancelled.
        self._all: set[asyncio.Task[None]] = set()
        self._numbers = count(1)
        self._closed = False
        self._then: Callable[[], object] | None = None

    def start(self, name: str, work: Work) -> None:
        """Run `work` as the task `name`; dropped if a task of that name runs, or after `close`."""
        if self._closed or name in self._running:
            work.close()
            return
        task = asyncio.get_running_loop().create_task(self._run(name, work), name=name)
        # A task cancelled before its first step would leave its coroutine unawaited.
        task.add_done_callback(lambda _task: work.close())
        self._all.add(task)
        task.add_done_callback(self._all.discard)
        self._running[name] = task

    def add(self, name: str, work: Work) -> None:
        """Run `work` beside other tasks of that name."""
        self.start(f"{name} {next(self._numbers)}", work)

    def replace(self, name: str, work: Work) -> None:
        """Cancel the task `name` and run `work` instead."""
        self.cancel(name)
        self.start(name, work)

    def cancel(self, name: str) -> None:
        """Cancel the task `name` if it runs."""
        if (running := self._running.pop(name, None)) is not None:
            running.cancel()

    def running(self, name: str) -> bool:
        """Say whether a task of that name runs."""
        return name in self._running

    def when_done(self, then: Callable[[], object]) -> None:
        """Call `then` once no task runs any more, at once if none does, and start none after that."""
        self._then = then
        self._look_whether_done()

    async def close(self) -> None:
        """Cancel all tasks, wait for their end, and start no more."""
        self._closed = True
        tasks = list(self._all)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, name: str, work: Work) -> None:
        try:
            await work
        except MootError as error:
            self._on_error(name, error)
        except Exception:
            log.exception("the task %s failed", name)
            self._on_error(name, MootError("unexpected", task=name))
        finally:
            if self._running.get(name) is asyncio.current_task():
                del self._running[name]
            self._look_whether_done()

    def _look_whether_done(self) -> None:
        if not self._running and self._then is not None:
            then, self._then = self._then, None
            # What `then` deletes is still there for a turn of the event loop, and may ask for more work.
            self._closed = True
            then()
