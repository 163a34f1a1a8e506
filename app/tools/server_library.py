"""Resources and prompts of MCP servers, as the tool host reports them."""

import asyncio
from collections.abc import Mapping
from typing import Any

from app.core.message import Attachment
from app.core.saved_prompt import ServerPrompt
from app.core.text import exact
from app.core.tool import ServerResource
from app.tools.tool_host_client import ToolHostClient


class ServerLibrary:
    """Lists and reads resources, and fills prompts in; everything raises ToolError."""

    def __init__(self, host: ToolHostClient) -> None:
        self._host = host

    async def resources(self, server: str) -> tuple[ServerResource, ...]:
        """Return the resources of a connected server."""
        answer = await self._ask("resources", server)
        return tuple(ServerResource(**self._host.cleaned(one)) for one in answer["resources"])

    async def read(self, server: str, uri: str) -> tuple[Attachment, ...]:
        """Return what is in a resource, as files."""
        answer = await self._ask("read", server, uri=uri)
        return await asyncio.to_thread(self.attachments, answer["files"])

    async def prompt(
        self, prompt: ServerPrompt, values: Mapping[str, str]
    ) -> tuple[str, tuple[Attachment, ...]]:
        """Return the text of a prompt with these values, and the files it names."""
        answer = await self._ask("prompt", prompt.server, name=prompt.key, values=dict(values))
        files = await asyncio.to_thread(self.attachments, answer["files"])
        return self._host.clean(answer["text"]), files

    def attachments(self, files: list[Mapping[str, str]]) -> tuple[Attachment, ...]:
        """Return files of the host as attachments."""
        return tuple(
            Attachment(
                name=self._host.clean(one["name"]),
                media_type=one["media_type"],
                text=self._host.clean(one["text"]),
                data=one["data"],
            )
            for one in files
        )

    def prompts(self, server: str, listed: list[Mapping[str, Any]]) -> tuple[ServerPrompt, ...]:
        """Return the listed prompts of a server, each called by its title and the server's name."""
        return tuple(
            ServerPrompt(
                id=f"{server}/{one['name']}",
                name=f"{one['title']} · {exact(server)}",
                text="",
                server=server,
                key=one["name"],
                arguments=tuple((each["name"], each["title"]) for each in one["arguments"]),
            )
            for one in self._host.cleaned(listed)
        )

    async def _ask(self, what: str, server: str, **more: object) -> dict[str, Any]:
        return await self._host.request({"op": "library", "what": what, "server": server, **more})
