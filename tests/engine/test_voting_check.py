"""The voting check: who chooses by the place of an option speaks, but does not vote or judge."""

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.council import NO_JUDGE
from app.core.errors import FailureKind, ProviderError
from app.core.provider import ModelRequest
from app.core.session import Debate
from app.engine.council.outcome import outcome
from app.engine.council.record import Record
from app.engine.engine import Engine
from app.engine.voting import QUESTIONS
from tests.builders import Bench, Script, a_bench, a_log_store, a_setup
from tests.engine.test_council import debated, wanted
from tests.engine.test_verdict import a_verdict, judges, votes

Answer = Callable[[ModelRequest], Script]


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


def by_place(otherwise: Answer, *models: str) -> Answer:
    """Let some models choose what stands first; the others choose the same option in any order."""

    def answer(request: ModelRequest) -> Script:
        if not checks(request):
            return otherwise(request)
        lines = str(request.messages[-1]["content"]).splitlines()
        options = {line[3:]: line[0] for line in lines if line[1:3] == ": "}
        return [json.dumps({"choice": "A" if request.model in models else options[min(options)]})]

    return answer


def says(request: ModelRequest) -> Script:
    if votes(request):
        return ['{"stance": 1}']
    return [a_verdict(1, 2)] if judges(request) else ["I say so."]


def debate_of(engine: Engine, session_id: str) -> Debate:
    live = engine.live(session_id)
    assert live is not None
    return live.debate_session.debate


async def test_a_debate_counts_the_votes_and_the_verdict_of_those_alone_that_pass(made: Bench) -> None:
    made.models.otherwise = by_place(says, "model-0")
    setup = replace(a_setup(2), rounds=1, polls=True)
    session_id = await made.engine.debates.start(setup)
    await made.engine.wait(session_id)
    debate = debate_of(made.engine, session_id)
    assert [(one.participant, one.stance) for one in debate.ballots] == [("p0", None), ("p1", 1)] * 2
    assert debate.verdict is not None and debate.verdict.model == "remote1/model-1"
    # All but its votes are as usual, and each was asked 16 questions, once.
    assert Counter(one.model for one in made.models.requests if checks(one)) == {
        "model-0": 2 * len(QUESTIONS),
        "model-1": 2 * len(QUESTIONS),
    }
    assert sum(not checks(one) and one.schema is None for one in made.models.requests) == 2
    assert (made.models.stable["model-0"], made.models.stable["model-1"]) == (0, 8)
    assert [one.model for one in made.engine.debates.judges(session_id)][:1] == ["model-1"]


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
    result = outcome(debate, live.messages)
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
        assert {one.stance for one in debate_of(made.engine, session_id).ballots} == {1}
        down = False
    assert (made.models.stable["model-0"], made.models.stable["model-1"]) == (8, 8)


@pytest.mark.parametrize("reply", ["A or B", "neither", '{"choice": "C"}', ""])
async def test_an_answer_without_one_letter_is_not_stable(made: Bench, reply: str) -> None:
    made.models.otherwise = lambda _: [reply]
    provider = a_setup(2).participants[0].provider
    assert await made.engine.debates.check_voting(provider, "model-0") == 0
