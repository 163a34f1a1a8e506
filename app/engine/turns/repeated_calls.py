"""Whether a call was made too often with the same arguments (row G9); used by the turn and its tool calls."""

from app.core.message import Message, Role, ToolCall
from app.core.tool import ToolError
from app.engine.chat.branches import back_from
from app.engine.chat.request import AgentTurn
from app.engine.group.director import SWITCH_ASSISTANT
from app.engine.live_session import LiveSession
from app.engine.turns.call_arguments import canonical

MOST_ALIKE = 2


def check_not_repeated(live: LiveSession, turn: AgentTurn, call: ToolCall) -> None:
    """Raise ToolError for a call that was made MOST_ALIKE times before with the same arguments."""
    if _alike(live, turn, call) >= MOST_ALIKE:
        raise ToolError(
            f"{call.name} was called {MOST_ALIKE} times with these arguments already. "
            "It will not run again: use what it returned, or do something else."
        )


def insists(live: LiveSession, turn: AgentTurn, answer: Message) -> bool:
    """Say whether an answer calls only what an answer before it was told will not run again."""
    return all(_alike(live, turn, call, before=answer.id) > MOST_ALIKE for call in answer.tool_calls)


def _alike(live: LiveSession, turn: AgentTurn, call: ToolCall, *, before: str = "") -> int:
    """Count the calls that are the same before this one, or before a message."""
    alike = 0
    wanted = canonical(call.arguments)
    for message in _said_before(live, turn, call):
        if message.id == before:
            break
        for other in message.tool_calls if message.role == Role.ASSISTANT else ():
            if message.turn_id == turn.turn_id and other.id == call.id:
                return alike
            alike += other.name == call.name and canonical(other.arguments) == wanted
    return alike


def _said_before(live: LiveSession, turn: AgentTurn, call: ToolCall) -> list[Message]:
    """Return where a call may be repeated: its turn, and for a hand-over the turns since the user spoke."""
    messages = live.turn(turn.turn_id)
    for turn_id in back_from(live, turn.follows or "") if call.name == SWITCH_ASSISTANT else ():
        before = live.turn(turn_id)
        if before[0].role == Role.USER:
            break
        messages = before + messages
    return messages
