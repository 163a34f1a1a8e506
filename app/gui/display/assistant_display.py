"""How assistants are shown: their colours and the names of their models."""

from collections.abc import Sequence

from app.core.agent import Agent
from app.core.catalog import provider_kind
from app.core.ids import is_id
from app.core.provider import ProviderStatus
from app.core.tool import ToolChoice
from app.gui.display.i18n import Language


def colours_of(agents: Sequence[Agent]) -> dict[str, int]:
    """Return the index of each assistant's colour, by its id.

    It does not depend on their order: built-in assistants come first, then the user's by age, so that a new one takes
    nobody's colour.
    """
    ids = sorted((agent.id for agent in agents), key=lambda agent_id: (is_id(agent_id), agent_id))
    return {agent_id: place for place, agent_id in enumerate(ids)}


def names_of(agents: Sequence[Agent]) -> dict[str, str]:
    """Return the name of each assistant by its id."""
    return {agent.id: agent.name for agent in agents}


def short_model(agent: Agent, providers: Sequence[ProviderStatus], words: Language) -> str:
    """Return a short name of an assistant's model: its family, else the provider's name."""
    if not agent.provider:
        return words("assistant.model.default.short")
    status = next((one for one in providers if one.config.id == agent.provider), None)
    if status is None:
        return agent.provider
    kind = provider_kind(status.config.kind)
    return kind.voice if kind is not None and kind.models else status.label


def model_line(agent: Agent, tools: Sequence[ToolChoice], words: Language) -> str:
    """Return a line with an assistant's model and the number of tools it may use."""
    count = sum(tool.key in agent.tools or tool.group in agent.tools for tool in tools)
    model = agent.model or words("assistant.model.default.short")
    return words("assistant.line", model=model, tools=words("assistant.tools_count", count=count))
