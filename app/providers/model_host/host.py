"""Serves the parent's requests to models, and warms LiteLLM up before the first of them.

`trial` is the Test button: lists a provider's models and gets one short answer. Models on this computer have
a llama.cpp server each, as many as the memory takes.
"""

import asyncio
import contextlib
import dataclasses
import json
import logging
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
import litellm
import msgspec

from app.children import processes
from app.core.catalog import LOCAL, best_model
from app.core.errors import FailureKind, ProviderError
from app.core.owned_tasks import start_owned
from app.core.provider import ModelQuirks
from app.providers.embedded_server import KEY_VARIABLE, ServerSpec, memory_budget
from app.providers.errors import classify, classify_status
from app.providers.model_host.answer import DeltaBuffer, ask
from app.providers.model_host.facts import listed_facts, listed_price, running_window, told_facts
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

    A server is ended where another model needs its memory, or when it was not used for 15 minutes, but never
    while it answers. `budget` returns how many bytes further servers may take.
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
        """Start the server of a model ahead of its first request.
        Raises ProviderError (not_installed, host, no_memory).
        """
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
                await self._end(min(idle, key=lambda item: item.used_at))
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
        env = processes.child_environment() | {KEY_VARIABLE: self.key, "OMP_WAIT_POLICY": "passive"}
        spec = json.dumps(dataclasses.asdict(self.spec))
        command = (*processes.child_command(processes.EMBEDDED_SERVER), spec)
        pipe = asyncio.subprocess.PIPE
        process = await processes.start_program(*command, stdin=pipe, stdout=pipe, env=env)
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
        """Ask the server which model it runs and what its template can do.
        Raises HTTPError, ValueError, KeyError.
        """
        # A proxy of the user's must not see requests to this computer.
        async with httpx.AsyncClient(timeout=_FACTS_SECONDS, trust_env=False) as client:
            address = self.base_url.removesuffix("/v1") + "/props"
            answer = await client.get(address, headers={"authorization": f"Bearer {self.key}"})
        props = answer.raise_for_status().json()
        if props["model_alias"] != self.spec.model:
            raise ValueError(props["model_alias"])
        window, template = int(props["default_generation_settings"]["n_ctx"]), props["chat_template_caps"]
        can = {name: bool(template[f"supports_{name}"]) for name in ("tool_calls", "system_role")}
        return {"window": window, "tools": can["tool_calls"], "system": can["system_role"]}

    async def close(self) -> None:
        """Stop the process and wait until it is gone."""
        process, self._process = self._process, None
        if process is not None:
            await processes.stop_program(process, _STOP_SECONDS)


_MAX_TOKENS = 16
_NO_LIST = (404, 405, 501)
# What a proxy answers where it does not reach the server.
_UNREACHED = (502, 503, 504)


async def try_provider(call: ModelCall) -> dict[str, Any]:
    """Return the fields of `TestResult`. Raises ProviderError when there is no model to ask."""
    told = await list_models(call)
    models, model = list(told), call.model
    if models and model not in models and (not model or model in call.row.models):
        # The user did not choose this model, so any that the server has will do.
        model = best_model(call.row.models, models)
    if not model:
        raise ProviderError(FailureKind.MODEL_NOT_FOUND, "the server names no model")
    started = asyncio.get_running_loop().time()
    said = [{"role": "user", "content": "Say: ready."}]
    trial = dataclasses.replace(call, model=model, messages=said, max_tokens=_MAX_TOKENS)
    try:
        await ask(trial, DeltaBuffer(lambda _: None))
    except ProviderError as error:
        return {"ok": False, "models": told, "model": model, "failure": error.kind, "detail": error.detail}
    seconds = asyncio.get_running_loop().time() - started
    return {"ok": True, "models": told, "model": model, "seconds": seconds}


async def reaches(base_url: str, seconds: float) -> bool:
    """Return whether a server answers at an address, through the user's proxy where there is one;
    whatever it answers.
    """
    try:
        async with httpx.AsyncClient(timeout=seconds) as client, client.stream("GET", base_url) as response:
            return response.status_code not in _UNREACHED
    except httpx.ReadTimeout:
        # Something has taken the request.
        return True
    except httpx.HTTPError:
        return False


async def list_models(call: ModelCall) -> dict[str, dict[str, Any]]:
    """Return the names of a provider's models, each with the fields of `ModelFacts` that the list has.

    None if it has no list of them. Raises ProviderError.
    """
    if call.row.own_names:
        return {}
    if call.server is not None:
        return {call.model: {}}
    path, headers = "/models", {"authorization": f"Bearer {call.key or 'no-key'}"}
    if call.kind == "anthropic":
        path, headers = "/v1/models?limit=1000", {"x-api-key": call.key, "anthropic-version": "2023-06-01"}
    elif call.kind == "gemini":
        path, headers = "/models?pageSize=1000", {"x-goog-api-key": call.key}
    limits = httpx.Timeout(call.limits.first_token, connect=call.limits.connect)
    try:
        async with httpx.AsyncClient(timeout=limits, follow_redirects=True) as client:
            response = await client.get(call.base_url + path, headers=headers)
    except httpx.HTTPError as error:
        raise classify(error, call.secrets) from error
    if response.status_code in _NO_LIST:
        return {}
    if response.is_error:
        raise classify_status(response.status_code, response.text, response.headers, call.secrets)
    try:
        return _listed(response.json())
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        failure = classify_status(502, response.text, {}, call.secrets)
        raise ProviderError(FailureKind.BAD_RESPONSE, failure.detail, failure.retry_after) from error


def _listed(body: Any) -> dict[str, dict[str, Any]]:
    """Return the models of a list, be it in an object or bare; an entry without a name is left out."""
    rows = body if isinstance(body, list) else body["data"] if "data" in body else body["models"]
    named = ((row.get("id") or row.get("name"), row) for row in rows if isinstance(row, dict))
    return {str(name).removeprefix("models/"): told_facts(row) for name, row in named if name}


_LOG = logging.getLogger(__name__)
# The warm-up only loads code; on a machine too busy for that, the first request must not wait longer.
_WARM_UP_SECONDS = 15.0
_WARM_UP_CHUNK = (
    'data: {"id":"0","object":"chat.completion.chunk","created":0,"model":"warm","choices":'
    '[{"index":0,"delta":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}\n\n'
)
_WARM_UP_ANSWER = (
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
    f"{_WARM_UP_CHUNK}data: [DONE]\n\n"
)


class ModelHost(processes.HostServer):
    """Serves the operations `stream`, `test`, `list`, `price`, `facts`, `window`, `reach`, `warm`
    and `unload`.
    """

    def __init__(self, pipes: processes.Pipes) -> None:
        super().__init__(pipes)
        self._servers = LlamaServers()
        self._warm = asyncio.Event()

    async def run(self) -> None:
        self._start("warm up", self._warm_up())
        await super().run()

    async def _do(self, line: dict[str, Any]) -> dict[str, Any]:
        try:
            return await self._asked(line)
        except ProviderError as error:
            failure = error
        except Exception as error:
            _LOG.exception("a request could not be read")
            # Only the kind of the error: its text may hold the request's key.
            failure = ProviderError(FailureKind.HOST, type(error).__name__)
        return {"error": {"kind": failure.kind, "detail": failure.detail, "retry_after": failure.retry_after}}

    async def _asked(self, line: dict[str, Any]) -> dict[str, Any]:
        """Return the last line of the answer to a request. Raises ProviderError."""
        operation = line["op"]
        if operation == "price":
            return {"price": listed_price(line["kind"], line["model"])}
        if operation == "facts":
            return {"facts": listed_facts(line["kind"], line["model"])}
        if operation == "window":
            window, sure = await running_window(line["kind"], line["base_url"], line["key"], line["model"])
            return {"window": window, "sure": sure}
        if operation == "reach":
            return {"reached": await reaches(line["base_url"], line["seconds"])}
        if operation == "warm":
            await self._warm_server(ServerSpec(**line["server"]))
            return {}
        if operation == "unload":
            await self._servers.unload(line["model"])
            return {"unloaded": True}
        call = msgspec.convert(line, ModelCall)
        try:
            return await self._called(call, operation)
        except ProviderError:
            raise
        except Exception as error:
            _LOG.exception("a request failed in an unforeseen way")
            raise ProviderError(FailureKind.HOST, classify(error, call.secrets).detail) from error

    async def _called(self, call: ModelCall, operation: str) -> dict[str, Any]:
        # The first call loads much of LiteLLM, which no time limit of a provider should count.
        await self._warm.wait()
        async with contextlib.AsyncExitStack() as stack:
            if call.server is not None:
                call = await stack.enter_async_context(self._servers.serving(call))
                if call.kind == LOCAL:
                    self._pipes.write({"model": call.model, "facts": self._servers.facts(call.model)})
            if operation == "test":
                return {"tested": await try_provider(call)}
            if operation == "list":
                return {"tested": {"ok": True, "models": await list_models(call)}}
            return {"finished": await self._stream(call)}

    async def _close(self) -> None:
        await self._servers.close()

    async def _stream(self, call: ModelCall) -> dict[str, Any]:
        """Stream an answer, and return the fields of `Finished`."""
        buffer = DeltaBuffer(lambda line: self._pipes.write({"id": call.id, **line}), call.opener)
        try:
            return await ask(call, buffer)
        finally:
            buffer.close()

    async def _warm_up(self) -> None:
        await warm_up(litellm.acompletion)
        self._warm.set()
        self._pipes.write({"warm": True})

    async def _warm_server(self, spec: ServerSpec) -> None:
        try:
            await self._servers.start(spec)
        except ProviderError:
            # The first request reports it to its caller.
            _LOG.info("the built-in model could not be started ahead of time")


async def warm_up(acompletion: Callable[..., Awaitable[Any]]) -> None:
    """Stream one answer from a loopback server: LiteLLM's first call loads code for almost a second."""
    with contextlib.suppress(Exception):
        server = await asyncio.start_server(_answer_warm_up, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server, asyncio.timeout(_WARM_UP_SECONDS):
            how: dict[str, Any] = {"max_retries": 0, "num_retries": 0, "_skip_mcp_handler": True}
            how |= {"stream": True, "stream_options": {"include_usage": True}}
            how["api_base"] = f"http://127.0.0.1:{port}/v1"
            said = [{"role": "user", "content": "ok"}]
            stream = await acompletion(model="openai/warm", messages=said, api_key="no-key", **how)
            async for _ in stream:
                pass


async def _answer_warm_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(_WARM_UP_ANSWER.encode())
    await writer.drain()
    writer.close()
