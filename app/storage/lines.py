"""The lines of a session's log and of the other files that grow: writing and reading them,
and what is whole of a damaged one.

A line is `{"c":"<crc32 of the rest>","q":<number>,"ops":[…]}` and a newline. Bytes are split at that newline
only, because texts may contain every other separator. Reading the same lines again changes nothing.
"""

import operator
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from app.core.frozen import Frozen
from app.storage.codec import encode

VERSION = 1
# What a program must know to write to a log: FIRST_READER everything but summaries.
FIRST_READER = 1
READER = 2

Op = dict[str, Any]

_START = b'{"c":"'
_DECODER = msgspec.json.Decoder()
_REST = len(_START) + 8 + 2
_BOM = b"\xef\xbb\xbf"


class Line(Frozen, kw_only=False):
    """A line: its number and its operations, which took effect together or not at all."""

    number: int
    ops: list[Op]


class LogRow(Frozen, kw_only=False):
    """A line of the file, counted from 1: its whole records, and its bytes if a part of it is damaged.

    `torn` says that it is an unfinished last line that is not the beginning of a record.
    """

    place: int
    records: list[Line]
    damaged: bytes = b""
    torn: bool = False


def encode_line(number: int, ops: list[Op]) -> bytes:
    """Return a line as bytes; characters that cannot be encoded are replaced, and numbers
    that are none are null.
    """
    rest = encode({"q": number, "ops": ops})[1:]
    return b'%b%08x",%b\n' % (_START, zlib.crc32(rest), rest)


def with_line(data: bytes, number: int, ops: list[Op]) -> bytes:
    """Return a log with a line added."""
    whole = data if data.endswith(b"\n") or not data else data + b"\n"
    return whole + encode_line(number, ops)


def decode_line(data: bytes) -> Line | None:
    """Parse a line without its newline; None if it is damaged."""
    if data[:_REST] != b'%b%08x",' % (_START, zlib.crc32(memoryview(data)[_REST:])):
        return None
    try:
        record = _DECODER.decode(data)
    except (ValueError, RecursionError):
        return None
    number, ops = record.get("q"), record.get("ops")
    if type(number) is not int or type(ops) is not list or not all(type(op) is dict for op in ops):
        return None
    return Line(number, ops)


def read_lines(lines: Iterable[bytes]) -> Iterator[Line | None]:
    """Yield each record of a file that is read in binary mode; None stands for a damaged line.

    Of a last line without a newline only the whole records count: the rest was never acknowledged. A file
    that is no log at all is one damaged line.
    """
    for row in read_rows(lines):
        if row.damaged:
            yield None
        yield from row.records


def read_rows(lines: Iterable[bytes]) -> Iterator[LogRow]:
    """Yield the lines of a file that is read in binary mode, without empty ones."""
    for place, data in enumerate(lines, 1):
        ended = data.endswith(b"\n")
        body = data.rstrip(b"\r\n") if ended else data
        if place == 1:
            body = body.removeprefix(_BOM)
        if (line := decode_line(body)) is not None:
            yield LogRow(place, [line])
        elif body and (ended or (place == 1 and not _is_cut_off(body))):
            yield _salvage(place, body)
        elif body:
            yield LogRow(place, whole_records(body), torn=not _is_cut_off(body))


def messages_backwards(line: Line) -> Iterator[tuple[str, Op]]:
    """Yield the id and the record of each message in a line, the last first."""
    for op in reversed(line.ops):
        record = op.get("message")
        if op.get("op") == "message" and isinstance(record, dict) and isinstance(record.get("id"), str):
            yield record["id"], record


def by_number(lines: Iterable[Line]) -> list[Line]:
    """Return lines in the order of their numbers; lines with the same number stay in the order of the
    file.
    """
    return sorted(lines, key=operator.attrgetter("number"))


def _is_cut_off(body: bytes) -> bool:
    """Return whether an unfinished last line can be the beginning of a record that a crash cut off."""
    written = body.rstrip(b"\0")
    return written.startswith(_START) or _START.startswith(written)


def whole_records(body: bytes) -> list[Line]:
    """Return the whole records in a line that lost the newlines between them, or the start of the first."""
    pieces = (decode_line(_START + piece) for piece in body.split(_START)[1:])
    return [line for line in pieces if line is not None]


def _salvage(place: int, body: bytes) -> LogRow:
    """Return the whole records of a damaged line, which may also be several lines without the newlines
    between.
    """
    records = whole_records(body)
    pieces = body.count(_START) + (not body.startswith(_START))
    return LogRow(place, records, body if len(records) < pieces else b"")
