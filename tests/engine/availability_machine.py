"""Tasks that come, end, are cancelled and time out in any order, and what must hold whatever happens.

Used by test_availability; a model of its own says what each policy promises.
"""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from app.core.definitions import Busy
from app.core.session import Reason
from app.engine.availability import (
    DEFAULT_DEPTH,
    Availability,
    Effect,
    Refusal,
    Refused,
    Started,
    Task,
    Waits,
)

POLICIES: dict[str, Busy] = {
    "wait": Busy(strategy="wait", timeout_s=5.0),
    "queue": Busy(strategy="queue", depth=2),
    "parallel": Busy(strategy="parallel", limit=2),
    "shallow": Busy(strategy="parallel", limit=1, depth=1),
    "reject": Busy(strategy="reject"),
}
PROVIDERS = {"free": None, "single": 1}
LIMITS = {"wait": 1, "queue": 1, "parallel": 2, "shallow": 1, "reject": 1}
DEPTHS = {"wait": None, "queue": 2, "parallel": DEFAULT_DEPTH, "shallow": 1, "reject": 0}


class AvailabilityMachine(RuleBasedStateMachine):
    """Five assistants, two providers, and a clock that only goes on."""

    def __init__(self) -> None:
        super().__init__()
        # Which of the policies each has now; the most that may run and wait where it once had another.
        self.rules = {name: name for name in POLICIES}
        self.most = dict.fromkeys(POLICIES, (0, 0))
        self.core = Availability(lambda name: POLICIES[self.rules[name]], lambda name: PROVIDERS[name])
        self.now = 0.0
        self.tasks: dict[str, Task] = {}
        self.running: set[str] = set()
        self.waiting: dict[str, float | None] = {}
        self.order: dict[str, list[str]] = {name: [] for name in POLICIES}
        self.ended: dict[str, str] = {}
        self.held: set[str] = set()
        self.paused = 0.0

    def _take(self, effects: tuple[Effect, ...]) -> None:
        for effect in effects:
            task = effect.task
            assert task.id not in self.ended, "I7: something happens to a task that has ended"
            if isinstance(effect, Started):
                assert task.id not in self.running, "I7: a task starts twice"
                assert task.agent_id not in self.held, "I13: a task starts at an assistant that is held back"
                shut = task.provider == "single" and self.paused > self.now
                assert not shut, "a task starts in its provider's pause"
                queue = self.order[task.agent_id]
                if task.id in self.waiting:
                    assert queue[0] == task.id, "I4: a task overtakes another"
                    queue.pop(0)
                    deadline = self.waiting.pop(task.id)
                    assert deadline is None or deadline > self.now, "I3: a task starts after its time"
                else:
                    assert not queue, "I4: a new task overtakes one that waits"
                self.running.add(task.id)
            elif isinstance(effect, Waits):
                assert effect.place == len(self.order[task.agent_id]), "I8: the place is wrong"
                self.order[task.agent_id].append(task.id)
                self.waiting[task.id] = effect.deadline
            else:
                if effect.reason == Refusal.TIMED_OUT:
                    deadline = self.waiting.pop(task.id)
                    assert deadline is not None and deadline <= self.now, "I3: given up before its time"
                    self.order[task.agent_id].remove(task.id)
                self.ended[task.id] = effect.reason

    @rule(agent_id=st.sampled_from(sorted(POLICIES)), provider=st.sampled_from(sorted(PROVIDERS)))
    def comes(self, agent_id: str, provider: str) -> None:
        task = Task(id=f"t{len(self.tasks)}", agent_id=agent_id, provider=provider)
        accepts = self.core.can_accept(agent_id, self.now, provider)
        waiting = len(self.order[agent_id])
        self.tasks[task.id] = task
        effects = self.core.enqueue(task, self.now)
        refused = any(isinstance(one, Refused) and one.task == task for one in effects)
        assert accepts is not refused, "I9: can_accept says otherwise"
        for one in effects:
            if isinstance(one, Refused) and one.task == task:
                depth = DEPTHS[self.rules[agent_id]]
                assert depth is not None, "I3: a task that may wait is refused"
                assert waiting >= depth, "I5: refused though there is room"
                assert one.reason == (Reason.BUSY if self.rules[agent_id] == "reject" else Refusal.QUEUE_FULL)
        self._take(effects)

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def ends(self, data: st.DataObject) -> None:
        task_id = data.draw(st.sampled_from(sorted(self.running)))
        self.running.discard(task_id)
        self.ended[task_id] = "done"
        self._take(self.core.finish(task_id, self.now))
        assert self.core.finish(task_id, self.now) == (), "I11: an end that is said twice does something"

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def is_cancelled(self, data: st.DataObject) -> None:
        task_id = data.draw(st.sampled_from(sorted(self.waiting)))
        self.waiting.pop(task_id)
        self.order[self.tasks[task_id].agent_id].remove(task_id)
        self.ended[task_id] = "cancelled"
        self._take(self.core.finish(task_id, self.now))

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def goes_to_the_front(self, data: st.DataObject) -> None:
        task_id = data.draw(st.sampled_from(sorted(self.waiting)))
        queue = self.order[self.tasks[task_id].agent_id]
        queue.remove(task_id)
        queue.insert(0, task_id)
        self._take(self.core.move_to_front(task_id, self.now))

    @rule(agent_id=st.sampled_from(sorted(POLICIES)))
    def is_held_back_or_let_go(self, agent_id: str) -> None:
        busy = agent_id not in self.held
        self.held.symmetric_difference_update({agent_id})
        self._take(self.core.set_busy(agent_id, busy, self.now))

    @rule(number=st.integers(0, 99), policy=st.sampled_from(sorted(POLICIES)))
    def has_another_policy(self, number: int, policy: str) -> None:
        # Of somebody who is waited for, where anybody is: there it matters.
        agents = sorted(one for one in POLICIES if self.order[one]) or sorted(POLICIES)
        agent_id = agents[number % len(agents)]
        running = {one for one in self.running if self.tasks[one].agent_id == agent_id}
        order, deadlines = list(self.order[agent_id]), dict(self.waiting)
        self.most[agent_id] = len(running), len(order)
        self.rules[agent_id] = policy
        effects = self.core.renew(self.now)
        assert all(isinstance(one, Started) for one in effects), (
            "I14: another policy refuses what it had taken"
        )
        self._take(effects)
        assert running <= set(self.core.running(agent_id)), "I14: another policy cuts what runs"
        begun = len(order) - len(self.order[agent_id])
        assert self.order[agent_id] == order[begun:], "I14: another policy changes the order"
        assert self.waiting.items() <= deadlines.items(), "I14: another policy changes how long one waits"

    @rule(seconds=st.sampled_from((1.0, 4.0, 10.0)))
    def provider_asks_to_wait(self, seconds: float) -> None:
        self.paused = max(self.paused, self.now + seconds)
        self.core.pause_provider("single", self.now + seconds)

    @rule(seconds=st.sampled_from((0.5, 2.0, 5.0, 11.0)))
    def time_goes_on(self, seconds: float) -> None:
        due = self.core.next_moment()
        self.now += seconds
        effects = self.core.tick(self.now)
        if effects:
            assert due is not None and due <= self.now, "something was due that next_moment did not say"
        self._take(effects)
        assert not any(d is not None and d <= self.now for d in self.waiting.values()), (
            "I3: waits past its time"
        )

    @invariant()
    def slots_and_queues_are_what_they_promise(self) -> None:
        for agent_id in POLICIES:
            running = {one for one in self.running if self.tasks[one].agent_id == agent_id}
            assert set(self.core.running(agent_id)) == running, "I8: a task is in two places"
            assert list(self.core.waiting(agent_id)) == self.order[agent_id], "I4: the order is another"
            limit, depth = LIMITS[self.rules[agent_id]], DEPTHS[self.rules[agent_id]]
            ran, waited = self.most[agent_id]
            assert len(running) <= max(limit, ran), "I1: too many at once"
            assert depth is None or len(self.order[agent_id]) <= max(depth, waited), (
                "I5: the queue is too long"
            )
            self.most[agent_id] = min(ran, len(running)), min(waited, len(self.order[agent_id]))
        single = [one for one in self.running if self.tasks[one].provider == "single"]
        assert len(single) <= 1, "a provider that holds one has more"

    @invariant()
    def nobody_is_idle_while_work_waits(self) -> None:
        single = sum(self.tasks[one].provider == "single" for one in self.running)
        for agent_id, queue in self.order.items():
            if not queue or agent_id in self.held:
                continue
            running = sum(self.tasks[one].agent_id == agent_id for one in self.running)
            shut = self.tasks[queue[0]].provider == "single" and (single or self.paused > self.now)
            assert running >= LIMITS[self.rules[agent_id]] or shut, (
                "I2, I10: work waits for somebody who is free"
            )
