"""A folder of the user's that was chosen for a session: which may be, and the disk below it,
which no link leads out of.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from stat import S_ISDIR
from typing import Final

from app.core.errors import BadInput
from app.storage.file_system import FileSystem

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
