"""The tools of groups as the engine has them, and short words for calls; used by the tests of groups."""

from app.core.tool import Tool
from app.tools import planning, prompt_user
from app.tools.declared import Declared, Outside


async def _nothing(*_: object) -> dict[str, object]:
    raise AssertionError("no tool here reaches outside")


def bound(*declared: Declared) -> tuple[Tool, ...]:
    """Return tools that reach nothing outside."""
    outside = Outside(call=_nothing, settings=lambda: None, open_link=lambda _: None, files=None)  # type: ignore[arg-type, return-value]
    return tuple(one.bind(outside) for one in declared)


def all_tools() -> tuple[Tool, ...]:
    """Return the orchestrator's tools, the planning tools and the question, as their modules are now."""
    return bound(*planning.ORCHESTRATION_TOOLS, *planning.TOOLS, *prompt_user.TOOLS)


TOOLS = all_tools()
PLAN_TOOLS = bound(*planning.ORCHESTRATION_TOOLS, *planning.TOOLS)


def hand(assistant: str, instruction: str = "Do it.") -> tuple[str, dict[str, str]]:
    """Return a hand-over as a script's call."""
    return "switchAssistant", {"assistant": assistant, "instruction": instruction}
