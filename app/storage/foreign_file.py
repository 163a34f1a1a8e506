"""Reads files from elsewhere: JSON, zips of it, and Moot's own exports; sizes, depth and numbers are limited.

The items of a long list are read one by one, so that the window's thread can run between them.
"""

import json
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from lzma import LZMAError
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from app.core.errors import BadInput
from app.core.files import regular_size
from app.core.message import Message
from app.core.store import StoredSession
from app.core.texts import clean_values
from app.storage.codec import MessageReader, Wrong, mended_message, mended_session, read_session

_CHUNK = 1 << 20
MAX_DEPTH = 100
_ZIP = b"PK\x03\x04"
_BLANKS = re.compile(r"[ \t\r\n]*")
# What reading a damaged zip raises.
_DAMAGED = (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError, LZMAError)


class Limits(NamedTuple):
    """Limits of a zip: bytes of the file, unpacked bytes of all and of one entry, and the number of entries.

    It may unpack to `ratio` times its size, and to a megabyte in any case.
    """

    file: int
    unpacked: int
    entry: int
    entries: int
    ratio: int = 100


class CheckedZip:
    """A zip file that anybody may have made; sizes are counted while it is read, whatever it claims.

    All methods block, and raise BadInput for contents that are not allowed.
    """

    def __init__(self, path: Path, limits: Limits) -> None:
        self._path = path
        self._limits = limits
        self._read = 0
        try:
            size = path.stat().st_size
            if size > limits.file:
                raise self._refusal("zip_too_large", most=limits.file >> 20)
            self._most = min(limits.unpacked, max(_CHUNK, limits.ratio * size))
            self._file = zipfile.ZipFile(path)
        except OSError as error:
            raise BadInput("file_unreadable", name=path.name, detail=error.strerror or str(error)) from error
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise self._refusal("zip_damaged", detail=str(error)[:200]) from error
        try:
            self._entries = self._checked()
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the files in the zip, in their order."""
        return tuple(self._entries)

    def read(self, name: str) -> bytes:
        """Return the contents of a file. Raises KeyError if there is none of the name."""
        entry = self._entries[name]
        pieces: list[bytes] = []
        size = 0
        try:
            with self._file.open(entry) as file:
                while piece := file.read(_CHUNK):
                    size += len(piece)
                    self._read += len(piece)
                    if size > self._limits.entry or self._read > self._most:
                        raise self._refusal("zip_unpacks_too_large", entry=name[:120])
                    pieces.append(piece)
        except _DAMAGED as error:
            raise self._refusal("zip_damaged", detail=f"{name[:120]}: {error}"[:300]) from error
        return b"".join(pieces)

    def _checked(self) -> dict[str, zipfile.ZipInfo]:
        entries: dict[str, zipfile.ZipInfo] = {}
        infos = self._file.infolist()
        if len(infos) > self._limits.entries:
            raise self._refusal("zip_too_many", count=len(infos), most=self._limits.entries)
        for info in infos:
            name = info.filename
            parts = name.rstrip("/").split("/")
            mode = info.external_attr >> 16
            bad_name = name.startswith("/") or ":" in name or not {"", ".", ".."}.isdisjoint(parts)
            bad_name = bad_name or not {"\\", "\0"}.isdisjoint(info.orig_filename) or name in entries
            is_encrypted = info.flag_bits & 1
            if bad_name or is_encrypted or stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise self._refusal("zip_odd_entry", entry=name[:120])
            if not info.is_dir():
                entries[name] = info
        return entries

    def _refusal(self, code: str, **details: object) -> BadInput:
        return BadInput(code, name=self._path.name, **details)


LIMITS = Limits(file=50 << 20, unpacked=200 << 20, entry=200 << 20, entries=10_000)


def read_foreign(path: Path) -> Iterator[Any]:
    """Yield the values of a JSON file, the items of a list one by one; of a zip the values
    of all its JSON files.

    Raises BadInput that says what is wrong and where.
    """
    try:
        size = regular_size(path)
        with path.open("rb") as file:
            start = file.read(4)
            if start != _ZIP and size > LIMITS.file:
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
    level: list[Any] = [[value]]
    for _ in range(MAX_DEPTH + 1):
        inside = (outer.values() if isinstance(outer, dict) else outer for outer in level)
        level = [item for items in inside for item in items if isinstance(item, dict | list)]
        if not level:
            return
    raise ValueError(f"deeper than {MAX_DEPTH}")


def read_exported(session: object, messages: Sequence[object]) -> StoredSession:
    """Return a session from Moot's own JSON export, which anybody may have changed, mended as after a crash.

    Raises BadInput that says which part is wrong.
    """
    record: Any = clean_values(session)
    kind = record.get("kind", "") if isinstance(record, dict) else ""
    wrong: list[Wrong] = []
    found, partly = read_session(str(record.get("id", "")), record, wrong) if kind else (None, True)
    if found is None or partly or wrong:
        detail = wrong[0].path if wrong else str(kind)
        raise BadInput("import_wrong", where="session", detail=detail[:80])
    reader = MessageReader()
    read: list[Message] = []
    seen: set[str] = set()
    for place, item in enumerate(messages):
        value: Any = clean_values(item)
        message = reader.read(value) if isinstance(value, dict) else None
        if message is None or message.id in seen or reader.wrong:
            detail = reader.wrong[0].path if reader.wrong else ""
            raise BadInput("import_wrong", where=f"messages[{place}]", detail=detail[:80])
        seen.add(message.id)
        read.append(mended_message(message))
    # What somebody else's assistant proposed is not asked here.
    found = mended_session(found)
    found = replace(found, chat=replace(found.chat, proposed=())) if found.chat is not None else found
    return StoredSession(session=found, messages=read)
