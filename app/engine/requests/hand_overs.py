"""A group's hand-overs: what one asks for, and how often the orchestrator has led; pure."""

from app.core.json_values import object_in
from app.core.message import Role, ToolCall
from app.engine.live_session import LiveSession

ORCHESTRATOR = "orchestrator"


def instruction_of(call: ToolCall) -> tuple[str, str]:
    """Return (member, instruction) of a hand-over; empty where the call does not say."""
    arguments = object_in(call.arguments) or {}
    return str(arguments.get("assistant", "")), str(arguments.get("instruction", ""))


def turns_used(live: LiveSession) -> int:
    """Return how often the orchestrator has spoken since the user's last message or the last resuming."""
    session = live.group_session
    used = 0
    for turn_id in live.turns.back_from(session.chat.head):
        first = live.turns.said(turn_id)[0]
        if first.role == Role.USER:
            break
        used += first.author.id == ORCHESTRATOR and first.id > session.chat.budget_from
    return used
