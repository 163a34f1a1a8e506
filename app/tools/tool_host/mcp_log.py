"""The log of one MCP server: its standard error and Moot's own notes, limited and without secrets."""

import contextlib
import os
import threading
import time
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from app.children.pipes import Lines
from app.children.private_files import append_log

_FILE_BYTES = 500_000
_READ_BYTES = 1 << 16
_LINE_CHARACTERS = 2_000
_PAUSE_SECONDS = 0.02


class ServerLog:
    """Keeps a server's last lines in memory, and all lines in at most two files of 500 kB."""

    def __init__(self, path: Path | None, secrets: Iterable[str]) -> None:
        self._path = path
        # Longest first, because one secret may contain another.
        self._secrets = sorted(secrets, key=len, reverse=True)
        self._last: deque[str] = deque(maxlen=3)
        self._lock = threading.Lock()

    def open_pipe(self) -> TextIO:
        """Return a pipe for the server's standard error; a thread reads its other end."""
        read_fd, write_fd = os.pipe()
        threading.Thread(target=self._read, args=(read_fd,), name="server log", daemon=True).start()
        return os.fdopen(write_fd, "w", encoding="utf-8")

    def note(self, text: str) -> None:
        """Write a line of Moot's own."""
        self._write([self.clean(text).strip()[:_LINE_CHARACTERS]])

    def note_output(self, line: bytes) -> None:
        """Keep a line of standard output that is no message: it may say what is wrong."""
        self._remember([self.clean(line[:200].decode("utf-8", "replace"))])

    def clean(self, text: str) -> str:
        """Return a text without the server's secrets."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    @property
    def last_words(self) -> str:
        """The server's last lines, at most 300 characters."""
        with self._lock:
            return " / ".join(self._last)[-300:]

    def _read(self, read_fd: int) -> None:
        # A secret at the limit of a line must not be cut in half before it is removed.
        lines = Lines(4 * _LINE_CHARACTERS + max(map(len, self._secrets), default=0))
        with os.fdopen(read_fd, "rb", buffering=0) as pipe:
            while data := pipe.read(_READ_BYTES):
                self._remember(self._cleaned(lines.take(data)[-200:]))
                if len(data) == _READ_BYTES:
                    # A server that writes without end must not take the processor.
                    time.sleep(_PAUSE_SECONDS)
        self._remember(self._cleaned([lines.rest()]))

    def _cleaned(self, lines: list[bytes]) -> list[str]:
        texts = (self.clean(line.decode("utf-8", "replace")).strip() for line in lines)
        return [text[:_LINE_CHARACTERS] for text in texts if text]

    def _remember(self, lines: list[str]) -> None:
        if lines:
            with self._lock:
                self._last.extend(lines)
            self._write(lines)

    def _write(self, lines: list[str]) -> None:
        # What cannot be written now is dropped; there may be space for the next line.
        if self._path is not None:
            with self._lock, contextlib.suppress(OSError):
                append_log(self._path, lines, _FILE_BYTES)
