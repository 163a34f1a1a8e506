"""Who does which step: by role, by name, as the user chose before the start, and to whom a step is given later."""

import json
import unicodedata
from pathlib import Path

import pytest

from app.cli.printing.lines import load_texts
from app.core.definitions import Agent, StepState, WorkflowDefinition, distance
from app.core.errors import BadInput, FailureKind, NotFound, ProviderError
from app.core.message import Role
from app.core.provider import ModelRequest
from app.core.session import Status
from app.engine.work import Needs, WorkAction
from app.engine.workflow.commands import with_assistants
from tests.builders import Bench, Hang, Script, left_open, until
from tests.engine.test_queues import QUEUE, ask, gated, waiting
from tests.engine.test_turn import agent, calling, status
from tests.engine.test_work import found, read
from tests.engine.test_workflow import DONE_TEXT, bench, run, states, step, step_of

EN, KO = load_texts("en"), load_texts("ko")
# Two steps of one role behind each other, and a gate.
PLAN = WorkflowDefinition(
    id="diamond", name="Plan",
    steps=(step("a", role="BE"), step("b", "a", role="BE"), step("c", "b", role="BE", gate=True, done_means=("It is blue",))),
)  # fmt: skip
CHAIN = WorkflowDefinition(id="diamond", name="Chain", steps=PLAN.steps[:2])
WAITS = WorkflowDefinition(id="diamond", name="Two", steps=(step("a", role="BE"), step("b", role="BE")))


def step_states(made: Bench, session_id: str) -> dict[str, StepState]:
    live = made.engine.live(session_id)
    assert live is not None
    return {one.id: one for one in live.workflow_session.workflow.steps}


def who(made: Bench, session_id: str) -> dict[str, tuple[str, int]]:
    return {one.id: (one.assistant_id, one.attempt) for one in step_states(made, session_id).values()}


def failing(*who_fails: str) -> tuple[dict[str, bool], object]:
    """Return what lets the steps with these ids fail while it says so, and what the models answer."""
    broken = dict.fromkeys(who_fails, True)

    def answer(request: ModelRequest) -> Script:
        return [ProviderError(FailureKind.SERVER, "500")] if broken.get(step_of(request)) else [DONE_TEXT]

    return broken, answer


@pytest.mark.parametrize(
    ("role", "fields", "far"),
    [
        ("BE", {"role": "backend"}, 0),
        ("Backend Engineer", {"name": "backend  engineer"}, 0),
        ("BE", {"name": "Backend Engineer"}, 1),
        ("Backend Engineer", {"role": "BE"}, 1),
        ("백엔드", {"role": "백엔드 개발자"}, 1),
        ("QA", {"description": "A tester of everything."}, 2),
        ("BE", {"description": "It will be done."}, None),
        ("PM", {"description": "Wakes you at 3 pm."}, None),
        ("QA", {"description": "Likes testers."}, None),
        ("Painter", {"role": "House painter"}, 1),
        ("Painter", {"description": "Paints."}, None),
        ("FE", {"role": "BE"}, None),
    ],
)
def test_how_far_somebody_is_from_a_role(role: str, fields: dict[str, str], far: int | None) -> None:
    one = Agent(**{"id": "x", "name": "Mina", **fields})  # type: ignore[arg-type]
    assert distance(one, role) == far


def workers(made: Bench, **fields: object) -> list[str]:
    return [one.id for one in made.engine._directory.workers(step("a", **fields))]


@pytest.mark.parametrize("role", ["BE", "Backend Engineer"])
async def test_the_users_own_come_first_and_who_fits_best_of_them(tmp_path: Path, role: str) -> None:
    made = bench(tmp_path, lambda _: [DONE_TEXT])
    made.engine.assistants._by_language = {"en": (agent("moots", role=role),)}
    assert workers(made, role=role) == ["moots"]
    for one in (
        agent("writer", description="Writes backend code."),
        agent("engineer", name="Backend Engineer!"),
        agent("off", role=role, enabled=False),
    ):
        await made.engine.assistants.save(one)
        assert workers(made, role=role) == ["engineer" if one.id != "writer" else "writer"]
    await made.engine.assistants.save(agent("dana", role=role))
    await made.engine.assistants.save(agent("dan", role=role))
    assert workers(made, role=role) == ["dan", "dana"]
    assert workers(made, role=role, assistant="writer") == ["writer"], "a step's own assistant wins"
    assert workers(made, role=role, assistant="DANA") == ["dana"]
    assert workers(made, role=role, assistant="off") == ["dan", "dana"]
    assert workers(made, role="Designer") == ["role-designer"]


async def test_who_has_no_known_role_but_is_near_it_takes_its_step(tmp_path: Path) -> None:
    made = bench(tmp_path, lambda _: [DONE_TEXT], agent("dana", role="House painter"))
    one = WorkflowDefinition(id="x", name="X", steps=(step("a", role="Painter"),))
    assert made.engine.workflows.faults(one) == []
    two = WorkflowDefinition(id="x", name="X", steps=(step("a", role="Wizard"),))
    assert [(fault.code, fault.detail) for fault in made.engine.workflows.faults(two)] == [
        ("unknown_role", "Wizard")
    ]


@pytest.mark.parametrize("named", ["dana", "DANA 지", unicodedata.normalize("NFD", "Dana 지")])
async def test_a_step_that_names_somebody_goes_there_whatever_its_role(tmp_path: Path, named: str) -> None:
    plan = WorkflowDefinition(
        id="diamond", name="D", steps=(step("a", role="BE", assistant=named), step("b", "a", role="BE"))
    )
    crew = agent("dana", name="Dana 지", role="Painter"), agent("ben", role="BE")
    made = bench(tmp_path, lambda _: [DONE_TEXT], *crew, definition=plan)
    assert who(made, await run(made)) == {"a": ("dana", 1), "b": ("ben", 1)}
    made.documents.workflows.kept = (with_assistants(plan, {"b": "nobody at all"}),)
    with pytest.raises(BadInput, match="workflow_unknown_assistant") as refused:
        await made.engine.workflows.start("Go", "diamond")
    assert refused.value.details == {"field": "steps[1].assistant", "detail": "nobody at all"}


async def test_a_line_says_who_does_what_and_the_user_changes_it(tmp_path: Path) -> None:
    plan = WorkflowDefinition(
        id="diamond", name="D",
        steps=(step("a", role="BE"), step("b", role="QA"), step("c", role="FE"), step("d", role="PM"), step("e", gate=True, done_means=("It is blue",))),
    )  # fmt: skip
    crew = agent("ben", name="Backend Engineer"), agent("tess", role="QA"), agent("ted", role="QA")
    made = bench(tmp_path, lambda _: [DONE_TEXT], *crew, definition=plan)
    workflows = made.engine.workflows
    line = "Who does what: Backend Engineer (A), Ted / Tess (B), temporary assistants (C, D)"
    assert workflows.who_does_what(plan, EN) == line
    assert workflows.who_does_what(plan, KO) == (
        "담당: Backend Engineer(A), Ted / Tess(B), 임시 어시스턴트(C, D)"
    )
    chosen = {"b": "ben", "d": "tess"}
    line = "Who does what: Backend Engineer (A, B), temporary assistants (C), Tess (D)"
    assert workflows.who_does_what(with_assistants(plan, chosen), EN) == line
    session_id = await workflows.start("Go", "diamond", assistants=chosen)
    await until(lambda: states(made, session_id)["d"] == "done")
    assert {one: names[0] for one, names in who(made, session_id).items() if one in "bd"} == chosen
    assert workflows.find("diamond") == plan, "the definition stays as it is"


@pytest.mark.parametrize("named", ["ann", "Ann"])
async def test_a_failed_step_is_given_to_somebody_else_and_later_steps_keep_theirs(
    tmp_path: Path, named: str
) -> None:
    broken, answer = failing("a")
    made = bench(tmp_path, answer, agent("ben", role="BE"), agent("ann"), definition=CHAIN)
    session_id = await run(made)
    assert (status(made, session_id), states(made, session_id)["a"]) == (Status.PAUSED, "failed")
    row = found(await read(made), session_id)
    assert (row.needs, row.action, row.step) == (Needs.FAILURE, WorkAction.GIVE, "a")
    assert [one.id for one in made.engine.workflows.takers(session_id, "a")] == ["ann"]
    broken.clear()
    await made.engine.workflows.give(session_id, "a", named)
    await made.engine.wait(session_id)
    assert status(made, session_id) == Status.COMPLETED
    assert who(made, session_id) == {"a": ("ann", 2), "b": ("ben", 1)}
    said = [one.author.id for one in made.messages(session_id) if DONE_TEXT in one.content and one.author.id]
    assert [one for one in said if one != "workflow"] == ["ann", "ben"]


async def test_what_a_step_was_given_survives_a_restart_in_its_middle(tmp_path: Path) -> None:
    broken, answer = failing("a")
    made = bench(tmp_path, answer, agent("ben", role="BE"), agent("ann"), definition=CHAIN)
    session_id = await run(made)
    broken.clear()
    made.models.otherwise = lambda _: ["Half", Hang()]
    await made.engine.workflows.give(session_id, "a", "ann")
    await until(lambda: any(one.content == "Half" for one in made.messages(session_id)))
    await made.engine.shutdown()
    left_open.clear()
    again = bench(tmp_path, lambda _: [DONE_TEXT], agent("ben", role="BE"), agent("ann"), definition=CHAIN)
    live = await again.engine.open(session_id)
    assert (live.session.status, step_states(again, session_id)["a"].given_to) == (Status.PAUSED, "ann")
    await again.engine.resume(session_id)
    await again.engine.wait(session_id)
    assert who(again, session_id) == {"a": ("ann", 2), "b": ("ben", 1)}


async def test_a_step_that_waits_for_a_busy_assistant_goes_to_another_at_once(tmp_path: Path) -> None:
    made, gate = gated(tmp_path, agent("ben", role="BE", busy=QUEUE), agent("ann"), definition=WAITS)
    session_id = await made.engine.workflows.start("Go", "diamond")
    await until(lambda: bool(waiting(made)))
    [held] = [one for one, state in states(made, session_id).items() if state == "waiting"]
    [runs] = {"a", "b"} - {held}
    with pytest.raises(BadInput, match="step_not_given"):
        await made.engine.workflows.give(session_id, runs, "ann")
    await made.engine.workflows.give(session_id, held, "Ann")
    assert step_states(made, session_id)[held].given_to == "ann", "with the end of the wait, in one batch"
    await until(lambda: len(made.engine.queues.jobs("ann")) == 1)
    assert not waiting(made)
    gate.set()
    await made.engine.wait(session_id)
    assert status(made, session_id) == Status.COMPLETED
    assert who(made, session_id) == {runs: ("ben", 1), held: ("ann", 2)}
    assert "Given to Ann." in [one.content for one in made.messages(session_id) if one.role == Role.TOOL]
    assert sorted(map(step_of, made.models.requests)) == ["a", "b"]
    with pytest.raises(BadInput, match="step_not_given"):
        await made.engine.workflows.give(session_id, held, "ben")


async def test_sent_on_from_its_queue_a_step_is_kept_with_whom_it_went_to(tmp_path: Path) -> None:
    made, gate = gated(tmp_path, agent("ben", role="BE", busy=QUEUE), agent("ann"), definition=WAITS)
    session_id = await made.engine.workflows.start("Go", "diamond")
    await until(lambda: bool(waiting(made)))
    [held] = [one for one, state in states(made, session_id).items() if state == "waiting"]
    made.engine.queues.give(session_id, "Ann")
    await until(lambda: len(made.engine.queues.jobs("ann")) == 1)
    assert step_states(made, session_id)[held].given_to == "ann"
    gate.set()
    await made.engine.wait(session_id)


async def test_a_step_that_stopped_or_asks_is_given_too_but_no_gate_and_none_that_did_not_begin(
    tmp_path: Path,
) -> None:
    def answer(request: ModelRequest) -> Script:
        if len(request.messages) == 1:
            return ["The checker says nothing that can be read."]
        asks = step_of(request) == "a" and request.provider == "remote0"
        return calling(("promptUser", {"question": "Which?"})) if asks else [DONE_TEXT]  # type: ignore[return-value]

    crew = agent("ben", role="BE", tools=("promptUser",)), agent("ann", provider="remote1", model="model-1")
    made = bench(tmp_path, answer, *crew, definition=PLAN)
    session_id = await run(made)
    assert (status(made, session_id), len(made.engine.chats.needs_you())) == (Status.WAITING, 1)
    for step_id in ("b", "c"):
        with pytest.raises(BadInput, match="step_not_given"):
            await made.engine.workflows.give(session_id, step_id, "ann")
    with pytest.raises(NotFound, match="step_not_found"):
        await made.engine.workflows.give(session_id, "z", "ann")
    with pytest.raises(NotFound, match="assistant_not_found"):
        await made.engine.workflows.give(session_id, "a", "nobody")
    await made.engine.assistants.save(agent("off", enabled=False))
    with pytest.raises(BadInput, match="assistant_disabled"):
        await made.engine.workflows.give(session_id, "a", "off")
    await made.engine.workflows.give(session_id, "a", "ann")
    await made.engine.wait(session_id)
    assert made.engine.chats.needs_you() == []
    assert {one: names for one, names in who(made, session_id).items() if one != "c"} == {
        "a": ("ann", 2),
        "b": ("ben", 1),
    }
    assert states(made, session_id)["c"] == "failed"
    with pytest.raises(BadInput, match="step_not_given"):
        await made.engine.workflows.give(session_id, "c", "ann")
    row = found(await read(made), session_id)
    assert (row.action, row.step) == (WorkAction.RESUME, ""), "nobody takes a gate"


async def test_the_message_of_a_chat_that_waits_goes_to_another_assistant(tmp_path: Path) -> None:
    made, gate = gated(tmp_path, agent("po", busy=QUEUE), agent("ann"))
    first, second = await ask(made, "One", "Two")
    with pytest.raises(BadInput, match="nothing_to_give"):
        made.engine.queues.give(first, "ann")
    with pytest.raises(NotFound, match="assistant_not_found"):
        made.engine.queues.give(second, "nobody")
    made.engine.queues.give(second, "Ann")
    await until(lambda: not waiting(made))
    gate.set()
    for session_id in (first, second):
        await made.engine.wait(session_id)
    assert {one.author.id for one in made.messages(second) if one.role == Role.ASSISTANT} == {"ann"}
    with pytest.raises(BadInput, match="nothing_to_give"):
        made.engine.queues.give(second, "po")


async def test_a_shared_workflow_names_nobody(tmp_path: Path) -> None:
    plan = with_assistants(CHAIN, {"a": "ben"})
    made = bench(tmp_path, lambda _: [DONE_TEXT], agent("ben", role="BE"), definition=plan)
    workflows = made.engine.workflows
    document = json.loads(workflows.share("diamond"))
    assert [one["assistant"] for one in document["steps"]] == ["", ""]
    shared = workflows.read_shared(json.dumps(document))
    assert (shared.dropped, shared.definition.steps) == ((), CHAIN.steps)
