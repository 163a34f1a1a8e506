"""The loop of a group and its plan under everything at once, and the proof that the play would notice a fault."""

import asyncio

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as with_seed
from hypothesis import strategies as st

from tests.engine.group_machine import ACTIONS, GroupPlay
from tests.engine.mutants import mutant
from tests.repeats import examples, slow_after

STEPS = st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 50)), min_size=10, max_size=25)

MUTANTS = [
    pytest.param("app.tools.planning", "if plan is not None and plan.open:", "if False:", "P5", id="replaces-an-open-plan"),
    pytest.param("app.core.criteria", "done=self.done or all(", "done=not self.done and all(", "P5|P6", id="a-tick-is-a-toggle"),
    pytest.param("app.tools.planning", "    context.change_plan(None)\n", "", "P5", id="clears-nothing"),
    pytest.param("app.tools.planning", "if not 0 <= index < len(plan.items):", "if index >= len(plan.items):", "P6", id="ticks-from-the-end"),
    pytest.param("app.tools.planning", "done=False, by=", "done=True, by=", "P5|P6", id="a-toggle-is-a-tick"),
    pytest.param("app.engine.turns.tool_calls", "if ended_by and call.id in missing and not goes_along:", "if False:", "P9", id="runs-what-is-behind-the-end"),
    pytest.param("app.engine.turns.tool_calls", "if any(result.control == Control.END for result in results):", "if False:", "P3", id="goes-on-after-the-end"),
    pytest.param("app.engine.turns.tool_calls", "Outcome(TurnState.WAITING) if any(result.asks for result in results) else None", "None", "P3", id="does-not-wait-for-the-user"),
    pytest.param("app.engine.turns.tool_calls", '{"plan": plan[0]} if plan else {}', "{}", "P5", id="the-plan-is-not-kept"),
    pytest.param("app.engine.group.director", "last = used + 1 >= session.group.turns_limit", "last = False", "P2", id="the-last-turn-is-like-any"),
    pytest.param("app.engine.group.director", "if not led or (handed is not None and", "if True or (handed is not None and", "P4", id="answers-itself"),
    pytest.param("app.engine.group.director", "if used < session.group.turns_limit else rest", "if False else rest", "P4", id="the-answer-does-not-come-back"),
    pytest.param("app.engine.request", "message.error is not None and turn.kind == ORCHESTRATOR", "False", "P12", id="a-failure-is-silence"),
    pytest.param("app.engine.chat.commands", "if not message.asks:", "if False:", "P11", id="an-answer-counts-twice"),
]  # fmt: skip


def _play(*, seed: int, examples: int) -> None:
    loop = asyncio.new_event_loop()

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @with_seed(seed)
    @given(number=st.integers(0, 100_000), steps=STEPS)
    def play_it(number: int, steps: list[tuple[str, int]]) -> None:
        play = GroupPlay(loop, number)
        try:
            play.check()
            for action, place in steps:
                getattr(play, action)(place)
                play.check()
        finally:
            play.close()

    try:
        play_it()
    finally:
        loop.close()


@pytest.mark.repeats
@pytest.mark.allow_logs
@pytest.mark.allow_blocking
def test_the_invariants_hold() -> None:
    _play(seed=0, examples=examples(30))


@pytest.mark.allow_logs
@pytest.mark.allow_blocking
@pytest.mark.parametrize(("module", "old", "new", "broken"), slow_after(2, MUTANTS))
def test_a_seeded_fault_is_caught(module: str, old: str, new: str, broken: str) -> None:
    with mutant(module, old, new), pytest.raises(AssertionError, match=broken):
        _play(seed=0, examples=200)
