"""The part that the clients of both hosts share: the host's process and its log."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from app.children.host_log import HostLog
from app.children.host_process import HostProcess, Line
from app.core.text import clean_text


class HostClient:
    """Starts a host when it is first needed, restarts it after it ended, and stops it.

    `program` is one of `processes`; `redact` removes the known keys from a text; `log_dir` is where the
    host's standard error is kept.
    """

    def __init__(self, program: str, *, redact: Callable[[str], str], log_dir: Path | None) -> None:
        self._program = program
        self._redact = redact
        path = log_dir / f"{program.rpartition('.')[2]}.log" if log_dir is not None else None
        self._log = HostLog(path, self.clean)
        self._host: HostProcess | None = None
        self._starting = asyncio.Lock()
        self._closed = False

    def clean(self, text: str) -> str:
        """Return a text without keys and without what cannot be stored."""
        return clean_text(self._redact(text))

    @property
    def host_pid(self) -> int | None:
        """The process number of the running host."""
        return self._host.pid if self._host is not None and self._host.alive else None

    async def close(self) -> None:
        """Stop the host and wait until it is gone."""
        self._closed = True
        async with self._starting:
            if self._host is not None:
                await self._host.close()
        await asyncio.to_thread(self._log.wait)

    async def _running_host(self) -> HostProcess:
        async with self._starting:
            if self._closed:
                raise self._failure("Moot is closing.")
            if self._host is None or not self._host.alive:
                try:
                    self._host = await HostProcess.start(
                        self._program, self._log.write, self._on_died, self._on_line
                    )
                except OSError as error:
                    raise self._failure(f"The process could not be started: {error}") from error
            return self._host

    def _failure(self, detail: str) -> Exception:
        """Return the error for a host that cannot be asked."""
        raise NotImplementedError

    def _on_died(self, host: HostProcess) -> None:
        """Take note that a host ended by itself."""

    def _on_line(self, line: Line) -> None:
        """Take a line that answers no request."""
