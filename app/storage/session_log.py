"""Writes one session's log: what waits to be written, and what the disk has accepted.

Runs on the writer's thread. After a failed write the file is cut back, and the operations stay queued. Before
and after each write the path must be the open file, as long as it was left: else another program changed it,
and the log is written again from memory. The other version becomes a session where it can be read, else it
goes to quarantine (`json_file`).
"""

import contextlib
import errno
import io
import time
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.core import events
from app.core.errors import StorageError
from app.core.ids import derived_id
from app.core.message import Message, MessageState, Role
from app.core.session import SessionSummary
from app.core.store import StoredSession
from app.storage import codec
from app.storage import file_system as storage_file_system
from app.storage.codec import Plain
from app.storage.file_system import SIZE, TIME, WHICH, FileId, FileStat, FileSystem, write_all, write_whole
from app.storage.json_file import TORN, Replaced, keep_bytes
from app.storage.lines import FIRST_READER, READER, VERSION, Op, encode_line, with_line
from app.storage.log import Replay, mended_size, read_log, read_messages
from app.storage.paths import DataPaths

FLUSH_BYTES = 2048
# With what the store gathers before (`sessions.TEXT_SECONDS`) one second.
FLUSH_SECONDS = 0.9
RETRY_SECONDS = 5.0
_TRIES = 20


@dataclass(slots=True)
class _Batch:
    """The contents of one line: operations, and sessions that are still to be compared with the last
    state.
    """

    parts: list[Op | Plain]
    summary: SessionSummary | None
    sync: bool


class SessionLog:
    """Writes one session's log; `written` is the summary and file state that the disk has accepted.

    `recall` returns the session as it is in memory, None if it is not open; `on_replaced` is told what
    another program did to the file. Both are called on the writer's thread.
    """

    def __init__(
        self,
        file_system: FileSystem,
        paths: DataPaths,
        session_id: str,
        recall: Callable[[], StoredSession | None] = lambda: None,
        on_replaced: Callable[[Replaced], None] = lambda _: None,
    ) -> None:
        self.path = paths.session(session_id)
        self.written: tuple[SessionSummary, FileStat] | None = None
        self.deleted = False
        self.retry_at: float | None = None
        self._disk = file_system
        self._paths = paths
        self._recall = recall
        self._on_replaced = on_replaced
        self._pending: list[_Batch] = []
        self._text = StreamedText()
        self._refusal: StorageError | None = None
        self._invalid: StorageError | None = None
        self._descriptor: int | None = None
        self._known = storage_file_system.KnownFile(file_system, self.path)
        self._has_written = self._poisoned = self._folder_synced = self._unsynced = False
        self._size = self._number = 0
        self._least_reader = FIRST_READER
        self._session: Plain | None = None
        # The records of messages that have more than what is known here.
        self._more: dict[str, Plain] = {}
        self._summary: SessionSummary | None = None

    @property
    def waiting(self) -> bool:
        """Whether operations are queued that the disk has not accepted."""
        return bool(self._pending)

    @property
    def is_open(self) -> bool:
        """Whether the file is held open."""
        return self._descriptor is not None

    @property
    def due(self) -> float | None:
        """When text or a failed write is to be written (monotonic time), None for never."""
        return self._text.due if self.retry_at is None else self.retry_at

    def adopt(self, replay: Replay, known: FileId | None = None) -> None:
        """Continue from a replay of this log; `known` is the file that was read."""
        self._number = max(self._number, replay.last_number)
        if self._session is None or not self._has_written:
            self._session = replay.session
            self._more = replay.more
            self._known.id = known or self._known.id
        self._least_reader = max(self._least_reader, replay.min_reader)
        if replay.min_reader > READER:
            self._refusal = StorageError("newer_version", path=str(self.path))

    def start_over(self) -> None:
        """Continue from whatever file is at the path: one that the user has put there."""
        self.deleted = self._has_written = self._poisoned = False
        self._session = self._known.id = None
        self.close()

    def add(self, batch: tuple[events.Event, ...], summary: SessionSummary | None) -> None:
        """Queue one batch."""
        deltas = [event for event in batch if isinstance(event, events.MessageDelta)]
        if len(deltas) == len(batch):
            for delta in deltas:
                self._text.add(delta)
            if self._text.bytes >= FLUSH_BYTES:
                self.gather_text()
            return
        parts: list[Op | Plain] = []
        for event in batch:
            if isinstance(event, events.MessageFinished):
                self._text.end(event.message.id)
        self.gather_text()
        for event in batch:
            match event:
                case events.SessionStarted():
                    parts.append(head_of(event.session_id, FIRST_READER))
                    parts.append(codec.plain(event.session))
                case events.SessionChanged():
                    parts.append(codec.plain(event.session))
                case events.MessageStarted() | events.MessageFinished():
                    if event.message.role == Role.SUMMARY and self._least_reader < READER:
                        self._least_reader = READER
                        parts.append(head_of(event.session_id, READER))
                    parts.append({"op": "message", "message": codec.plain(event.message)})
                    if event.message.state == MessageState.STREAMING:
                        self._text.begin(event.message)
                case events.MessageDelta():
                    self._text.add(event)
        parts = [part for part in parts if self._is_valid(part)]
        if parts:
            self._pending.append(_Batch(parts, summary, sync=True))

    def refuse(self, error: Exception) -> None:
        """Record that a batch could not be queued; the next synced write raises that."""
        self._invalid = invalid_record(self.path, error)

    def gather_text(self) -> None:
        """Queue the text that has been collected."""
        parts: list[Op | Plain] = [*self._text.take()]
        if parts:
            self._pending.append(_Batch(parts, None, sync=False))

    def write(self, *, sync: bool = False) -> None:
        """Write the queue; with `sync`, return when all of it survives a power cut.

        Raises StorageError; what could not be written stays queued.
        """
        if self.deleted:
            return
        if self._refusal is not None:
            self._pending.clear()
            raise self._refusal
        if self._pending or (sync and (self._unsynced or (self._has_written and not self._is_there()))):
            try:
                self._write(sync)
            except OSError as error:
                self.retry_at = time.monotonic() + RETRY_SECONDS
                raise storage_file_system.storage_error(error, self.path) from error
            if self._refusal is not None:
                raise self._refusal
        self.retry_at = None
        if sync and self._invalid is not None:
            invalid, self._invalid = self._invalid, None
            raise invalid

    def drop(self) -> None:
        """Discard the queue and close the file."""
        self._pending.clear()
        self._text.drop()
        self.retry_at = self.written = None
        self.deleted = True
        self.close()

    def close(self) -> None:
        """Close the file."""
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            self._folder_synced = False
            self._disk.close(descriptor)

    def _is_valid(self, part: Op | Plain) -> bool:
        try:
            if "op" not in part:
                codec.check_session(part)
            elif part["op"] == "message":
                codec.check(Message, part["message"])
        except ValueError as error:
            self._invalid = invalid_record(self.path, error)
            return False
        return True

    def _write(self, sync: bool) -> None:
        for _ in range(_TRIES):
            self._open()
            if self._refusal is not None or self._descriptor is None:
                return
            if not self._is_there():
                self._put_right()
            elif self._write_to(self._descriptor, sync):
                return
        raise self._busy()

    def _write_to(self, descriptor: int, sync: bool) -> bool:
        """Write the queue to the open file; return false if that is not the one at the path any more."""
        data, number, session, summary = self._encode()
        try:
            write_all(self._disk, descriptor, data)
        except OSError as error:
            self._take_back(error)
            raise
        synced = sync or any(batch.sync for batch in self._pending)
        if synced:
            try:
                self._disk.sync(descriptor)
                if not self._folder_synced:
                    self._disk.sync_folder(self.path.parent)
            except OSError:
                # The system may now consider pages clean that never reached the disk, so that a second sync
                # of this file would lie: the file is written anew.
                self._poison()
                raise
        known, written = self._known.id, self._disk.identity(descriptor)
        self._known.id = written
        if written.size != self._size + len(data) or not self._is_there():
            self._known.id = known
            return False
        self._folder_synced = self._folder_synced or synced
        self._unsynced = not synced
        self._has_written = True
        self._size += len(data)
        self._number = number
        self._session = session
        self._summary = summary
        self._pending.clear()
        if summary is not None:
            self.written = (summary, FileStat(self.path.name, written.size, written.mtime_ns))
        return True

    def _is_there(self) -> bool:
        # Its time may change later, as on a network; while it is open nothing can be put in its place
        # unnoticed.
        return self._known.is_there(TIME if self._descriptor is None else SIZE)

    def _put_right(self) -> None:
        """Make the path a log of all that was written, from the session in memory; keep what else is
        there.
        """
        self.close()
        found: FileId | None = None
        data: bytes | None = None
        with contextlib.suppress(FileNotFoundError):
            found = self._disk.identity(self.path)
            data = self._disk.read(self.path)
        stored = self._recall()
        if stored is None or stored.read_only:
            # Nothing of it is in memory, so that what is there is all there is.
            self._session = self._known.id = None
            return
        parts = (part for batch in self._pending for part in batch.parts)
        unwritten = {part["message"]["id"] for part in parts if "message" in part}
        other = OtherLog(data or b"", stored.messages, unwritten)
        if other.is_log_of(self._session, self._size, self._number):
            self._number = other.replay.last_number
            self._session = other.replay.session
            self._known.id = found
            return
        code, kept, kept_id = "log_deleted" if data is None else "log_cut", "", ""
        if data is not None and other.adds(stored.session.updated_at):
            kept, kept_id = keep_log(self._disk, self._paths, self.path.stem, other)
            code = "log_other" if kept_id else "log_unreadable"
        record = codec.whole_session(self._session, codec.checked_session(stored.session))
        self._known.id = write_whole(self._disk, self.path, log_of(record, stored.messages, self._more))
        self._session = record
        self._number = 1 + len(stored.messages)
        self._has_written = True
        own = {"session_id": self.path.stem, "name": stored.session.title}
        self._on_replaced(Replaced(code=code, kept=kept, kept_id=kept_id, **own))

    def _encode(self) -> tuple[bytes, int, Plain, SessionSummary | None]:
        lines = []
        number = self._number
        session = self._session or {}
        summary = self._summary
        for batch in self._pending:
            ops: list[Op] = []
            for part in batch.parts:
                if part.get("op") == "message":
                    record = part["message"]
                    more = self._more.get(record["id"])
                    ops.append({**part, "message": codec.with_unknown(Message, more, record)})
                elif "op" in part:
                    ops.append(part)
                elif patch := codec.merge_patch(session, whole := codec.whole_session(session, part)):
                    ops.append({"op": "session", "patch": patch})
                    session = whole
            if ops:
                try:
                    lines.append(encode_line(number + 1, ops))
                    number += 1
                except (TypeError, ValueError, RecursionError) as error:
                    self._invalid = invalid_record(self.path, error)
            summary = batch.summary or summary
        return b"".join(lines), number, session, summary

    def _open(self) -> None:
        if self._poisoned:
            if self._known.is_there(WHICH):
                whole = self._disk.read(self.path, 0, self._size)
                self._known.id = write_whole(self._disk, self.path, whole)
            self._poisoned = False
        if self._descriptor is not None or (descriptor := self._opened()) is None:
            return
        try:
            self._size = self._disk.identity(descriptor).size
            if self._session is None:
                self.adopt(read_messages(lambda: self._disk.open_read(self.path), codec.MessageReader()))
            if self._size and self._refusal is None:
                self._mend_tail(descriptor)
            self._known.id = self._disk.identity(descriptor)
        except BaseException:
            self._disk.close(descriptor)
            raise
        self._descriptor = descriptor

    def _opened(self) -> int | None:
        """Return the descriptor of the file that this program knows, put right if it is another; None
        for no file.
        """
        for _ in range(_TRIES):
            if not self._is_there():
                self._put_right()
            try:
                descriptor = self._known.open()
            except FileNotFoundError:
                if self._known.id is not None:
                    continue  # Deleted just now.
                if not self._pending:
                    return None  # A session that is in memory no more was deleted.
                self._disk.make_folder(self.path.parent)
                self._session = {}
                return self._disk.create(self.path)
            if descriptor is not None:
                return descriptor
        raise self._busy()

    def _busy(self) -> OSError:
        return OSError(errno.EBUSY, "another program keeps replacing the file")

    def _mend_tail(self, descriptor: int) -> None:
        """Make the file end with a newline, keeping what is cut off in quarantine."""

        def keep(tail: bytes, start: int) -> None:
            kept = self._paths.quarantine / f"{self.path.stem}{TORN}{start}"
            write_whole(self._disk, kept, tail)
            title = str((self._session or {}).get("title", ""))
            self._on_replaced(
                Replaced(code="log_torn", name=title, session_id=self.path.stem, kept=str(kept))
            )

        self._size = mended_size(self._disk, self.path, descriptor, keep)

    def _take_back(self, error: OSError) -> None:
        if error.errno == errno.EIO or self._descriptor is None:
            self._poison()
            return
        try:
            self._disk.truncate(self._descriptor, self._size)
        except OSError:
            self._poison()

    def _poison(self) -> None:
        self._poisoned = True
        with contextlib.suppress(OSError):
            self.close()


def invalid_record(path: Path, error: Exception) -> StorageError:
    """Return the StorageError for what could not be read back from a log."""
    return StorageError("invalid_record", path=str(path), detail=" ".join(str(error).splitlines()[:2]))


def log_of(record: Plain, messages: Sequence[Message], more: Mapping[str, Plain] | None = None) -> bytes:
    """Return the whole log of a session with this record.
    Raises ValueError for a message that could not be read back.

    `more` are the records, by the message's id, of messages that had more than what is known here.
    """
    least = READER if any(item.role == Role.SUMMARY for item in messages) else FIRST_READER
    lines = [encode_line(1, [head_of(record["id"], least), {"op": "session", "patch": record}])]
    for message in messages:
        said = codec.plain(message)
        codec.check(Message, said)
        said = codec.with_unknown(Message, more.get(message.id) if more else None, said)
        lines.append(encode_line(len(lines) + 1, [{"op": "message", "message": said}]))
    return b"".join(lines)


def head_of(session_id: str, least: int) -> Op:
    """Return the first operation of a log, with the least version that may write to it."""
    return {"op": "head", "version": VERSION, "min_reader": least, "id": session_id}


class StreamedText:
    """Collects the text of a session's unfinished messages until it is worth a line: so many `bytes`."""

    def __init__(self) -> None:
        # The operation that writes the text of each message, with where that begins in the message's own.
        self._ops: dict[str, Op] = {}
        self.bytes = 0
        self._since: float | None = None
        self._thinking_lengths: dict[str, int] = {}

    @property
    def due(self) -> float | None:
        """When the text is to be written (monotonic time), None where there is none."""
        return None if self._since is None else self._since + FLUSH_SECONDS

    def add(self, event: events.MessageDelta) -> None:
        """Add a piece."""
        op = self._ops.setdefault(event.message_id, {"op": "text", "id": event.message_id})
        if event.text:
            op.setdefault("offset", event.offset)
            op["text"] = op.get("text", "") + event.text
        if event.thinking:
            length = self._thinking_lengths.get(event.message_id, 0)
            op.setdefault("thinking_offset", length)
            op["thinking"] = op.get("thinking", "") + event.thinking
            self._thinking_lengths[event.message_id] = length + len(event.thinking)
        self.bytes += len((event.text + event.thinking).encode(errors="replace"))
        if self._since is None:
            self._since = time.monotonic()

    def begin(self, message: Message) -> None:
        """Go on from an unfinished message that is in the log with what it thought so far."""
        if message.thinking:
            self._thinking_lengths[message.id] = len(message.thinking)

    def end(self, message_id: str) -> None:
        """Drop the text of a message that is finished: its record has all of it."""
        self._ops.pop(message_id, None)
        self._thinking_lengths.pop(message_id, None)

    def take(self) -> list[Op]:
        """Return the operations that write the text, and drop it."""
        ops = list(self._ops.values())
        self.drop()
        return ops

    def drop(self) -> None:
        """Drop the text of all messages."""
        self._ops.clear()
        self.bytes = 0
        self._since = None


class OtherLog:
    """The log that another program put in place of a session's own, compared with the messages in memory."""

    def __init__(self, data: bytes, messages: Sequence[Message], unwritten: Collection[str]) -> None:
        self.data = data
        self.replay = read_log(lambda: io.BytesIO(data), lambda record: record)
        self._open = dict(self.replay.open_records())
        self._own: Mapping[str, Plain] = {message.id: codec.plain(message) for message in messages}
        self._unwritten = unwritten

    def is_log_of(self, session: Plain | None, size: int, number: int) -> bool:
        """Return whether nothing that was written is missing; `size` and `number` are those of the log
        as written.
        """
        written = [item for item in self._own if item not in self._unwritten]
        if self.replay.damaged or any(item not in self.replay.messages for item in written):
            return False
        if len(self.data) == size and self.replay.last_number == number:
            return True
        same = session is None or self.replay.session == session
        return same and self.replay.last_number >= number and all(map(self._holds, written))

    def adds(self, updated_at: str) -> bool:
        """Return whether the log has something that the session in memory, last changed then, never had."""
        later = self.replay.session.get("updated_at")
        if self.replay.damaged or (isinstance(later, str) and later > updated_at):
            return True
        found = self.replay.messages | self._open
        return not all(_begins(self._own.get(message_id), record) for message_id, record in found.items())

    def _holds(self, message_id: str) -> bool:
        own, found = self._own[message_id], self.replay.messages[message_id]
        if own.get("state") == MessageState.STREAMING:
            return True  # Its end will be written with all of its text.
        return isinstance(found, dict) and all(found.get(name) == value for name, value in own.items())


def _begins(own: Plain | None, found: Any) -> bool:
    """Return whether a record is a message's own one, or one of an earlier moment."""
    if own is None or not isinstance(found, dict):
        return False
    return str(own.get("content", "")).startswith(str(found.get("content", "")))


def keep_log(disk: FileSystem, paths: DataPaths, session_id: str, other: OtherLog) -> tuple[str, str]:
    """Keep another version of a session; return its title and id, or its file and "". Raises OSError."""
    replay: Replay = other.replay
    if not replay.session or replay.damaged:
        return str(keep_bytes(disk, paths.quarantine, paths.session(session_id), other.data)), ""
    kept_id = derived_id("other version", session_id, str(zlib.crc32(other.data)), str(len(other.data)))
    title = f"{replay.session.get('title', '')} · {datetime.now(UTC).astimezone():%Y-%m-%d %H:%M}"
    patch = {"op": "session", "patch": {"title": title}}
    # The same bytes may be put there again and again; they are kept once.
    if not disk.exists(paths.session(kept_id)):
        write_whole(disk, paths.session(kept_id), with_line(other.data, replay.last_number + 1, [patch]))
    return title, kept_id
