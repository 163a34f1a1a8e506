"""What a group does right now, read off its session: for the orchestrator's box; pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.core.agent import Agent
from app.core.message import Message
from app.core.session import GroupSession, Status
from app.engine.chat.branches import is_over
from app.engine.group.director import members_turn, turns_used
from app.engine.live_session import LiveSession

WORKING = "working"
ASKING = "waiting"
HELPED = "helped"
RESTING = "idle"
GONE = "gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberWork:
    """A member and what it does: working, waiting (for the user), helped (its sub-agents work), idle or gone.

    `helpers` is how many sub-agents work for it, at any depth.
    """

    agent_id: str
    name: str
    doing: str = RESTING
    helpers: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupWork:
    """What the box shows of a group's session besides its plan and cost.

    `hands_on` is the id of the member whose answer is awaited while the group runs, "" for none.
    """

    members: tuple[MemberWork, ...] = ()
    turns_used: int = 0
    turns_limit: int = 0
    hands_on: str = ""


def work_of(live: LiveSession, session: GroupSession, agents: Sequence[Agent]) -> GroupWork:
    """Read who does what; `agents` are all assistants there are."""
    known = {agent.id: agent for agent in agents}
    there = tuple(known[one] for one in session.group.members if one in known and known[one].enabled)
    nexts = members_turn(live, session, there) if session.status in (Status.RUNNING, Status.WAITING) else None
    busy = nexts.speaker if nexts else ""
    turn = list(_tree(live, nexts.turn_id)) if nexts else []
    asks = any(message.asks for messages in turn for message in messages)
    helpers = sum(not is_over(messages) for messages in turn[1:]) if session.status == Status.RUNNING else 0
    doing = (
        ASKING if asks else HELPED if helpers else WORKING if session.status == Status.RUNNING else RESTING
    )
    members = tuple(
        MemberWork(
            agent_id=agent_id,
            name=known[agent_id].name if agent_id in known else agent_id,
            doing=GONE if agent_id not in known else doing if agent_id == busy else RESTING,
            helpers=helpers if agent_id == busy else 0,
        )
        for agent_id in session.group.members
    )
    return GroupWork(
        members=members,
        turns_used=turns_used(live),
        turns_limit=session.group.turns_limit,
        hands_on=busy if session.status == Status.RUNNING and not asks else "",
    )


def _tree(live: LiveSession, turn_id: str) -> Iterator[list[Message]]:
    """Yield the messages of a turn, then those of the sub-agents it called, at any depth."""
    messages = live.turn(turn_id)
    if not messages:
        return
    yield messages
    for message in messages:
        for call in message.tool_calls:
            child = live.child_turn(turn_id, call.id)
            if child is not None:
                yield from _tree(live, child)
