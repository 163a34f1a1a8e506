"""Ballots, options, verdicts and forks of debates: what is asked, what counts of the answers, who learns of it."""

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.council import ANY_JUDGE, NO_JUDGE, Decision
from app.core.council_parts import JudgeReading, Position
from app.core.errors import BadInput, FailureKind, NotFound, ProviderError
from app.core.message import CouncilPart, Message, MessageState
from app.core.provider import ModelRequest
from app.core.session import Debate, DebateMode, Status
from app.core.texts import Texts
from app.engine.council.director import CouncilStep, concluding_steps, options_step, seen_by
from app.engine.council.outcome import CouncilOutcome, State, drifted, outcome, vote_places
from app.engine.council.record import Record
from app.engine.council.requests import Requests, read_options
from app.engine.council.verdicts import outcomes, verdict_parts
from app.engine.debate.director import round_to_poll
from app.engine.debate.setup import given_options
from app.engine.scores import standing_lines
from app.storage.codec import checked_session, summary_of
from tests.builders import (
    PROMPTS,
    Bench,
    Script,
    a_bench,
    a_debate,
    a_log_store,
    a_setup,
    left_open,
    people,
    reopened,
    said,
    until,
)
from tests.memory import MemoryStore

TEXTS = Texts.load(Path(__file__).parents[2] / "resources" / "i18n", "en")
STEP, ONCE = "Step by step", "At once"


def _has(request: ModelRequest, name: str) -> bool:
    return request.schema is not None and name in request.schema["properties"]  # type: ignore[operator]


def votes(request: ModelRequest) -> bool:
    return _has(request, "moved_by")


def judges(request: ModelRequest) -> bool:
    return _has(request, "cases")


def finds_options(request: ModelRequest) -> bool:
    return _has(request, "options")


def text_of(request: ModelRequest) -> str:
    content = request.messages[-1]["content"]
    return content if isinstance(content, str) else json.dumps(content)


def letter(request: ModelRequest, option: str) -> str:
    """Return the letter under which a reader sees an option."""
    return next(line[0] for line in text_of(request).splitlines() if line[1:] == f": {option}")


def ballot(request: ModelRequest, option: str, sure: int = 70) -> Script:
    return [json.dumps({"choice": letter(request, option), "text": "", "confidence": sure, "moved_by": []})]


def reading(request: ModelRequest, option: str, *cites: int, case: str = "Do it step by step.") -> Script:
    """Answer as a judge that chooses an option, "" for none of them."""
    chosen = letter(request, option) if option else "none"
    point = {"text": "It takes a week.", "cites": list(cites)}
    cases = [{"option": chosen, "text": case, "cites": list(cites)}]
    said = {"choice": chosen, "confidence": 80, "cases": cases, "agreed": [point], "open": []}
    return [json.dumps({**said, "cruxes": [], "claims": [], "unsupported": []})]


def concluding(request: ModelRequest, option: str = STEP) -> Script:
    """Speak, and vote and judge for one option."""
    if votes(request):
        return ballot(request, option)
    return reading(request, option, 1, 2) if judges(request) else ["I say so."]


def bench(tmp_path: Path, answer: Callable[[ModelRequest], Script] | None = None) -> Bench:
    made = a_bench(a_log_store(tmp_path))
    made.models.otherwise = answer or concluding
    left_open.append(made)
    return made


async def held(made: Bench, **fields: object) -> str:
    wanted = {"rounds": 2, "polls": True, "options": (STEP, ONCE)} | fields
    session_id = await made.engine.debates.start(replace(a_setup(2), **wanted))  # type: ignore[arg-type]
    await made.engine.wait(session_id)
    return session_id


def debate_of(made: Bench, session_id: str) -> Debate:
    live = made.engine.live(session_id)
    assert live is not None
    return live.debate_session.debate


def cast(made: Bench, session_id: str) -> list[Message]:
    return [one for one in made.messages(session_id) if one.part == CouncilPart.BALLOT]


def result_of(made: Bench, session_id: str) -> CouncilOutcome:
    return outcome(Record(debate_of(made, session_id), made.messages(session_id)))


def kind(request: ModelRequest) -> str:
    if votes(request):
        return "vote"
    return "judge" if judges(request) else "options" if finds_options(request) else "turn"


def words_of(made: Bench, session_id: str) -> list[str]:
    live = made.engine.live(session_id)
    assert live is not None
    parts = verdict_parts(live.debate_session, live.messages, TEXTS)
    return [text for heading, points in parts for text in (heading, *(one.text for one in points))]


async def test_everybody_votes_before_and_after_each_round_and_a_verdict_follows(tmp_path: Path) -> None:
    made = bench(tmp_path)
    session_id = await held(made)
    one, two = (who.id for who in debate_of(made, session_id).participants)
    assert [kind(each) for each in made.models.requests] == [
        *["vote"] * 2, *["turn"] * 2, *["vote"] * 2, *["turn"] * 2, *["vote"] * 2, *["judge"] * 2,
    ]  # fmt: skip
    assert sorted((each.round, each.author.id) for each in cast(made, session_id)) == [
        (number, who) for number in (0, 1, 2) for who in (one, two)
    ]
    assert {each.data_as(Position).choice for each in cast(made, session_id)} == {"u1"}
    record = Record(debate_of(made, session_id), made.messages(session_id))
    assert [option.text for option in record.options()] == [STEP, ONCE]
    assert vote_places(record) == {one: (0, 0, 0), two: (0, 0, 0)}
    result = result_of(made, session_id)
    assert (result.headline, result.state, result.judge) == (
        "u1",
        State.AGREED_ONE_FAMILY,
        record.readings()[0].judge,
    )
    assert result.text == "Do it step by step." and len(result.cites) == 2


async def test_votes_at_the_end_alone_are_one_call_each_also_where_it_ends_within_a_round(
    tmp_path: Path,
) -> None:
    made = bench(tmp_path)
    session_id = await held(made, polls=False, final_ballots=True, judge=NO_JUDGE)
    assert [(one.round, one.data_as(Position).choice) for one in cast(made, session_id)] == [(2, "u1")] * 2
    assert [kind(one) for one in made.models.requests] == [*["turn"] * 4, *["vote"] * 2]

    def passing(request: ModelRequest) -> Script:
        if request.schema is not None:
            return concluding(request)
        later = sum(one.schema is None for one in made.models.requests) > 2
        return ["[PASS]"] if later else ["I say so."]

    made.models.otherwise = passing
    made.models.requests.clear()
    setup = replace(a_setup(3), mode=DebateMode.FREE, rounds=4, final_ballots=True, judge=NO_JUDGE)
    session_id = await made.engine.debates.start(replace(setup, options=(STEP, ONCE)))
    await made.engine.wait(session_id)
    live = made.engine.live(session_id)
    assert live is not None and (live.session.status, live.session.reason) == (Status.COMPLETED, "exhausted")
    assert [one.data_as(Position).choice for one in cast(made, session_id)] == ["u1"] * 3


async def test_nobody_votes_where_nobody_could_answer(tmp_path: Path) -> None:
    made = bench(
        tmp_path,
        lambda one: concluding(one) if one.schema else [ProviderError(FailureKind.BAD_REQUEST, "400")],
    )
    session_id = await held(made, polls=False, final_ballots=True, rounds=1)
    live = made.engine.live(session_id)
    while live is not None and live.session.status == Status.PAUSED:
        await made.engine.debates.held.skip(session_id)
        await made.engine.wait(session_id)
    assert not any(map(votes, made.models.requests))


async def test_ballots_and_readings_are_on_the_disk_and_are_not_asked_for_twice() -> None:
    store = MemoryStore()
    left: list[tuple[MemoryStore, list[str]]] = []

    def talking(kept: MemoryStore) -> Bench:
        made = a_bench(kept)
        left_open.append(made)

        def answer(request: ModelRequest) -> Script:
            if kept is store:
                left.append((store.killed(), [kind(one) for one in made.models.requests[:-1]]))
            return concluding(request)

        made.models.otherwise = answer
        return made

    first = talking(store)
    session_id = await held(first)
    whole = [kind(one) for one in first.models.requests]
    whole_result = result_of(first, session_id)
    # Calls that are made side by side are asked before the first of them has ended.
    for rest, _asked in left[::3]:
        again = talking(rest)
        await again.engine.open(session_id)
        await again.engine.resume(session_id)
        await again.engine.wait(session_id)
        done = [one for one in again.messages(session_id) if one.ended and one.author.kind != "user"]
        assert len(done) == len(whole)
        assert len({(one.part, one.author.id, one.round) for one in done}) == len(whole), (
            "none is there twice"
        )
        result = result_of(again, session_id)
        assert (result.headline, result.state) == (whole_result.headline, whole_result.state)


async def test_nobody_reads_a_ballot_and_without_an_end_nothing_more_is_asked(tmp_path: Path) -> None:
    made = bench(tmp_path)
    await held(made)
    for request in made.models.requests:
        assert '"confidence": 70' not in str(request.messages)
    before = len(made.models.requests)
    plain = await made.engine.debates.start(replace(a_setup(2), rounds=2))
    await made.engine.wait(plain)
    assert len(made.models.requests) - before == 4
    assert cast(made, plain) == [] and words_of(made, plain) == []


@pytest.mark.parametrize(
    ("topic", "options"),
    [
        ("Should cities ban cars?", ["Yes", "No"]),
        ("전기차의 보조금은 필요한가?", None),
        ("Should we migrate?", ["Yes", "No"]),
    ],
)
async def test_a_plain_question_is_answered_with_yes_or_no_without_a_call(
    tmp_path: Path, topic: str, options: list[str] | None
) -> None:
    made = bench(tmp_path, lambda one: concluding(one, "Yes"))
    debate = replace(a_debate(2), topic=topic, final_ballots=True)
    record = Record(debate, [])
    assert [one.text for one in record.options()] == (options or [])
    assert made.models.requests == []


async def test_the_options_are_found_by_one_call_beside_the_turns(tmp_path: Path) -> None:
    def answer(request: ModelRequest) -> Script:
        if finds_options(request):
            return [json.dumps({"options": [STEP, ONCE, "step by step!", ""]})]
        return concluding(request, ONCE)

    made = bench(tmp_path, answer)
    session_id = await held(made, topic="How do we migrate?", options=(), polls=False, final_ballots=True)
    kinds = [kind(one) for one in made.models.requests]
    assert sorted(kinds) == [*["judge"] * 0, "options", *["turn"] * 4, *["vote"] * 2]
    found = next(one for one in made.models.requests if finds_options(one))
    assert "How do we migrate?" in text_of(found)
    record = Record(debate_of(made, session_id), made.messages(session_id))
    assert [(one.id, one.text) for one in record.options()] == [("o1", STEP), ("o2", ONCE)]
    assert result_of(made, session_id).headline == "o2"


@pytest.mark.parametrize(
    "text", ["", "no", "{", '{"options": ["One"]}', '{"options": 7}', '{"options": [1, null, ""]}']
)
def test_what_names_no_two_options_names_none(text: str) -> None:
    assert read_options(text) is None


async def test_where_no_options_are_found_each_brings_its_own(tmp_path: Path) -> None:
    def answer(request: ModelRequest) -> Script:
        if finds_options(request):
            return ["I can't say."]
        if votes(request):
            mine = STEP if request.provider == "openai" else "STEP by step."
            return [json.dumps({"choice": "other", "text": mine, "confidence": 60, "moved_by": []})]
        return ["I say so."]

    made = bench(tmp_path, answer)
    session_id = await held(made, topic="How?", options=(), polls=False, final_ballots=True, judge=NO_JUDGE)
    assert sum(map(finds_options, made.models.requests)) == 1
    result = result_of(made, session_id)
    assert list(result.after.votes.values()) == [2]


def test_options_are_given_once_each_and_at_least_two() -> None:
    assert [(one.id, one.text) for one in given_options(["A b", "a  b!", "C"])] == [
        ("u1", "A b"),
        ("u2", "C"),
    ]
    assert given_options([]) == ()
    with pytest.raises(BadInput, match="options_count"):
        given_options(["Alone"])
    with pytest.raises(BadInput, match="options_count"):
        given_options([f"Option {number}" for number in range(6)])


async def test_the_judge_of_the_set_up_gives_the_verdict_also_without_votes(tmp_path: Path) -> None:
    made = bench(tmp_path)
    second = a_setup(2).participants[1]
    judge = f"{second.provider}/{second.model}"
    session_id = await held(made, polls=False, judge=judge)
    result = result_of(made, session_id)
    assert cast(made, session_id) == []
    assert (result.judge, result.inside, result.headline, result.state) == (judge, True, "u1", State.NONE)
    assert words_of(made, session_id)[:2] == ["Verdict", f"A {STEP}"]
    assert result_of(made, await held(made, polls=False, judge=ANY_JUDGE)).text == "Do it step by step."
    voted = await held(made, judge=NO_JUDGE)
    assert cast(made, voted) and result_of(made, voted).judge == ""


async def test_a_vote_that_cannot_be_had_is_asked_for_once_more_and_is_a_blank_then(tmp_path: Path) -> None:
    def answer(request: ModelRequest) -> Script:
        if votes(request):
            return [ProviderError(FailureKind.BAD_REQUEST, "400")] if request.provider == "openai" else ["?"]
        return concluding(request)

    made = bench(tmp_path, answer)
    session_id = await held(made, polls=False, final_ballots=True, judge=NO_JUDGE)
    live = made.engine.live(session_id)
    assert live is not None and live.session.status == Status.COMPLETED
    assert len(cast(made, session_id)) == 4
    result = result_of(made, session_id)
    assert (result.state, result.headline, len(result.after.missing)) == (State.NONE, "", 2)


async def test_where_no_judge_answers_that_and_the_last_words_are_left(tmp_path: Path) -> None:
    made = bench(
        tmp_path,
        lambda one: [ProviderError(FailureKind.SERVER, "500")] if judges(one) else ["I say so. " * 60],
    )
    session_id = await held(made, polls=False, judge=ANY_JUDGE)
    result = result_of(made, session_id)
    assert (result.judge, result.failure) == ("", "server")
    text = "\n".join(words_of(made, session_id))
    assert TEXTS("verdict.last_statements") in text and "I say so." in text
    made.models.otherwise = concluding
    chosen = [*made.engine.debates.judges(session_id)][1]
    await made.engine.councils.judge(session_id, chosen)
    await made.engine.wait(session_id)
    assert result_of(made, session_id).judge == chosen
    again = await reopened(made, tmp_path)
    left_open[:] = [again]
    await again.engine.open(session_id)
    kept = result_of(again, session_id)
    assert kept.judge == chosen and kept.cites


async def test_no_other_judge_answers_where_the_chosen_one_fails(tmp_path: Path) -> None:
    second = a_setup(2).participants[1]
    judge = f"{second.provider}/{second.model}"

    def answer(one: ModelRequest) -> Script:
        return [ProviderError(FailureKind.NETWORK, "refused")] if judges(one) else concluding(one)

    made = bench(tmp_path, answer)
    session_id = await held(made, polls=False, judge=judge)
    result = result_of(made, session_id)
    assert (result.judge, result.failure) == ("", "network")
    assert {f"{one.provider}/{one.model}" for one in made.models.requests if judges(one)} == {judge}
    offered = [*made.engine.debates.judges(session_id)]
    assert offered[0] == judge and len(offered) > 1


@pytest.mark.parametrize(
    ("second", "unstable", "choice"),
    [(STEP, False, "u1"), (ONCE, True, ""), ("", True, ""), ("?", False, "")],
)
async def test_a_judge_reads_again_in_another_order_and_says_so_where_that_changes_its_mind(
    tmp_path: Path, second: str, unstable: bool, choice: str
) -> None:
    read: list[str] = []

    def answer(request: ModelRequest) -> Script:
        if not judges(request):
            return ["I say so."]
        read.append(text_of(request))
        again = not _has(request, "claims")
        if again and second == "?":
            return ["A or B"]
        return reading(request, second if again else STEP, 1, 2)

    made = bench(tmp_path, answer)
    session_id = await held(made, polls=False, judge=ANY_JUDGE, independent_opening=True)
    result = result_of(made, session_id)
    assert (result.unstable, result.choice) == (unstable, choice)
    assert ("second_reading" in result.degraded) == (second == "?")
    first, again = read
    spoke = [re.findall(r"^\(\d\) Participant (\w): I", text, re.MULTILINE)[:2] for text in (first, again)]
    assert [sorted(one) for one in spoke] == [["A", "B"]] * 2
    assert (first.index(STEP) < first.index(ONCE)) != (again.index(STEP) < again.index(ONCE))


async def test_a_judge_of_a_debate_reads_what_was_said_in_time(tmp_path: Path) -> None:
    one, two = people(2)
    messages = [
        said(one, "First.", 1, id="m1"),
        said(two, "Second.", 1, id="m2"),
        said(one, "Third.", 2, id="m3"),
    ]
    record = Record(replace(a_debate(2), judge=ANY_JUDGE), messages)
    for order in (1, 2):
        view = seen_by(record, CouncilStep(CouncilPart.READING, number=2, model="openai/gpt", order=order))
        assert [each.id for each in view.statements] == ["m1", "m2", "m3"]


async def test_a_debate_that_runs_is_not_judged(tmp_path: Path) -> None:
    gate = asyncio.Event()
    made = bench(tmp_path, lambda _: [gate])
    session_id = await made.engine.debates.start(a_setup(2))
    with pytest.raises(BadInput, match="debate_runs"):
        await made.engine.councils.judge(session_id, ANY_JUDGE)
    gate.set()


async def test_a_stopped_debate_is_judged_as_it_is_and_goes_on_where_it_was(tmp_path: Path) -> None:
    made = bench(tmp_path)

    def stopping(request: ModelRequest) -> Script:
        if not judges(request) and len(made.models.requests) == 3:
            asyncio.get_running_loop().call_soon(asyncio.ensure_future, made.engine.pause(session_id))
        return concluding(request)

    made.models.otherwise = stopping
    setup = replace(a_setup(2), rounds=2, judge=NO_JUDGE, options=(STEP, ONCE))
    session_id = await made.engine.debates.start(setup)
    session = await made.engine.wait(session_id)
    assert session.status == Status.PAUSED
    before = len(made.models.requests)
    await made.engine.councils.judge(session_id, ANY_JUDGE)
    session = await made.engine.wait(session_id)
    assert session.status == Status.PAUSED
    assert [kind(one) for one in made.models.requests[before:]] == ["judge", "judge"]
    assert result_of(made, session_id).text == "Do it step by step."
    await made.engine.resume(session_id)
    session = await made.engine.wait(session_id)
    assert session.status == Status.COMPLETED
    # What ends without a verdict isn't judged because that was asked for once.
    assert sum(map(judges, made.models.requests)) == 2
    assert [one.number for one in made_verdicts(made, session_id)] == [1]


def made_verdicts(made: Bench, session_id: str) -> Sequence[object]:
    return outcomes(debate_of(made, session_id), made.messages(session_id))


@pytest.mark.parametrize("mode", ["round-robin", DebateMode.FREE])
async def test_a_fork_goes_on_from_its_turn_and_leaves_the_other_alone(tmp_path: Path, mode: str) -> None:
    made = bench(tmp_path)
    session_id = await held(made, mode=mode)
    turns = await made.engine.debates.turns(session_id)
    assert [one.round for one in turns] == [1, 1, 2, 2]
    before = [one.content for one in made.messages(session_id)]
    fork = await made.engine.debates.fork(session_id, turns[1].id)
    live = made.engine.live(fork)
    assert live is not None and (live.session.status, live.session.reason) == (Status.PAUSED, "forked")
    debate = debate_of(made, fork)
    assert (debate.round, debate.turn) == (2, 0)
    assert {one.round for one in cast(made, fork)} == {0}
    assert not {one.id for one in live.messages} & {one.id for one in turns}
    await made.engine.resume(fork)
    await made.engine.wait(fork)
    assert live.session.status == Status.COMPLETED and len(live.said) == 4
    # Also when it has gone on it is told from its origin, and so it is kept.
    kept = [checked_session(made.debate_of(one)) for one in (session_id, fork)]
    assert [summary_of("s", one, 0, "", False).is_fork for one in kept] == [False, True]
    assert sorted(one.round for one in cast(made, fork)) == [0, 0, 1, 1, 2, 2]
    assert [one.content for one in made.messages(session_id)] == before
    with pytest.raises(NotFound):
        await made.engine.debates.fork(session_id, "nothing")


def test_a_long_debate_fits_its_judge_and_a_voter_reads_the_last_statements() -> None:
    one, two = people(2)
    messages = [
        said(who, f"{n} " + "word " * 2_000, n, id=f"{n}{who.id}") for n in range(1, 60) for who in (one, two)
    ]
    record = Record(replace(a_debate(2), rounds=59), messages)
    step = CouncilStep(CouncilPart.READING, number=59, model="openai/gpt", order=1)
    request = Requests(record, PROMPTS).reading(step.model, 1, seen_by(record, step))
    text = str(request.messages[0]["content"])
    assert len(text) < 210_000 and "(1) Participant" in text and "(118) Participant" in text
    view = seen_by(record, CouncilStep(CouncilPart.BALLOT, one.id, number=59))
    assert [each.id for each in view.statements] == [each.id for each in messages[-15:]]


def test_when_ballots_are_due() -> None:
    debate = a_debate(2, polls=True)
    assert round_to_poll(debate) == 0
    assert round_to_poll(replace(debate, turn=1)) is None
    assert round_to_poll(replace(debate, round=2)) == 1
    last = replace(debate, polls=False, final_ballots=True)
    assert round_to_poll(last) is None
    assert round_to_poll(replace(last, round=debate.rounds + 1)) == debate.rounds
    assert round_to_poll(replace(last, round=2, turn=1)) is None
    assert round_to_poll(replace(last, round=2, turn=1), ended=True) == 2
    assert round_to_poll(replace(last, round=2, turn=0), ended=True) == 1
    assert round_to_poll(replace(debate, polls=False)) is None


def test_what_is_due_beside_the_turns() -> None:
    one, two = people(2)
    debate = replace(a_debate(2), polls=True, judge=NO_JUDGE)
    assert [(step.part, step.who) for step in concluding_steps(Record(debate, []), (), ended=False)] == [
        ("ballot", one.id),
        ("ballot", two.id),
    ]
    assert [step.who for step in concluding_steps(Record(debate, []), [one.id], ended=False)] == [two.id]
    assert options_step(Record(debate, [])) is None, "nobody could look for them"


@pytest.mark.parametrize(("file_format", "language"), [("md", "en"), ("html", "ko")])
async def test_the_verdict_and_the_votes_are_exported(
    tmp_path: Path, file_format: str, language: str
) -> None:
    made = bench(tmp_path)
    session_id = await held(made, language=language)
    text = await made.engine.export(session_id, file_format)
    name = debate_of(made, session_id).participants[0].name
    assert "Do it step by step." in text
    assert f"{name}: A → A → A" in text
    levels = re.findall(r'text-anchor="end">([^<]+)</text>', text)
    columns = re.findall(r'text-anchor="middle">([^<]+)</text>', text)
    shown = file_format == "html"
    assert levels == (["A", "B"] if shown else [])
    assert columns == (["시작 전", "1라운드", "2라운드"] if shown else [])
    assert {"en": "Status: Completed", "ko": "완료"}[language] in text
    built_in = {"en": "Small built-in model.", "ko": "작은 내장 모델"}[language]
    assert built_in not in text
    live = made.engine.live(session_id)
    assert live is not None
    debate = debate_of(made, session_id)
    seats = tuple(replace(one, provider="embedded") for one in debate.participants)
    live.session = replace(live.session, debate=replace(debate, participants=seats))
    assert built_in in await made.engine.export(session_id, file_format)
    whole = json.loads(await made.engine.export(session_id, "json"))
    assert len(whole["decision"]["ballots"]) == 6
    assert whole["decision"]["outcome"]["headline"] == "u1"
    assert [one["judge"] for one in whole["decision"]["readings"]] == [result_of(made, session_id).judge] * 2


async def test_the_verdict_is_said_in_words(tmp_path: Path) -> None:
    made = bench(tmp_path)
    session_id = await held(made)
    words = words_of(made, session_id)
    assert words[0] == "All agree, one family of models"
    assert "A Step by step" in words and "Do it step by step." in words
    assert "It takes a week." in words
    assert any(line.startswith("GPT: A → A → A") for line in words)


def test_a_failed_reading_says_nothing() -> None:
    reading = Message(
        id="r", turn_id="r", role="assistant", author=said(people(1)[0], "").author, part=CouncilPart.READING,
        round=1, state=MessageState.FAILED, data=JudgeReading(judge="openai/gpt", order=1),
    )  # fmt: skip
    assert Record(a_debate(2), [reading]).readings() == ()


def voting(who: int, number: int, choice: str, *cites: str) -> Message:
    """Return a ballot of a debate."""
    one = people(2)[who]
    held = Position(choice=choice, confidence=60, moved_by=cites)
    return said(one, "", number, id=f"v{who}-{number}", part=CouncilPart.BALLOT, data=held)


@pytest.mark.parametrize(
    ("first", "then", "cites", "moved", "counted"),
    [
        ("u1", "u1", ("m3",), "stayed", ()),
        ("u1", "u2", ("m3",), "cited", ("m3",)),
        # Nobody moves by nothing, by what it said itself, by what is not there, or by what was said before it voted.
        ("u1", "u2", (), "drift", ()),
        ("u1", "u2", ("m4",), "drift", ()),
        ("u1", "u2", ("gone",), "drift", ()),
        ("u1", "u2", ("m1",), "drift", ()),
        ("", "u2", ("m3",), None, ()),
        ("u1", "", ("m3",), None, ()),
    ],
)
def test_a_move_counts_as_cited_where_another_argued_for_it_since(
    first: str, then: str, cites: tuple[str, ...], moved: str | None, counted: tuple[str, ...]
) -> None:
    one, two = people(2)
    debate = replace(a_debate(2, polls=True), options=given_options((STEP, ONCE)))
    messages = [
        said(one, "Once.", 1, id="m1"),
        said(two, "Step.", 1, id="m2"),
        voting(0, 1, "u2"),
        voting(1, 1, first),
        said(one, "Once, as it is cheap.", 2, id="m3"),
        said(two, "Perhaps.", 2, id="m4"),
        voting(0, 2, "u2"),
        voting(1, 2, then, *cites),
    ]
    assert Record(debate, messages).moved(two.id, 2) == (moved, counted)
    assert drifted(Record(debate, messages)) == ([two.id] if moved == "drift" else [])
    # A statement whose author holds something else argues for something else.
    messages[2], messages[6] = voting(0, 1, "u1"), voting(0, 2, "u1")
    assert Record(debate, messages).moved(two.id, 2)[1] == ()


async def test_what_no_evidence_would_settle_has_no_headline_unless_the_user_wants_one(
    tmp_path: Path,
) -> None:
    def answer(request: ModelRequest) -> Script:
        if judges(request):
            [text] = reading(request, STEP, 1)
            return [json.dumps({**json.loads(str(text)), "values": True})]
        if votes(request):
            return ballot(request, STEP if request.model == "model-0" else ONCE)
        return ["I say so."]

    made = bench(tmp_path, answer)
    session_id = await held(made, polls=False, final_ballots=True, judge=ANY_JUDGE)
    result = result_of(made, session_id)
    assert (result.state, result.headline, result.judge, result.minority) == (State.VALUES, "", "", ())
    assert set(result.leading) == {"u1", "u2"}
    words = words_of(made, session_id)
    assert words[0].startswith("A question of values") and {f"A {STEP}", f"B {ONCE}"} <= set(words)
    await made.engine.councils.weigh(session_id)
    result = result_of(made, session_id)
    assert (result.state, result.headline) == (State.CONTESTED, "u1")
    await made.engine.councils.weigh(session_id)
    assert result_of(made, session_id).state == State.VALUES


def rewrites(request: ModelRequest) -> bool:
    return "Material:" in text_of(request)


def blind_answers(request: ModelRequest, longer: int = 1) -> Script:
    """Write what is asked for; what all came to is so many times as long as it should be."""
    if rewrites(request):
        size = int(re.search(r"in about (\d+) characters", text_of(request))[1])  # type: ignore[index]
        if "Do it step by step." in text_of(request):
            return ["P" * (size * longer)]
        return ["S" * size]
    return ["Alone I would wait." if "before the answer" in text_of(request) else "I say so."]


async def test_a_blind_pick_shows_two_answers_alike_and_says_whose_they_are_after_it(tmp_path: Path) -> None:
    def answer(request: ModelRequest) -> Script:
        if request.schema is not None:
            return concluding(request)
        written = sum(map(rewrites, made.models.requests))
        return blind_answers(request, 2 if written <= 2 else 1)

    made = bench(tmp_path, answer)
    plain = await held(made, polls=False)
    with pytest.raises(BadInput, match="blind_no_outcome"):
        await made.engine.councils.ask_blind(plain)
    session_id = await held(made, polls=False, final_ballots=True, judge=ANY_JUDGE)
    with pytest.raises(BadInput, match="blind_not_shown"):
        await made.engine.councils.pick(session_id, "A")
    before = len(made.models.requests)
    await made.engine.councils.ask_blind(session_id)
    session = await made.engine.wait(session_id)
    assert session.status == Status.COMPLETED
    asked = made.models.requests[before:]
    # One model alone, both written, and the longer one once more in the size of the other.
    assert [rewrites(one) for one in asked] == [False, True, True, True]
    names = [one.name for one in debate_of(made, session_id).participants]
    for request in asked[1:]:
        text = text_of(request)
        assert not any(name in text for name in names) and "vote" not in text.partition("Material:")[2]
    shown = await made.engine.councils.show_blind(session_id)
    assert shown is not None and sorted(one[0] for one in shown) == ["P", "S"]
    assert max(map(len, shown)) <= 1.2 * min(map(len, shown))
    decision = json.loads(await made.engine.export(session_id, "json"))["decision"]
    assert decision["blind"]["order"] == [] and decision["blind"]["picked"] == ""
    # It is drawn once, and no call is made again.
    await made.engine.councils.ask_blind(session_id)
    again = await reopened(made, tmp_path)
    left_open[:] = [again]
    await again.engine.open(session_id)
    assert await again.engine.councils.show_blind(session_id) == shown
    assert len(again.models.requests) == 0
    with pytest.raises(BadInput, match="blind_picks"):
        await again.engine.councils.pick(session_id, "C")
    kept = await again.engine.councils.pick(session_id, "B")
    assert (kept.picked, kept.was_blind) == ("B", True)
    assert [{"P": "panel", "S": "alone"}[one[0]] for one in shown] == list(kept.order)
    preferred = kept.order[1]
    await until(
        lambda: (again.engine.journal.get(session_id) or Decision(id="", name="")).preferred == preferred
    )
    [line] = [one for one in standing_lines(again.engine.journal.all(), TEXTS) if "Picked blind" in one]
    assert f"in {int(preferred == 'panel')} of 1" in line
    with pytest.raises(BadInput, match="blind_picked"):
        await again.engine.councils.pick(session_id, "A")
    decision = json.loads(await again.engine.export(session_id, "json"))["decision"]
    assert decision["blind"]["order"] == list(kept.order)


async def test_a_pick_after_the_verdict_was_read_is_not_blind(tmp_path: Path) -> None:
    made = bench(tmp_path, lambda one: concluding(one) if one.schema is not None else blind_answers(one))
    session_id = await held(made, polls=False, final_ballots=True, judge=ANY_JUDGE)
    await made.engine.councils.note_read(session_id)
    await made.engine.councils.ask_blind(session_id)
    await made.engine.wait(session_id)
    assert await made.engine.councils.show_blind(session_id) is not None
    assert not (await made.engine.councils.pick(session_id, "equal")).was_blind


async def test_a_verdict_read_between_the_answers_and_the_pick_makes_it_not_blind(tmp_path: Path) -> None:
    made = bench(tmp_path, lambda one: concluding(one) if one.schema is not None else blind_answers(one))
    session_id = await held(made, polls=False, final_ballots=True, judge=ANY_JUDGE)
    live = made.engine.live(session_id)
    assert live is not None
    councils, before = made.engine.councils, len(made.models.requests)
    # One model alone, and both answers, each of them once more at most.
    assert councils.estimate(live.debate_session, live.messages, "blind").turns == 5
    await councils.ask_blind(session_id)
    await made.engine.wait(session_id)
    assert len(made.models.requests) == before + 3
    assert await councils.show_blind(session_id) is not None
    await councils.note_read(session_id)
    assert not (await councils.pick(session_id, "A")).was_blind


async def test_answers_of_a_blind_pick_that_failed_are_written_when_they_are_asked_for_again(
    tmp_path: Path,
) -> None:
    broken = True

    def answer(request: ModelRequest) -> Script:
        if request.schema is not None:
            return concluding(request)
        if broken and (rewrites(request) or "before the answer" in text_of(request)):
            return [ProviderError(FailureKind.BAD_REQUEST, "400")]
        return blind_answers(request)

    made = bench(tmp_path, answer)
    session_id = await held(made, polls=False, final_ballots=True, judge=ANY_JUDGE)
    councils = made.engine.councils
    for _ in range(2):
        await councils.ask_blind(session_id)
        await made.engine.wait(session_id)
        assert await councils.show_blind(session_id) is None
    broken = False
    await councils.ask_blind(session_id)
    await made.engine.wait(session_id)
    assert await councils.show_blind(session_id) is not None
    assert debate_of(made, session_id).council.blind.asked == 3  # type: ignore[union-attr]


async def test_a_provider_that_asks_to_wait_holds_up_no_vote_and_no_verdict(tmp_path: Path) -> None:
    def answer(request: ModelRequest) -> Script:
        if request.model == "model-0" and (votes(request) or judges(request)):
            return [ProviderError(FailureKind.RATE_LIMIT, "429", retry_after=3_600.0)]
        return concluding(request)

    made = bench(tmp_path, answer)
    session_id = await held(made, polls=False, final_ballots=True, judge=ANY_JUDGE)
    live = made.engine.live(session_id)
    assert live is not None and live.session.status == Status.COMPLETED
    blanks = [one.error.kind for one in cast(made, session_id) if one.error is not None]
    assert blanks == [FailureKind.RATE_LIMIT] * 2
    result = result_of(made, session_id)
    assert (result.judge, result.after.missing) == ("remote1/model-1", ("p0",))
