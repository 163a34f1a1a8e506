"""What runs and turns share, how far a turn came, and the view of a session that a running tool has."""

from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from app.core.definitions import Agent
from app.core.message import Author, Message, Prompt, ToolCall
from app.core.session import Plan
from app.core.store import SessionStore
from app.core.tool import ToolProgress
from app.engine.availability import Slots
from app.engine.drafts import Drafts
from app.engine.history import TokenCount
from app.engine.library.agents import AgentDirectory
from app.engine.live_session import LiveSession
from app.engine.prompts import Prompts
from app.engine.request import AgentTurn
from app.engine.turns.limits import Budget
from app.engine.turns.metered_models import MeteredModels


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """What running sessions share: models, slots, assistants, prompts, the disk, counting and a clock in seconds.

    `outsider` returns the model of another family than some that may read what they do, "" for none; all are "provider/model".
    """

    models: MeteredModels
    slots: Slots
    directory: AgentDirectory
    prompts: Prompts
    store: SessionStore
    drafts: Drafts
    count: TokenCount
    clock: Callable[[], float]
    outsider: Callable[[Sequence[str]], str]


def about_call(live: LiveSession, turn: AgentTurn, call: ToolCall) -> dict[str, str]:
    """Return what every event about a call says."""
    about = {"session_id": live.id, "turn_id": turn.turn_id}
    return {**about, "tool_call_id": call.id, "name": call.name}


class TurnState(StrEnum):
    """How far a turn came."""

    FINISHED = "done"
    WAITING = "waiting"
    HELD = "held"
    BROKEN = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How far a turn came, and its last message where it has one.

    Of a turn that is held `reason` says why the session must pause; of one that is done or failed it is the limit
    that ended it, "" where none did.
    """

    state: str
    reason: str = ""
    message: Message | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeContext:
    """What the turns that one user message sets off share.

    While a provider is waited for, the turn is inside `waits`. `members` are those of the session's group;
    `asks_too` are tools the user wants to be asked about in this session.
    """

    live: LiveSession
    services: Services
    budget: Budget
    language: str
    waits: Callable[[], AbstractContextManager[None]]
    members: tuple[Agent, ...] = ()
    asks_too: frozenset[str] = frozenset()


@dataclass(slots=True)
class ToolRun:
    """One run of a tool, as the tool sees it (`core.tool.ToolContext`).

    A plan that the tool changes is written in one batch with the call's result: a tool that runs again finds the
    plan as it was.
    """

    live: LiveSession
    author: Author
    message_id: str
    mode: str
    pages: Sequence[str]
    members: Sequence[Agent]
    # Puts a question of the tool to the user.
    ask: Callable[[Prompt], Coroutine[Any, Any, str | None]]
    # Shows how far it is.
    report: Callable[[ToolProgress], None]
    new_plan: tuple[Plan | None, ...] = ()

    @property
    def session_id(self) -> str:
        return self.live.id

    @property
    def plan(self) -> Plan | None:
        return self.new_plan[0] if self.new_plan else self.live.session.plan

    def change_plan(self, plan: Plan | None) -> None:
        self.new_plan = (plan,)

    def messages(self) -> Sequence[Message]:
        return self.live.messages
