"""What the turns of a tree share, and how far a turn came; used by turn, tool_calls and the chat's run."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum

from app.core.agent import Agent
from app.core.message import Message
from app.core.store import SessionStore
from app.engine.availability.slots import Slots
from app.engine.library.agents import Cast
from app.engine.live_session import LiveSession
from app.engine.prompts import Prompts
from app.engine.turns.budget import Budget
from app.engine.turns.metered_models import MeteredModels


class TurnState(StrEnum):
    """How far a turn came."""

    FINISHED = "done"
    WAITING = "waiting"
    HELD = "held"
    BROKEN = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How far a turn came: done, waiting (for the user), held (`reason`: the session must pause) or failed.

    `reason` is, of a turn that is done or failed, the limit that ended it. `message` is the turn's last word where it has one.
    """

    state: str
    reason: str = ""
    message: Message | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What every turn of a tree needs: the session, who is there, models, disk, time and the budget.

    `slots` say which assistants are free; what waits for a provider does so inside `waits`. `members` are those of the session's group; `asks_too` are tools the user wants to be asked about here.
    """

    live: LiveSession
    cast: Cast
    models: MeteredModels
    store: SessionStore
    prompts: Prompts
    budget: Budget
    language: str
    members: tuple[Agent, ...] = ()
    asks_too: frozenset[str] = frozenset()
    slots: Slots
    waits: Callable[[], AbstractContextManager[None]]
    clock: Callable[[], float]
