"""A disk in memory that remembers what was not synced, so that a test can cut the power anywhere.

Un-synced writes may be kept, lost, torn at a byte or filled with NULs; of un-synced names any
prefix may survive. After the chosen call every further call fails, as on a machine that is off.
"""

import errno
import io
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from app.storage.file_system import FileId, FileStat, FileSystem, Stamp


class Inode:
    """One file: the bytes that are safe, the changes that are not, and what a reader sees."""

    def __init__(self) -> None:
        self.safe = b""
        self.changes: list[tuple[str, int, bytes]] = []
        self.seen = bytearray()
        self.mtime_ns = 0

    def after_power_cut(self, chance: random.Random) -> "Inode":
        data = bytearray(self.safe)
        for kind, offset, piece in self.changes:
            fate = chance.choice(("kept", "kept", "lost", "torn", "zeroed"))
            if fate == "lost":
                continue
            if fate == "torn":
                piece = piece[: chance.randrange(len(piece) + 1)]
            elif fate == "zeroed":
                piece = bytes(len(piece))
            _change(data, kind, offset, piece)
        fresh = Inode()
        fresh.safe, fresh.seen, fresh.mtime_ns = bytes(data), data, self.mtime_ns
        return fresh


class SimFS:
    """The calls of `app.storage.file_system.FileSystem` on a disk that can lose its power.

    `off_after` is the number of calls that still work; `fault` may raise an OSError for a call,
    given its number and name.
    """

    def __init__(self) -> None:
        self.names: dict[str, Inode] = {}
        self.safe_names: dict[str, Inode] = {}
        self.name_changes: list[tuple[str, str, str]] = []
        self.off_after: int | None = None
        self.calls = 0
        self.fault: Callable[[int, str, str], OSError | None] = lambda *_: None
        self.short_writes = False
        self.names_ever: dict[int, Inode] = {}
        self._open: dict[int, tuple[Inode, str]] = {}
        self._next = 100
        self._clock = 1

    # The machine.

    def after_power_cut(self, seed: int) -> "SimFS":
        """Return the disk as a machine finds it that was switched off now."""
        chance = random.Random(seed)
        fresh = SimFS()
        names = dict(self.safe_names)
        for change in self.name_changes[: chance.randrange(len(self.name_changes) + 1)]:
            _rename(names, self.names_ever, change)
        fates = {}
        for path, inode in names.items():
            if id(inode) not in fates:
                fates[id(inode)] = inode.after_power_cut(chance)
            fresh.names[path] = fates[id(inode)]
        fresh._settle()
        return fresh

    def after_kill(self) -> "SimFS":
        """Return the disk as a new process finds it after this one was killed."""
        fresh = SimFS()
        fresh.names = dict(self.names)
        fresh.safe_names = dict(self.safe_names)
        fresh.name_changes = list(self.name_changes)
        fresh.names_ever = self.names_ever
        fresh._clock = self._clock
        return fresh

    def _settle(self) -> None:
        self.safe_names = dict(self.names)
        self.names_ever = {id(inode): inode for inode in self.names.values()}
        self.name_changes = []

    def _call(self, name: str, path: str = "") -> None:
        self.calls += 1
        if self.off_after is not None and self.calls > self.off_after:
            raise OSError(errno.EIO, "the power is off")
        error = self.fault(self.calls, name, path)
        if error is not None:
            raise error

    def _tick(self, inode: Inode) -> None:
        self._clock += 1
        inode.mtime_ns = self._clock

    # The calls.

    def make_folder(self, path: Path) -> None:
        pass

    def create(self, path: Path) -> int:
        self._call("create", str(path))
        if str(path) in self.names:
            raise FileExistsError(str(path))
        inode = Inode()
        self.names_ever = {**self.names_ever, id(inode): inode}
        self._tick(inode)
        self.names[str(path)] = inode
        self.name_changes.append(("link", str(path), str(id(inode))))
        return self._descriptor(inode, str(path))

    def open(self, path: Path) -> int:
        self._call("open", str(path))
        if str(path) not in self.names:
            raise FileNotFoundError(str(path))
        return self._descriptor(self.names[str(path)], str(path))

    def _descriptor(self, inode: Inode, path: str) -> int:
        self._next += 1
        self._open[self._next] = (inode, path)
        return self._next

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        inode, path = self._open[descriptor]
        if self.short_writes and len(data) > 1:
            data = data[: len(data) // 2]
        self._call("write", path)
        piece = bytes(data)
        inode.changes.append(("write", len(inode.seen), piece))
        inode.seen.extend(piece)
        self._tick(inode)
        return len(piece)

    def sync(self, descriptor: int) -> None:
        inode, path = self._open[descriptor]
        try:
            self._call("sync", path)
        except OSError:
            # As Linux does: the pages are called clean, the bytes are not on the disk.
            inode.changes.clear()
            raise
        safe = bytearray(inode.safe)
        for kind, offset, piece in inode.changes:
            _change(safe, kind, offset, piece)
        inode.safe = bytes(safe)
        inode.changes.clear()

    def truncate(self, descriptor: int, size: int) -> None:
        inode, path = self._open[descriptor]
        self._call("truncate", path)
        inode.changes.append(("truncate", size, b""))
        del inode.seen[size:]
        self._tick(inode)

    def close(self, descriptor: int) -> None:
        del self._open[descriptor]

    def replace(self, source: Path, target: Path) -> None:
        self._call("replace", str(target))
        if str(source) not in self.names:
            raise FileNotFoundError(str(source))
        change = ("replace", str(source), str(target))
        self.name_changes.append(change)
        _rename(self.names, self.names_ever, change)

    move = FileSystem.move

    def remove(self, path: Path) -> None:
        self._call("remove", str(path))
        if str(path) not in self.names:
            raise FileNotFoundError(str(path))
        self.name_changes.append(("remove", str(path), ""))
        del self.names[str(path)]

    def sync_folder(self, path: Path) -> None:
        self._call("sync_folder", str(path))
        last = 0
        for place, change in enumerate(self.name_changes, 1):
            paths = change[1:2] if change[0] == "link" else change[1:]
            if any(os.path.dirname(one) == str(path) for one in paths if one):
                last = place
        for change in self.name_changes[:last]:
            _rename(self.safe_names, self.names_ever, change)
        del self.name_changes[:last]

    def stat(self, path: Path) -> FileStat:
        self._call("stat", str(path))
        if str(path) not in self.names:
            raise FileNotFoundError(str(path))
        inode = self.names[str(path)]
        return FileStat(path.name, len(inode.seen), inode.mtime_ns)

    def exists(self, path: Path) -> bool:
        try:
            self.stat(path)
        except FileNotFoundError:
            return False
        return True

    def identity(self, file: Path | int) -> FileId:
        # No call at which the power goes: it changes nothing, and a write comes with three of them.
        if isinstance(file, int):
            inode, _ = self._open[file]
        elif str(file) in self.names:
            inode = self.names[str(file)]
        else:
            raise FileNotFoundError(str(file))
        return FileId(1, id(inode), len(inode.seen), inode.mtime_ns)

    def scan(self, folder: Path) -> list[FileStat]:
        return [FileStat(name, *stamp) for name, stamp in self.stamps(folder).items()]

    def stamps(self, folder: Path) -> dict[str, Stamp]:
        self._call("scan", str(folder))
        return {
            os.path.basename(path): (len(inode.seen), inode.mtime_ns)
            for path, inode in self.names.items()
            if os.path.dirname(path) == str(folder)
        }

    def read(self, path: Path, start: int = 0, end: int | None = None) -> bytes:
        self._call("read", str(path))
        if str(path) not in self.names:
            raise FileNotFoundError(str(path))
        return bytes(self.names[str(path)].seen[start:end])

    def open_read(self, path: Path) -> BinaryIO:
        return io.BytesIO(self.read(path))


def _change(data: bytearray, kind: str, offset: int, piece: bytes) -> None:
    if kind == "truncate":
        del data[offset:]
        return
    if len(data) < offset:
        data.extend(bytes(offset - len(data)))
    data[offset : offset + len(piece)] = piece


def _rename(names: dict[str, Inode], inodes: dict[int, Inode], change: tuple[str, str, str]) -> None:
    kind, first, second = change
    if kind == "link":
        names[first] = inodes[int(second)]
    elif kind == "remove":
        names.pop(first, None)
    elif first in names:
        names[second] = names.pop(first)
