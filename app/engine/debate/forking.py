"""Forks of debates: another debate that goes on from a turn of one; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from app.core.events import utc_now
from app.core.ids import new_id
from app.core.message import Message, Prompt
from app.core.reasons import Reason
from app.core.session import Debate, DebateSession, Status
from app.engine.debate.modes import mode_of


def copied(messages: Sequence[Message]) -> tuple[list[Message], dict[str, str]]:
    """Return copies of messages for another session, and their new ids by the old.

    What they cite are the copies. Their usage is counted in the session in which they were said.
    """
    ids = {one.id: new_id() for one in messages}
    turns = {one.turn_id: new_id() for one in messages}
    copies = [
        replace(
            one,
            id=ids[one.id],
            turn_id=turns[one.turn_id],
            parent_turn_id=turns.get(one.parent_turn_id or ""),
            retakes=ids.get(one.retakes, ""),
            answers=ids.get(one.answers or ""),
            prompt=_with_answer(one.prompt, ids),
            usage=None,
            data=_with_ids(one.data, ids),
        )
        for one in messages
    ]
    return copies, ids


def _with_answer(prompt: Prompt | None, ids: Mapping[str, str]) -> Prompt | None:
    """Return a question with the new id of its answer; one that was answered stays so without it."""
    if prompt is None or prompt.answered_by is None:
        return prompt
    return replace(prompt, answered_by=ids.get(prompt.answered_by, prompt.answered_by))


def _with_ids(value: Any, ids: Mapping[str, str]) -> Any:
    """Return a message's data with the new ids of messages in place of the old."""
    if isinstance(value, str):
        return ids.get(value, value)
    if isinstance(value, tuple):
        return tuple(_with_ids(item, ids) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        changed = {each.name: _with_ids(getattr(value, each.name), ids) for each in fields(value)}
        return replace(value, **changed)
    return value


def forked(session: DebateSession, messages: Sequence[Message], ids: Mapping[str, str]) -> DebateSession:
    """Return a new debate that continues another one after these messages, paused; `ids` are their new ids by the old."""
    debate = session.debate
    turns = [one for one in messages if one.author.kind == "participant"]
    round_number = turns[-1].round if turns else 1
    in_round = [one for one in turns if one.round == round_number]
    order = [one.id for one in debate.participants]
    turn = len(in_round)
    if turns and mode_of(debate.mode).speaker_rule is None and turns[-1].author.id in order:
        turn = order.index(turns[-1].author.id) + 1
    if turn >= len(order):
        round_number, turn = round_number + 1, 0
    debate = replace(
        debate,
        round=round_number,
        turn=turn,
        failures=0,
        pinned=tuple(ids[one] for one in debate.pinned if one in ids),
        due=(),
        ballots=tuple(replace(one, usage=None) for one in debate.ballots if one.round < round_number),
        verdict=None,
        unused_summaries=(),
    )
    return begun_from(session, debate, Status.PAUSED, Reason.FORKED)


def begun_from(session: DebateSession, debate: Debate, status: Status, reason: str) -> DebateSession:
    """Return a session of its own that begins now, as another one but for its debate."""
    now = utc_now()
    return replace(
        session,
        id=new_id(),
        status=status,
        reason=reason,
        created_at=now,
        updated_at=now,
        unsaid=(),
        asked_by="",
        debate=debate,
    )
