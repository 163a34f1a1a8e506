"""Two changes of one definition are put together field by field."""

from dataclasses import replace

import pytest

from app.core.definitions import Agent, Group, Leader, WorkflowDefinition, WorkflowStep
from app.engine.library.definitions import merged

AGENT = Agent(id="a", name="A", provider="openai", model="small", tools=("web", "fetch"), version=3)


@pytest.mark.parametrize(
    ("mine", "theirs", "result", "clash"),
    [
        ({"name": "B"}, {"role": "QA", "version": 4}, {"name": "B", "role": "QA", "version": 4}, False),
        ({}, {"name": "B"}, {"name": "B"}, False),
        ({"name": "B"}, {"name": "B"}, {"name": "B"}, False),
        ({"name": "B"}, {"name": "C"}, {"name": "B"}, True),
        ({"tools": ("fetch", "x")}, {"tools": ("web", "fetch", "y")}, {"tools": ("fetch", "x", "y")}, False),
        ({"tools": ("fetch", "web")}, {"name": "B"}, {"tools": ("fetch", "web"), "name": "B"}, False),
        ({"model": "large"}, {"provider": "groq"}, {"model": "large"}, True),
        ({"model": "large"}, {"name": "B"}, {"model": "large", "name": "B"}, False),
    ],
)
def test_fields_of_both_sides_are_kept(mine, theirs, result, clash):
    found = merged(AGENT, replace(AGENT, **mine), replace(AGENT, **theirs))
    assert found == (replace(AGENT, **result), clash)


def test_what_is_inside_a_field_is_put_together_too():
    group = Group(id="g", name="G", orchestrator=Leader(provider="openai", model="small", effort="low"))
    mine = replace(group, orchestrator=replace(group.orchestrator, effort="high"))
    theirs = replace(group, orchestrator=replace(group.orchestrator, model="large"))
    both = replace(group, orchestrator=Leader(provider="openai", model="large", effort="high"))
    assert merged(group, mine, theirs) == (both, False)
    steps = tuple(WorkflowStep(id=one, name=one, role="PM", prompt="") for one in "ab")
    flow = WorkflowDefinition(id="w", name="W", steps=steps)
    one, other = replace(flow, steps=steps[:1]), replace(flow, steps=steps[1:])
    assert merged(flow, one, other) == (one, True)
