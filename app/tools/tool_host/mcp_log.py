"""The log of one MCP server: what it says on its standard error, capped, without secrets."""

import contextlib
import os
import threading
import time
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from app.children.private_files import make_private_folder, open_to_append
from app.core.events import utc_now

_FILE_BYTES = 500_000
_READ_BYTES = 1 << 16
_LINE_CHARACTERS = 2_000
_PAUSE_SECONDS = 0.02


class ServerLog:
    """Keeps a server's last words in memory and what it said in a file, at most two files of 500 kB."""

    def __init__(self, path: Path | None, secrets: Iterable[str]) -> None:
        self._path = path
        # Longest first: one secret may hold another.
        self._secrets = sorted(secrets, key=len, reverse=True)
        self._last: deque[str] = deque(maxlen=3)
        self._lock = threading.Lock()

    def open_pipe(self) -> TextIO:
        """Return the end of a pipe for the server to write to; a thread reads the other one."""
        read_fd, write_fd = os.pipe()
        threading.Thread(target=self._read, args=(read_fd,), name="server log", daemon=True).start()
        return os.fdopen(write_fd, "w", encoding="utf-8")

    def note(self, text: str) -> None:
        """Write one line of our own."""
        self._write([self.clean(text).strip()[:_LINE_CHARACTERS]])

    def note_output(self, line: bytes) -> None:
        """Keep a line that the server wrote where only messages belong: it may say what is wrong."""
        self._remember([self.clean(line[:200].decode("utf-8", "replace"))])

    def clean(self, text: str) -> str:
        """Return a text without the server's secrets."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    @property
    def last_words(self) -> str:
        """What it said last, at most 300 characters."""
        with self._lock:
            return " / ".join(self._last)[-300:]

    def _read(self, read_fd: int) -> None:
        rest = b""
        with os.fdopen(read_fd, "rb", buffering=0) as pipe:
            while data := pipe.read(_READ_BYTES):
                *lines, rest = (rest + data).split(b"\n")
                texts = [self.clean(line.decode("utf-8", "replace")).strip() for line in lines[-200:]]
                self._remember([text[:_LINE_CHARACTERS] for text in texts if text])
                rest = rest[:_LINE_CHARACTERS]
                if len(data) == _READ_BYTES:
                    # One that never stops must not have the processor for it.
                    time.sleep(_PAUSE_SECONDS)
        if rest:
            self._remember([self.clean(rest.decode("utf-8", "replace"))[:_LINE_CHARACTERS]])

    def _remember(self, lines: list[str]) -> None:
        with self._lock:
            self._last.extend(lines)
        if lines:
            self._write(lines)

    def _write(self, lines: list[str]) -> None:
        if self._path is None:
            return
        # What cannot be written now is dropped; there may be space for the next line.
        with self._lock, contextlib.suppress(OSError):
            make_private_folder(self._path.parent)
            if self._path.exists() and self._path.stat().st_size > _FILE_BYTES:
                self._path.replace(self._path.with_suffix(".log.1"))
            with open_to_append(self._path) as file:
                file.writelines(f"{utc_now()} {line}\n" for line in lines)
