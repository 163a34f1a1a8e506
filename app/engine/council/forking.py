"""Forks of councils: another council that stands as one did after a round; pure."""

from collections.abc import Sequence
from dataclasses import replace

from app.core.council_parts import JudgeReading, Position
from app.core.message import CouncilPart, Message
from app.core.reasons import Reason
from app.core.session import MIN_PARTICIPANTS, Council, DebateSession, Status
from app.engine.council.director import next_steps
from app.engine.council.record import Record
from app.engine.debate.forking import begun_from, copied


def forked(
    session: DebateSession, messages: Sequence[Message], number: int
) -> tuple[DebateSession, list[Message]]:
    """Return a new council that stands as this one did after a round, and its messages; 0 is before any debate.

    It is over, and what comes next is for the user to choose; where calls of that round were still due it is paused.
    """
    # An earlier question had rounds of its own.
    said = {one.id for one in Record(session.debate, messages).since}
    later = (place for place, one in enumerate(messages) if one.id in said and one.round > number)
    place = next(later, len(messages))
    absent = _joined(messages[place:]) - _joined(messages[:place])
    kept, _ = copied(messages[:place])
    people = tuple(one for one in session.debate.participants if one.id not in absent)
    debate = replace(session.debate, due=(), participants=people)
    record = Record(debate, kept)
    debate = replace(debate, council=_until(debate.council or Council(), record, number))
    if session.status != Status.COMPLETED and next_steps(debate, kept):
        return begun_from(session, debate, Status.PAUSED, Reason.FORKED), kept
    enough = len(record.answers()) >= MIN_PARTICIPANTS
    return begun_from(session, debate, Status.COMPLETED, Reason.COMPARED if enough else Reason.TOO_FEW), kept


def _joined(messages: Sequence[Message]) -> set[str]:
    """Return who has joined with an answer from outside."""
    return {one.author.id for one in messages if one.data_as(Position).joined}


def _until(council: Council, record: Record, number: int) -> Council:
    """Return what is wanted of a council of which no more is kept than `record`."""
    compared, merged, alone = map(
        record.count, (CouncilPart.DIFFERENCES, CouncilPart.MERGE, CouncilPart.SOLO)
    )
    checked = sum(one.part == CouncilPart.CHECK and one.ended and not one.round for one in record.since)
    # Who read it then: those who read what was said later are of no use to it.
    readers = [
        one.data_as(JudgeReading).judge
        for one in record.since
        if one.part == CouncilPart.READING and one.ended and one.round == number
    ]
    return replace(
        council,
        again=max(0, compared - council.differences),
        merges=merged,
        solos=alone,
        checks=checked,
        rounds=number,
        debated=number,
        judges=tuple(dict.fromkeys(readers)),
        # The voting check comes before a debate.
        voteless=council.voteless if number else (),
        stressed=tuple(one for one in council.stressed if one <= number),
        wanted_rounds=0,
    )
