"""The claims of a council's debate, and which of them its answer turns on."""

import json
from dataclasses import asdict, replace

import pytest

from app.core.council_parts import Claim, JudgeQuestion, JudgeReading, Position
from app.core.message import CouncilPart, MessageState
from app.engine.council.outcome import case_for, outcome
from app.engine.council.record import Record, cruxes
from app.engine.council.requests import judge_view, read_reading
from app.engine.debate.replies import parts_of
from tests.builders import Bench, said
from tests.engine.test_council_verdict import made, opened, read, result, voted

__all__ = ["made"]


def a_claim(text: str, holds: str, denies: str, *cites: str, settled_by: str = "") -> Claim:
    return Claim(
        text=text,
        holds=tuple(holds.split()),
        denies=tuple(denies.split()),
        cites=cites,
        settled_by=settled_by,
    )


@pytest.mark.parametrize(
    ("holds", "denies", "is_crux"),
    [
        ("a b c", "d", True),
        ("a b", "d", True),
        # One of three against none of one.
        ("a", "d", False),
        # Denied by those who lead, held by the other.
        ("d", "a", True),
        ("d", "", False),
        ("a b c", "", False),
        ("a b c d", "", False),
        ("a b d", "c", False),
    ],
)
def test_a_crux_divides_those_who_lead_from_the_others_and_both_sides_are_held(
    holds: str, denies: str, is_crux: bool
) -> None:
    reading = JudgeReading(
        judge="j/1", order=1, choice="oA", claims=(a_claim("It is.", holds, denies, "m1"),)
    )
    assert bool(cruxes(reading, "abcd", ["abc"])) is is_crux


def test_at_most_three_cruxes_the_most_cited_first_and_each_once() -> None:
    claims = [
        a_claim(f"Claim {count}.", "a b c", "d", *(f"m{count}{n}" for n in range(count)))
        for count in (1, 2, 3, 4)
    ]
    asked = (
        a_claim("Is it so?", "a b c", "d", "m20", settled_by="a day of logs"),
        a_claim("No side denies it?", "a b", "", "m9", "m8", "m7", "m6", "m5"),
        a_claim("claim 4", "a", "b", "m1"),
    )
    questions = tuple(JudgeQuestion(**asdict(one)) for one in asked)
    reading = JudgeReading(judge="j/1", order=1, choice="oA", claims=tuple(claims), questions=questions)
    found = cruxes(reading, "abcd", ["abc"])
    # The question stands for the claim of which it says what would settle it.
    assert [one.text for one in found] == ["Claim 4.", "Claim 3.", "Is it so?"]
    assert found[2].settled_by == "a day of logs"
    assert cruxes(reading, "abc", ["abc"]) == [] and cruxes(reading, "abcd", [[]]) == []


def test_the_claims_of_a_debate_are_in_its_outcome_and_a_tie_turns_on_what_divides_it() -> None:
    debate, messages = opened("AABB")
    messages += voted(debate, "AABB")
    first, second = read(debate, "oA", "oB")
    crux = a_claim("It is.", "p2 p3", "p0", messages[1].id)
    claims = (crux, a_claim("Said.", "p0 p2", "", messages[1].id))
    data = replace(first.data_as(JudgeReading), claims=claims, unsupported=(messages[2].id,))
    found = outcome(Record(debate, [*messages, replace(first, data=data), second]))
    assert (found.state, found.unstable) == ("tie", True)
    assert [one.text for one in found.claims] == ["It is.", "Said."]
    assert [one.text for one in found.cruxes] == ["It is."] and found.unsupported == (messages[2].id,)


def test_only_votes_of_the_round_before_show_that_nobody_moved() -> None:
    debate, messages = opened("AB")
    messages += [
        said(one, "", number, part=CouncilPart.TURN, data=Position(choice=f"o{held}"))
        for number in (1, 3)
        for one, held in zip(debate.participants, "AB", strict=True)
    ]
    record = Record(debate, messages)
    assert record.stands(1) and not record.stands(3)


@pytest.mark.parametrize(
    ("models", "state"),
    [
        (("gpt-5", "claude-5", "qwen-5"), "settled"),
        (("gpt-5", "gpt-5-mini", "gpt-5-pro"), "agreed_one_family"),
    ],
)
def test_where_a_ballot_cannot_be_read_the_last_turn_counts_and_nothing_is_settled(
    models: tuple[str, ...], state: str
) -> None:
    debate, messages = opened("AAA", models)
    messages += voted(debate, "AAA")
    assert outcome(Record(debate, messages)).state == state
    first = next(one for one in messages if one.part == CouncilPart.BALLOT)
    blank = [replace(one, data=Position()) if one is first else one for one in messages]
    found = outcome(Record(debate, blank))
    assert (found.state, found.unread, found.degraded) == ("leaning", ("p0",), ("ballots",))
    assert found.after.missing == () and not Record(debate, blank).stands(1)


def test_at_a_tie_both_stand_beside_each_other_and_the_minority_is_what_else_is_held() -> None:
    debate, messages = opened("AABBC")
    messages += voted(debate, "AABBC")
    found = outcome(Record(debate, messages))
    assert (found.state, [one.option for one in found.minority]) == ("tie", ["oC"])
    # Nobody judged, so that the last words of the surest of each stand for both.
    record = Record(debate, messages)
    assert [case_for(record, one)[0] for one in ("oA", "oB", "")] == ["p0 argues A.", "p2 argues B.", ""]


async def test_a_view_of_the_minority_is_argued_again_with_what_it_wrote(made: Bench) -> None:
    session_id, found = await result(made)
    (view,) = found.minority
    before = len(made.models.requests)
    await made.engine.councils.argue(session_id, view.option)
    await made.engine.wait(session_id)
    requests = made.models.requests[before:]
    turns = [str(one.messages[-1]["content"]) for one in requests if "Take your turn" in str(one.messages)]
    assert len(turns) == 3 and len(requests) == 3 + 3 + 2 + 1
    for text in turns:
        letter = next(line[0] for line in text.splitlines() if line[1:] == ": SQLite")
        assert f"wants option {letter} argued again" in text and text.count("Nobody tested it.") == 1
    assert not any("argued again" in str(one.messages) for one in requests if one.schema is not None)
    live = made.engine.live(session_id)
    assert live is not None
    assert all(one.state == MessageState.DONE for one in live.messages)
    assert Record(live.debate_session.debate, live.messages).rounds == 2


async def test_without_a_model_from_outside_that_of_the_least_sure_looks_for_what_is_wrong(
    made: Bench,
) -> None:
    session_id, _ = await result(made)
    live = made.engine.live(session_id)
    assert live is not None
    for place, one in enumerate(live.messages):
        if one.part == CouncilPart.BALLOT and one.author.id == "p1":
            data = replace(one.data_as(Position), confidence=12)
            live.messages[place] = replace(one, data=data)  # type: ignore[index]
    before = len(made.models.requests)
    await made.engine.councils.further(session_id, "stress")
    await made.engine.wait(session_id)
    sceptic, *votes = made.models.requests[before : before + 4]
    assert "Test what they hold" in str(sceptic.messages) and sceptic.model == "model-1"
    assert all(one.schema is not None for one in votes)


@pytest.mark.parametrize(
    ("claim", "parts"),
    [
        ("SQLite copies in one file.", None),
        ("SQLite copies in one file. Postgres needs a dump.", ["SQLite copies in one file.", "Postgres needs a dump."]),
        ("(1) Copies are small, (2) copies are fast", ["Copies are small", "copies are fast"]),
        ("1. Copies are small. 2. Copies are fast.", ["Copies are small.", "Copies are fast."]),
        ("Copies are small; restores are fast", ["Copies are small", "restores are fast"]),
        ("배포가 느리다. 롤백은 쉽다.", ["배포가 느리다.", "롤백은 쉽다."]),
        # What leans on the sentence before it says nothing alone.
        ("SQLite copies in one file. It is safe.", None),
        ("배포가 느리다. 그래서 롤백이 어렵다.", None),
        ("Two things count: 1. speed is high 2. cost is low", None),
        ("Many tools fit, e.g. Postgres clusters with replicas.", None),
        ("Dr. Smith measured 3.5 GB. Yes.", None),
        ("A copy takes 2. Then 3 are left.", None),
    ],
)  # fmt: skip
def test_a_claim_is_split_where_each_part_stands_by_itself(claim: str, parts: list[str] | None) -> None:
    assert parts_of(claim) == (parts or [claim])


def test_the_parts_of_a_claim_have_its_holders_and_cites_but_a_denied_one_stays_whole() -> None:
    debate, messages = opened("AAB")
    view = judge_view(Record(debate, messages), 1, 1)
    letters = [view.letters[one.id] for one in debate.participants]
    claims = [
        {"text": "Copies are small. Restores are fast.", "for": letters[:2], "against": [], "cites": [1, 2]},
        {"text": "Writes are many. Reads are few.", "for": letters[:2], "against": letters[2:], "cites": [1]},
    ]
    cruxes = [{"text": "Is it small? Is it fast?", "yes": letters[:2], "no": [], "cites": [1]}]
    found = read_reading(json.dumps({"choice": "A", "claims": claims, "cruxes": cruxes}), view)
    cited = tuple(one.id for one in view.statements[:2])
    assert [(one.text, one.holds, one.denies, one.cites) for one in found.claims] == [
        ("Copies are small.", ("p0", "p1"), (), cited),
        ("Restores are fast.", ("p0", "p1"), (), cited),
        ("Writes are many. Reads are few.", ("p0", "p1"), ("p2",), cited[:1]),
    ]
    # A question is no claim.
    assert [one.text for one in found.questions] == ["Is it small? Is it fast?"]
    many = read_reading(json.dumps({"choice": "A", "claims": claims[:1] * 12}), view)
    assert len(many.claims) == 12
