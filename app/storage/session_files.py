"""The files that are made in sessions, every version of them, and a log of what was done to them.

`files/<session id>/` has the files as they are now. `.versions` in it has what they held, each once by its
hash, and the log, with lines as in a session's. A file is written before its line: what is newer than the log
comes from a process that was killed, or from the user with another program, and is taken in as a version.
Links are never followed.
"""

import contextlib
import io
import os
import shutil
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import replace
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TypeVar
from unicodedata import normalize

from app.core import session_files
from app.core.errors import BadInput, MootError, NotFound
from app.core.ids import is_id, utc_now
from app.core.session_files import MOST_BYTES, USER, BadPathError, FileVersion, Make, Writer, folded, is_usual
from app.core.store import FilesSize, SessionFiles
from app.storage.access import FolderDisk, is_folder, problem_of, real_folder
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
# What `drop_old` took away.
ASIDE = "aside"
# Of so many sessions what the log says is kept.
_MOST_KEPT = 8
# Of a chosen folder's files the names of so many are looked at.
_MOST_SEEN = 200_000


class VersionedFiles(SessionFiles):
    """Keeps the files of all sessions of a data directory; with `read_only` it writes nothing
    and takes nothing in.

    In a folder that the user chose instead, a session knows the files that it has written and those that came
    while it ran; each has a version 0 first: what it held before, or that it was not there. `files/<session
    id>/` then has only `.versions`.

    `on_written` is told each new line, in another thread. `chosen` returns the folder that the user chose for
    a session, "" for its own, and `named` the paths of the files there that are closed otherwise.
    """

    def __init__(
        self,
        paths: DataPaths,
        *,
        read_only: bool = False,
        file_system: FileSystem | None = None,
        on_written: Callable[[str, FileVersion], None] = lambda _id, _version: None,
        chosen: Callable[[str], str] = lambda _id: "",
        named: Callable[[str], Container[str]] = lambda _id: (),
    ) -> None:
        self._paths = paths
        self._read_only = read_only
        self._disk = file_system or FileSystem()
        self._on_written = on_written
        self._chosen, self._named = chosen, named
        self._threads = OneAtATime("moot-files")
        # The hash of what a file held when it was last looked at.
        self._hashes: dict[Path, tuple[FileId, str]] = {}
        # What the logs said that were read last.
        self._folders: dict[str, _Folder] = {}

    async def list(self, session_id: str) -> tuple[FileVersion, ...]:
        return await self._run(session_id, lambda files: files.written())

    async def others(self, session_id: str) -> tuple[str, ...]:
        return await self._run(session_id, lambda files: files.others())

    async def seen(self, session_id: str) -> frozenset[int]:
        return await self._run(session_id, lambda files: files.seen())

    async def take_in_new(self, session_id: str, seen: frozenset[int]) -> None:
        await self._run(session_id, lambda files: files.take_in_new(seen))

    async def checked_folder(self, folder: str) -> str:
        return await self._threads.run(lambda: real_folder(folder, self._paths.root))

    async def sizes(self, session_ids: Iterable[str]) -> dict[str, FilesSize]:
        def look() -> dict[str, FilesSize]:
            found = {}
            for id_ in session_ids:
                with contextlib.suppress(MootError):
                    found[id_] = self._work_in(id_, lambda files: files.size())
            return found

        return await self._threads.run(look)

    async def drop_old(self, session_id: str) -> None:
        await self._run(session_id, lambda files: files.drop_old())

    async def bring_back_old(self, session_id: str) -> None:
        await self._run(session_id, lambda files: files.bring_back_old())

    async def versions(self, session_id: str) -> tuple[FileVersion, ...]:
        return await self._run(session_id, lambda files: tuple(files.lines))

    async def read(self, session_id: str, path: str, version: int | None = None) -> tuple[FileVersion, bytes]:
        return await self._run(session_id, lambda files: files.read(path, version))

    async def write(self, session_id: str, path: str, make: Make, by: Writer = USER) -> FileVersion:
        return await self._run(session_id, lambda files: files.write(path, make, by))

    async def move(self, session_id: str, source: str, target: str, by: Writer = USER) -> FileVersion:
        return await self._run(session_id, lambda files: files.move(source, target, by))

    async def delete(self, session_id: str, path: str, by: Writer = USER) -> FileVersion:
        return await self._run(session_id, lambda files: files.delete(path, by))

    def folder(self, session_id: str) -> str:
        return self._chosen(session_id) or str(self._paths.files / session_id)

    async def _run(self, session_id: str, work: "Callable[[_Folder], Result]") -> Result:
        if not is_id(session_id):
            raise NotFound("session_not_found", session=session_id[:80])
        return await self._threads.run(lambda: self._work_in(session_id, work))

    def _work_in(self, session_id: str, work: "Callable[[_Folder], Result]") -> Result:
        folder = self._paths.files / session_id
        chosen = self._chosen(session_id)
        named = self._named(session_id) if chosen else ()
        with storage_errors(Path(chosen) if chosen else folder):
            files = self._folders.pop(session_id, None)
            if files is None or not files.goes_on(chosen, named):
                tell = partial(self._on_written, session_id)
                files = _Folder(self._disk, folder, self._hashes, tell, chosen, named)
            self._folders[session_id] = files
            if len(self._folders) > _MOST_KEPT:
                del self._folders[next(iter(self._folders))]
            files.problem = problem_of(chosen, self._paths.root) if chosen else None
            if not self._read_only and files.problem is None:
                files.take_in()
            return work(files)


class _Folder:
    """The folder of one session: the `lines` of its log, and the files that are there `now`, by path.

    In a `chosen` folder these are the files that the session knows; `problem` says why it cannot be used.
    """

    def __init__(
        self,
        disk: FileSystem,
        folder: Path,
        hashes: dict[Path, tuple[FileId, str]],
        tell: Callable[[FileVersion], None],
        chosen: str = "",
        named: Container[str] = (),
    ) -> None:
        self._disk = disk
        self._folder = folder
        self._versions = folder / VERSIONS
        self._log = self._versions / LOG
        self._chosen, self._named = chosen, named
        self._outside = FolderDisk(Path(chosen)) if chosen else None
        # Where the files are, and the disk for them.
        self._top = Path(chosen) if chosen else folder
        self._inside = self._outside or disk
        self.problem: BadInput | None = None
        self._hashes = hashes
        self._tell = tell
        self._number = 0
        self.lines: list[FileVersion] = []
        self.now: dict[str, FileVersion] = {}
        # The log with just these lines, None for none.
        self._as_read = self._log_id()
        with contextlib.suppress(FileNotFoundError):
            for number, version in versions_of(disk.read(self._log), self._named):
                self._number = number
                self._note(version)

    def goes_on(self, chosen: str, named: Container[str]) -> bool:
        """Begin again with what the log says; return False where it has other lines by now,
        or the user chose otherwise.
        """
        self.now = {path: version for path, version in self._newest().items() if not version.gone}
        return (chosen, named, self._log_id()) == (self._chosen, self._named, self._as_read)

    def _log_id(self) -> FileId | None:
        with contextlib.suppress(FileNotFoundError):
            return self._disk.identity(self._log)
        return None

    def written(self) -> tuple[FileVersion, ...]:
        """Return the newest version of each file that is there and that the session has written."""
        return tuple(self.now[path] for path in sorted(self.now) if self.now[path].version)

    def take_in(self) -> None:
        """Write lines for what is on the disk and not in the log, of a chosen folder for what is known.
        Raises OSError.
        """
        there = dict(self._known() if self._outside else self._scan(self._top, ""))
        for path in [item for item in self.now if item not in there]:
            self._add(self._gone(path))
        for path, found in there.items():
            known = self.now.pop(path, None) if found.size > MOST_BYTES else self.now.get(path)
            try:
                digest = self._hash(path, found) if found.size <= MOST_BYTES else ""
            except (FileNotFoundError, PermissionError):
                # It is gone meanwhile, or the user has forbidden to read it.
                continue
            if known is not None and known.sha256 == digest:
                continue
            try:
                self._check_room(path, digest, found.size)
            except BadInput:
                # It is no file of the session as long as there is no room, and nothing is written over it.
                self.now.pop(path, None)
            else:
                self._add(self._kept(path, self._held(self._top / path) or b""))

    def seen(self) -> frozenset[int]:
        """Return the hashes of the paths in a chosen folder."""
        return frozenset(map(hash, islice(self.paths(), _MOST_SEEN)))

    def take_in_new(self, seen: frozenset[int]) -> None:
        """Write lines for the files of a chosen folder whose paths were not seen before, as far
        as there is room.
        """
        new = (path for path in self.paths() if hash(path) not in seen and is_usual(path, self._named))
        for path in islice(new, session_files.MOST_FILES if len(seen) < _MOST_SEEN else 0):
            self._keep_original(path, None)
        self.take_in()

    def others(self) -> tuple[str, ...]:
        """Return the paths of a chosen folder's files that the session has not written, a few more
        than are listed at most.
        """
        mine = {version.path for version in self.written()}
        found = (path for path in self.paths() if path not in mine and is_usual(path, self._named))
        return tuple(islice(found, session_files.MOST_LISTED + 1))

    def paths(self) -> Iterator[str]:
        """Yield the paths of a chosen folder's files, the outer ones first, whatever their names,
        but none in hidden folders.
        """
        if self.problem is not None:
            raise self.problem
        if self._outside is None:
            return
        folders = [""]
        for folder in folders:
            with contextlib.suppress(OSError):
                entries = self._outside.entries(self._top / folder)
                folders += sorted(f"{folder}{name}/" for name, inside in entries if inside and is_usual(name))
                yield from sorted(f"{folder}{name}" for name, inside in entries if not inside)

    def take(self, log: bytes, content: Callable[[str], bytes | None]) -> None:
        """Begin with the lines of another log and what `content` returns by its hash; both may come
        from anywhere.
        """
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
        lines = (encode_line(number, [_op(line)]) for number, line in enumerate(self.lines, 1))
        write_whole(self._disk, self._log, b"".join(lines))

    def read(self, path: str, version: int | None) -> tuple[FileVersion, bytes]:
        """Return a version and what it holds."""
        if version is None:
            found = self._there(path)
            return found, self._held(self._place(found.path)) or b""
        path = normalize("NFC", path)
        same = (line for line in self.lines if (line.path, line.version) == (path, version) and not line.gone)
        if (kept := next(same, None)) is None:
            raise NotFound("file_version_not_found", path=path, version=version)
        return kept, self._disk.read(self._versions / kept.sha256)

    def write(self, path: str, make: Make, by: Writer) -> FileVersion:
        """Write a file and its line."""
        path = session_files.checked_path(path, self._named)
        before = self._found(path)
        place = self._place(path, is_new=before is None)
        held = self._held(place)
        data = make(before, held or b"")
        if before is not None and before.sha256 == sha256(data).hexdigest():
            return before
        self._keep_original(path, held)
        version = self._kept(path, data, by)
        with replacing(self._inside, place, self._fresh(place)) as descriptor:
            write_all(self._inside, descriptor, data)
            self._inside.sync(descriptor)
            self._hashes[place] = (self._inside.identity(descriptor), version.sha256)
            if before is not None and self._outside is not None:
                self._outside.copy_mode(place, descriptor)
            there = self._held(place)
            if there != held or (before and sha256(there or b"").hexdigest() != before.sha256):
                raise BadInput("file_changed", path=path)
        self._add(version)
        return version

    def move(self, source: str, target: str, by: Writer) -> FileVersion:
        """Rename a file and write the lines of both paths."""
        before, target = self._there(source), session_files.checked_path(target, self._named)
        source = before.path
        if target in self.now:
            raise BadInput("file_is_there", path=target)
        session_files.check_beside(target, (item for item in self._beside(target) if item != source))
        # Where case does not count, the file itself is already at a path that differs by case alone.
        from_place = self._place(source)
        place = self._place(target, is_new=folded(source) != folded(target))
        self._keep_original(source, self._held(from_place))
        self._keep_original(target, None)
        version = self._version(target, before.bytes, before.sha256, by, source)
        gone = self._gone(source, by)
        self._inside.make_folder(place.parent)
        self._inside.replace(from_place, place)
        self._inside.sync_folder(place.parent)
        self._forget(from_place)
        self._add(gone, version)
        return version

    def delete(self, path: str, by: Writer) -> FileVersion:
        """Delete a file and write the line that says so."""
        path = self._there(path).path
        place = self._place(path)
        self._keep_original(path, self._held(place))
        gone = self._gone(path, by)
        self._inside.remove(place)
        self._forget(place)
        self._add(gone)
        return gone

    def size(self) -> FilesSize:
        """Return what all versions take."""
        sizes, newest = {line.sha256: line.bytes for line in self.lines}, self._newest().values()
        old = sum(sizes[digest] for digest in sizes.keys() - {version.sha256 for version in newest})
        return FilesSize(files=len(self.written()), size=sum(sizes.values()), old=old)

    def drop_old(self) -> None:
        """Put the log aside, and what the newest version of no file holds;
        what was put aside before is deleted.
        """
        aside, log = self._versions / ASIDE, self._disk.read(self._log)
        # Also those whose name the user has taken back.
        lines = [version for _, version in versions_of(log, None)]
        newest = {line.path: line for line in lines}.values()
        digests = {line.sha256 for line in lines if not line.gone} - {new.sha256 for new in newest}
        if not digests:
            return
        remove_folder(aside)
        write_whole(self._disk, aside / LOG, log)
        # Of what is gone the line is kept, for the number of its next version.
        write_whole(self._disk, self._log, encode_line(self._number + 1, list(map(_op, newest))))
        try:
            for digest in digests:
                self._disk.replace(self._versions / digest, aside / digest)
        except OSError:
            self.bring_back_old()
            raise

    def bring_back_old(self) -> None:
        """Bring back what was put aside."""
        aside = self._versions / ASIDE
        whole, (_, _, since) = self._disk.read(aside / LOG), self._disk.read(self._log).partition(b"\n")
        for stat in self._disk.scan(aside):
            if stat.name != LOG:
                self._disk.replace(aside / stat.name, self._versions / stat.name)
        write_whole(self._disk, self._log, whole + since)
        remove_folder(aside)

    def _newest(self) -> dict[str, FileVersion]:
        return {line.path: line for line in self.lines}

    def _note(self, version: FileVersion) -> None:
        self.lines.append(version)
        if version.gone:
            self.now.pop(version.path, None)
        else:
            self.now[version.path] = version

    def _there(self, path: str) -> FileVersion:
        found = self.now.get(normalize("NFC", path))
        if found is None and self._outside is not None:
            found = self._found(session_files.checked_path(path, self._named))
        if found is None:
            raise NotFound("file_not_found", path=path)
        return found

    def _found(self, path: str) -> FileVersion | None:
        """Return the file that has a path, one that the session does not know as version 0; None for none.

        Raises BadPathError for a path that cannot stand beside what is there.
        """
        if (found := self.now.get(path)) is not None:
            return found
        session_files.check_beside(path, self._beside(path))
        if self._outside is None or (data := self._held(self._place(path))) is None:
            return None
        return FileVersion(path=path, version=0, bytes=len(data), sha256=sha256(data).hexdigest())

    def _beside(self, path: str) -> Iterator[str]:
        """Yield what a path must stand beside: of a chosen folder what is in each folder on the way,
        unless the next part is.

        Folders end with a slash.
        """
        if self._outside is None:
            yield from self.now
            return
        folder = ""
        with contextlib.suppress(OSError):
            for name in path.split("/"):
                entries = dict(self._outside.entries(self._top / folder))
                shown = [name] if name in entries else entries
                yield from (f"{folder}{item}{'/' if entries[item] else ''}" for item in shown)
                folder += f"{name}/"

    def _held(self, place: Path) -> bytes | None:
        """Return what a file holds, None where there is no plain file.
        Raises BadInput for one that is too large.
        """
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            self._inside.identity(place)
            with self._inside.open_read(place) as file:
                if self._inside.identity(file.fileno()).size > MOST_BYTES:
                    raise BadInput("file_too_large_mb", name=place.name, most=MOST_BYTES // 1_000_000)
                return file.read(MOST_BYTES)
        return None

    def _keep_original(self, path: str, held: bytes | None) -> None:
        """Keep what a file of a chosen folder holds that the log does not have, before it is changed;
        None is for no file.

        The first line of a file is its version 0. Raises BadInput where there is no room.
        """
        if self._outside is not None and path not in self.now:
            nothing = FileVersion(path=path, version=0, created_at=utc_now())
            self._add(nothing if held is None else self._kept(path, held))

    def _fresh(self, place: Path) -> Path:
        """Return where the new contents of a file are until they take its place: on the same disk."""
        return place.with_name(f".{self._folder.name}.tmp") if self._outside else self._versions / FRESH

    def _known(self) -> Iterator[tuple[str, FileId]]:
        """Yield the files of a chosen folder that the session knows and that are there, by path.

        What a process that was killed left beside them is removed.
        """
        places = {line.path: self._top / line.path for line in self.lines}
        for left in {self._fresh(place) for place in places.values()}:
            with contextlib.suppress(OSError):
                self._inside.remove(left)
        for path, place in places.items():
            with contextlib.suppress(OSError):
                yield path, self._inside.identity(place)

    def _place(self, path: str, *, is_new: bool = False) -> Path:
        """Return where a file is, or shall be.
        Raises BadPathError where the way leads over a link, or something is there.
        """
        if self.problem is not None:
            raise self.problem
        place = self._top
        names = path.split("/")
        for name in ("", *names[:-1]):
            place /= name
            if os.path.lexists(place) and not is_folder(place):
                raise BadPathError(path, f"{path!r} leads over a link or something else that is no folder")
        place /= names[-1]
        if os.path.lexists(place) and (is_new or not self._inside.exists(place)):
            raise BadPathError(path, f"{path!r} is there already, and is no file of this session")
        return place

    def _scan(self, folder: Path, before: str) -> Iterator[tuple[str, FileId]]:
        """Yield the files that are there, by path, without links and what has another kind of name."""
        try:
            entries = sorted(os.scandir(folder), key=lambda item: item.name)
        except FileNotFoundError:
            return
        for entry in entries:
            place, path = Path(entry.path), before + entry.name
            with contextlib.suppress(BadPathError, FileNotFoundError):
                if session_files.checked_path(path) != path:
                    continue
                if is_folder(place):
                    yield from self._scan(place, f"{path}/")
                else:
                    yield path, self._disk.identity(place)

    def _hash(self, path: str, found: FileId) -> str:
        place = self._top / path
        known, digest = self._hashes.get(place, (None, ""))
        if known != found:
            if (data := self._held(place)) is None:
                raise FileNotFoundError(place)
            digest = sha256(data).hexdigest()
            self._hashes[place] = (found, digest)
        return digest

    def _kept(self, path: str, data: bytes, by: Writer = USER) -> FileVersion:
        """Keep what a file is to hold and return its next version. Raises BadInput where there is no room."""
        digest = sha256(data).hexdigest()
        self._check_room(path, digest, len(data))
        if not self._disk.exists(self._versions / digest):
            write_whole(self._disk, self._versions / digest, data)
        return self._version(path, len(data), digest, by)

    def _check_room(self, path: str, digest: str, size: int) -> None:
        if path not in self.now and len(self.now) >= session_files.MOST_FILES:
            raise BadInput("too_many_files", most=session_files.MOST_FILES)
        sizes = {line.sha256: line.bytes for line in self.lines}
        if sum({**sizes, digest: size}.values()) > MOST_BYTES:
            raise BadInput("files_too_large", most=MOST_BYTES // 1_000_000)

    def _version(self, path: str, size: int, digest: str, by: Writer, moved_from: str = "") -> FileVersion:
        first = 0 if self._outside is None else -1
        last = max((line.version for line in self.lines if line.path == path), default=first)
        made = FileVersion(path=path, version=last + 1, created_at=utc_now(), **by._asdict())
        return replace(made, bytes=size, sha256=digest, moved_from=moved_from)

    def _gone(self, path: str, by: Writer = USER) -> FileVersion:
        if (last := self.now.get(path)) is None:
            # Another program took it away between a look and this.
            raise NotFound("file_not_found", path=path)
        return FileVersion(path=path, version=last.version, created_at=utc_now(), **by._asdict())

    def _forget(self, place: Path) -> None:
        """Remove the folders that a file has left empty, but none of the user's."""
        self._hashes.pop(place, None)
        self._inside.sync_folder(place.parent)
        with contextlib.suppress(OSError):
            while self._outside is None and (place := place.parent) != self._folder:
                place.rmdir()

    def _add(self, *versions: FileVersion) -> None:
        """Write one line, which takes effect whole or not at all."""
        self._number += 1
        line = encode_line(self._number, list(map(_op, versions)))
        size = len(line) + (self._as_read.size if self._as_read else 0)
        self._disk.make_folder(self._versions)
        try:
            descriptor = self._disk.open(self._log)
        except FileNotFoundError:
            descriptor = self._disk.create(self._log)
        try:
            mended_size(self._disk, self._log, descriptor)
            write_all(self._disk, descriptor, line)
            self._disk.sync(descriptor)
            written = self._disk.identity(descriptor)
        finally:
            self._disk.close(descriptor)
        self._disk.sync_folder(self._versions)
        for version in versions:
            self._note(version)
            # A version 0 that nobody made is the user's own.
            if version.version or version.author:
                self._tell(version)
        # What another process has written meanwhile is read the next time.
        self._as_read = written if written.size == size else None


def versions_of(data: bytes, named: Container[str] | None = ()) -> Iterator[tuple[int, FileVersion]]:
    """Yield the versions in a log, each with the number of its line, without those that no Moot has
    written; of hidden files those that are `named`, or with None all.
    """
    for line in by_number(filter(None, read_lines(io.BytesIO(data)))):
        for op in line.ops:
            version = read(FileVersion, op.get(_OP), []) if op.get("op") == _OP else None
            if version is None or not is_digest(version.sha256 or "0" * 64):
                continue
            if is_usual(version.path, (version.path,) if named is None else named):
                yield line.number, version


def is_digest(text: str) -> bool:
    """Return whether a text is a hash as files are kept by."""
    return len(text) == 64 and all(item in "0123456789abcdef" for item in text)


def _op(version: FileVersion) -> Op:
    return {"op": _OP, _OP: plain(version)}


def bring_in(disk: FileSystem, folder: Path, log: bytes, content: Callable[[str], bytes | None]) -> None:
    """Make the folder of a session from a log and what `content` returns by its hash, unless there is one.
    Raises OSError.
    """
    if not os.path.lexists(folder):
        _Folder(disk, folder, {}, lambda _: None).take(log, content)


def move_folder(disk: FileSystem, source: Path, target: Path) -> None:
    """Move the folder of a session, if there is one. Raises OSError."""
    if os.path.lexists(source):
        disk.move(source, target)


def remove_folder(folder: Path) -> None:
    """Delete the folder of a session for good, as far as the system lets it."""
    shutil.rmtree(folder, ignore_errors=True)
