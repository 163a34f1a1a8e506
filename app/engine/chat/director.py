"""The chat's director: what comes next in a conversation with one assistant; pure, asked by the chat's run."""

from collections.abc import Sequence

from app.core.message import Message, Role
from app.core.session import Chat
from app.core.turns import is_over
from app.engine.director import Ask, Decision, Send, Speak


def decide(chat: Chat, head: Sequence[Message]) -> Decision:
    """Return what comes next; `head` are the messages of the last turn of the shown version."""
    if head and head[0].role == Role.USER:
        return Speak(chat.assistant_id, follows=head[0].turn_id)
    if head and not is_over(list(head)):
        return Speak(head[0].author.id, follows=head[0].follows or "", turn_id=head[0].turn_id)
    return Send(chat.queue[0]) if chat.queue else Ask()
