"""The files that are made in sessions, every version of them, and a log of what was done to them.

`files/<session id>/` has the files as they are now. `.versions` in it has what they held, each once by its hash, and the log,
with lines as in a session's. A file is written before its line: what is newer than the log comes from a process that was killed,
or from the user with another program, and is taken in as a version. Links are never followed.
"""

import contextlib
import io
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from stat import S_ISDIR
from typing import TypeVar
from unicodedata import normalize

from app.core import session_files
from app.core.errors import BadInput, NotFound
from app.core.ids import is_id, utc_now
from app.core.store import SessionFiles
from app.storage.codec import plain, read
from app.storage.file_system import FileId, FileSystem, replacing, storage_errors, write_all, write_whole
from app.storage.lines import Op, by_number, encode_line, read_lines
from app.storage.log import mended_size
from app.storage.paths import DataPaths
from app.storage.threads import OneAtATime

Result = TypeVar("Result")

VERSIONS = ".versions"
LOG = "log.jsonl"
# How the folder of a deleted session ends in the trash.
FOLDER = ".files"
_OP = "file"
FRESH = "fresh"
_JUNCTION = 0xA0000003


class VersionedFiles(SessionFiles):
    """Keeps the files of all sessions of a data directory; with `read_only` it writes nothing and takes nothing in.

    `on_written` is told each new line, in another thread.
    """

    def __init__(
        self,
        paths: DataPaths,
        *,
        read_only: bool = False,
        file_system: FileSystem | None = None,
        on_written: Callable[[str, session_files.FileVersion], None] = lambda _id, _version: None,
    ) -> None:
        self._paths = paths
        self._read_only = read_only
        self._disk = file_system or FileSystem()
        self._on_written = on_written
        self._threads = OneAtATime("moot-files")
        # The hash of what a file held when it was last looked at.
        self._hashes: dict[Path, tuple[FileId, str]] = {}

    async def list(self, session_id: str) -> tuple[session_files.FileVersion, ...]:
        return await self._run(session_id, lambda files: tuple(files.now[path] for path in sorted(files.now)))

    async def counts(self, session_ids: Iterable[str]) -> dict[str, int]:
        def count() -> dict[str, int]:
            return {one: self._work_in(one, lambda files: len(files.now)) for one in session_ids}

        return await self._threads.run(count)

    async def versions(self, session_id: str) -> tuple[session_files.FileVersion, ...]:
        return await self._run(session_id, lambda files: tuple(files.lines))

    async def read(
        self, session_id: str, path: str, version: int | None = None
    ) -> tuple[session_files.FileVersion, bytes]:
        return await self._run(session_id, lambda files: files.read(path, version))

    async def write(
        self,
        session_id: str,
        path: str,
        make: session_files.Make,
        by: session_files.Writer = session_files.USER,
    ) -> session_files.FileVersion:
        return await self._run(session_id, lambda files: files.write(path, make, by))

    async def move(
        self, session_id: str, source: str, target: str, by: session_files.Writer = session_files.USER
    ) -> session_files.FileVersion:
        return await self._run(session_id, lambda files: files.move(source, target, by))

    async def delete(
        self, session_id: str, path: str, by: session_files.Writer = session_files.USER
    ) -> session_files.FileVersion:
        return await self._run(session_id, lambda files: files.delete(path, by))

    def folder(self, session_id: str) -> str:
        return str(self._paths.files / session_id)

    async def _run(self, session_id: str, work: "Callable[[_Folder], Result]") -> Result:
        if not is_id(session_id):
            raise NotFound("session_not_found", session=session_id[:80])
        return await self._threads.run(lambda: self._work_in(session_id, work))

    def _work_in(self, session_id: str, work: "Callable[[_Folder], Result]") -> Result:
        folder = self._paths.files / session_id
        with storage_errors(folder):
            files = _Folder(self._disk, folder, self._hashes, partial(self._on_written, session_id))
            if not self._read_only:
                files.take_in()
            return work(files)


class _Folder:
    """The folder of one session: the `lines` of its log, and the files that are there `now`, by path."""

    def __init__(
        self,
        disk: FileSystem,
        folder: Path,
        hashes: dict[Path, tuple[FileId, str]],
        tell: Callable[[session_files.FileVersion], None],
    ) -> None:
        self._disk = disk
        self._folder = folder
        self._hashes = hashes
        self._tell = tell
        self._number = 0
        self.lines: list[session_files.FileVersion] = []
        self.now: dict[str, session_files.FileVersion] = {}
        with contextlib.suppress(FileNotFoundError):
            for number, version in versions_of(disk.read(self._log)):
                self._number = number
                self._note(version)

    def take_in(self) -> None:
        """Write lines for what is on the disk and not in the log. Raises OSError."""
        there = dict(self._scan(self._folder, ""))
        for path in [one for one in self.now if one not in there]:
            self._add(self._gone(path))
        for path, found in there.items():
            known = self.now.pop(path, None) if found.size > session_files.MOST_BYTES else self.now.get(path)
            digest = self._hash(path, found) if found.size <= session_files.MOST_BYTES else ""
            if known is not None and known.sha256 == digest:
                continue
            try:
                self._check_room(path, digest, found.size)
            except BadInput:
                # It is no file of the session as long as there is no room, and nothing is written over it.
                self.now.pop(path, None)
            else:
                self._add(self._kept(path, self._disk.read(self._folder / path)))

    def take(self, log: bytes, content: Callable[[str], bytes | None]) -> None:
        """Begin with the lines of another log and what `content` returns by its hash; both may come from anywhere."""
        held: dict[str, bytes] = {}
        for _, version in versions_of(log):
            data = None if version.gone else held.get(version.sha256) or content(version.sha256)
            if data is not None and sha256(data).hexdigest() == version.sha256:
                with contextlib.suppress(BadInput):
                    session_files.check_beside(version.path, self.now)
                    self._check_room(version.path, version.sha256, len(data))
                    held[version.sha256] = data
                    self._note(replace(version, bytes=len(data)))
            elif version.gone and version.path in self.now:
                self._note(version)
        for digest, data in held.items():
            write_whole(self._disk, self._versions / digest, data)
        for version in self.now.values():
            write_whole(self._disk, self._folder / version.path, held[version.sha256])
        lines = (encode_line(number, [_op(one)]) for number, one in enumerate(self.lines, 1))
        write_whole(self._disk, self._log, b"".join(lines))

    def read(self, path: str, version: int | None) -> tuple[session_files.FileVersion, bytes]:
        """Return a version and what it holds."""
        if version is None:
            found = self._there(path)
            return found, self._disk.read(self._place(found.path))
        path = normalize("NFC", path)
        same = (one for one in self.lines if (one.path, one.version) == (path, version) and not one.gone)
        if (kept := next(same, None)) is None:
            raise NotFound("file_version_not_found", path=path, version=version)
        return kept, self._disk.read(self._versions / kept.sha256)

    def write(
        self, path: str, make: session_files.Make, by: session_files.Writer
    ) -> session_files.FileVersion:
        """Write a file and its line."""
        path = session_files.checked_path(path)
        before = self.now.get(path)
        if before is None:
            session_files.check_beside(path, self.now)
        place = self._place(path, is_new=before is None)
        data = make(before, self._disk.read(place) if before else b"")
        if before is not None and before.sha256 == sha256(data).hexdigest():
            return before
        version = self._kept(path, data, by)
        with replacing(self._disk, place, self._versions / FRESH) as descriptor:
            write_all(self._disk, descriptor, data)
            self._disk.sync(descriptor)
            self._hashes[place] = (self._disk.identity(descriptor), version.sha256)
        self._add(version)
        return version

    def move(self, source: str, target: str, by: session_files.Writer) -> session_files.FileVersion:
        """Rename a file and write the lines of both paths."""
        before, target = self._there(source), session_files.checked_path(target)
        source = before.path
        if target in self.now:
            raise BadInput("file_is_there", path=target)
        session_files.check_beside(target, (one for one in self.now if one != source))
        # Where case does not count, the file itself is already at a path that differs by case alone.
        from_place, place = (
            self._place(source),
            self._place(target, is_new=session_files.folded(source) != session_files.folded(target)),
        )
        version = self._version(target, before.bytes, before.sha256, by, source)
        self._disk.make_folder(place.parent)
        self._disk.replace(from_place, place)
        self._disk.sync_folder(place.parent)
        self._forget(from_place)
        self._add(self._gone(source, by), version)
        return version

    def delete(self, path: str, by: session_files.Writer) -> session_files.FileVersion:
        """Delete a file and write the line that says so."""
        path = self._there(path).path
        place = self._place(path)
        self._disk.remove(place)
        self._forget(place)
        gone = self._gone(path, by)
        self._add(gone)
        return gone

    @property
    def _versions(self) -> Path:
        return self._folder / VERSIONS

    @property
    def _log(self) -> Path:
        return self._versions / LOG

    def _note(self, version: session_files.FileVersion) -> None:
        self.lines.append(version)
        if version.gone:
            self.now.pop(version.path, None)
        else:
            self.now[version.path] = version

    def _there(self, path: str) -> session_files.FileVersion:
        if (found := self.now.get(normalize("NFC", path))) is None:
            raise NotFound("file_not_found", path=path)
        return found

    def _place(self, path: str, *, is_new: bool = False) -> Path:
        """Return where a file is, or shall be. Raises BadPathError where the way leads over a link, or something is there."""
        place = self._folder
        names = path.split("/")
        for name in ("", *names[:-1]):
            place /= name
            if os.path.lexists(place) and not is_folder(place):
                raise session_files.BadPathError(
                    path, f"{path!r} leads over a link or something else that is no folder"
                )
        place /= names[-1]
        if os.path.lexists(place) and (is_new or not self._disk.exists(place)):
            raise session_files.BadPathError(
                path, f"{path!r} is there already, and is no file of this session"
            )
        return place

    def _scan(self, folder: Path, before: str) -> Iterator[tuple[str, FileId]]:
        """Yield the files that are there, by path, without links and what has another kind of name."""
        try:
            entries = sorted(os.scandir(folder), key=lambda one: one.name)
        except FileNotFoundError:
            return
        for entry in entries:
            place, path = Path(entry.path), before + entry.name
            with contextlib.suppress(session_files.BadPathError, FileNotFoundError):
                if session_files.checked_path(path) != path:
                    continue
                if is_folder(place):
                    yield from self._scan(place, f"{path}/")
                else:
                    yield path, self._disk.identity(place)

    def _hash(self, path: str, found: FileId) -> str:
        place = self._folder / path
        known, digest = self._hashes.get(place, (None, ""))
        if known != found:
            digest = sha256(self._disk.read(place)).hexdigest()
            self._hashes[place] = (found, digest)
        return digest

    def _kept(
        self, path: str, data: bytes, by: session_files.Writer = session_files.USER
    ) -> session_files.FileVersion:
        """Keep what a file is to hold and return its next version. Raises BadInput where there is no room."""
        digest = sha256(data).hexdigest()
        self._check_room(path, digest, len(data))
        if not self._disk.exists(self._versions / digest):
            write_whole(self._disk, self._versions / digest, data)
        return self._version(path, len(data), digest, by)

    def _check_room(self, path: str, digest: str, size: int) -> None:
        if path not in self.now and len(self.now) >= session_files.MOST_FILES:
            raise BadInput("too_many_files", most=session_files.MOST_FILES)
        sizes = {one.sha256: one.bytes for one in self.lines}
        if sum({**sizes, digest: size}.values()) > session_files.MOST_BYTES:
            raise BadInput("files_too_large", most=session_files.MOST_BYTES // 1_000_000)

    def _version(
        self, path: str, size: int, digest: str, by: session_files.Writer, moved_from: str = ""
    ) -> session_files.FileVersion:
        return session_files.FileVersion(
            path=path,
            version=1 + max((one.version for one in self.lines if one.path == path), default=0),
            bytes=size,
            sha256=digest,
            created_at=utc_now(),
            moved_from=moved_from,
            **by._asdict(),
        )

    def _gone(self, path: str, by: session_files.Writer = session_files.USER) -> session_files.FileVersion:
        last = self.now[path].version
        return session_files.FileVersion(path=path, version=last, created_at=utc_now(), **by._asdict())

    def _forget(self, place: Path) -> None:
        """Remove the folders that a file has left empty."""
        self._hashes.pop(place, None)
        self._disk.sync_folder(place.parent)
        with contextlib.suppress(OSError):
            while (place := place.parent) != self._folder:
                place.rmdir()

    def _add(self, *versions: session_files.FileVersion) -> None:
        """Write one line, which takes effect whole or not at all."""
        self._number += 1
        self._disk.make_folder(self._versions)
        try:
            descriptor = self._disk.open(self._log)
        except FileNotFoundError:
            descriptor = self._disk.create(self._log)
        try:
            mended_size(self._disk, self._log, descriptor)
            write_all(self._disk, descriptor, encode_line(self._number, list(map(_op, versions))))
            self._disk.sync(descriptor)
        finally:
            self._disk.close(descriptor)
        self._disk.sync_folder(self._versions)
        for version in versions:
            self._note(version)
            self._tell(version)


def is_folder(path: Path) -> bool:
    """Return whether a path is a folder itself and no link to one. Raises FileNotFoundError."""
    found = os.lstat(path)
    # A junction of Windows is a folder by its mode.
    return S_ISDIR(found.st_mode) and getattr(found, "st_reparse_tag", 0) != _JUNCTION


def versions_of(data: bytes) -> Iterator[tuple[int, session_files.FileVersion]]:
    """Yield the versions in a log, each with the number of its line, without those that no Moot has written."""
    for line in by_number(filter(None, read_lines(io.BytesIO(data)))):
        for op in line.ops:
            version = read(session_files.FileVersion, op.get(_OP), []) if op.get("op") == _OP else None
            if version is not None and _is_sound(version):
                yield line.number, version


def _is_sound(version: session_files.FileVersion) -> bool:
    with contextlib.suppress(session_files.BadPathError):
        return session_files.checked_path(version.path) == version.path and is_digest(
            version.sha256 or "0" * 64
        )
    return False


def is_digest(text: str) -> bool:
    """Return whether a text is a hash as files are kept by."""
    return len(text) == 64 and all(one in "0123456789abcdef" for one in text)


def _op(version: session_files.FileVersion) -> Op:
    return {"op": _OP, _OP: plain(version)}


def bring_in(disk: FileSystem, folder: Path, log: bytes, content: Callable[[str], bytes | None]) -> None:
    """Make the folder of a session from a log and what `content` returns by its hash, unless there is one. Raises OSError."""
    if not os.path.lexists(folder):
        _Folder(disk, folder, {}, lambda _: None).take(log, content)


def move_folder(disk: FileSystem, source: Path, target: Path) -> None:
    """Move the folder of a session, if there is one. Raises OSError."""
    if os.path.lexists(source):
        disk.make_folder(target.parent)
        disk.replace(source, target)
        disk.sync_folder(target.parent)
        disk.sync_folder(source.parent)


def remove_folder(folder: Path) -> None:
    """Delete the folder of a session for good, as far as the system lets it."""
    shutil.rmtree(folder, ignore_errors=True)
