"""The tree of a chat's turns: the version that is shown, and the versions a turn has; pure.

A turn without a parent follows another one ("" the first); turns that follow the same one and begin
with the same role are versions of each other. Used by the request, the chat's commands and the window.
"""

from collections.abc import Iterable, Iterator
from itertools import takewhile

from app.core.message import Message, MessageState, Role, ToolCall
from app.core.tool import Control
from app.core.workflow import WORKFLOW
from app.engine.live_session import LiveSession


def back_from(live: LiveSession, turn_id: str) -> Iterator[str]:
    """Yield the ids of a turn and those before it, the newest first."""
    seen: set[str] = set()
    while turn_id and turn_id not in seen:
        first = live.first(turn_id)
        if first is None:
            return
        seen.add(turn_id)
        yield turn_id
        turn_id = first.follows or ""


def root_of(live: LiveSession, turn_id: str) -> str:
    """Return the id of the turn at the top of a sub-agent's turn, the turn itself where it is one."""
    seen: set[str] = set()
    # A damaged log may hold turns that call each other in a circle.
    while (first := live.first(turn_id)) and first.parent_turn_id is not None and turn_id not in seen:
        seen.add(turn_id)
        turn_id = first.parent_turn_id
    return turn_id


def shown(live: LiveSession) -> list[Message]:
    """Return the messages of the chosen version with their text so far, sub-agents' included, in order."""
    return _said_in(live, set(back_from(live, live.chat_session.chat.head)))


def said_from(live: LiveSession, turn_id: str) -> list[Message]:
    """Return the messages of a turn and of those that last followed it up to the user's next one, sub-agents' included."""
    path = list(back_from(live, latest_leaf(live, turn_id)))
    after = reversed(path[: path.index(turn_id)])
    answers = takewhile(lambda one: live.turn(one)[0].role != Role.USER, after)
    return _said_in(live, {turn_id, *answers})


def _said_in(live: LiveSession, taken: set[str]) -> list[Message]:
    """Return the messages of turns with their text so far, sub-agents' included, in order."""
    taken |= {turn_id for turn_id, parent in live.called.items() if root_of(live, parent) in taken}
    return [
        message
        for message in live.whole_messages()
        if message.turn_id in taken and message.role != Role.SUMMARY
    ]


def shown_with_summaries(live: LiveSession) -> list[Message]:
    """Return the messages of the chosen version, each summary behind the last message of the turn it goes to."""
    messages = shown(live)
    ends = {root_of(live, message.turn_id): place for place, message in enumerate(messages)}
    behind = {place: found for turn_id, place in ends.items() if (found := live.summaries(turn_id))}
    return [one for place, message in enumerate(messages) for one in (message, *behind.get(place, ()))]


def is_shown(live: LiveSession, turn_id: str) -> bool:
    """Say whether a turn, or the one it was called in, belongs to the chosen version."""
    return root_of(live, turn_id) in set(back_from(live, live.chat_session.chat.head))


def versions(live: LiveSession, turn_id: str) -> tuple[str, ...]:
    """Return the ids of a turn's versions, itself among them, in the order in which they were made."""
    first = live.first(turn_id)
    return () if first is None else tuple(live.beginning(first.follows, first.role))


def versions_shown(live: LiveSession) -> dict[str, tuple[int, int]]:
    """Return (number from 1, how many) of each shown turn that has more than one version."""
    groups = live.branching()
    chosen = set(back_from(live, live.chat_session.chat.head)) if groups else set()
    return {
        turn_id: (place + 1, len(group))
        for group in groups
        for place, turn_id in enumerate(group)
        if turn_id in chosen
    }


def latest_leaf(live: LiveSession, turn_id: str) -> str:
    """Return the newest turn that a turn leads to, itself where nothing follows it."""
    following: dict[str, str] = {}
    for other in live.turn_ids():
        start = live.first(other)
        if start is not None and start.parent_turn_id is None and start.follows:
            following[start.follows] = other
    while turn_id in following:
        turn_id = following[turn_id]
    return turn_id


def unanswered(answer: Message | None, messages: Iterable[Message]) -> list[ToolCall]:
    """Return the calls of an answer that have no result yet; none where there is no answer."""
    finished = {one.tool_call_id for one in messages if one.role == Role.TOOL and one.ended}
    return [call for call in answer.tool_calls if call.id not in finished] if answer else []


def last_answer(messages: list[Message]) -> Message | None:
    """Return the newest whole answer or failure of a turn; None where it has none yet, or where a question followed."""
    for message in reversed(messages):
        if message.role == Role.USER and message.answers is None:
            return None
        if message.role == "assistant" and message.state in ("done", "failed"):
            return message
    return None


def is_over(messages: list[Message]) -> bool:
    """Whether an assistant's turn is over: an answer without calls, a failure, or a tool that ended it."""
    answer = last_answer(messages)
    if answer is None:
        return False
    calls = {call.id for call in answer.tool_calls}
    return not calls or any(
        one.control == Control.END and one.state == MessageState.DONE
        for one in messages
        if one.tool_call_id in calls
    )


def work_turn(live: LiveSession) -> str:
    """Return the workflow's own turn, the parent of its steps; "" while no step has begun."""
    return next(
        (one.turn_id for one in live.messages if one.author.id == WORKFLOW and one.parent_turn_id is None), ""
    )
