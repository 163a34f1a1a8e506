"""What a judge made of a debate, as its message holds it, and which of its claims decide the answer; pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from app.core.json_values import as_list, objects_in
from app.core.verdict import Point
from app.engine.debate.replies import same_words

MOST_CRUXES = 3
APART = 0.5
"""A claim decides the answer where the shares of those who hold it differ at least by so much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BestCase:
    """The best case for an option, as a judge puts it."""

    option: str
    text: str
    cites: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What an answer rests on: the ids of those who hold and deny it, and of the statements that speak of it.

    A judge may put it as a question, which who `holds` it answers with yes; `settled_by` is what would tell.
    """

    text: str
    holds: tuple[str, ...] = ()
    denies: tuple[str, ...] = ()
    cites: tuple[str, ...] = ()
    settled_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeReading:
    """What a judge ("provider/model") made of the debate in one order, 1 or 2; `choice` is an option's id or NEITHER.

    `questions` are those on which it thinks that the answer turns, `unsupported` the ids of the statements that give out
    something as a fact and do not support it.
    """

    judge: str
    order: int
    choice: str
    confidence: int | None = None
    shown: tuple[str, ...] = ()
    cases: tuple[BestCase, ...] = ()
    agreed: tuple[Point, ...] = ()
    open: tuple[Point, ...] = ()
    questions: tuple[Claim, ...] = ()
    claims: tuple[Claim, ...] = ()
    unsupported: tuple[str, ...] = ()


def reading_of(data: dict[str, object]) -> JudgeReading | None:
    """Return what the message of a reading holds, None where that could not be read."""
    order, confidence = data.get("order"), data.get("confidence")
    if not data.get("choice") or not isinstance(order, int):
        return None

    def points(part: str) -> tuple[Point, ...]:
        return tuple(
            Point(text=str(one.get("text")), cites=_ids(one.get("cites")))
            for one in objects_in(data.get(part))
        )

    return JudgeReading(
        judge=str(data.get("judge")),
        order=order,
        choice=str(data["choice"]),
        confidence=confidence if isinstance(confidence, int) else None,
        shown=_ids(data.get("shown")),
        cases=tuple(
            BestCase(option=str(one.get("option")), text=str(one.get("text")), cites=_ids(one.get("cites")))
            for one in objects_in(data.get("cases"))
        ),
        agreed=points("agreed"),
        open=points("open"),
        questions=_claims(data.get("cruxes"), "yes", "no"),
        claims=_claims(data.get("claims"), "for", "against"),
        unsupported=_ids(data.get("unsupported")),
    )


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


def _claims(value: object, holds: str, denies: str) -> tuple[Claim, ...]:
    return tuple(
        Claim(
            text=str(one.get("text")),
            holds=_ids(one.get(holds)),
            denies=_ids(one.get(denies)),
            cites=_ids(one.get("cites")),
            settled_by=str(one.get("settled_by") or ""),
        )
        for one in objects_in(value)
    )


def _ids(value: object) -> tuple[str, ...]:
    return tuple(map(str, as_list(value)))
