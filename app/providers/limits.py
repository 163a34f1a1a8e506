"""How long a model may take, in seconds; the host enforces it, `RemoteModels` chooses it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Times in seconds; only content resets `idle`, pings and empty chunks do not."""

    connect: float = 10.0
    first_token: float = 60.0
    idle: float = 60.0
    total: float = 600.0


REMOTE = Limits()
# A local server may have to load its model, and reads a long prompt on the processor.
LOCAL = Limits(first_token=300.0)
