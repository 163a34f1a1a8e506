"""How a provider is reached: its address, checked and completed, and the time and size limits of a
request.
"""

import asyncio
import socket
from urllib.parse import urlsplit

from app.core.catalog import provider_kind, with_scheme
from app.core.definitions import Effort
from app.core.errors import FailureKind, ProviderError
from app.core.frozen import Frozen
from app.core.provider import ModelFacts

# Where almost every server has OpenAI's API.
_USUAL_PATH = "/v1"
# What some documentation of servers names behind it.
_CALL_PATH = "/chat/completions"


def complete_address(kind: str, address: str) -> str:
    """Return the address that LiteLLM needs for this kind of provider.

    Raises ProviderError (bad_request) for anything but [http(s)://]host[:port][/path].
    """
    text = with_scheme(address).rstrip("/")
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or parts.username or parts.query or parts.fragment or any(map(str.isspace, text)):
        raise ProviderError(FailureKind.BAD_REQUEST, f"not a usable address: {address[:200]!r}")
    if kind == "anthropic":
        return text.removesuffix("/v1")
    if parts.path:
        return text.removesuffix(_CALL_PATH)
    row = provider_kind(kind)
    return text + ((row and row.path) or _USUAL_PATH)


def is_open_router(address: str) -> bool:
    """Return whether an address is OpenRouter's."""
    return (urlsplit(address).hostname or "").endswith("openrouter.ai")


async def listens(address: str, seconds: float) -> bool:
    """Return whether a server takes a TCP connection at an address within this many seconds."""
    try:
        parts = urlsplit(address)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        if not parts.hostname:
            return False
        # In a thread: while the window opens, the loop may be busy for longer than that.
        await asyncio.to_thread(_connect, parts.hostname, port, seconds)
    except (OSError, ValueError):
        return False
    return True


def _connect(host: str, port: int, seconds: float) -> None:
    socket.create_connection((host, port), seconds).close()


class ModelLimits(Frozen):
    """Limits of one request, in seconds; only content restarts `idle`, pings and empty chunks do not.

    `answer_bytes` limits the text (in UTF-8), the thinking and the tool calls of an answer, each; a longer
    answer is ended there.
    """

    connect: float = 10.0
    first_token: float = 60.0
    idle: float = 60.0
    total: float = 600.0
    answer_bytes: int = 2_000_000


REMOTE = ModelLimits()
# A local server may have to load its model first, and reads a long prompt slowly.
LOCAL = ModelLimits(first_token=300.0)
# While a model thinks, its server may send nothing but pings.
THINKING = ModelLimits(first_token=300.0, idle=300.0, total=3_600.0)
THINKING_HARD = ModelLimits(first_token=900.0, idle=900.0, total=3_600.0)


def usual_limits(facts: ModelFacts, effort: str, *, local: bool) -> ModelLimits:
    """Return the limits of a request to a model that is asked for this effort."""
    if local:
        return LOCAL
    if effort in (Effort.HIGH, Effort.MAX):
        return THINKING_HARD
    return THINKING if facts.thinks_at(effort) else REMOTE
