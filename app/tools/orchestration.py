"""The six tools of a group's orchestrator (rows G3 to G7); only an orchestrator is given them."""

from typing import Final

from app.core.message import TEXT, Prompt
from app.core.plan import Plan, PlanItem
from app.core.text import clean_text
from app.core.tool import END, WAIT, ToolContext, ToolError, ToolResult
from app.tools.declared import Declared
from app.tools.planning import MAX_ITEMS, checked_item, item_text, listed

MAX_TEXT: Final = 50_000


async def prompt_to_user(prompt: str) -> ToolResult:
    """Ask the user for what you need to go on. Work stops until the user answers.

    Args:
        prompt: The question, with all the user needs to know to answer it.
    """
    text = _text("promptToUser", "prompt", prompt)
    return ToolResult(content="The user was asked.", prompt=Prompt(question=text, type=TEXT), control=WAIT)


async def switch_assistant(context: ToolContext, assistant: str, instruction: str) -> ToolResult:
    """Hand over to a member of the group; the member's answer comes back to you.

    Args:
        context: The session.
        assistant: The member's id or exact name.
        instruction: What the member shall do, complete.
    """
    _text("switchAssistant", "instruction", instruction)
    wanted = assistant.strip().casefold()
    members = context.members
    found = [one for one in members if one.id.casefold() == wanted]
    found = found or [one for one in members if one.name.casefold() == wanted]
    if len(found) != 1:
        what = "is the name of more than one member: use an id" if found else "is not a member"
        listed_members = ", ".join(f"{one.id} ({one.name})" for one in members) or "nobody"
        raise ToolError(f"switchAssistant: {assistant[:80]!r} {what}. Members: {listed_members}.")
    return ToolResult(content=f"Handed over to {found[0].id}.", control=END)


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
    done = PlanItem(text=item.text, done=True)
    plan = Plan(goal=plan.goal, items=(*plan.items[:index], done, *plan.items[index + 1 :]))
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
    text = _text("reportResult", "result_in_detail", result_in_detail)
    return ToolResult(content="The user has the result.", control=END, say=text)


def _text(tool: str, name: str, text: str) -> str:
    text = clean_text(text).strip()
    if not text:
        raise ToolError(f"{tool}: argument `{name}` is empty.")
    if len(text) > MAX_TEXT:
        raise ToolError(
            f"{tool}: argument `{name}` has {len(text):,} characters; at most {MAX_TEXT:,} are taken."
        )
    return text


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
