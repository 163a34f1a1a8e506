"""How a tool of Moot's own is declared: a documented function and what Moot must know of it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from app.core.session import DEFAULT_MODE, SETTINGS_MODE
from app.core.settings import Settings
from app.core.tool import Tool, ToolContext, ToolResult
from app.tools.signature import signature_of

Call = Callable[[str, Mapping[str, Any], float], Awaitable[dict[str, Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """What tools reach outside of the conversation.

    `call` runs a service of the tool host within some seconds (raises ToolError), `settings` gives the
    user's settings as they are now, `open_link` shows an address in the system's browser and says
    whether it could.
    """

    call: Call
    settings: Callable[[], Settings]
    open_link: Callable[[str], Awaitable[bool]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """A tool before it is bound: `function` takes Outside and ToolContext where it names them as types.

    The rest of its parameters and its docstring are what models see; the other fields are those of Tool.
    """

    key: str
    function: Callable[..., Awaitable[ToolResult]]
    group: str
    repeatable: bool = False
    asks: bool = False
    ends: bool = False
    modes: tuple[str, ...] = (DEFAULT_MODE, SETTINGS_MODE)

    def bind(self, outside: Outside) -> Tool:
        """Return the tool, ready to run."""
        signature = signature_of(self.function, (Outside, ToolContext))

        async def run(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
            checked = signature.checked(self.key, arguments)
            for name, kind in signature.given.items():
                checked[name] = outside if kind is Outside else context
            return await self.function(**checked)

        return Tool(
            key=self.key,
            description=signature.description,
            parameters=signature.parameters,
            run=run,
            group=self.group,
            repeatable=self.repeatable,
            asks=self.asks,
            ends=self.ends,
            consent=self.key if self.asks else "",
            modes=self.modes,
        )
