"""Reads JSON that a person may have written: what is wrong with it is said by line and field.

Used by the small documents. Nothing here writes.
"""

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.core.store import Problem
from app.core.text import clean_text

MAX_BYTES = 5_000_000
MAX_DEPTH = 100
MAX_DIGITS = 300

Field = tuple[str | int, ...]

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)


@dataclass(frozen=True, slots=True)
class JsonFile:
    """A file that was read: its value, and the line on which each of its fields begins."""

    path: Path
    value: Any
    lines: dict[Field, int]

    def problem(self, code: str, at: Field = (), detail: str = "") -> Problem:
        """Return a problem of one field, with its line."""
        place = at
        while place and place not in self.lines:
            place = place[:-1]
        return Problem(
            path=str(self.path), code=code, line=self.lines.get(place), field=field_name(at), detail=detail
        )


def field_name(field: Field) -> str:
    """Return a field as a person would write it: `providers[0].kind`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in field)
    return text.removeprefix(".")


def read_json_file(path: Path) -> JsonFile | Problem | None:
    """Read a file of JSON; None when there is none, a Problem when it cannot be used."""
    try:
        if not path.is_file():
            return _at(path, "not_a_file") if path.exists() or path.is_symlink() else None
        if path.stat().st_size > MAX_BYTES:
            return _at(path, "too_large")
        data = path.read_bytes()
    except OSError as error:
        return _at(path, "unreadable", detail=error.strerror or "")
    return parse_json(path, data)


def parse_json(path: Path, data: bytes) -> JsonFile | Problem:
    """Return what the bytes of a file hold."""
    if not data.strip(b"\0 \t\r\n"):
        return _at(path, "empty")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data:
        return _at(path, "encoding", line=data[: data.find(b"\0")].count(b"\n") + 1)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return _at(path, "encoding", line=data[: error.start].count(b"\n") + 1)
    lines, fault = _survey(path, text)
    if fault is not None:
        return fault
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        return _at(path, "not_json", line=error.lineno, detail=error.msg)
    except (ValueError, RecursionError) as error:
        return _at(path, "not_json", detail=type(error).__name__)
    if not isinstance(value, dict):
        return _at(path, "not_an_object", line=1)
    return JsonFile(path, _clean(value), lines)


def _at(path: Path, code: str, line: int | None = None, field: Field = (), detail: str = "") -> Problem:
    return Problem(path=str(path), code=code, line=line, field=field_name(field), detail=detail)


def _survey(path: Path, text: str) -> tuple[dict[Field, int], Problem | None]:
    """Note where each field stands and what `json` would let pass: twins, NaN, huge numbers, depth."""
    lines: dict[Field, int] = {}
    place: list[str | int] = []
    is_list: list[bool] = []
    line, seen, key = 1, 0, False
    for match in _TOKEN.finditer(text):
        line += text.count("\n", seen, match.start())
        seen = match.start()
        word = match.group()
        if word in "[{":
            lines.setdefault(tuple(place), line)
            if len(is_list) >= MAX_DEPTH:
                return lines, _at(path, "too_deep", line)
            is_list.append(word == "[")
            place.append(0 if word == "[" else "")
            key = word == "{"
        elif word in "]}":
            if not is_list:
                return lines, None
            is_list.pop()
            place.pop()
            key = False
        elif word == ",":
            if is_list and is_list[-1]:
                last = place[-1]
                place[-1] = last + 1 if isinstance(last, int) else 0
            key = bool(is_list) and not is_list[-1]
        elif word == ":":
            key = False
        elif key:
            place[-1] = _unquoted(word)
            key = False
            if tuple(place) in lines:
                return lines, _at(path, "duplicate_key", line, tuple(place))
            lines[tuple(place)] = line
        else:
            lines.setdefault(tuple(place), line)
            if word[0] != '"' and not _is_sane(word):
                return lines, _at(path, "bad_number", line, tuple(place), word[:40])
    return lines, None


def _is_sane(word: str) -> bool:
    if word in ("NaN", "Infinity", "-Infinity") or len(word) > MAX_DIGITS:
        return False
    try:
        return math.isfinite(float(word))
    except ValueError:
        return True


def _unquoted(word: str) -> str:
    try:
        return str(json.loads(word))
    except ValueError:
        return word


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {clean_text(key): _clean(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean(item) for item in value]
    return value
