"""Which calls of a council come next, and those beside the turns of a debate; pure: no clock, no reading
or writing.

A call is due as long as no message that has ended has its key, so that nothing is asked, or paid, twice. A
fork is another council that stands as this one did after a round.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from app.core.council import MIN_PARTICIPANTS
from app.core.council_parts import Position
from app.core.frozen import Frozen
from app.core.message import CouncilPart, Message, MessageState
from app.core.session import Debate, DebateSession, Reason, Status
from app.engine.council.outcome import in_full, outcome, surest
from app.engine.council.record import Record
from app.engine.council.requests import ORDERS, ReaderView, judge_view, view_of
from app.engine.council.verdicts import stood
from app.engine.debate.director import begun_from, copied, participant_of, round_to_poll
from app.engine.voting import name_of

# How often an answer of a blind pick is written at most, and how much longer one may be than the other.
MOST_WRITTEN = 2
MOST_APART = 0.2


class CouncilStep(Frozen, kw_only=False):
    """One call: what it is, the participant whose it is ("" for none), the message it makes up for,
    and the round.

    `model` is the "provider/model" that is asked in place of a participant, "" for the helper. A judge reads
    in two orders.
    """

    part: str
    who: str = ""
    retakes: str = ""
    number: int = 0
    model: str = ""
    order: int = 0


def next_steps(
    record: Record, absent: Collection[str] = (), mute: Collection[str] = ()
) -> tuple[CouncilStep, ...]:
    """Return all calls that can be made now, side by side.

    `absent` are participants who cannot be asked, `mute` those whose models are too small to argue and vote.
    """
    debate, council = record.debate, record.council
    if debate.council is None or record.question is None:
        return ()
    due = []
    retaken = {message.retakes for message in record.all if message.retakes and message.ended}
    for participant in record.asked():
        if participant.id in absent:
            continue
        ended = record.replied(participant.id)
        if ended is None:
            due.append(CouncilStep(CouncilPart.ANSWER, participant.id))
        elif ended.state == MessageState.FAILED and ended.id in debate.due and ended.id not in retaken:
            due.append(CouncilStep(CouncilPart.ANSWER, participant.id, ended.id))
    if due:
        return tuple(due)
    if len(record.answers()) < MIN_PARTICIPANTS or not council.helper:
        return ()
    if comparison_due(record):
        return (CouncilStep(CouncilPart.DIFFERENCES),)
    if record.count(CouncilPart.MERGE) < council.merges:
        return (CouncilStep(CouncilPart.MERGE),)
    if record.count(CouncilPart.SOLO) < council.solos and (best := surest(record)):
        return (CouncilStep(CouncilPart.SOLO, model=model_of(debate, best)),)
    if record.count(CouncilPart.CHECK, number=0) < council.checks and council.outsider:
        return (CouncilStep(CouncilPart.CHECK, model=council.outsider),)
    argued = _debate(record, {*absent, *mute}) or judge_steps(record, absent)
    return argued or blind_steps(record)


def options_step(record: Record) -> CouncilStep | None:
    """Return the call that looks for the options of a debate's question, None where none is wanted."""
    wanted = (record.debate.votes or record.debate.concludes) and record.council.helper
    known = record.first_options() or record.count(CouncilPart.DIFFERENCES)
    return CouncilStep(CouncilPart.DIFFERENCES) if wanted and not known else None


def concluding_steps(record: Record, absent: Collection[str], *, ended: bool) -> tuple[CouncilStep, ...]:
    """Return the ballots of a debate that are due now; at its end then a judge's readings, and the dissents.

    `absent` are those who are not asked.
    """
    number = round_to_poll(record.debate, ended=ended)
    if number is not None:
        voters = [voter for voter in record.voters() if voter not in absent]
        if due := _ballots(record, voters, number):
            return due
    return judge_steps(record, absent) if ended and record.debate.concludes else ()


def blind_steps(record: Record) -> tuple[CouncilStep, ...]:
    """Return the calls that a blind pick still needs: the answer of one model alone,
    then both answers written alike.

    `order` is 1 for what all came to, 2 for the model alone. Where one is much longer it is written once
    more.
    """
    blind = record.council.blind
    if blind is None or blind.order or not record.council.helper:
        return ()
    if record.alone is None:
        # One that failed isn't asked again and again.
        best = surest(record) if record.count(CouncilPart.SOLO) < blind.asked else ""
        return (CouncilStep(CouncilPart.SOLO, model=model_of(record.debate, best)),) if best else ()
    written, texts = record.rewritten(), record.blind_texts()
    due = [side for side in written if side not in texts]
    if not due:
        longer, shorter = sorted(texts, key=lambda side: -len(texts[side]))
        due = [longer] * (len(texts[longer]) > (1 + MOST_APART) * len(texts[shorter]))
    due = [side for side in due if len(written[side]) < MOST_WRITTEN * blind.asked]
    return tuple(CouncilStep(CouncilPart.REWRITE, order=1 if side else 2) for side in due)


def comparison_due(record: Record) -> bool:
    """Return whether a comparison of the answers is wanted that has not been made."""
    wanted = record.council.differences + record.council.again
    return record.debate.council is not None and record.count(CouncilPart.DIFFERENCES) < wanted


def seen_by(record: Record, step: CouncilStep) -> ReaderView:
    """Return what the reader of a step sees of a debate."""
    if step.part == CouncilPart.READING:
        return judge_view(record, step.number, step.order)
    return view_of(record, step.who, step.number, ballot=step.part == CouncilPart.BALLOT)


def model_of(debate: Debate, participant_id: str) -> str:
    """Return the "provider/model" of a participant."""
    return name_of(participant_of(debate, participant_id).seat)


def _debate(record: Record, absent: Collection[str]) -> tuple[CouncilStep, ...]:
    """Return the calls of a debate of what is open: a round at a time, until nobody moves; then all vote
    in secret.
    """
    council = record.council
    speakers = [opening for opening in record.openings if opening not in absent]
    voters = [speaker for speaker in speakers if speaker not in council.voteless]
    if not council.rounds or len(speakers) < MIN_PARTICIPANTS:
        return ()
    # Whose answer stands under no option says first what it holds; in a what-if round all vote at once.
    blank = [] if record.concludes else [voter for voter in voters if not record.ballots[voter].choice]
    if small := _ballots(record, blank, 0):
        return small
    for number in range(1, council.rounds + 1):
        stressed = number in council.stressed
        silent = stressed or (number == 1 and record.concludes)
        speaking = [] if silent else speakers
        owing = (item for item in speaking if _owes(record, CouncilPart.TURN, item, number))
        due = [CouncilStep(CouncilPart.TURN, item, number=number) for item in owing]
        if stressed and record.last(CouncilPart.CHECK, number=number) is None:
            unsure = surest(record, number=number - 1, least=True)
            sceptic = council.outsider or model_of(record.debate, unsure)
            due = [CouncilStep(CouncilPart.CHECK, number=number, model=sceptic)]
        if due:
            return tuple(due)
        last = number == council.rounds
        if number <= council.debated:
            continue
        # Who said nothing that counts is asked once more, with a small call.
        ballots = _ballots(record, [one for one in voters if last or not record.voted(one, number)], number)
        if not ballots and not last and record.stands(number):
            last = True
            ballots = _ballots(record, voters, number)
        if ballots:
            return ballots
        if last:
            break
    return ()


def _ballots(record: Record, voters: Sequence[str], number: int) -> tuple[CouncilStep, ...]:
    """Return the ballots of a round that are due; one that cannot be read, or failed, is asked for once
    more.
    """
    due = []
    for voter in voters:
        cast = record.cast(voter, number)
        if not cast:
            due.append(CouncilStep(CouncilPart.BALLOT, voter, number=number))
        elif len(cast) == 1 and not cast[0].data_as(Position).choice:
            due.append(CouncilStep(CouncilPart.BALLOT, voter, cast[0].id, number))
    return tuple(due)


def judge_steps(record: Record, absent: Collection[str]) -> tuple[CouncilStep, ...]:
    """Return the readings after the last round, by the next judge where one fails; then what it says
    of moves, and the dissents.
    """
    number, council = record.rounds, record.council
    for judge in council.judges if number else ():
        orders = [item for item in ORDERS if record.asked_to_read(judge, item, number) is None]
        if orders:
            step = CouncilStep(CouncilPart.READING, number=number, model=judge)
            return tuple(replace(step, order=order) for order in orders)
        if any(reading.judge == judge for reading in record.readings()):
            break
    else:
        return ()
    result = outcome(record)
    asked = council.moves and result.judge and record.last(CouncilPart.MOVES, number=number) is None
    moves = [CouncilStep(CouncilPart.MOVES, number=number, model=result.judge)] if asked else []
    holders = [surest(record, view.holders) for view in in_full(result) if view.now and result.headline]
    holders = [holder for holder in holders if holder and holder not in absent]
    owing = (holder for holder in holders if _owes(record, CouncilPart.DISSENT, holder, number))
    dissents = (CouncilStep(CouncilPart.DISSENT, item, number=number) for item in owing)
    return (*(moves if record.unjudged else ()), *dissents)


def _owes(record: Record, part: str, who: str, number: int) -> bool:
    """Say whether a participant has yet to say something in a round;
    who joined after it was over has nothing to say in it.
    """
    joined = number <= record.council.debated and who in record.joined
    return not joined and record.last(part, who, number=number) is None


def forked(session: DebateSession, record: Record, number: int) -> tuple[DebateSession, list[Message]]:
    """Return a new council that stands as one did after a round of its record, and its messages;
    0 is before any debate.

    It is over, and what comes next is for the user to choose; where calls of that round were still due it is
    paused.
    """
    # An earlier question had rounds of its own.
    said = {message.id for message in record.since}
    later = (place for place, item in enumerate(record.all) if item.id in said and item.round > number)
    place = next(later, len(record.all))
    debate = stood(record.debate, record.all, place, number)
    kept, _ = copied(record.all[:place])
    fork = Record(debate, kept)
    if session.status != Status.COMPLETED and next_steps(fork):
        return begun_from(session, debate, Status.PAUSED, Reason.FORKED), kept
    reason = Reason.COMPARED if len(fork.answers()) >= MIN_PARTICIPANTS else Reason.TOO_FEW
    return begun_from(session, debate, Status.COMPLETED, reason), kept
