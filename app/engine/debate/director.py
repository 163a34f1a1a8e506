"""The debate's director: whose turn is next, and where the cursor goes after a turn.

Pure: no clock, no randomness, no reading or writing.

A fork is another debate that goes on from a turn of this one.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from app.core.council import MIN_PARTICIPANTS, Participant, WhatIf
from app.core.ids import new_id, utc_now
from app.core.message import Message, MessageState
from app.core.session import Council, Debate, DebateSession, Reason, Status
from app.engine.debate.modes import Why, mode_of
from app.engine.director import Decision, Finish, Halt, Speak
from app.engine.turns.reply import PASSED

MAX_FAILURES = 2


PARTICIPANT = "participant"


def decide(debate: Debate, messages: Sequence[Message], absent: Collection[str]) -> Decision:
    """Return what comes next in a running debate; `absent` are participants whose provider is gone
    or whom the user left out.
    """
    present = tuple(item for item in debate.participants if item.id not in absent)
    again = _retake(debate, messages, present)
    if debate.round > debate.rounds and again is None:
        return Finish(Reason.ROUNDS_DONE)
    if len(present) < MIN_PARTICIPANTS:
        return Finish(Reason.TOO_FEW)
    if debate.failures >= MAX_FAILURES:
        return Halt(Reason.TWO_FAILURES)
    if again is not None:
        return again
    what_if = debate.what_if(debate.round)
    rule = mode_of(debate.mode).speaker_rule
    if rule is None or what_if is not None:
        return _in_order(debate, {*absent, *_unasked(debate, what_if)})
    if _all_passed(messages, present):
        return Finish(Reason.EXHAUSTED)
    round_number, turn = _cursor(debate.round, debate.turn, len(present))
    if round_number > debate.rounds:
        return Finish(Reason.ROUNDS_DONE)
    participant, why = rule(debate, present, list(messages))
    return Speak(participant.id, round=round_number, turn=turn, why=why)


def after_turn(debate: Debate, spoken: Speak, absent: Collection[str], *, failed: bool) -> Debate:
    """Return the debate with the cursor behind the turn that was just taken."""
    failures = debate.failures + 1 if failed else 0
    # A judge that was chosen read what was said before.
    debate = replace(debate, council=_unjudged(debate.council))
    if spoken.retakes:
        due = tuple(item for item in debate.due if item != spoken.retakes)
        return replace(debate, due=due, failures=failures)
    what_if = debate.what_if(spoken.round)
    in_order = what_if is not None or mode_of(debate.mode).speaker_rule is None
    size = sum(in_order or participant.id not in absent for participant in debate.participants)
    unasked = _unasked(debate, what_if)
    while size and debate.participants[size - 1].id in unasked:
        size -= 1
    round_number, turn = _cursor(spoken.round, spoken.turn + 1, size)
    return replace(debate, round=round_number, turn=turn, failures=failures)


def with_what_if(debate: Debate, message: Message, to: Collection[str]) -> Debate:
    """Return a debate that is over with one round more, which a message began: all speak once in it,
    or only some.
    """
    began = WhatIf(message=message.id, round=message.round, to=tuple(to))
    more = replace(debate, what_ifs=(*debate.what_ifs, began), council=_unjudged(debate.council))
    return replace(more, rounds=began.round, round=began.round, turn=0, failures=0, due=())


def round_to_poll(debate: Debate, *, ended: bool = False) -> int | None:
    """Return the round after which all vote now (0: before the first), None for none.

    `ended` says that the debate ends here, which may be within a round.
    """
    over = ended or (debate.round > debate.rounds and not debate.due)
    unasked = not debate.polls and not (debate.final_ballots and over)
    if unasked or (not ended and (debate.turn or debate.due)):
        return None
    return debate.round if debate.turn else debate.round - 1


def _unjudged(council: Council | None) -> Council | None:
    """Return what is wanted of a debate in which something is said that no judge has read."""
    return council and replace(council, judges=(), judged=0, blind=council.shown_pick)


def _unasked(debate: Debate, what_if: WhatIf | None) -> set[str]:
    """Return who does not speak in a what-if round that is for some alone; nobody in any other round."""
    to = what_if.to if what_if is not None else ()
    return {participant.id for participant in debate.participants if to and participant.id not in to}


def _cursor(round_number: int, turn: int, size: int) -> tuple[int, int]:
    """Return a cursor in rounds of so many turns, at the next round where it is behind the last turn of
    one.
    """
    return (round_number + 1, 0) if turn >= size else (round_number, turn)


def resumed(debate: Debate, messages: Sequence[Message]) -> Debate:
    """Return the debate as it goes on after a pause: the failed turns that led to it are due again."""
    due = debate.due
    if debate.failures >= MAX_FAILURES:
        due = tuple(dict.fromkeys((*(turn.id for turn in turns_of(messages)[-debate.failures :]), *due)))
    return replace(debate, failures=0, due=due)


def participant_of(debate: Debate, participant_id: str) -> Participant:
    """Return a participant by id; raises StopIteration for an unknown one."""
    return next(participant for participant in debate.participants if participant.id == participant_id)


def answered(messages: Sequence[Message]) -> bool:
    """Say whether any participant could answer."""
    return any(turn.state == MessageState.DONE for turn in turns_of(messages))


def failed_turns(messages: Sequence[Message]) -> int:
    """Return how many turns have failed and were not taken again."""
    turns = turns_of(messages)
    retaken = {turn.retakes for turn in turns}
    return sum(turn.state == MessageState.FAILED and turn.id not in retaken for turn in turns)


def turns_of(messages: Sequence[Message]) -> list[Message]:
    """Return the turns that were taken to their end, well or badly, in order."""
    turns = (message for message in messages if message.author.kind == PARTICIPANT and not message.part)
    return [turn for turn in turns if turn.ended and not turn.is_interim]


def _retake(debate: Debate, messages: Sequence[Message], present: tuple[Participant, ...]) -> Speak | None:
    """Return the first failed turn that is due again and whose participant is there."""
    there = {participant.id for participant in present}
    failed = {item.id: item for item in messages if item.id in debate.due and item.author.id in there}
    one = next((failed[each] for each in debate.due if each in failed), None)
    if one is None:
        return None
    return Speak(one.author.id, round=one.round, turn=debate.turn, why=Why.RETAKEN, retakes=one.id)


def _in_order(debate: Debate, absent: Collection[str]) -> Decision:
    turn = debate.turn
    for round_number in range(debate.round, debate.rounds + 1):
        for place, participant in enumerate(debate.participants):
            if place >= turn and participant.id not in absent:
                return Speak(participant.id, round=round_number, turn=place, why=Why.IN_ORDER)
        turn = 0
    return Finish(Reason.ROUNDS_DONE)


def _all_passed(messages: Sequence[Message], present: tuple[Participant, ...]) -> bool:
    """Whether all present participants passed one after the other, and nothing was said since."""
    waiting = {participant.id for participant in present}
    for message in reversed(messages):
        if message.author.kind == "user" or (message.state == MessageState.DONE and message.note != PASSED):
            return False
        if message.state in (MessageState.DONE, MessageState.FAILED):
            waiting.discard(message.author.id)
        if not waiting:
            return True
    return False


def copied(messages: Sequence[Message]) -> tuple[list[Message], dict[str, str]]:
    """Return copies of messages for another session, and the new ids of messages and turns by the old.

    What they name are the copies. Their usage is counted in the session in which they were said.
    """
    ids = {old: new_id() for message in messages for old in (message.id, message.turn_id)}
    return [replace(_with_ids(message, ids), usage=None) for message in messages], ids


def _with_ids(value: Any, ids: Mapping[str, str]) -> Any:
    """Return a value with new ids in place of the old, in all its parts; others stay as they are."""
    if isinstance(value, str):
        return ids.get(value, value)
    if isinstance(value, tuple):
        return tuple(_with_ids(item, ids) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        changed = {each.name: _with_ids(getattr(value, each.name), ids) for each in fields(value)}
        return replace(value, **changed)
    return value


def forked(session: DebateSession, messages: Sequence[Message], ids: Mapping[str, str]) -> DebateSession:
    """Return a new debate that continues another one after these messages, paused;
    `ids` are their new ids by the old.
    """
    debate = session.debate
    turns = [message for message in messages if message.author.kind == PARTICIPANT and not message.part]
    round_number = turns[-1].round if turns else 1
    turn = sum(message.round == round_number for message in turns)
    order = [participant.id for participant in debate.participants]
    if turns and mode_of(debate.mode).speaker_rule is None and turns[-1].author.id in order:
        turn = order.index(turns[-1].author.id) + 1
    round_number, turn = _cursor(round_number, turn, len(order))
    what_ifs = tuple(_with_ids(what_if, ids) for what_if in debate.what_ifs if what_if.message in ids)
    # Of an earlier version; one that is given again where the fork goes on is not kept.
    last = messages[-1].id if messages else ""
    verdicts = (verdict for verdict in debate.verdicts if ids.get(verdict.after_message, last) != last)
    earlier = tuple(replace(_with_ids(verdict, ids), usage=None) for verdict in verdicts)
    ballots = tuple(replace(ballot, usage=None) for ballot in debate.ballots if ballot.round < round_number)
    fork = replace(debate, ballots=ballots, verdict=None, earlier_verdicts=earlier, what_ifs=what_ifs)
    rounds = debate.rounds - len(debate.what_ifs) + len(what_ifs)
    fork = replace(fork, rounds=rounds, round=round_number, turn=turn, failures=0, due=())
    pinned = tuple(ids[item] for item in debate.pinned if item in ids)
    fork = replace(fork, pinned=pinned, unused_summaries=(), council=_unjudged(debate.council))
    return begun_from(session, fork, Status.PAUSED, Reason.FORKED)


def begun_from(session: DebateSession, debate: Debate, status: Status, reason: str) -> DebateSession:
    """Return a fork of a session that begins now, as that one but for its debate."""
    now = utc_now()
    begun = replace(session, id=new_id(), created_at=now, updated_at=now, unsaid=(), asked_by="")
    return replace(begun, status=status, reason=reason, debate=replace(debate, fork_of=session.id))
