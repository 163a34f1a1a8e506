"""One process writes a data directory: the lock that says so, and who holds it."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

from app.core.errors import Busy
from app.storage.file_system import RealFileSystem, storage_error
from app.storage.paths import DataPaths

_PATIENCE_SECONDS = 0.3


class WriterLock:
    """The right to write one data directory; it ends with the process, however that ends."""

    def __init__(self, paths: DataPaths) -> None:
        from filelock import FileLock

        self._paths = paths
        self._holder: Path = paths.lock.with_name("lock.holder")
        self._lock = FileLock(paths.lock, timeout=0, thread_local=False, mode=0o600)

    def acquire(self) -> None:
        """Take the lock or raise at once: Busy naming the holder, StorageError when it cannot be made."""
        from filelock import Timeout

        try:
            RealFileSystem().make_folder(self._paths.root)
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
        from filelock import Timeout

        if not self._paths.lock.exists():
            return False
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
