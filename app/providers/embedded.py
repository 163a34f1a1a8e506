"""Starts and watches the embedded model's server; the model host asks it like any other server."""

import asyncio
import contextlib
import dataclasses
import json
import secrets
import signal
import sys
from typing import TYPE_CHECKING

from app.children.processes import EMBEDDED_SERVER, child_command, child_environment
from app.core.errors import HOST, NOT_INSTALLED, ProviderError
from app.providers.embedded_server import KEY_VARIABLE

if TYPE_CHECKING:
    from app.providers.model_host.request import Call

_START_SECONDS = 120.0
_STOP_SECONDS = 2.0
# What Windows calls an illegal instruction.
_WINDOWS_ILLEGAL_INSTRUCTION = (0xC000001D, -1073741795)
_NO_CPU = "cpu: the built-in model needs a processor with AVX2"


class EmbeddedServer:
    """The server's process: started at the first request, started anew when it has died."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._base_url = ""
        self._key = ""
        self._starting = asyncio.Lock()

    async def address(self, call: "Call") -> "Call":
        """Return the call with the server's address and key. Raises ProviderError."""
        await self.start(call.model_file)
        return dataclasses.replace(call, base_url=self._base_url, key=self._key)

    async def start(self, model_file: str) -> None:
        """See to it that the server runs. Raises ProviderError (not_installed, host)."""
        async with self._starting:
            if self._process is not None and self._process.returncode is None:
                return
            try:
                await self._start(model_file)
            except _DiedAtStart:
                # Once more: a port or some memory may have been missing for a moment.
                try:
                    await self._start(model_file)
                except _DiedAtStart as error:
                    raise ProviderError(HOST, f"the built-in model did not start ({error.code})") from error

    async def _start(self, model_file: str) -> None:
        self._key = secrets.token_urlsafe(24)
        process = await asyncio.create_subprocess_exec(
            *child_command(EMBEDDED_SERVER),
            model_file,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=child_environment() | {KEY_VARIABLE: self._key, "OMP_WAIT_POLICY": "passive"},
        )
        self._process = process
        assert process.stdout is not None
        line = b""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_START_SECONDS):
                line = await process.stdout.readline()
        if not line:
            await self.close()
            code = process.returncode or 0
            if code in (-_illegal_instruction(), *_WINDOWS_ILLEGAL_INSTRUCTION):
                raise ProviderError(NOT_INSTALLED, _NO_CPU)
            raise _DiedAtStart(code)
        self._base_url = str(json.loads(line)["base_url"])

    async def close(self) -> None:
        """Stop the server and wait until it is gone."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()


class _DiedAtStart(Exception):
    """The server ended, or said nothing, before it was ready."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def _illegal_instruction() -> int:
    return int(signal.SIGILL) if sys.platform != "win32" else 4
