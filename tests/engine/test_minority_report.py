"""A judge that reads neither names nor votes, what a minority holds or gave up, and the verdicts of before."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.council import ANY_JUDGE
from app.core.errors import BadInput
from app.core.verdict import Ballot, MinorityView
from app.engine.debate.verdict import judge_letters, minority_points, read_verdict
from tests.builders import PROMPTS, a_debate, a_setup, said
from tests.engine.test_verdict import (
    JUDGE,
    TEXTS,
    a_verdict,
    bench,
    debate_of,
    engines_are_closed,  # noqa: F401
    held,
    judges,
    votes,
)


async def test_the_judge_reads_neither_names_nor_votes_and_takes_no_part_where_one_is_ready(
    tmp_path: Path,
) -> None:
    made = bench(tmp_path)
    first, second = a_setup(2).participants
    made.models.otherwise = lambda request: (
        ['{"stance": 2}']
        if votes(request)
        else [a_verdict(1)]
        if judges(request)
        else [f"As {first.name} I say: {second.name} of {second.provider} is wrong."]
    )
    debate = debate_of(made, await held(made, judge=ANY_JUDGE))
    [asked] = [one for one in made.models.requests if judges(one)]
    text = str(asked.messages)
    for one in (first, second):
        assert one.name not in text and one.provider not in text and one.model not in text
    assert "stance" not in text and "Participant A" in text and "Participant B" in text
    assert debate.verdict is not None and debate.judged_inside
    # Another provider may read any session: then nobody who takes part judges.
    outside = bench(tmp_path / "outside")
    await outside.engine.change_settings(lambda settings: replace(settings, may_read_any=("remote2",)))
    debate = debate_of(outside, await held(outside, judge=ANY_JUDGE))
    assert debate.verdict is not None
    assert (debate.verdict.model, debate.judged_inside) == ("remote2/model-2", False)
    with pytest.raises(BadInput, match="unknown_judge"):
        await outside.engine.debates.start(replace(a_setup(2), judge="nobody/at-all"))


def test_the_minority_report_has_who_holds_a_view_and_who_gave_it_up() -> None:
    debate = a_debate(3, seed=5)
    letters = judge_letters(debate)
    one, two, three = debate.participants
    said_by = {letter: who for who, letter in letters.items()}
    assert set(said_by) == {"A", "B", "C"}
    answer = {
        "answer": [{"text": f"Participant {letters[one.id]} is right.", "cites": [1]}],
        "agreed": [],
        "open": [],
        "minority": [
            {"text": "It was too dear.", "who": [letters[two.id]], "now": False, "cites": [2]},
            {
                "text": "It is unsafe.",
                "who": [f"Participant {letters[three.id]}"],
                "now": True,
                "cites": [1, 9],
            },
            {"text": "Nobody says this.", "who": ["Z"], "now": True, "cites": []},
            {"text": "", "who": ["A"], "now": True, "cites": []},
            "no view",
        ],
    }
    messages = [said(one, "First.", id="m1"), said(two, "Second.", id="m2")]
    verdict = read_verdict(json.dumps(answer), debate, messages, JUDGE, PROMPTS)
    assert verdict is not None and verdict.answer[0].text == f"{one.name} is right."
    assert verdict.minority == (
        MinorityView(text="It is unsafe.", holders=(three.id,), now=True, cites=("m1",)),
        MinorityView(text="It was too dear.", holders=(two.id,), now=False, cites=("m2",)),
    )
    points = minority_points(replace(debate, verdict=verdict), messages, TEXTS)
    assert [point.text for point in points] == [
        f"{three.name}: It is unsafe.",
        f"given up by {two.name}: It was too dear.",
    ]


@pytest.mark.parametrize(
    ("before", "after", "report"),
    [
        ((1, 2, -2), (2, 1, -2), ["Participant 3: against. Third."]),
        ((-1, 2, -2), (2, 1, 1), ["given up by Participant 1, Participant 3: against. Third."]),
        ((2, 2, 2), (2, 1, 1), []),
        ((1, -1, None), (1, -1, None), []),
        ((1, -1, 0), (1, -1, 0), []),
        ((0, 0, 0), (1, 1, 1), []),
        ((None, None, None), (None, None, None), []),
        ((1, 1, -1), (1, 1, 0), ["Participant 3: unsure. Third.", "given up by Participant 3: against. Third."]),
    ],
)  # fmt: skip
def test_without_a_judge_the_ballots_say_who_holds_something_else(
    before: tuple[int | None, ...], after: tuple[int | None, ...], report: list[str]
) -> None:
    debate = a_debate(3)
    people = [replace(one, name=f"Participant {n}") for n, one in enumerate(debate.participants, 1)]
    messages = [said(one, f"{word}.") for one, word in zip(people, ("First", "Second", "Third"), strict=True)]
    cast = tuple(
        Ballot(participant=one.id, round=number, stance=stance)
        for number, stances in ((0, before), (1, after))
        for one, stance in zip(people, stances, strict=True)
    )
    debate = replace(debate, participants=tuple(people), ballots=cast)
    points = minority_points(debate, messages, TEXTS)
    assert [one.text for one in points] == report
    assert all(one.cites for one in points)


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
        assert debate.verdict is not None and debate.verdict.minority == ()
        assert (debate.verdict.judge, debate.verdict.answer[0].text) == ("GPT", "Do it step by step.")
        assert "GPT: +1 → +1 → +1" in await made.engine.export(session_id, "md")
        return
    assert len(debate.ballots) == 4 and debate.verdict is None
    await made.engine.resume(session_id)
    await made.engine.wait(session_id)
    debate = debate_of(made, session_id)
    assert len(debate.ballots) == 6 and debate.verdict is not None
    assert sum(map(votes, made.models.requests)) == 2, "nobody votes twice"
