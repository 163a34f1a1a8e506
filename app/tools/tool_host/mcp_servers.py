"""The connected MCP servers by name; importing this takes two seconds, for the MCP library."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from app.tools.tool_host.errors import RequestError
from app.tools.tool_host.mcp_log import ServerLog
from app.tools.tool_host.mcp_server import Server
from app.tools.tool_host.server_processes import groups, kill_all_groups

Line = Mapping[str, Any]

# The MCP library logs what servers send, secrets included; a server's state tells what matters.
for _name in ("mcp", "client", "httpx2"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)


class RunningServers:
    """Connects servers, calls their tools, and ends them all; `news` gets lines for the parent."""

    def __init__(self, news: Callable[[Line], None]) -> None:
        self._news = news
        self._servers: dict[str, Server] = {}
        self._connecting: dict[str, asyncio.Lock] = {}

    async def connect(
        self,
        entry: Line,
        limits: Mapping[str, float],
        log_path: str,
        ask: Callable[[Line], None] | None = None,
    ) -> dict[str, Any]:
        """Connect to a server, again if it was connected, and return its tools. Raises RequestError.

        `limits` are the seconds for `connect`, `call` and `login`; the texts in the entry's `secrets` are in no log. With
        `ask`, which puts the address of the page to the user, the user logs in anew.
        """
        name = str(entry["name"])
        async with self._connecting.setdefault(name, asyncio.Lock()):
            if old := self._servers.pop(name, None):
                await old.leave()
            log = ServerLog(Path(log_path) if log_path else None, entry.get("secrets", ()))
            server = self._servers[name] = Server(entry, limits, log, self._news, self._tell_groups, ask)
            try:
                await server.connected()
            except BaseException:
                await server.leave()
                raise
            return server.offers

    async def disconnect(self, name: str) -> None:
        """Disconnect a server, if it is connected."""
        if server := self._servers.pop(name, None):
            await server.leave()

    async def call(self, line: Line, ask: Callable[[Line], None]) -> dict[str, Any]:
        """Call the tool of a connected server that a line names. Raises RequestError."""
        return await self._named(line).call(line["tool"], line["arguments"], line["page"], ask)

    async def look_up(self, line: Line) -> dict[str, Any]:
        """Return what a line asks about the resources and prompts of a connected server. Raises RequestError."""
        return await self._named(line).look_up(line)

    def _named(self, line: Line) -> Server:
        server = self._servers.get(line["server"])
        if server is None:
            raise RequestError(f"The MCP server {line['server']!r} is not connected.")
        return server

    def answer(self, number: int, words: str | None) -> None:
        """Pass on the user's answer to a server's question."""
        for server in self._servers.values():
            server.answer(number, words)

    async def close(self, seconds: float) -> None:
        """Disconnect every server, in an orderly way within this many seconds."""
        leaving = [asyncio.create_task(server.leave()) for server in self._servers.values()]
        if leaving:
            await asyncio.wait(leaving, timeout=seconds)
        kill_all_groups()

    def _tell_groups(self) -> None:
        self._news({"groups": groups()})
