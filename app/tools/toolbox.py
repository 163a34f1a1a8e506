"""The allow-list: every tool an assistant may be given, and the servers that add to it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from app.core.settings import Settings
from app.core.tool import ServerStatus, Tool
from app.tools import orchestration, pages, planning, prompt_user, steps, web
from app.tools.declared import Outside

if TYPE_CHECKING:
    from app.tools.mcp import McpServers
    from app.tools.tool_host_client import ToolHostClient


class Toolbox:
    """Holds Moot's own tools and speaks for the MCP servers; `core.tool.Tools` says what it answers.

    It owns `host` and `servers`: closing it closes both. `settings` gives the settings as they are
    now, `open_link` shows an address in the system's browser and says whether it could.
    """

    def __init__(
        self,
        host: "ToolHostClient",
        servers: "McpServers",
        settings: Callable[[], Settings],
        open_link: Callable[[str], Awaitable[bool]],
    ) -> None:
        self._host = host
        self._servers = servers
        outside = Outside(call=host.call, settings=settings, open_link=open_link)
        declared = (
            *web.TOOLS,
            *pages.TOOLS,
            *prompt_user.TOOLS,
            *planning.TOOLS,
            *orchestration.TOOLS,
            *steps.TOOLS,
        )
        self._allowed = tuple(one.bind(outside) for one in declared)

    def allowed(self) -> tuple[Tool, ...]:
        """Return the allow-list."""
        return self._allowed

    def servers(self) -> tuple[ServerStatus, ...]:
        """Return the MCP servers with their state."""
        return self._servers.servers()

    def server_tools(self, servers: Sequence[str]) -> tuple[Tool, ...]:
        """Return what connected servers offer and the user has allowed."""
        return self._servers.server_tools(servers)

    async def attach(self, servers: Sequence[str]) -> None:
        """Connect to servers that may run; returns when each is connected, down or asking."""
        await self._servers.attach(servers)

    async def consent(self, server: str) -> None:
        """Take note that the user allows a server as it is now, and connect."""
        await self._servers.consent(server)

    async def withdraw(self, server: str) -> None:
        """Forget that the user allowed a server, and let go of it."""
        await self._servers.withdraw(server)

    async def restart(self, server: str) -> None:
        """Connect to a server anew."""
        await self._servers.restart(server)

    async def close(self) -> None:
        """Let go of every server and of the tool host."""
        await self._servers.close()
        await self._host.close()
