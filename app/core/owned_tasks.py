"""Tasks that nobody awaits: a fault of the program that ends one is logged, and its owner is told.

Also how tasks are ended.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from app.core.errors import MootError

Result = TypeVar("Result")

_log = logging.getLogger(__name__)


def start_owned(
    work: Coroutine[Any, Any, Result],
    on_fault: Callable[[BaseException], object] = lambda _: None,
    *,
    name: str | None = None,
    among: "set[asyncio.Task[Result]] | None" = None,
) -> "asyncio.Task[Result]":
    """Start a task whose result may never be awaited; `on_fault` is called with the exception that ends it.

    It is in the set `among` until it ends.
    """

    def look(ended: "asyncio.Task[Result]") -> None:
        fault = None if ended.cancelled() else ended.exception()
        if fault is not None:
            # A MootError is no fault of the program: its owner tells the user.
            if not isinstance(fault, MootError):
                _log.error("The task %s ended by a fault", ended.get_name(), exc_info=fault)
            on_fault(fault)

    task = asyncio.get_running_loop().create_task(work, name=name)
    task.add_done_callback(look)
    if among is not None:
        among.add(task)
        task.add_done_callback(among.discard)
    return task


async def end_tasks(*tasks: "asyncio.Future[Any] | None") -> None:
    """Cancel tasks that there are, and return when they have ended."""
    given = [task for task in tasks if task is not None]
    for task in given:
        task.cancel()
    await asyncio.gather(*given, return_exceptions=True)
