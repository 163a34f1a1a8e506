"""The voting check: who chooses by the place of an option speaks, but does not vote or judge."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from app.cli.printing.lines import load_texts
from app.core.catalog import ProviderConfig
from app.core.council import NO_JUDGE, Ends, NoVote
from app.core.errors import BadInput, FailureKind, ProviderError
from app.core.events import Notice, VotingChecked
from app.core.message import Usage
from app.core.provider import Finished, ModelRequest
from app.core.session import Debate, Status
from app.engine.council.outcome import outcome, vote_places
from app.engine.council.record import Record
from app.engine.debate.estimates import beside_text
from app.engine.engine import Engine
from app.engine.voting import PREMISES, no_vote_text
from tests.builders import Bench, Script, a_bench, a_log_store, a_setup, until
from tests.engine.test_council import debated, wanted
from tests.engine.test_verdict import concluding, judges, votes

Answer = Callable[[ModelRequest], Script]
TEXTS = load_texts("en")


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[Bench]:
    one = a_bench(a_log_store(tmp_path))
    one.models.stable = dict.fromkeys(("model-0", "model-1", "model-2"), -1)
    yield one
    await one.engine.shutdown()


def checks(request: ModelRequest) -> bool:
    """Say whether a request is one of the voting check."""
    schema = str(request.schema)
    return "['A', 'B']" in schema and "choice" in schema


def by_place(otherwise: Answer, *models: str, missed: int = 0, by: str = "") -> Answer:
    """Let some models choose what stands first; the others choose the same option in any order.

    The model `by` takes the first so many broken premises for true.
    """

    def answer(request: ModelRequest) -> Script:
        if not checks(request):
            return otherwise(request)
        lines = str(request.messages[-1]["content"]).splitlines()
        options = {line[3:]: line[0] for line in lines if line[1:3] == ": "}
        named = min(options)
        for place, (sound, broken) in enumerate(PREMISES):
            if sound in options:
                named = broken if request.model == by and place < missed else sound
        return [json.dumps({"choice": "A" if request.model in models else options[named]})]

    return answer


def says(request: ModelRequest) -> Script:
    return concluding(request, "Yes")


def debate_of(engine: Engine, session_id: str) -> Debate:
    live = engine.live(session_id)
    assert live is not None
    return live.debate_session.debate


def held_in(engine: Engine, session_id: str) -> dict[str, tuple[int | None, ...]]:
    live = engine.live(session_id)
    assert live is not None
    return vote_places(Record(live.debate_session.debate, live.messages))


async def test_a_debate_counts_the_votes_and_the_verdict_of_those_alone_that_pass(made: Bench) -> None:
    made.models.otherwise = by_place(says, "model-0")
    setup = replace(a_setup(2), rounds=1, polls=True)
    session_id = await made.engine.debates.start(setup)
    await made.engine.wait(session_id)
    live = made.engine.live(session_id)
    assert live is not None
    record = Record(live.debate_session.debate, live.messages)
    assert vote_places(record) == {"p1": (0, 0)} and record.vote("p0", 1).choice == ""
    result = outcome(Record(record.debate, live.messages))
    assert (result.judge, result.after.missing) == ("remote1/model-1", ())
    # All but its votes are as usual, and each was asked 16 questions and 8 about premises, once.
    assert of_checks(made) == {"model-0": 24, "model-1": 24}
    assert sum(not checks(one) and one.schema is None for one in made.models.requests) == 2
    assert (made.models.stable["model-0"], made.models.stable["model-1"]) == (0, 8)
    assert next(iter(made.engine.debates.judges(session_id))).endswith("/model-1")


async def test_a_council_lets_it_speak_and_counts_neither_its_turn_nor_its_ballot(made: Bench) -> None:
    made.models.otherwise = by_place(debated, "model-2")
    session_id = await made.engine.councils.start(wanted())
    await made.engine.wait(session_id)
    assert not any(map(checks, made.models.requests))
    await made.engine.councils.debate(session_id, judge=NO_JUDGE)
    await made.engine.wait(session_id)
    live = made.engine.live(session_id)
    assert live is not None
    debate = live.debate_session.debate
    assert debate.council is not None and debate.council.voteless == ("p2",)
    turns = [one.author.id for one in live.messages if one.part == "turn"]
    ballots = [one.author.id for one in live.messages if one.part == "ballot"]
    assert (sorted(turns), sorted(ballots)) == (["p0", "p1", "p2"], ["p0", "p1"])
    result = outcome(Record(debate, live.messages))
    assert (result.before.votes, result.after.votes) == ({"o1": 1, "o2": 1}, {"o1": 2, "o2": 0})
    assert (result.after.missing, "ballots" in result.degraded, result.answered) == ((), False, 3)
    assert Record(debate, live.messages).vote("p2", 1).choice == ""


async def test_one_that_cannot_be_asked_votes_and_is_checked_the_next_time(made: Bench) -> None:
    down = True

    def answer(request: ModelRequest) -> Script:
        if checks(request) and down:
            return [ProviderError(FailureKind.HOST)]
        return by_place(says)(request)

    made.models.otherwise = answer
    for _ in range(2):
        session_id = await made.engine.debates.start(replace(a_setup(2), rounds=1, polls=True))
        await made.engine.wait(session_id)
        assert held_in(made.engine, session_id) == {"p0": (0, 0), "p1": (0, 0)}
        down = False
    assert (made.models.stable["model-0"], made.models.stable["model-1"]) == (8, 8)


@pytest.mark.parametrize("reply", ["A or B", "neither", '{"choice": "C"}', ""])
async def test_an_answer_without_one_letter_is_not_stable(made: Bench, reply: str) -> None:
    made.models.otherwise = lambda _: [reply]
    provider = a_setup(2).participants[0].provider
    assert await made.engine.debates.check_voting(provider, "model-0") == 0


def of_checks(made: Bench) -> Counter[str]:
    return Counter(one.model for one in made.models.requests if checks(one))


async def test_a_ballot_waits_for_its_own_models_check_alone(made: Bench) -> None:
    go_on = asyncio.Event()

    def answer(request: ModelRequest) -> Script:
        said = [*by_place(says)(request)]
        return [go_on, *said] if checks(request) and request.model == "model-1" else said

    made.models.otherwise = answer
    setup = replace(a_setup(2), rounds=1, final_ballots=True, judge=NO_JUDGE)
    session_id = await made.engine.debates.start(setup)
    await until(lambda: any(votes(one) for one in made.models.requests))
    assert [one.model for one in made.models.requests if votes(one)] == ["model-0"]
    assert of_checks(made) == {"model-0": 24, "model-1": 1}
    live = made.engine.live(session_id)
    assert live is not None and live.session.reason == "checking_votes:24:48"
    go_on.set()
    await made.engine.wait(session_id)
    assert held_in(made.engine, session_id) == {"p0": (0,), "p1": (0,)}
    told = [one for one in made.events if isinstance(one, VotingChecked)]
    assert [(one.session_id, one.model, one.may_vote) for one in told] == [
        (session_id, "remote0/model-0", True),
        (session_id, "remote1/model-1", True),
    ]
    assert len(live.session.unsaid) == 48


async def test_a_council_that_is_to_debate_checks_beside_its_answers(made: Bench) -> None:
    answers = asyncio.Event()

    def answer(request: ModelRequest) -> Script:
        said = [*by_place(debated)(request)]
        return said if checks(request) or request.schema is not None else [answers, *said]

    made.models.otherwise = answer
    session_id = await made.engine.councils.start(wanted(ends=Ends.VOTE))
    await until(lambda: sum(of_checks(made).values()) == 72)
    live = made.engine.live(session_id)
    assert live is not None and not Record(live.debate_session.debate, live.messages).answers()
    answers.set()
    await made.engine.wait(session_id)
    assert outcome(Record(live.debate_session.debate, live.messages)).after.votes == {"o1": 3, "o2": 0}
    assert sum(of_checks(made).values()) == 72


async def test_what_is_skipped_in_a_council_does_not_vote_until_it_is_checked_again(made: Bench) -> None:
    def answer(request: ModelRequest) -> Script:
        said = [*by_place(debated)(request)]
        return [asyncio.Event()] if checks(request) and request.model == "model-2" and waits else said

    waits = True
    made.models.otherwise = answer
    session_id = await made.engine.councils.start(wanted(ends=Ends.VERDICT, judge="remote2/model-2"))
    live = made.engine.live(session_id)
    assert live is not None
    await until(lambda: (made.models.stable["model-0"], made.models.stable["model-1"]) == (8, 8))
    assert of_checks(made) == {"model-0": 24, "model-1": 24, "model-2": 1}
    turns = lambda: [one for one in live.messages if one.part == "turn"]  # noqa: E731
    await until(lambda: len(turns()) == 3 and all(one.ended for one in turns()))
    assert not [one for one in live.messages if one.part == "reading"]
    await made.engine.debates.skip_check(session_id)
    await made.engine.wait(session_id)
    debate, council = live.debate_session.debate, live.debate_session.debate.council
    assert council is not None and council.voteless == ("p2",)
    assert "remote2/model-2" not in council.judges
    assert debate.no_votes == (NoVote(model="remote2/model-2", reason="check_skipped"),)
    assert outcome(Record(debate, live.messages)).after.votes == {"o1": 2, "o2": 0}
    with pytest.raises(BadInput):
        await made.engine.debates.skip_check(session_id)
    waits = False
    await made.engine.debates.check_again(session_id, "p2")
    debate = live.debate_session.debate
    assert debate.no_votes == () and debate.council is not None and debate.council.voteless == ()
    assert outcome(Record(debate, live.messages)).after.votes == {"o1": 3, "o2": 0}


async def test_checks_count_in_the_limit_of_a_council(made: Bench) -> None:
    cent = Finished(usage=Usage(input_tokens=70, output_tokens=10, cost_usd=0.01))

    def answer(request: ModelRequest) -> Script:
        said = [*by_place(debated)(request)]
        return [*said, cent] if checks(request) else said

    made.models.otherwise = answer
    session_id = await made.engine.councils.start(wanted(ends=Ends.VERDICT, max_usd=0.095))
    ended = await made.engine.wait(session_id)
    assert (ended.status, ended.reason) == (Status.PAUSED, "budget_cost")
    assert 10 <= sum(of_checks(made).values()) <= 12, "three side by side may be asking"


async def test_the_price_counts_the_checks_that_are_to_come(made: Bench) -> None:
    made.models.otherwise = by_place(says)
    setup = replace(a_setup(2), rounds=1, final_ballots=True, judge=NO_JUDGE)
    estimates = made.engine.estimates
    assert estimates.debate(setup, 0).checks == 48
    assert estimates.debate(replace(setup, final_ballots=False), 0).checks == 0
    session_id = await made.engine.debates.start(setup)
    await made.engine.wait(session_id)
    after = estimates.debate(setup, 0)
    assert after.checks == 0
    made.models.stable["model-1"] = -1
    made.models.answers["model-1"] = ("rrrr", made.models.answers["model-1"][1])
    left = estimates.debate(setup, 0)
    assert left.checks == 20 and left.turns == after.turns and left.tokens[0] > after.tokens[0]
    assert beside_text(TEXTS, left) == "first time: + 20 calls"


async def test_each_argument_is_asked_once_and_the_sound_one_stands_first_in_half(made: Bench) -> None:
    made.models.otherwise = by_place(says)
    await made.engine.debates.check_voting("remote0", "model-0")
    texts = [str(one.messages[-1]["content"]) for one in made.models.requests][16:]
    assert len(set(texts)) == len(texts) == len(PREMISES) == 8
    sound_first = [
        f"A: {sound}\nB: {broken}" in text for text, (sound, broken) in zip(texts, PREMISES, strict=True)
    ]
    assert sound_first == [True, False] * 4
    assert {one.schema is not None for one in made.models.requests} == {True}
    longer = [len(broken) > len(sound) for sound, broken in PREMISES]
    assert 3 <= sum(longer) <= 5, "neither the longer nor the shorter argument is right"
    answers, address = made.models.answers["model-0"]
    assert (answers[16:], address) == ("r" * 8, "http://127.0.0.1:9000/v1")


@pytest.mark.parametrize(
    ("missed", "may_judge", "reason"),
    [(0, True, ""), (1, True, ""), (2, False, "missed_premises:2:8"), (8, False, "missed_premises:8:8")],
)
async def test_who_misses_more_than_one_premise_votes_and_does_not_judge(
    made: Bench, missed: int, may_judge: bool, reason: str
) -> None:
    made.models.otherwise = by_place(says, missed=missed, by="model-0")
    seat = ("remote0", "model-0")
    assert await made.engine.debates.check_voting(*seat) == 8
    voting = made.engine.voting
    assert (voting.result(seat), voting.reason(seat), voting.judge_reason(seat)) == ((8, 8), "", reason)
    [told] = [one for one in made.events if isinstance(one, VotingChecked)]
    assert (told.may_vote, told.may_judge, told.reason) == (True, may_judge, reason)
    kept = made.models.answers["model-0"][0]
    assert kept[16:] == "w" * missed + "r" * (8 - missed)


async def test_who_follows_the_order_has_that_as_its_reason_alone(made: Bench) -> None:
    made.models.otherwise = by_place(says, "model-0")
    await made.engine.debates.check_voting("remote0", "model-0")
    [told] = [one for one in made.events if isinstance(one, VotingChecked)]
    assert (told.may_vote, told.may_judge, told.reason) == (False, False, "follows_order:0:8")


@pytest.mark.parametrize("answers", ["", "r" * 16, "rrrr"])
async def test_what_was_found_without_premises_stands(made: Bench, answers: str) -> None:
    address = "http://127.0.0.1:9000/v1" if answers else ""
    made.models.stable["model-0"] = 8 if len(answers) != 4 else 2
    made.models.answers["model-0"] = (answers, address)
    voting, seat = made.engine.voting, ("remote0", "model-0")
    assert (voting.reason(seat), voting.judge_reason(seat), voting.left(seat)) == ("", "", 0)
    assert await voting.run(seat) == made.models.stable["model-0"]
    assert not made.models.requests
    # Checked again it is asked all.
    made.models.otherwise = by_place(says, missed=8, by="model-0")
    assert await voting.run(seat, again=True) == 8
    assert len(made.models.requests) == 24 and voting.judge_reason(seat) == "missed_premises:8:8"


async def test_what_was_begun_without_premises_goes_on_with_them(made: Bench) -> None:
    made.models.otherwise = by_place(says, missed=8, by="model-0")
    made.models.answers["model-0"] = ("r" * 14 + "w", "http://127.0.0.1:9000/v1")
    voting, seat = made.engine.voting, ("remote0", "model-0")
    assert voting.left(seat) == 9
    assert await voting.run(seat) == 8 and len(made.models.requests) == 9
    assert voting.judge_reason(seat) == "missed_premises:8:8"


async def test_a_model_of_a_known_provider_is_asked_no_premises(tmp_path: Path) -> None:
    known = ProviderConfig(id="openai", kind="openai", models=("model-0",))
    made = a_bench(a_log_store(tmp_path), providers=(known,))
    made.models.stable["model-0"] = -1
    made.models.otherwise = by_place(says, missed=8, by="model-0")
    assert await made.engine.debates.check_voting("openai", "model-0") == 2
    assert len(made.models.requests) == 4
    [told] = [one for one in made.events if isinstance(one, VotingChecked)]
    assert (told.may_vote, told.may_judge, told.reason) == (True, True, "")
    await made.engine.shutdown()


async def test_a_debate_counts_its_vote_and_asks_another_for_the_verdict(made: Bench) -> None:
    made.models.otherwise = by_place(says, missed=3, by="model-0")
    session_id = await made.engine.debates.start(replace(a_setup(2), rounds=1, polls=True))
    await made.engine.wait(session_id)
    debate = debate_of(made.engine, session_id)
    assert held_in(made.engine, session_id) == {"p0": (0, 0), "p1": (0, 0)}
    assert [one.model for one in made.models.requests if judges(one)] == ["model-1"] * 2
    assert debate.no_votes == (), "nobody had named it"
    offered = [one.partition("/")[2] for one in made.engine.debates.judges(session_id)]
    assert offered[0] == "model-1" and "model-0" not in offered


async def test_a_judge_that_was_named_says_why_it_does_not_judge_and_its_vote_counts(made: Bench) -> None:
    made.models.otherwise = by_place(says, missed=3, by="model-0")
    setup = replace(a_setup(2), rounds=1, final_ballots=True, judge="remote0/model-0")
    for _ in range(2):
        # The second time it is known before.
        made.events.clear()
        session_id = await made.engine.debates.start(setup)
        await made.engine.wait(session_id)
        debate = debate_of(made.engine, session_id)
        assert held_in(made.engine, session_id) == {"p0": (0,), "p1": (0,)}
        assert not any(map(judges, made.models.requests))
        assert debate.no_votes == (NoVote(model="remote0/model-0", reason="missed_premises:3:8"),)
        one, other = debate.participants
        assert no_vote_text(debate, one, TEXTS) == f"{one.name}: breaks no ties, missed 3 of 8 false premises"
        assert no_vote_text(debate, other, TEXTS) == ""
        told = [event for event in made.events if isinstance(event, Notice)]
        assert [(event.code, event.details) for event in told] == [("no_judging", {"models": "model-0"})]
    assert of_checks(made) == {"model-0": 24, "model-1": 24}
    made.models.otherwise = by_place(says)
    await made.engine.debates.check_again(session_id, "p0")
    assert debate_of(made.engine, session_id).no_votes == ()
    await made.engine.councils.judge(session_id, "remote0/model-0")
    await made.engine.wait(session_id)
    assert [one.model for one in made.models.requests if judges(one)] == ["model-0"] * 2


async def test_a_verdict_waits_for_the_check_of_its_judge(made: Bench) -> None:
    go_on = asyncio.Event()

    def answer(request: ModelRequest) -> Script:
        said = [*by_place(says, missed=3, by="model-2")(request)]
        return [go_on, *said] if checks(request) and request.model == "model-2" else said

    made.models.otherwise = answer
    setup = replace(a_setup(2), rounds=1, judge="remote2/model-2")
    session_id = await made.engine.debates.start(setup)
    await until(lambda: sum(one.schema is None for one in made.models.requests) == 2)
    assert of_checks(made) == {"model-2": 1}
    go_on.set()
    await made.engine.wait(session_id)
    debate = debate_of(made.engine, session_id)
    assert of_checks(made) == {"model-2": 24} and not any(map(judges, made.models.requests))
    assert debate.no_votes == (NoVote(model="remote2/model-2", reason="missed_premises:3:8"),)


async def test_a_council_lets_it_vote_and_nobody_else_reads_in_its_place(made: Bench) -> None:
    made.models.otherwise = by_place(debated, missed=3, by="model-2")
    for _ in range(2):
        session_id = await made.engine.councils.start(wanted(ends=Ends.VERDICT, judge="remote2/model-2"))
        await made.engine.wait(session_id)
        live = made.engine.live(session_id)
        assert live is not None
        debate, council = live.debate_session.debate, live.debate_session.debate.council
        assert council is not None and council.voteless == ()
        assert council.judges == ()
        assert outcome(Record(debate, live.messages)).after.votes == {"o1": 3, "o2": 0}
        assert not any(one.part == "reading" for one in live.messages)
        assert debate.no_votes == (NoVote(model="remote2/model-2", reason="missed_premises:3:8"),)
