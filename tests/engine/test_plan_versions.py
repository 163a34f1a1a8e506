"""The plan goes with the version of the conversation that is shown: what a retry drops did nothing to it."""

from pathlib import Path

import pytest

from app.core.criteria import Plan, PlanItem
from app.core.errors import FailureKind, ProviderError
from app.core.message import MessageState, Role
from tests.builders import Bench, Script
from tests.engine.test_group import a_plan, acting, bench, run
from tests.engine.test_turn import calling

STEPS = ["Design", "Build", "Test", "Ship"]
PLANNED = calling(("setPlan", {"items": STEPS}))
FAILED: Script = [ProviderError(FailureKind.AUTHENTICATION, "401")]
OPEN = [(step, False) for step in STEPS]


def results(made: Bench, session_id: str) -> list[tuple[str, str]]:
    """Return the results of the version shown: the state and the first line of each."""
    live = made.engine.live(session_id)
    assert live is not None
    shown = (one for one in live.shown() if one.role == Role.TOOL)
    return [(one.state, one.content.splitlines()[0]) for one in shown]


async def retry(made: Bench, session_id: str) -> None:
    await made.engine.chats.retry(session_id, made.messages(session_id)[-1].id)
    await made.engine.wait(session_id)


@pytest.mark.parametrize("how", ["retry", "restart", "edit"])
async def test_what_is_tried_again_plans_as_if_for_the_first_time(tmp_path: Path, how: str) -> None:
    script = acting(PLANNED, FAILED, PLANNED)
    made = bench(tmp_path, script)
    session_id = await run(made)
    assert made.messages(session_id)[-1].state == MessageState.FAILED
    assert a_plan(made, session_id) == OPEN
    if how == "restart":
        await made.engine.shutdown()
        made = bench(tmp_path, script)
        await made.engine.open(session_id)
    if how == "edit":
        await made.engine.chats.edit(session_id, made.messages(session_id)[0].id, "Ship it today.")
        await made.engine.wait(session_id)
    else:
        await retry(made, session_id)
    assert results(made, session_id) == [("done", "The plan is set."), ("done", "The user has the result.")]
    assert a_plan(made, session_id) == OPEN


async def test_the_plan_before_comes_back_and_each_version_has_its_own(tmp_path: Path) -> None:
    first = calling(("setPlan", {"items": ["Ask"]}), ("checkDone", {"index": 0}))
    report = calling(("reportResult", {"result_in_detail": "Asked."}))
    made = bench(tmp_path, acting(first, report, PLANNED, FAILED, report))
    session_id = await run(made)
    await made.engine.chats.send(session_id, "Now ship it.")
    await made.engine.wait(session_id)
    failed = made.messages(session_id)[-1]
    assert a_plan(made, session_id) == OPEN
    await retry(made, session_id)
    assert a_plan(made, session_id) == [("Ask", True)], "the new turn made none"
    await made.engine.chats.choose_version(session_id, failed.turn_id)
    assert a_plan(made, session_id) == OPEN


async def test_a_plan_that_the_user_changed_stays(tmp_path: Path) -> None:
    made = bench(tmp_path, acting(PLANNED, FAILED))
    session_id = await run(made)
    await made.engine.groups.change_plan(session_id, Plan(items=(PlanItem(text="Mine"),)))
    await retry(made, session_id)
    assert a_plan(made, session_id) == [("Mine", False)]
