"""The planning tools: a goal and a list of todos, kept with the session."""

from dataclasses import replace
from typing import Final

from app.core.session import Plan, PlanItem
from app.core.texts import clean_text
from app.core.tool import ToolContext, ToolError, ToolResult
from app.tools.declared import Declared, checked_text

MAX_ITEMS: Final = 100
MAX_ITEM: Final = 500


async def create_goal(context: ToolContext, goal: str) -> ToolResult:
    """Say what is to be reached. It replaces the goal before; the todos stay.

    Args:
        context: The session.
        goal: The goal in one sentence.
    """
    text = item_text("create_goal", "goal", goal)
    context.change_plan(replace(context.plan or Plan(), goal=text))
    return ToolResult(content=f"Goal: {text}")


async def clear_goal(context: ToolContext) -> ToolResult:
    """Drop the goal that create_goal set; the todos stay as they are."""
    plan = context.plan
    if plan is None or not plan.goal:
        return ToolResult(content="There is no goal.")
    context.change_plan(replace(plan, goal="") if plan.items else None)
    return ToolResult(content="The goal is dropped.")


async def add_todo(context: ToolContext, name: str) -> ToolResult:
    """Add something to do at the end of the list of todos.

    Args:
        context: The session.
        name: What is to be done, in a few words.
    """
    plan = context.plan or Plan()
    text = item_text("add_todo", "name", name)
    if len(plan.items) >= MAX_ITEMS:
        raise ToolError(f"add_todo: the list is full, at most {MAX_ITEMS} todos. Finish or clear some first.")
    plan = replace(plan, items=(*plan.items, PlanItem(text=text)))
    context.change_plan(plan)
    return ToolResult(content=listed(plan))


async def toggle_todo(context: ToolContext, index: int) -> ToolResult:
    """Mark a todo as done, or as open again where it was done. The answer says which it is now.

    Args:
        context: The session.
        index: The todo's number in the list, counted from 0.
    """
    plan = context.plan
    item = checked_item("toggle_todo", plan, index)
    assert plan is not None
    plan = with_item(plan, index, replace(item, done=not item.done))
    context.change_plan(plan)
    state = "open again" if item.done else "done"
    return ToolResult(content=f"{index} is now {state}: {item.text}\n{listed(plan)}")


async def clear_todos(context: ToolContext) -> ToolResult:
    """Drop every todo of the list, done or not; the goal stays."""
    plan = context.plan
    if plan is None or not plan.items:
        return ToolResult(content="There are no todos.")
    context.change_plan(replace(plan, items=()) if plan.goal else None)
    return ToolResult(content=f"{len(plan.items)} todos are dropped.")


def item_text(tool: str, name: str, text: str) -> str:
    """Return an item's text on one line. Raises ToolError for an empty or too long one."""
    return checked_text(f"{tool}: argument `{name}`", " ".join(clean_text(text).split()), MAX_ITEM)


def checked_item(tool: str, plan: Plan | None, index: int) -> PlanItem:
    """Return an item by its number. Raises ToolError, which shows the list."""
    if plan is None or not plan.items:
        raise ToolError(f"{tool}: there is nothing on the list yet.")
    if not 0 <= index < len(plan.items):
        raise ToolError(
            f"{tool}: there is no {index}; numbers go from 0 to {len(plan.items) - 1}.\n{listed(plan)}"
        )
    return plan.items[index]


def with_item(plan: Plan, index: int, item: PlanItem) -> Plan:
    """Return a plan with another item in place of one."""
    return replace(plan, items=(*plan.items[:index], item, *plan.items[index + 1 :]))


def listed(plan: Plan) -> str:
    """Return a plan as a model reads it: one numbered line an item."""
    return "\n".join(
        f"{number}. [{'x' if item.done else ' '}] {item.text}" for number, item in enumerate(plan.items)
    )


# A plan is saved together with the call's result, so every one of these may run again after a crash.
TOOLS: Final = tuple(
    Declared(key=function.__name__, function=function, group="planning", repeatable=True)
    for function in (create_goal, clear_goal, add_todo, toggle_todo, clear_todos)
)
