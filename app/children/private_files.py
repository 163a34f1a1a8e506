"""Creates folders, files and logs that only the user can read, whatever the umask is; and replaces files."""

import contextlib
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from app.core.ids import utc_now

_HOST_LOG_BYTES = 1_000_000
_WAITING_LINES = 200
_CLOSE_SECONDS = 1.0
_REPLACE_TRIES = 5


def make_private_folder(folder: Path) -> None:
    """Make a folder and its missing parents, for the user only. Raises OSError."""
    if not folder.is_dir():
        make_private_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def replace_file(
    source: Path | str, target: Path | str, *, source_folder: int | None = None, folder: int | None = None
) -> None:
    """Give a file the path of another, which is replaced; blocks for a second at most. Raises OSError.

    With the descriptor of a folder the path is relative to it.
    """
    for attempt in range(_REPLACE_TRIES):
        try:
            os.replace(source, target, src_dir_fd=source_folder, dst_dir_fd=folder)
        except PermissionError:
            # WORKAROUND: Windows refuses while another Moot, a virus scanner or a sync client reads the file.
            if sys.platform != "win32" or attempt == _REPLACE_TRIES - 1:
                raise
            time.sleep(0.05 * 2**attempt)
        else:
            return


def replace_text(path: Path, text: str) -> None:
    """Write a file over another; there is always the old or the new one. Raises OSError."""
    scratch = path.with_name(path.name + ".new")
    scratch.unlink(missing_ok=True)
    descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    replace_file(scratch, path)


def append_log(path: Path, lines: Iterable[str], most_bytes: int) -> None:
    """Append lines with the time to a log. Raises OSError.

    A log of more than `most_bytes` is renamed to `.log.1` first, in place of the one before.
    """
    make_private_folder(path.parent)
    if path.exists() and path.stat().st_size > most_bytes:
        replace_file(path, path.with_suffix(".log.1"))
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "a", encoding="utf-8", errors="replace") as file:
        file.writelines(f"{utc_now()} {line}\n" for line in lines)


def last_lines(path: Path, most_bytes: int) -> str:
    """Return the whole lines at the end of a log, at most so many bytes; "" where there is none."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - most_bytes))
            data = file.read(most_bytes)
    except OSError:
        return ""
    return (data if size <= most_bytes else data.partition(b"\n")[2]).decode("utf-8", "replace")


class HostLog:
    """The log of a host, written in a thread so that a slow or full disk never blocks the caller.

    `clean` removes keys. Lines that the disk does not take in time, or not at all, are dropped.
    """

    def __init__(self, path: Path | None, clean: Callable[[str], str]) -> None:
        self._path = path
        self._clean = clean
        self._lock = threading.Lock()
        self._lines: deque[str] = deque()
        self._dropped = 0
        self._writer: threading.Thread | None = None

    def write(self, line: str) -> None:
        """Queue a line; returns at once and never raises."""
        if self._path is None:
            return
        with self._lock:
            if len(self._lines) >= _WAITING_LINES:
                self._dropped += 1
                return
            self._lines.append(line)
            if self._writer is None:
                write = partial(self._write_lines, self._path)
                self._writer = threading.Thread(target=write, name="host log", daemon=True)
                self._writer.start()

    def write_all(self, lines: Iterable[bytes]) -> None:
        """Queue lines as a program has written them, without the empty ones."""
        for text in filter(None, (line.decode("utf-8", "replace").rstrip() for line in lines)):
            self.write(text)

    def wait(self) -> None:
        """Wait until everything is written, for a second at most."""
        with self._lock:
            writer = self._writer
        if writer is not None:
            writer.join(_CLOSE_SECONDS)

    def _write_lines(self, path: Path) -> None:
        while lines := self._take_lines():
            with contextlib.suppress(OSError):
                append_log(path, map(self._clean, lines), _HOST_LOG_BYTES)

    def _take_lines(self) -> list[str]:
        with self._lock:
            lines = list(self._lines)
            self._lines.clear()
            if self._dropped:
                lines.append(f"({self._dropped} lines were dropped)")
                self._dropped = 0
            if not lines:
                self._writer = None
            return lines
