"""The planning tools: a goal and a list of todos, kept with the session.

Also those of a group's orchestrator, and the one with which a workflow's step says that it is done.
"""

from dataclasses import replace
from functools import partial
from typing import Final

from app.core.criteria import MOST_CRITERIA, Criterion, Plan, PlanItem, reopened, shown_by
from app.core.message import Prompt, PromptType
from app.core.texts import clean_text
from app.core.tool import MAX_INSTRUCTION, Control, ToolContext, ToolError, ToolResult, assistant_called
from app.tools.declared import Declared, checked_text

MAX_ITEMS: Final = 100
MAX_ITEM: Final = 500
MAX_TEXT: Final = 50_000


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


async def add_todo(context: ToolContext, name: str, done_means: str = "") -> ToolResult:
    """Add something to do at the end of the list of todos.

    Args:
        context: The session.
        name: What is to be done, in a few words.
        done_means: What must be true when it is done, a line each; it is checked when you say that it is
            done.
    """
    plan = context.plan or Plan()
    item = item_of("add_todo", "name", name, done_means)
    if len(plan.items) >= MAX_ITEMS:
        raise ToolError(f"add_todo: the list is full, at most {MAX_ITEMS} todos. Finish or clear some first.")
    plan = replace(plan, items=(*plan.items, item))
    context.change_plan(plan)
    return ToolResult(content=listed(plan))


async def toggle_todo(context: ToolContext, index: int) -> ToolResult:
    """Mark a todo as done, or as open again where it was done. The answer says which it is now.

    Args:
        context: The session.
        index: The todo's number in the list, counted from 0.
    """
    plan, item = checked_item("toggle_todo", context.plan, index)
    if not item.done:
        return await said_done(context, "toggle_todo", index, f"now done: {item.text}")
    plan = with_item(plan, index, replace(item, done=False, by="", criteria=reopened(item.criteria)))
    context.change_plan(plan)
    return ToolResult(content=f"{index} is now open again: {item.text}\n{listed(plan)}")


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


def item_of(tool: str, name: str, text: str, done_means: str) -> PlanItem:
    """Return an item with its criteria, a line each. Raises ToolError for an empty or too long text."""
    lines = filter(str.strip, done_means.splitlines()[:MOST_CRITERIA])
    criteria = tuple(Criterion(text=item_text(tool, "done_means", line)) for line in lines)
    return PlanItem(text=item_text(tool, name, text), criteria=criteria)


async def said_done(context: ToolContext, tool: str, index: int, said: str = "") -> ToolResult:
    """Mark an item as done if what must be true of it is; else say what is not."""
    _, item = checked_item(tool, context.plan, index)
    criteria = item.criteria if item.done or not item.criteria else await context.check(item)
    # What was done with the others meanwhile stays.
    plan, now = checked_item(tool, context.plan, index)
    if now != item:
        raise ToolError(f"{tool}: the plan has changed meanwhile.\n{listed(plan)}")
    now = item.checked(criteria)
    if now.done and not item.done:
        now = replace(now, by=_worker(context))
    plan = with_item(plan, index, now)
    context.change_plan(plan)
    if not now.done:
        missing = [f"- {one.text}: {shown_by(one, str) or one.state}" for one in criteria if not one.settled]
        if criteria == item.criteria:
            missing.append("It was not checked now; the user can tick it.")
        return ToolResult(content="\n".join((f"{index} stays open, as this is not met:", *missing)), ok=False)
    rest = f"{len(plan.open)} open" if plan.open else "all done"
    return ToolResult(content=f"{index} is {said or f'done; {rest}.'}\n{listed(plan)}")


def _worker(context: ToolContext) -> str:
    """Return the name of who did what is done now: the member that spoke last, else who says so."""
    names = {member.id: member.name for member in context.members}
    said = (message.author.id for message in reversed(context.messages()))
    return next((names[author] for author in said if author in names), context.author.name)


def checked_item(tool: str, plan: Plan | None, index: int) -> tuple[Plan, PlanItem]:
    """Return a plan that has an item of a number, and the item. Raises ToolError, which shows the list."""
    if plan is None or not plan.items:
        raise ToolError(f"{tool}: there is nothing on the list yet.")
    if not 0 <= index < len(plan.items):
        raise ToolError(
            f"{tool}: there is no {index}; numbers go from 0 to {len(plan.items) - 1}.\n{listed(plan)}"
        )
    return plan, plan.items[index]


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


async def prompt_to_user(prompt: str) -> ToolResult:
    """Ask the user for what you need to go on. Work stops until the user answers.

    Args:
        prompt: The question, with all the user needs to know to answer it.
    """
    text = checked_text("promptToUser: argument `prompt`", prompt, MAX_TEXT)
    asked = Prompt(question=text, type=PromptType.TEXT)
    return ToolResult(content="The user was asked.", prompt=asked, control=Control.WAIT)


async def switch_assistant(context: ToolContext, assistant: str, instruction: str) -> ToolResult:
    """Hand over to a member of the group; the member's answer comes back to you.
    Members that one answer hands over to work at the same time.

    Args:
        context: The session.
        assistant: The member's name.
        instruction: What the member shall do, complete.
    """
    checked_text("switchAssistant: argument `instruction`", instruction, MAX_INSTRUCTION)
    member = assistant_called(assistant, context.members, "is not a member")
    return ToolResult(content=f"Handed over to {member.name}.", control=Control.END)


async def set_plan(context: ToolContext, items: list[str], done_means: list[str] | None = None) -> ToolResult:
    """Make the plan: what is to be done, in order. It cannot be replaced while items are open.

    Args:
        context: The session.
        items: The steps, 1 to 100 short texts.
        done_means: For each step what must be true when it is done, a line each, or ""; it is checked with
            checkDone.
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
    pairs = enumerate(zip(items, (*(done_means or ()), *("" for _ in items)), strict=False))
    steps = tuple(item_of("setPlan", f"items[{place}]", *pair) for place, pair in pairs)
    plan = Plan(goal=plan.goal if plan else "", items=steps)
    context.change_plan(plan)
    return ToolResult(content=f"The plan is set.\n{listed(plan)}")


async def check_done(context: ToolContext, index: int) -> ToolResult:
    """Mark an item of the plan as done; harmless where it was done already.
    What must be true then is checked.

    Args:
        context: The session.
        index: The item's number, counted from 0.
    """
    return await said_done(context, "checkDone", index)


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
        status: done, failed if the aim was not reached or you would not let pass what you checked, or
            blocked.
    """
    text = checked_text("step_complete: argument `result`", result, MAX_TEXT, ": say what you found or made")
    content = f"The step is done ({status}). Artifacts: {artifacts or 'none'}"
    return ToolResult(content=content, control=Control.END, say=text)


_leads = partial(Declared, group="orchestration", repeatable=True)
ORCHESTRATION_TOOLS: Final = (
    _leads(key="promptToUser", function=prompt_to_user, ends=True),
    _leads(key="switchAssistant", function=switch_assistant, ends=True),
    _leads(key="setPlan", function=set_plan),
    _leads(key="checkDone", function=check_done),
    _leads(key="clearPlan", function=clear_plan),
    _leads(key="reportResult", function=report_result, ends=True),
)
STEP_TOOLS: Final = (
    Declared(key="step_complete", function=step_complete, group="step", repeatable=True, ends=True),
)
