"""One process writes a data directory: the lock that says so, and who holds it."""

import functools
import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from app.core.errors import Busy
from app.storage.file_system import RealFileSystem, storage_error
from app.storage.paths import DataPaths
from app.storage.permissions import check_owner

if TYPE_CHECKING:
    from filelock import BaseFileLock

_PATIENCE_SECONDS = 0.3


class WriterLock:
    """The right to write one data directory; it ends with the process, however that ends."""

    def __init__(self, paths: DataPaths) -> None:
        self._paths = paths
        self._holder: Path = paths.lock.with_name("lock.holder")

    @functools.cached_property
    def _lock(self) -> "BaseFileLock":
        from filelock import FileLock

        return FileLock(self._paths.lock, timeout=0, thread_local=False, mode=0o600)

    def acquire(self) -> None:
        """Take the lock or raise at once: Busy naming the holder, StorageError when it cannot be made."""
        from filelock import Timeout

        try:
            RealFileSystem().make_folder(self._paths.root)
            check_owner(self._paths.root)
            # A reader that only asks `is_held` has it for a moment.
            self._lock.acquire(timeout=_PATIENCE_SECONDS, poll_interval=0.02)
        except Timeout:
            raise Busy("data_dir_busy", path=str(self._paths.root), **self._read_holder()) from None
        except OSError as error:
            raise storage_error(error, self._paths.root) from error
        try:
            descriptor = os.open(self._holder, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(
                    {"pid": os.getpid(), "since": datetime.now(UTC).isoformat(timespec="seconds")}, file
                )
        except OSError:
            pass  # Only who holds it is then not said; the lock itself holds.

    def release(self) -> None:
        """Let the next one write."""
        self._lock.release()

    def is_held(self) -> bool:
        """Say whether some process holds the lock now; without leaving a file behind."""
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
        """Return when the process that holds the lock took it, by the disk's clock; None when none does."""
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
        except (OSError, ValueError, KeyError, TypeError):
            return {"pid": "?", "since": "?"}


def _is_flocked(path: Path) -> bool | None:
    """Say whether a process holds the lock of a file; None where the system cannot tell.

    It is the lock that filelock takes, whose import costs more than listing a thousand sessions.
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
