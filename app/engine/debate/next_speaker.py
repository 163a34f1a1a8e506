"""Who speaks next in a free discussion: a pure function of what was said.

The last speaker chooses the next by addressing them; otherwise whoever has waited longest or was named is
likelier. No participant waits longer than `bound(n)` turns, and two cannot keep the floor to themselves.
"""

from collections.abc import Sequence
from enum import StrEnum
from hashlib import blake2b
from itertools import pairwise

from app.core.message import Message, MessageState
from app.core.session import Debate, Participant
from app.engine.names import addressed, mentioned

_DRAWS = 5


class Why(StrEnum):
    """Why it is a participant's turn; each has a text `why.<code>`."""

    IN_ORDER = "in_order"
    RETAKEN = "retaken"
    ASKED_BY_USER = "asked_by_user"
    ONLY_ONE = "only_one"
    LONGEST_SILENT = "longest_silent"
    ADDRESSED = "addressed"
    MENTIONED = "mentioned"
    OPEN_FLOOR = "open_floor"


def bound(count: int) -> int:
    """Return after how many turns of others a participant speaks at the latest."""
    return max(2 * (count - 1), count)


def next_speaker(
    debate: Debate, present: tuple[Participant, ...], messages: Sequence[Message]
) -> tuple[Participant, str]:
    """Return who speaks next and the code of the rule that chose them; `present` is not empty."""
    heard = [message for message in messages if message.ended]
    turns = [message for message in heard if message.author.kind != "user"]
    asked = _asked_by_user(heard, present)
    if asked is not None:
        return asked, Why.ASKED_BY_USER
    speakers = [message.author.id for message in turns]
    eligible = [one for one in present if not speakers or one.id != speakers[-1]]
    if len(eligible) == 1:
        return eligible[0], Why.ONLY_ONE
    waits = {one.id: _wait(one.id, speakers) for one in present}
    starving = _starving(eligible, waits, bound(len(present)))
    if starving is not None:
        return starving, Why.LONGEST_SILENT
    last = heard[-1] if heard and heard[-1].state == MessageState.DONE else None
    chosen = _addressed(last, eligible, debate, turns, present) if last else None
    if chosen is not None:
        return chosen, Why.ADDRESSED
    return _most_eager(debate, eligible, present, last, speakers, waits)


def _asked_by_user(heard: list[Message], present: tuple[Participant, ...]) -> Participant | None:
    """Return the participants the user addressed since the last turn, the latest first."""
    for message in reversed(heard):
        if message.author.kind != "user":
            return None
        names = addressed(message.content, present)
        if names:
            return _by_id(present, names[-1])
    return None


def _wait(participant_id: str, speakers: list[str]) -> int:
    """Return how many turns others took since this participant spoke, since the start if never."""
    for turns, speaker in enumerate(reversed(speakers)):
        if speaker == participant_id:
            return turns
    return len(speakers)


def _starving(eligible: list[Participant], waits: dict[str, int], limit: int) -> Participant | None:
    """Earliest deadline first: return the longest silent participant if one of the silent would otherwise be late."""
    silent = sorted(eligible, key=lambda one: -waits[one.id])
    late = any(waits[one.id] + place > limit for place, one in enumerate(silent, start=1))
    return silent[0] if late else None


def _addressed(
    last: Message,
    eligible: list[Participant],
    debate: Debate,
    turns: list[Message],
    present: tuple[Participant, ...],
) -> Participant | None:
    others = [one for one in debate.participants if one.id != last.author.id]
    allowed = {one.id for one in eligible}
    names = [one for one in addressed(last.content, others) if one in allowed]
    if not names:
        return None
    speakers = [message.author.id for message in turns]
    if _ping_pong(speakers, len(present)) and names[-1] == speakers[-2]:
        return None
    recent = turns[-2 * len(present) :]
    fired = sum(
        before.author.id == last.author.id and after.author.id == names[-1] and after.why == Why.ADDRESSED
        for before, after in pairwise(recent)
    )
    return None if fired >= 2 else _by_id(present, names[-1])


def _ping_pong(speakers: list[str], count: int) -> bool:
    """Whether the last four turns went A B A B although others are there."""
    last = speakers[-4:]
    return count > 2 and len(last) == 4 and last[:2] == last[2:] and last[0] != last[1]


def _most_eager(
    debate: Debate,
    eligible: list[Participant],
    present: tuple[Participant, ...],
    last: Message | None,
    speakers: list[str],
    waits: dict[str, int],
) -> tuple[Participant, str]:
    """Choose by mentions, by silence, by little speech, and by a draw that depends on the seed alone."""
    span = 2 * len(present)
    recent = speakers[-span:]
    places = {one.id: place for place, one in enumerate(debate.participants)}
    named = mentioned(last.content, eligible) if last else set()
    if _ping_pong(speakers, len(present)):
        named -= set(speakers[-2:])

    def eagerness(one: Participant) -> tuple[int, int, int]:
        # By place: the participants' ids differ in every debate.
        draw = _draw(debate.seed, len(speakers), places[one.id])
        score = 2 * (one.id in named) + min(waits[one.id], span) - 3 * max(0, recent.count(one.id) - 2)
        return score + draw % _DRAWS, waits[one.id], draw

    chosen = max(eligible, key=eagerness)
    return chosen, Why.MENTIONED if chosen.id in named else Why.OPEN_FLOOR


def _draw(seed: int, turn: int, place: int) -> int:
    """Return a number that looks random and is the same on every machine and run."""
    digest = blake2b(f"{seed}|{turn}|{place}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big")


def _by_id(present: Sequence[Participant], participant_id: str) -> Participant:
    return next(one for one in present if one.id == participant_id)
