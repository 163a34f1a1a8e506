"""Finds out which lines of a session's log are damaged or missing, and what was lost with them. Used by doctor."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from app.core.message import MessageState
from app.storage.log import Line, decode_line, is_cut_off, whole_records
from app.storage.records import MessageReader

LINES = "lines"
MESSAGE = "message"
TEXT = "text"
SESSION = "session"
EVERYTHING = "everything"
NOTHING = "nothing"
UNKNOWN = "part"

_BOM = b"\xef\xbb\xbf"
_MESSAGE_ID = re.compile(rb'"op":"(?:message","message":\{|text",)"id":"([0-9A-Za-z]+)"')
_OP = re.compile(rb'"op":"(message|text|session)"')


@dataclass(frozen=True, slots=True)
class LogFault:
    """A place in a log, its line counted from 1, and what was lost there: LINES (so many), MESSAGE and so on."""

    line: int
    lost: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of the file: the records that are whole in it, and its bytes where some are not."""

    place: int
    records: list[Line]
    damaged: bytes = b""


def faults(lines: Iterable[bytes]) -> list[LogFault]:
    """Return what is damaged or missing in a log, in the order of the file; nothing for one that is whole.

    The end of the last line may be missing: it was being written, and never acknowledged.
    """
    rows = list(_rows(lines))
    if rows and not any(row.records for row in rows) and rows[0].damaged:
        return [LogFault(1, EVERYTHING)]
    numbers = sorted({record.number for row in rows for record in row.records})
    finished = _finished(rows)
    found: list[LogFault] = []
    newest, damaged = 0, 0
    reader = MessageReader()
    for row in rows:
        for record in row.records:
            if record.number > newest:
                elsewhere = sum(newest < number < record.number for number in numbers)
                missing = record.number - newest - 1 - elsewhere - damaged
                if missing > 0:
                    found.append(LogFault(row.place, LINES, missing))
                newest, damaged = record.number, 0
            if any(reader.read(message) is None for message in _messages(record)):
                found.append(LogFault(row.place, MESSAGE))
        if row.damaged:
            damaged += 1
            found.append(LogFault(row.place, _lost(row.damaged, finished)))
    return found


def _rows(lines: Iterable[bytes]) -> Iterator[_Row]:
    for place, data in enumerate(lines, 1):
        body = data.rstrip(b"\r\n") if data.endswith(b"\n") else data
        if place == 1:
            body = body.removeprefix(_BOM)
        if not body:
            continue
        if (line := decode_line(body)) is not None:
            yield _Row(place, [line])
        elif data.endswith(b"\n") or (place == 1 and not is_cut_off(body)):
            records = whole_records(body)
            pieces = body.count(b'{"c":"') + (not body.startswith(b'{"c":"'))
            yield _Row(place, records, body if len(records) < pieces else b"")
        else:
            yield _Row(place, whole_records(body))


def _messages(record: Line) -> Iterator[dict[str, object]]:
    for op in record.ops:
        if op.get("op") == MESSAGE and isinstance(message := op.get("message"), dict):
            yield message


def _finished(rows: list[_Row]) -> set[str]:
    """Return the ids of the messages that are there from their beginning to their end."""
    return {
        str(message.get("id"))
        for row in rows
        for record in row.records
        for message in _messages(record)
        if message.get("state") != MessageState.STREAMING
    }


def _lost(damaged: bytes, finished: set[str]) -> str:
    """Return what a damaged line held, as far as it can still be told."""
    kinds = {kind.decode() for kind in _OP.findall(damaged)}
    ids = {found.decode() for found in _MESSAGE_ID.findall(damaged)}
    if kinds == {TEXT} and ids and ids <= finished:
        return NOTHING
    return next((kind for kind in (MESSAGE, SESSION, TEXT) if kind in kinds), UNKNOWN)
