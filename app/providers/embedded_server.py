"""The built-in model's server: llama.cpp over HTTP in a process of its own, and what starts and watches it.

The program is run as `python -m app.providers.embedded_server MODEL_FILE`, with its key in `MOOT_EMBEDDED_KEY`.
"""

import asyncio
import contextlib
import dataclasses
import json
import os
import secrets
import signal
import sys
from typing import TYPE_CHECKING

from app.children.processes import EMBEDDED_SERVER, child_command, child_environment, end_with_parent
from app.core.catalog import EMBEDDED_WINDOW
from app.core.errors import FailureKind, ProviderError

if TYPE_CHECKING:
    from app.providers.model_host.request import ModelCall

KEY_VARIABLE = "MOOT_EMBEDDED_KEY"
THREADS_VARIABLE = "MOOT_EMBEDDED_THREADS"
_START_SECONDS = 120.0
_STOP_SECONDS = 2.0
# The exit codes of an illegal instruction, on POSIX and on Windows.
_ILLEGAL_INSTRUCTION = (-4, 0xC000001D, -1073741795)
_NO_CPU = "cpu: the built-in model needs a processor with AVX2"


class EmbeddedServer:
    """The server's process: started at the first request, and again after it has died."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._base_url = ""
        self._key = ""
        self._starting = asyncio.Lock()

    async def address(self, call: "ModelCall") -> "ModelCall":
        """Return the call with the server's address and key. Raises ProviderError."""
        await self.start(call.model_file)
        return dataclasses.replace(call, base_url=self._base_url, key=self._key)

    async def start(self, model_file: str) -> None:
        """Start the server unless it runs. Raises ProviderError (not_installed, host)."""
        async with self._starting:
            if self._process is not None and self._process.returncode is None:
                return
            try:
                await self._start(model_file)
            except _DiedAtStart:
                # Try a second time: a port or memory may have been missing for a moment.
                try:
                    await self._start(model_file)
                except _DiedAtStart as error:
                    raise ProviderError(
                        FailureKind.HOST, f"the built-in model did not start ({error.code})"
                    ) from error

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
            if code in _ILLEGAL_INSTRUCTION:
                raise ProviderError(FailureKind.NOT_INSTALLED, _NO_CPU)
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
    """The server ended before it was ready, or did not answer in time."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def main() -> int:
    """Load the model, print `{"base_url"}` in one line, and serve until the parent goes."""
    end_with_parent()
    model_file = sys.argv[-1]
    key = os.environ.pop(KEY_VARIABLE)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Set before llama.cpp loads: waiting threads that spin would take the cores from every other program.
    os.environ["OMP_WAIT_POLICY"] = "passive"
    answers = os.dup(1)
    os.dup2(2, 1)
    import xllamacpp

    threads = int(os.environ.get(THREADS_VARIABLE, "0")) or min(4, max(1, (os.cpu_count() or 1) - 1))
    parameters = xllamacpp.CommonParams()
    parameters.model.path = model_file
    parameters.model_alias = {"smollm2-135m"}
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    parameters.n_ctx = EMBEDDED_WINDOW
    parameters.n_parallel = 4
    parameters.kv_unified = True
    parameters.n_gpu_layers = 0
    parameters.fit_params = False
    parameters.cache_ram_mib = 0
    parameters.ui = False
    parameters.verbosity = 0
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [key]
    server = xllamacpp.Server(parameters)
    os.write(answers, json.dumps({"base_url": f"{server.listening_address}/v1"}).encode() + b"\n")
    while os.read(0, 4096):
        pass
    # An orderly stop would wait for the answers in flight, which nobody needs any more.
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
