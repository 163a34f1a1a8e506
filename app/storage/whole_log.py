"""Makes the whole log of a session that is in memory."""

from collections.abc import Sequence

from app.core.message import Message, Role
from app.core.session import Session
from app.storage.log import FIRST_READER, READER, VERSION, Op, encode_line
from app.storage.records import check_message, check_session, plain


def log_of(session: Session, messages: Sequence[Message]) -> bytes:
    """Return the whole log of a session. Raises ValueError if it could not be read back."""
    record = plain(session)
    check_session(record)
    least = READER if any(one.role == Role.SUMMARY for one in messages) else FIRST_READER
    lines = [encode_line(1, [head_of(session.id, least), {"op": "session", "patch": record}])]
    for message in messages:
        said = plain(message)
        check_message(said)
        lines.append(encode_line(len(lines) + 1, [{"op": "message", "message": said}]))
    return b"".join(lines)


def head_of(session_id: str, least: int) -> Op:
    """Return the first operation of a log, with the least version that may write to it."""
    return {"op": "head", "version": VERSION, "min_reader": least, "id": session_id}
