"""Who may use a data directory: only the account that owns it, and only one process that writes.

Also a folder of the user's that was chosen for a session: which may be, and the disk below it, which no link
leads out of.
"""

import contextlib
import functools
import json
import os
import re
import stat
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from stat import S_ISDIR
from typing import TYPE_CHECKING, Final

from app.children.private_files import replace_text
from app.core.errors import BadInput, DataDirectoryBusy, StorageError
from app.storage.file_system import FileSystem, storage_error
from app.storage.paths import DataPaths

if TYPE_CHECKING:
    from filelock import BaseFileLock

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_PATIENCE_SECONDS = 0.3


def check_owner(root: Path) -> None:
    """Raise StorageError if another account owns the data directory, which need not exist yet."""
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError):
        owner = root.stat().st_uid
        if owner != os.geteuid():
            raise StorageError("data_dir_foreign", path=str(root), owner=_account(owner))


def make_private(root: Path) -> None:
    """Remove all permissions of other accounts from the data directory and everything in it.

    Targets of links are left alone, and so is a file system without permissions.
    """
    if os.name == "nt":
        return
    with contextlib.suppress(OSError):
        _close(root, _mode(root))
    for path, mode in _entries(root):
        _close(path, mode)


def keeps_permissions(folder: Path) -> bool:
    """Return whether the file system keeps permissions, as exFAT and NTFS do not. Raises OSError."""
    # Late, since every command in a terminal imports this module.
    import tempfile

    with tempfile.NamedTemporaryFile(dir=folder, prefix=".moot-") as file:
        return not _mode(Path(file.name)) & _OTHERS


def open_to_others(root: Path) -> int:
    """Return how many files and folders of the data directory other accounts may read or write."""
    with contextlib.suppress(OSError):
        modes = [_mode(root), *(mode for _, mode in _entries(root))]
        return sum(bool(mode & _OTHERS) for mode in modes)
    return 0


def _mode(path: Path) -> int:
    return path.stat().st_mode


def _entries(folder: Path) -> Iterator[tuple[Path, int]]:
    """Yield path and mode of all folders and plain files below a folder, each folder before its contents."""
    try:
        with os.scandir(folder) as found:
            entries = list(found)
    except OSError:
        return
    for entry in entries:
        with contextlib.suppress(OSError):
            mode = entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode) or stat.S_ISREG(mode):
                yield Path(entry.path), mode
            if stat.S_ISDIR(mode):
                yield from _entries(Path(entry.path))


def _close(path: Path, mode: int) -> None:
    if mode & _OTHERS:
        with contextlib.suppress(OSError):
            path.chmod(stat.S_IMODE(mode) & stat.S_IRWXU)


def _account(number: int) -> str:
    if sys.platform != "win32":
        import pwd

        with contextlib.suppress(KeyError):
            return pwd.getpwuid(number).pw_name
    return str(number)


class WriterLock:
    """The lock of the process that writes a data directory; it ends with the process, however that ends."""

    def __init__(self, paths: DataPaths) -> None:
        self._paths = paths
        self._holder: Path = paths.lock.with_name("lock.holder")
        # What this process wrote into it.
        self._holds = ""
        self._before: list[BaseFileLock] = []
        self._taking = threading.Lock()

    @functools.cached_property
    def _lock(self) -> "BaseFileLock":
        from filelock import FileLock

        return FileLock(self._paths.lock, timeout=0, thread_local=False, mode=0o600)

    def acquire(self) -> None:
        """Take the lock.
        Raises DataDirectoryBusy, which names the holder, or StorageError if it cannot be created.

        Neither it nor the directory is created where the one of another process was moved or deleted.
        """
        from filelock import Timeout

        root = self._paths.root
        if not self._paths.lock.exists() and (pid := left_by(root)):
            raise StorageError("data_dir_left", path=str(root), pid=pid)
        try:
            FileSystem().make_folder(root)
            check_owner(root)
            # A process that calls `is_held` has it for a moment.
            self._lock.acquire(timeout=_PATIENCE_SECONDS, poll_interval=0.02)
        except Timeout:
            raise DataDirectoryBusy("data_dir_busy", path=str(root), **self._read_holder()) from None
        except OSError as error:
            raise storage_error(error, root) from error
        since = datetime.now(UTC).isoformat(timespec="seconds")
        self._holds = json.dumps({"pid": os.getpid(), "since": since, "path": str(root.resolve())})
        # Without the file only the holder's name is missing; the lock holds.
        with contextlib.suppress(OSError):
            replace_text(self._holder, self._holds)

    def take_again(self) -> bool:
        """Take the lock of a copy of the data directory that has its place; false if it is no copy,
        or another's.
        """
        from filelock import FileLock, Timeout

        with self._taking:
            try:
                if self._holder.read_text(encoding="utf-8") != self._holds:
                    return False
                # The lock so far is that of the directory that is gone. It is held until the end all the
                # same.
                fresh = FileLock(self._paths.lock, timeout=0, thread_local=False, mode=0o600)
                fresh.acquire()
            except (OSError, ValueError, Timeout):
                return False
            self._before.append(self._lock)
            self._lock = fresh
            return True

    def release(self) -> None:
        """Release the lock."""
        for lock in (self._lock, *self._before):
            lock.release()

    def is_held(self) -> bool:
        """Return whether a process holds the lock, without leaving a file behind."""
        if not self._paths.lock.exists():
            return False
        if (held := _is_flocked(self._paths.lock)) is not None:
            return held
        from filelock import Timeout

        try:
            self._lock.acquire()
        except Timeout:
            return True
        except OSError:
            return False
        self._lock.release()
        return False

    def held_since_ns(self) -> int | None:
        """Return when the present holder took the lock, in nanoseconds of the disk's clock; None
        if it is free.
        """
        if not self.is_held():
            return None
        try:
            return self._holder.stat().st_mtime_ns
        except OSError:
            return 0

    def _read_holder(self) -> dict[str, object]:
        try:
            found = json.loads(self._holder.read_text(encoding="utf-8"))
            return {"pid": int(found["pid"]), "since": str(found["since"])}
        except (OSError, ValueError, KeyError, TypeError, RecursionError, OverflowError):
            return {"pid": "?", "since": "?"}


def left_by(root: Path) -> str:
    """Return which process holds the lock of a folder that was at this path, "" for none; only Linux says it.

    Elsewhere an open file keeps its folder, or the other process only finds at its next change that the
    folder is gone.
    """
    lock = root.resolve() / "lock"
    with contextlib.suppress(OSError):
        for pid in re.findall(r"FLOCK .* WRITE (\d+)", Path("/proc/locks").read_text("ascii")):
            # What another program has in a file of that name may be anything.
            with contextlib.suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
                for opened in Path("/proc", pid, "fd").iterdir():
                    held = opened.readlink()
                    if str(held) == f"{lock} (deleted)":
                        return str(pid)
                    # Moved, as to the trash: its holder still names the path at which it was.
                    holder = held.with_name("lock.holder")
                    if held.name == "lock" and json.loads(holder.read_bytes())["path"] == str(lock.parent):
                        return str(pid)
    return ""


def _is_flocked(path: Path) -> bool | None:
    """Return whether a process holds the lock of a file; None if the system cannot tell.

    Checks the lock of filelock without importing it, which takes longer than listing a thousand sessions.
    """
    if sys.platform == "win32":
        return None
    import fcntl

    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return None
    else:
        return False
    finally:
        os.close(descriptor)


_JUNCTION = 0xA0000003
# What is at the top of a disk and belongs to the system, with all that is in it.
_SYSTEM: Final = frozenset(
    """applications|bin|boot|cores|dev|efi|etc|lib|lib32|lib64|library|nix|private|proc|root|run|sbin|snap|sys
|system|usr|var|windows|program files|program files (x86)|programdata|recovery""".replace("\n", "").split("|")
)
# What only holds folders of users and of other disks, and parts of the system that do so.
_SHARED: Final = frozenset(
    """home|host|media|mnt|opt|srv|tmp|users|volumes|dev/shm|private/tmp|private/var/folders|private/var/tmp
|run/media|var/folders|var/home|var/tmp|var/www""".replace("\n", "").split("|")
)
_BY_DESCRIPTOR: Final = os.open in os.supports_dir_fd
_FOLDER: Final = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
# On Linux a folder can be gone through that may not be listed.
_THROUGH: Final = _FOLDER | getattr(os, "O_PATH", os.O_RDONLY)


def real_folder(folder: str, data: Path) -> str:
    """Return where a folder really is. Raises BadInput for what may not be chosen.

    That is what is no folder, the user's home or what holds it, a folder of the system or a hidden one, and
    what holds Moot's own `data` or lies in it.
    """
    try:
        place, home, data = Path(folder).resolve(strict=True), Path.home().resolve(), data.resolve()
        os.scandir(place).close()
        if _holds(place, home):
            raise BadInput("folder_home", path=folder)
        if _holds(place, data) or _holds(data, place):
            raise BadInput("folder_of_moot", path=folder)
    except (OSError, RuntimeError, ValueError) as error:
        raise BadInput("folder_not_there", path=folder) from error
    if _is_of_system(place, home):
        raise BadInput("folder_of_system", path=folder)
    return str(place)


def problem_of(folder: str, data: Path) -> BadInput | None:
    """Return why a folder that was chosen cannot be used now, None where it can."""
    try:
        return None if real_folder(folder, data) == folder else BadInput("folder_not_there", path=folder)
    except BadInput as error:
        return error


def _holds(outer: Path, inner: Path) -> bool:
    """Return whether a folder is another one or has it inside, however either is written. Raises OSError."""
    there = [path for path in (inner, *inner.parents) if path.exists()] if outer.exists() else []
    return any(path.samefile(outer) for path in there)


def _is_of_system(place: Path, home: Path) -> bool:
    is_in_home = place.is_relative_to(home)
    names = [name.casefold() for name in (place.relative_to(home).parts if is_in_home else place.parts[1:])]
    if is_in_home:
        return names[0] in ("appdata", "library") or any(name.startswith(".") for name in names)
    above = {"/".join(names[:count]) for count in range(len(names))}
    return not names or "/".join(names) in _SHARED or (names[0] in _SYSTEM and not above & _SHARED)


def is_folder(path: Path) -> bool:
    """Return whether a path is a folder itself and no link to one. Raises FileNotFoundError."""
    found = os.lstat(path)
    # A junction of Windows is a folder by its mode.
    return S_ISDIR(found.st_mode) and getattr(found, "st_reparse_tag", 0) != _JUNCTION


class FolderDisk(FileSystem):
    """The disk below a folder, which is never made: no call follows a link, whoever puts one there meanwhile.

    Where names cannot be opened in an open folder, as on Windows, each folder of a path is looked at before.
    """

    _mode = 0o666

    def __init__(self, top: Path) -> None:
        super().__init__()
        self._top = top

    def make_folder(self, path: Path) -> None:
        """Create a folder and its missing parents below the top."""
        if path != self._top:
            self.make_folder(path.parent)
            with contextlib.suppress(FileExistsError), self._at(path) as (name, at):
                os.mkdir(name, dir_fd=at)

    def sync_folder(self, path: Path) -> None:
        """Return when the names in a folder survive a power cut, as far as its disk knows of that."""
        with contextlib.suppress(OSError):
            super().sync_folder(path)

    def copy_mode(self, path: Path, descriptor: int) -> None:
        """Let an open file be read and written by those who may do so with the one that has a path;
        never run.
        """
        if hasattr(os, "fchmod"):
            with self._at(path) as (name, at):
                os.fchmod(descriptor, os.stat(name, dir_fd=at, follow_symlinks=False).st_mode & self._mode)

    def entries(self, folder: Path) -> list[tuple[str, bool]]:
        """Return the name of each file and folder in a folder, and whether it is a folder; without links."""
        with contextlib.ExitStack() as opened:
            _, at = opened.enter_context(self._at(folder / "any"))
            place: Path | int = folder
            if at is not None:
                place = os.open(".", _FOLDER | os.O_RDONLY, dir_fd=at)
                opened.callback(os.close, place)
            found = [(entry, entry.is_dir(follow_symlinks=False)) for entry in os.scandir(place)]
            return [
                (item.name, inside) for item, inside in found if inside or item.is_file(follow_symlinks=False)
            ]

    @contextlib.contextmanager
    def _at(self, path: Path) -> Iterator[tuple[str | Path, int | None]]:
        """Yield a path's own name and the open folder that it is in.
        Raises OSError where a link is on the way.
        """
        with contextlib.ExitStack() as opened:
            at = None
            for folder in reversed(path.parents):
                if _BY_DESCRIPTOR:
                    at = os.open(folder.name or folder, _THROUGH, dir_fd=at)
                    opened.callback(os.close, at)
                elif not is_folder(folder):
                    raise NotADirectoryError(folder)
            yield (path if at is None else path.name), at
