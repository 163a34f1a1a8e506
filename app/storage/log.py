"""A session's log as bytes: how one line is written, and how lines are read whatever became of them.

A line is `{"c":"<crc32 of the rest>","q":<number>,"ops":[…]}` and one newline. Bytes are split on
that newline only: a text may hold every other separator there is. Used by replay and the writer.
"""

import json
import math
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

    A last line without a newline is yielded if it is whole (only the newline is missing) and
    passed over if not: it was never acknowledged. A file that is no log at all is one damaged record.
    """
    for place, data in enumerate(lines):
        ended = data.endswith(b"\n")
        body = data.rstrip(b"\r\n") if ended else data
        if place == 0:
            body = body.removeprefix(_BOM)
        line = decode_line(body)
        if line is not None:
            yield line
        elif not ended:
            if place == 0 and not _is_cut_off(body):
                yield None
            return
        elif body:
            yield from _salvage(body)


def _is_cut_off(body: bytes) -> bool:
    """Say whether the only line of a file can be the start of a record that a crash cut off."""
    written = body.rstrip(b"\0")
    return written.startswith(_START) or _START.startswith(written)


def _salvage(body: bytes) -> Iterator[Line | None]:
    """Read the records of a line that lost the newlines between them, or the start of the first."""
    starts = [match.start() for match in re.finditer(re.escape(_START), body)]
    ends = [*starts[1:], len(body)]
    whole = [
        line
        for start, end in zip(starts, ends, strict=False)
        if (line := decode_line(body[start:end])) is not None
    ]
    if not starts or len(whole) < len(starts) or starts[0] > 0:
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
