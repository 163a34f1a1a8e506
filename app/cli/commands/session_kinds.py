"""What the command line does differently for each kind of session."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from app.cli.commands.chats import reply_to_chat, resume_chat, show_chat
from app.cli.commands.debates import reply_to_debate, resume_debate, show_debate
from app.cli.follow import Call
from app.core.session import Session
from app.engine.live_session import LiveSession

SessionCommand = Callable[[Call, LiveSession], Awaitable[int]]


@dataclass(frozen=True, slots=True)
class SessionKind:
    """The commands `resume`, `reply` and `show` of a kind; each returns the exit status."""

    resume: SessionCommand
    reply: SessionCommand
    show: SessionCommand


_DEBATE = SessionKind(resume_debate, reply_to_debate, show_debate)
_CHAT = SessionKind(resume_chat, reply_to_chat, show_chat)
KINDS = {"debate": _DEBATE, "chat": _CHAT, "group": _CHAT, "workflow": _CHAT}


def kind_of(session: Session) -> SessionKind:
    """Return what differs for a session's kind."""
    # A plain Session is of an unknown kind, or parts of it are missing.
    return KINDS.get(session.kind, _DEBATE) if type(session) is not Session else _DEBATE
