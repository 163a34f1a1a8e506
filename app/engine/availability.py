"""Which assistants are free: the policies (pure, without a clock), waiting for a slot, and the queues
of what waits.

Every run takes its slots in `Slots`, the asyncio shell over the pure core: a turn at the root of a tree, and
a sub-agent that is not on the stack already. `Queues` says what each assistant does and what waits for it;
`engine.queues`.
"""

import asyncio
import heapq
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from enum import StrEnum

from app.core.definitions import Agent, Busy, role_of
from app.core.errors import BadInput, NotFound
from app.core.events import AvailabilityChanged, EventBus
from app.core.frozen import Frozen
from app.core.ids import new_id
from app.core.owned_tasks import end_tasks, start_owned
from app.core.session import Reason
from app.core.settings import Settings
from app.core.store import Documents
from app.engine.library.agents import MADE_FOR, AgentDirectory

DEFAULT_DEPTH = 3
DEFAULT_LIMIT = 2
DEFAULT_TIMEOUT_S = 60.0


class Strategy(StrEnum):
    """What an assistant does with a task that arrives while it is busy."""

    WAIT = "wait"
    QUEUE = "queue"
    PARALLEL = "parallel"
    REJECT = "reject"


class Refusal(StrEnum):
    """Why an assistant does not take a task, or a task stopped waiting."""

    QUEUE_FULL = "queue_full"
    BUSY = "busy"
    TIMED_OUT = "timed_out"
    CROSSED = "crossed"
    DEQUEUED = "dequeued"


ANYBODY = Busy(strategy=Strategy.PARALLEL, limit=8, depth=100)

# The default policies of roles.
_ROLES: dict[str, Busy] = {
    "po": Busy(strategy=Strategy.QUEUE, depth=3),
    "pm": Busy(strategy=Strategy.QUEUE, depth=5),
    **dict.fromkeys(("designer", "architect"), Busy(strategy=Strategy.WAIT, timeout_s=60.0)),
    **dict.fromkeys(("fe", "be", "qa"), Busy(strategy=Strategy.PARALLEL, limit=2, depth=3)),
}


def policy_of(busy: Busy | None, role: str) -> Busy:
    """Return an assistant's policy: its own, its role's, or else several tasks at once."""
    return busy if busy is not None else _ROLES.get(role_of(role), ANYBODY)


class Task(Frozen):
    """A task of an assistant; `provider` is the provider of the model it needs."""

    id: str
    agent_id: str
    provider: str = ""


class Started(Frozen, kw_only=False):
    """The task runs now."""

    task: Task


class Waits(Frozen, kw_only=False):
    """The task waits; `place` counts from 0, `deadline` is when it gives up (None: never).

    `held` says that its assistant takes no new work.
    """

    task: Task
    place: int
    deadline: float | None = None
    held: bool = False


class Refused(Frozen, kw_only=False):
    """The task will not run: `reason` is a Refusal."""

    task: Task
    reason: str


Effect = Started | Waits | Refused
OnWait = Callable[[Waits], None]
# Entered while a turn waits for a provider.
Waiting = Callable[[], AbstractContextManager[None]]


@dataclass(slots=True)
class _Desk:
    """The tasks of one assistant: what runs, what waits (in order, with deadlines), and how many run at
    once.
    """

    policy: Busy
    running: set[str] = field(default_factory=set)
    waiting: "OrderedDict[str, float | None]" = field(default_factory=OrderedDict)
    held: bool = False

    @property
    def limit(self) -> int:
        return max(1, self.policy.limit or DEFAULT_LIMIT) if self.policy.strategy == Strategy.PARALLEL else 1

    @property
    def depth(self) -> int | None:
        """How many may wait; None for any number."""
        if self.policy.strategy == Strategy.WAIT:
            return None
        if self.policy.strategy == Strategy.REJECT:
            return 0
        return DEFAULT_DEPTH if self.policy.depth is None else max(0, self.policy.depth)

    @property
    def free(self) -> bool:
        return not self.held and len(self.running) < self.limit


@dataclass(slots=True)
class _Gate:
    """A provider's limit of calls at once, and until when it is paused."""

    limit: int | None = None
    running: int = 0
    paused_until: float = 0.0
    # The assistants whose next task waits for this provider, in the order they came to.
    blocked: "OrderedDict[str, None]" = field(default_factory=OrderedDict)

    def is_open(self, now: float) -> bool:
        return self.paused_until <= now and (self.limit is None or self.running < self.limit)


@dataclass(eq=False, repr=False)
class Availability:
    """The assistants' slots.

    Each assistant takes a number of tasks at once; further tasks wait, queue or are refused, as its policy
    says. A provider may allow fewer, and may have to pause. It has no clock and never waits: every operation
    returns its effects.
    """

    # An assistant's rules.
    _policy: Callable[[str], Busy]
    # A provider's number of calls at once.
    _limit: Callable[[str], int | None] = lambda _: None
    # Whether an assistant takes no new work from the start.
    _held: Callable[[str], bool] = lambda _: False
    _desks: dict[str, _Desk] = field(default_factory=dict, init=False)
    _gates: dict[str, _Gate] = field(default_factory=dict, init=False)
    _tasks: dict[str, Task] = field(default_factory=dict, init=False)
    # The deadlines of tasks; a task that has stopped waiting stays in it until its deadline.
    _deadlines: list[tuple[float, str]] = field(default_factory=list, init=False)
    _seen: float = field(default=0.0, init=False)

    def can_accept(self, agent_id: str, now: float, provider: str = "") -> bool:
        """Say whether `enqueue` would not refuse a task of this assistant."""
        desk = self._desk(agent_id)
        room = desk.depth is None or len(desk.waiting) < desk.depth
        return room or self._starts_at_once(desk, provider, now)

    def enqueue(self, task: Task, now: float) -> tuple[Effect, ...]:
        """Take a task: it starts, waits or is refused. `now` is monotonic, in seconds."""
        desk = self._desk(task.agent_id)
        if self._starts_at_once(desk, task.provider, now):
            self._tasks[task.id] = task
            return (self._start(desk, task),)
        if desk.depth is not None and len(desk.waiting) >= desk.depth:
            rejects = desk.policy.strategy == Strategy.REJECT
            return (Refused(task, Reason.BUSY if rejects else Refusal.QUEUE_FULL),)
        deadline = None
        if desk.policy.strategy == Strategy.WAIT:
            timeout = desk.policy.timeout_s
            deadline = now + (DEFAULT_TIMEOUT_S if timeout is None else timeout)
        self._tasks[task.id] = task
        desk.waiting[task.id] = deadline
        if deadline is not None:
            heapq.heappush(self._deadlines, (deadline, task.id))
        if len(desk.waiting) == 1 and desk.free:
            self._gate(task.provider).blocked[task.agent_id] = None
        return (Waits(task, len(desk.waiting) - 1, deadline, desk.held),)

    def finish(self, task_id: str, now: float) -> tuple[Effect, ...]:
        """Give a task's slot back, however it ended, or forget it where it waits; twice is harmless."""
        task = self._tasks.pop(task_id, None)
        if task is None:
            return ()
        desk = self._desk(task.agent_id)
        if task_id not in desk.running:
            del desk.waiting[task_id]
            if not desk.waiting:
                self._gate(task.provider).blocked.pop(task.agent_id, None)
            return tuple(self._go_on(task.agent_id, now))
        desk.running.discard(task_id)
        gate = self._gate(task.provider)
        gate.running -= 1
        # A task that waited for the provider comes before the task that had a place there.
        return (*self._freed(gate, now), *self._go_on(task.agent_id, now))

    def set_busy(self, agent_id: str, busy: bool, now: float) -> tuple[Effect, ...]:
        """Hold an assistant back, or release it; a slot that a task holds is not freed."""
        self._desk(agent_id).held = busy
        return () if busy else tuple(self._go_on(agent_id, now))

    def renew(self, now: float) -> tuple[Effect, ...]:
        """Apply changed policies to what comes next.
        Running and waiting tasks keep their order and deadlines; a larger limit lets the next of them begin.
        """
        effects: list[Effect] = []
        for agent_id, desk in list(self._desks.items()):
            policy = self._policy(agent_id)
            if policy != desk.policy:
                desk.policy = policy
                effects += self._go_on(agent_id, now)
        return tuple(effects)

    def is_held(self, agent_id: str) -> bool:
        """Say whether an assistant takes no new work."""
        return self._desk(agent_id).held

    def pause_provider(self, provider: str, until: float) -> None:
        """Start no task at a provider until a moment, because it asked to wait."""
        gate = self._gate(provider)
        gate.paused_until = max(gate.paused_until, until)

    def end_pause(self, provider: str, now: float) -> tuple[Effect, ...]:
        """Let a provider be asked again at once, because the user wants it."""
        gate = self._gate(provider)
        gate.paused_until = min(gate.paused_until, now)
        return tuple(self._freed(gate, now))

    def paused_for(self, provider: str, now: float) -> float:
        """Return for how many seconds a provider is still paused; 0 where it is not."""
        return max(0.0, self._gate(provider).paused_until - now)

    def move_to_front(self, task_id: str, now: float) -> tuple[Effect, ...]:
        """Make a waiting task the next of its assistant; what it overtakes may have blocked it."""
        task = self._tasks.get(task_id)
        if task is None or task_id not in self._desk(task.agent_id).waiting:
            return ()
        self._desk(task.agent_id).waiting.move_to_end(task_id, last=False)
        return tuple(self._go_on(task.agent_id, now))

    def tick(self, now: float) -> tuple[Effect, ...]:
        """Give up tasks that have waited too long, and start those that a pause held back."""
        self._seen = now
        effects: list[Effect] = []
        left: dict[str, None] = {}
        while self._deadlines and self._deadlines[0][0] <= now:
            _, task_id = heapq.heappop(self._deadlines)
            agent_id = self.waits_for(task_id)
            if agent_id is not None:
                del self._desk(agent_id).waiting[task_id]
                effects.append(Refused(self._tasks.pop(task_id), Refusal.TIMED_OUT))
                left[agent_id] = None
        for agent_id in left:
            effects += self._go_on(agent_id, now)
        for gate in list(self._gates.values()):
            effects += self._freed(gate, now)
        return tuple(effects)

    def next_moment(self) -> float | None:
        """Return when `tick` has something to do next; None where nothing is due."""
        while self._deadlines and self.waits_for(self._deadlines[0][1]) is None:
            heapq.heappop(self._deadlines)
        moments = [moment for moment, _ in self._deadlines[:1]]
        pauses = (gate.paused_until for gate in self._gates.values() if gate.blocked)
        moments += [moment for moment in pauses if moment > self._seen]
        return min(moments, default=None)

    def running(self, agent_id: str) -> tuple[str, ...]:
        """Return the ids of what an assistant does now."""
        return tuple(self._desk(agent_id).running)

    def waiting(self, agent_id: str) -> tuple[str, ...]:
        """Return the ids of what waits for an assistant, the next first."""
        return tuple(self._desk(agent_id).waiting)

    def counts(self, agent_id: str) -> tuple[int, int, int]:
        """Return how much runs, queues, and waits with a time limit."""
        desk = self._desk(agent_id)
        timed = sum(deadline is not None for deadline in desk.waiting.values())
        return len(desk.running), len(desk.waiting) - timed, timed

    def waits_for(self, task_id: str) -> str | None:
        """Return the id of the assistant a task waits for, None where it does not wait."""
        task = self._tasks.get(task_id)
        return task.agent_id if task is not None and task_id in self._desk(task.agent_id).waiting else None

    def _go_on(self, agent_id: str, now: float) -> Iterator[Effect]:
        """Start the waiting tasks of an assistant, in order, as far as it and the providers are free."""
        desk = self._desk(agent_id)
        while desk.waiting and desk.free:
            task = self._tasks[next(iter(desk.waiting))]
            if not self._gate(task.provider).is_open(now):
                self._gate(task.provider).blocked[agent_id] = None
                return
            del desk.waiting[task.id]
            yield self._start(desk, task)

    def _freed(self, gate: _Gate, now: float) -> Iterator[Effect]:
        """Start the tasks that wait for a provider, as far as it has places; only those can have changed."""
        while gate.blocked and gate.is_open(now):
            agent_id, _ = gate.blocked.popitem(last=False)
            yield from self._go_on(agent_id, now)

    def _start(self, desk: _Desk, task: Task) -> Started:
        desk.running.add(task.id)
        self._gate(task.provider).running += 1
        return Started(task)

    def _starts_at_once(self, desk: _Desk, provider: str, now: float) -> bool:
        return desk.free and not desk.waiting and self._gate(provider).is_open(now)

    def _desk(self, agent_id: str) -> _Desk:
        if agent_id not in self._desks:
            self._desks[agent_id] = _Desk(self._policy(agent_id), held=self._held(agent_id))
        return self._desks[agent_id]

    def _gate(self, provider: str) -> _Gate:
        if provider not in self._gates:
            self._gates[provider] = _Gate(self._limit(provider) if provider else None)
        return self._gates[provider]


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


class Work(Frozen):
    """What a slot is for: the session, `about` the task in words, and whether another assistant may take
    it.
    """

    session_id: str = ""
    about: str = ""
    may_move: bool = False


class Job(Frozen):
    """A task of an assistant as people see it, and for how many seconds it has run or waited.

    `place` counts waiting tasks from 0 and is None for running ones. `left` are the seconds until it gives
    up, `expected` those until it may begin, estimated from earlier tasks of this assistant; None where that
    is unknown.
    """

    id: str
    agent_id: str
    work: Work
    seconds: float
    place: int | None = None
    left: float | None = None
    expected: float | None = None


_UNNAMED = Work()


@dataclass(slots=True)
class _Entry:
    """A running or waiting task: `start` is set when it may begin, `above` are the slots it is part of."""

    task: Task
    work: Work
    above: tuple[str, ...]
    start: "asyncio.Future[None]"
    since: float
    deadline: float | None = None


@dataclass(eq=False, repr=False)
class Slots:
    """Hands out the assistants' slots.

    Of two trees that would wait for each other the later is refused.
    """

    _core: Availability
    _clock: Callable[[], float]
    # Waits for some seconds of that clock.
    rest: Callable[[float], Awaitable[None]]
    # Called with the id of an assistant whose state has changed.
    _changed: Callable[[str], None] = lambda _: None
    _entries: dict[str, _Entry] = field(default_factory=dict, init=False)
    _takes: dict[str, float] = field(default_factory=dict, init=False)
    _timer: asyncio.Task[None] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.counts, self.is_held = self._core.counts, self._core.is_held

    @asynccontextmanager
    async def taken(
        self, agent_id: str, provider: str = "", *, work: Work = _UNNAMED, waits: OnWait = lambda _: None
    ) -> AsyncIterator[None]:
        """Hold a slot of an assistant while the block runs. Raises NotFree, and SentTo where it may move.

        All that runs inside the block, also in tasks of its own, counts as below it. `waits` is called when
        the task has to wait, with its place.
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
                *((None, item) for item in self._core.running(agent_id)),
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

    def pause_provider(self, provider: str, seconds: float) -> None:
        """Start no task at a provider for some seconds."""
        self._core.pause_provider(provider, self._clock() + seconds)
        self._set_timer()

    def end_pause(self, provider: str) -> None:
        """Let a provider be asked again at once."""
        self._apply(self._core.end_pause(provider, self._clock()))
        self._set_timer()

    def paused_for(self, provider: str) -> float:
        """Return for how many seconds a provider is still paused; 0 where it is not."""
        return self._core.paused_for(provider, self._clock())

    async def close(self) -> None:
        """Stop the timer."""
        await end_tasks(self._timer)

    def _job(self, entry: _Entry, place: int | None) -> Job:
        now, agent_id = self._clock(), entry.task.agent_id
        seconds = now - entry.since
        job = Job(id=entry.task.id, agent_id=agent_id, work=entry.work, seconds=seconds, place=place)
        if place is None:
            return job
        running = [self._entries[item] for item in self._core.running(agent_id) if item in self._entries]
        expected = None
        if running and agent_id in self._takes and not self.is_held(agent_id):
            rounds = place // len(running) + 1
            gone = max(now - item.since for item in running)
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
        await self.rest(max(0.0, moment - self._clock()))
        self._timer = None
        try:
            self._apply(self._core.tick(self._clock()))
        finally:
            self._set_timer()


class Queues:
    """The assistants' queues, and what the user may do with waiting tasks.

    All raise NotFound for a task that has begun or ended meanwhile.
    """

    def __init__(self, slots: Slots, directory: AgentDirectory, documents: Documents, bus: EventBus) -> None:
        self._slots = slots
        self._directory = directory
        self._documents = documents
        self._bus = bus
        self.counts, self.is_held = slots.counts, slots.is_held

    def jobs(self, agent_id: str = "") -> list[Job]:
        """Return what runs and waits, of one assistant or of all."""
        return [job for job in self._slots.jobs() if agent_id in ("", job.agent_id)]

    def takers(self, job_id: str) -> list[Agent]:
        """Return the assistants that could take a waiting task instead, those of its role first; none
        where it may not move.
        """
        job = next((item for item in self._slots.jobs() if item.id == job_id), None)
        if job is None or not job.work.may_move:
            return []
        now = self._directory.agent(job.agent_id)
        fitting = self._directory.fitting(now.role if now else job.agent_id.removeprefix(MADE_FOR))
        return [agent for agent in fitting if agent.id != job.agent_id and self._slots.can_accept(agent.id)]

    def take_out(self, job_id: str) -> None:
        """Remove a waiting task; its chat, step or caller is told."""
        if not self._slots.take_out(job_id):
            raise NotFound("job_gone")

    def move_to_front(self, job_id: str) -> None:
        """Make a waiting task the next."""
        self._waiting(job_id)
        self._slots.move_to_front(job_id)

    def send(self, job_id: str, agent_id: str) -> None:
        """Give a waiting task to another assistant. Raises BadInput where that one has too much to do."""
        self._waiting(job_id)
        agent = self._directory.agent(agent_id)
        if agent is None:
            raise NotFound("assistant_not_found", assistant=agent_id)
        if not self._slots.can_accept(agent_id):
            raise BadInput("assistant_busy", assistant=agent.name)
        if not self._slots.send(job_id, agent_id):
            raise BadInput("job_stays")

    def give(self, session_id: str, assistant: str) -> None:
        """Give the first task of a session that waits to another assistant, by id or name.
        Raises BadInput where none does.
        """
        for job in self._slots.jobs():
            if job.work.session_id == session_id and job.place is not None and job.work.may_move:
                self.send(job.id, self._directory.taker(assistant).id)
                return
        raise BadInput("nothing_to_give")

    async def hold(self, agent_id: str, held: bool) -> None:
        """Let an assistant begin no further task, also after a restart, or release it; running tasks go on.

        Raises StorageError; then nothing has changed.
        """

        def change(settings: Settings) -> Settings:
            others = tuple(item for item in settings.held_back if item != agent_id)
            return replace(settings, held_back=(*others, agent_id) if held else others)

        await self._documents.change_settings(change)
        self._slots.hold(agent_id, held)

    def tell(self, agent_id: str) -> None:
        """Publish how busy an assistant is; other ids, such as those of participants, are ignored."""
        if not self._directory.is_assistant(agent_id):
            return
        running, queued, waiting = self._slots.counts(agent_id)
        changed = AvailabilityChanged(
            session_id="", assistant_id=agent_id, running=running, queued=queued, waiting=waiting
        )
        self._bus.publish(changed)

    def _waiting(self, job_id: str) -> None:
        if not any(job.id == job_id and job.place is not None for job in self._slots.jobs()):
            raise NotFound("job_gone")
