"""Blocking work off the loop's thread, in a daemon thread that never holds up the end of the program."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

Result = TypeVar("Result")


def run_in_thread(work: Callable[[], Result], name: str) -> "Future[Result]":
    """Start `work` in a thread of its own and return the future of its result."""
    future: Future[Result] = Future()
    # Whoever awaits it may give up; the work goes on, and its result finds nobody instead of a fault.
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            result = work()
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(result)

    threading.Thread(target=run, name=name, daemon=True).start()
    return future


class OneAtATime:
    """Runs blocking work in threads, one piece after the other."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()

    async def run(self, work: Callable[[], Result]) -> Result:
        """Return what `work` returns; it goes on to its end where whoever waits is cancelled."""

        def in_turn() -> Result:
            with self._lock:
                return work()

        return await asyncio.shield(asyncio.wrap_future(run_in_thread(in_turn, self._name)))
