"""What follows from a council: who holds what, what leads, and how settled that is; pure, never stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.core.message import Message
from app.core.session import MIN_PARTICIPANTS, Debate
from app.engine.council.families import family_of
from app.engine.council.record import Record, Vote
from app.engine.debate.names import mentioned

UNSURE = 50


class State(StrEnum):
    """How settled a council is."""

    NONE = "none"
    TIE = "tie"
    CONTESTED = "contested"
    SETTLED = "settled"
    AGREED_ONE_FAMILY = "agreed_one_family"
    LEANING = "leaning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """The votes for each option by id, plain and weighted by confidence; `missing` are those without a vote."""

    votes: dict[str, int]
    weighted: dict[str, float]
    missing: tuple[str, ...] = ()

    def leaders(self) -> tuple[str, ...]:
        """Return the options with the most votes; none where nobody voted."""
        most = max(self.votes.values(), default=0)
        return tuple(one for one, count in self.votes.items() if count == most) if most else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """An option that is not the headline, and who holds it; not `now`: who gave it up."""

    option: str
    holders: tuple[str, ...]
    now: bool = True
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CouncilOutcome:
    """What follows from a council.

    `headline` is an option's id, "" where none leads. `degraded` says what the result lacks: answers, or the call that
    compares them. `names_visible` says that the question or its files name a participant.
    """

    state: str
    headline: str
    before: Tally
    after: Tally
    minority: tuple[View, ...] = ()
    answered: int = 0
    asked: int = 0
    degraded: tuple[str, ...] = ()
    names_visible: bool = False


def outcome(debate: Debate, messages: Sequence[Message]) -> CouncilOutcome:
    """Return what follows from the messages of a council."""
    record = Record(debate, messages)
    everybody = [one.id for one in debate.participants]
    options = record.options()
    ids = [one.id for one in options]
    votes = votes_of(record)
    before = _tally(record.ballots(), everybody, ids)
    after = _tally(votes, everybody, ids, _first_confidence(record))
    leaders = after.leaders()
    headline = leaders[0] if len(leaders) == 1 else ""
    others = [one for one in options if one.id != headline]
    others.sort(key=lambda one: (-after.votes[one.id], -after.weighted[one.id]))
    held_now = holders_of(record)
    minority = [
        View(option=one.id, holders=held_now[one.id], text=_text_of(record, held_now[one.id]))
        for one in others
        if held_now[one.id]
    ]
    minority += [
        View(option=one.id, holders=one.backers, now=False, text=_text_of(record, one.backers))
        for one in others
        if one.backers and not held_now[one.id]
    ]
    answered = len(record.openings())
    degraded = [] if answered == len(everybody) else ["answers"]
    if debate.council is not None and debate.council.differences and answered >= MIN_PARTICIPANTS:
        degraded += ["differences"] if record.grouped else []
    return CouncilOutcome(
        state=_state(record, before, after, headline),
        headline=headline,
        before=before,
        after=after,
        minority=tuple(minority),
        answered=answered,
        asked=len(everybody),
        degraded=tuple(degraded),
        names_visible=names_visible(debate),
    )


def names_visible(debate: Debate) -> bool:
    """Say whether the question or a file names a participant: what is asked is never changed, so the name is read."""
    texts = (debate.topic, *(file.text for file in debate.context))
    return any(mentioned(text, debate.participants) for text in texts)


def votes_of(record: Record) -> tuple[Vote, ...]:
    """Return what everybody holds now."""
    return tuple(record.vote(one, record.rounds) for one in record.openings())


def holders_of(record: Record) -> dict[str, tuple[str, ...]]:
    """Return who holds each option now, by the option's id."""
    votes = votes_of(record)
    return {
        option.id: tuple(vote.participant for vote in votes if vote.choice == option.id)
        for option in record.options()
    }


def _first_confidence(record: Record) -> dict[str, int | None]:
    """Return how sure each participant was when it took the position that it ends with: debating makes everybody surer."""
    found = {}
    for who in record.openings():
        held = record.vote(who, record.rounds)
        for number in range(record.rounds, -1, -1):
            vote = record.vote(who, number)
            if vote.choice != held.choice:
                break
            held = vote
        found[who] = held.confidence
    return found


def _tally(
    ballots: Sequence[Vote],
    everybody: Sequence[str],
    options: Sequence[str],
    sure: Mapping[str, int | None] | None = None,
) -> Tally:
    valid = [one for one in ballots if one.choice in options]
    voted = {one.participant for one in valid}
    return Tally(
        votes={one: sum(ballot.choice == one for ballot in valid) for one in options},
        weighted={
            one: sum(
                _weight(sure.get(ballot.participant) if sure is not None else ballot.confidence)
                for ballot in valid
                if ballot.choice == one
            )
            for one in options
        },
        missing=tuple(one for one in everybody if one not in voted),
    )


def _weight(confidence: int | None) -> float:
    return 0.5 + (UNSURE if confidence is None else confidence) / 200


def _state(record: Record, before: Tally, after: Tally, headline: str) -> str:
    valid = sum(after.votes.values())
    if valid < MIN_PARTICIPANTS:
        return State.NONE
    if not headline:
        return State.TIE
    for_it = after.votes[headline]
    first = before.leaders()
    overturned = len(first) == 1 and first[0] != headline
    if overturned or for_it * 2 <= len(record.debate.participants):
        return State.CONTESTED
    if for_it < len(record.debate.participants):
        return State.LEANING
    families = {family_of(one.model) for one in record.debate.participants}
    return State.SETTLED if len(families) > 1 else State.AGREED_ONE_FAMILY


def _text_of(record: Record, holders: Sequence[str]) -> str:
    """Return the answer of the surest of those who hold an option."""
    answers = record.openings()
    there = [one for one in holders if one in answers]

    def sureness(who: str) -> float:
        confidence = (answers[who].data or {}).get("confidence")
        return _weight(confidence if isinstance(confidence, int) else None)

    return answers[max(there, key=sureness)].content if there else ""
