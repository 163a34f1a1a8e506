"""The debate's director: whose turn is next, and where the cursor goes after a turn.

Pure: no clock, no randomness, no reading or writing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.core.message import Message, MessageState
from app.core.reasons import Reason
from app.core.session import MIN_PARTICIPANTS, Debate, DebateSession, Participant
from app.engine.debate.modes import mode_of
from app.engine.debate.next_speaker import Why
from app.engine.director import Decision, Finish, Halt, Speak
from app.engine.turns.reply import PASSED

MAX_FAILURES = 2


PARTICIPANT = "participant"


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What the director knows besides the debate: the ids of participants whose provider is gone or whom the user left out."""

    absent: frozenset[str] = frozenset()


def decide(session: DebateSession, messages: Sequence[Message], world: World) -> Decision:
    """Return what comes next in a running debate."""
    debate = session.debate
    present = tuple(one for one in debate.participants if one.id not in world.absent)
    again = _retake(debate, messages, present)
    if debate.round > debate.rounds and again is None:
        return Finish(Reason.ROUNDS_DONE)
    if len(present) < MIN_PARTICIPANTS:
        return Finish(Reason.TOO_FEW)
    if debate.failures >= MAX_FAILURES:
        return Halt(Reason.TWO_FAILURES)
    if again is not None:
        return again
    rule = mode_of(debate.mode).speaker_rule
    if rule is None:
        return _in_order(debate, world)
    if _all_passed(messages, present):
        return Finish(Reason.EXHAUSTED)
    round_number, turn = debate.round, debate.turn
    if turn >= len(present):
        round_number, turn = round_number + 1, 0
    if round_number > debate.rounds:
        return Finish(Reason.ROUNDS_DONE)
    participant, why = rule(debate, present, list(messages))
    return Speak(participant.id, round=round_number, turn=turn, why=why)


def after_turn(debate: Debate, spoken: Speak, *, failed: bool, world: World) -> Debate:
    """Return the debate with the cursor behind the turn that was just taken."""
    failures = debate.failures + 1 if failed else 0
    if spoken.retakes:
        due = tuple(one for one in debate.due if one != spoken.retakes)
        return replace(debate, due=due, failures=failures)
    if mode_of(debate.mode).speaker_rule is None:
        size = len(debate.participants)
    else:
        size = sum(one.id not in world.absent for one in debate.participants)
    round_number, turn = spoken.round, spoken.turn + 1
    if turn >= size:
        round_number, turn = round_number + 1, 0
    return replace(debate, round=round_number, turn=turn, failures=failures)


def after_resume(debate: Debate, messages: Sequence[Message]) -> Debate:
    """Return the debate as it goes on after a pause: the failed turns that led to it are due again."""
    due = debate.due
    if debate.failures >= MAX_FAILURES:
        due = tuple(dict.fromkeys((*(one.id for one in last_turns(messages, debate.failures)), *due)))
    return replace(debate, failures=0, due=due)


def last_turns(messages: Sequence[Message], count: int) -> list[Message]:
    """Return the turns that were taken last, well or badly, in order."""
    return _turns(messages)[-count:]


def participant_of(debate: Debate, participant_id: str) -> Participant:
    """Return a participant by id; raises StopIteration for an unknown one."""
    return next(one for one in debate.participants if one.id == participant_id)


def answered(messages: Sequence[Message]) -> bool:
    """Say whether any participant could answer."""
    return any(one.state == MessageState.DONE for one in _turns(messages))


def failed_turns(messages: Sequence[Message]) -> int:
    """Return how many turns have failed and were not taken again."""
    turns = _turns(messages)
    retaken = {one.retakes for one in turns}
    return sum(one.state == MessageState.FAILED and one.id not in retaken for one in turns)


def _turns(messages: Sequence[Message]) -> list[Message]:
    """Return the turns that were taken to their end, well or badly."""
    return [one for one in messages if one.author.kind == PARTICIPANT and one.ended and not one.is_interim]


def _retake(debate: Debate, messages: Sequence[Message], present: tuple[Participant, ...]) -> Speak | None:
    """Return the first failed turn that is due again and whose participant is there."""
    if not debate.due:
        return None
    by_id = {one.id: one for one in messages if one.id in debate.due}
    for message_id in debate.due:
        failed = by_id.get(message_id)
        for one in present:
            if failed is not None and failed.author.id == one.id:
                return Speak(
                    one.id, round=failed.round, turn=debate.turn, why=Why.RETAKEN, retakes=message_id
                )
    return None


def _in_order(debate: Debate, world: World) -> Decision:
    turn = debate.turn
    for round_number in range(debate.round, debate.rounds + 1):
        for place in range(turn, len(debate.participants)):
            participant = debate.participants[place]
            if participant.id not in world.absent:
                return Speak(participant.id, round=round_number, turn=place, why=Why.IN_ORDER)
        turn = 0
    return Finish(Reason.ROUNDS_DONE)


def _all_passed(messages: Sequence[Message], present: tuple[Participant, ...]) -> bool:
    """Whether all present participants passed one after the other, and nothing was said since."""
    waiting = {participant.id for participant in present}
    for message in reversed(messages):
        if message.author.kind == "user" or (message.state == MessageState.DONE and message.note != PASSED):
            return False
        if message.state not in (MessageState.DONE, MessageState.FAILED):
            continue
        waiting.discard(message.author.id)
        if not waiting:
            return True
    return False
