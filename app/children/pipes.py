"""The lines between the host and its parent; nothing else can reach standard output."""

import asyncio
import json
import os
import sys
import threading
from collections.abc import Mapping


class Pipes:
    """Reads requests in a thread (a pipe cannot be awaited on Windows) and writes answers at once."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._read_fd = read_fd
        self._write_fd = write_fd

    @classmethod
    def take_over_standard_streams(cls) -> "Pipes":
        """Keep the real pipes; what anyone prints from now on goes to standard error."""
        read_fd, write_fd = os.dup(0), os.dup(1)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        return cls(read_fd, write_fd)

    def read_into(self, queue: "asyncio.Queue[dict[str, object] | None]") -> None:
        """Put every line into the queue, None at the end, from a thread of its own."""
        loop = asyncio.get_running_loop()

        def read() -> None:
            with os.fdopen(self._read_fd, "rb") as lines:
                for line in lines:
                    loop.call_soon_threadsafe(queue.put_nowait, json.loads(line))
            loop.call_soon_threadsafe(queue.put_nowait, None)

        threading.Thread(target=read, name="requests", daemon=True).start()

    def write(self, line: Mapping[str, object]) -> None:
        """Write one line. A parent that does not read makes the host wait, which is right."""
        rest = memoryview(json.dumps(line, separators=(",", ":")).encode("ascii") + b"\n")
        try:
            while rest:
                rest = rest[os.write(self._write_fd, rest) :]
        except BrokenPipeError:
            # The parent is gone; the end of standard input is about to say so.
            pass
