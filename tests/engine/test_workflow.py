"""Workflows: steps side by side as they depend on each other, failures, retries, skips, restarts."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.definitions import MOST_STEPS, Agent, Busy, WorkflowDefinition, WorkflowStep, faults
from app.core.errors import BadInput, FailureKind, NotFound, ProviderError
from app.core.message import Role
from app.core.provider import ModelRequest, Text
from app.core.session import Status, WorkflowSession
from app.core.settings import Settings
from app.engine.library.definitions import read_built_in
from app.engine.workflow.commands import by_keyword, choice_of
from app.engine.workflow.director import begun
from app.engine.workflow.run import read_by_people, step_complete
from tests.builders import Bench, Hang, Script, a_bench, a_log_store, left_open, until
from tests.engine.test_turn import _asker, agent, calling, status

BUILT_IN = read_built_in(Path(__file__).parents[2] / "resources" / "workflows", WorkflowDefinition)["en"]
DONE_TEXT = "It is done.\n\n[STEP_COMPLETE]\nartifacts: patch.diff\nstatus: done"


def step(step_id: str, *after: str, role: str = "QA", **fields: object) -> WorkflowStep:
    return WorkflowStep(
        id=step_id, name=step_id.title(), role=role, prompt=f"Do {step_id}.", depends_on=after, **fields
    )  # type: ignore[arg-type]


DIAMOND = WorkflowDefinition(
    id="diamond", name="Diamond", keywords=("diamond",),
    steps=(step("a"), step("b", "a"), step("c", "a", role="BE"), step("d", "b", "c")),
)  # fmt: skip


def bench(
    tmp_path: Path,
    answer: Callable[[ModelRequest], Script],
    *agents: Agent,
    definition: WorkflowDefinition = DIAMOND,
) -> Bench:
    made = a_bench(a_log_store(tmp_path), agents=agents, tools=(_asker(),))
    made.models.otherwise = answer
    made.documents.workflows.kept = (definition,)
    left_open.append(made)
    return made


def step_of(request: ModelRequest) -> str:
    """Return the id of the step a request is for."""
    text = str(request.messages[1]["content"])
    return text.split('"')[1].lower()


async def run(made: Bench, definition: str = "diamond") -> str:
    session_id = await made.engine.workflows.start("Cut a diamond.", definition)
    await made.engine.wait(session_id)
    return session_id


def states(made: Bench, session_id: str) -> dict[str, str]:
    live = made.engine.live(session_id)
    assert live is not None
    assert isinstance(live.session, WorkflowSession)
    return {one.id: one.state for one in live.session.workflow.steps}


def reasons(made: Bench, session_id: str) -> dict[str, str]:
    live = made.engine.live(session_id)
    assert live is not None
    assert isinstance(live.session, WorkflowSession)
    return {one.id: one.reason for one in live.session.workflow.steps if one.reason}


async def test_steps_run_by_their_dependencies_and_results_feed_on(tmp_path: Path) -> None:
    order: list[str] = []

    def answer(request: ModelRequest) -> Script:
        order.append(step_of(request))
        return [f"Result of {order[-1]}.\n[STEP_COMPLETE]\n산출물: {order[-1]}.txt\n상태: 완료"]

    made = bench(tmp_path, answer)
    session_id = await run(made)
    assert status(made, session_id) == Status.COMPLETED
    assert set(states(made, session_id).values()) == {"done"}
    assert order[0] == "a" and order[-1] == "d" and set(order[1:3]) == {"b", "c"}
    last = json.dumps(made.models.requests[-1].messages, ensure_ascii=False)
    assert "Result of b." in last and "Result of c." in last and "Result of a." not in last
    live = made.engine.live(session_id)
    assert live is not None
    assert [one.artifacts for one in live.session.workflow.steps] == ["a.txt", "b.txt", "c.txt", "d.txt"]  # type: ignore[attr-defined]


async def test_independent_steps_run_at_once(tmp_path: Path) -> None:
    meeting = asyncio.Barrier(2)
    made = bench(tmp_path, lambda one: [*([meeting] if step_of(one) in ("b", "c") else []), DONE_TEXT])
    async with asyncio.timeout(5):
        session_id = await run(made)
    assert status(made, session_id) == Status.COMPLETED


@pytest.mark.parametrize("go_on", ["retry", "resume"])
async def test_a_failed_step_stops_what_depends_on_it_and_nothing_else(tmp_path: Path, go_on: str) -> None:
    broken = [True]

    def answer(request: ModelRequest) -> Script:
        if step_of(request) == "b" and broken[0]:
            return [ProviderError(FailureKind.SERVER, "500")]
        return [DONE_TEXT]

    made = bench(tmp_path, answer)
    session_id = await run(made)
    assert status(made, session_id) == Status.PAUSED
    assert states(made, session_id) == {"a": "done", "b": "failed", "c": "done", "d": "pending"}
    assert reasons(made, session_id) == {"b": "server"}
    asked = len(made.models.requests)
    broken[0] = False
    if go_on == "retry":
        await made.engine.workflows.retry(session_id, "b")
    else:
        await made.engine.resume(session_id)
    await made.engine.wait(session_id)
    assert set(states(made, session_id).values()) == {"done"}
    assert [step_of(one) for one in made.models.requests[asked:]] == ["b", "d"]
    assert status(made, session_id) == Status.COMPLETED


@pytest.mark.parametrize(("when_skipped", "end"), [("satisfies", "done"), ("blocks", "skipped")])
async def test_a_skip_satisfies_or_blocks_as_the_definition_says(
    tmp_path: Path, when_skipped: str, end: str
) -> None:
    definition = WorkflowDefinition(
        id="diamond", name="D", steps=(step("a", when_skipped=when_skipped), step("b", "a"))
    )
    made = bench(
        tmp_path,
        lambda one: [ProviderError(FailureKind.SERVER, "500")] if step_of(one) == "a" else [DONE_TEXT],
        definition=definition,
    )
    session_id = await run(made)
    await made.engine.workflows.skip(session_id, "a")
    await made.engine.wait(session_id)
    assert states(made, session_id) == {"a": "skipped", "b": end}
    assert status(made, session_id) == Status.COMPLETED


async def test_without_the_marker_it_is_asked_once_more_and_then_waits_for_the_person(tmp_path: Path) -> None:
    made = bench(
        tmp_path,
        lambda _: ["I thought about it."],
        definition=WorkflowDefinition(id="diamond", name="D", steps=(step("a"), step("b", "a"))),
    )
    session_id = await run(made)
    assert len(made.models.requests) == 2
    assert "[STEP_COMPLETE]" in str(made.models.requests[1].messages[-1]["content"])
    assert status(made, session_id) == Status.WAITING
    assert reasons(made, session_id) == {"a": "no_marker"}
    made.models.otherwise = lambda _: [DONE_TEXT]
    await made.engine.workflows.accept(session_id, "a")
    await made.engine.wait(session_id)
    assert states(made, session_id) == {"a": "done", "b": "done"}
    assert status(made, session_id) == Status.COMPLETED


async def test_a_stopped_workflow_holds_no_step_and_goes_on_where_it_was(tmp_path: Path) -> None:
    gate = asyncio.Event()
    made = bench(tmp_path, lambda _: ["I begin", gate])
    session_id = await made.engine.workflows.start("Go", "diamond")
    await until(lambda: any(one.content == "I begin" for one in made.messages(session_id)))
    await made.engine.stop(session_id)
    assert status(made, session_id) == Status.STOPPED
    stands = states(made, session_id)
    assert set(stands.values()) == {"ready", "pending"}, "nobody works, and a step is in progress"
    gate.set()
    await asyncio.sleep(0.05)
    assert states(made, session_id) == stands
    made.models.otherwise = lambda _: [DONE_TEXT]
    await made.engine.resume(session_id)
    await made.engine.wait(session_id)
    assert set(states(made, session_id).values()) == {"done"}


async def test_after_a_restart_it_is_paused_and_no_step_runs_twice(tmp_path: Path) -> None:
    made = bench(tmp_path, lambda one: ["Half", Hang()] if step_of(one) == "b" else [DONE_TEXT])
    session_id = await made.engine.workflows.start("Go", "diamond")
    await until(
        lambda: (
            states(made, session_id)["c"] == "done"
            and any(one.content == "Half" for one in made.messages(session_id))
        )
    )
    await made.engine.shutdown()
    left_open.clear()
    again = bench(tmp_path, lambda _: [DONE_TEXT])
    live = await again.engine.open(session_id)
    assert live.session.status == Status.PAUSED
    await again.engine.resume(session_id)
    await again.engine.wait(session_id)
    assert set(states(again, session_id).values()) == {"done"}
    assert [step_of(one) for one in again.models.requests] == ["b", "d"]
    calls = [call.id for one in again.messages(session_id) for call in one.tool_calls]
    assert calls in (["a.1", "b.1", "c.1", "d.1"], ["a.1", "c.1", "b.1", "d.1"])
    results = [one.tool_call_id for one in again.messages(session_id) if one.role == Role.TOOL]
    assert sorted(results) == sorted(calls)


async def test_a_question_of_a_step_waits_while_the_rest_runs(tmp_path: Path) -> None:
    def answer(request: ModelRequest) -> Script:
        if step_of(request) == "b" and not any(one["role"] == "tool" for one in request.messages):
            return calling(("promptUser", {"question": "Which?"}))
        return [DONE_TEXT]

    made = bench(tmp_path, answer, agent("tess", role="QA", tools=("promptUser",)))
    session_id = await run(made)
    assert status(made, session_id) == Status.WAITING
    assert states(made, session_id) == {"a": "done", "b": "waiting", "c": "done", "d": "pending"}
    [(_, question)] = made.engine.chats.needs_you()
    await made.engine.chats.answer(session_id, question.id, "Blue")
    await made.engine.wait(session_id)
    assert status(made, session_id) == Status.COMPLETED


async def test_a_busy_assistant_takes_its_steps_one_after_the_other(tmp_path: Path) -> None:
    definition = WorkflowDefinition(
        id="diamond", name="D", steps=(step("a", role="PO"), step("b", role="PO"), step("c", role="PO"))
    )
    at_once: list[int] = []

    def answer(_: ModelRequest) -> Script:
        at_once.append(made.models.open)
        return [DONE_TEXT]

    po = agent("po", role="Product Owner", busy=Busy(strategy="queue", depth=5))
    made = bench(tmp_path, answer, po, definition=definition)
    session_id = await run(made)
    assert status(made, session_id) == Status.COMPLETED
    assert at_once == [0, 0, 0]


async def test_a_step_that_is_refused_says_why_and_can_be_retried(tmp_path: Path) -> None:
    definition = WorkflowDefinition(
        id="diamond", name="D", steps=(step("a", role="PO"), step("b", role="PO"))
    )
    made = bench(
        tmp_path,
        lambda _: [DONE_TEXT],
        agent("po", role="PO", busy=Busy(strategy="reject")),
        definition=definition,
    )
    session_id = await run(made)
    assert sorted(states(made, session_id).values()) == ["done", "failed"]
    [(failed, reason)] = reasons(made, session_id).items()
    assert reason == "busy"
    await made.engine.workflows.retry(session_id, failed)
    await made.engine.wait(session_id)
    assert status(made, session_id) == Status.COMPLETED


@pytest.mark.parametrize("definition", BUILT_IN, ids=lambda one: one.id)
async def test_the_built_in_ones_reach_their_end(tmp_path: Path, definition: WorkflowDefinition) -> None:
    assert not faults(definition)
    made = bench(tmp_path, lambda _: [DONE_TEXT], definition=definition)
    session_id = await run(made, definition.id)
    assert status(made, session_id) == Status.COMPLETED


@pytest.mark.parametrize(
    ("command", "found"),
    [("Fix the login loop", "bug-fix"), ("로그인 버그를 고쳐 줘", "bug-fix"), ("Please add dark mode", "feature-request"),
     ("다크 모드 기능을 추가해 줘", "feature-request"), ("Address the prefix debugger", None), ("Hello", None), ("Add a fix", None), ("로그인이 안 돼요", "bug-fix"), ("다크모드추가해줘", "feature-request")],
)  # fmt: skip
def test_a_command_is_recognised_by_whole_words(command: str, found: str | None) -> None:
    definition = by_keyword(command, BUILT_IN)
    assert (definition.id if definition else None) == found


@pytest.mark.parametrize(
    ("answer", "found"),
    [('{"id": "bug-fix"}', "bug-fix"), ("bug-fix", "bug-fix"), ("none", None), ("It is not a bug-fix but none", None), ("bug-fix or feature-request", None), ("", None)],
)  # fmt: skip
def test_a_model_s_choice_is_one_definition_or_none(answer: str, found: str | None) -> None:
    definition = choice_of(answer, BUILT_IN)
    assert (definition.id if definition else None) == found


@pytest.mark.corpus(52, 53)
@pytest.mark.parametrize(
    ("steps", "code"),
    [((), "no_steps"), ((step("a", "a"),), "depends_on_itself"), ((step("a", "z"),), "unknown_dependency"),
     ((step("a"), step("a")), "duplicate_step"), ((step("a", "c"), step("b", "a"), step("c", "b")), "cycle"),
     ((step("a", role="Wizard"),), "unknown_role")],
)  # fmt: skip
async def test_what_cannot_run_is_refused_with_its_place(
    tmp_path: Path, steps: tuple[WorkflowStep, ...], code: str
) -> None:
    definition = WorkflowDefinition(id="diamond", name="D", steps=steps)
    made = bench(tmp_path, lambda _: [DONE_TEXT], definition=definition)
    with pytest.raises(BadInput, match=f"workflow_{code}"):
        await made.engine.workflows.start("Go", "diamond")
    assert not made.models.requests
    with pytest.raises(NotFound):
        await made.engine.workflows.start("Go", "nothing")


@pytest.mark.corpus(52)
def test_a_chain_of_50_000_steps_is_refused_and_one_pass_all_the_same() -> None:
    def chain(length: int) -> WorkflowDefinition:
        after = (step(f"s{n}", f"s{n - 1}") for n in range(1, length))
        return WorkflowDefinition(id="long", name="Long", steps=(step("s0"), *after))

    assert not faults(chain(MOST_STEPS))
    [fault] = faults(chain(50_000))
    assert (fault.code, fault.field, fault.detail) == ("too_many_steps", "steps", "50000 > 2000")
    assert [one.state for one in begun(chain(50_000))[:2]] == ["ready", "pending"]


@pytest.mark.threat("T5")
@pytest.mark.corpus(50)
@pytest.mark.parametrize(
    ("text", "artifacts"),
    [("x\n[STEP_COMPLETE]\nartifacts: see [this](http://a) and\n- [ ] one\n- [x] two\nstatus: done", "see [this](http://a) and\n- [ ] one\n- [x] two"),
     ("[STEP_COMPLETE]\n산출물: 설계.md\n상태: 완료\n[NEXT]\nmore", "설계.md"), ("[STEP_COMPLETE]", ""),
     ("```\n[STEP_COMPLETE]\n```", None), ("I will write [STEP_COMPLETE] later", None), ("> [STEP_COMPLETE]", None),
     ("    [STEP_COMPLETE]", None), ("~~~\n[STEP_COMPLETE]\n~~~\n[STEP_COMPLETE]\nartifacts: a", "a"), ("step complete", None),
     ("[STEP_COMPLETE]\nartifacts: draft\n\nI saw a fault.\n\n[STEP_COMPLETE]\nartifacts: final\nstatus: done", "final")],
)  # fmt: skip
def test_the_marker_is_read_on_a_line_of_its_own_outside_code(text: str, artifacts: str | None) -> None:
    found = step_complete(text)
    assert (found.artifacts if found else None) == artifacts


async def test_a_workflow_takes_no_retry_of_a_chat(tmp_path: Path) -> None:
    made = bench(tmp_path, lambda _: [DONE_TEXT])
    session_id = await run(made)
    last = made.messages(session_id)[-1].id
    for work in (
        made.engine.chats.retry(session_id, last),
        made.engine.chats.continue_from(session_id, last),
    ):
        with pytest.raises(BadInput, match="workflow_asks_nothing"):
            await work
    assert status(made, session_id) == Status.COMPLETED


@pytest.mark.parametrize(
    ("text", "ended", "shown"),
    [
        (DONE_TEXT, True, ("It is done.", "patch.diff")),
        ("It is done.", True, ("It is done.", "")),
        ("```\n[STEP_COMPLETE]\n```", True, ("```\n[STEP_COMPLETE]\n```", "")),
        ("It is done.\n\n[STEP_", False, ("It is done.", "")),
        ("It is done.\n[STEP_COMPLETE]\nartifacts: a", False, ("It is done.", "")),
        ("See\n[1] and", False, ("See\n[1] and", "")),
        ("- [x] all\n[Link](https://a)", False, ("- [x] all\n[Link](https://a)", "")),
    ],
)
def test_people_do_not_read_the_lines_that_end_a_step(text: str, ended: bool, shown: tuple[str, str]) -> None:
    assert read_by_people(text, ended=ended) == shown


async def test_a_step_that_was_cut_can_be_left_out_instead(tmp_path: Path) -> None:
    made = bench(tmp_path, lambda _: ["Half", Hang()])
    session_id = await made.engine.workflows.start("Go", "diamond")
    await until(lambda: any(one.content == "Half" for one in made.messages(session_id)))
    with pytest.raises(BadInput, match="step_not_skippable"):
        await made.engine.workflows.skip(session_id, "a")
    await made.engine.shutdown()
    left_open.clear()
    again = bench(tmp_path, lambda _: [DONE_TEXT])
    await again.engine.open(session_id)
    assert states(again, session_id)["a"] == "ready", "nobody works, and it is in progress"
    await again.engine.workflows.skip(session_id, "a")
    await again.engine.wait(session_id)
    assert states(again, session_id) == {"a": "skipped", "b": "done", "c": "done", "d": "done"}
    assert status(again, session_id) == Status.COMPLETED


async def test_a_workflow_is_shared_as_a_file_and_brought_in_elsewhere(tmp_path: Path) -> None:
    made = bench(tmp_path, lambda _request: (Text(text=DONE_TEXT),))
    workflows = made.engine.workflows
    document = json.loads(workflows.share("diamond"))
    assert set(document) == {"version", "id", "name", "keywords", "steps"}
    document["command"] = "rm -rf /"
    document["steps"][0]["script"] = "rm -rf /"
    shared = workflows.read_shared(json.dumps(document))
    assert shared.dropped == ("command", "steps: script")
    saved = await workflows.bring_in(shared)
    assert (saved.id, saved.keywords, saved.steps) == ("diamond-2", DIAMOND.keywords, DIAMOND.steps)
    assert workflows.find("Diamond").id == "diamond"
    copy = await workflows.duplicate("diamond", "Twin")
    assert (copy.id, copy.name, copy.keywords, copy.steps) == ("twin", "Twin", (), DIAMOND.steps)
    for one in ("one", "two"):
        await workflows.save(replace(copy, id=one, name="Twins"))
    with pytest.raises(BadInput, match="workflow_ambiguous"):
        workflows.find("Twins")
    for fields, code in (
        ({"steps": []}, "workflow_no_steps"),
        ({"steps": [3]}, "shared_field"),
        ({"steps": [{"id": "a"}]}, "shared_field"),
        ({"keywords": "diamond"}, "shared_field"),
        ({"name": "x" * 81}, "workflow_name"),
    ):
        with pytest.raises(BadInput, match=code):
            workflows.read_shared(json.dumps({**document, **fields}))


async def test_the_time_of_a_step_is_that_of_all_its_parts(tmp_path: Path) -> None:
    takes = [7.0, 5.0, 2.0]

    def answer(_: ModelRequest) -> Script:
        made.time.now += takes.pop(0)
        return ["Half."] if len(takes) == 2 else [DONE_TEXT]

    made = bench(tmp_path, answer, definition=replace(DIAMOND, steps=(step("a"), step("b", "a"))))
    await made.engine.change_settings(lambda _: Settings(max_model_calls=1))
    session_id = await run(made)
    assert status(made, session_id) == Status.PAUSED
    await made.engine.change_settings(lambda _: Settings(max_model_calls=3))
    await made.engine.resume(session_id)
    await made.engine.wait(session_id)
    live = made.engine.live(session_id)
    assert live is not None and isinstance(live.session, WorkflowSession)
    assert [one.seconds for one in live.session.workflow.steps] == [12.0, 2.0]


@pytest.mark.parametrize("length", [6_000, 6_001])
async def test_of_a_result_six_thousand_characters_are_kept(tmp_path: Path, length: int) -> None:
    text = ("Result of it. " * 600)[:length].replace(" ", "_")
    made = bench(tmp_path, lambda _: [f"{text}\n[STEP_COMPLETE]\nartifacts: -\nstatus: done"])
    session_id = await run(made)
    live = made.engine.live(session_id)
    assert live is not None and isinstance(live.session, WorkflowSession)
    assert {one.result for one in live.session.workflow.steps} == {text[:6_000]}
