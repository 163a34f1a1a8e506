"""How commands end: the exit statuses, on which scripts rely, and the request to pause."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Mapping
from typing import Any

from app.core.owned_tasks import end_tasks
from app.core.session import Status

OK = 0
FAULT = 1
BAD_INPUT = 2
WAITS = 3
PAUSED_OR_STOPPED = 4

# Of a session that no longer runs; any other status is PAUSED_OR_STOPPED.
BY_STATUS: Mapping[str, int] = {Status.COMPLETED: OK, Status.WAITING: WAITS, Status.ERROR: FAULT}


class Interrupt(asyncio.Event):
    """Set when a command shall pause what it runs, the session `session_id`; `closing` if Moot itself
    ends.
    """

    closing = False
    session_id = ""

    def close(self) -> None:
        """Set the event because Moot ends."""
        self.closing = True
        self.set()


@contextlib.asynccontextmanager
async def beside(*work: Awaitable[Any]) -> AsyncIterator[list[asyncio.Future[Any]]]:
    """Do work beside a block; what is not done at its end is cancelled."""
    tasks: list[asyncio.Future[Any]] = [asyncio.ensure_future(each) for each in work]
    try:
        yield tasks
    finally:
        await end_tasks(*tasks)
