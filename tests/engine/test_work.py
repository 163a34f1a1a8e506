"""All work as rows, from real sessions on a real log: what each state says, needs and offers."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from app.cli.printing.lines import load_texts
from app.core.definitions import Busy
from app.core.errors import FailureKind, ProviderError
from app.core.message import Usage
from app.core.provider import Finished, ModelRequest
from app.core.session import Reason, Status
from app.core.settings import RunLimits, Settings
from app.engine.work import NEVER, Needs, WorkAction, WorkRow, WorkState
from app.storage.paths import DataPaths
from tests.builders import Bench, Script, a_bench, a_log_store, a_setup, left_open, until
from tests.engine import test_group, test_turn, test_workflow
from tests.engine.test_group import acting, hand
from tests.engine.test_queues import QUEUE, gated
from tests.engine.test_sub_agents import who
from tests.engine.test_turn import _asker, a_tool, agent, calling
from tests.engine.test_workflow import DONE_TEXT, step_of

EN, KO = load_texts("en"), load_texts("ko")
STEPS = "Step 1 of 4: A"


async def read(made: Bench) -> Bench:
    """Return an engine whose store has read its index, as the window has before it shows anything."""
    await asyncio.to_thread(made.store.prepare)  # type: ignore[attr-defined]
    return made


def found(made: Bench, session_id: str) -> WorkRow:
    [row] = [one for one in made.engine.work.rows(EN) if one.id == session_id]
    return row


def korean(made: Bench, session_id: str) -> str:
    [row] = [one for one in made.engine.work.rows(KO) if one.id == session_id]
    return row.says


def brief(row: WorkRow) -> tuple[str, str, str, str]:
    return row.state, row.needs, row.action, row.says


async def again(made: Bench, tmp_path: Path) -> Bench:
    """Return an engine that has read nothing but the index."""
    await made.engine.shutdown()
    if made in left_open:
        left_open.remove(made)
    other = await read(a_bench(a_log_store(tmp_path)))
    left_open.append(other)
    return other


async def test_a_question_says_who_asks_what_and_is_answered(tmp_path: Path) -> None:
    script = [calling(("promptUser", {"question": "Which price list?"})), ["Thanks."]]
    made = await read(
        test_turn.bench(tmp_path, script, _asker(), agents=(agent(name="Dana", tools=("promptUser",)),))
    )
    session_id = await test_turn.ask(made)
    row = found(made, session_id)
    says = "Dana asks: Which price list?"
    assert brief(row) == (WorkState.NEEDS_YOU, Needs.ANSWER, WorkAction.ANSWER, says)
    assert (row.who, row.kind, row.reason_code) == (("Dana",), "chat", "")
    assert korean(made, session_id) == "Dana의 질문: Which price list?"
    await made.engine.chats.send(session_id, "The new one.")
    await made.engine.wait(session_id)
    assert made.engine.work.rows(EN) == [], "a chat in which it is the user's turn is no work"


async def test_a_question_of_a_session_that_is_not_open_is_known_from_the_index(tmp_path: Path) -> None:
    made = await read(test_turn.bench(tmp_path, [calling(("promptUser", {"question": "Which?"}))], _asker()))
    session_id = await test_turn.ask(made)
    other = await again(made, tmp_path)
    row = found(other, session_id)
    asks = (WorkState.NEEDS_YOU, Needs.ANSWER, WorkAction.ANSWER, "Asks you something")
    assert brief(row) == asks and other.engine.live(session_id) is None
    await other.engine.open_waiting()
    assert found(other, session_id).says.endswith("asks: Which?")


async def test_an_approval_names_the_tool(tmp_path: Path) -> None:
    made = await read(test_turn.bench(tmp_path, [calling(("open", {"url": "x"}))], a_tool("open", asks=True)))
    row = found(made, await test_turn.ask(made))
    assert brief(row)[:3] == (WorkState.NEEDS_YOU, Needs.APPROVAL, WorkAction.ANSWER)
    assert row.says.endswith("asks: Allow “open”?")


async def test_a_limit_says_which_and_how_much(tmp_path: Path) -> None:
    made = await read(test_turn.bench(tmp_path, [], a_tool("echo"), max_model_calls=3))
    numbers = iter(range(1000))
    made.models.otherwise = lambda _: calling(("echo", {"n": next(numbers)}))
    made.documents._settings = replace(Settings(), max_model_calls=3)
    session_id = await test_turn.ask(made)
    row = found(made, session_id)
    assert brief(row) == (WorkState.NEEDS_YOU, Needs.LIMIT, WorkAction.RESUME, "Paused at 3 calls")
    assert korean(made, session_id) == "모델 호출 3회에서 일시 정지"
    assert (row.reason_code, row.limits) == ("budget_calls", RunLimits(minutes=30, calls=3, usd=2.0))


@pytest.mark.parametrize(
    ("reason", "english", "korean_text"),
    [
        ("budget_cost:150", "Paused at $1.50", "$1.50에서 일시 정지"),
        ("budget_minutes:30", "Paused at 30 min", "30분에서 일시 정지"),
        ("turns_limit:20", "Paused at 20 turns", "20턴에서 일시 정지"),
        ("budget_month", EN("reason.budget_month"), KO("reason.budget_month")),
        ("repeated", EN("reason.repeated"), KO("reason.repeated")),
    ],
)
async def test_a_limit_is_said_as_everywhere_else(
    tmp_path: Path, reason: str, english: str, korean_text: str
) -> None:
    made = await read(test_turn.bench(tmp_path, [["Yes."]]))
    session_id = await test_turn.ask(made)
    live = made.engine.live(session_id)
    assert live is not None
    live.change(status=Status.PAUSED, reason=reason)
    assert brief(found(made, session_id))[1:] == (Needs.LIMIT, WorkAction.RESUME, english)
    assert korean(made, session_id) == korean_text


async def test_what_needs_the_user_is_known_without_a_row_of_what_runs(tmp_path: Path) -> None:
    script = [calling(("promptUser", {"question": "Which?"}))]
    made = await read(test_turn.bench(tmp_path, script, _asker()))
    asks = await test_turn.ask(made)
    gate = asyncio.Event()
    made.models.otherwise = lambda _: ["I begin", gate, "."]
    runs = await made.engine.chats.start("main", "Write.")
    await until(lambda: found(made, runs).says.endswith("is writing"))
    assert [row.id for row in made.engine.work.rows(EN)] == [asks, runs]
    assert [row.id for row in made.engine.work.needing(EN)] == [asks]
    assert made.engine.work.needing(EN) == [found(made, asks)]
    gate.set()
    await made.engine.wait(runs)


async def test_what_was_spent_since_the_last_message_counts(tmp_path: Path) -> None:
    def paid(cost: float | None) -> Script:
        return ["Yes.", Finished(usage=Usage(input_tokens=1, output_tokens=1, cost_usd=cost))]

    made = await read(test_turn.bench(tmp_path, [paid(0.5), paid(0.25), calling(("ask", {})), paid(None)]))
    session_id = await test_turn.ask(made)

    def cost(bench: Bench) -> float | None:
        [summary] = bench.engine.sessions()
        return summary.cost_usd

    assert cost(made) == 0.5
    await made.engine.chats.send(session_id, "Again.")
    await made.engine.wait(session_id)
    assert cost(made) == 0.25, "a new message has a budget of its own"
    other = await again(made, tmp_path)
    assert cost(other) == 0.25
    DataPaths(tmp_path).index.unlink()
    anew = await again(other, tmp_path)
    assert cost(anew) == 0.25, "read from the log, it is the same"


@pytest.mark.parametrize("opened", [True, False])
async def test_what_stopped_says_whether_the_user_or_the_end_of_moot_did_it(
    tmp_path: Path, opened: bool
) -> None:
    made, _gate = gated(tmp_path, agent("po"))
    await read(made)
    session_id = await made.engine.chats.start("po", "One")
    await until(lambda: bool(made.engine.queues.jobs()))
    other = await again(made, tmp_path)
    if opened:
        await other.engine.open(session_id)
    closed = (WorkState.STOPPED, "", WorkAction.RESUME, "Moot was closed")
    assert brief(found(other, session_id)) == closed
    assert found(other, session_id).reason_code == "restart"
    assert korean(other, session_id) == "Moot가 종료되어 일시 정지됨"


async def test_a_group_that_the_user_stopped_is_stopped_and_not_failed(tmp_path: Path) -> None:
    gate = asyncio.Event()
    made = await read(test_group.bench(tmp_path, lambda _: ["I begin.", gate, "."]))
    session_id = await made.engine.groups.start("crew", "Ship it.")
    await until(lambda: bool(made.models.open))
    assert found(made, session_id).state == WorkState.RUNNING
    await made.engine.stop(session_id)
    row = found(made, session_id)
    assert (row.state, row.needs, row.says) == (WorkState.STOPPED, "", "Stopped by you")
    assert korean(made, session_id) == "중지됨 · 사용자 요청"


async def test_a_group_says_who_writes_and_how_far_it_is_and_is_done_at_its_end(tmp_path: Path) -> None:
    gate = asyncio.Event()
    plan = calling(("setPlan", {"items": ["Draw", "Build"]}))
    steps = (plan, calling(("checkDone", {"index": 0})), calling(hand("ann")))
    made = await read(test_group.bench(tmp_path, acting(*steps, member=("I do", gate, " it."))))
    session_id = await made.engine.groups.start("crew", "Ship it.")
    await until(lambda: found(made, session_id).says == "Ann is writing")
    row = found(made, session_id)
    assert (row.state, row.action, row.who) == (WorkState.RUNNING, WorkAction.OPEN, ("Ann",))
    assert row.stands == "Step 2 of 2: Build" and korean(made, session_id) == "Ann 작성 중"
    gate.set()
    await made.engine.wait(session_id)
    row = found(made, session_id)
    assert brief(row) == (WorkState.DONE, "", WorkAction.OPEN, "1 to-do open")
    assert korean(made, session_id) == "할 일 1개 남음"
    assert made.engine.work.rows(EN, NEVER) == [] and made.engine.work.rows(EN, row.since) == [row]


async def test_a_group_names_the_member_that_holds_it_also_between_two_calls(tmp_path: Path) -> None:
    gate = asyncio.Event()
    lead = acting(calling(hand("ann")))

    def answer(request: ModelRequest) -> Script:
        # The orchestrator thinks for long after Ann has answered.
        thinks = who(request) == "orchestrator" and "[Ann]: I did it." in str(request.messages)
        return [gate, "Done."] if thinks else lead(request)

    made = await read(test_group.bench(tmp_path, answer))
    session_id = await made.engine.groups.start("crew", "Ship it.")
    await until(lambda: len(made.models.requests) == 3)
    row = found(made, session_id)
    assert (row.state, row.who, row.of) == (WorkState.RUNNING, ("Ann",), ("Crew",))
    gate.set()
    await made.engine.wait(session_id)
    assert found(made, session_id).who == ("Ann",), "who has worked on it last"
    other = await again(made, tmp_path)
    assert found(other, session_id).who == ("Crew",), "the index knows no more"


async def test_a_group_runs_while_one_member_works_and_another_waits(tmp_path: Path) -> None:
    gate, crew = asyncio.Event(), (agent("ann", name="Ann"), agent("bo", name="Bo", busy=QUEUE))
    lead = acting(calling(hand("ann"), hand("bo")))

    def answer(request: ModelRequest) -> Script:
        return lead(request) if who(request) == "orchestrator" else ["I do", gate, " it."]

    made = await read(test_group.bench(tmp_path, answer, crew=crew))
    alone = await made.engine.chats.start("bo", "Something else.")
    await until(lambda: found(made, alone).says == "Bo is writing")
    session_id = await made.engine.groups.start("crew", "Ship it.")
    await until(lambda: len(made.engine.queues.jobs()) >= 3 and found(made, session_id).who == ("Ann",))
    row = found(made, session_id)
    assert (row.state, row.says) == (WorkState.RUNNING, "Ann is writing")
    gate.set()
    await made.engine.wait(session_id)


async def test_who_waits_for_a_busy_assistant_says_at_which_place(tmp_path: Path) -> None:
    made, gate = gated(tmp_path, agent("po", name="Mina", busy=QUEUE))
    await read(made)
    ids = [await made.engine.chats.start("po", text) for text in ("One", "Two", "Three")]
    await until(lambda: len(made.engine.queues.jobs()) == 3)
    rows = [found(made, one) for one in ids]
    assert [row.state for row in rows] == [WorkState.RUNNING, WorkState.WAITING, WorkState.WAITING]
    assert rows[1].says == "Waiting for Mina, number 1 in the queue"
    assert rows[2].says == "Waiting for Mina, number 2 in the queue"
    assert (rows[2].action, rows[2].who) == (WorkAction.OPEN, ("Mina",)), "nobody else could do it"
    assert korean(made, ids[2]) == "Mina 대기열 두 번째"
    assert made.engine.queues.takers(rows[2].job) == []
    await made.engine.queues.hold("po", True)
    assert found(made, ids[1]).says == "Waiting: Mina takes no new work"
    assert [row.id for row in made.engine.work.rows(EN)] == [ids[0], ids[2], ids[1]], (
        "newest first in a state"
    )
    gate.set()


async def test_a_workflow_says_which_step_runs_asks_or_failed(tmp_path: Path) -> None:
    gate = asyncio.Event()

    def answer(request: ModelRequest) -> Script:
        match step_of(request):
            case "a":
                return ["I begin.", gate, DONE_TEXT]
            case "b":
                return ["I did something."]
            case _:
                return [ProviderError(FailureKind.QUOTA, "no credit")]

    made = await read(test_workflow.bench(tmp_path, answer))
    session_id = await made.engine.workflows.start("Cut a diamond.", "diamond")
    await until(lambda: found(made, session_id).stands == STEPS)
    assert found(made, session_id).state == WorkState.RUNNING
    gate.set()
    await made.engine.wait(session_id)
    row = found(made, session_id)
    assert row.state == WorkState.NEEDS_YOU and row.needs in (Needs.ANSWER, Needs.FAILURE)
    states = {one.id: one.state for one in made.engine.live(session_id).session.workflow.steps}  # type: ignore[union-attr]
    assert states["a"] == "done"


async def test_a_step_that_waits_for_accept_needs_the_user_while_another_runs(tmp_path: Path) -> None:
    gate = asyncio.Event()
    said = {"a": [DONE_TEXT], "b": ["I did something."], "c": ["I work.", gate, DONE_TEXT], "d": [DONE_TEXT]}
    made = await read(test_workflow.bench(tmp_path, lambda request: said[step_of(request)]))
    session_id = await made.engine.workflows.start("Cut a diamond.", "diamond")
    await until(lambda: found(made, session_id).needs == Needs.ANSWER)
    row = found(made, session_id)
    says = "Is “B” done? The assistant did not say so."
    assert brief(row) == (WorkState.NEEDS_YOU, Needs.ANSWER, WorkAction.OPEN, says)
    assert made.engine.sessions()[0].status == Status.RUNNING
    assert [one.id for one in made.engine.work.needing(EN)] == [session_id]
    gate.set()
    await made.engine.wait(session_id)
    assert found(made, session_id).says == says


async def test_a_step_that_does_not_say_it_is_done_is_asked_about(tmp_path: Path) -> None:
    made = await read(test_workflow.bench(tmp_path, lambda _: ["I did something."]))
    session_id = await test_workflow.run(made)
    row = found(made, session_id)
    says = "Is “A” done? The assistant did not say so."
    assert brief(row) == (WorkState.NEEDS_YOU, Needs.ANSWER, WorkAction.OPEN, says)
    assert row.stands == STEPS


async def test_a_failed_step_needs_the_user_and_says_why(tmp_path: Path) -> None:
    made = await read(
        test_workflow.bench(tmp_path, lambda _: [ProviderError(FailureKind.AUTHENTICATION, "no")])
    )
    session_id = await test_workflow.run(made)
    row = found(made, session_id)
    assert (row.state, row.needs) == (WorkState.NEEDS_YOU, Needs.FAILURE)
    assert row.says.startswith("Failed: ") and row.says != "Failed: "
    other = await again(made, tmp_path)
    assert found(other, session_id).needs == Needs.FAILURE, "the index alone says so too"


async def test_a_step_whose_provider_has_no_credit_left_can_be_given_away(tmp_path: Path) -> None:
    script = [ProviderError(FailureKind.QUOTA, "no")]
    made = await read(test_workflow.bench(tmp_path, lambda _: script, agent("other")))
    session_id = await test_workflow.run(made)
    row = found(made, session_id)
    live = made.engine.live(session_id)
    assert live is not None and live.session.reason == FailureKind.QUOTA
    first = live.workflow_session.workflow.definition.steps[0]
    assert brief(row)[:3] == (WorkState.NEEDS_YOU, Needs.FAILURE, WorkAction.GIVE) and row.step == first.id
    assert row.says.startswith(f"Failed: {first.name}: The account") and f": {first.name}" in row.stands
    assert "크레딧" in korean(made, session_id)
    await made.engine.workflows.give(session_id, row.step, "other")


async def test_a_debate_says_its_round_and_is_done_or_stopped(tmp_path: Path) -> None:
    gate = asyncio.Event()
    made = await read(a_bench(a_log_store(tmp_path)))
    left_open.append(made)
    made.models.otherwise = lambda _: ["I think", gate, " so."]
    session_id = await made.engine.debates.start(a_setup(2, rounds=2))
    await until(lambda: found(made, session_id).says.endswith("is writing"))
    row = found(made, session_id)
    assert (row.state, row.who, row.stands) == (WorkState.RUNNING, ("GPT",), "Round 1 of 2")
    assert row.limits == RunLimits()
    await made.engine.stop(session_id)
    stopped = found(made, session_id)
    assert (stopped.state, stopped.says, stopped.action) == (
        WorkState.STOPPED, "Stopped by you", WorkAction.RESUME,
    )  # fmt: skip
    await made.engine.resume(session_id)
    gate.set()
    await made.engine.wait(session_id)
    assert found(made, session_id).state == WorkState.DONE


async def test_what_a_program_began_is_work_also_when_it_is_done(tmp_path: Path) -> None:
    made = await read(test_turn.bench(tmp_path, [["Yes."]]))
    session_id = await made.engine.chats.start("main", "Do it.", asked_by="Claude Code")
    await made.engine.wait(session_id)
    assert made.engine.sessions()[0].status == Status.IDLE
    assert found(made, session_id).state == WorkState.DONE


async def test_whose_last_answer_failed_is_marked_until_another_one_is_shown(tmp_path: Path) -> None:
    denied = [ProviderError("authentication", "401")]
    made = await read(test_turn.bench(tmp_path, [denied, ["Yes."], denied]))
    session_id = await made.engine.chats.start("main", "Do it.", asked_by="Claude Code")

    async def states() -> tuple[str, str]:
        await made.engine.wait(session_id)
        [summary] = made.engine.sessions()
        return summary.status, summary.reason

    assert await states() == (Status.IDLE, Reason.NOT_ANSWERED)
    assert brief(found(made, session_id))[:2] == (WorkState.NEEDS_YOU, Needs.FAILURE)
    live = made.engine.live(session_id)
    assert live is not None
    failed_turn = live.shown()[-1].turn_id
    await made.engine.chats.retry(session_id, live.shown()[-1].id)
    assert await states() == (Status.IDLE, "")
    assert found(made, session_id).state == WorkState.DONE
    await made.engine.chats.choose_version(session_id, failed_turn)
    assert await states() == (Status.IDLE, Reason.NOT_ANSWERED)
    await made.engine.chats.choose_version(session_id, live.turns.versions(failed_turn)[-1])
    assert await states() == (Status.IDLE, "")


async def test_a_paused_run_of_the_user_is_stopped_with_other_words(tmp_path: Path) -> None:
    made, gate = gated(tmp_path, agent("po", busy=Busy(strategy="queue")))
    await read(made)
    session_id = await made.engine.chats.start("po", "One")
    await until(lambda: bool(made.engine.queues.jobs()))
    await made.engine.pause(session_id)
    await made.engine.pause(session_id)
    row = found(made, session_id)
    assert brief(row) == (WorkState.STOPPED, "", WorkAction.RESUME, "Paused by you")
    gate.set()
