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

from app.core.errors import BadInput, FailureKind, ProviderError
from app.core.message import CouncilPart, Message, MessageState, Role
from app.core.provider import Finished, ModelRequest
from app.core.session import ContextFile, Council, Debate, DebateMode, Status
from app.engine.council.director import CouncilStep, next_steps
from app.engine.council.families import family_of
from app.engine.council.outcome import State, outcome
from app.engine.council.record import Record
from app.engine.council.replies import OTHER, TrailerCleaner, confidence_of, read_choice, read_trailer
from app.engine.council.requests import numbered, read_differences
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
        data=data or None,
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
    setup = a_setup(3, topic="Postgres or SQLite?", mode=DebateMode.COUNCIL)
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
    assert [(one.choice, one.confidence) for one in record.ballots()] == [("o1", 70), ("o2", 70), ("o1", 70)]
    shared, made_up = record.points("differ")
    assert {one.text for one in shared.quotes} == {"one row"} and made_up.quotes == ()
    result = outcome(live.debate_session.debate, live.messages)
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
        wanted().setup, topic=question, context=(ContextFile(name="a.txt", text="[GPT]: said so"),)
    )
    session_id = await held(made, CouncilSetup(setup=setup))
    for request in made.models.requests[:3]:
        sent = str(request.messages[1]["content"])
        assert sent.startswith(question) and "[GPT]: said so" in sent
    live = made.engine.live(session_id)
    assert live is not None and outcome(live.debate_session.debate, live.messages).names_visible


async def test_a_failed_answer_says_so_the_rest_goes_on_and_a_retry_asks_only_that(made: Bench) -> None:
    broken = {"model-1"}

    def sometimes(request: ModelRequest) -> Script:
        return [ProviderError(FailureKind.AUTHENTICATION)] if request.model in broken else answer(request)

    made.models.otherwise = sometimes
    session_id = await held(made)
    live = made.engine.live(session_id)
    assert live is not None and live.session.reason == "compared+failed_turns:1"
    result = outcome(live.debate_session.debate, live.messages)
    assert (result.answered, result.asked, result.degraded) == (2, 3, ("answers",))
    failed = next(one for one in live.messages if one.state == MessageState.FAILED)
    broken.clear()
    before = len(made.models.requests)
    await made.engine.councils.retry(session_id, failed.id)
    await made.engine.wait(session_id)
    assert [one.model for one in made.models.requests[before:]] == ["model-1"]
    await made.engine.councils.compare(session_id)
    await made.engine.wait(session_id)
    assert len(made.models.requests) == before + 2
    assert outcome(live.debate_session.debate, live.messages).answered == 3


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
    await made.engine.councils.merge(session_id)
    await made.engine.wait(session_id)
    assert [one.content for one in made.messages(session_id) if one.part == CouncilPart.MERGE] == ["Merged."]


async def test_a_limit_in_dollars_pauses_before_the_next_call(made: Bench) -> None:
    made.models.otherwise = lambda request: [*answer(request), Finished(cost_usd=0.2)]
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
    return outcome(live.debate_session.debate, live.messages)


def _ended(debate: Debate, step: CouncilStep, messages: list[Message], order: list[Message]) -> Message:
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
    speaker = next(one for one in debate.participants if one.id == step.who)
    if speaker.id == "p3" and not step.retakes:
        return said(speaker, "", state=MessageState.FAILED, part=step.part)
    held = HOLDS.get(speaker.model, "SQLite")
    data = {"answer": held, "confidence": 60 + len(speaker.id)}
    return said(speaker, f"{held}, because.", part=step.part, data=data, retakes=step.retakes)


@settings(max_examples=40, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(2, 5))
def test_however_calls_interleave_and_are_cut_the_outcome_is_the_same(
    chance: random.Random, count: int
) -> None:
    _interleaved(chance, count)


@pytest.mark.slow
@settings(max_examples=1_000, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(2, 6))
def test_a_thousand_runs_that_interleave_come_to_the_same_outcome(chance: random.Random, count: int) -> None:
    _interleaved(chance, count)


def _interleaved(chance: random.Random, count: int) -> None:
    def run(chance: random.Random | None) -> tuple[object, list[tuple[str, str, str]]]:
        debate, messages = a_council(count), [asked()]
        calls: list[tuple[str, str, str]] = []
        flying: dict[CouncilStep, list[Message]] = {}
        while due := next_steps(debate, messages):
            if chance is not None and chance.random() < 0.15:
                # Killed: what was in flight is kept as cut, and due again.
                messages += [
                    said(people(6)[5], "cut", part=one.part, state=MessageState.STOPPED) for one in flying
                ]
                flying.clear()
            for step in due:
                flying.setdefault(step, numbered(debate, messages))
            place = chance.randrange(len(flying)) if chance is not None else 0
            step = [*flying][place]
            messages.append(_ended(debate, step, messages, flying.pop(step)))
            calls.append((step.part, step.who, step.retakes))
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
    result = outcome(debate, messages)
    held = {one.text: one.backers for one in record.options()}
    return held, [one.confidence for one in record.ballots()], result.state, result.answered


SHOWN = (("o3", "Postgres, one row per document"), ("o1", "SQLite"), ("o2", "Neither of them"))


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ('{"choice": "B", "confidence": 80}', "o1"),
        ('```json\n{"choice": "B",}\n```', "o1"),
        ("{'choice': 'c'}", "o2"),
        ("{“choice”: “A”}", "o3"),
        ('{"choice": "SQLite"}', "o1"),
        ('{"choice": "other", "text": "Files"}', OTHER),
        ('{"choice": "D"}', ""),
        ('{"choice": "B", "confi', "o1"),
        ("My vote: B.", "o1"),
        ("제 선택은 B입니다.", "o1"),
        ("답: (A)", "o3"),
        ("**C**", "o2"),
        ("B", "o1"),
        ("A", "o3"),
        ("SQLite, since one writer is enough.", "o1"),
        ("Either A or C", ""),
        ("Either B or C", ""),
        ("A difficult question", ""),
        ("I would not choose B.", ""),
        ("I do not vote for A; my choice is B", ""),
        ("B가 아니라고 봅니다", ""),
        ("option A, option B", ""),
        ("", ""),
    ],
)
def test_two_candidates_are_none(text: str, choice: str) -> None:
    assert read_choice(text, SHOWN) == choice


@pytest.mark.parametrize(
    ("value", "percent"),
    [
        (70, 70),
        ("70 %", 70),
        (0.7, 70),
        (1, 1),
        (100, 100),
        (101, None),
        (-1, None),
        (True, None),
        ("sure", None),
    ],
)
def test_a_confidence_is_a_percentage(value: object, percent: int | None) -> None:
    assert confidence_of(value) == percent


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    ("written", "shown", "found"),
    [
        ('Use it.\n\n@@ {"answer": "Use it", "confidence": 0.8}', "Use it.", {"answer": "Use it", "confidence": 80}),
        ('Mail me @@ home.\n@@{"answer": "x"}\n', "Mail me @@ home.", {"answer": "x"}),
        ('`@@ {"answer":\n "x"}`\nAnd more.', "And more.", {"answer": "x"}),
        ("Plain.", "Plain.", {}),
        ("Broken.\n@@ {answer", "Broken.", {}),
    ],
)  # fmt: skip
def test_the_last_line_is_not_shown(written: str, shown: str, found: dict[str, object], size: int) -> None:
    cleaner = TrailerCleaner.for_name("GPT")
    pieces = [cleaner.feed(written[at : at + size])[0] for at in range(0, len(written), size)]
    text = "".join([*pieces, cleaner.finish()[0]])
    assert text.strip() == shown
    assert read_trailer(cleaner.trailer) == found


def test_models_of_one_family_are_told_whatever_their_provider() -> None:
    assert family_of("anthropic/claude-opus-4-5") == family_of("claude-haiku") == "anthropic"
    assert family_of("openai/gpt-5.2") == family_of("o3-mini") != family_of("gemini-3-pro")


async def test_what_still_runs_is_not_asked_something_else(made: Bench) -> None:
    gate = asyncio.Event()
    real = made.models.stream

    async def stream(request: ModelRequest) -> AsyncIterator[object]:
        await gate.wait()
        async for delta in real(request):
            yield delta

    made.models.stream = stream  # type: ignore[assignment, method-assign]
    session_id = await made.engine.councils.start(wanted())
    with pytest.raises(BadInput, match="council_runs"):
        await made.engine.councils.ask(session_id, "And now?")
    gate.set()
    await made.engine.wait(session_id)
