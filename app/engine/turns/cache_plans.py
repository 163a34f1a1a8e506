"""What a provider's cache may keep of the requests of one speaker in one session; pure."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from hashlib import sha256

from app.core.message import Message, Role
from app.core.provider import CachePlan
from app.engine.history.summaries import summary_for
from app.engine.live_session import LiveSession
from app.engine.requests.request import AgentTurn

_SHORT = 240.0
_LONG = 3_600.0


def cache_plan(
    session_id: str, speaker: str, messages: Sequence[Message], own: Iterable[Message], **fields: bool
) -> CachePlan:
    """Return the plan for a speaker's next request, after these messages; `own` are the speaker's, the newest first."""
    before = next((one.created_at for one in own if one.role == Role.ASSISTANT and one.created_at), "")
    now = next((one.created_at for one in reversed(messages) if one.created_at), "")
    key = sha256(f"{session_id} {speaker}".encode()).hexdigest()[:32]
    return CachePlan(key=key, life=life_of(before, now), **fields)


def turn_plan(turn: AgentTurn, live: LiveSession, *, tail: bool) -> CachePlan:
    """Return the plan for the next request of an assistant's turn; a sub-agent's requests end with its turn."""
    alone = bool(turn.parent_turn_id)
    messages = live.turns.said(turn.turn_id) if alone else live.messages
    own = (one for one in reversed(messages) if one.author.id == turn.agent.id)
    brief = False
    if live.turns.is_summarized and not alone:
        brief = summary_for(live, live.turns.back_from(turn.follows or ""), turn.agent.id) is not None
    return cache_plan(
        live.id, turn.turn_id if alone else turn.agent.id, messages, own, brief=brief, tail=tail
    )


def life_of(before: str, now: str) -> str:
    """Return how long a provider shall keep a request, from when the last two began: as long as it takes until the next.

    "" where the next one is expected later than any provider keeps it: writing to the cache costs more than reading.
    """
    try:
        gap = (datetime.fromisoformat(now) - datetime.fromisoformat(before)).total_seconds()
    except (ValueError, TypeError):
        # The first request, or a damaged time.
        return "5m"
    return "5m" if gap < _SHORT else "1h" if gap <= _LONG else ""
