"""How a council ends: what comes by itself after the answers, what that costs, and what a further question ends with."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.catalog import EMBEDDED, EMBEDDED_MODEL
from app.core.council import ANY_JUDGE, NO_JUDGE, Ends, Panel, Participant
from app.core.events import Notice
from app.core.message import CouncilPart
from app.core.session import Debate, DebateChoices, Status
from app.engine.council.outcome import outcome
from app.engine.council.record import Record
from app.engine.engine import CouncilSetup
from tests.builders import Bench, a_bench, a_log_store, people, remotes
from tests.engine.test_council import SAYS, held, wanted
from tests.engine.test_council_verdict import judging, made

__all__ = ["made"]


def parts(made: Bench, session_id: str) -> Counter[str]:
    """Return how many messages a council has of each part."""
    return Counter(message.part for message in made.messages(session_id))


BEFORE = {CouncilPart.QUESTION: 1, CouncilPart.ANSWER: 3, CouncilPart.DIFFERENCES: 1}
# Nobody moves in the first of the two rounds, so that all vote after it.
VOTED = BEFORE | {CouncilPart.TURN: 3, CouncilPart.BALLOT: 3}
JUDGED = VOTED | {CouncilPart.READING: 2, CouncilPart.DISSENT: 1}


@pytest.mark.parametrize(
    ("ends", "found", "judge"),
    [
        (None, BEFORE, ""),
        (Ends.NONE, BEFORE, ""),
        (Ends.MERGE, BEFORE | {CouncilPart.MERGE: 1}, ""),
        (Ends.VOTE, VOTED, NO_JUDGE),
        (Ends.VERDICT, JUDGED, ""),
    ],
)
async def test_what_was_chosen_comes_by_itself(
    made: Bench, ends: Ends | None, found: dict[str, int], judge: str
) -> None:
    asking = wanted(ends=ends)
    most = made.engine.councils.first_estimate(asking).turns
    session_id = await held(made, asking)
    assert parts(made, session_id) == found
    session = made.debate_of(session_id)
    assert session.status == Status.COMPLETED and session.debate.council is not None
    assert (session.debate.council.ends, session.debate.judge) == (ends or Ends.NONE, judge)
    # The price named both rounds, a second dissent that nobody had, and what a judge says of moves that nobody made.
    more = {Ends.VOTE: 3, Ends.VERDICT: 3 + 1 + 1}.get(ends, 0) if ends else 0
    assert most == len(made.models.requests) + more


async def test_a_verdict_wants_a_judge_also_of_a_panel_that_has_none(made: Bench) -> None:
    panel = Panel(id="", name="Three", participants=people(3), rounds=3, judge=NO_JUDGE)
    await made.engine.councils.panels.save(panel)
    session_id = await held(made, wanted(ends=Ends.VERDICT))
    assert made.debate_of(session_id).debate.judge == ANY_JUDGE
    assert parts(made, session_id)[CouncilPart.READING] == 2


async def test_who_stops_after_the_answers_is_asked_before_the_rest(made: Bench) -> None:
    for ends in (Ends.VERDICT, Ends.MERGE):
        asking = wanted(ends=ends, stops=True)
        assert made.engine.councils.first_estimate(asking).turns == 4
        session_id = await held(made, asking)
        assert parts(made, session_id) == BEFORE
        await made.engine.councils.debate(session_id, 1)
        await made.engine.wait(session_id)
        assert parts(made, session_id) == JUDGED


async def test_nobody_debates_where_all_agree(made: Bench) -> None:
    made.models.otherwise = lambda request: judging(
        replace(request, model="model-0") if request.model in SAYS else request
    )
    session_id = await held(made, wanted(ends=Ends.VERDICT))
    assert parts(made, session_id) == BEFORE
    session = made.debate_of(session_id)
    assert not outcome(Record(session.debate, made.messages(session_id))).is_open


async def test_a_further_question_ends_as_the_first_did(made: Bench) -> None:
    for ends, found in ((Ends.VERDICT, JUDGED), (Ends.MERGE, BEFORE | {CouncilPart.MERGE: 1})):
        session_id = await held(made, wanted(ends=ends))
        await made.engine.councils.ask(session_id, "And with five deployments a day?")
        await made.engine.wait(session_id)
        # All have spoken with their answers: nobody takes a turn before the ballots.
        twice = {part: (1 if part == CouncilPart.TURN else 2) * count for part, count in found.items()}
        assert parts(made, session_id) == twice


async def test_where_nobody_can_vote_that_is_said_and_the_answers_are_there(tmp_path: Path) -> None:
    small = tuple(
        Participant(id=f"s{place}", name=name, provider=EMBEDDED, model=EMBEDDED_MODEL)
        for place, name in enumerate(("Ada", "Ben"))
    )
    made = a_bench(a_log_store(tmp_path), providers=remotes(0))
    made.models.otherwise = lambda _request: ["SQLite, one row."]
    setup = replace(wanted().setup, participants=small)
    for ends, said in ((Ends.VERDICT, ["nobody_votes"]), (Ends.NONE, [])):
        made.events.clear()
        session_id = await held(made, CouncilSetup(setup=setup, ends=ends))
        assert [event.code for event in made.events if isinstance(event, Notice)] == said
        assert made.debate_of(session_id).status == Status.COMPLETED
        assert parts(made, session_id)[CouncilPart.ANSWER] == 2
    await made.engine.shutdown()


@pytest.mark.parametrize(
    ("before", "ends", "polls", "final", "judge"),
    [
        ({}, Ends.NONE, False, False, NO_JUDGE),
        ({}, Ends.VOTE, False, True, NO_JUDGE),
        ({}, Ends.VERDICT, False, True, ANY_JUDGE),
        ({"polls": True}, Ends.VERDICT, True, False, ANY_JUDGE),
        ({"polls": True}, Ends.VOTE, True, False, NO_JUDGE),
        ({"polls": True, "judge": "a/b"}, Ends.NONE, False, False, NO_JUDGE),
        ({"judge": "a/b"}, Ends.VERDICT, False, True, "a/b"),
        ({"judge": NO_JUDGE}, Ends.VERDICT, False, True, ANY_JUDGE),
    ],
)
def test_the_end_of_a_debate_is_its_votes_and_its_judge(
    before: dict[str, object], ends: Ends, polls: bool, final: bool, judge: str
) -> None:
    choices = DebateChoices(**before).ending(ends)  # type: ignore[arg-type]
    assert (choices.polls, choices.final_ballots, choices.judge) == (polls, final, judge)
    assert choices.ends == ends
    assert Debate(topic="?", **choices.chosen()).ends == ends
