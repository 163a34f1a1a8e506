"""Who may read the data directory: only the account that owns it, as far as the file system knows accounts.

Used when a data directory is opened, and by the doctor.
"""

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from app.core.errors import StorageError

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def check_owner(root: Path) -> None:
    """Raise StorageError where another account owns the data directory; it may not be there yet."""
    if os.name == "nt":
        return
    with contextlib.suppress(OSError):
        owner = root.stat().st_uid
        if owner != os.geteuid():
            raise StorageError("data_dir_foreign", path=str(root), owner=_account(owner))


def make_private(root: Path) -> None:
    """Take every permission of other accounts from the data directory and all that is in it.

    What a link leads to is left alone. A file system without permissions is left as it is.
    """
    if os.name == "nt":
        return
    with contextlib.suppress(OSError):
        _close(root, root.stat().st_mode)
    for path, mode in _entries(root):
        _close(path, mode)


def keeps_permissions(folder: Path) -> bool:
    """Say whether the file system keeps who may read a file; exFAT and Windows' own do not. Raises OSError."""
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".moot-") as file:
        return not _mode(Path(file.name)) & _OTHERS


def open_to_others(root: Path) -> int:
    """Return how many folders and files of the data directory other accounts may read or write."""
    with contextlib.suppress(OSError):
        modes = [_mode(root), *(mode for _, mode in _entries(root))]
        return sum(bool(mode & _OTHERS) for mode in modes)
    return 0


def _entries(folder: Path) -> Iterator[tuple[Path, int]]:
    """Yield path and mode of every folder and plain file below a folder, a folder before what is in it."""
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


def _mode(path: Path) -> int:
    return path.stat().st_mode


def _account(number: int) -> str:
    try:
        import pwd

        return pwd.getpwuid(number).pw_name
    except (ImportError, KeyError):
        return str(number)
