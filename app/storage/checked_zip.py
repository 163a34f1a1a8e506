"""Reads a zip file that anybody may have made: sizes, names and kinds of its entries are checked first.

What it unpacks to is counted while it is read, whatever it says of itself. Used by restore and import.
"""

import stat
import zipfile
import zlib
from lzma import LZMAError
from pathlib import Path
from typing import NamedTuple

from app.core.errors import BadInput

_CHUNK = 1 << 20


class Limits(NamedTuple):
    """What a zip may be: bytes of the file, bytes it unpacks to, bytes of one entry, and entries.

    It may unpack to `ratio` times its size, and to a megabyte in any case.
    """

    file: int
    unpacked: int
    entry: int
    entries: int
    ratio: int = 100


class CheckedZip:
    """An open zip file; everything here may block and raises BadInput for what it should not hold."""

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
        """Let go of the file."""
        self._file.close()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the files in it, in their order."""
        return tuple(self._entries)

    def read(self, name: str) -> bytes:
        """Return one file whole. Raises KeyError for one that is not there."""
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
        except (
            OSError,
            EOFError,
            zlib.error,
            zipfile.BadZipFile,
            NotImplementedError,
            RuntimeError,
            LZMAError,
        ) as error:
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
            odd = (
                name.startswith("/")
                or "\\" in info.orig_filename
                or ":" in name
                or "\0" in info.orig_filename
                or any(part in ("", ".", "..") for part in parts)
                or name in entries
                or (stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR))
                or info.flag_bits & 1  # locked with a password
            )
            if odd:
                raise self._refusal("zip_odd_entry", entry=name[:120])
            if not info.is_dir():
                entries[name] = info
        return entries

    def _refusal(self, code: str, **details: object) -> BadInput:
        return BadInput(code, name=self._path.name, **details)
