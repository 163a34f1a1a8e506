"""Makes the whole log of a session that is in memory."""

from collections.abc import Mapping, Sequence

from app.core.message import Message, Role
from app.storage.codec import Plain, plain, with_unknown
from app.storage.log import FIRST_READER, READER, VERSION, Op, encode_line
from app.storage.records import check_message


def log_of(record: Plain, messages: Sequence[Message], more: Mapping[str, Plain] | None = None) -> bytes:
    """Return the whole log of a session with this record. Raises ValueError for a message that could not be read back.

    `more` are the records, by the message's id, of messages that had more than what is known here.
    """
    least = READER if any(one.role == Role.SUMMARY for one in messages) else FIRST_READER
    lines = [encode_line(1, [head_of(record["id"], least), {"op": "session", "patch": record}])]
    for message in messages:
        said = plain(message)
        check_message(said)
        said = with_unknown(Message, more.get(message.id) if more else None, said)
        lines.append(encode_line(len(lines) + 1, [{"op": "message", "message": said}]))
    return b"".join(lines)


def head_of(session_id: str, least: int) -> Op:
    """Return the first operation of a log, with the least version that may write to it."""
    return {"op": "head", "version": VERSION, "min_reader": least, "id": session_id}
