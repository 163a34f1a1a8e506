"""The claims of a council's debate, and which of them its answer turns on."""

from dataclasses import replace

import pytest

from app.engine.council.outcome import outcome
from app.engine.council.reading import Claim, JudgeReading, cruxes
from tests.engine.test_council_verdict import opened, read, voted


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
    questions = (
        a_claim("Is it so?", "a b c", "d", "m20", settled_by="a day of logs"),
        a_claim("No side denies it?", "a b", "", "m9", "m8", "m7", "m6", "m5"),
        a_claim("claim 4", "a", "b", "m1"),
    )
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
    crux = {"text": "It is.", "for": ["p2", "p3"], "against": ["p0"], "cites": [messages[1].id]}
    claims = [crux, {"text": "Said.", "for": ["p0", "p2"], "against": [], "cites": [messages[1].id]}]
    data = {**(first.data or {}), "claims": claims, "unsupported": [messages[2].id]}
    found = outcome(debate, [*messages, replace(first, data=data), second])
    assert (found.state, found.unstable) == ("tie", True)
    assert [one.text for one in found.claims] == ["It is.", "Said."]
    assert [one.text for one in found.cruxes] == ["It is."] and found.unsupported == (messages[2].id,)
