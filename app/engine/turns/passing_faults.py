"""Decides whether and when a model is asked again because its provider has a fault that passes by itself."""

import random

from app.core.errors import FailureKind, ProviderError

MOST_REPEATS = 3
"""How often a model is asked again before its fault is the answer."""

SHORTEST_WAIT, LONGEST_WAIT = 0.5, 30.0
# A provider that wants to be left alone for longer than this is not waited for, in seconds.
_LONGEST_ASKED = 60.0
_BACKOFF = 3.0
# Where nothing listens (NETWORK) a server is not running, and a moment later it is not either.
PASSING = frozenset(
    (FailureKind.OVERLOADED, FailureKind.SERVER, FailureKind.NO_ANSWER, FailureKind.INTERRUPTED)
)


def seconds_before(repeat: int, error: ProviderError) -> float | None:
    """Return how long to wait before a model is asked for the `repeat`-th time again; None where the fault is the answer."""
    if error.kind not in PASSING or repeat > MOST_REPEATS:
        return None
    if error.retry_after is not None:
        return max(SHORTEST_WAIT, error.retry_after) if error.retry_after <= _LONGEST_ASKED else None
    usual: float = _BACKOFF ** (repeat - 1) * random.uniform(0.5, 1.5)
    return min(max(SHORTEST_WAIT, usual), LONGEST_WAIT)


def with_time(error: ProviderError) -> ProviderError:
    """Return a fault whose words name the time that its provider asked to wait, where that was too long."""
    if error.kind not in PASSING or (error.retry_after or 0) <= _LONGEST_ASKED:
        return error
    words = f"{error.detail} (Retry-After: {error.retry_after:.0f} s)".strip()
    return ProviderError(error.kind, words, error.retry_after)
