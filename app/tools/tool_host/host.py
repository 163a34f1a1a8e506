"""Serves the parent: one task a request, a cancel ends it; services and MCP servers are loaded when first used."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from app.children.pipes import Pipes
from app.tools.tool_host.errors import RequestError

if TYPE_CHECKING:
    from app.tools.tool_host.mcp_servers import Servers

_LOG = logging.getLogger(__name__)
_TEXT_CHARACTERS = 200_000
_CLOSE_SECONDS = 2.5

Line = Mapping[str, Any]


class Host:
    """Reads requests until the parent goes, and answers each of them in a task of its own."""

    def __init__(self, pipes: Pipes) -> None:
        self._pipes = pipes
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._servers: Servers | None = None
        self._operations: Mapping[str, Callable[[Line], Awaitable[Mapping[str, Any]]]] = {
            "service": self._service,
            "connect": self._connect,
            "call": self._call,
            "disconnect": self._disconnect,
        }

    async def run(self) -> None:
        """Serve until standard input closes."""
        requests: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._pipes.read_into(requests)
        self._pipes.write({"ready": True})
        while (line := await requests.get()) is not None:
            self._serve(line)
        for task in self._tasks.values():
            task.cancel()
        if self._servers is not None:
            await self._servers.close(_CLOSE_SECONDS)

    def _serve(self, line: Line) -> None:
        if line["op"] == "cancel":
            if task := self._tasks.get(line["id"]):
                task.cancel()
        elif line["op"] == "answer":
            if self._servers is not None:
                self._servers.answer(line["ask"], line["answer"])
        else:
            task = asyncio.get_running_loop().create_task(self._guard(line))
            self._tasks[line["id"]] = task
            task.add_done_callback(lambda _: self._tasks.pop(line["id"]))

    async def _guard(self, line: Line) -> None:
        try:
            answer: dict[str, Any] = {"result": await self._operations[line["op"]](line)}
        except RequestError as error:
            answer = {"error": shortened(str(error)), "problem": error.problem}
        except Exception as error:
            _LOG.exception("a request failed in an unforeseen way")
            answer = {"error": shortened(f"unexpected: {type(error).__name__}: {error}")}
        self._pipes.write({"id": line["id"], **answer})

    async def _service(self, line: Line) -> Mapping[str, Any]:
        from app.tools.tool_host.services import SERVICES, ServiceError

        service = SERVICES.get(line["name"])
        if service is None:
            raise RequestError(f"There is no service {line['name']!r}.")
        try:
            result = await service(line["arguments"])
        except ServiceError as error:
            raise RequestError(str(error)) from error
        return {name: shortened(value) for name, value in result.items()}

    async def _connect(self, line: Line) -> Mapping[str, Any]:
        return await (await self._mcp()).connect(line["server"], line["limits"], line["log"])

    async def _call(self, line: Line) -> Mapping[str, Any]:
        def ask(question: Line) -> None:
            self._pipes.write({"id": line["id"], "ask": question})

        return await (await self._mcp()).call(line["server"], line["tool"], line["arguments"], ask)

    async def _disconnect(self, line: Line) -> Mapping[str, Any]:
        await (await self._mcp()).disconnect(line["server"])
        return {}

    async def _mcp(self) -> "Servers":
        if self._servers is None:
            servers = await asyncio.to_thread(_load_servers)
            if self._servers is None:
                self._servers = servers(self._pipes.write)
        return self._servers


def _load_servers() -> "type[Servers]":
    # The kit takes almost two seconds to import: not before somebody uses a server.
    from app.tools.tool_host.mcp_servers import Servers

    return Servers


def shortened(value: Any) -> Any:
    """Return a JSON value with every text of more than 200,000 characters cut, and a note where it was."""
    if isinstance(value, str) and len(value) > _TEXT_CHARACTERS:
        left = len(value) - _TEXT_CHARACTERS
        return f"{value[:_TEXT_CHARACTERS]}\n[cut: {left} more characters]"
    if isinstance(value, Mapping):
        return {name: shortened(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [shortened(item) for item in value]
    return value
