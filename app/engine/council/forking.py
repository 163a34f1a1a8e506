"""Forks of councils: another council that stands as one did after a round; pure."""

from collections.abc import Sequence
from dataclasses import replace

from app.core.message import CouncilPart, Message
from app.core.reasons import Reason
from app.core.session import MIN_PARTICIPANTS, Council, DebateSession, Status
from app.engine.council.record import Record
from app.engine.debate.forking import begun_from, copied


def forked(
    session: DebateSession, messages: Sequence[Message], number: int
) -> tuple[DebateSession, list[Message]]:
    """Return a new council that stands as this one did after a round, and its messages; 0 is before any debate.

    It is over, and no call of it is due: what comes next is for the user to choose.
    """
    record = Record(session.debate, messages)
    # An earlier question had rounds of its own.
    said = {one.id for one in record.since}
    later = (place for place, one in enumerate(messages) if one.id in said and one.round > number)
    kept, _ = copied(messages[: next(later, len(messages))])
    council = session.debate.council or Council()
    record = Record(session.debate, kept)
    debate = replace(session.debate, due=(), council=_until(council, record, number))
    enough = len(record.answers()) >= MIN_PARTICIPANTS
    return begun_from(session, debate, Status.COMPLETED, Reason.COMPARED if enough else Reason.TOO_FEW), kept


def _until(council: Council, record: Record, number: int) -> Council:
    """Return what is wanted of a council of which no more is kept than `record`."""
    compared, merged, alone = map(
        record.count, (CouncilPart.DIFFERENCES, CouncilPart.MERGE, CouncilPart.SOLO)
    )
    checked = sum(one.part == CouncilPart.CHECK and one.ended and not one.round for one in record.since)
    whole = number == council.rounds
    return replace(
        council,
        again=max(0, compared - council.differences),
        merges=merged,
        solos=alone,
        checks=checked,
        rounds=number,
        debated=council.debated if whole else number,
        judges=council.judges if whole else (),
        stressed=tuple(one for one in council.stressed if one <= number),
        wanted_rounds=0,
    )
