"""A session's log as bytes: how one line is written, and how lines are read whatever became of them.

A line is `{"c":"<crc32 of the rest>","q":<number>,"ops":[…]}` and one newline. Bytes are split on
that newline only: a text may hold every other separator there is. Used by replay and the writer.
"""

import json
import math
import operator
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

VERSION = 1
READER = 1

Op = dict[str, Any]

_START = b'{"c":"'
_REST = len(_START) + 8 + 2
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Line:
    """One whole line: its number and what it changes; all of it happened or nothing."""

    number: int
    ops: list[Op]


def encode_line(number: int, ops: list[Op]) -> bytes:
    """Return one line of the log; what no encoding can hold is replaced, never refused."""
    try:
        text = _dump({"q": number, "ops": ops})
    except ValueError:
        text = _dump({"q": number, "ops": _without_nan(ops)})
    try:
        rest = text.encode()[1:]
    except UnicodeEncodeError:
        rest = re.sub("[\ud800-\udfff]", "\ufffd", text).encode()[1:]
    return b'%b%08x",%b\n' % (_START, zlib.crc32(rest), rest)


def decode_line(data: bytes) -> Line | None:
    """Return what a line without its newline holds, None when it is damaged."""
    rest = data[_REST:]
    if data[:_REST] != b'%b%08x",' % (_START, zlib.crc32(rest)):
        return None
    try:
        record = json.loads(b"{" + rest)
    except (ValueError, RecursionError):
        return None
    number, ops = record.get("q"), record.get("ops")
    if type(number) is not int or type(ops) is not list or not all(type(op) is dict for op in ops):
        return None
    return Line(number, ops)


def read_lines(lines: Iterable[bytes]) -> Iterator[Line | None]:
    """Yield each line of a file read in binary mode; None stands for one damaged record.

    Of a last line without a newline the whole records are yielded, and what is not whole is passed
    over: it was never acknowledged. A file that is no log at all is one damaged record.
    """
    for place, data in enumerate(lines):
        ended = data.endswith(b"\n")
        body = data.rstrip(b"\r\n") if ended else data
        if place == 0:
            body = body.removeprefix(_BOM)
        line = decode_line(body)
        if line is not None:
            yield line
        elif ended:
            if body:
                yield from _salvage(body)
        elif place == 0 and not is_cut_off(body):
            yield None
        else:
            yield from whole_records(body)


def by_number(lines: Iterable[Line]) -> list[Line]:
    """Return lines in the order in which they were written; of those with one number, that of the file."""
    return sorted(lines, key=operator.attrgetter("number"))


def is_cut_off(body: bytes) -> bool:
    """Say whether the only line of a file can be the start of a record that a crash cut off."""
    written = body.rstrip(b"\0")
    return written.startswith(_START) or _START.startswith(written)


def whole_records(body: bytes) -> list[Line]:
    """Return the records of a line that lost the newlines between them, or the start of the first."""
    pieces = (decode_line(_START + piece) for piece in body.split(_START)[1:])
    return [line for line in pieces if line is not None]


def _salvage(body: bytes) -> Iterator[Line | None]:
    whole = whole_records(body)
    if not body.startswith(_START) or len(whole) < body.count(_START):
        yield None
    yield from whole


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=str)


def _without_nan(value: object) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_nan(item) for item in value]
    return value
