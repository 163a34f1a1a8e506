"""The tools of groups as the engine has them, and short words for calls; used by the tests of groups."""

from app.core.tool import Tool
from app.tools import orchestration, planning, prompt_user
from app.tools.declared import Outside


async def _nothing(*_: object) -> dict[str, object]:
    raise AssertionError("no tool here reaches outside")


def bound() -> tuple[Tool, ...]:
    """Return the orchestrator's tools, the planning tools and the question, as they are now."""
    outside = Outside(call=_nothing, settings=lambda: None, open_link=lambda _: None)  # type: ignore[arg-type, return-value]
    declared = (*orchestration.TOOLS, *planning.TOOLS, *prompt_user.TOOLS)
    return tuple(one.bind(outside) for one in declared)


TOOLS = bound()


def hand(assistant: str, instruction: str = "Do it.") -> tuple[str, dict[str, str]]:
    """Return a hand-over as a script's call."""
    return "switchAssistant", {"assistant": assistant, "instruction": instruction}
