"""The orchestrator of a group as an assistant: its model, its tools, and what it is told of its members and the work; pure."""

from collections.abc import Sequence

from app.core.agent import Agent, Group, Leader
from app.core.session import Plan
from app.engine.library.agents import ORCHESTRATION, AgentDirectory
from app.engine.live_session import LiveSession
from app.engine.prompts import Prompts
from app.engine.requests.hand_overs import ORCHESTRATOR, turns_used
from app.engine.requests.request import AgentTurn, root_turn

MOST_STEPS = 8
REPORT_RESULT = "reportResult"


def orchestrator_of(live: LiveSession, saved: Group | None, *, last: bool = False) -> Agent:
    """Return the orchestrator of a session as the group says by now; in its `last` turn it can only report."""
    leader = saved.orchestrator if saved else Leader()
    return Agent(
        id=ORCHESTRATOR,
        name=live.chat_session.chat.assistant_name,
        provider=leader.provider,
        model=leader.model,
        effort=leader.effort,
        creativity=leader.creativity,
        length=leader.length,
        instructions=saved.instructions if saved else "",
        tools=(REPORT_RESULT,) if last else (ORCHESTRATION,),
        max_steps=1 if last else MOST_STEPS,
    )


def next_lead(live: LiveSession, directory: AgentDirectory, prompts: Prompts) -> AgentTurn:
    """Return the turn that would be the orchestrator's next."""
    session = live.group_session
    agent = orchestrator_of(live, directory.group(session.group.id))
    notes, state = told_to_lead(live, directory.members(session.group), prompts)
    given = (ORCHESTRATION,)
    return root_turn(agent, live, directory, given=given, kind=ORCHESTRATOR, notes=notes, state=state)


def told_to_lead(
    live: LiveSession, members: Sequence[Agent], prompts: Prompts, *, begun: bool = False
) -> tuple[str, str]:
    """Return what is told to the orchestrator for a turn, which may have begun: its members; the plan and the turns left."""
    session = live.group_session
    group, language = session.group, session.chat.language
    left = group.turns_limit - turns_used(live) - (0 if begun else 1)
    lines = [f"- {one.id} ({one.name}): {one.description or one.role or one.name}" for one in members]
    notes = prompts.text(language, "orchestrator", group=group.name, members="\n".join(lines))
    state = prompts.text(
        language,
        "orchestrator-state",
        plan=_plan_text(session.plan),
        left=max(0, left),
        limit=group.turns_limit,
    )
    return notes, state


def _plan_text(plan: Plan | None) -> str:
    """Return the plan as text for the orchestrator: the user may have changed it."""
    if plan is None or not plan.items:
        return "There is no plan yet."
    lines = [f"{number}. [{'x' if item.done else ' '}] {item.text}" for number, item in enumerate(plan.items)]
    return "The plan now:\n" + "\n".join(lines)
