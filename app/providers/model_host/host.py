"""Serves the parent's requests to models, and warms LiteLLM up before the first of them."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import litellm

from app.children.pipes import HostServer, Pipes
from app.core import errors
from app.core.catalog import LOCAL
from app.core.errors import ProviderError
from app.providers.embedded_server import ServerSpec
from app.providers.errors import Classified, classify
from app.providers.model_host.answer import CallFailed, ask
from app.providers.model_host.deltas import DeltaBuffer
from app.providers.model_host.facts import listed_facts
from app.providers.model_host.llama_servers import LlamaServers
from app.providers.model_host.prices import listed_price
from app.providers.model_host.request import ModelCall
from app.providers.model_host.running_window import running_window
from app.providers.model_host.trial import list_models, reaches, try_provider

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


class ModelHost(HostServer):
    """Serves the operations `stream`, `test`, `list`, `price`, `facts`, `window`, `reach`, `warm` and `unload`."""

    def __init__(self, pipes: Pipes) -> None:
        super().__init__(pipes)
        self._servers = LlamaServers()
        self._warm = asyncio.Event()

    async def run(self) -> None:
        self._start("warm up", self._warm_up())
        await super().run()

    async def _serve(self, line: dict[str, Any]) -> None:
        try:
            await self._serve_line(line)
        except Exception as error:
            _LOG.exception("a request could not be read")
            # Only the kind of the error: its text may hold the request's key.
            failure = {"kind": errors.FailureKind.HOST, "detail": type(error).__name__, "retry_after": None}
            self._pipes.write({"id": line["id"], "error": failure})

    async def _serve_line(self, line: dict[str, Any]) -> None:
        if line["op"] == "price":
            self._pipes.write({"id": line["id"], "price": listed_price(line["kind"], line["model"])})
        elif line["op"] == "facts":
            self._pipes.write({"id": line["id"], "facts": listed_facts(line["kind"], line["model"])})
        elif line["op"] == "window":
            window, sure = await running_window(line["kind"], line["base_url"], line["key"], line["model"])
            self._pipes.write({"id": line["id"], "window": window, "sure": sure})
        elif line["op"] == "reach":
            self._pipes.write({"id": line["id"], "reached": await reaches(line["base_url"], line["seconds"])})
        elif line["op"] == "warm":
            await self._warm_server(ServerSpec(**line["server"]))
        elif line["op"] == "unload":
            await self._servers.unload(line["model"])
            self._pipes.write({"id": line["id"], "unloaded": True})
        else:
            await self._serve_call(ModelCall.from_line(line), line["op"])

    async def _serve_call(self, call: ModelCall, operation: str) -> None:
        serve = {"test": self._test, "list": self._list}.get(operation, self._stream)
        try:
            # The first call loads much of LiteLLM, which no time limit of a provider should count.
            await self._warm.wait()
            if call.server is None:
                await serve(call)
                return
            async with self._servers.serving(call) as served:
                if call.kind == LOCAL:
                    self._pipes.write({"model": call.model, "facts": self._servers.facts(call.model)})
                await serve(served)
        except CallFailed as error:
            self._fail(call, error.failure)
        except ProviderError as error:
            self._fail(call, Classified(kind=error.kind, detail=error.detail, retry_after=error.retry_after))
        except Exception as error:
            _LOG.exception("a request failed in an unforeseen way")
            self._fail(
                call, Classified(kind=errors.FailureKind.HOST, detail=classify(error, call.secrets).detail)
            )

    async def _close(self) -> None:
        await self._servers.close()

    def _fail(self, call: ModelCall, failure: Classified) -> None:
        error = {"kind": failure.kind, "detail": failure.detail, "retry_after": failure.retry_after}
        self._pipes.write({"id": call.call_id, "error": error})

    async def _stream(self, call: ModelCall) -> None:
        buffer = DeltaBuffer(self._pipes, call.call_id, call.opener)
        try:
            finished = await ask(call, buffer)
        finally:
            buffer.close()
        self._pipes.write({"id": call.call_id, "finished": finished})

    async def _test(self, call: ModelCall) -> None:
        self._pipes.write({"id": call.call_id, "tested": await try_provider(call)})

    async def _list(self, call: ModelCall) -> None:
        self._pipes.write({"id": call.call_id, "tested": {"ok": True, "models": await list_models(call)}})

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
            stream = await acompletion(
                model="openai/warm",
                messages=[{"role": "user", "content": "ok"}],
                api_base=f"http://127.0.0.1:{port}/v1",
                api_key="no-key",
                stream=True,
                stream_options={"include_usage": True},
                max_retries=0,
                num_retries=0,
                _skip_mcp_handler=True,
            )
            async for _ in stream:
                pass


async def _answer_warm_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(_WARM_UP_ANSWER.encode())
    await writer.drain()
    writer.close()
