"""A session's log as a whole: replaying its lines by their numbers, and finding what is damaged."""

import operator
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from app.core.frozen import Frozen
from app.core.json_values import as_object
from app.core.message import Message, MessageState
from app.core.session import SessionSummary
from app.core.store import StoredSession
from app.storage import codec
from app.storage import lines as storage_lines
from app.storage.codec import Plain, Wrong
from app.storage.file_system import FileSystem, blocks_backwards, write_all
from app.storage.lines import READER, Line, LogRow, Op, by_number, decode_line, read_lines, read_rows

LINES = "lines"
MESSAGE = "message"
FIELD = "field"
TEXT = "text"
SESSION = "session"
SESSION_FIELD = "session_field"
EVERYTHING = "everything"
NOTHING = "nothing"
TORN_END = "torn_end"
UNKNOWN = "part"
_MESSAGE_ID = re.compile(rb'"op":"(?:message","message":\{|text",)"id":"([0-9A-Za-z]+)"')
_OP = re.compile(rb'"op":"(message|text|session)"')


class LogFault(Frozen, kw_only=False):
    """A damaged place in a log: its line, counted from 1, and what was lost, such as LINES (`count`),
    MESSAGE or FIELD (its path in `detail`).
    """

    line: int
    lost: str
    count: int = 1
    detail: str = ""


def faults(lines: Iterable[bytes]) -> list[LogFault]:
    """Return the damaged or missing parts of a log, in the order of the file.

    The beginning of a record at the end is no fault: it was never acknowledged.
    """
    rows = list(read_rows(lines))
    if rows and not any(row.records for row in rows) and rows[0].damaged:
        return [LogFault(1, EVERYTHING)]
    numbers = sorted({record.number for row in rows for record in row.records})
    finished = _finished(rows)
    found: list[LogFault] = []
    newest, damaged = 0, 0
    reader = codec.MessageReader()
    for row in rows:
        for record in row.records:
            if record.number > newest:
                elsewhere = sum(newest < number < record.number for number in numbers)
                missing = record.number - newest - 1 - elsewhere - damaged
                if missing > 0:
                    found.append(LogFault(row.place, LINES, missing))
                newest, damaged = record.number, 0
            for message in _messages(record):
                if reader.read(message) is None:
                    found.append(LogFault(row.place, MESSAGE))
                    continue
                found += [LogFault(row.place, FIELD, detail=wrong.path) for wrong in reader.wrong]
        if row.damaged:
            damaged += 1
            found.append(LogFault(row.place, _lost(row.damaged, finished)))
        if row.torn:
            found.append(LogFault(row.place, TORN_END))
    return found + _session_faults(rows)


def _session_faults(rows: list[LogRow]) -> list[LogFault]:
    """Return the fields of the session that could not be read, at its last change."""
    session: dict[str, Any] = {}
    line = 1
    changes = [(record.number, row.place, op) for row in rows for record in row.records for op in record.ops]
    for _, place, op in sorted(changes, key=operator.itemgetter(0)):
        if op.get("op") == SESSION and isinstance(patch := op.get("patch"), dict):
            codec.apply_patch(session, patch)
            line = place
    wrong: list[Wrong] = []
    codec.read_session("", session, wrong)
    return [LogFault(line, SESSION_FIELD, detail=field.path) for field in wrong]


def _messages(record: Line) -> Iterator[dict[str, object]]:
    for op in record.ops:
        if op.get("op") == MESSAGE and isinstance(message := op.get("message"), dict):
            yield message


def _finished(rows: list[LogRow]) -> set[str]:
    """Return the ids of the messages that are complete."""
    messages = (message for row in rows for record in row.records for message in _messages(record))
    return {str(each.get("id")) for each in messages if each.get("state") != MessageState.STREAMING}


def _lost(damaged: bytes, finished: set[str]) -> str:
    """Return what a damaged line contained, as far as that can be told."""
    kinds = {kind.decode() for kind in _OP.findall(damaged)}
    ids = {found.decode() for found in _MESSAGE_ID.findall(damaged)}
    if kinds == {TEXT} and ids and ids <= finished:
        return NOTHING
    return next((kind for kind in (MESSAGE, SESSION, TEXT) if kind in kinds), UNKNOWN)


_CHUNK = 64 * 1024


class Replay:
    """The state after the lines of one log; `keep` returns what to keep of a finished message's record.

    `more` is that of the MessageReader where one has read the messages.
    """

    def __init__(self, keep: Callable[[Plain], object | None] = lambda _: True) -> None:
        self.session: Plain = {}
        self.damaged = 0
        self.last_number = 0
        self.min_reader = 1
        self.latest = ""
        self.messages: dict[str, object] = {}
        self.more: dict[str, Plain] = {}
        self._keep = keep
        self._open: dict[str, _OpenMessage] = {}

    def add_all(self, lines: Iterable[Line | None]) -> bool:
        """Apply lines, None for a damaged one; stop and return false when a number does not rise."""
        for line in lines:
            if line is None:
                self.damaged += 1
            elif line.number > self.last_number:
                self.add(line)
            else:
                return False
        return True

    def add(self, line: Line) -> None:
        """Apply a line whose number is not below the last one's.

        A line with the same number was written twice, or by a second writer: it may add messages that are not
        finished yet, and change nothing else.
        """
        repeated = line.number == self.last_number
        self.last_number = line.number
        for op in line.ops:
            name = op.get("op")
            if name == "message":
                record = op.get("message")
                if isinstance(record, dict) and not (repeated and self._is_held(record)):
                    self._message(record)
            elif name == "text":
                self._text(op)
            elif repeated:
                continue
            elif name == "session":
                codec.apply_patch(self.session, as_object(op.get("patch")))
            elif name == "remove" and isinstance(removed := op.get("id"), str):
                self.messages.pop(removed, None)
                self._open.pop(removed, None)
            elif name == "head":
                least = op.get("min_reader")
                self.min_reader = least if isinstance(least, int) else 1

    def open_records(self) -> list[tuple[str, Plain]]:
        """Return the messages that never finished, with their text so far."""
        return [(message_id, started.record()) for message_id, started in self._open.items()]

    def _is_held(self, record: Plain) -> bool:
        message_id = record.get("id")
        if not isinstance(message_id, str) or message_id not in self.messages:
            return False
        return message_id not in self._open or record.get("state") == MessageState.STREAMING

    def _message(self, record: Plain) -> None:
        message_id = record.get("id")
        if not isinstance(message_id, str):
            self.damaged += 1
            return
        if isinstance(created := record.get("created_at"), str):
            self.latest = max(self.latest, created)
        if record.get("state") == MessageState.STREAMING:
            self._open[message_id] = _OpenMessage(record)
            self.messages[message_id] = None
            return
        kept = self._keep(record)
        if kept is None:
            self.damaged += 1
            return
        self._open.pop(message_id, None)
        self.messages[message_id] = kept

    def _text(self, op: Op) -> None:
        message_id = op.get("id")
        if isinstance(message_id, str) and message_id in self._open:
            self._open[message_id].add(op)


class _OpenMessage:
    """An unfinished message and the pieces of its text."""

    def __init__(self, record: Plain) -> None:
        self._record = record
        self._content = _Pieces(record.get("content", ""))
        self._thinking = _Pieces(record.get("thinking", ""))

    def add(self, op: Op) -> None:
        self._content.add(op.get("offset"), op.get("text", ""))
        self._thinking.add(op.get("thinking_offset"), op.get("thinking", ""))

    def record(self) -> Plain:
        texts = {"content": self._content.text(), "thinking": self._thinking.text()}
        return self._record | {name: text for name, text in texts.items() if text}


class _Pieces:
    """A text made of pieces with offsets."""

    def __init__(self, start: object) -> None:
        self._pieces = [start] if isinstance(start, str) else []
        self._length = sum(map(len, self._pieces))

    def add(self, offset: object, text: object) -> None:
        if not isinstance(text, str) or not text:
            return
        if not isinstance(offset, int) or not 0 <= offset <= self._length:
            return  # A piece before it is lost, and text behind a gap would be misread.
        text = text[self._length - offset :]
        self._pieces.append(text)
        self._length += len(text)

    def text(self) -> str:
        return "".join(self._pieces)


def read_log(
    open_log: Callable[[], BinaryIO], keep: Callable[[Plain], object | None] = lambda _: True
) -> Replay:
    """Replay a whole log. Raises OSError.

    Programs that synchronise files may repeat or move lines. Only then the log is held in memory and sorted
    by number.
    """
    replay = Replay(keep)
    with open_log() as file:
        if replay.add_all(read_lines(file)):
            return replay
    replay = Replay(keep)
    with open_log() as file:
        found = list(read_lines(file))
    replay.damaged = found.count(None)
    for line in by_number(line for line in found if line is not None):
        replay.add(line)
    return replay


def read_messages(open_log: Callable[[], BinaryIO], reader: codec.MessageReader) -> Replay:
    """Replay a whole log with its messages read. Raises OSError."""
    replay = read_log(open_log, reader.read)
    replay.more = reader.more
    return replay


def load_session(file_system: FileSystem, path: Path, *, mend: bool) -> tuple[StoredSession, "Replay"]:
    """Read a session; also return the replay, from which the writer continues. Raises OSError.

    With `mend`, a running session is paused and a streaming message is stopped.
    """
    reader = codec.MessageReader()
    replay = read_messages(lambda: file_system.open_read(path), reader)
    stored = stored_session(path.stem, replay, reader, mend=mend)
    replay.messages.clear()
    return stored, replay


def stored_session(
    session_id: str, replay: Replay, reader: codec.MessageReader, *, mend: bool
) -> StoredSession:
    """Return the session of a log that was replayed with `reader.read`."""
    damaged = replay.damaged
    for message_id, record in replay.open_records():
        message = reader.read(record)
        if message is None:
            damaged += 1
            del replay.messages[message_id]
        else:
            replay.messages[message_id] = codec.mended_message(message) if mend else message
    messages: list[Any] = list(replay.messages.values())
    wrong: list[Wrong] = []
    session, read_only = codec.read_session(session_id, replay.session, wrong)
    session = codec.mended_session(session) if mend else session
    read_only, damaged = read_only or replay.min_reader > READER, damaged + len(reader.mended) + bool(wrong)
    return StoredSession(session=session, messages=messages, damaged=damaged, read_only=read_only)


def read_summary(file_system: FileSystem, path: Path) -> SessionSummary | None:
    """Return the summary of a log, None if the file contains nothing."""
    replay = read_log(lambda: file_system.open_read(path), codec.price_of)
    if not replay.session and not replay.messages and not replay.damaged:
        return None
    prices = {message: price for message, price in replay.messages.items() if isinstance(price, float)}
    summary = codec.summary_of(
        path.stem, replay.session, len(replay.messages), replay.latest, replay.min_reader > READER, prices
    )
    return summary._replace(damaged=replay.damaged)


def lines_backwards(file_system: FileSystem, path: Path) -> Iterator[bytes]:
    """Yield the lines of a log without newlines, the last first, reading only as much as is asked for.

    The part behind the last newline comes first, even if it is empty. Raises OSError.
    """
    for block, _ in blocks_backwards(file_system, path, _CHUNK):
        yield from reversed(block.split(b"\n"))


def mended_size(
    disk: FileSystem, path: Path, descriptor: int, keep: Callable[[bytes, int], object] = lambda *_: None
) -> int:
    """Make a log end with a newline, so that an unfinished record cannot swallow the next; return its size.

    `keep` gets the bytes that are cut off and where they began. Raises OSError.
    """
    size = disk.stat(path).size
    tail = next(lines_backwards(disk, path), b"")
    if not tail:
        return size
    if storage_lines.whole_records(tail):
        write_all(disk, descriptor, b"\n")
        return size + 1
    keep(tail, size - len(tail))
    disk.truncate(descriptor, size - len(tail))
    return size - len(tail)


def read_tail(file_system: FileSystem, path: Path, count: int) -> list[Message]:
    """Return the last `count` finished messages, oldest first, from the end of the file.

    None if a line is missing or misplaced: then only the whole log tells which are newest.
    """
    newest: dict[str, Message] = {}
    reader = codec.MessageReader()
    order: list[str] = []
    number: int | None = None
    for data in lines_backwards(file_system, path):
        if len(order) > count:
            break
        line = decode_line(data.rstrip(b"\r"))
        if line is None:
            continue
        if number is not None and line.number != number - 1:
            return []
        number = line.number
        for message_id, record in storage_lines.messages_backwards(line):
            if message_id in newest:
                order.remove(message_id)
                order.append(message_id)
            elif record.get("state") != MessageState.STREAMING and (message := reader.read(record)):
                newest[message_id] = message
                order.append(message_id)
    return [newest[message_id] for message_id in reversed(order)][-count:]
