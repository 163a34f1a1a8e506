"""Assistants and groups of them, as data of `assistants/<id>.json` and `groups/<id>.json`."""

from dataclasses import dataclass
from enum import StrEnum


class Effort(StrEnum):
    """How much a model thinks before it answers; AUTO leaves it to the model."""

    AUTO = "auto"
    NONE = "none"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    MAX = "max"


class Creativity(StrEnum):
    """How freely a model chooses its words; AUTO leaves it to the model."""

    AUTO = "auto"
    PRECISE = "precise"
    BALANCED = "balanced"
    CREATIVE = "creative"


class Length(StrEnum):
    """How long answers are to be; AUTO leaves it to the model."""

    AUTO = "auto"
    SHORT = "short"
    MEDIUM = "medium"
    LONG = "long"


@dataclass(frozen=True, slots=True, kw_only=True)
class Busy:
    """What happens to work that arrives while the assistant is busy."""

    strategy: str = "queue"
    timeout_s: float | None = None
    depth: int | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An assistant: a name, a model, and what it may use.

    `provider` and `model` are empty together: then a sub-agent uses its caller's model, and any other assistant the
    first that is ready. `description` tells callers what to call the assistant for. `tools` are keys of the
    allow-list, `pages` addresses the assistant may read first. `knows_user` says whether it is told what the user wrote
    in the settings under "About you". `folder` is where an external agent works with its own tools; without one it only
    speaks. `version` grows with every save.
    """

    id: str
    name: str
    provider: str = ""
    model: str = ""
    description: str = ""
    role: str = ""
    instructions: str = ""
    tools: tuple[str, ...] = ()
    sub_agents: tuple[str, ...] = ()
    mcp_servers: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()
    max_depth: int = 3
    max_steps: int = 10
    effort: str = Effort.AUTO
    creativity: str = Creativity.AUTO
    length: str = Length.AUTO
    knows_user: bool = True
    folder: str = ""
    enabled: bool = True
    busy: Busy | None = None
    version: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Leader:
    """The model of a group's orchestrator; both empty: the first that is ready."""

    provider: str = ""
    model: str = ""
    effort: str = Effort.AUTO
    creativity: str = Creativity.AUTO
    length: str = Length.AUTO


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Assistants that work together under an orchestrator.

    `members` are assistants' ids in order. `turns_limit` is how often the orchestrator may speak for one message of
    the user. `ask_before_hand_over` lets the user see, change or refuse each hand-over.
    """

    id: str
    name: str
    members: tuple[str, ...] = ()
    orchestrator: Leader = Leader()
    instructions: str = ""
    turns_limit: int = 20
    ask_before_hand_over: bool = False
    version: int = 1
