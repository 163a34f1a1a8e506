"""The group's director: whether the orchestrator, a member it handed over to, or the user is next; pure.

The orchestrator speaks whenever the last message is neither a call nor its own. Asked by the group's run.
"""

from collections.abc import Sequence

from app.core.definitions import ORCHESTRATOR, SWITCH_ASSISTANT, Agent
from app.core.message import Message, MessageState, Role, ToolCall
from app.core.session import GroupSession, Status
from app.core.texts import fold
from app.core.tool import Control, assistants_called
from app.core.turns import is_over, last_answer, unanswered
from app.engine.director import Ask, Decision, Send, Speak
from app.engine.library.agents import AgentDirectory
from app.engine.live_session import LiveSession
from app.engine.names import begins_with
from app.engine.request import instruction_of, turns_used

MOST_NAME = 500
# Seconds without a word of a member after which the user is told.
SILENT = 20.0


def decide(
    live: LiveSession, session: GroupSession, members: Sequence[Agent], *, reads: bool = False
) -> Decision:
    """Return what comes next in a group; if it `reads`, the next message
    of the queue comes before the orchestrator.
    """
    chat = session.chat
    head = live.turns.said(chat.head)
    rest = Send(chat.queue[0]) if chat.queue else Ask()
    if not head:
        return rest
    first, used = head[0], turns_used(live)
    last = used + 1 >= session.group.turns_limit
    if first.role == Role.USER:
        called = addressed(first.content, members)
        return Speak(called or ORCHESTRATOR, first.turn_id, last=last and not called)
    led = first.author.id == ORCHESTRATOR
    if not is_over(head) or unanswered(last_answer(head), head):
        last = led and used >= session.group.turns_limit
        return Speak(first.author.id, first.follows or "", first.turn_id, last=last)
    handed = handed_over(head)
    if not led or (handed is not None and live.turns.called_by(first.turn_id, handed.id)):
        # Members have answered: one alone, or those who worked side by side below the orchestrator's turn.
        if reads and chat.queue:
            return rest
        return Speak(ORCHESTRATOR, first.turn_id, last=last) if used < session.group.turns_limit else rest
    return Speak(_member_id(handed, members), first.turn_id) if handed is not None else rest


def members_turns(live: LiveSession, session: GroupSession, members: Sequence[Agent]) -> list[Speak]:
    """Return the turns that are members' now, several where they work side by side; none where it
    is the orchestrator's or the user's.
    """
    decision = decide(live, session, members)
    if not isinstance(decision, Speak) or decision.speaker != ORCHESTRATOR:
        return [decision] if isinstance(decision, Speak) else []
    said = live.turns.said(decision.turn_id)
    calls = (call for call in unanswered(last_answer(said), said) if call.name == SWITCH_ASSISTANT)
    begun = ((call, live.turn_begun(decision.turn_id, call.id)) for call in calls)
    return [Speak(_member_id(call, members), decision.turn_id, turn_id) for call, turn_id in begun if turn_id]


def silent_members(live: LiveSession, directory: AgentDirectory) -> list[Agent]:
    """Return the members whose answers are awaited and of whom nothing has come for long; nobody
    in a session of another kind.
    """
    session = live.session
    if not isinstance(session, GroupSession) or session.status != Status.RUNNING:
        return []
    members = directory.members(session.group)
    silent = {each.speaker for each in silent_turns(live, members_turns(live, session, members))}
    return [member for member in members if member.id in silent]


def silent_turns(live: LiveSession, turns: Sequence[Speak]) -> list[Speak]:
    """Return those of members' turns of which nothing has come for long."""
    found = []
    for each in turns:
        turn_id = each.turn_id or live.turn_begun()
        # One that has not begun yet waits for its member.
        begun = bool(each.turn_id) or turn_id not in live.turns
        asks = any(message.asks for message in live.turns.said_below(turn_id))
        if begun and not asks and live.quiet_for(turn_id) >= SILENT:
            found.append(each)
    return found


def handed_over(turn: Sequence[Message]) -> ToolCall | None:
    """Return the call by which an orchestrator's turn handed over, None where there is none."""
    done = (message for message in turn if message.state == MessageState.DONE)
    ended = {message.tool_call_id for message in done if message.control == Control.END}
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
