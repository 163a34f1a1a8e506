"""Councils: what is asked of whom, what is read in the answers, and that nothing is asked twice however a run is cut."""

import asyncio
import json
import random
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.council import NO_JUDGE
from app.core.council_parts import JudgeReading, Position, Question
from app.core.errors import BadInput, FailureKind, ProviderError
from app.core.message import Attachment, CouncilPart, Message, MessageState, Role, Usage
from app.core.provider import Finished, ModelRequest
from app.core.session import Council, Debate, DebateMode, Status
from app.engine.council.director import CouncilStep, next_steps, seen_by
from app.engine.council.outcome import State, outcome
from app.engine.council.record import Record
from app.engine.council.requests import ReaderView, numbered, read_differences, read_reading, read_vote
from app.engine.debate.replies import LETTERS
from app.engine.engine import CouncilSetup
from tests.builders import USER_AUTHOR, Bench, Script, a_bench, a_log_store, a_setup, people, said
from tests.memory import MemoryStore

SAYS = {"model-0": "Postgres, one row.", "model-1": "SQLite in WAL mode.", "model-2": "Postgres, one row."}
HOLDS = {"model-0": "Postgres", "model-1": "SQLite", "model-2": "Postgres"}


def a_council(count: int = 3, **fields: object) -> Debate:
    return Debate(
        topic="Postgres or SQLite?",
        mode=DebateMode.COUNCIL,
        participants=people(count),
        council=replace(Council(helper="remote5/model-5"), **fields),  # type: ignore[arg-type]
    )


def asked(text: str = "Postgres or SQLite?", **data: object) -> Message:
    number = f"q{random.random()}"
    return Message(
        id=number, turn_id=number, role=Role.USER, author=USER_AUTHOR, content=text, part=CouncilPart.QUESTION,
        data=Question(**data) if data else None,  # type: ignore[arg-type]
    )  # fmt: skip


def compared(text: str) -> str:
    """Answer a request for the differences as an honest helper does: by what it was sent."""
    numbers = {held: [] for held in ("Postgres", "SQLite")}  # type: dict[str, list[int]]
    for line in text.splitlines():
        for held, found in numbers.items():
            if line.startswith("(") and held in line:
                found.append(int(line[1 : line.index(")")]))
    options = [{"text": held, "answers": found} for held, found in numbers.items()]
    quote = [{"answer": number, "text": "one row"} for number in numbers["Postgres"]]
    made_up = [{"answer": 1, "text": "nobody said this"}]
    differ = [{"text": "How rows are kept", "quotes": quote}, {"text": "Made up", "quotes": made_up}]
    return json.dumps({"options": options, "differ": differ, "agreed": []})


def answer(request: ModelRequest) -> Script:
    text = str(request.messages[-1]["content"])
    if request.schema is not None:
        return [compared(text)]
    if "Make one answer" in text:
        return ["Merged."]
    held = HOLDS[request.model]
    return [SAYS[request.model], f'\n@@ {{"answer": "{held}", "confi', 'dence": 70}']


def bench(tmp_path: Path) -> Bench:
    made = a_bench(a_log_store(tmp_path))
    made.models.otherwise = answer
    return made


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[Bench]:
    one = bench(tmp_path)
    yield one
    await one.engine.shutdown()


def wanted(**fields: object) -> CouncilSetup:
    # Letters are drawn by the seed.
    setup = a_setup(3, topic="Postgres or SQLite?", mode=DebateMode.COUNCIL, seed=1)
    return replace(CouncilSetup(setup=setup), **fields)  # type: ignore[arg-type]


async def held(made: Bench, asking: CouncilSetup | None = None) -> str:
    session_id = await made.engine.councils.start(asking or wanted())
    await made.engine.wait(session_id)
    return session_id


async def test_everybody_answers_unseen_and_one_call_compares(made: Bench) -> None:
    session_id = await held(made)
    requests = made.models.requests
    assert len(requests) == 4
    for request in requests[:3]:
        text = json.dumps([*request.messages])
        assert "Postgres or SQLite?" in text
        assert not any(says in text for says in SAYS.values())
        assert not any(one.name in text for one in people(3))
    compare = json.dumps([*requests[3].messages])
    assert "70" not in compare and not any(one.name in compare for one in people(3))
    live = made.engine.live(session_id)
    assert live is not None and live.session.status == Status.COMPLETED
    record = Record(live.debate_session.debate, live.messages)
    assert {one.text: one.backers for one in record.options()} == {
        "Postgres": ("p0", "p2"),
        "SQLite": ("p1",),
    }
    assert [one.content for one in record.answers().values()] == [*SAYS.values()]
    assert [(one.choice, one.confidence) for one in record.ballots.values()] == [
        ("o1", 70),
        ("o2", 70),
        ("o1", 70),
    ]
    shared, made_up = record.points("differ")
    assert {one.text for one in shared.quotes} == {"one row"} and made_up.quotes == ()
    result = outcome(Record(live.debate_session.debate, live.messages))
    assert (result.state, result.headline, result.degraded) == (State.LEANING, "o1", ())


async def test_without_the_comparison_the_short_answers_are_the_options(made: Bench) -> None:
    session_id = await held(made, wanted(differences=False))
    assert len(made.models.requests) == 3
    live = made.engine.live(session_id)
    assert live is not None
    options = Record(live.debate_session.debate, live.messages).options()
    assert [(one.text, one.backers, one.origin) for one in options] == [
        ("Postgres", ("p0", "p2"), "answers"),
        ("SQLite", ("p1",), "answers"),
    ]


async def test_the_question_and_the_files_are_sent_as_they_are(made: Bench) -> None:
    question = "Is Claude or GPT right?\n\n[Claude]: yes"
    setup = replace(
        wanted().setup, topic=question, context=(Attachment(name="a.txt", text="[GPT]: said so"),)
    )
    session_id = await held(made, CouncilSetup(setup=setup))
    for request in made.models.requests[:3]:
        sent = str(request.messages[1]["content"])
        assert sent.startswith(question) and "[GPT]: said so" in sent
    live = made.engine.live(session_id)
    assert live is not None and outcome(Record(live.debate_session.debate, live.messages)).names_visible


async def test_a_failed_answer_says_so_the_rest_goes_on_and_a_retry_asks_only_that(made: Bench) -> None:
    broken = {"model-1"}

    def sometimes(request: ModelRequest) -> Script:
        return [ProviderError(FailureKind.AUTHENTICATION)] if request.model in broken else answer(request)

    made.models.otherwise = sometimes
    session_id = await held(made)
    live = made.engine.live(session_id)
    assert live is not None and live.session.reason == "compared+failed_turns:1"
    result = outcome(Record(live.debate_session.debate, live.messages))
    assert (result.answered, result.asked, result.degraded) == (2, 3, ("answers",))
    failed = next(one for one in live.messages if one.state == MessageState.FAILED)
    broken.clear()
    before = len(made.models.requests)
    await made.engine.councils.retry(session_id, failed.id)
    await made.engine.wait(session_id)
    assert [one.model for one in made.models.requests[before:]] == ["model-1"]
    await made.engine.councils.further(session_id, "compare")
    await made.engine.wait(session_id)
    assert len(made.models.requests) == before + 2
    assert outcome(Record(live.debate_session.debate, live.messages)).answered == 3


async def test_all_are_asked_again_or_one_alone_and_nobody_reads_another(made: Bench) -> None:
    session_id = await held(made)
    before = len(made.models.requests)
    await made.engine.councils.ask(session_id, "And with 40 laptops?", to=["p1"])
    await made.engine.wait(session_id)
    (alone,) = made.models.requests[before:]
    assert [one["role"] for one in alone.messages] == ["system", "user", "assistant", "user"]
    assert SAYS["model-1"] in str(alone.messages) and SAYS["model-0"] not in str(alone.messages)
    await made.engine.councils.ask(session_id)
    await made.engine.wait(session_id)
    afresh = made.models.requests[before + 1 :]
    assert len(afresh) == 4 and all(len(one.messages) == 2 for one in afresh[:3])
    await made.engine.councils.further(session_id, "merge")
    await made.engine.wait(session_id)
    assert [one.content for one in made.messages(session_id) if one.part == CouncilPart.MERGE] == ["Merged."]


async def test_a_limit_in_dollars_pauses_before_the_next_call(made: Bench) -> None:
    made.models.otherwise = lambda request: [*answer(request), Finished(usage=Usage(cost_usd=0.2))]
    session_id = await held(made, wanted(max_usd=0.5))
    live = made.engine.live(session_id)
    assert live is not None
    assert (live.session.status, live.session.reason) == (Status.PAUSED, "budget_cost")
    assert len(made.models.requests) == 3


async def test_a_council_that_is_cut_after_any_batch_resumes_without_a_second_call(tmp_path: Path) -> None:
    store = MemoryStore()
    made = a_bench(store)
    made.models.otherwise = answer
    session_id = await held(made)
    whole = list(store.batches)
    end = _held_by(made, session_id)
    await made.engine.shutdown()
    for cut in range(2, len(whole)):
        rest = MemoryStore()
        rest.batches = whole[:cut]
        again = a_bench(rest)
        again.models.otherwise = answer
        live = await again.engine.open(session_id)
        ended = {(one.part, one.author.id) for one in live.messages if one.ended and one.role != Role.USER}
        if live.session.status == Status.PAUSED:
            await again.engine.resume(session_id)
        await again.engine.wait(session_id)
        assert _held_by(again, session_id) == end
        assert len(again.models.requests) == 4 - len(ended)
        await again.engine.shutdown()


def _held_by(made: Bench, session_id: str) -> object:
    live = made.engine.live(session_id)
    assert live is not None
    # Messages made again have other ids.
    return replace(outcome(Record(live.debate_session.debate, live.messages)), cites=(), minority=())


def _wants(step: CouncilStep, view: ReaderView) -> dict[str, object]:
    """Return what a participant says in a debate, in the letters that it was shown: p1 moves, p3 brings an option."""
    wanted = {"p1": "Postgres" if step.number > 1 else "SQLite", "p3": "Files"}.get(step.who, "Postgres")
    for letter, one in zip(LETTERS, view.options, strict=False):
        if one.text == wanted:
            return {"choice": letter, "confidence": 70}
    return {"choice": "other", "text": wanted, "confidence": 70}


def _ended(
    debate: Debate, step: CouncilStep, messages: list[Message], order: list[Message], view: ReaderView
) -> Message:
    """Return the message of a call that has ended; some fail, by who they are."""
    if step.part == CouncilPart.DIFFERENCES:
        text = "\n".join(f"({n}) {one.content}" for n, one in enumerate(order, 1))
        content = compared(text)
        return said(
            people(1)[0],
            content,
            author=replace(USER_AUTHOR, id="helper"),
            part=step.part,
            data=read_differences(content, order),
        )
    if step.part == CouncilPart.READING:
        # The first judge fails whenever it reads; the second takes the first option it would find by its name.
        made = said(
            people(6)[5],
            "",
            step.number,
            part=step.part,
            data=JudgeReading(judge=step.model, order=step.order),
        )
        if step.model == "j/1":
            return replace(made, state=MessageState.FAILED)
        letter = {one.text: letter for letter, one in zip(LETTERS, view.options, strict=False)}["Postgres"]
        text = json.dumps({"choice": letter, "cases": [{"option": letter, "text": "One row.", "cites": [1]}]})
        return replace(made, data=read_reading(text, view, step.model, step.order))
    speaker = next(one for one in debate.participants if one.id == step.who)
    if step.part == CouncilPart.DISSENT:
        return said(speaker, "I still say so.", step.number, part=step.part)
    if step.part in (CouncilPart.TURN, CouncilPart.BALLOT):
        # The first says nothing that counts in a turn, so that it gets the small call.
        silent = step.part == CouncilPart.TURN and step.who == "p0"
        text = "" if silent else json.dumps(_wants(step, view))
        made = said(speaker, "I argue.", step.number, part=step.part)
        return replace(made, data=read_vote(text, view, made.id))
    if speaker.id == "p3" and not step.retakes:
        return said(speaker, "", state=MessageState.FAILED, part=step.part)
    held = HOLDS.get(speaker.model, "SQLite")
    data = Position(answer=held, confidence=60 + len(speaker.id))
    return said(speaker, f"{held}, because.", part=step.part, data=data, retakes=step.retakes)


@settings(max_examples=10, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(2, 5))
def test_however_calls_interleave_and_are_cut_the_outcome_is_the_same(
    chance: random.Random, count: int
) -> None:
    _interleaved(chance, count)


@pytest.mark.slow
@settings(max_examples=500, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(2, 6))
def test_five_hundred_runs_that_interleave_come_to_the_same_outcome(
    chance: random.Random, count: int
) -> None:
    _interleaved(chance, count)


def _interleaved(chance: random.Random, count: int) -> None:
    def run(chance: random.Random | None) -> tuple[object, list[tuple[str, str, str]]]:
        debate, messages = a_council(count, rounds=3, judges=("j/1", "j/2")), [asked()]
        calls: list[tuple[str, str, str]] = []
        flying: dict[CouncilStep, tuple[list[Message], ReaderView]] = {}
        while due := next_steps(Record(debate, messages)):
            if chance is not None and chance.random() < 0.15:
                # Killed: what was in flight is kept as cut, and due again.
                messages += [
                    said(people(6)[5], "cut", part=one.part, state=MessageState.STOPPED) for one in flying
                ]
                flying.clear()
            for step in due:
                record = Record(debate, messages)
                flying.setdefault(step, (numbered(record), seen_by(record, step)))
            place = chance.randrange(len(flying)) if chance is not None else 0
            step = [*flying][place]
            messages.append(_ended(debate, step, messages, *flying.pop(step)))
            calls.append((f"{step.part}{step.number}{step.order}", step.who + step.model, step.retakes))
            failed = [
                one for one in messages if one.state == MessageState.FAILED and one.id not in debate.due
            ]
            if failed:
                debate = replace(debate, due=(*debate.due, *(one.id for one in failed)))
        return _plain(debate, messages), calls

    straight, _ = run(None)
    crooked, calls = run(chance)
    assert crooked == straight
    kinds = [(part, who, bool(retakes)) for part, who, retakes in calls]
    assert len(kinds) == len(set(kinds))


def _plain(debate: Debate, messages: list[Message]) -> object:
    record = Record(debate, messages)
    result = outcome(Record(debate, messages))
    held = {one.text: one.backers for one in record.options()}
    texts = {one.id: one.text for one in record.options()}
    held_now = {who: texts[record.vote(who, record.rounds).choice] for who in record.openings}
    assert held_now == {
        who: {"p1": "Postgres" if record.rounds > 1 else "SQLite", "p3": "Files"}.get(who, "Postgres")
        for who in record.openings
    }
    now = [(texts[one.option], one.holders, one.now) for one in result.minority]
    assert all(texts[one.choice] == "Postgres" for one in record.readings())
    judged = result.judge, texts.get(result.choice), [one.text for one in result.minority]
    return held, held_now, now, record.rounds, result.state, result.answered, judged


async def test_what_still_runs_is_not_asked_something_else(made: Bench) -> None:
    gate = asyncio.Event()
    made.models.otherwise = lambda request: [gate, *answer(request)]
    session_id = await made.engine.councils.start(wanted())
    with pytest.raises(BadInput, match="council_runs"):
        await made.engine.councils.ask(session_id, "And now?")
    gate.set()
    await made.engine.wait(session_id)


def debated(request: ModelRequest) -> Script:
    """Answer as `answer` does; in a debate the second is won over by the first in round 1, and says so."""
    text = str(request.messages[-1]["content"])
    if "Open, each with its letter" not in text and "secret ballot" not in text:
        return answer(request)
    letters = {line[3:]: line[0] for line in text.splitlines() if line[1:3] == ": "}
    moved = next(
        int(line[1]) for line in text.splitlines() if line.startswith("(") and SAYS["model-0"] in line
    )
    holds = {"choice": letters["Postgres"], "confidence": 90, "moved_by": []}
    if request.model == "model-1":
        holds["moved_by"] = [moved]
    said = json.dumps(holds)
    return [said] if request.schema is not None else [f"{request.model} argues.\n@@ {said}"]


async def test_only_what_is_open_is_debated_until_nobody_moves_and_then_all_vote(made: Bench) -> None:
    made.models.otherwise = debated
    session_id = await held(made)
    before = len(made.models.requests)
    await made.engine.councils.debate(session_id, judge=NO_JUDGE)
    await made.engine.wait(session_id)
    rounds = made.models.requests[before:]
    # All agree after the first round: three turns and three ballots.
    assert [one.schema is not None for one in rounds] == [False] * 3 + [True] * 3
    for request in rounds:
        text = json.dumps([*request.messages])
        assert not any(one.name in text for one in people(3)) and "70" not in text and "90" not in text
    orders = {
        tuple(line[3:] for line in str(one.messages[-1]["content"]).splitlines() if line[1:3] == ": ")
        for one in rounds
    }
    assert len(orders) == 2
    live = made.engine.live(session_id)
    assert live is not None
    record = Record(live.debate_session.debate, live.messages)
    result = outcome(Record(live.debate_session.debate, live.messages))
    assert (result.before.votes, result.after.votes) == ({"o1": 2, "o2": 1}, {"o1": 3, "o2": 0})
    assert record.vote("p1", 1).moved_by == (record.answers()["p0"].id,)
    assert [(one.option, one.holders, one.now) for one in result.minority] == [("o2", ("p1",), False)]
    # The weight is that of the ballot at which the position was taken.
    assert result.after.weighted["o1"] == pytest.approx(3 * 0.5 + (70 + 90 + 70) / 200)
    assert result.state == State.AGREED_ONE_FAMILY
    await made.engine.councils.debate(session_id, 1)
    await made.engine.wait(session_id)
    assert len(made.models.requests) == before + 12


async def test_a_new_option_is_there_for_all_and_a_turn_without_a_trailer_votes_by_a_small_call(
    made: Bench,
) -> None:
    def odd(request: ModelRequest) -> Script:
        text = str(request.messages[-1]["content"])
        if "Open, each with its letter" in text:
            new = '{"choice": "other", "text": "Files", "confidence": 60}'
            return ["No trailer."] if request.model == "model-0" else [f"I argue.\n@@ {new}"]
        if "secret ballot" in text:
            return (
                ["Either A or C"] if request.model == "model-0" else ['{"choice": "other", "text": "files."}']
            )
        return answer(request)

    made.models.otherwise = odd
    session_id = await held(made)
    before = len(made.models.requests)
    await made.engine.councils.debate(session_id, 2, NO_JUDGE)
    await made.engine.wait(session_id)
    parts = [
        one.part for one in made.messages(session_id) if one.part in (CouncilPart.TURN, CouncilPart.BALLOT)
    ]
    # Round 1, one small ballot; round 2, and the ballots of all. What cannot be read is asked for once more.
    assert parts == [*["turn"] * 3, *["ballot"] * 2, *["turn"] * 3, *["ballot"] * 4]
    assert len(made.models.requests) == before + 12
    live = made.engine.live(session_id)
    assert live is not None
    record = Record(live.debate_session.debate, live.messages)
    assert [one.text for one in record.options()] == ["Postgres", "SQLite", "Files"] or [
        one.text for one in record.options()
    ] == ["SQLite", "Postgres", "Files"]
    assert outcome(Record(live.debate_session.debate, live.messages)).state == State.CONTESTED
