"""What supports each side of a council: what a merged answer is told of it, and whether what moved somebody argues for it."""

import json
import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from app.core.council import Calibration
from app.core.council_parts import FileQuote, JudgedMove, JudgedMoves, JudgeReading, Position
from app.core.errors import FailureKind, ProviderError
from app.core.message import CouncilPart, Message, MessageState
from app.core.provider import ModelRequest
from app.core.session import Debate
from app.engine.council.commands import council_object
from app.engine.council.director import CouncilStep, next_steps
from app.engine.council.outcome import drifted, moves_line, outcome
from app.engine.council.record import Record
from app.engine.council.requests import Requests, numbered, read_moves
from tests.builders import PROMPTS, Bench, Script, said
from tests.engine.test_council import SAYS
from tests.engine.test_council_verdict import judging, made, opened, read, result, voted

__all__ = ["made"]


def words(key: str, **values: object) -> str:
    return PROMPTS.line("en", "export", key, **values)


def told(debate: Debate, messages: list[Message]) -> list[str]:
    """Return the lines of a request for a merged answer that say what supports each side."""
    record = Record(debate, messages)
    text = str(Requests(record, PROMPTS).merge(numbered(record)).messages[-1]["content"])
    _, found, rest = text.partition("What supports each side:\n")
    lines = rest.partition("\n\n")[0].splitlines()
    assert bool(found) == bool(lines)
    return [line.partition("; held by answers")[0] for line in lines]


def test_where_all_hold_the_same_no_side_is_weighed() -> None:
    assert told(*opened("AAA")) == []


@pytest.mark.parametrize(
    ("first", "last", "cites", "sides", "best"),
    [
        ("AAB", "", {}, ["Option A: 2 of 3", "Option B: 1 of 3"], "Better supported: Option A"),
        ("AABB", "", {}, ["Option A: 2 of 4", "Option B: 2 of 4"], "Alike supported: Option A / Option B"),
        # What is voted for now counts, not what was held at first.
        ("AAB", "ABB", {}, ["Option B: 2 of 3", "Option A: 1 of 3"], "Better supported: Option B"),
        # Of two with the same votes that to which somebody came for a reason.
        ("AAAB", "AABB", {2: 4}, ["Option B: 2 of 4", "Option A: 2 of 4"], "Better supported: Option B"),
        ("AAAB", "AABB", {}, ["Option A: 2 of 4", "Option B: 2 of 4"], "Better supported: Option A"),
    ],
)
def test_the_better_supported_side_stands_first_and_is_named(
    first: str, last: str, cites: dict[int, int], sides: list[str], best: str
) -> None:
    debate, messages = opened(first)
    if last:
        messages += voted(debate, last, {who: [messages[place].id] for who, place in cites.items()})
    *found, verdict = told(debate, messages)
    assert ([line.partition(" hold it")[0].removeprefix("- ") for line in found], verdict) == (sides, best)


def test_a_side_is_told_with_its_answers_its_moves_its_quotes_and_what_a_judge_chose() -> None:
    debate, messages = opened("AAB")
    quotes = (FileQuote(text="so", found="exact", file="a"), FileQuote(text="no", found="missing"))
    data = messages[3].data_as(Position)
    messages[3] = replace(messages[3], data=replace(data, quotes=quotes))
    messages += [*voted(debate, "ABB", {1: [messages[3].id]}), *read(debate, "oB", "oB")]
    record = Record(debate, messages)
    numbers = {one.author.id: number for number, one in enumerate(numbered(record), 1)}
    text = str(Requests(record, PROMPTS).merge(numbered(record)).messages[-1]["content"])
    assert (
        f"- Option B: 2 of 3 hold it; held by answers ({numbers['p2']}); 1 came to it for what another said, "
        "0 without a reason; 1 of its 2 quotes are in the files; a judge chose it in both orders\n"
    ) in text


def test_how_right_all_have_been_breaks_a_tie_between_sides() -> None:
    debate, messages = opened("AABB")
    models = [f"{one.provider}/{one.model}" for one in debate.participants]
    known = [Calibration(model=one, rates=(60 + 30 * (place > 1),) * 4) for place, one in enumerate(models)]
    assert debate.council is not None
    for rates, best in (
        (known, "Better supported: Option B"),
        (known[1:], "Alike supported: Option A / Option B"),
    ):
        council = replace(debate.council, calibrations=tuple(rates))
        record = Record(replace(debate, council=council), messages)
        text = str(Requests(record, PROMPTS).merge(numbered(record)).messages[-1]["content"])
        assert best in text.splitlines()
        right = ["votes like theirs have been right in 90 %" in text, "right in 60 %" in text]
        assert right == [rates is known] * 2


def judged(argues: bool, *who: str) -> JudgedMoves:
    return JudgedMoves(moves=tuple(JudgedMove(participant=one, round=1, argues=argues) for one in who))


def test_a_move_that_a_judge_finds_unargued_is_drift_and_one_that_it_passes_over_stays_as_it_was() -> None:
    debate, messages = opened("ABBA")
    messages += voted(debate, "AAAA", {1: [messages[1].id], 2: [messages[1].id]})
    messages += read(debate, "oA", "oA")

    def found(*of: JudgedMoves) -> tuple[list[object], str, list[str]]:
        answer = said(debate.participants[0], "", 1, part=CouncilPart.MOVES)
        told_of = [*messages, *(replace(answer, data=one) for one in of)]
        result = outcome(Record(debate, told_of))
        ways = [(one.participant, one.round, one.option, one.moved, one.argues) for one in result.moves]
        # No vote is reverted.
        assert result.headline == "oA" and result.after.votes["oA"] == 4
        return [*ways], moves_line(result, words), drifted(Record(debate, told_of))

    ways, line, drift = found()
    assert ways == [("p1", 1, "oA", "cited", None), ("p2", 1, "oA", "cited", None)]
    assert line.endswith("2 citing a statement of somebody who held the new one, 0 without") and drift == []
    ways, line, drift = found(judged(True, "p1"), judged(False, "p2"))
    assert ways == [("p1", 1, "oA", "cited", True), ("p2", 1, "oA", "drift", False)]
    assert line.endswith("1 citing a statement that argues for the new one, as the judge read it, 1 without")
    assert drift == ["p2"]
    # Of one move nothing is known but the record: then no more is claimed of all.
    ways, line, _ = found(judged(False, "p1"))
    assert ways == [("p1", 1, "oA", "drift", False), ("p2", 1, "oA", "cited", None)]
    assert line.endswith("1 citing a statement of somebody who held the new one, 1 without")


def test_moves_are_judged_once_where_a_judge_read_and_something_is_cited() -> None:
    debate, messages = opened("ABA")
    assert debate.council is not None
    asked = replace(debate, council=replace(debate.council, moves=True))
    cited = [*messages, *voted(debate, "AAA", {1: [messages[1].id]})]
    step = CouncilStep(CouncilPart.MOVES, number=1, model="j/1")
    both = read(debate, "oA", "oA")
    assert step not in next_steps(Record(asked, cited))
    assert next_steps(Record(asked, [*cited, *both])) == (step,)
    # What an earlier version judged, what nobody cites, and what turns on what one wants is not asked about.
    assert next_steps(Record(debate, [*cited, *both])) == ()
    assert next_steps(Record(asked, [*messages, *voted(debate, "AAA"), *both])) == ()
    values = [replace(one, data=replace(one.data_as(JudgeReading), values=True)) for one in both]
    assert next_steps(Record(asked, [*cited, *values])) == ()
    failed = said(debate.participants[0], "", 1, part=CouncilPart.MOVES, state=MessageState.FAILED)
    assert next_steps(Record(asked, [*cited, *both, failed])) == ()


def test_what_is_read_of_moves_is_one_answer_for_each() -> None:
    debate, messages = opened("ABBA")
    cites = {1: [messages[1].id], 2: [messages[4].id]}
    moves = Record(debate, [*messages, *voted(debate, "AAAA", cites)]).unjudged
    given = [
        {"move": 1, "argues": False}, {"move": 2, "argues": True}, {"move": 2, "argues": False},
        {"move": 3, "argues": True}, {"move": "1", "argues": True}, {"move": 1},
    ]  # fmt: skip
    assert read_moves(json.dumps({"moves": given}), moves) == judged(False, "p1")
    for text in ("I cannot say.", '{"moves": []}', '{"moves": [{"move": 2, "argues": "yes"}]}'):
        assert read_moves(text, moves) is None


def moving(*says: object) -> Callable[[ModelRequest], Script]:
    """Let the one who holds SQLite be won over by an answer that it cites; asked about that, the judge says this."""

    def reply(request: ModelRequest) -> Script:
        text = str(request.messages[-1]["content"])
        if "changes of position in a debate" in text:
            return says
        argues = "Take your turn" in text or "secret ballot" in text
        cited = re.search(r"^\((\d+)\) Participant \w: Postgres", text, re.MULTILINE)
        if request.model != "model-1" or not argues or cited is None:
            return judging(request)
        letters = {line[3:]: line[0] for line in text.splitlines() if line[1:3] == ": "}
        vote = json.dumps({"choice": letters["Postgres"], "confidence": 66, "moved_by": [int(cited[1])]})
        return [vote] if request.schema else [f"I argue.\n@@ {vote}"]

    return reply


@pytest.mark.parametrize(
    ("says", "moved", "argues"),
    [
        (['{"moves": [{"move": 1, "argues": true}]}'], "cited", True),
        (['{"moves": [{"move": 1, "argues": false}]}'], "drift", False),
        (["I cannot say."], "cited", None),
        ([ProviderError(FailureKind.AUTHENTICATION)], "cited", None),
    ],
)
async def test_one_call_of_the_judge_says_of_all_moves_whether_they_are_argued_for(
    made: Bench, says: list[object], moved: str, argues: bool | None
) -> None:
    made.models.otherwise = moving(*says)
    session_id, found = await result(made)
    [move] = found.moves
    assert (move.participant, move.round, move.moved, move.argues) == ("p1", 1, moved, argues)
    requests = [one for one in made.models.requests if "changes of position" in str(one.messages)]
    [text] = [str(one.messages[-1]["content"]) for one in requests]
    cited = re.search(r"^\(1\) Postgres\n“(.*)”$", text, re.MULTILINE)
    assert cited is not None and cited[1] in SAYS.values() and requests[0].model == "model-0"
    assert not any(word in text for word in ("GPT", "Claude", "Gemini", "model-", "remote", "@@"))
    kept = [one for one in made.messages(session_id) if one.part == CouncilPart.MOVES]
    assert [one.data is not None for one in kept] == [argues is not None]
    # Nothing is asked about it again, whatever comes next.
    await made.engine.councils.further(session_id, "merge")
    await made.engine.wait(session_id)
    asked = [one for one in made.models.requests if "changes of position" in str(one.messages)]
    assert asked == requests
    shown = council_object(made.debate_of(session_id), made.messages(session_id))
    [ballot] = [one for one in shown["ballots"] if (one["participant"], one["round"]) == ("p1", 1)]  # type: ignore[attr-defined]
    assert ballot["moved"] == moved and shown["helpers"]["moves"] == "remote0/model-0"  # type: ignore[index]
    assert shown["outcome"]["moves"][0]["argues"] is argues  # type: ignore[index]
