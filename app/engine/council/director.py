"""Which calls of a council come next; pure: no clock, no randomness, no reading or writing.

A call is due as long as no message that has ended has its key, so that nothing is asked, or paid, twice.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from app.core.message import CouncilPart, Message, MessageState
from app.core.session import MIN_PARTICIPANTS, Council, Debate
from app.engine.council.record import Record


@dataclass(frozen=True, slots=True)
class CouncilStep:
    """One call: what it is, whose it is ("" for the helper's), the failed message it makes up for, and the round."""

    part: str
    who: str = ""
    retakes: str = ""
    number: int = 0


def next_steps(
    debate: Debate, messages: Sequence[Message], absent: Collection[str] = ()
) -> tuple[CouncilStep, ...]:
    """Return all calls that can be made now, side by side; `absent` are participants who cannot be asked."""
    record = Record(debate, messages)
    council = debate.council
    if council is None or record.question is None:
        return ()
    due = []
    retaken = {one.retakes for one in messages if one.retakes and one.ended}
    for one in record.asked():
        if one.id in absent:
            continue
        ended = record.last(CouncilPart.ANSWER, one.id, latest=True)
        if ended is None:
            due.append(CouncilStep(CouncilPart.ANSWER, one.id))
        elif ended.state == MessageState.FAILED and ended.id in debate.due and ended.id not in retaken:
            due.append(CouncilStep(CouncilPart.ANSWER, one.id, ended.id))
    if due:
        return tuple(due)
    if len(record.answers()) < MIN_PARTICIPANTS or not council.helper:
        return ()
    if record.count(CouncilPart.DIFFERENCES) < council.differences + council.again:
        return (CouncilStep(CouncilPart.DIFFERENCES),)
    if record.count(CouncilPart.MERGE) < council.merges:
        return (CouncilStep(CouncilPart.MERGE),)
    return _debate(record, council, absent)


def _debate(record: Record, council: Council, absent: Collection[str]) -> tuple[CouncilStep, ...]:
    """Return the calls of a debate of what is open: a round at a time, until nobody moves; then all vote in secret."""
    voters = [one for one in record.openings() if one not in absent]
    for number in range(1, council.rounds + 1):
        due = [one for one in voters if record.last(CouncilPart.TURN, one, number=number) is None]
        if due:
            return tuple(CouncilStep(CouncilPart.TURN, one, number=number) for one in due)
        last = number == council.rounds
        if number <= council.debated:
            continue
        # Who said nothing that counts is asked once more, with a small call.
        blank = [one for one in voters if last or not record.voted(one, number)]
        due = [one for one in blank if record.last(CouncilPart.BALLOT, one, number=number) is None]
        if not due and not last and record.stands(number):
            last = True
            due = [one for one in voters if record.last(CouncilPart.BALLOT, one, number=number) is None]
        if due:
            return tuple(CouncilStep(CouncilPart.BALLOT, one, number=number) for one in due)
        if last:
            break
    return ()
