"""The tools of groups as the engine has them, and short words for calls; used by the tests of groups."""

from app.tools import orchestration, planning
from app.tools.declared import Outside


async def _nothing(*_: object) -> dict[str, object]:
    raise AssertionError("no tool here reaches outside")


TOOLS = tuple(
    one.bind(Outside(call=_nothing, settings=lambda: None, open_link=lambda _: None))  # type: ignore[arg-type, return-value]
    for one in (*orchestration.TOOLS, *planning.TOOLS)
)


def hand(assistant: str, instruction: str = "Do it.") -> tuple[str, dict[str, str]]:
    """Return a hand-over as a script's call."""
    return "switchAssistant", {"assistant": assistant, "instruction": instruction}
