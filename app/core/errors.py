"""The errors Moot raises on purpose, as codes; the faces turn a code into words.

MootError
├── BadInput        what the user gave cannot be used; nothing was started
├── NotFound        no session, provider or file of that name
├── Busy            another Moot holds the data directory
├── StorageError    the disk refused; nothing acknowledged was lost
└── ProviderError   a model could not be asked, or failed while answering
"""

from collections.abc import Mapping
from typing import Final


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


class Busy(MootError):
    """Another process writes this data directory."""


class StorageError(MootError):
    """The disk refused to read or write."""


RATE_LIMIT: Final = "rate_limit"
QUOTA: Final = "quota"
OVERLOADED: Final = "overloaded"
SERVER: Final = "server"
NETWORK: Final = "network"
STALL: Final = "stall"
NO_ANSWER: Final = "no_answer"
INTERRUPTED: Final = "interrupted"
BAD_RESPONSE: Final = "bad_response"
AUTHENTICATION: Final = "authentication"
PERMISSION: Final = "permission"
MODEL_NOT_FOUND: Final = "model_not_found"
CONTEXT_WINDOW: Final = "context_window"
CONTENT_FILTER: Final = "content_filter"
BAD_REQUEST: Final = "bad_request"
EMPTY: Final = "empty"
NO_KEY: Final = "no_key"
NOT_INSTALLED: Final = "not_installed"
HOST: Final = "host"
BUDGET_MONTH: Final = "budget_month"
REDIRECTED: Final = "redirected"
PROVIDER_UNREADABLE: Final = "provider_unreadable"

PROVIDER_FAILURES: Final = (
    RATE_LIMIT,
    QUOTA,
    OVERLOADED,
    SERVER,
    NETWORK,
    STALL,
    NO_ANSWER,
    INTERRUPTED,
    BAD_RESPONSE,
    AUTHENTICATION,
    PERMISSION,
    MODEL_NOT_FOUND,
    CONTEXT_WINDOW,
    CONTENT_FILTER,
    BAD_REQUEST,
    EMPTY,
    NO_KEY,
    NOT_INSTALLED,
    HOST,
    BUDGET_MONTH,
    REDIRECTED,
    PROVIDER_UNREADABLE,
)


class ProviderError(MootError):
    """A model could not be asked or failed while answering; `kind` is one of PROVIDER_FAILURES.

    `detail` is the provider's own short text with every secret removed. `retry_after` is in
    seconds, None when the provider did not say.
    """

    def __init__(self, kind: str, detail: str = "", retry_after: float | None = None) -> None:
        super().__init__(kind, detail=detail)
        self.kind = kind
        self.detail = detail
        self.retry_after = retry_after
