"""Makes tools of what MCP servers offer, and calls them: their questions, their progress and their results."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from app.core.forms import FormField
from app.core.message import Prompt
from app.core.tool import Control, McpServer, Tool, ToolContext, ToolResult, is_page
from app.tools.server_consents import Offer, ServerConsents, consent_of
from app.tools.server_entries import tool_key
from app.tools.server_library import ServerLibrary
from app.tools.tool_host_client import ToolHostClient


class ServerCalls:
    """Calls tools; `make_sure` connects a server and checks that its tool is the one the user allowed (raises ToolError)."""

    def __init__(
        self,
        host: ToolHostClient,
        consents: ServerConsents,
        library: ServerLibrary,
        make_sure: Callable[[McpServer, Offer], Awaitable[None]],
    ) -> None:
        self._host = host
        self._consents = consents
        self._make_sure = make_sure
        self._library = library

    def tool(self, server: McpServer, offer: Offer) -> Tool:
        """Return an offered tool, ready to run."""
        return Tool(
            key=tool_key(server.name, offer["name"]),
            description=offer["description"],
            parameters=offer["schema"],
            run=self._runner(server, offer),
            group=server.name,
            asks=self._consents.asks(server, offer),
            consent=consent_of(server, offer),
            reads=offer["reads"],
            name=offer["name"],
        )

    def _runner(
        self, server: McpServer, offer: Offer
    ) -> Callable[[Mapping[str, object], ToolContext], Awaitable[ToolResult]]:
        async def run(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
            async def ask(question: Mapping[str, Any]) -> str | None:
                text = await asyncio.to_thread(self._host.clean, question["question"])
                return await context.ask(
                    Prompt(
                        question=text,
                        type=question["type"],
                        options=tuple(question.get("options", ())),
                        fields=tuple(
                            _form_field(self._host.cleaned(one)) for one in question.get("fields", ())
                        ),
                        link=self._host.clean(question.get("link", "")),
                        tool=tool_key(server.name, offer["name"]),
                        server=server.name,
                    )
                )

            await self._make_sure(server, offer)
            line = {
                "op": "call",
                "server": server.name,
                "tool": offer["name"],
                "arguments": dict(arguments),
                "page": offer["ui"],
            }
            answer = await self._host.request(line, ask, context.report)
            # In a thread: a result may be long, and the event loop is the window's.
            return await asyncio.to_thread(self._result, server.name, answer)

        return run

    def _result(self, server: str, answer: Mapping[str, Any]) -> ToolResult:
        found = self._host.cleaned(answer["resources"])
        # What is no web page can be read through the server that named it, and through no other.
        resources = tuple(one if is_page(one) else {**one, "server": server} for one in found)
        return ToolResult(
            content=self._host.clean(answer["text"]),
            ok=answer["ok"],
            # A page ends the turn, because the user acts next.
            control=Control.WAIT if any(map(is_page, resources)) else Control.CONTINUE,
            resources=resources,
            attachments=self._library.attachments(answer["files"]),
        )


def _form_field(given: Mapping[str, Any]) -> FormField:
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in given.items()
    }
    return FormField(**values)
