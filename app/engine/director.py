"""What a director answers when it is asked whose turn is next; the runner acts on it."""

from dataclasses import dataclass

from app.core.session import Participant


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What a director may know besides the session: whose provider is switched off or gone."""

    absent: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Speak:
    """This participant takes the turn `(round, turn)`; `why` is the code of the rule.

    `retakes` is the id of the failed message whose turn it is, "" where it is a turn of its own.
    """

    participant: Participant
    round: int
    turn: int
    why: str
    retakes: str = ""


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing can be done until the user acts."""


@dataclass(frozen=True, slots=True)
class Finish:
    """The session is complete."""

    reason: str


@dataclass(frozen=True, slots=True)
class Halt:
    """The session must pause."""

    reason: str


Decision = Speak | Wait | Finish | Halt
