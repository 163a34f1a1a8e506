"""The operating system calls that storage uses; tests replace them by a disk that loses power."""

import contextlib
import errno
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO, NamedTuple

from app.children.private_files import replace_file
from app.core.errors import StorageError

_APPEND = os.O_WRONLY | os.O_APPEND | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
# A pipe is opened at once, and is then no plain file.
_READ = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


# A file's size in bytes and the time of its last change in nanoseconds.
Stamp = tuple[int, int]


class FileStat(NamedTuple):
    """A file's name, size in bytes and time of its last change in nanoseconds."""

    name: str
    size: int
    mtime_ns: int


class FileId(NamedTuple):
    """Which file it is (volume and number), its size in bytes and the time of its last change in
    nanoseconds.
    """

    volume: int
    number: int
    size: int
    mtime_ns: int


# How much of a FileId says whether it is the same file: which file it is, its size too, its time too.
WHICH, SIZE, TIME = 2, 3, 4


class FolderGoneError(OSError):
    """The data folder was moved or removed, or another folder has its name."""


class FileSystem:
    """The disk of this computer; every call may raise OSError.

    With `root`, nothing is created or replaced in a data folder that is another one than at first, unless
    `is_back` says that it is a copy which has taken its place. So a folder that was moved is never made
    again.
    """

    # The mode of new files.
    _mode = 0o600

    def __init__(self, root: Path | None = None, is_back: Callable[[], bool] = lambda: False) -> None:
        self._root = root
        self._is_back = is_back
        self._root_id = None if root is None else _folder_id(root)

    def make_folder(self, path: Path) -> None:
        """Create a folder and its missing parents, for the user only, and make their names durable."""
        self._check_root(path)
        missing = []
        while not path.is_dir():
            missing.append(path)
            path = path.parent
        for folder in reversed(missing):
            try:
                folder.mkdir(mode=0o700)
            except FileExistsError:
                if not folder.is_dir():
                    raise
            self.sync_folder(folder.parent)

    def create(self, path: Path) -> int:
        """Create a new file, for the user only, and open it for appending."""
        self._check_root(path)
        with self._at(path) as (name, at):
            return os.open(name, _APPEND | _NO_LINK | os.O_CREAT | os.O_EXCL, self._mode, dir_fd=at)

    def open(self, path: Path) -> int:
        """Open an existing file for appending; never through a link."""
        self._check_root(path)
        return os.open(path, _APPEND | _NO_LINK)

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        """Append; return how many bytes were written."""
        return os.write(descriptor, data)

    def sync(self, descriptor: int) -> None:
        """Return when the file's bytes survive a power cut."""
        sync_file(descriptor)

    def truncate(self, descriptor: int, size: int) -> None:
        """Cut the file to `size` bytes."""
        os.ftruncate(descriptor, size)

    def close(self, descriptor: int) -> None:
        """Close the file."""
        os.close(descriptor)

    def replace(self, source: Path, target: Path) -> None:
        """Rename a file, replacing the one that has the name."""
        with self._at(source) as (old, before), self._at(target) as (new, after):
            replace_file(old, new, source_folder=before, folder=after)

    def move(self, source: Path, target: Path) -> None:
        """Give a file or folder another path, and return when that survives a power cut."""
        self.make_folder(target.parent)
        self.replace(source, target)
        self.sync_folder(target.parent)
        self.sync_folder(source.parent)

    def remove(self, path: Path) -> None:
        """Remove a file."""
        with self._at(path) as (name, at):
            os.unlink(name, dir_fd=at)

    def sync_folder(self, path: Path) -> None:
        """Return when the names in a folder survive a power cut."""
        if os.name == "nt":  # Windows has no such call; NTFS journals names itself.
            return
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def stat(self, path: Path) -> FileStat:
        """Return size and time of a plain file. Raises FileNotFoundError for a folder or a link."""
        found = self.identity(path)
        return FileStat(path.name, found.size, found.mtime_ns)

    def exists(self, path: Path) -> bool:
        """Return whether there is a plain file. Raises OSError where that cannot be seen."""
        try:
            self.stat(path)
        except FileNotFoundError:
            return False
        return True

    def identity(self, file: Path | int) -> FileId:
        """Return which file has a path or is open. Raises FileNotFoundError for a folder or a link."""
        if isinstance(file, int):
            found = os.fstat(file)
        else:
            with self._at(file) as (name, at):
                found = os.stat(name, dir_fd=at, follow_symlinks=False)
        if not S_ISREG(found.st_mode):
            raise FileNotFoundError(errno.ENOENT, "not a plain file", str(file))
        return FileId(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)

    def scan(self, folder: Path) -> list[FileStat]:
        """List the plain files of a folder; none if the folder does not exist."""
        return [FileStat(name, *stamp) for name, stamp in self.stamps(folder).items()]

    def stamps(self, folder: Path) -> dict[str, Stamp]:
        """Return the size and time of each plain file of a folder by name; none if the folder does not
        exist.
        """
        try:
            entries = os.scandir(folder)
        except FileNotFoundError:
            return {}
        found = {}
        with entries:
            for entry in entries:
                try:
                    stat = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue  # It was removed meanwhile, as a temporary file is by another Moot.
                if S_ISREG(stat.st_mode):
                    found[entry.name] = (stat.st_size, stat.st_mtime_ns)
        return found

    def read(self, path: Path, start: int = 0, end: int | None = None) -> bytes:
        """Return a file's bytes from `start` to before `end`."""
        with self.open_read(path) as file:
            file.seek(start)
            return file.read() if end is None else file.read(max(0, end - start))

    def open_read(self, path: Path) -> BinaryIO:
        """Open a file for reading; never through a link."""
        with self._at(path) as (name, at):
            return os.fdopen(os.open(name, _READ | _NO_LINK, dir_fd=at), "rb")

    @contextlib.contextmanager
    def _at(self, path: Path) -> Iterator[tuple[str | Path, int | None]]:
        """Yield what the system is told for a path, and the open folder in which that is; None for none."""
        yield path, None

    def _check_root(self, path: Path) -> None:
        root = self._root
        if root is None or self._root_id is None or not path.is_relative_to(root):
            return
        found = _folder_id(root)
        if found == self._root_id:
            return
        if found is None or not self._is_back():
            raise FolderGoneError(errno.ENODEV, "the data folder is gone", str(root))
        self._root_id = found


class KnownFile:
    """A file as this program has read or written it last; another program may replace, cut or delete it."""

    def __init__(self, disk: FileSystem, path: Path) -> None:
        self._disk = disk
        self._path = path
        # None for a file that this program does not know yet.
        self.id: FileId | None = None

    def is_there(self, parts: int = SIZE) -> bool:
        """Return whether the path is the known file by these parts of its identity; true if none is known."""
        try:
            return self.id is None or self._disk.identity(self._path)[:parts] == self.id[:parts]
        except FileNotFoundError:
            return False

    def open(self) -> int | None:
        """Open it for appending; None if another file is at the path. Raises FileNotFoundError."""
        descriptor = self._disk.open(self._path)
        # It may have been replaced between a look and the opening.
        if self.id is None or self._disk.identity(descriptor)[:SIZE] == self.id[:SIZE]:
            return descriptor
        self._disk.close(descriptor)
        return None


def _folder_id(folder: Path) -> tuple[int, int] | None:
    """Return volume and number of a folder, None if there is none."""
    try:
        found = folder.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


def sync_file(descriptor: int) -> None:
    """Write a file's bytes to the disk, with the strongest call that the system has."""
    if hasattr(os, "fdatasync"):
        os.fdatasync(descriptor)
        return
    if sys.platform == "darwin":
        import fcntl

        with contextlib.suppress(OSError):
            # fsync alone leaves the bytes in the drive's cache.
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
            return
    os.fsync(descriptor)


def storage_error(error: OSError, path: Path) -> StorageError:
    """Return the StorageError for an error in the data directory, with the path and the system's own
    words.
    """
    if isinstance(error, FolderGoneError):
        return StorageError("data_dir_gone", path=str(error.filename))
    detail = error.strerror or type(error).__name__
    if error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG):
        return StorageError("disk_full", path=str(path), detail=detail)
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return StorageError("read_only", path=str(path), detail=detail)
    return StorageError("disk_error", path=str(path), detail=detail)


@contextlib.contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Raise the StorageError for any OSError in the block."""
    try:
        yield
    except OSError as error:
        raise storage_error(error, path) from error


def not_written(error: OSError, path: Path) -> StorageError:
    """Return the StorageError for an error outside the data directory, where nothing is tried again."""
    return StorageError("export_failed", name=path.name, detail=error.strerror or type(error).__name__)


def write_all(file_system: FileSystem, descriptor: int, data: bytes) -> None:
    """Write all bytes, continuing after short writes. Raises OSError."""
    view = memoryview(data)
    while view:
        taken = file_system.write(descriptor, view)
        if taken <= 0:
            raise OSError(errno.EIO, "the disk took no bytes")
        view = view[taken:]


@contextlib.contextmanager
def replacing(file_system: FileSystem, path: Path, fresh: Path | None = None) -> Iterator[int]:
    """Yield the descriptor of a new file, which takes the path after the block; it must be synced by then.

    After a crash there is the old file or all of the new one. `fresh` is where the new one is until then.
    Raises OSError.
    """
    file_system.make_folder(path.parent)
    fresh = fresh or path.with_name(path.name + ".tmp")
    with contextlib.suppress(FileNotFoundError):
        file_system.remove(fresh)
    descriptor = file_system.create(fresh)
    try:
        yield descriptor
    except BaseException:
        file_system.close(descriptor)
        with contextlib.suppress(OSError):
            file_system.remove(fresh)
        raise
    file_system.close(descriptor)
    file_system.replace(fresh, path)
    file_system.sync_folder(path.parent)


def write_whole(file_system: FileSystem, path: Path, data: bytes) -> FileId:
    """Replace a file and return the new one; after a crash it is the old one or the new one. Raises
    OSError.
    """
    with replacing(file_system, path) as descriptor:
        write_all(file_system, descriptor, data)
        file_system.sync(descriptor)
        return file_system.identity(descriptor)


def blocks_backwards(file_system: FileSystem, path: Path, step: int) -> Iterator[tuple[bytes, bool]]:
    """Yield a file in blocks of whole lines, the last first, and whether more follow. Raises OSError.

    A block has about `step` bytes; one of a longer line has more.
    """
    end = file_system.stat(path).size
    rest = b""
    size = step
    while end > 0:
        start = max(0, end - size)
        block = file_system.read(path, start, end) + rest
        end = start
        cut = block.find(b"\n") + 1 if start else 0
        if start and not cut:
            rest = block
            size *= 2
            continue
        rest, size = block[:cut], step
        yield block[cut:], end > 0
