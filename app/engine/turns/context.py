"""What runs and turns share, and how far a turn came."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum

from app.core.criteria import Criterion
from app.core.definitions import Agent
from app.core.events import ToolStarted
from app.core.message import Message, ToolCall
from app.core.provider import ModelRequest
from app.core.session import PlanItem
from app.core.store import SessionFiles, SessionStore
from app.engine.availability import Slots
from app.engine.drafts import Drafts
from app.engine.history import TokenCount
from app.engine.library.agents import AgentDirectory
from app.engine.live_session import LiveSession
from app.engine.prompts import Prompts
from app.engine.request import AgentTurn, Attempt, build_request
from app.engine.turns.limits import Budget
from app.engine.turns.metered_models import MeteredModels


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """What running sessions share: models, slots, assistants, prompts, the disk, counting and a clock in seconds.

    `outsider` returns the model of another family than some that may read what they do, "" for none; all are "provider/model".
    `check_item` has the criteria of a plan item checked that a call in a turn says is done.
    """

    models: MeteredModels
    slots: Slots
    directory: AgentDirectory
    prompts: Prompts
    store: SessionStore
    files: SessionFiles
    drafts: Drafts
    count: TokenCount
    clock: Callable[[], float]
    outsider: Callable[[Sequence[str]], str]
    check_item: Callable[["TreeContext", str, str, PlanItem], Awaitable[tuple[Criterion, ...]]]

    def request(
        self, turn: AgentTurn, live: LiveSession, attempt: Attempt, *, wrap_up: bool = False
    ) -> ModelRequest:
        """Return the request of a turn's next call, with the tools that its assistant has there."""
        functions = self.directory.functions(turn.agent, turn.stack, turn.mode, turn.given)
        language, about = live.session.language, self.directory.about_user(turn.agent)
        sent = (turn, live, functions, attempt, self.prompts, language)
        return build_request(*sent, about_user=about, wrap_up=wrap_up)


def started(live: LiveSession, turn: AgentTurn, call: ToolCall) -> ToolStarted:
    """Return that a tool runs for a call."""
    return ToolStarted(**about_call(live, turn, call), arguments=call.arguments)


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
