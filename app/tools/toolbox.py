"""The list of all tools that an assistant may be given: Moot's own, and those of MCP servers."""

from collections.abc import Awaitable, Callable
from typing import Any

from app.children.packages import in_thread
from app.core.store import Documents, Secrets
from app.core.tool import Tool
from app.tools import file_parts, orchestration, page_viewer, planning, prompt_user, web
from app.tools.declared import Outside
from app.tools.mcp import McpServers
from app.tools.tool_host_client import ToolHostClient


class Toolbox(McpServers):
    """Implements `core.tool.Tools`: Moot's own tools beside those of the MCP servers.

    Owns `host`, and closes it; `open_link` opens an address in the system's browser and returns whether that
    worked.
    """

    def __init__(
        self,
        documents: Documents,
        secrets: Secrets,
        host: ToolHostClient,
        *,
        open_link: Callable[[str], Awaitable[bool]],
        **others: Any,
    ) -> None:
        super().__init__(documents, secrets, host, **others)
        outside = Outside(call=host.call, settings=documents.settings, open_link=open_link)
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

    def can_fetch_viewer(self) -> bool:
        """Say whether the viewer of servers' pages is missing and can be installed here."""
        return page_viewer.can_install()

    async def fetch_viewer(self, progress: Callable[[int, int], None]) -> None:
        """Install the viewer of servers' pages; see `core.tool.Tools`."""
        await in_thread(page_viewer.install, progress, "viewer_not_fetched")

    async def close(self) -> None:
        """Disconnect every server and stop the tool host."""
        await super().close()
        await self._host.close()
