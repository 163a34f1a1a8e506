"""Runs blocking work in daemon threads, which never delay the end of the program."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

Result = TypeVar("Result")


def run_in_thread(work: Callable[[], Result], name: str) -> "Future[Result]":
    """Start `work` in a thread of its own and return the future of its result."""
    future: Future[Result] = Future()
    # Marked as running, so that a caller who gives up cannot cancel it: the result is then ignored.
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


async def in_thread(work: Callable[[], Result], name: str) -> Result:
    """Run `work` in a thread of its own and return its result; if the caller is cancelled, the work goes on."""
    return await asyncio.wrap_future(run_in_thread(work, name))


class OneAtATime:
    """Runs blocking work in threads, one piece after the other."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()

    async def run(self, work: Callable[[], Result]) -> Result:
        """Run `work` and return its result; if the caller is cancelled, the work goes on."""

        def in_turn() -> Result:
            with self._lock:
                return work()

        return await in_thread(in_turn, self._name)
