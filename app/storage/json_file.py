"""Reads and writes the small JSON documents; faults in them are reported with line and field.

Also what is kept of a file that another program put in place of one that Moot uses: what is said of it, and
its bytes in quarantine under a name with `.other-`. A session's log that can be read becomes a session of its
own.
"""

import contextlib
import json
import math
import re
import time
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from app.core.errors import Problem, StorageError
from app.core.session_files import DEVICES
from app.core.texts import clean_values
from app.storage.codec import Place, Wrong, read
from app.storage.file_system import FileSystem, storage_errors, write_whole

MAX_BYTES = 5_000_000
MAX_DEPTH = 100
MAX_DIGITS = 300

Field = Place
Noun = TypeVar("Noun")

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)
VERSION = 1
MAX_ID = 64
# The field of a document in the trash for its former place in a list.
PLACE = "place"


@dataclass(frozen=True, slots=True)
class JsonFile:
    """A parsed file: its value, and the line on which each of its fields begins."""

    path: Path
    value: Any
    lines: dict[Field, int]

    def problem(self, code: str, at: Field = (), detail: str = "") -> Problem:
        """Return a Problem of a field, with its line."""
        place = at
        while place and place not in self.lines:
            place = place[:-1]
        return Problem(
            path=str(self.path), code=code, line=self.lines.get(place), field=field_name(at), detail=detail
        )


def field_name(field: Field) -> str:
    """Return a field as users write it: `providers[0].kind`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in field)
    return text.removeprefix(".")


def read_json_file(path: Path) -> JsonFile | Problem | None:
    """Read a JSON file; None if there is none, a Problem if it cannot be used."""
    try:
        if not path.is_file():
            return _at(path, "not_a_file") if path.exists() or path.is_symlink() else None
        if path.stat().st_size > MAX_BYTES:
            return _at(path, "too_large")
        data = path.read_bytes()
    except OSError as error:
        return _at(path, "unreadable", detail=error.strerror or "")
    return parse_json(path, data)


def readable_file(path: Path) -> JsonFile | None:
    """Read a JSON file that is to be changed; None if there is none. Raises StorageError for a faulty one."""
    found = read_json_file(path)
    if isinstance(found, Problem):
        raise refusal(found)
    return found


def parse_json(path: Path, data: bytes) -> JsonFile | Problem:
    """Parse the bytes of a JSON file."""
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
    value = parse_object(path, text)
    return value if isinstance(value, Problem) else JsonFile(path, clean_values(value), lines)


def parse_object(path: Path, data: str | bytes) -> dict[str, Any] | Problem:
    """Parse a JSON object as it is: not cleaned, and without a search for the faults that `json` accepts."""
    try:
        value = json.loads(data)
    except json.JSONDecodeError as error:
        return _at(path, "not_json", line=error.lineno, detail=error.msg)
    except (ValueError, RecursionError) as error:
        return _at(path, "not_json", detail=type(error).__name__)
    return value if isinstance(value, dict) else _at(path, "not_an_object", line=1)


def _at(path: Path, code: str, line: int | None = None, field: Field = (), detail: str = "") -> Problem:
    return Problem(path=str(path), code=code, line=line, field=field_name(field), detail=detail)


def _survey(path: Path, text: str) -> tuple[dict[Field, int], Problem | None]:
    """Return the lines of the fields, and the first fault that `json` would accept.

    These are duplicate keys, NaN, huge numbers, and deep nesting.
    """
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


def previous_of(path: Path) -> Path:
    """Return the path of the previous copy."""
    return path.with_name(path.name + ".bak")


def is_newer(file: JsonFile) -> bool:
    """Return whether a document is of a newer, unknown version."""
    version = file.value.get("version", VERSION)
    return type(version) is not int or version > VERSION


def as_bytes(document: dict[str, Any]) -> bytes:
    """Return a document as bytes: indented, with Korean unescaped."""
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False).encode() + b"\n"


def replace_document(
    disk: FileSystem, path: Path, document: dict[str, Any], previous: dict[str, Any] | None = None
) -> bytes:
    """Write a document and return its bytes; the present file, or `previous`, becomes the previous copy.

    Raises StorageError.
    """
    path = path.resolve()  # The user may have put a link there.
    data = as_bytes(document)
    with storage_errors(path):
        with contextlib.suppress(FileNotFoundError):
            before = disk.read(path)
            write_whole(disk, previous_of(path), before if previous is None else as_bytes(previous))
        write_whole(disk, path, data)
    return data


def own_document(disk: FileSystem, path: Path, quarantine: Path) -> dict[str, Any]:
    """Return one of Moot's own documents for writing; one that cannot be read is set aside first.

    Raises StorageError, also for a document of a newer version.
    """
    found = read_json_file(path)
    if isinstance(found, Problem):
        set_aside(disk, path, quarantine)
        return {}
    if found is not None and is_newer(found):
        raise StorageError("newer_version", path=str(path))
    return found.value if found is not None else {}


def write_to_trash(disk: FileSystem, trash: Path, name: str, document: dict[str, Any]) -> str:
    """Write a document of its own to the trash and return its file there. Raises StorageError."""
    with storage_errors(trash):
        path = place_in_trash(disk, trash, name)
        write_whole(disk, path, as_bytes(document))
    return path.name


def put_back_in_place(entries: list[Any], entry: Any, place: object) -> None:
    """Insert an entry where it was, at the end if its place is not known."""
    entries.insert(place if type(place) is int and place >= 0 else len(entries), entry)


def place_in_trash(disk: FileSystem, trash: Path, name: str, suffix: str = ".json") -> Path:
    """Return a free path in the trash for something of this name that is deleted now. Raises OSError."""
    taken = {stat.name for stat in disk.scan(trash)}
    moment = int(time.time())
    while f"{name}.{moment}{suffix}" in taken:
        moment += 1
    return trash / f"{name}.{moment}{suffix}"


def refusal(problem: Problem) -> StorageError:
    """Return the error for a file that is not overwritten because it could not be read."""
    detail = problem.detail or problem.field or problem.code
    return StorageError("unreadable_file", path=problem.path, line=problem.line or "?", detail=detail)


def set_aside(disk: FileSystem, path: Path, quarantine: Path) -> None:
    """Move one of Moot's own files that cannot be read to quarantine. Raises StorageError."""
    with storage_errors(path):
        disk.make_folder(quarantine)
        number = 1
        while (target := quarantine / f"{path.name}.{number}").exists():
            number += 1
        disk.replace(path, target)


def validated(
    kind: type[Noun], file: JsonFile, at: Field, entry: object, problems: list[Problem]
) -> Noun | None:
    """Return the object of class `kind` that an entry describes; None after adding a problem
    for each wrong field.
    """
    wrong: list[Wrong] = []
    found = read(kind, entry, wrong, at)
    problems += [file.problem(item.code, item.place, item.detail) for item in wrong]
    return None if wrong else found


def with_defaults(kind: type[Noun], file: JsonFile, problems: list[Problem]) -> Noun:
    """Return the object of a class that a document describes, after adding a problem for each wrong field.

    Such a field has its default; every field of the class has one.
    """
    wrong: list[Wrong] = []
    found = read(kind, file.value, wrong)
    problems += [file.problem(field.code, field.place, field.detail) for field in wrong]
    return kind() if found is None else found


def is_name(text: str) -> bool:
    """Return whether an id can be part of a file name and of a variable name on every system."""
    return (
        0 < len(text) <= MAX_ID
        and all(character.isalnum() or character in "-_." for character in text)
        and text[0].isalnum()
        and text[-1] != "."
        and text.partition(".")[0].casefold() not in DEVICES
    )


_MARK = ".other-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """A file that another program deleted, cut or replaced while Moot used it.

    `code` is that of the notice, `name` the session's title or the file's name. The other version is the
    session `kept_id` with the title `kept`, or the file `kept`; "" if it added nothing.
    """

    code: str
    name: str
    session_id: str = ""
    kept: str = ""
    kept_id: str = ""


def keep_bytes(disk: FileSystem, quarantine: Path, path: Path, data: bytes) -> Path:
    """Keep another version of a file in quarantine and return its path. Raises OSError."""
    kept = quarantine / f"{path.stem}{_MARK}{zlib.crc32(data):08x}{path.suffix}"
    if not disk.exists(kept):
        write_whole(disk, kept, data)
    return kept


def kept_versions(disk: FileSystem, quarantine: Path) -> list[Problem]:
    """Return a problem for each file that is kept, so that the user finds it; none
    if the folder cannot be read.
    """
    try:
        names = sorted(stat.name for stat in disk.scan(quarantine) if _MARK in stat.name)
    except OSError:
        return []
    return [Problem(path=str(quarantine / name), code="other_version") for name in names]
