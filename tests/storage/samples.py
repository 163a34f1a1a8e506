"""Sessions, messages and batches of events for the tests of storage."""

import dataclasses
from dataclasses import replace
from pathlib import Path

from app.core.council import Participant
from app.core.events import (
    Event,
    MessageDelta,
    MessageFinished,
    MessageStarted,
    SessionChanged,
    SessionStarted,
)
from app.core.ids import new_id
from app.core.message import Author, Message, MessageState
from app.core.session import Debate, DebateSession, Status
from app.storage.codec import plain
from app.storage.documents import JsonDocuments
from app.storage.file_system import FileSystem
from app.storage.lines import encode_line
from app.storage.paths import DataPaths
from app.storage.sessions import JsonLogStore

ADA = Author(id="p1", name="Ada", kind="participant")
SEATS = (
    Participant(id="p1", name="Ada", provider="embedded", model="smollm2-135m"),
    Participant(id="p2", name="벤", provider="embedded", model="smollm2-135m"),
)
ROOT = Path("/data")


def debate(session_id: str | None = None, **changes: object) -> DebateSession:
    values: dict[str, object] = {
        "id": session_id or new_id(),
        "title": "Should cities ban cars?",
        "status": Status.RUNNING,
        "created_at": "2026-11-21T10:00:00.000Z",
        "updated_at": "2026-11-21T10:00:00.000Z",
        "debate": Debate(topic="Should cities ban cars?", participants=SEATS),
    }
    return DebateSession(**{**values, **changes})  # type: ignore[arg-type]


def message(text: str = "", *, state: str = MessageState.DONE, **changes: object) -> Message:
    values: dict[str, object] = {
        "id": new_id(),
        "turn_id": "t1",
        "role": "assistant",
        "author": ADA,
        "content": text,
        "state": state,
        "created_at": "2026-11-21T10:00:01.000Z",
    }
    return Message(**{**values, **changes})  # type: ignore[arg-type]


def started(session: DebateSession) -> tuple[Event, ...]:
    return (SessionStarted(session_id=session.id, session=session),)


def changed(session: DebateSession, **changes: object) -> tuple[DebateSession, SessionChanged]:
    session = dataclasses.replace(session, **changes)  # type: ignore[arg-type]
    return session, SessionChanged(session_id=session.id, session=session)


def finished(session_id: str, one: Message) -> MessageFinished:
    return MessageFinished(session_id=session_id, message=one)


def streaming(session_id: str, whole: Message, size: int = 7) -> list[tuple[Event, ...]]:
    """Return the batches of one answer but for its end."""
    begun = dataclasses.replace(whole, content="", state=MessageState.STREAMING)
    batches: list[tuple[Event, ...]] = [(MessageStarted(session_id=session_id, message=begun),)]
    text = whole.content
    batches.extend(
        (
            MessageDelta(
                session_id=session_id, message_id=whole.id, offset=offset, text=text[offset : offset + size]
            ),
        )
        for offset in range(0, len(text), size)
    )
    return batches


def new_store(file_system: FileSystem | None = None, root: Path = ROOT) -> JsonLogStore:
    return JsonLogStore(DataPaths(root), file_system=file_system)


async def saved(store: JsonLogStore, *texts: str, folder: str = "") -> DebateSession:
    session = replace(debate(), folder=folder)
    store.append(started(session))
    for text in texts:
        store.append((finished(session.id, message(text)),))
    await store.flush(session.id)
    return session


async def reopened(paths: DataPaths, session_id: str):
    again = JsonLogStore(paths)
    try:
        return await again.load(session_id)
    finally:
        await again.close()


def log_file(paths: DataPaths, data: bytes) -> str:
    session_id = new_id()
    paths.sessions.mkdir(parents=True, exist_ok=True)
    paths.session(session_id).write_bytes(data)
    return session_id


def log_bytes(kind: str = "debate", min_reader: int = 1) -> bytes:
    session = debate()
    head = {"op": "head", "version": min_reader, "min_reader": min_reader, "id": session.id}
    record = {**plain(session), "kind": kind, "field_of_tomorrow": {"kept": True}}
    said = {**plain(message("said")), "field_of_tomorrow": 1, "role": "role of tomorrow"}
    return encode_line(1, [head, {"op": "session", "patch": record}]) + encode_line(
        2, [{"op": "op of tomorrow"}, {"op": "message", "message": said}]
    )


def put(path: Path, text: str) -> None:
    """Write a file, and the folders it lies in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


async def loaded(paths: DataPaths) -> JsonDocuments:
    """Return the documents of a data directory as they are read at the start."""
    documents = JsonDocuments(paths)
    await documents.load()
    return documents
