"""The workflow core: W1 to W12 in any order of events, against graphlib, and seeded faults that each break one."""

from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as with_seed
from hypothesis import strategies as st

from app.core.definitions import WorkflowDefinition, WorkflowStep, faults
from app.engine.library.definitions import read_built_in
from app.engine.workflow.commands import by_keyword, choice_of
from tests.engine.mutants import mutant
from tests.engine.workflow_machine import Action, Instance, actions, definitions
from tests.repeats import examples, slow_after

MODULE = "app.engine.workflow.director"
BUILT_IN = read_built_in(Path(__file__).parents[2] / "resources" / "workflows", WorkflowDefinition)["en"]
MUTANTS = [
    ("state.state == StepStatus.CANCELLED or ", ""),
    (" and state.state != StepStatus.FAILED}", "}"),
    (
        "when_skipped == definitions.WhenSkipped.BLOCKS or state.reason == Reason.BLOCKED",
        "when_skipped == definitions.WhenSkipped.BLOCKS",
    ),
    (
        "when_skipped == definitions.WhenSkipped.BLOCKS or state.reason == Reason.BLOCKED",
        "state.reason == Reason.BLOCKED",
    ),
    ("if blocked:", "if False:"),
    ("if state.state in STEP_ENDED and", "if state.state == 'done' and"),
    ("blocked = any(", "blocked = all("),
    (
        "state.state == StepStatus.SKIPPED and state.reason == Reason.BLOCKED\n",
        "state.state == StepStatus.SKIPPED\n",
    ),
    ("again.add(item)\n                due.append(item)", "again.add(item)"),
    ("again = {step_id}", "again = set()"),
    ("return settled(definition, tuple(by_id.values()))", "return tuple(by_id.values())"),
    ("again = reopened(definition, states, state.id)", "again = states"),
    ("len({*step.depends_on} - ended)", "sum(item not in ended for item in step.depends_on)"),
    ("if open_before[step.id] and by_id[step.id].state == StepStatus.READY:", "if False:"),
    (
        "if state.state in (StepStatus.PENDING, StepStatus.READY):",
        "if state.state in (StepStatus.PENDING, StepStatus.READY, StepStatus.FAILED):",
    ),
]


def _play(seed: int, examples: int) -> None:
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(definitions(), actions)
    def played(definition: WorkflowDefinition, listed: list[Action]) -> None:
        Instance(definition).play(listed)

    with_seed(seed)(played)()


@pytest.mark.repeats
def test_every_step_is_what_follows_of_those_before_it() -> None:
    _play(0, examples(200))


@pytest.mark.parametrize(("old", "new"), slow_after(2, MUTANTS))
def test_a_seeded_fault_is_caught(old: str, new: str) -> None:
    with mutant(MODULE, old, new), pytest.raises((AssertionError, KeyError)):
        _play(0, 400)


@settings(deadline=None, max_examples=examples(300))
@given(st.integers(1, 7).flatmap(lambda size: st.lists(
    st.lists(st.integers(0, size - 1), max_size=3), min_size=size, max_size=size)))  # fmt: skip
def test_a_cycle_is_found_where_graphlib_finds_one(before: list[list[int]]) -> None:
    graph = {str(place): [str(one) for one in some] for place, some in enumerate(before)}
    steps = tuple(
        WorkflowStep(id=name, name=name, role="qa", prompt="", depends_on=tuple(after))
        for name, after in graph.items()
    )
    found = faults(WorkflowDefinition(id="g", name="G", steps=steps))
    try:
        TopologicalSorter(graph).prepare()
    except CycleError:
        assert {one.code for one in found} & {"cycle", "depends_on_itself"}
        for one in found:
            if one.code == "cycle":
                ring = one.detail.split(" > ")
                assert ring[0] == ring[-1]
                assert all(a in graph[b] for a, b in zip(ring, ring[1:], strict=False))
    else:
        assert found == []


@settings(deadline=None, max_examples=examples(200))
@given(st.lists(st.sampled_from(("prefix", "address", "debugger", "hello", "노래", "오류동", "rebuild", "{}", "fixture")), max_size=6))  # fmt: skip
def test_an_unknown_command_is_never_given_a_workflow(words: list[str]) -> None:
    if "오류동" not in words:
        assert by_keyword(" ".join(words), BUILT_IN) is None
    assert choice_of(" ".join(words), BUILT_IN) is None
