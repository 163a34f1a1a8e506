"""The tools of a group's orchestrator, and the tool with which a workflow's step says that it is done."""

from typing import Final

from app.core.message import Prompt, PromptType
from app.core.session import Plan, PlanItem
from app.core.tool import Control, ToolContext, ToolError, ToolResult
from app.tools.declared import Declared, checked_text
from app.tools.planning import MAX_ITEMS, checked_item, item_text, listed, with_item

MAX_TEXT: Final = 50_000


async def prompt_to_user(prompt: str) -> ToolResult:
    """Ask the user for what you need to go on. Work stops until the user answers.

    Args:
        prompt: The question, with all the user needs to know to answer it.
    """
    text = checked_text("promptToUser: argument `prompt`", prompt, MAX_TEXT)
    return ToolResult(
        content="The user was asked.",
        prompt=Prompt(question=text, type=PromptType.TEXT),
        control=Control.WAIT,
    )


async def switch_assistant(context: ToolContext, assistant: str, instruction: str) -> ToolResult:
    """Hand over to a member of the group; the member's answer comes back to you.

    Args:
        context: The session.
        assistant: The member's id or exact name.
        instruction: What the member shall do, complete.
    """
    checked_text("switchAssistant: argument `instruction`", instruction, MAX_TEXT)
    wanted = assistant.strip().casefold()
    members = context.members
    found = [one for one in members if one.id.casefold() == wanted]
    found = found or [one for one in members if one.name.casefold() == wanted]
    if len(found) != 1:
        what = "is the name of more than one member: use an id" if found else "is not a member"
        listed_members = ", ".join(f"{one.id} ({one.name})" for one in members) or "nobody"
        raise ToolError(f"switchAssistant: {assistant[:80]!r} {what}. Members: {listed_members}.")
    return ToolResult(content=f"Handed over to {found[0].id}.", control=Control.END)


async def set_plan(context: ToolContext, items: list[str]) -> ToolResult:
    """Make the plan: what is to be done, in order. It cannot be replaced while items are open.

    Args:
        context: The session.
        items: The steps, 1 to 100 short texts.
    """
    plan = context.plan
    if plan is not None and plan.open:
        raise ToolError(
            f"setPlan: the plan was not changed, {len(plan.open)} items are still open. "
            f"Do them and mark them with checkDone, or clearPlan first.\n{listed(plan)}"
        )
    if not items:
        raise ToolError("setPlan: argument `items` is empty: say at least one step.")
    if len(items) > MAX_ITEMS:
        raise ToolError(f"setPlan: argument `items` holds {len(items)} steps; at most {MAX_ITEMS} are taken.")
    steps = tuple(
        PlanItem(text=item_text("setPlan", f"items[{place}]", item)) for place, item in enumerate(items)
    )
    plan = Plan(goal=plan.goal if plan else "", items=steps)
    context.change_plan(plan)
    return ToolResult(content=f"The plan is set.\n{listed(plan)}")


async def check_done(context: ToolContext, index: int) -> ToolResult:
    """Mark an item of the plan as done; harmless where it was done already.

    Args:
        context: The session.
        index: The item's number, counted from 0.
    """
    plan = context.plan
    item = checked_item("checkDone", plan, index)
    assert plan is not None
    plan = with_item(plan, index, PlanItem(text=item.text, done=True))
    context.change_plan(plan)
    rest = f"{len(plan.open)} open" if plan.open else "all done"
    return ToolResult(content=f"{index} is done; {rest}.\n{listed(plan)}")


async def clear_plan(context: ToolContext) -> ToolResult:
    """Drop the plan with all its items; harmless where there is none."""
    had = context.plan is not None
    context.change_plan(None)
    return ToolResult(content="The plan is dropped." if had else "There is no plan.")


async def report_result(result_in_detail: str) -> ToolResult:
    """Give the user the result of the work, in detail. This ends the work.

    Args:
        result_in_detail: The whole result, for the user to read, as Markdown.
    """
    text = checked_text("reportResult: argument `result_in_detail`", result_in_detail, MAX_TEXT)
    return ToolResult(content="The user has the result.", control=Control.END, say=text)


async def step_complete(result: str, artifacts: str = "", status: str = "done") -> ToolResult:
    """Say that your step is done, instead of ending your answer with the lines from [STEP_COMPLETE] on.

    Args:
        result: What you found or made, complete: those who go on from here read only this.
        artifacts: The files or links you made, one line each.
        status: One word for how it went.
    """
    text = checked_text("step_complete: argument `result`", result, MAX_TEXT, ": say what you found or made")
    return ToolResult(
        content=f"The step is done ({status}). Artifacts: {artifacts or 'none'}",
        control=Control.END,
        say=text,
    )


TOOLS: Final = (
    Declared(key="promptToUser", function=prompt_to_user, group="orchestration", repeatable=True, ends=True),
    Declared(
        key="switchAssistant", function=switch_assistant, group="orchestration", repeatable=True, ends=True
    ),
    Declared(key="setPlan", function=set_plan, group="orchestration", repeatable=True),
    Declared(key="checkDone", function=check_done, group="orchestration", repeatable=True),
    Declared(key="clearPlan", function=clear_plan, group="orchestration", repeatable=True),
    Declared(key="reportResult", function=report_result, group="orchestration", repeatable=True, ends=True),
)
STEP_TOOLS: Final = (
    Declared(key="step_complete", function=step_complete, group="step", repeatable=True, ends=True),
)
