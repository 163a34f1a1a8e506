"""What the small documents have in common: their version, what may be an id, and how one is put in place."""

import contextlib
import json
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from app.core.errors import StorageError
from app.core.store import Problem
from app.storage.file_system import FileSystem, storage_error, write_whole
from app.storage.json_file import Field, JsonFile

VERSION = 1
MAX_ID = 64
# Where in its list or object an entry of the bin was.
PLACE = "place"

# Windows takes these for devices, with any ending.
_DEVICES = frozenset(
    ("con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10)))
)


def previous_of(path: Path) -> Path:
    """Return where the copy from before the last save is."""
    return path.with_name(path.name + ".bak")


def is_newer(file: JsonFile) -> bool:
    """Say whether a document is of a version that is not known here."""
    version = file.value.get("version", VERSION)
    return type(version) is not int or version > VERSION


def as_bytes(document: dict[str, Any]) -> bytes:
    """Return a document as it is written: readable, with Korean as it is."""
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False).encode() + b"\n"


def replace_document(
    disk: FileSystem, path: Path, document: dict[str, Any], previous: dict[str, Any] | None = None
) -> None:
    """Put a document in place; what was there, or `previous`, becomes the previous copy. Raises StorageError."""
    path = path.resolve()  # A person may keep the file elsewhere and leave a link to it.
    try:
        with contextlib.suppress(FileNotFoundError):
            before = disk.read(path)
            write_whole(disk, previous_of(path), before if previous is None else as_bytes(previous))
        write_whole(disk, path, as_bytes(document))
    except OSError as error:
        raise storage_error(error, path) from error


def place_in_bin(disk: FileSystem, trash: Path, name: str, suffix: str = ".json") -> Path:
    """Return a free path in the bin for something of this name that is deleted now. Raises OSError."""
    taken = {one.name for one in disk.scan(trash)}
    moment = int(time.time())
    while f"{name}.{moment}{suffix}" in taken:
        moment += 1
    return trash / f"{name}.{moment}{suffix}"


def refusal(problem: Problem) -> StorageError:
    """Return why a file that could not be read is not overwritten."""
    detail = problem.detail or problem.field or problem.code
    return StorageError("unreadable_file", path=problem.path, line=problem.line or "?", detail=detail)


def set_aside(disk: FileSystem, path: Path, quarantine: Path) -> None:
    """Move one of our own files that cannot be read out of the way, keeping it. Raises StorageError."""
    try:
        disk.make_folder(quarantine)
        number = 1
        while (target := quarantine / f"{path.name}.{number}").exists():
            number += 1
        disk.replace(path, target)
    except OSError as error:
        raise storage_error(error, path) from error


def validated(kind: type, file: JsonFile, at: Field, entry: object, problems: list[Problem]) -> Any:
    """Return the noun an object stands for, None after noting each field that does not fit."""
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(kind).validate_json(json.dumps(entry), strict=True)
    except ValidationError as error:
        for one in error.errors(include_url=False, include_input=False):
            place: Field = (*at, *one["loc"])
            code = "missing" if one["type"] == "missing" else "wrong_type"
            problems.append(file.problem(code, place, one["msg"] if code == "wrong_type" else ""))
        return None


def is_name(text: str) -> bool:
    """Say whether an id can be part of a file's name and of a variable's name on every system."""
    return (
        0 < len(text) <= MAX_ID
        and all(character.isalnum() or character in "-_." for character in text)
        and text[0].isalnum()
        and text[-1] != "."
        and text.partition(".")[0].casefold() not in _DEVICES
    )


def is_web_address(text: str) -> bool:
    """Say whether a base URL is an http or https address with a host and no user or blanks."""
    try:
        parts = urlsplit(text)
        port_is_fine = parts.port is None or parts.port > 0
    except ValueError:
        return False
    return (
        parts.scheme in ("http", "https")
        and bool(parts.hostname)
        and parts.username is None
        and port_is_fine
        and not any(character.isspace() for character in text)
    )
