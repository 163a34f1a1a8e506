"""Which of the claims that a judge found in a debate decide the answer; pure."""

from collections.abc import Collection, Sequence

from app.core.council_parts import Claim, JudgeReading
from app.engine.debate.replies import same_words

MOST_CRUXES = 3
APART = 0.5
"""A claim decides the answer where the shares of those who hold it differ at least by so much."""


def cruxes(
    reading: JudgeReading, everybody: Collection[str], sides: Sequence[Collection[str]]
) -> list[Claim]:
    """Return the claims that divide those who vote for what leads from the others, the most cited first, at most three.

    A claim counts where somebody holds it and somebody denies it, and where the share of those who hold it among the
    voters of one of the `sides` and among all others differs by APART or more. A question of the judge stands for the
    claim that has the same sides and a statement in common.
    """

    def divides(claim: Claim) -> bool:
        for side in sides:
            others = [one for one in everybody if one not in side]
            if side and others and abs(_share(claim, side) - _share(claim, others)) >= APART:
                return bool(claim.holds and claim.denies)
        return False

    found: list[Claim] = []
    for claim in (*reading.questions, *reading.claims):
        said = any(
            same_words(one.text) == same_words(claim.text)
            or (_sides(one) == _sides(claim) and {*one.cites} & {*claim.cites})
            for one in found
        )
        if divides(claim) and not said:
            found.append(claim)
    return sorted(found, key=lambda one: -len(one.cites))[:MOST_CRUXES]


def _share(claim: Claim, people: Collection[str]) -> float:
    return sum(one in claim.holds for one in people) / len(people)


def _sides(claim: Claim) -> tuple[set[str], set[str]]:
    return {*claim.holds}, {*claim.denies}
