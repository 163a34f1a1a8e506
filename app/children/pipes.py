"""A host's end of the pipes: lines in bounded memory, the pipes themselves, and the loop that serves requests."""

import asyncio
import faulthandler
import gc
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from app.core.json_values import object_in
from app.core.owned_tasks import start_owned


class Lines:
    """Splits a stream of bytes into lines; keeps only the first `most` bytes of each line."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._parts: list[bytes] = []
        self._kept = 0
        self.cut = 0

    def take(self, data: bytes) -> list[bytes]:
        """Return the lines that these bytes end. `cut` counts the bytes that were left out."""
        *ends, rest = data.split(b"\n")
        lines = []
        for end in ends:
            self._add(end)
            lines.append(self.rest())
        self._add(rest)
        return lines

    def rest(self) -> bytes:
        """Return the unfinished line and begin a new one."""
        line = b"".join(self._parts)
        self._parts = []
        self._kept = 0
        return line

    def _add(self, piece: bytes) -> None:
        kept = piece[: self._most - self._kept]
        self.cut += len(piece) - len(kept)
        if kept:
            self._parts.append(kept)
            self._kept += len(kept)


class Pipes:
    """Reads requests in a thread, as a pipe cannot be awaited on Windows, and writes answers at once."""

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

    def read_into(self, queue: "asyncio.Queue[dict[str, Any] | None]") -> None:
        """Start a thread that puts every line into the queue, and None at the end.

        A line that is no request is the end as well: whoever waits for its answer must not wait for ever.
        """
        loop = asyncio.get_running_loop()

        def read() -> None:
            with os.fdopen(self._read_fd, "rb") as lines:
                for line in lines:
                    request = _request_in(line)
                    if request is None:
                        sys.stderr.write("this process ends: it was sent a line that is no request\n")
                        break
                    loop.call_soon_threadsafe(queue.put_nowait, request)
            loop.call_soon_threadsafe(queue.put_nowait, None)

        threading.Thread(target=read, name="requests", daemon=True).start()

    def write(self, line: Mapping[str, object]) -> None:
        """Write one line; blocks while the parent does not read."""
        self.write_bytes(json.dumps(line, separators=(",", ":")).encode("ascii") + b"\n")

    def write_bytes(self, data: bytes) -> None:
        """Write bytes as they are; blocks while the parent does not read."""
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._write_fd, rest) :]
        except BrokenPipeError:
            # The parent is gone; the end of standard input is about to say so.
            pass


def _request_in(line: bytes) -> dict[str, Any] | None:
    request = object_in(line) or {}
    return request if all(isinstance(request.get(name), str) for name in ("id", "op")) else None


class HostServer:
    """Reads requests until the parent goes, and runs a task for each; a cancel ends the task."""

    def __init__(self, pipes: Pipes) -> None:
        self._pipes = pipes
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Serve until standard input closes."""
        requests: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._pipes.read_into(requests)
        self._pipes.write({"ready": True})
        while (line := await requests.get()) is not None:
            if line["op"] != "cancel":
                self._start(line["id"], self._serve(line))
            elif task := self._tasks.get(line["id"]):
                task.cancel()
        for task in self._tasks.values():
            task.cancel()
        await self._close()

    def _start(self, call_id: str, work: Coroutine[Any, Any, None]) -> None:
        task = start_owned(work)
        self._tasks[call_id] = task
        task.add_done_callback(lambda _: self._tasks.pop(call_id))

    async def _serve(self, line: dict[str, Any]) -> None:
        self._pipes.write({"id": line["id"], **await self._do(line)})

    async def _do(self, line: dict[str, Any]) -> dict[str, Any]:
        """Do what a request asks for, and return the last line of its answer."""
        raise NotImplementedError

    async def _close(self) -> None:
        """Stop what the host itself has started."""


def run_host(make_host: Callable[[Pipes], HostServer]) -> int:
    """Serve until standard input closes, then end the process."""
    pipes = Pipes.take_over_standard_streams()
    faulthandler.enable()
    # Ctrl-C in a terminal reaches the whole process group; only Moot itself acts on it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    host = make_host(pipes)
    gc.collect()
    gc.freeze()
    asyncio.run(host.run())
    # Threads of libraries must not keep a host alive whose parent is gone.
    sys.stderr.flush()
    os._exit(0)
