"""The list of all tools that an assistant may be given: Moot's own, and those of MCP servers."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from app.children.packages import PackageError, in_thread
from app.core.errors import MootError
from app.core.message import Attachment
from app.core.saved_prompt import ServerPrompt
from app.core.settings import Settings
from app.core.tool import ServerResource, ServerStatus, Tool
from app.tools import file_parts, orchestration, page_viewer, planning, prompt_user, web
from app.tools.declared import Outside

if TYPE_CHECKING:
    from app.tools.mcp import McpServers
    from app.tools.tool_host_client import ToolHostClient


class Toolbox:
    """Implements `core.tool.Tools` with Moot's own tools and those of the MCP servers.

    Owns `host` and `servers`, and closes both. `settings` returns the current settings, `open_link` opens an
    address in the system's browser and returns whether that worked.
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
            *prompt_user.TOOLS,
            *planning.TOOLS,
            *file_parts.TOOLS,
            *orchestration.TOOLS,
            *orchestration.STEP_TOOLS,
        )
        self._allowed = tuple(one.bind(outside) for one in declared)

    def allowed(self) -> tuple[Tool, ...]:
        """Return Moot's own tools."""
        return self._allowed

    def servers(self) -> tuple[ServerStatus, ...]:
        """Return the MCP servers with their states."""
        return self._servers.servers()

    def server_tools(self, servers: Sequence[str]) -> tuple[Tool, ...]:
        """Return the tools of these servers that the user has allowed."""
        return self._servers.server_tools(servers)

    async def attach(self, servers: Sequence[str]) -> None:
        """Connect to servers that may run; returns when each is connected, down or waits for consent."""
        await self._servers.attach(servers)

    async def consent(self, server: str) -> None:
        """Save that the user allows a server as it is now, and connect."""
        await self._servers.consent(server)

    async def withdraw(self, server: str) -> None:
        """Withdraw the consent to a server, and disconnect it."""
        await self._servers.withdraw(server)

    async def permit(self, consents: Collection[str]) -> None:
        """Save that these tools run without a question for good; one that has changed since asks again."""
        await self._servers.permit(consents)

    async def ask_again(self, server: str) -> None:
        """Withdraw the lasting permissions of a server's tools."""
        await self._servers.ask_again(server)

    async def restart(self, server: str) -> None:
        """Connect to a server again."""
        await self._servers.restart(server)

    async def resources(self, server: str) -> tuple[ServerResource, ...]:
        """Return the resources of a server. Raises ToolError."""
        return await self._servers.library.resources(server)

    async def read_resource(self, server: str, uri: str) -> tuple[Attachment, ...]:
        """Return what is in a resource, as files. Raises ToolError."""
        return await self._servers.library.read(server, uri)

    async def prompt(
        self, prompt: ServerPrompt, values: Mapping[str, str]
    ) -> tuple[str, tuple[Attachment, ...]]:
        """Return the text of a server's prompt, and the files it names. Raises ToolError."""
        return await self._servers.library.prompt(prompt, values)

    async def log(self, server: str) -> str:
        """Return the last lines of a server's log."""
        return await self._servers.log(server)

    async def login(
        self, server: str, agree: Callable[[str], Awaitable[bool]], client: Mapping[str, str] | None = None
    ) -> None:
        """Log in to a server and connect; `agree` asks the user about the page's address and opens it."""
        await self._servers.login(server, agree, client)

    async def logout(self, server: str) -> bool:
        """Forget the tokens of a server's login and disconnect it; false where the keyring may still have them."""
        return await self._servers.logout(server)

    def can_fetch_viewer(self) -> bool:
        """Say whether the viewer of servers' pages is missing and can be installed here."""
        return page_viewer.can_install()

    async def fetch_viewer(self, progress: Callable[[int, int], None]) -> None:
        """Install the viewer of servers' pages; see `core.tool.Tools`."""
        try:
            await in_thread(page_viewer.install, progress)
        except PackageError as error:
            raise MootError("viewer_not_fetched", detail=str(error)) from error

    async def close(self) -> None:
        """Disconnect every server and stop the tool host."""
        await self._servers.close()
        await self._host.close()
