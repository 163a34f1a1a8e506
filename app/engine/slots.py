"""Waiting for a free assistant: the asyncio shell over the pure core of availability.

Every run takes its slots here (hard case 7): a turn at the root of a tree, and a sub-agent that is not
on the stack already. Of two trees that would wait for each other the later is refused.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Final

from app.core.ids import new_id
from app.engine.availability import Availability, Effect, Refused, Started, Task, Waits

CROSSED: Final = "crossed"

# The slots that the running code holds, the outermost first; tasks inherit it.
_ABOVE: ContextVar[tuple[str, ...]] = ContextVar("slots_above", default=())


class NotFree(Exception):
    """An assistant cannot take the work: `reason` is queue_full, busy, timed_out or crossed."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Slots:
    """Hands out the assistants' slots; `changed` is called with the id of an assistant whose state is another."""

    def __init__(
        self,
        core: Availability,
        *,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]],
        changed: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._core = core
        self._clock = clock
        self._sleep = sleep
        self._changed = changed
        self._starts: dict[str, asyncio.Future[None]] = {}
        self._above: dict[str, tuple[str, ...]] = {}
        self._timer: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def taken(
        self, agent_id: str, provider: str = "", waits: Callable[[Waits], None] = lambda _: None
    ) -> AsyncIterator[None]:
        """Hold a slot of an assistant while the block runs. Raises NotFree.

        What runs inside the block, in tasks of its own too, counts as below it. `waits` is told when it
        has to wait, with its place.
        """
        task = Task(id=new_id(), agent_id=agent_id, provider=provider)
        above = _ABOVE.get()
        self._above[task.id] = above
        start = self._starts[task.id] = asyncio.get_running_loop().create_future()
        inside = _ABOVE.set((*above, task.id))
        try:
            for effect in self._apply(self._core.enqueue(task, self._clock())):
                if isinstance(effect, Waits) and effect.task is task:
                    if self._crosses(task):
                        raise NotFree(CROSSED)
                    waits(effect)
            self._set_timer()
            await start
            yield
        finally:
            _ABOVE.reset(inside)
            del self._starts[task.id], self._above[task.id]
            self._apply(self._core.finish(task.id, self._clock()))
            self._set_timer()

    def counts(self, agent_id: str) -> tuple[int, int, int]:
        """Return how much runs, queues, and waits with a time limit."""
        return self._core.counts(agent_id)

    def load(self, agent_id: str) -> int:
        """Return how much an assistant has to do: what runs and what waits."""
        return len(self._core.running(agent_id)) + len(self._core.waiting(agent_id))

    def pause_provider(self, provider: str, seconds: float) -> None:
        """Start nothing more at a provider for some seconds."""
        self._core.pause_provider(provider, self._clock() + seconds)
        self._set_timer()

    async def close(self) -> None:
        """Let go of the timer."""
        if self._timer is not None:
            self._timer.cancel()
            await asyncio.gather(self._timer, return_exceptions=True)

    def _apply(self, effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
        for effect in effects:
            start = self._starts.get(effect.task.id)
            if start is not None and not start.done():
                if isinstance(effect, Started):
                    start.set_result(None)
                elif isinstance(effect, Refused):
                    start.set_exception(NotFree(effect.reason))
            self._changed(effect.task.agent_id)
        return effects

    def _crosses(self, task: Task) -> bool:
        """Whether a task would wait for one that it is part of, perhaps through others that wait."""
        above = self._above[task.id]
        due, seen = [task.agent_id], {task.agent_id}
        while due:
            for holder in self._core.running(due.pop()):
                if holder in above:
                    return True
                for other, its_above in self._above.items():
                    wanted = self._core.waits_for(other) if holder in its_above else None
                    if wanted is not None and wanted not in seen:
                        seen.add(wanted)
                        due.append(wanted)
        return False

    def _set_timer(self) -> None:
        moment = self._core.next_moment()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if moment is not None:
            self._timer = asyncio.create_task(self._tick_at(moment), name="availability")

    async def _tick_at(self, moment: float) -> None:
        await self._sleep(max(0.0, moment - self._clock()))
        self._timer = None
        self._apply(self._core.tick(self._clock()))
        self._set_timer()
