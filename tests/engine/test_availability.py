"""Availability: the invariants I1 to I14 in any order of events, and seeded faults that each break one."""

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import seed as with_seed
from hypothesis.stateful import get_state_machine_test

from app.core.definitions import Busy, role_of
from app.engine.availability import ANYBODY, Availability, Started, Task, Waits, policy_of
from tests.engine.availability_machine import AvailabilityMachine
from tests.engine.mutants import mutant
from tests.repeats import examples, slow_after

MODULE = "app.engine.availability"
MUTANTS = [
    ("len(self.running) < self.limit", "len(self.running) <= self.limit", "I1"),
    ("return desk.free and not desk.waiting and", "return desk.free and", "I4"),
    ("while desk.waiting and desk.free:", "while desk.waiting:", "I1|I13"),
    ("len(desk.waiting) < desk.depth", "len(desk.waiting) <= desk.depth", "I9"),
    ("len(desk.waiting) >= desk.depth", "len(desk.waiting) > desk.depth", "I5|I9"),
    ("self._deadlines[0][0] <= now", "self._deadlines[0][0] < now", "I3"),
    ("desk.running.discard(task_id)", "pass", "I8"),
    ("(*self._freed(gate, now), *self._go_on(task.agent_id, now))", "self._freed(gate, now)", "I2"),
    ("(*self._freed(gate, now), *self._go_on(task.agent_id, now))", "self._go_on(task.agent_id, now)", "I2"),
    ("del desk.waiting[task_id]\n            if not desk", "if not desk", "I8|t[0-9]+"),
    ("move_to_end(task_id, last=False)", "move_to_end(task_id)", "I4|I2"),
    ("return not self.held and", "return", "I13"),
    ("self.limit is None or self.running < self.limit", "True", "a provider that holds one"),
    ("return DEFAULT_DEPTH if", "return 99 if", "I5|I9|I2"),
    ("gate.running -= 1", "pass", "I2"),
    ("return () if busy else tuple(self._go_on(agent_id, now))", "return ()", "I2"),
    ("if len(desk.waiting) == 1 and desk.free:", "if False:", "I2"),
    ("                effects += self._go_on(agent_id, now)\n        return", "        return", "I2"),
    ("desk.policy = policy\n", "pass\n", "I[0-9]+"),
    ("desk.policy = policy\n", "desk.policy = policy\n                desk.waiting.clear()\n", "I4|I14"),
    ("= max(gate.paused_until, until)", "= until", "pause"),
]


def _play(seed: int, examples: int) -> None:
    play = get_state_machine_test(
        AvailabilityMachine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=40,
            deadline=None,
            database=None,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        ),
    )
    with_seed(seed)(play)()


@pytest.mark.repeats
def test_the_invariants_hold() -> None:
    _play(0, examples(100))


@pytest.mark.parametrize(("old", "new", "broken"), slow_after(2, MUTANTS))
def test_a_seeded_fault_is_caught(old: str, new: str, broken: str) -> None:
    with mutant(MODULE, old, new), pytest.raises((AssertionError, KeyError), match=broken):
        _play(0, 1_500)


@pytest.mark.parametrize(
    ("text", "role"),
    [("PO", "po"), ("Product Owner", "po"), ("Support", "support"), ("Reporter", "reporter"), ("Component dev", "component dev"), ("백엔드", "be")],
)  # fmt: skip
def test_a_role_matches_whole_or_not_at_all(text: str, role: str) -> None:
    assert role_of(text) == role


def test_the_seed_s_defaults() -> None:
    assert policy_of(None, "PM") == Busy(strategy="queue", depth=5)
    assert policy_of(None, "Designer").timeout_s == 60.0
    assert policy_of(None, "QA").limit == 2
    assert policy_of(None, "Poet") == ANYBODY
    assert policy_of(Busy(strategy="reject"), "PO").strategy == "reject"


def test_an_idle_assistant_starts_what_comes_at_once() -> None:
    core = Availability(lambda _: Busy(strategy="queue"))
    first, second = (Task(id=name, agent_id="a") for name in "xy")
    assert core.enqueue(first, 0) == (Started(first),)
    assert core.enqueue(second, 0) == (Waits(second, 0, None),)
    assert core.finish("x", 1) == (Started(second),)
