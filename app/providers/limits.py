"""Limits of a model's time and output; chosen by `RemoteModels`, enforced by the host."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Times in seconds; only content resets `idle`, pings and empty chunks do not.

    `answer_bytes` is the most that an answer's text may have in UTF-8, and its thinking, and what it
    gives to tools, each; what is longer is ended there.
    """

    connect: float = 10.0
    first_token: float = 60.0
    idle: float = 60.0
    total: float = 600.0
    answer_bytes: int = 2_000_000


REMOTE = Limits()
# A local server may have to load its model, and reads a long prompt on the processor.
LOCAL = Limits(first_token=300.0)
