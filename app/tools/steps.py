"""`step_complete`: how a step of a workflow says that it is done (row W5); only a step is given it."""

from typing import Final

from app.core.text import clean_text
from app.core.tool import END, ToolError, ToolResult
from app.tools.declared import Declared

MAX_TEXT: Final = 50_000


async def step_complete(result: str, artifacts: str = "", status: str = "done") -> ToolResult:
    """Say that your step is done, instead of ending your answer with the lines from [STEP_COMPLETE] on.

    Args:
        result: What you found or made, complete: those who go on from here read only this.
        artifacts: The files or links you made, one line each.
        status: One word for how it went.
    """
    text = clean_text(result).strip()
    if not text:
        raise ToolError("step_complete: argument `result` is empty: say what you found or made.")
    if len(text) > MAX_TEXT:
        raise ToolError(
            f"step_complete: argument `result` has {len(text):,} characters; at most {MAX_TEXT:,} are taken."
        )
    return ToolResult(
        content=f"The step is done ({status}). Artifacts: {artifacts or 'none'}", control=END, say=text
    )


TOOLS: Final = (
    Declared(key="step_complete", function=step_complete, group="step", repeatable=True, ends=True),
)
