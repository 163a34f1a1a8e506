"""Runs blocking work in daemon threads, which never delay the end of the program."""

import functools
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

Result = TypeVar("Result")
Given = ParamSpec("Given")


def run_in_thread(work: Callable[[], Result], name: str) -> "Future[Result]":
    """Start `work` in a thread of its own and return the future of its result."""
    future: Future[Result] = Future()
    # Marked as running, so that a caller who gives up cannot cancel it: the result is then ignored.
    future.set_running_or_notify_cancel()

    threading.Thread(target=settle, args=(future, work), name=name, daemon=True).start()
    return future


class InThread(Protocol):
    """Runs blocking work in a thread and returns its result."""

    async def __call__(self, work: Callable[[], Result]) -> Result:
        """Run `work`; if the caller is cancelled, it goes on."""


async def in_thread(work: Callable[[], Result], name: str) -> Result:
    """Run `work` in a thread of its own and return its result; if the caller is cancelled, the work goes
    on.
    """
    return await _result_of(run_in_thread(work, name))


async def _result_of(future: "Future[Result]") -> Result:
    # Imported by those alone who have a loop: listing sessions takes less time without it.
    import asyncio

    return await asyncio.wrap_future(future)


class OneAtATime:
    """Runs blocking work in threads, one piece after the other, in the order of the calls."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._last: Future[Any] | None = None

    async def run(self, work: Callable[[], Result]) -> Result:
        """Run `work` and return its result; if the caller is cancelled, the work goes on."""
        before = self._last

        def in_turn() -> Result:
            if before is not None:
                wait((before,))
            return work()

        self._last = future = run_in_thread(in_turn, self._name)
        return await _result_of(future)


def awaited(
    work: Callable[Concatenate[Any, Given], Result],
) -> Callable[Concatenate[Any, Given], Coroutine[Any, Any, Result]]:
    """Let a method that blocks be awaited: `_run` of its object runs it in a thread."""

    @functools.wraps(work)
    async def run(self: Any, /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        result: Result = await self._run(lambda: work(self, *args, **kwargs))
        return result

    return run


def settle(future: "Future[Result]", work: Callable[[], Result]) -> None:
    """Run `work` and give the future its result, or what it raised."""
    try:
        result = work()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)
