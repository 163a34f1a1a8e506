"""Reads JSON that another program wrote, or a zip of it: how large, how deep and how many are checked.

Items of a long list are read one by one, so that the window's thread gets its turn between them.
"""

import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NoReturn

from app.core.errors import BadInput
from app.storage.checked_zip import CheckedZip, Limits

MAX_DEPTH = 100
LIMITS = Limits(file=50 << 20, unpacked=200 << 20, entry=200 << 20, entries=10_000)

_ZIP = b"PK\x03\x04"
_BLANKS = re.compile(r"[ \t\r\n]*")


def read_foreign(path: Path) -> Iterator[Any]:
    """Yield the values of a file: the items of a list, else the one value; of a zip those of all its JSON.

    Raises BadInput that says what is wrong and where.
    """
    try:
        with path.open("rb") as file:
            start = file.read(4)
            if start != _ZIP and path.stat().st_size > LIMITS.file:
                raise BadInput("file_too_large_mb", name=path.name, most=LIMITS.file >> 20)
            data = b"" if start == _ZIP else start + file.read()
    except OSError as error:
        raise BadInput("file_unreadable", name=path.name, detail=error.strerror or str(error)) from error
    if start != _ZIP:
        yield from _values(path.name, data)
        return
    with closing(CheckedZip(path, LIMITS)) as packed:
        for name in packed.names:
            if name.endswith(".json"):
                yield from _values(name, packed.read(name))


def _values(name: str, data: bytes) -> Iterator[Any]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput("import_wrong", where=name, detail="UTF-8") from error
    try:
        yield from _decoded(text)
    except json.JSONDecodeError as error:
        raise BadInput("import_wrong", where=f"{name}:{error.lineno}", detail=error.msg) from error
    except (ValueError, RecursionError) as error:
        raise BadInput("import_wrong", where=name, detail=str(error)[:120]) from error


def _decoded(text: str) -> Iterator[Any]:
    decoder = json.JSONDecoder(parse_constant=_refuse)
    place = _after_blanks(text, 0)
    is_list = text.startswith("[", place)
    place = _after_blanks(text, place + 1) if is_list else place
    while not (is_list and text.startswith("]", place)):
        value, place = decoder.raw_decode(text, place)
        _check_depth(value)
        yield value
        place = _after_blanks(text, place)
        if not is_list:
            break
        if text.startswith(",", place):
            place = _after_blanks(text, place + 1)
        elif not text.startswith("]", place):
            raise json.JSONDecodeError("Expecting ',' delimiter", text, place)
    if _after_blanks(text, place + is_list) < len(text):
        raise json.JSONDecodeError("Extra data", text, place)


def _after_blanks(text: str, place: int) -> int:
    found = _BLANKS.match(text, place)
    return found.end() if found else place


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _check_depth(value: Any) -> None:
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return
    raise ValueError(f"deeper than {MAX_DEPTH}")
