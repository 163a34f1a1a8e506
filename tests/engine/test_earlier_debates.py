"""Debates that earlier versions stored: their ballots and verdicts are read as those of today."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.council import ANY_JUDGE, Ballot, MinorityView, Point, Verdict, WhatIf
from app.core.errors import BadInput
from app.core.message import CouncilPart, Message
from app.core.session import Debate
from app.engine.council.outcome import State, council_parts, outcome, vote_places
from app.engine.council.record import Record
from app.engine.council.verdicts import changed, outcomes
from tests.builders import a_debate, a_setup, said, user_said
from tests.engine.test_verdict import (
    ONCE,
    STEP,
    TEXTS,
    ballot,
    bench,
    cast,
    concluding,
    debate_of,
    finds_options,
    held,
    judges,
    reading,
    result_of,
    text_of,
    votes,
)


async def test_the_judge_reads_neither_names_nor_votes_and_takes_no_part_where_one_is_ready(
    tmp_path: Path,
) -> None:
    made = bench(tmp_path)
    first, second = a_setup(2).participants
    made.models.otherwise = lambda request: (
        ballot(request, ONCE)
        if votes(request)
        else reading(request, STEP, 1)
        if judges(request)
        else [f"As {first.name} I say: {second.name} of {second.provider} is wrong."]
    )
    session_id = await held(made, judge=ANY_JUDGE)
    asked = [one for one in made.models.requests if judges(one)]
    assert len(asked) == 2
    for request in asked:
        text = text_of(request)
        for one in (first, second):
            assert one.name not in text and one.provider not in text and one.model not in text
        assert "confidence: 70" not in text and "Participant A" in text and "Participant B" in text
    result = result_of(made, session_id)
    # The judge chose something else than all who voted: that is said, and overrules nobody.
    assert (result.headline, result.choice, result.state, result.inside) == (
        "u2",
        "u1",
        State.CONTESTED,
        True,
    )
    # Another provider may read any session: then nobody who takes part judges.
    outside = bench(tmp_path / "outside")
    await outside.engine.change_settings(lambda settings: replace(settings, may_read_any=("remote2",)))
    result = result_of(outside, await held(outside, judge=ANY_JUDGE))
    assert (result.judge, result.inside) == ("remote2/model-2", False)
    with pytest.raises(BadInput, match="unknown_judge"):
        await outside.engine.debates.start(replace(a_setup(2), judge="nobody/at-all"))


def voted(debate: Debate, *rounds: tuple[int | None, ...]) -> Debate:
    """Return a debate with the ballots of an earlier version, of round 0, 1 and so on."""
    ballots = tuple(
        Ballot(participant=one.id, round=number, stance=stance)
        for number, stances in enumerate(rounds)
        for one, stance in zip(debate.participants, stances, strict=True)
    )
    return replace(debate, ballots=ballots)


def statements(debate: Debate, number: int = 1) -> list[Message]:
    return [said(one, f"{one.name} says so.", number, id=f"{one.id}-{number}") for one in debate.participants]


@pytest.mark.parametrize(
    ("before", "after", "headline", "state", "report"),
    [
        ((1, 2, -2), (2, 2, -2), "For", State.LEANING, [("Against", True), ("Rather for", False)]),
        ((-1, 2, -2), (2, 2, 2), "For", State.AGREED_ONE_FAMILY, [("Rather against", False), ("Against", False)]),
        ((2, 2, 2), (2, 1, 1), "Rather for", State.CONTESTED, [("For", True)]),
        ((1, -1, None), (1, -1, None), "", State.TIE, []),
        ((None, None, None), (None, None, None), "", State.NONE, []),
    ],
)  # fmt: skip
def test_earlier_ballots_are_votes_for_one_of_five_options(
    before: tuple[int | None, ...],
    after: tuple[int | None, ...],
    headline: str,
    state: State,
    report: list[tuple[str, bool]],
) -> None:
    debate = voted(a_debate(3), before, after)
    messages = statements(debate)
    record, result = Record(debate, messages), outcome(Record(debate, messages))
    texts = {one.id: one.text for one in record.options()}
    assert [*texts.values()] == ["For", "Rather for", "Unsure", "Rather against", "Against"]
    assert (texts.get(result.headline, ""), result.state) == (headline, state)
    assert [(texts[one.option], one.now) for one in result.minority] == report
    order = {2: 0, 1: 1, 0: 2, -1: 3, -2: 4, None: None}
    assert list(vote_places(record).values()) == [
        (order[a], order[b]) for a, b in zip(before, after, strict=True)
    ]
    korean = Record(replace(debate, language="ko"), messages)
    assert [one.text for one in korean.options()] == [
        "찬성",
        "찬성에 가까움",
        "보류",
        "반대에 가까움",
        "반대",
    ]


def an_earlier_verdict(text: str = "Do it step by step.", **fields: object) -> Verdict:
    verdict = Verdict(
        judge="GPT",
        model="openai/gpt",
        answer=(Point(text=text, cites=("p0-1",)), Point(text="Slowly.", cites=("p1-1",))),
        agreed=(Point(text="It is dear.", cites=("p0-1",)),),
        open=(Point(text="How dear?"),),
        readings=2,
    )
    return replace(verdict, **fields)  # type: ignore[arg-type]


def test_an_earlier_verdict_says_what_it_said() -> None:
    debate = replace(a_debate(3), verdict=an_earlier_verdict())
    messages = statements(debate)
    record, result = Record(debate, messages), outcome(Record(debate, messages))
    texts = {one.id: one.text for one in record.options()}
    assert texts[result.headline] == "Do it step by step."
    assert result.text == "Do it step by step. Slowly." and result.cites == ("p0-1", "p1-1")
    assert (result.judge, result.unstable, result.state) == ("openai/gpt", False, State.NONE)
    [first, _] = record.readings()
    assert [one.text for one in first.agreed] == ["It is dear."] and [one.text for one in first.open] == [
        "How dear?"
    ]
    found = council_parts(record, result, TEXTS)
    parts = {heading: [one.text for one in points] for heading, points in found}
    assert parts[TEXTS("verdict.agreed")] == ["It is dear."]
    # With votes the case that it makes is that for what leads by them.
    debate = voted(debate, (1, 1, -1), (2, 2, -2))
    result = outcome(Record(debate, messages))
    assert result.headline == "stance2" and result.text == "Do it step by step. Slowly."


def test_an_earlier_verdict_that_changed_with_the_order_and_one_that_no_model_gave() -> None:
    debate = replace(a_debate(2), verdict=an_earlier_verdict(unstable=True, otherwise="At once"))
    messages = statements(debate)
    result = outcome(Record(debate, messages))
    assert result.unstable and result.choice == ""
    assert "At once" in [one.text for one in Record(debate, messages).options()]
    lost = Verdict(failure="network", open=(Point(text="p0 says so.", cites=("p0-1",)),))
    debate = replace(debate, verdict=lost)
    result = outcome(Record(debate, messages))
    assert (result.judge, result.failure) == ("", "network")
    parts = council_parts(Record(debate, messages), result, TEXTS)
    words = [one.text for _, points in parts for one in points]
    assert f"{debate.participants[0].name} says so." in words


def test_the_minority_report_of_an_earlier_judge_stays_as_it_was() -> None:
    views = (
        MinorityView(text="It is unsafe.", holders=("p2",), now=True, cites=("p2-1",)),
        MinorityView(text="It was too dear.", holders=("p1",), now=False, cites=("p1-1",)),
    )
    debate = replace(a_debate(3), verdict=an_earlier_verdict(minority=views))
    messages = statements(debate)
    record = Record(debate, messages)
    parts = dict(council_parts(record, outcome(record), TEXTS))
    names = [one.name for one in debate.participants]
    assert [one.text for one in parts[TEXTS("council.minority_report")]] == [
        f"{names[2]}: It is unsafe.",
        f"given up by {names[1]}: It was too dear.",
    ]


def test_all_earlier_verdicts_stand_where_they_were_given() -> None:
    debate = a_debate(3)
    asked = replace(user_said("What if not?", 2), id="asked")
    messages = [*statements(debate), asked, *statements(debate, 2)]
    debate = voted(debate, (1, 1, 1), (1, 1, 1), (-1, -1, 1))
    debate = replace(
        debate,
        rounds=2,
        final_ballots=True,
        judge=ANY_JUDGE,
        what_ifs=(WhatIf(message="asked", round=2),),
        earlier_verdicts=(an_earlier_verdict(after_message="p2-1"),),
        verdict=an_earlier_verdict("Leave it.", after_message="p2-2"),
    )
    found = outcomes(debate, messages)
    assert [one.title(TEXTS) for one in found] == [
        "Verdict 1, after round 1",
        "Verdict 2, after “What if not?”",
    ]
    assert [one.after_message for one in found] == ["p2-1", "p2-2"]
    results = [outcome(Record(one.debate, one.messages)) for one in found]
    assert [one.headline for one in results] == ["stance1", "stance-1"]
    assert [one.text for one in results] == ["Do it step by step. Slowly.", "Leave it. Slowly."]
    names = [one.name for one in debate.participants]
    assert changed(found, TEXTS) == [
        "Verdict: Rather for → Rather against",
        f"{names[0]}: Rather for → Rather against",
        f"{names[1]}: Rather for → Rather against",
    ]


@pytest.mark.parametrize("lines", [7, 13])
async def test_a_debate_of_before_keeps_its_votes_and_its_verdict_and_goes_on(
    tmp_path: Path, lines: int
) -> None:
    stored = (Path(__file__).parent / "debate_of_before.jsonl").read_bytes().splitlines(keepends=True)
    session_id = json.loads(stored[0])["ops"][0]["id"]
    folder = tmp_path / "sessions"
    folder.mkdir()
    (folder / f"{session_id}.jsonl").write_bytes(b"".join(stored[:lines]))
    made = bench(tmp_path)
    await made.engine.open(session_id)
    debate = debate_of(made, session_id)
    assert (debate.polls, debate.final_ballots, debate.concludes) == (True, False, True)
    if lines == len(stored):
        assert result_of(made, session_id).text == "Do it step by step."
        document = await made.engine.export(session_id, "md")
        assert "GPT: B → B → B" in document and "B Rather for" in document
        return
    assert len(debate.ballots) == 4
    made.models.otherwise = lambda request: (
        ballot(request, "Rather for")
        if votes(request)
        else reading(request, "Rather for", 1)
        if judges(request)
        else ["I say so."]
    )
    await made.engine.resume(session_id)
    await made.engine.wait(session_id)
    # What is left is voted on as it was before, and the ballots of before stay as they were stored.
    assert len(debate_of(made, session_id).ballots) == 4
    assert [one.round for one in cast(made, session_id)] == [2, 2]
    assert sum(map(votes, made.models.requests)) == 2, "nobody votes twice"
    record = Record(debate_of(made, session_id), made.messages(session_id))
    assert record.voted_rounds == [0, 1, 2] and set(vote_places(record).values()) == {(1, 1, 1)}
    assert result_of(made, session_id).headline == "stance1"
    assert not any(one.part == CouncilPart.DIFFERENCES for one in made.messages(session_id))


async def test_a_debate_of_before_that_is_judged_has_its_options_looked_for(tmp_path: Path) -> None:
    made = bench(
        tmp_path,
        lambda request: (
            [json.dumps({"options": [STEP, ONCE]})] if finds_options(request) else concluding(request)
        ),
    )
    session_id = await held(made, topic="How do we migrate?", options=(), polls=False)
    live = made.engine.live(session_id)
    assert live is not None and not any(map(finds_options, made.models.requests))
    # As an earlier version kept a debate that ends with votes, and was stopped before them.
    live.change(debate=replace(live.debate_session.debate, council=None, final_ballots=True))
    # What else is kept of it first keeps who helps, too.
    await made.engine.councils.weigh(session_id)
    council = debate_of(made, session_id).council
    assert council is not None and council.helper == "remote0/model-0"
    await made.engine.councils.judge(session_id, ANY_JUDGE)
    await made.engine.wait(session_id)
    assert sum(map(finds_options, made.models.requests)) == 1
    result = result_of(made, session_id)
    assert (result.judge, result.headline) == ("remote0/model-0", "o1")
