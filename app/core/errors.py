"""The errors Moot raises on purpose, as codes; the faces turn a code into words.

MootError
├── BadInput        what the user gave cannot be used; nothing was started
├── NotFound        no session, provider or file of that name
├── DataDirectoryBusy            another Moot holds the data directory
├── StorageError    the disk refused; nothing acknowledged was lost
└── ProviderError   a model could not be asked, or failed while answering
"""

from collections.abc import Mapping
from enum import StrEnum

from app.core.frozen import Frozen


class MootError(Exception):
    """An error with a text of the catalogue (`error.<code>`) and what fills its blanks."""

    def __init__(self, code: str, **details: object) -> None:
        super().__init__(code, details)
        self.code = code
        self.details: Mapping[str, object] = details

    def __str__(self) -> str:
        return f"{self.code} {dict(self.details)}" if self.details else self.code


class BadInput(MootError):
    """What the user gave cannot be used."""


class NotFound(BadInput):
    """Nothing has that name."""


class DataDirectoryBusy(MootError):
    """Another process writes this data directory."""


class StorageError(MootError):
    """The disk refused to read or write."""


# The codes of what could not be written: as long as Moot runs it is kept in memory, and written later.
UNWRITTEN = ("disk_full", "disk_error", "data_dir_gone")


class FailureKind(StrEnum):
    """Why a model could not be asked or did not answer; each has a text `failure.<kind>`."""

    RATE_LIMIT = "rate_limit"
    QUOTA = "quota"
    OVERLOADED = "overloaded"
    SERVER = "server"
    NETWORK = "network"
    CERTIFICATE = "certificate"
    STALL = "stall"
    NO_ANSWER = "no_answer"
    INTERRUPTED = "interrupted"
    BAD_RESPONSE = "bad_response"
    UNREADABLE = "unreadable"
    AUTHENTICATION = "authentication"
    PERMISSION = "permission"
    MODEL_NOT_FOUND = "model_not_found"
    WRONG_PATH = "wrong_path"
    CONTEXT_WINDOW = "context_window"
    TOO_LARGE = "too_large"
    CONTENT_FILTER = "content_filter"
    PROMPT_BLOCKED = "prompt_blocked"
    BAD_REQUEST = "bad_request"
    NO_TOOLS = "no_tools"
    EMPTY = "empty"
    ALL_THOUGHT = "all_thought"
    MALFORMED_CALL = "malformed_call"
    UNANSWERED = "unanswered"
    PICTURE = "picture"
    NO_KEY = "no_key"
    NOT_INSTALLED = "not_installed"
    NO_MEMORY = "no_memory"
    HOST = "host"
    BUDGET_MONTH = "budget_month"
    REDIRECTED = "redirected"
    SOCKS = "socks"
    PROVIDER_UNREADABLE = "provider_unreadable"
    AGENT_NOT_ALLOWED = "agent_not_allowed"
    AGENT_MISSING = "agent_missing"
    AGENT_LOGIN = "agent_login"
    AGENT_DIFFERS = "agent_differs"
    AGENT_ACTED = "agent_acted"
    AGENT_FOLDER = "agent_folder"
    AGENT_REFUSED = "agent_refused"


# The failures whose detail is in the provider's own words.
BY_PROVIDER = frozenset((
    FailureKind.RATE_LIMIT, FailureKind.QUOTA, FailureKind.OVERLOADED, FailureKind.SERVER,
    FailureKind.BAD_RESPONSE, FailureKind.AUTHENTICATION, FailureKind.PERMISSION,
    FailureKind.MODEL_NOT_FOUND, FailureKind.WRONG_PATH, FailureKind.CONTEXT_WINDOW, FailureKind.TOO_LARGE,
    FailureKind.CONTENT_FILTER, FailureKind.PROMPT_BLOCKED, FailureKind.MALFORMED_CALL,
    FailureKind.BAD_REQUEST, FailureKind.NO_TOOLS, FailureKind.INTERRUPTED,
))  # fmt: skip


class ProviderError(MootError):
    """A model could not be asked or failed while answering; `kind` is a FailureKind.

    `detail` is the provider's own short text with every secret removed. `retry_after` is in
    seconds, None when the provider did not say.
    """

    def __init__(self, kind: str, detail: str = "", retry_after: float | None = None) -> None:
        super().__init__(kind, detail=detail)
        self.kind = kind
        self.detail = detail
        self.retry_after = retry_after


class Failure(Frozen):
    """Why a message failed or was cut: `kind` is a FailureKind or another code, `detail` its redacted
    text.
    """

    kind: str
    detail: str = ""


class Problem(Frozen):
    """A file that could not be used: its path, the place in it, and a code of `problem.<code>`."""

    path: str
    code: str
    line: int | None = None
    field: str = ""
    detail: str = ""
