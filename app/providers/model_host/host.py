"""Serves the parent: one task a request, a cancel ends the task and with it the connection."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import litellm

from app.children.pipes import Pipes
from app.core import errors
from app.core.catalog import EMBEDDED
from app.core.errors import ProviderError
from app.providers.embedded import EmbeddedServer
from app.providers.errors import Classified, classify
from app.providers.model_host.answer import Asker, CallFailed
from app.providers.model_host.delta_buffer import Outlet
from app.providers.model_host.prices import listed_price
from app.providers.model_host.request import Call
from app.providers.model_host.trial import list_models, try_provider
from app.providers.model_host.warm_up import warm_up

_LOG = logging.getLogger(__name__)


class Host:
    """Reads requests until the parent goes, and answers each of them in a task of its own."""

    def __init__(self, pipes: Pipes) -> None:
        self._pipes = pipes
        self._asker = Asker()
        self._embedded = EmbeddedServer()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._background: set[asyncio.Task[None]] = set()
        self._warm = asyncio.Event()

    async def run(self) -> None:
        """Serve until standard input closes."""
        requests: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._pipes.read_into(requests)
        self._pipes.write({"ready": True})
        self._start_in_background(self._warm_up())
        while (line := await requests.get()) is not None:
            self._serve(line)
        for task in [*self._tasks.values(), *self._background]:
            task.cancel()
        await self._embedded.close()

    def _serve(self, line: Mapping[str, Any]) -> None:
        if line["op"] == "cancel":
            if task := self._tasks.get(line["id"]):
                task.cancel()
        elif line["op"] == "price":
            self._pipes.write({"id": line["id"], "price": listed_price(line["kind"], line["model"])})
        elif line["op"] == "warm":
            self._start_in_background(self._warm_embedded(line["model_file"]))
        else:
            serve = {"test": self._test, "list": self._list}.get(line["op"], self._stream)
            call = Call.from_line(line)
            task = asyncio.get_running_loop().create_task(self._guard(call, serve))
            self._tasks[call.call_id] = task
            task.add_done_callback(lambda _: self._tasks.pop(call.call_id))

    async def _guard(self, call: Call, serve: Callable[[Call], Awaitable[None]]) -> None:
        try:
            # The first call loads much of LiteLLM, which no time limit of a provider should count.
            await self._warm.wait()
            if call.kind == EMBEDDED:
                call = await self._embedded.address(call)
            await serve(call)
        except CallFailed as error:
            self._fail(call, error.failure)
        except ProviderError as error:
            self._fail(call, Classified(kind=error.kind, detail=error.detail, retry_after=error.retry_after))
        except Exception as error:
            _LOG.exception("a request failed in an unforeseen way")
            self._fail(call, Classified(kind=errors.HOST, detail=classify(error, call.secrets).detail))

    def _fail(self, call: Call, failure: Classified) -> None:
        error = {"kind": failure.kind, "detail": failure.detail, "retry_after": failure.retry_after}
        self._pipes.write({"id": call.call_id, "error": error})

    async def _stream(self, call: Call) -> None:
        outlet = Outlet(self._pipes, call.call_id, call.opener)
        try:
            finished = await self._asker.ask(call, outlet)
        finally:
            outlet.close()
        self._pipes.write({"id": call.call_id, "finished": finished})

    async def _test(self, call: Call) -> None:
        self._pipes.write({"id": call.call_id, "tested": await try_provider(call, self._asker)})

    async def _list(self, call: Call) -> None:
        self._pipes.write({"id": call.call_id, "tested": {"ok": True, "models": await list_models(call)}})

    def _start_in_background(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _warm_up(self) -> None:
        await warm_up(litellm.acompletion)
        self._warm.set()
        self._pipes.write({"warm": True})

    async def _warm_embedded(self, model_file: str) -> None:
        try:
            await self._embedded.start(model_file)
        except ProviderError:
            # The first request says so to whoever asks.
            _LOG.info("the embedded model could not be started ahead of time")
