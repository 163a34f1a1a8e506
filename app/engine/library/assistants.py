"""The commands of assistants; `engine.assistants` for the window and the command line."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.core.agent import Agent
from app.core.errors import BadInput
from app.core.events import AssistantsChanged, EventBus
from app.core.store import Documents
from app.core.tool import ToolChoice, Tools
from app.engine.library.agents import GIVEN
from app.engine.library.definitions import Definitions, LibraryKind, Shared
from app.engine.turns.sub_agents import SUB_AGENT

MAX_INSTRUCTIONS = 100_000
MAX_DEPTH = 10
MAX_STEPS = 100

_KIND = LibraryKind(
    noun=Agent,
    name="assistant",
    store=lambda documents: documents.assistants,
    changed=AssistantsChanged,
    order="assistant_order",
    shared=(
        *("name", "description", "role", "provider", "model", "instructions"),
        *("tools", "sub_agents", "pages", "max_depth", "max_steps"),
    ),
    silent=("enabled", "busy"),
)
_CALL_OTHERS = ToolChoice(key=SUB_AGENT, description="Give a task to another assistant and get its summary.")


class Assistants(Definitions[Agent]):
    """What a user may do with assistants."""

    def __init__(
        self,
        documents: Documents,
        tools: Tools,
        bus: EventBus,
        language: Callable[[], str],
        built_in: Mapping[str, Sequence[Agent]],
    ) -> None:
        super().__init__(_KIND, documents, bus, language, built_in)
        self._tools = tools

    def tools(self) -> tuple[ToolChoice, ...]:
        """Return what an assistant may be given, `subAgent` first; an orchestrator's own tools are not."""
        given = (
            ToolChoice(key=tool.key, description=tool.description, group=tool.group)
            for tool in self._tools.allowed()
            if tool.group not in GIVEN
        )
        return (_CALL_OTHERS, *given)

    def _checked(self, definition: Agent) -> Agent:
        agent = super()._checked(definition)
        if len(agent.instructions) > MAX_INSTRUCTIONS:
            raise BadInput("text_too_long", characters=len(agent.instructions), most=MAX_INSTRUCTIONS)
        if bool(agent.provider) != bool(agent.model):
            raise BadInput("assistant_model")
        if not 0 <= agent.max_depth <= MAX_DEPTH or not 1 <= agent.max_steps <= MAX_STEPS:
            raise BadInput("assistant_limits", depth=MAX_DEPTH, steps=MAX_STEPS)
        return agent

    def _from_shared(self, document: Mapping[str, Any]) -> Shared[Agent]:
        """Return a shared assistant without the tools that are not on the allow-list."""
        shared = super()._from_shared(document)
        known = {key for tool in self.tools() for key in (tool.key, tool.group) if key}
        wanted = shared.definition.tools
        agent = replace(shared.definition, tools=tuple(key for key in wanted if key in known))
        dropped = (f"tools: {key}" for key in wanted if key not in known)
        return Shared(definition=agent, dropped=(*dropped, *shared.dropped))
