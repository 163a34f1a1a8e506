"""The request that a command pauses what it runs, and ends; and work that ends with what it accompanies."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable
from typing import Any

from app.core.owned_tasks import end_tasks


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
