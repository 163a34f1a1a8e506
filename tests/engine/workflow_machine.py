"""Workflows that anything happens to, in any order, against an oracle that derives each step from scratch.

Used by test_workflow_machine; the lists of actions are drawn up front, so that a failing one reads well.
"""

from collections.abc import Sequence
from dataclasses import replace
from graphlib import TopologicalSorter

from hypothesis import strategies as st

from app.core.definitions import (
    STEP_ENDED,
    StepState,
    StepStatus,
    WhenSkipped,
    WorkflowDefinition,
    WorkflowStep,
)
from app.engine.workflow.director import begun, reopened, with_step

Action = tuple[str, int]

KINDS = (
    "begin",
    "begin",
    "begin",
    "done",
    "done",
    "fail",
    "asks",
    "skip",
    "retry",
    "accept",
    "cancel",
    "stop",
)
actions = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 7)), min_size=15, max_size=60)


@st.composite
def definitions(draw: st.DrawFn) -> WorkflowDefinition:
    """Draw a graph without a cycle; a dependency may stand there twice."""
    steps = []
    for number in range(draw(st.integers(2, 8))):
        before = draw(st.lists(st.integers(0, number - 1), max_size=3)) if number else []
        steps.append(
            WorkflowStep(
                id=f"s{number}",
                name="Step",
                role="qa",
                prompt="",
                depends_on=tuple(f"s{one}" for one in before),
                when_skipped=draw(st.sampled_from((WhenSkipped.SATISFIES, WhenSkipped.BLOCKS))),
            )
        )
    return WorkflowDefinition(id="drawn", name="Drawn", steps=tuple(draw(st.permutations(steps))))


class Instance:
    """One workflow, moved by the same functions as its run and commands; `facts` are what has happened."""

    def __init__(self, definition: WorkflowDefinition) -> None:
        self.definition = definition
        self.steps = {step.id: step for step in definition.steps}
        self.order = tuple(
            TopologicalSorter({one.id: one.depends_on for one in definition.steps}).static_order()
        )
        self.states = begun(definition)
        self.facts: dict[str, str] = {}
        self.attempts: set[tuple[str, int]] = set()
        self.check()

    def play(self, played: Sequence[Action]) -> None:
        """Do what can be done of some actions, and look after each."""
        for kind, number in played:
            able = [one for one in self.states if one.state in _FROM[kind]]
            if able:
                getattr(self, f"_{kind}")(able[number % len(able)])
                self.check()
        self._run_out()

    def check(self) -> None:
        """Compare every step with what follows of the facts."""
        expected = self._derived()
        found = {
            one.id: (one.state, one.reason if one.state == StepStatus.SKIPPED else "") for one in self.states
        }
        assert found == expected, "W2, W7: a step is not what follows of those before it"
        assert [one.id for one in self.states] == [one.id for one in self.definition.steps]
        states = {state for state, _ in found.values()}
        if not states & {StepStatus.READY, StepStatus.RUNNING, StepStatus.WAITING, StepStatus.FAILED}:
            assert StepStatus.PENDING not in states, "W9: something waits for ever"

    def _derived(self) -> dict[str, tuple[str, str]]:
        found: dict[str, tuple[str, str]] = {}
        for step_id in self.order:
            fact = self.facts.get(step_id)
            if fact is not None:
                found[step_id] = (fact, "by_user" if fact == StepStatus.SKIPPED else "")
                continue
            before = [(self.steps[one].when_skipped, found[one]) for one in self.steps[step_id].depends_on]
            if any(state not in STEP_ENDED or state == StepStatus.FAILED for _, (state, _) in before):
                found[step_id] = (StepStatus.PENDING, "")
            elif any(
                state == StepStatus.CANCELLED
                or (state == StepStatus.SKIPPED and (when == WhenSkipped.BLOCKS or why == "blocked"))
                for when, (state, why) in before
            ):
                found[step_id] = (StepStatus.SKIPPED, "blocked")
            else:
                found[step_id] = (StepStatus.READY, "")
        return found

    def _put(self, before: StepState, **fields: object) -> None:
        after = replace(before, **fields)  # type: ignore[arg-type]
        self.facts[after.id] = after.state
        self.states = with_step(self.definition, self.states, after)

    def _begin(self, state: StepState) -> None:
        by_id = {one.id: one.state for one in self.states}
        before = self.steps[state.id].depends_on
        assert all(by_id[one] in (StepStatus.DONE, StepStatus.SKIPPED) for one in before), (
            "W2: it starts before its time"
        )
        attempt = (state.id, state.attempt + 1)
        assert attempt not in self.attempts, "W8: an attempt's number is used again"
        self.attempts.add(attempt)
        self._put(state, state=StepStatus.RUNNING, attempt=attempt[1])

    def _done(self, state: StepState) -> None:
        self._put(state, state=StepStatus.DONE)

    def _fail(self, state: StepState) -> None:
        self._put(state, state=StepStatus.FAILED, reason="server")

    def _stop(self, state: StepState) -> None:
        self._put(state, state=StepStatus.CANCELLED, reason="by_user")

    def _asks(self, state: StepState) -> None:
        self._put(state, state=StepStatus.WAITING, reason="no_marker")

    def _accept(self, state: StepState) -> None:
        self._put(state, state=StepStatus.DONE, reason="")

    def _skip(self, state: StepState) -> None:
        self._put(state, state=StepStatus.SKIPPED, reason="by_user")

    def _retry(self, state: StepState) -> None:
        again = tuple(
            replace(one, state=StepStatus.PENDING)
            if one.state == StepStatus.CANCELLED and not one.reason
            else one
            for one in self.states
        )
        with_all = {one.id for one in self.states if one.state == StepStatus.CANCELLED and not one.reason}
        kept = {one.id: one for one in self.states if one.state == StepStatus.DONE and one.id != state.id}
        self.states = reopened(self.definition, again, state.id)
        self.facts = {
            step_id: fact
            for step_id, fact in self.facts.items()
            if step_id != state.id and step_id not in with_all
        }
        assert {one.id: one for one in self.states if one.id in kept} == kept, "what is done is touched"

    def _cancel(self, _: StepState) -> None:
        """End all that has not ended, as a stop does."""
        self.states = tuple(
            one if one.state in STEP_ENDED else replace(one, state=StepStatus.CANCELLED, reason="")
            for one in self.states
        )
        self.facts |= {
            one.id: StepStatus.CANCELLED for one in self.states if one.state == StepStatus.CANCELLED
        }
        blocked = {
            one.id for one in self.states if one.state == StepStatus.SKIPPED and one.reason == "blocked"
        }
        assert not blocked & set(self.facts)

    def _run_out(self) -> None:
        """Let everything that can run be done: it ends, and within as many starts as there are steps."""
        for _ in range(3 * len(self.states)):
            able = [
                one
                for one in self.states
                if one.state in (StepStatus.READY, StepStatus.RUNNING, StepStatus.WAITING)
            ]
            if not able:
                break
            if able[0].state == StepStatus.READY:
                self._begin(able[0])
            else:
                self._done(able[0])
            self.check()
        ended = (*STEP_ENDED, StepStatus.PENDING)
        assert all(one.state in ended for one in self.states), "W7: it does not come to an end"


_FROM: dict[str, tuple[str, ...]] = {
    "begin": (StepStatus.READY,),
    "done": (StepStatus.RUNNING,),
    "fail": (StepStatus.RUNNING,),
    "asks": (StepStatus.RUNNING,),
    "accept": (StepStatus.WAITING,),
    "skip": (
        StepStatus.PENDING,
        StepStatus.READY,
        StepStatus.WAITING,
        StepStatus.FAILED,
        StepStatus.CANCELLED,
    ),
    "retry": (
        StepStatus.FAILED,
        StepStatus.SKIPPED,
        StepStatus.CANCELLED,
        StepStatus.WAITING,
        StepStatus.DONE,
    ),
    "stop": (StepStatus.RUNNING, StepStatus.WAITING),
    "cancel": (StepStatus.READY, StepStatus.RUNNING, StepStatus.WAITING),
}
