"""The group's director: whether the orchestrator, a member it handed over to, or the user is next; pure.

The orchestrator speaks whenever the last message is neither a call nor its own. Asked by the group's run.
"""

from collections.abc import Sequence

from app.core.definitions import SWITCH_ASSISTANT, Agent
from app.core.message import Message, MessageState, Role, ToolCall
from app.core.session import GroupSession
from app.core.texts import fold
from app.core.tool import Control, assistants_called
from app.core.turns import is_over, last_answer
from app.engine.director import Ask, Decision, Send, Speak
from app.engine.live_session import LiveSession
from app.engine.names import begins_with
from app.engine.request import ORCHESTRATOR, instruction_of, turns_used

MOST_NAME = 500


def decide(
    live: LiveSession, session: GroupSession, members: Sequence[Agent], *, reads: bool = False
) -> Decision:
    """Return what comes next in a group; if it `reads`, the next message
    of the queue comes before the orchestrator.
    """
    chat = session.chat
    head = live.turns.said(chat.head)
    first = head[0] if head else None
    used = turns_used(live)
    last = used + 1 >= session.group.turns_limit
    if first is not None and first.role == Role.USER:
        called = addressed(first.content, members)
        return Speak(called or ORCHESTRATOR, first.turn_id, last=last and not called)
    if first is not None and not is_over(head):
        if first.author.id == ORCHESTRATOR:
            last = used >= session.group.turns_limit
            return Speak(ORCHESTRATOR, first.follows or "", first.turn_id, last=last)
        return Speak(first.author.id, first.follows or "", first.turn_id)
    if reads and chat.queue and first is not None and first.author.id != ORCHESTRATOR:
        return Send(chat.queue[0])
    if first is not None and first.author.id != ORCHESTRATOR and used < session.group.turns_limit:
        return Speak(ORCHESTRATOR, first.turn_id, last=last)
    if first is not None and (handed := handed_over(head)) is not None:
        return Speak(_member_id(handed, members), first.turn_id)
    return Send(chat.queue[0]) if chat.queue else Ask()


def members_turn(live: LiveSession, session: GroupSession, members: Sequence[Agent]) -> Speak | None:
    """Return the turn that is a member's, None where it is the orchestrator's or the user's."""
    decision = decide(live, session, members)
    return decision if isinstance(decision, Speak) and decision.speaker != ORCHESTRATOR else None


def handed_over(turn: Sequence[Message]) -> ToolCall | None:
    """Return the call by which an orchestrator's turn handed over, None where there is none."""
    ended = {
        message.tool_call_id
        for message in turn
        if message.control == Control.END and message.state == MessageState.DONE
    }
    answer = last_answer(list(turn))
    for call in answer.tool_calls if answer else ():
        if call.name == SWITCH_ASSISTANT and call.id in ended:
            return call
    return None


def addressed(text: str, members: Sequence[Agent]) -> str:
    """Return the id of the member a message begins with, as `@name` or `@id`; "" for none."""
    # A name at the beginning is all that counts.
    folded = fold(text[:MOST_NAME])
    if not folded.startswith("@"):
        return ""
    known = [(fold(name), member.id) for member in members for name in (member.name, member.id)]
    for name, agent_id in sorted(known, reverse=True, key=lambda pair: len(pair[0])):
        if begins_with(folded[1:], name):
            return agent_id
    return ""


def _member_id(call: ToolCall, members: Sequence[Agent]) -> str:
    wanted = instruction_of(call)[0].strip()
    found = assistants_called(wanted, members)
    return found[0].id if found else wanted
