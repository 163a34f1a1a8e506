"""Waiting for a free assistant: the asyncio shell over the pure core of availability.

Every run takes its slots here: a turn at the root of a tree, and a sub-agent that is not on the stack already.
Of two trees that would wait for each other the later is refused.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

from app.core.ids import new_id
from app.core.owned_tasks import start_owned
from app.engine.availability.policies import Availability, Effect, Refusal, Refused, Started, Task, Waits

# The weight of the newest task in the estimate of how long the next will take.
NEWEST = 0.3

# The ids of the slots that the running code holds, the outermost first; asyncio tasks inherit it.
_ABOVE: ContextVar[tuple[str, ...]] = ContextVar("slots_above", default=())


class NotFree(Exception):
    """An assistant cannot take the task: `reason` is a Refusal."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class SentTo(Exception):
    """While it waited, the task was given to another assistant."""

    def __init__(self, agent_id: str) -> None:
        super().__init__(agent_id)
        self.agent_id = agent_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a slot is for: the session, `about` the task in words, and whether another assistant may take it."""

    session_id: str = ""
    about: str = ""
    may_move: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A task of an assistant as people see it, and for how many seconds it has run or waited.

    `place` counts waiting tasks from 0 and is None for running ones. `left` are the seconds until it gives up,
    `expected` those until it may begin, estimated from earlier tasks of this assistant; None where that is unknown.
    """

    id: str
    agent_id: str
    work: Work
    seconds: float
    place: int | None = None
    left: float | None = None
    expected: float | None = None


@dataclass(slots=True)
class _Entry:
    """A running or waiting task: `start` is set when it may begin, `above` are the slots it is part of."""

    task: Task
    work: Work
    above: tuple[str, ...]
    start: "asyncio.Future[None]"
    since: float
    deadline: float | None = None


class Slots:
    """Hands out the assistants' slots; `changed` is called with the id of an assistant whose state has changed."""

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
        self._entries: dict[str, _Entry] = {}
        self._takes: dict[str, float] = {}
        self._timer: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def taken(
        self,
        agent_id: str,
        provider: str = "",
        *,
        work: Work = Work(),
        waits: Callable[[Waits], None] = lambda _: None,
    ) -> AsyncIterator[None]:
        """Hold a slot of an assistant while the block runs. Raises NotFree, and SentTo where it may move.

        All that runs inside the block, also in tasks of its own, counts as below it. `waits` is called when the task has
        to wait, with its place.
        """
        task = Task(id=new_id(), agent_id=agent_id, provider=provider)
        above = _ABOVE.get()
        start = asyncio.get_running_loop().create_future()
        entry = self._entries[task.id] = _Entry(task, work, above, start, self._clock())
        inside = _ABOVE.set((*above, task.id))
        try:
            for effect in self._apply(self._core.enqueue(task, self._clock())):
                if isinstance(effect, Waits) and effect.task is task:
                    if self._crosses(task):
                        raise NotFree(Refusal.CROSSED)
                    entry.deadline = effect.deadline
                    waits(effect)
            self._set_timer()
            await start
            entry.since = self._clock()
            yield
            self._note_time(agent_id, self._clock() - entry.since)
        finally:
            _ABOVE.reset(inside)
            del self._entries[task.id]
            self._apply(self._core.finish(task.id, self._clock()))
            self._set_timer()
            self._changed(agent_id)

    def counts(self, agent_id: str) -> tuple[int, int, int]:
        """Return how much runs, queues, and waits with a time limit."""
        return self._core.counts(agent_id)

    def load(self, agent_id: str) -> int:
        """Return how many tasks of an assistant run or wait."""
        return len(self._core.running(agent_id)) + len(self._core.waiting(agent_id))

    def can_accept(self, agent_id: str) -> bool:
        """Say whether an assistant would not refuse another task now."""
        return self._core.can_accept(agent_id, self._clock())

    def jobs(self) -> list[Job]:
        """Return what runs and what waits, assistant by assistant, each in its order."""
        return [
            self._job(self._entries[task_id], place)
            for agent_id in dict.fromkeys(entry.task.agent_id for entry in self._entries.values())
            for place, task_id in (
                *((None, one) for one in self._core.running(agent_id)),
                *enumerate(self._core.waiting(agent_id)),
            )
            if task_id in self._entries
        ]

    def take_out(self, task_id: str) -> bool:
        """Refuse a waiting task as `dequeued`. False where it does not wait."""
        return self._give_up(task_id, NotFree(Refusal.DEQUEUED))

    def send(self, task_id: str, agent_id: str) -> bool:
        """Give a waiting task that may move to another assistant; false where that is impossible."""
        entry = self._entries.get(task_id)
        may = entry is not None and entry.work.may_move and entry.task.agent_id != agent_id
        return may and self._give_up(task_id, SentTo(agent_id))

    def move_to_front(self, task_id: str) -> None:
        """Make a waiting task the next of its assistant."""
        self._apply(self._core.move_to_front(task_id, self._clock()))
        if entry := self._entries.get(task_id):
            self._changed(entry.task.agent_id)

    def hold(self, agent_id: str, held: bool) -> None:
        """Let an assistant begin no further task, or release it."""
        self._apply(self._core.set_busy(agent_id, held, self._clock()))
        self._changed(agent_id)

    def renew(self) -> None:
        """Apply the assistants' policies as they are now."""
        self._apply(self._core.renew(self._clock()))

    def is_held(self, agent_id: str) -> bool:
        """Say whether an assistant is held back by the user."""
        return self._core.is_held(agent_id)

    def pause_provider(self, provider: str, seconds: float) -> None:
        """Start no task at a provider for some seconds."""
        self._core.pause_provider(provider, self._clock() + seconds)
        self._set_timer()

    async def rest(self, seconds: float) -> None:
        """Wait for some seconds of the clock that pauses are measured by."""
        await self._sleep(seconds)

    def end_pause(self, provider: str) -> None:
        """Let a provider be asked again at once."""
        self._apply(self._core.end_pause(provider, self._clock()))
        self._set_timer()

    def paused_for(self, provider: str) -> float:
        """Return for how many seconds a provider is still paused; 0 where it is not."""
        return self._core.paused_for(provider, self._clock())

    async def close(self) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()
            await asyncio.gather(self._timer, return_exceptions=True)

    def _job(self, entry: _Entry, place: int | None) -> Job:
        now, agent_id = self._clock(), entry.task.agent_id
        job = Job(
            id=entry.task.id, agent_id=agent_id, work=entry.work, seconds=now - entry.since, place=place
        )
        if place is None:
            return job
        running = [self._entries[one] for one in self._core.running(agent_id) if one in self._entries]
        expected = None
        if running and agent_id in self._takes and not self.is_held(agent_id):
            rounds = place // len(running) + 1
            gone = max(now - one.since for one in running)
            expected = max(0.0, rounds * self._takes[agent_id] - gone)
        left = None if entry.deadline is None else max(0.0, entry.deadline - now)
        return replace(job, left=left, expected=expected)

    def _note_time(self, agent_id: str, seconds: float) -> None:
        before = self._takes.get(agent_id, seconds)
        self._takes[agent_id] = before + NEWEST * (seconds - before)

    def _give_up(self, task_id: str, why: Exception) -> bool:
        entry = self._entries.get(task_id)
        if entry is None or entry.start.done() or self._core.waits_for(task_id) is None:
            return False
        entry.start.set_exception(why)
        return True

    def _apply(self, effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
        for effect in effects:
            entry = self._entries.get(effect.task.id)
            if entry is not None and not entry.start.done():
                if isinstance(effect, Started):
                    entry.start.set_result(None)
                elif isinstance(effect, Refused):
                    entry.start.set_exception(NotFree(effect.reason))
            self._changed(effect.task.agent_id)
        return effects

    def _crosses(self, task: Task) -> bool:
        """Whether a task would wait for one that it is part of, perhaps through others that wait."""
        above = self._entries[task.id].above
        due, seen = [task.agent_id], {task.agent_id}
        while due:
            for holder in self._core.running(due.pop()):
                if holder in above:
                    return True
                for other, entry in self._entries.items():
                    wanted = self._core.waits_for(other) if holder in entry.above else None
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
            self._timer = start_owned(self._tick_at(moment), name="availability")

    async def _tick_at(self, moment: float) -> None:
        await self._sleep(max(0.0, moment - self._clock()))
        self._timer = None
        try:
            self._apply(self._core.tick(self._clock()))
        finally:
            self._set_timer()
