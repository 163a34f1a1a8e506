"""Serves the parent's requests to the web tools and to MCP servers; each part is loaded
when it is first used.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from app.children.processes import HostServer, Pipes
from app.core.json_values import as_object
from app.core.texts import clean_values
from app.core.tool import ToolError
from app.tools.tool_host.mcp_results import shortened
from app.tools.tool_host.server_processes import kill_all_groups

if TYPE_CHECKING:
    from app.tools.tool_host.mcp_server import Server

_LOG = logging.getLogger(__name__)
_CLOSE_SECONDS = 2.5

Line = Mapping[str, Any]


class ToolHost(HostServer):
    """Serves the operations `service`, `connect`, `call`, `library`, `disconnect`, and the answers
    to servers' questions.
    """

    def __init__(self, pipes: Pipes) -> None:
        super().__init__(pipes)
        self._servers: dict[str, Server] = {}
        self._connecting: dict[str, asyncio.Lock] = {}
        self._operations: Mapping[str, Callable[[Line], Awaitable[Line]]] = {
            "service": self._service,
            "connect": self._connect,
            "call": self._call,
            "library": self._library,
            "disconnect": self._disconnect,
            "answer": self._answer,
        }

    async def _do(self, line: dict[str, Any]) -> dict[str, Any]:
        try:
            return {"result": await self._operations[line["op"]](line)}
        except ToolError as error:
            return {"error": shortened(str(error)), "problem": error.problem}
        except Exception as error:
            _LOG.exception("a request failed in an unforeseen way")
            return {"error": shortened(f"unexpected: {type(error).__name__}: {error}")}

    async def _close(self) -> None:
        leaving = [asyncio.create_task(server.leave()) for server in self._servers.values()]
        if leaving:
            await asyncio.wait(leaving, timeout=_CLOSE_SECONDS)
        kill_all_groups()

    async def _service(self, line: Line) -> Line:
        # Imported by the first use of a service.
        from app.tools.tool_host.web import SERVICES

        service = SERVICES.get(line["name"])
        if service is None:
            raise ToolError(f"There is no service {line['name']!r}.")
        return as_object(clean_values(await service(line["arguments"]), shortened))

    async def _connect(self, line: Line) -> Line:
        """Connect to a server, again if it was connected, and return what it offers. Raises ToolError."""
        connection = await asyncio.to_thread(_load_mcp)
        name = str(line["server"]["name"])
        async with self._connecting.setdefault(name, asyncio.Lock()):
            if old := self._servers.pop(name, None):
                await old.leave()
            put = self._putting(line) if line.get("login") else None
            server = connection(line["server"], line["limits"], line["log"], self._pipes.write, put)
            self._servers[name] = server
            try:
                await server.connected()
            except BaseException:
                await server.leave()
                raise
            return server.offers

    async def _call(self, line: Line) -> Line:
        server = self._connected(line)
        return await server.call(line["tool"], line["arguments"], line["page"], self._putting(line))

    def _putting(self, line: Line) -> Callable[[Line], None]:
        """Return what writes lines that come before the answer to a request: questions and progress."""
        return lambda more: self._pipes.write({"id": line["id"], **more})

    async def _library(self, line: Line) -> Line:
        return await self._connected(line).look_up(line)

    async def _disconnect(self, line: Line) -> Line:
        if server := self._servers.pop(line["server"], None):
            await server.leave()
        return {}

    async def _answer(self, line: Line) -> Line:
        """Pass on the user's answer to a server's question."""
        for server in self._servers.values():
            server.answer(line["ask"], line["answer"])
        return {}

    def _connected(self, line: Line) -> "Server":
        """Return the server that a request is for. Raises ToolError."""
        server = self._servers.get(line["server"])
        if server is None:
            raise ToolError(f"The MCP server {line['server']!r} is not connected.")
        return server


def _load_mcp() -> "type[Server]":
    # The MCP library takes almost two seconds to import, so it is imported by the first use of a server.
    from app.tools.tool_host.mcp_server import Server

    return Server
