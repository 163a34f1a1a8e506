"""A limit that ends a run is named: in the session's reason, in its code for scripts, and in the last line."""

from collections.abc import Callable
from pathlib import Path

import pytest

from app.cli.printing.sessions import last_line
from app.core.definitions import Agent, Group, Leader, StepState, WorkflowDefinition
from app.core.provider import ModelRequest
from app.core.session import (
    Chat,
    Session,
    Status,
    WorkflowSession,
    WorkflowState,
    code_of_session,
    reason_code,
    reason_text,
)
from app.core.texts import Texts
from app.engine.session_kinds import session_document
from tests.builders import Bench, Script, a_bench, a_log_store, left_open
from tests.engine.group_tools import TOOLS, hand
from tests.engine.test_sub_agents import who
from tests.engine.test_turn import a_tool, agent, calling

ENGLISH, KOREAN = (
    Texts.load(Path(__file__).parents[2] / "resources" / "i18n", language) for language in ("en", "ko")
)


def bench(tmp_path: Path, answer: Callable[[ModelRequest], Script], *agents: Agent) -> Bench:
    made = a_bench(a_log_store(tmp_path), agents=agents, tools=(a_tool("echo"), *TOOLS))
    made.models.otherwise = answer
    left_open.append(made)
    return made


async def asked(made: Bench) -> str:
    session_id = await made.engine.chats.start("main", "Find out.")
    await made.engine.wait(session_id)
    return session_id


def session_of(made: Bench, session_id: str) -> Session:
    live = made.engine.live(session_id)
    assert live is not None
    document = session_document(live)
    assert document["reason_code"] == code_of_session(live.session)
    return live.session


def steps(request: ModelRequest) -> Script:
    """Use the tool twice, then come to an end."""
    number = sum(one["role"] == "tool" for one in request.messages)
    return calling(("echo", {"number": number})) if number < 2 else ["So far I know this."]


async def test_the_last_answer_of_a_turn_without_steps_left_names_the_limit(tmp_path: Path) -> None:
    made = bench(tmp_path, steps, agent("main", tools=("echo",), max_steps=2))
    session_id = await asked(made)
    session = session_of(made, session_id)
    assert (session.status, session.reason, code_of_session(session)) == (
        Status.PAUSED,
        "steps:2",
        "step_limit",
    )
    assert made.messages(session_id)[-1].content == "So far I know this."
    assert last_line(session, ENGLISH).startswith(
        "Paused at 2 steps. Resume to allow as much again. · Resume with"
    )
    assert "2단계" in last_line(session, KOREAN)
    made.models.otherwise = lambda _: ["Fine."]
    await made.engine.chats.send(session_id, "Thanks.")
    await made.engine.wait(session_id)
    assert session_of(made, session_id).reason == ""


async def test_who_calls_on_without_steps_left_is_stopped_by_the_limit(tmp_path: Path) -> None:
    numbers = iter(range(100))
    made = bench(
        tmp_path,
        lambda _: calling(("echo", {"number": next(numbers)})),
        agent("main", tools=("echo",), max_steps=2),
    )
    assert session_of(made, await asked(made)).reason == "steps:2"


async def test_who_repeats_a_call_is_stopped_for_that(tmp_path: Path) -> None:
    made = bench(
        tmp_path, lambda _: calling(("echo", {"text": "again"})), agent("main", tools=("echo",), max_steps=9)
    )
    session = session_of(made, await asked(made))
    assert (session.status, session.reason, code_of_session(session)) == (
        Status.PAUSED,
        "repeated",
        "repeated_call",
    )
    assert "the same call" in last_line(session, ENGLISH)


async def test_an_answer_within_the_limits_names_none(tmp_path: Path) -> None:
    made = bench(tmp_path, lambda _: ["Yes."], agent("main", tools=("echo",), max_steps=1))
    session = session_of(made, await asked(made))
    assert (session.status, session.reason, code_of_session(session)) == (Status.IDLE, "", "")


async def test_a_group_that_has_used_its_turns_names_the_limit(tmp_path: Path) -> None:
    def answer(request: ModelRequest) -> Script:
        return (
            calling(hand("ann")) if who(request) == "orchestrator" and len(request.tools) > 1 else ["Well."]
        )

    made = bench(tmp_path, answer, agent("ann", name="Ann"), agent("bo", name="Bo"))
    leader = Leader(provider="remote0", model="m")
    made.documents.groups.kept = (
        Group(id="crew", name="Crew", members=("ann", "bo"), orchestrator=leader, turns_limit=2),
    )
    session_id = await made.engine.groups.start("crew", "Ship it.")
    await made.engine.wait(session_id)
    session = session_of(made, session_id)
    assert (session.status, session.reason, code_of_session(session)) == (
        Status.PAUSED,
        "turns_limit:2",
        "turn_limit",
    )
    assert last_line(session, ENGLISH).startswith("Paused at 2 turns. ")
    assert last_line(session, KOREAN).startswith("2턴에서 일시 정지. 재개하면")
    before = len(made.models.requests)
    await made.engine.resume(session_id)
    assert (await made.engine.wait(session_id)).status == Status.PAUSED
    asked = [who(one) for one in made.models.requests[before:]]
    assert asked == ["orchestrator", "ann", "orchestrator"], "as many turns again"


def test_a_workflow_is_named_by_its_failed_step() -> None:
    states = (StepState(id="a", state="done"), StepState(id="b", state="failed", reason="steps"))
    work = WorkflowState(
        definition=WorkflowDefinition(id="w", name="W", keywords=(), steps=()), command="x", steps=states
    )
    session = WorkflowSession(
        id="0" * 26,
        title="W",
        status=Status.PAUSED,
        reason="step_failed",
        chat=Chat(assistant_id="w"),
        workflow=work,
    )
    assert code_of_session(session) == "step_limit"


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("", ""),
        ("by_user", "user"),
        ("app_closed", "restart"),
        ("app_restart", "restart"),
        ("rate_limit", "rate_limit"),
        ("quota", "provider_error"),
        ("two_failures", "provider_error"),
        ("nobody_answered", "provider_error"),
        ("budget_minutes", "budget_minutes"),
        ("budget_minutes:30", "budget_minutes"),
        ("budget_model_calls:100", "budget_calls"),
        ("budget_cost:200", "budget"),
        ("budget_tool_rounds:60", "budget"),
        ("budget_month", "budget"),
        ("fault", "fault"),
        ("rounds_done+failed_turns:2", ""),
        ("what a newer Moot says", ""),
    ],
)
def test_reasons_have_codes_for_scripts(reason: str, code: str) -> None:
    assert reason_code(reason) == code


@pytest.mark.parametrize("reason", ["steps:" + "9" * 5_000, "steps:x", "steps:", "+", ":1", "a+b:{0}"])
def test_a_reason_that_a_file_has_brought_breaks_nothing(reason: str) -> None:
    assert isinstance(reason_text(reason, ENGLISH), str)
    assert reason_code(reason) in ("", "step_limit")


@pytest.mark.parametrize("reason", ["app_closed", "app_restart"])
def test_a_session_paused_by_the_end_of_moot_says_so(reason: str) -> None:
    session = Session(id="0" * 26, title="T", kind="debate", status=Status.PAUSED, reason=reason)
    assert last_line(session, ENGLISH).startswith("Moot was closed · Resume with")
    assert last_line(session, KOREAN).startswith("Moot가 종료되어 일시 정지됨 · ")
