"""What a request is held to: how many messages it may have, and whether the answer before was empty; pure."""

from dataclasses import dataclass

WINDOW = 15
"""How many of its last messages a debate sends where nothing else is chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """The constraints of a request: at most `window` messages, and whether the answer before was empty."""

    window: int = WINDOW
    after_empty: bool = False
