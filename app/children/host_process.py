"""The parent's end of a host, a child process that serves requests: its pipes, one queue a call."""

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from app.children.lines import Lines
from app.children.processes import child_command, child_environment

_STOP_SECONDS = 3.0
_READ_BYTES = 1 << 16
# Far more than an answer has; a longer line means that the host does not work any more.
_LINE_BYTES = 64 << 20
_ERROR_LINE_BYTES = 8_000

Line = Mapping[str, Any]


class HostProcess:
    """One running host; useless once it has died."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        program: str,
        log: Callable[[str], None],
        on_death: Callable[["HostProcess"], None],
        on_news: Callable[[Line], None],
    ) -> None:
        self._process = process
        self._program = program
        self._on_news = on_news
        self._log = log
        self._on_death = on_death
        self._queues: dict[str, asyncio.Queue[Line | None]] = {}
        self._closing = False
        self._ended = False
        self.started_at = asyncio.get_running_loop().time()
        self.ready = asyncio.Event()
        self.warm = asyncio.Event()
        self._readers = (asyncio.create_task(self._read_lines()), asyncio.create_task(self._read_errors()))

    @classmethod
    async def start(
        cls,
        program: str,
        log: Callable[[str], None],
        on_death: Callable[["HostProcess"], None],
        on_news: Callable[[Line], None] = lambda _: None,
    ) -> "HostProcess":
        """Start a program; it answers a few seconds later. Raises OSError.

        `on_news` gets the lines that answer no request.
        """
        process = await asyncio.create_subprocess_exec(
            *child_command(program),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=child_environment(),
        )
        return cls(process, program, log, on_death, on_news)

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether requests may be sent."""
        return not self._ended and not self._closing

    def open(self, call_id: str, line: Line) -> "asyncio.Queue[Line | None]":
        """Send a request; its lines come into the queue, None when the host dies."""
        queue: asyncio.Queue[Line | None] = asyncio.Queue()
        self._queues[call_id] = queue
        self.send({"id": call_id, **line})
        return queue

    def close_call(self, call_id: str, *, cancel: bool) -> None:
        """Forget a call, and end it in the host if it still runs."""
        if self._queues.pop(call_id, None) is not None and cancel and self.alive:
            self.send({"id": call_id, "op": "cancel"})

    def send(self, line: Line) -> None:
        """Write one line; a host that has just died is noticed by the reader."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, RuntimeError):
            self._process.stdin.write(json.dumps(line, separators=(",", ":")).encode("ascii") + b"\n")

    async def close(self) -> None:
        """Stop the host and wait until it is gone."""
        self._closing = True
        assert self._process.stdin is not None
        self._process.stdin.close()
        if not self.ready.is_set():
            # It still imports, which takes seconds, and has nothing to bring to an orderly end.
            self.kill()
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await self._process.wait()
        except TimeoutError:
            self.kill()
            await self._process.wait()
        await asyncio.gather(*self._readers)

    def kill(self) -> None:
        """End the process at once."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    async def _read_lines(self) -> None:
        assert self._process.stdout is not None
        lines = Lines(_LINE_BYTES)
        while data := await self._process.stdout.read(_READ_BYTES):
            for line in lines.take(data):
                self._parse(line)
            if lines.cut:
                self._give_up(f"a line of more than {_LINE_BYTES >> 20} MB")
                break
        while await self._process.stdout.read(_READ_BYTES):
            pass
        self._ended = True
        await self._process.wait()
        for queue in self._queues.values():
            queue.put_nowait(None)
        self.ready.set()
        self.warm.set()
        if not self._closing:
            self._log(f"{self._program} ended with {self._process.returncode}")
            self._on_death(self)

    def _parse(self, data: bytes) -> None:
        try:
            line = json.loads(data)
        except (ValueError, RecursionError):
            line = None
        if isinstance(line, dict):
            self._take(line)
        else:
            # An answer may be lost: whoever waits for it must not wait for ever.
            self._give_up("a line that is no JSON object")

    def _take(self, line: Line) -> None:
        if (call_id := line.get("id")) is not None:
            # A cancelled call's last lines may still be on their way.
            if queue := self._queues.get(call_id):
                queue.put_nowait(line)
        elif "ready" in line:
            self.ready.set()
        elif "warm" in line:
            self.warm.set()
        else:
            self._on_news(line)

    def _give_up(self, why: str) -> None:
        self._log(f"{self._program} is ended: it sent {why}")
        self.kill()

    async def _read_errors(self) -> None:
        """Read until the end, whatever comes: a host blocks where nobody reads its standard error."""
        assert self._process.stderr is not None
        lines = Lines(_ERROR_LINE_BYTES)
        while data := await self._process.stderr.read(_READ_BYTES):
            self._log_errors(lines.take(data))
        self._log_errors([lines.rest()])

    def _log_errors(self, lines: list[bytes]) -> None:
        for line in lines:
            if text := line.decode("utf-8", "replace").rstrip():
                self._log(text)
