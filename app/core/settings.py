"""The user's settings; the settings dialog and `settings.json` are both made from these fields."""

from dataclasses import dataclass

SYSTEM = "system"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the user chose. `language` and `theme` are `system` or a name.

    `assistant_order` and `group_order` are ids as the side bar lists them. `search_engine` is where
    `web_search` asks: a name of the catalogue, or the address of a SearXNG server. The `max_…` are the
    budget of one user message, for the whole tree it sets off; 0 means no limit.
    """

    language: str = SYSTEM
    theme: str = SYSTEM
    project_context: tuple[str, ...] = ()
    assistant_order: tuple[str, ...] = ()
    group_order: tuple[str, ...] = ()
    search_engine: str = "duckduckgo"
    max_model_calls: int = 100
    max_tool_rounds: int = 60
    max_sub_agent_runs: int = 20
    max_minutes: int = 30
    max_cost_usd: float = 2.0
