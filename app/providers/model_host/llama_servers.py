"""The llama.cpp servers for models on this computer: a process for each model, as many as the memory takes."""

import asyncio
import contextlib
import dataclasses
import json
import secrets
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx

from app.children.processes import EMBEDDED_SERVER, child_command, child_environment
from app.core.errors import FailureKind, ProviderError
from app.core.model_facts import ModelQuirks
from app.core.owned_tasks import start_owned
from app.providers.embedded_server import KEY_VARIABLE, ServerSpec, memory_budget
from app.providers.model_host.request import ModelCall

_START_SECONDS = 300.0
_TRIAL_SECONDS = 60.0
_STOP_SECONDS = 2.0
_FACTS_SECONDS = 10.0
_UNUSED_SECONDS = 900.0
_GB = 1_000_000_000
# The exit codes of an illegal instruction, on POSIX and on Windows.
_ILLEGAL_INSTRUCTION = (-4, 0xC000001D, -1073741795)
_NO_CPU = "cpu: models on this computer need a processor with AVX2"


class LlamaServers:
    """Starts the server of a model at its first request, and again after it has died.

    A server is ended where another model needs its memory, or when it was not used for 15 minutes, but never while it
    answers. `budget` returns how many bytes further servers may take.
    """

    def __init__(self, budget: Callable[[], int] = memory_budget) -> None:
        self._budget = budget
        self._servers: dict[str, _Server] = {}
        self._changed = asyncio.Condition()
        self._unused: asyncio.Task[None] | None = None

    @contextlib.asynccontextmanager
    async def serving(self, call: ModelCall) -> AsyncIterator[ModelCall]:
        """Yield the call with the address and the key of its model's server. Raises ProviderError."""
        assert call.server is not None
        server = await self._take(call.server)
        try:
            quirks = ModelQuirks(no_system=not server.facts["system"])
            yield dataclasses.replace(call, base_url=server.base_url, key=server.key, quirks=quirks)
        finally:
            server.calls -= 1
            server.used_at = time.monotonic()
            async with self._changed:
                self._changed.notify_all()

    async def start(self, spec: ServerSpec) -> None:
        """Start the server of a model ahead of its first request. Raises ProviderError (not_installed, host, no_memory)."""
        server = await self._take(spec)
        server.calls -= 1

    async def unload(self, model: str) -> None:
        """End the server of a model, where one runs; an answer that it writes breaks off."""
        async with self._changed:
            if server := self._servers.get(model):
                await self._end(server)
                self._changed.notify_all()

    def facts(self, model: str) -> dict[str, Any]:
        """Return the fields of `ModelFacts` that a running server tells; {} where none runs."""
        server = self._servers.get(model)
        return {name: server.facts[name] for name in ("window", "tools")} if server is not None else {}

    async def close(self) -> None:
        """End all servers."""
        if self._unused is not None:
            self._unused.cancel()
        await asyncio.gather(*(server.close() for server in self._servers.values()))
        self._servers.clear()

    async def _take(self, spec: ServerSpec) -> "_Server":
        """Return the running server of a model, counted as in use."""
        async with self._changed:
            server = self._servers.get(spec.model)
            if server is None or not server.runs or server.spec != spec:
                if server is not None:
                    await self._end(server)
                await self._make_room(spec)
                server = self._servers[spec.model] = _Server(spec)
                try:
                    await server.start()
                except BaseException:
                    await self._end(server)
                    raise
            server.calls += 1
            if self._unused is None or self._unused.done():
                self._unused = start_owned(self._end_unused())
            return server

    async def _make_room(self, spec: ServerSpec) -> None:
        """End the servers that were not used for longest until a model fits; wait for those that answer."""
        while spec.memory > (budget := self._budget()) and self._servers:
            idle = [server for server in self._servers.values() if not server.calls]
            if idle:
                await self._end(min(idle, key=lambda one: one.used_at))
            else:
                await self._changed.wait()
        if spec.memory > budget and not spec.anyway:
            need, free = f"{spec.memory / _GB:.1f} GB", f"{budget / _GB:.1f} GB"
            raise ProviderError(FailureKind.NO_MEMORY, f"{spec.model}: {need}, {free}")

    async def _end(self, server: "_Server") -> None:
        if self._servers.get(server.spec.model) is server:
            del self._servers[server.spec.model]
        await server.close()

    async def _end_unused(self) -> None:
        while True:
            await asyncio.sleep(_UNUSED_SECONDS / 10)
            async with self._changed:
                for server in tuple(self._servers.values()):
                    if not server.calls and time.monotonic() - server.used_at > _UNUSED_SECONDS:
                        await self._end(server)


class _Server:
    """One server's process; `calls` is how many answers it writes now."""

    def __init__(self, spec: ServerSpec) -> None:
        self.spec = spec
        self.base_url = ""
        self.key = ""
        self.calls = 0
        self.used_at = time.monotonic()
        self.facts: dict[str, Any] = {}
        self._process: asyncio.subprocess.Process | None = None

    @property
    def runs(self) -> bool:
        return self._process is not None and self._process.returncode is None

    async def start(self) -> None:
        code = await self._start()
        if code is not None and not self.spec.trial:
            # A port or memory may have been missing for a moment.
            code = await self._start()
        if code is not None:
            raise ProviderError(FailureKind.HOST, f"{self.spec.model} did not start ({code})")

    async def _start(self) -> int | None:
        """Start the process; return its exit code if it ended before it was ready, 0 for a wrong answer."""
        self.key = secrets.token_urlsafe(24)
        process = await asyncio.create_subprocess_exec(
            *child_command(EMBEDDED_SERVER),
            json.dumps(dataclasses.asdict(self.spec)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=child_environment() | {KEY_VARIABLE: self.key, "OMP_WAIT_POLICY": "passive"},
        )
        self._process = process
        assert process.stdout is not None
        line = b""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_TRIAL_SECONDS if self.spec.trial else _START_SECONDS):
                line = await process.stdout.readline()
        if not line:
            await self.close()
            code = process.returncode or 0
            if code in _ILLEGAL_INSTRUCTION:
                raise ProviderError(FailureKind.NOT_INSTALLED, _NO_CPU)
            return code
        self.base_url = str(json.loads(line)["base_url"])
        try:
            self.facts = await self._ask_facts()
        except (httpx.HTTPError, ValueError, KeyError):
            await self.close()
            return 0
        return None

    async def _ask_facts(self) -> dict[str, Any]:
        """Ask the server which model it runs and what its template can do. Raises HTTPError, ValueError, KeyError."""
        # A proxy of the user's must not see requests to this computer.
        async with httpx.AsyncClient(timeout=_FACTS_SECONDS, trust_env=False) as client:
            address = self.base_url.removesuffix("/v1") + "/props"
            answer = await client.get(address, headers={"authorization": f"Bearer {self.key}"})
        props = answer.raise_for_status().json()
        if props["model_alias"] != self.spec.model:
            raise ValueError(props["model_alias"])
        template = props["chat_template_caps"]
        return {
            "window": int(props["default_generation_settings"]["n_ctx"]),
            "tools": bool(template["supports_tool_calls"]),
            "system": bool(template["supports_system_role"]),
        }

    async def close(self) -> None:
        """Stop the process and wait until it is gone."""
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
