"""Workflows: steps that depend on each other, as data; definitions are `workflows/<id>.json`."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from graphlib import CycleError, TopologicalSorter
from typing import Final

WORKFLOW: Final = "workflow"
"""The id of the author that a workflow's own turn has."""

STEP_TOOLS: Final = "step"
"""The group of tools that an assistant has in a step of a workflow."""


class StepStatus(StrEnum):
    """The state of a step of a workflow."""

    PENDING = "pending"
    READY = "ready"
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"


QUEUED: Final = "busy"
"""The reason of a step that waits for a busy assistant."""

STEP_ENDED = (StepStatus.DONE, StepStatus.FAILED, StepStatus.SKIPPED, StepStatus.CANCELLED)

MOST_STEPS: Final = 2_000

# The name of the call that stands for a step's attempt.
STEP: Final = "step"


class WhenSkipped(StrEnum):
    """What skipping a step means to the steps that depend on it."""

    SATISFIES = "satisfies"
    BLOCKS = "blocks"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowStep:
    """One step of a definition: its role, its prompt, and the steps it depends on.

    `when_skipped` says what a skip means to the steps that depend on it: satisfies or blocks.
    """

    id: str
    name: str
    role: str
    prompt: str
    depends_on: tuple[str, ...] = ()
    when_skipped: str = WhenSkipped.SATISFIES


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowDefinition:
    """A kind of work; `keywords` are whole words, in any language, by which a command is recognised."""

    id: str
    name: str
    keywords: tuple[str, ...] = ()
    steps: tuple[WorkflowStep, ...] = ()
    version: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class StepState:
    """The progress of a step.

    `fresh` says that the next run is another attempt; `attempt` counts from 1 and is never used twice; `turn_id` is the turn
    of the attempt, `reason` why it waits, failed or was skipped, `artifacts` what it says it made, `result` its text for the
    steps after it. `started_at` is since when it runs, `seconds` for how long it ran before: waiting does not count.
    """

    id: str
    state: str = StepStatus.PENDING
    attempt: int = 0
    turn_id: str = ""
    assistant_id: str = ""
    reason: str = ""
    artifacts: str = ""
    result: str = ""
    asked_again: bool = False
    fresh: bool = False
    started_at: str = ""
    ended_at: str = ""
    seconds: float = 0.0

    @property
    def queued(self) -> bool:
        """Whether the step waits for a busy assistant; any other that waits needs the user."""
        return self.state == StepStatus.WAITING and self.reason == QUEUED

    @property
    def taken(self) -> bool:
        """Whether an assistant holds the step, or will as soon as it is free."""
        return self.state == StepStatus.RUNNING or self.queued


def put_down(states: Iterable[StepState]) -> tuple[StepState, ...]:
    """Return steps as they are when nobody works: those that were taken, or waited for an assistant, are ready."""
    return tuple(
        replace(state, state=StepStatus.READY, reason="") if state.taken else state for state in states
    )


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault in a definition: a code (`problem.<code>`), the step's place, and a detail."""

    code: str
    place: int | None = None
    field: str = ""
    detail: str = ""


def faults(definition: WorkflowDefinition, roles: Collection[str] | None = None) -> list[Fault]:
    """Return what keeps a definition from running; `roles` are those some assistant has, if that matters."""
    if len(definition.steps) > MOST_STEPS:
        return [Fault("too_many_steps", field="steps", detail=f"{len(definition.steps)} > {MOST_STEPS}")]
    found: list[Fault] = []
    places: dict[str, int] = {}
    for place, step in enumerate(definition.steps):
        if step.id in places:
            found.append(Fault("duplicate_step", place, "id", step.id))
        places.setdefault(step.id, place)
        if roles is not None and step.role.casefold() not in roles:
            found.append(Fault("unknown_role", place, "role", step.role))
    if not definition.steps:
        found.append(Fault("no_steps", field="steps"))
    for place, step in enumerate(definition.steps):
        for one in step.depends_on:
            if one == step.id:
                found.append(Fault("depends_on_itself", place, "depends_on", one))
            elif one not in places:
                found.append(Fault("unknown_dependency", place, "depends_on", one))
    if not found and (circle := _circle(definition)):
        found.append(Fault("cycle", places[circle[0]], "depends_on", " > ".join((*circle, circle[0]))))
    return found


def _circle(definition: WorkflowDefinition) -> list[str]:
    """Return the steps of a cycle, each in front of one that depends on it; empty where there is none."""
    try:
        TopologicalSorter({step.id: step.depends_on for step in definition.steps}).prepare()
    except CycleError as error:
        return list(error.args[1][1:])
    return []


def dependents(definition: WorkflowDefinition) -> dict[str, list[str]]:
    """Return the steps that depend on each step, in order."""
    after: dict[str, list[str]] = {}
    for step in definition.steps:
        for one in dict.fromkeys(step.depends_on):
            after.setdefault(one, []).append(step.id)
    return after
