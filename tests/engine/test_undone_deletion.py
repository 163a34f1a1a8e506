"""Undoing a deletion never replaces what has come back since."""

from pathlib import Path

import pytest

from app.core.definitions import Agent, Group, WorkflowDefinition, WorkflowStep
from app.core.errors import BadInput
from tests.builders import a_bench, a_log_store


async def test_a_definition_that_exists_again_is_not_replaced(data_dir: Path) -> None:
    engine = a_bench(a_log_store(data_dir)).engine
    ada = Agent(id="ada", name="Ada")
    crew = Group(id="crew", name="Crew", members=("ada",))
    work = WorkflowDefinition(
        id="work", name="Work", steps=(WorkflowStep(id="s", name="S", role="PO", prompt="Do it."),)
    )
    for commands, one in ((engine.assistants, ada), (engine.groups, crew), (engine.workflows, work)):
        await commands.save(one)
        before = commands.find(one.id)
        await commands.delete(one.id)
        await commands.restore(before)
        now = commands.find(one.id)
        with pytest.raises(BadInput, match="bin_place_taken"):
            await commands.restore(before)
        assert commands.find(one.id) == now
    await engine.shutdown()
