"""A workflow's director: which steps are ready, and what the end of one means to the others; pure.

Asked by the workflow's run and its commands.
"""

from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import replace

from app.core import definitions
from app.core.definitions import STEP_ENDED, StepState, StepStatus, WorkflowDefinition, dependents
from app.core.session import Reason
from app.engine.director import Ask, Call, Decision, Finish, Halt, Wait

Steps = tuple[StepState, ...]


def call_id(state: StepState) -> str:
    """Return the id of the call that a step's attempt answers."""
    return f"{state.id}.{state.attempt}"


def begun(definition: WorkflowDefinition) -> Steps:
    """Return the steps of a new instance."""
    return settled(definition, tuple(StepState(id=step.id) for step in definition.steps))


def settled(definition: WorkflowDefinition, states: Sequence[StepState]) -> Steps:
    """Return the steps with the consequences of their states: those that can begin are ready, those that a
    skip or a stop keeps from it are skipped with the reason `blocked`, and those behind a failed one stay
    pending.
    """
    by_id = {state.id: state for state in states}
    after = dependents(definition)
    steps = {step.id: step for step in definition.steps}
    # A step is visited once all before it have ended, so a chain of any length takes one pass.
    ended = {state.id for state in states if state.state in STEP_ENDED and state.state != StepStatus.FAILED}
    open_before = {step.id: len({*step.depends_on} - ended) for step in definition.steps}
    for step in definition.steps:
        if open_before[step.id] and by_id[step.id].state == StepStatus.READY:
            # A step it depends on is retried.
            by_id[step.id] = replace(by_id[step.id], state=StepStatus.PENDING, reason="")
    due = deque(step.id for step in definition.steps if not open_before[step.id])
    while due:
        step_id = due.popleft()
        state = by_id[step_id]
        if state.state in (StepStatus.PENDING, StepStatus.READY):
            blocked = any(_blocks(steps[one].when_skipped, by_id[one]) for one in steps[step_id].depends_on)
            by_id[step_id] = replace(state, state=StepStatus.READY)
            if blocked:
                by_id[step_id] = replace(state, state=StepStatus.SKIPPED, reason=Reason.BLOCKED)
                for item in after.get(step_id, ()):
                    open_before[item] -= 1
                    if not open_before[item]:
                        due.append(item)
    return tuple(by_id[state.id] for state in states)


def _blocks(when_skipped: str, state: StepState) -> bool:
    blocks = when_skipped == definitions.WhenSkipped.BLOCKS or state.reason == Reason.BLOCKED
    return state.state == StepStatus.CANCELLED or (state.state == StepStatus.SKIPPED and blocks)


def decide(states: Sequence[StepState], at_work: Collection[str]) -> Decision:
    """Return what comes next in a workflow whose steps are settled; `at_work` are the ids of running
    steps.
    """
    ready = tuple(state.id for state in states if state.state == StepStatus.READY and state.id not in at_work)
    if ready:
        return Call(ready)
    if at_work:
        return Wait()
    if all(state.state in (StepStatus.DONE, StepStatus.SKIPPED) for state in states):
        return Finish()
    if any(state.state == StepStatus.WAITING for state in states):
        return Ask()
    failed = any(state.state == StepStatus.FAILED for state in states)
    return Halt(Reason.STEP_FAILED if failed else Reason.BY_USER)


def changes(before: Sequence[StepState], after: Sequence[StepState]) -> Steps:
    """Return the steps that are not as they were before."""
    return tuple(new for new, old in zip(after, before, strict=True) if new != old)


def with_step(definition: WorkflowDefinition, states: Sequence[StepState], state: StepState) -> Steps:
    """Return the steps with one in another state; the steps it had blocked are settled again."""
    again = reopened(definition, states, state.id)
    return settled(definition, tuple(state if item.id == state.id else item for item in again))


def last_workers(definition: WorkflowDefinition) -> set[str]:
    """Return the steps behind which there are gates alone."""
    after, gates = dependents(definition), {step.id for step in definition.steps if step.gate}

    def leads_on(step_id: str) -> bool:
        return any(item not in gates or leads_on(item) for item in after.get(step_id, ()))

    return {step.id for step in definition.steps if step.id not in gates and not leads_on(step.id)}


def last_again(definition: WorkflowDefinition, states: Steps) -> tuple[StepState, ...]:
    """Return the steps with those to be taken again that were done last."""
    after, done = dependents(definition), {state.id for state in states if state.state == StepStatus.DONE}
    for step_id in done:
        if not done.intersection(after.get(step_id, ())):
            states = reopened(definition, states, step_id)
    return states


def reopened(definition: WorkflowDefinition, states: Sequence[StepState], step_id: str) -> Steps:
    """Return the steps with one to be retried, and those it had blocked pending; finished steps stay,
    but for gates.
    """
    after = dependents(definition)
    gates = {step.id for step in definition.steps if step.gate}
    again = {step_id}
    due = deque([step_id])
    by_id = {state.id: state for state in states}
    while due:
        for item in after.get(due.popleft(), ()):
            state = by_id[item]
            blocked = state.state == StepStatus.SKIPPED and state.reason == Reason.BLOCKED
            passed = item in gates and state.state in (StepStatus.DONE, StepStatus.FAILED)
            if item not in again and (blocked or passed):
                again.add(item)
                due.append(item)
    for item in again:
        by_id[item] = replace(by_id[item], state=StepStatus.PENDING, reason="", turn_id="", asked_again=False)
    return settled(definition, tuple(by_id.values()))
