"""Reads a session as Moot's own JSON export holds it; whoever sent it may have changed it."""

from collections.abc import Sequence
from typing import Any

from app.core.errors import BadInput
from app.core.message import Message
from app.core.store import StoredSession
from app.core.text import clean_values
from app.storage.records import MessageReader, mended_message, mended_session, read_session


def read_exported(session: object, messages: Sequence[object]) -> StoredSession:
    """Return the session, mended as after a crash. Raises BadInput that says which part is wrong."""
    record: Any = clean_values(session)
    kind = record.get("kind", "") if isinstance(record, dict) else ""
    found, partly = read_session(str(record.get("id", "")), record) if kind else (None, True)
    if found is None or partly:
        raise BadInput("import_wrong", where="session", detail=str(kind)[:80])
    reader = MessageReader()
    read: list[Message] = []
    seen: set[str] = set()
    for place, one in enumerate(messages):
        value: Any = clean_values(one)
        message = reader.read(value) if isinstance(value, dict) else None
        if message is None or message.id in seen:
            raise BadInput("import_wrong", where=f"messages[{place}]", detail="")
        seen.add(message.id)
        read.append(mended_message(message))
    return StoredSession(session=mended_session(found), messages=read)
