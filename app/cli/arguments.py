"""One command line as data; it can be converted to JSON and back.

So a command can be given to the Moot that holds the data directory.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from app.core.session import DebateTools
from app.storage.paths import default_data_dir

# Up to which character a caller was told a message that it was told to its end.
TOLD_WHOLE = -1


class CommandName(StrEnum):
    """The commands; without one the window opens."""

    ASK = "ask"
    DEBATE = "debate"
    COUNCIL = "council"
    EXTEND = "extend"
    REPLY = "reply"
    RETRY = "retry"
    WORKFLOW = "workflow"
    STEP = "step"
    RESUME = "resume"
    PAUSE = "pause"
    STOP = "stop"
    DELETE = "delete"
    SESSIONS = "sessions"
    SHOW = "show"
    EXPORT = "export"
    IMPORT = "import"
    BACKUP = "backup"
    RESTORE = "restore"
    PROVIDERS = "providers"
    PANELS = "panels"
    JOURNAL = "journal"
    DOCTOR = "doctor"
    USAGE = "usage"
    SERVERS = "servers"
    AGENTS = "agents"
    KEYS = "keys"
    MODELS = "models"
    MCP = "mcp"
    BACKGROUND = "background"


class BallotTimes(StrEnum):
    """When the participants of a debate vote: at its end, or before it and after each round."""

    FINAL = "final"
    ROUNDS = "rounds"


class CouncilStepName(StrEnum):
    """What a council can be asked to do further."""

    DEBATE = "debate"
    ARGUE = "argue"
    STRESS = "stress"
    CHECK = "check"
    JOIN = "join"
    SOLO = "solo"
    JUDGE = "judge"
    COMPARE = "compare"
    MERGE = "merge"


class Action(StrEnum):
    """The second word of a command that has one."""

    LIST = "list"
    ALLOW = "allow"
    DENY = "deny"
    LOGIN = "login"
    LOGOUT = "logout"
    LOG = "log"
    SET = "set"
    GET = "get"
    ADD = "add"
    CHECK = "check"
    REMOVE = "remove"
    RETRY = "retry"
    SKIP = "skip"
    ACCEPT = "accept"


# These have actions; without one, and with `list`, they change nothing.
DIVIDED = (CommandName.SERVERS, CommandName.AGENTS, CommandName.KEYS, CommandName.MODELS)
# These have no words of their own.
PLAIN = tuple(CommandName(one) for one in ("providers", "panels", "journal", "doctor", "usage"))
# These start Moot without a window.
STARTING = (CommandName.MCP, CommandName.BACKGROUND)
_READING = frozenset(
    (*DIVIDED, *PLAIN, *STARTING, *(CommandName(one) for one in ("sessions", "show", "export")))
)
WRITING = tuple(one for one in CommandName if one not in _READING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """One command line; without a command the window opens. Paths are absolute. A `caller` over MCP was told what is `seen`."""

    command: str = ""
    data_dir: str = ""
    language: str = ""
    theme: str = ""
    json: bool = False
    session: str = ""
    assistant: str = ""
    definition: str = ""
    step: str = ""
    action: str = ""
    name: str = ""
    text: str = ""
    participants: tuple[str, ...] = ()
    mode: str = ""
    rounds: int | None = None
    seed: int | None = None
    ballots: str = ""
    verdict: bool = False
    tools: str = DebateTools.NONE.value
    no_differences: bool = False
    debate: bool = False
    max_usd: float = 0.0
    panel: str = ""
    option: str = ""
    count: int = 0
    judge: str = ""
    context: tuple[str, ...] = ()
    folder: str = ""
    format: str = ""
    output: str = ""
    files: tuple[str, ...] = ()
    as_it_looks: bool = False
    effort: str = ""
    model: str = ""
    yes: bool = False
    client_id: str = ""
    skip_turn: bool = False
    without: str = ""
    caller: str = ""
    seen: tuple[str, ...] = ()

    @property
    def root(self) -> Path:
        """The data directory."""
        return Path(self.data_dir) if self.data_dir else default_data_dir()

    @property
    def writes(self) -> bool:
        """Whether the command changes something and so must run in the one writer of the data directory."""
        return self.command in WRITING or (self.command in DIVIDED and self.action not in ("", Action.LIST))

    def to_json(self) -> dict[str, object]:
        """Return the fields as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, object]) -> "Arguments":
        """Read what `to_json` wrote. Raises ValueError for an unknown field or a wrong type."""
        # Only the Moot that is given commands needs it.
        from app.storage.codec import Wrong, is_known, read

        wrong: list[Wrong] = []
        found = read(cls, values, wrong)
        if found is None or wrong or not is_known(cls, dict(values)):
            raise ValueError(", ".join(field.path for field in wrong) or "unknown field")
        return found
