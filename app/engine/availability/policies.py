"""Which assistants are free: a pure core, which every run asks through `slots`; it has no clock and never waits.

Each assistant takes a number of tasks at once; further tasks wait, queue or are refused, as its policy says. A
provider may allow fewer, and may have to pause. Every operation returns its effects.
"""

import heapq
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from app.core.agent import Busy
from app.core.reasons import Reason
from app.core.roles import ROLES, role_of

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


# The start of the id of a temporary assistant, made for a role that no assistant has.
MADE_FOR: Final = "role-"

ANYBODY = Busy(strategy=Strategy.PARALLEL, limit=8, depth=100)

# The default policies of roles.
_ROLES: dict[str, Busy] = {
    "po": Busy(strategy=Strategy.QUEUE, depth=3),
    "pm": Busy(strategy=Strategy.QUEUE, depth=5),
    "designer": Busy(strategy=Strategy.WAIT, timeout_s=60.0),
    "architect": Busy(strategy=Strategy.WAIT, timeout_s=60.0),
    "fe": Busy(strategy=Strategy.PARALLEL, limit=2, depth=3),
    "be": Busy(strategy=Strategy.PARALLEL, limit=2, depth=3),
    "qa": Busy(strategy=Strategy.PARALLEL, limit=2, depth=3),
}


def known_roles() -> frozenset[str]:
    """Return the roles for which a temporary assistant can be made where no assistant has them."""
    return frozenset(ROLES)


def policy_of(busy: Busy | None, role: str) -> Busy:
    """Return an assistant's policy: its own, its role's, or else several tasks at once."""
    if busy is not None:
        return busy
    return _ROLES.get(role_of(role), ANYBODY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task of an assistant; `provider` is the provider of the model it needs."""

    id: str
    agent_id: str
    provider: str = ""


@dataclass(frozen=True, slots=True)
class Started:
    """The task runs now."""

    task: Task


@dataclass(frozen=True, slots=True)
class Waits:
    """The task waits; `place` counts from 0, `deadline` is when it gives up (None: never).

    `held` says that its assistant is held back.
    """

    task: Task
    place: int
    deadline: float | None = None
    held: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """The task will not run: `reason` is a Refusal."""

    task: Task
    reason: str


Effect = Started | Waits | Refused


@dataclass(slots=True)
class _Desk:
    """The tasks of one assistant: what runs, what waits (in order, with deadlines), and how many run at once."""

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


class Availability:
    """The assistants' slots; `policy` gives an assistant's rules, `limit` a provider's number of calls at once,
    `held` whether an assistant is held back from the start.
    """

    def __init__(
        self,
        policy: Callable[[str], Busy],
        limit: Callable[[str], int | None] = lambda _: None,
        held: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._policy = policy
        self._limit = limit
        self._held = held
        self._desks: dict[str, _Desk] = {}
        self._gates: dict[str, _Gate] = {}
        self._tasks: dict[str, Task] = {}
        # The deadlines of tasks; a task that has stopped waiting stays in it until its deadline.
        self._deadlines: list[tuple[float, str]] = []
        self._seen = 0.0

    def can_accept(self, agent_id: str, now: float, provider: str = "") -> bool:
        """Say whether `enqueue` would not refuse a task of this assistant."""
        desk = self._desk(agent_id)
        return (
            desk.depth is None or self._starts_at_once(desk, provider, now) or len(desk.waiting) < desk.depth
        )

    def enqueue(self, task: Task, now: float) -> tuple[Effect, ...]:
        """Take a task: it starts, waits or is refused. `now` is monotonic, in seconds."""
        desk = self._desk(task.agent_id)
        if self._starts_at_once(desk, task.provider, now):
            self._tasks[task.id] = task
            return (self._start(desk, task),)
        if desk.depth is not None and len(desk.waiting) >= desk.depth:
            return (
                Refused(task, Reason.BUSY if desk.policy.strategy == Strategy.REJECT else Refusal.QUEUE_FULL),
            )
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
        """Apply changed policies to what comes next. Running and waiting tasks keep their order and deadlines; a larger limit
        lets the next of them begin.
        """
        effects: list[Effect] = []
        for agent_id, desk in list(self._desks.items()):
            policy = self._policy(agent_id)
            if policy != desk.policy:
                desk.policy = policy
                effects += self._go_on(agent_id, now)
        return tuple(effects)

    def is_held(self, agent_id: str) -> bool:
        """Say whether an assistant is held back."""
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
        moments += [
            gate.paused_until
            for gate in self._gates.values()
            if gate.blocked and gate.paused_until > self._seen
        ]
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
            if not self._is_open(task.provider, now):
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
        return desk.free and not desk.waiting and self._is_open(provider, now)

    def _is_open(self, provider: str, now: float) -> bool:
        return self._gate(provider).is_open(now)

    def _desk(self, agent_id: str) -> _Desk:
        desk = self._desks.get(agent_id)
        if desk is None:
            desk = self._desks[agent_id] = _Desk(self._policy(agent_id), held=self._held(agent_id))
        return desk

    def _gate(self, provider: str) -> _Gate:
        gate = self._gates.get(provider)
        if gate is None:
            gate = self._gates[provider] = _Gate(self._limit(provider) if provider else None)
        return gate
