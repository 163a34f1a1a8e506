"""Steps that fail by their own word, by their criteria, or as a gate: nothing behind them begins."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from app.core.criteria import CRITERIA
from app.core.definitions import StepState, WorkflowDefinition, WorkflowStep
from app.core.errors import BadInput
from app.core.events import Notice
from app.core.message import MessageState, Role
from app.core.provider import ModelRequest
from app.core.session import Status, WorkflowSession, code_of_session
from app.core.settings import Settings
from app.engine.workflow.director import begun, last_workers, reopened
from app.tools import planning
from tests.builders import PROMPTS, Bench, Script, a_bench, left_open
from tests.engine.group_tools import bound
from tests.engine.test_criteria import MEANS, QUOTES, WORK, checks, honest, is_check, is_trap, verdict
from tests.engine.test_turn import agent, calling
from tests.engine.test_workflow import step, step_of
from tests.memory import MemoryStore

SKY = MEANS[0]
HALF = "The sea is wide."


def ends(text: str, status: str = "done", label: str = "status") -> list[str]:
    return [f"{text}\n\n[STEP_COMPLETE]\nartifacts: a\n{label}: {status}"]


def bench(
    answer: Callable[[ModelRequest], Script], *steps: WorkflowStep, store: MemoryStore | None = None
) -> Bench:
    made = a_bench(
        store or MemoryStore(),
        agents=(agent("qa", name="Ann", role="QA"),),
        tools=bound(*planning.STEP_TOOLS),
    )
    made.models.otherwise = answer
    made.documents.workflows.kept = (WorkflowDefinition(id="work", name="Work", steps=steps),)
    left_open.append(made)
    return made


async def run(made: Bench, *means: str) -> str:
    session_id = await made.engine.workflows.start("Say the colours.", "work", done_means=means)
    await asyncio.wait_for(made.engine.wait(session_id), 30)
    return session_id


def session_of(made: Bench, session_id: str) -> WorkflowSession:
    live = made.engine.live(session_id)
    assert live is not None
    return live.workflow_session


def steps_of(made: Bench, session_id: str) -> dict[str, StepState]:
    return {one.id: one for one in session_of(made, session_id).workflow.steps}


def states(made: Bench, session_id: str) -> dict[str, tuple[str, str]]:
    return {key: (one.state, one.reason) for key, one in steps_of(made, session_id).items()}


@pytest.mark.parametrize("label", ["status", "상태"])
@pytest.mark.parametrize(
    ("word", "state", "reason", "noticed"),
    [
        ("done", "done", "", False),
        ("Done.", "done", "", False),
        ("완료", "done", "", False),
        ("", "done", "", False),
        ("failed", "failed", "said_failed", False),
        ("**실패**", "failed", "said_failed", False),
        ("blocked: no key", "failed", "said_blocked", False),
        ("막힘", "failed", "said_blocked", False),
        ("splendid", "done", "", True),
        ("훌륭함", "done", "", True),
    ],
)
async def test_the_status_word_says_whether_the_next_step_begins(
    label: str, word: str, state: str, reason: str, noticed: bool
) -> None:
    made = bench(lambda _: ends("I would not ship.", word, label), step("a"), step("b", "a"))
    session_id = await run(made)
    went_on = state == "done"
    assert states(made, session_id) == {
        "a": (state, reason),
        "b": ("done", "") if went_on else ("pending", ""),
    }
    assert session_of(made, session_id).status == (Status.COMPLETED if went_on else Status.PAUSED)
    assert len(made.models.requests) == (2 if went_on else 1)
    told = [one for one in made.events if isinstance(one, Notice) and one.code == "step_status"]
    assert [one.details["status"] for one in told] == ([word] * 2 if noticed else [])


async def test_the_tool_says_the_same_and_a_retry_goes_on() -> None:
    words = iter(("failed", "done", "done"))
    made = bench(
        lambda _: calling(("step_complete", {"result": "I looked.", "status": next(words)})),
        step("a"),
        step("b", "a"),
    )
    session_id = await run(made)
    assert states(made, session_id) == {"a": ("failed", "said_failed"), "b": ("pending", "")}
    await made.engine.resume(session_id)
    await made.engine.wait(session_id)
    assert {one for one, _ in states(made, session_id).values()} == {"done"}


@pytest.mark.parametrize(
    ("language", "words"), [("en", ("done", "failed", "blocked")), ("ko", ("완료", "실패", "막힘"))]
)
def test_the_prompt_offers_the_words(language: str, words: tuple[str, ...]) -> None:
    text = PROMPTS.text(language, "step")
    assert all(word in text for word in words)


async def test_a_step_mends_what_its_criteria_miss() -> None:
    made = bench(lambda _: [], step("a", done_means=(SKY,)), step("b", "a"))

    def answer(request: ModelRequest) -> Script:
        if is_check(request):
            work = " ".join(str(request.messages[0]["content"]).split())
            return checks(lambda n, t: honest(n, t) if QUOTES[SKY] in work else verdict(n, t, "unmet"))(
                request
            )
        told = "was checked" in str(request.messages[-1]["content"])
        return ends(WORK if told or step_of(request) == "b" else HALF)

    made.models.otherwise = answer
    session_id = await run(made)
    found = steps_of(made, session_id)["a"]
    assert [(one.state, one.round) for one in found.criteria] == [("met", 2)]
    assert (found.state, found.attempt) == ("done", 1)
    assert WORK in found.result
    assert [is_check(one) for one in made.models.requests] == [False, True, False, True, False]
    assert f"- {SKY}" in str(made.models.requests[0].messages[-1]["content"])
    assert session_of(made, session_id).status == Status.COMPLETED


async def test_a_step_whose_criteria_stay_unmet_has_failed_until_it_is_accepted() -> None:
    made = bench(
        lambda request: (
            checks(lambda n, t: verdict(n, t, "unmet"))(request) if is_check(request) else ends(HALF)
        ),
        step("a", done_means=(SKY,)),
        step("b", "a"),
    )
    session_id = await run(made)
    assert states(made, session_id) == {"a": ("failed", "criteria_unmet"), "b": ("pending", "")}
    session = session_of(made, session_id)
    assert (session.status, code_of_session(session)) == (Status.PAUSED, "criteria_unmet")
    assert sum(not is_check(one) for one in made.models.requests) == 3
    await made.engine.workflows.accept(session_id, "a")
    await made.engine.wait(session_id)
    assert states(made, session_id) == {"a": ("done", ""), "b": ("done", "")}
    assert [one.state for one in steps_of(made, session_id)["a"].criteria] == ["accepted"]


async def test_an_unmet_gate_has_failed_and_opens_when_the_work_before_it_is_done_again() -> None:
    works = iter((HALF, WORK, "It is out."))

    def answer(request: ModelRequest) -> Script:
        if not is_check(request):
            return ends(next(works))
        work = " ".join(str(request.messages[0]["content"]).split())
        return checks(lambda n, t: honest(n, t) if QUOTES[SKY] in work else verdict(n, t, "unmet"))(request)

    made = bench(
        answer,
        step("a"),
        step("gate", "a", role="nobody", gate=True, done_means=(SKY,)),
        step("ship", "gate"),
    )
    session_id = await run(made)
    assert states(made, session_id) == {
        "a": ("done", ""), "gate": ("failed", "criteria_unmet"), "ship": ("pending", ""),
    }  # fmt: skip
    assert [is_check(one) for one in made.models.requests] == [False, True], "a gate has no worker"
    await made.engine.workflows.retry(session_id, "a")
    await made.engine.wait(session_id)
    assert {one for one, _ in states(made, session_id).values()} == {"done"}
    [met] = steps_of(made, session_id)["gate"].criteria
    assert met.evidence is not None and met.evidence.quote == QUOTES[SKY]
    assert session_of(made, session_id).status == Status.COMPLETED


async def test_a_gate_without_budget_waits_and_is_checked_once_it_is_extended() -> None:
    made = bench(
        lambda request: checks(honest)(request) if is_check(request) else ends(WORK),
        step("a"),
        step("gate", "a", gate=True, done_means=(SKY,)),
    )
    await made.engine.change_settings(lambda _: Settings(max_model_calls=1))
    session_id = await run(made)
    assert session_of(made, session_id).reason == "budget_model_calls:1"
    assert states(made, session_id)["gate"][0] == "ready"
    await made.engine.resume(session_id)
    await made.engine.wait(session_id)
    assert session_of(made, session_id).status == Status.COMPLETED


async def test_a_gate_needs_criteria_and_no_role() -> None:
    faults = bench(lambda _: ends(WORK)).engine.workflows.faults
    gate = step("gate", role="nobody", gate=True)
    found = faults(WorkflowDefinition(id="w", name="W", steps=(gate,)))
    assert [(one.code, one.field) for one in found] == [("gate_without_criteria", "done_means")]
    whole = WorkflowDefinition(id="w", name="W", steps=(replace(gate, done_means=(SKY,)),))
    assert faults(whole) == []
    assert [one.code for one in faults(replace(whole, steps=(step("a", role="nobody"),)))] == ["unknown_role"]


async def test_a_definition_with_too_long_criteria_does_not_run() -> None:
    made = bench(lambda _: ends(WORK), step("a", done_means=("x" * 501,)))
    with pytest.raises(BadInput, match="criteria_too_many"):
        await run(made)


def test_work_goes_back_to_the_last_that_work_and_the_gates_behind_them_look_again() -> None:
    steps = (
        step("a"), step("b", "a"), step("gate", "b", gate=True, done_means=(SKY,)), step("c", "a"),
        step("early", "a", gate=True, done_means=(SKY,)), step("d", "early"),
    )  # fmt: skip
    definition = WorkflowDefinition(id="w", name="W", steps=steps)
    assert last_workers(definition) == {"b", "c", "d"}
    done = tuple(replace(one, state="done") for one in begun(definition))
    again = {one.id: one.state for one in reopened(definition, done, "b")}
    assert again == {"a": "done", "b": "ready", "gate": "pending", "c": "done", "early": "done", "d": "done"}


async def test_cut_anywhere_a_checked_workflow_comes_to_the_same_end() -> None:
    def answer(request: ModelRequest) -> Script:
        if is_check(request):
            work = " ".join(str(request.messages[0]["content"]).split())
            return checks(
                lambda n, t: verdict(n, t, "met" if not is_trap(t) and QUOTES[t] in work else "unmet")
            )(request)
        said = str(request.messages)
        return ends(
            WORK if "was checked" in said else "The sky is blue." if step_of(request) == "b" else HALF
        )

    steps = (step("a", done_means=(SKY,)), step("gate", "a", gate=True, done_means=(SKY,)), step("b", "gate"))
    store = MemoryStore()
    made = bench(answer, *steps, store=store)
    session_id = await run(made, *MEANS)

    def end(one: Bench) -> tuple[object, ...]:
        session = session_of(one, session_id)
        parts = [
            message.part or message.author.name
            for message in one.messages(session_id)
            if message.role == Role.ASSISTANT and message.state == MessageState.DONE and message.content
        ]
        met = [criterion.state for criterion in session.criteria]
        return session.status, met, [state.state for state in session.workflow.steps], parts

    whole = list(store.batches)
    assert end(made)[:3] == (Status.COMPLETED, ["met", "met"], ["done"] * 3)
    assert end(made)[3].count(CRITERIA) == 4  # type: ignore[attr-defined]
    for cut in range(2, len(whole) + 1):
        rest = MemoryStore()
        rest.batches = whole[:cut]
        again = bench(answer, *steps, store=rest)
        live = await again.engine.open(session_id)
        if live.session.status != Status.COMPLETED:
            await again.engine.resume(session_id)
            await again.engine.wait(session_id)
        assert end(again) == end(made), cut
