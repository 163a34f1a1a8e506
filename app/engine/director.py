"""What a director answers when it is asked what comes next in a session; the session's run acts on it.

The directors of debates, chats, groups and workflows are pure: no clock, no randomness, no reading or
writing.
"""

from app.core.frozen import Frozen
from app.core.session import QueuedMessage


class Speak(Frozen, kw_only=False):
    """It is the turn of a speaker, by id.

    In a chat or group the turn begins behind `follows` or, with a `turn_id`, goes on; `last` tells an
    orchestrator to come to an end. In a debate it is the turn `(round, turn)`, chosen by the rule `why`;
    `retakes` is the id of the failed message whose turn is taken again, "" for a new turn.
    """

    speaker: str
    follows: str = ""
    turn_id: str = ""
    last: bool = False
    round: int = 0
    turn: int = 0
    why: str = ""
    retakes: str = ""


class Call(Frozen, kw_only=False):
    """These steps of a workflow can begin, side by side."""

    steps: tuple[str, ...]


class Send(Frozen, kw_only=False):
    """The next message of the queue is sent."""

    message: QueuedMessage


class Wait(Frozen, kw_only=False):
    """Nothing can be done until something in flight ends."""


class Ask(Frozen, kw_only=False):
    """Nothing can be done until the user says something."""


class Finish(Frozen, kw_only=False):
    """The session is complete."""

    reason: str = ""


class Halt(Frozen, kw_only=False):
    """The session must pause."""

    reason: str


Decision = Speak | Call | Send | Wait | Ask | Finish | Halt
