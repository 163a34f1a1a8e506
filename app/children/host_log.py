"""The log file of a host, written in a separate thread so that a slow or full disk never blocks the caller."""

import contextlib
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path

from app.children.private_files import make_private_folder, open_to_append
from app.core.events import utc_now

FILE_BYTES = 1_000_000
_WAITING_LINES = 200
_CLOSE_SECONDS = 1.0


class HostLog:
    """Appends lines to a file of at most 1 MB and keeps the previous file; `clean` removes keys.

    Lines that the disk does not take in time, or not at all, are dropped.
    """

    def __init__(self, path: Path | None, clean: Callable[[str], str]) -> None:
        self._path = path
        self._clean = clean
        self._lock = threading.Lock()
        self._lines: deque[str] = deque()
        self._dropped = 0
        self._writer: threading.Thread | None = None

    def write(self, line: str) -> None:
        """Take a line; returns at once and never raises."""
        if self._path is None:
            return
        with self._lock:
            if len(self._lines) >= _WAITING_LINES:
                self._dropped += 1
                return
            self._lines.append(line)
            if self._writer is None:
                self._writer = threading.Thread(target=self._write_lines, name="host log", daemon=True)
                self._writer.start()

    def wait(self) -> None:
        """Wait until everything is written, for a second at most."""
        with self._lock:
            writer = self._writer
        if writer is not None:
            writer.join(_CLOSE_SECONDS)

    def _write_lines(self) -> None:
        while lines := self._taken():
            with contextlib.suppress(OSError):
                self._append(lines)

    def _taken(self) -> list[str]:
        with self._lock:
            lines = list(self._lines)
            self._lines.clear()
            if self._dropped:
                lines.append(f"({self._dropped} lines were dropped)")
                self._dropped = 0
            if not lines:
                self._writer = None
            return lines

    def _append(self, lines: list[str]) -> None:
        assert self._path is not None
        make_private_folder(self._path.parent)
        if self._path.exists() and self._path.stat().st_size > FILE_BYTES:
            self._path.replace(self._path.with_suffix(".log.1"))
        with open_to_append(self._path) as file:
            file.writelines(f"{utc_now()} {self._clean(line)}\n" for line in lines)
