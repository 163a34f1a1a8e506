"""A session in a list: its states and modes, the folder it is in, and what it can be exported as; also how long debates
are, and what their participants may use.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple


class ExportFormat(StrEnum):
    """What a session can be exported as; the window adds PDF."""

    MARKDOWN = "md"
    HTML = "html"
    JSON = "json"


ZIP: Final = "zip"
"""The export with a session's files: a Markdown document and the files beside it."""


class Status(StrEnum):
    """The status of a session."""

    IDLE = "idle"
    RUNNING = "running"
    WAITING = "waiting"
    PAUSED = "paused"
    COMPLETED = "completed"
    STOPPED = "stopped"
    ERROR = "error"


ENDED = (Status.COMPLETED, Status.STOPPED, Status.ERROR)


class DebateMode(StrEnum):
    """Who speaks next in a debate: in order, by what was said, in order with roles, or all at once (a council)."""

    ROUND_ROBIN = "round-robin"
    FREE = "free"
    ROLES = "roles"
    COUNCIL = "council"


CLASSIC_MODES = tuple(one for one in DebateMode if one != DebateMode.COUNCIL)
"""The modes of debates in which one speaks after the other."""


class Ends(StrEnum):
    """How a decision ends: with what was said, with secret votes, with one answer made of all, or with votes and a verdict."""

    NONE = "none"
    VOTE = "vote"
    MERGE = "merge"
    VERDICT = "verdict"


VOTING_ENDS = (Ends.VOTE, Ends.VERDICT)

MIN_ROUNDS, MAX_ROUNDS, DEFAULT_ROUNDS = 1, 10, 3


class DebateTools(StrEnum):
    """What participants may use: nothing, searching and reading the web, or what each of those that are assistants has."""

    NONE = "none"
    READING = "reading"
    OWN = "own"


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """Sessions of one project: `instructions` and the paths of `context` files that those begun in it are given."""

    id: str
    name: str
    instructions: str = ""
    context: tuple[str, ...] = ()
    version: int = 1
    kind: str = "folder"


class AgentMode(StrEnum):
    """What an assistant may do: its work, or change Moot's settings."""

    DEFAULT = "default"
    SETTINGS = "settings"


class SessionSummary(NamedTuple):
    """One line of the list of sessions; what a list shows without opening the session.

    A debate has its mode, rounds and round; `speakers` are the participants' names in order, or the assistant's, `always`
    is the session's. `cost_usd` is what counts towards the limits so far: of a debate all, else what came after the user's
    last message; None where no price is known. A tuple, because a thousand of them are made before the list shows.
    """

    id: str
    kind: str
    title: str
    status: str
    updated_at: str
    messages: int
    reason: str = ""
    created_at: str = ""
    read_only: bool = False
    mode: str = ""
    rounds: int = 0
    round: int = 0
    folder: str = ""
    asked_by: str = ""
    speakers: tuple[str, ...] = ()
    always: tuple[str, ...] = ()
    cost_usd: float | None = 0.0
