"""The chat's director: what comes next in a conversation with one assistant; pure, asked by the chat's run."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.message import Message, Role
from app.core.session import Chat, QueuedMessage
from app.engine.chat.branches import is_over


@dataclass(frozen=True, slots=True)
class Answer:
    """The assistant's turn: to begin (`turn_id` is "") behind `follows`, or to go on with."""

    follows: str
    turn_id: str = ""


@dataclass(frozen=True, slots=True)
class SendQueued:
    """The next message of the queue is said."""

    message: QueuedMessage


@dataclass(frozen=True, slots=True)
class YourTurn:
    """The user's turn."""


Next = Answer | SendQueued | YourTurn


def decide(chat: Chat, head: Sequence[Message]) -> Next:
    """Say what comes next; `head` are the messages of the turn the conversation stands at."""
    if head and head[0].role == Role.USER:
        return Answer(follows=head[0].turn_id)
    if head and not is_over(list(head)):
        return Answer(follows=head[0].follows or "", turn_id=head[0].turn_id)
    if chat.queue:
        return SendQueued(chat.queue[0])
    return YourTurn()
