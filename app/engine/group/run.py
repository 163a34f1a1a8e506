"""A running group: the orchestrator's turns and its members', each a root turn of the conversation."""

from app.core.agent import Agent, Leader
from app.core.events import Notice
from app.core.message import Author
from app.core.reasons import Reason, counted
from app.core.session import GroupSession, Plan
from app.engine.chat.run import ChatRun
from app.engine.director import Ask, Speak
from app.engine.group.director import ORCHESTRATOR, decide, turns_used
from app.engine.library.agents import ORCHESTRATION

MOST_STEPS = 8
REPORT_RESULT = "reportResult"


class GroupRun(ChatRun):
    """A running group, in a task of its own."""

    async def _step(self) -> None:
        session = self._live.group_session
        members = self._services.directory.members(session.group)
        match decide(self._live, session, members):
            case Speak() as spoken if not self._pausing:
                if spoken.speaker == ORCHESTRATOR:
                    await self._lead(session, members, spoken)
                else:
                    await self._hand_over(members, spoken)
            case decision:
                if isinstance(decision, Ask) and session.plan is not None and session.plan.open:
                    self._tell("plan_open", count=len(session.plan.open))
                if isinstance(decision, Ask) and turns_used(self._live) >= session.group.turns_limit:
                    self._limit = counted(Reason.TURNS_LIMIT, session.group.turns_limit)
                self._end_or_send(decision)

    def _tell(self, code: str, **details: object) -> None:
        self._live.tell(Notice(session_id=self._live.id, level="warning", code=code, details=details))

    async def _lead(self, session: GroupSession, members: tuple[Agent, ...], spoken: Speak) -> None:
        group, chat = session.group, session.chat
        saved = next((one for one in self._services.directory.groups() if one.id == group.id), None)
        leader = saved.orchestrator if saved else Leader()
        left = group.turns_limit - turns_used(self._live) - (0 if spoken.turn_id else 1)
        notes = self._services.prompts.text(
            chat.language,
            "orchestrator",
            group=group.name,
            members="\n".join(
                f"- {one.id} ({one.name}): {one.description or one.role or one.name}" for one in members
            ),
        )
        state = self._services.prompts.text(
            chat.language,
            "orchestrator-state",
            plan=_plan_text(session.plan),
            left=max(0, left),
            limit=group.turns_limit,
        )
        if spoken.last and not spoken.turn_id:
            self._tell(Reason.TURNS_LIMIT, limit=group.turns_limit)
        agent = Agent(
            id=ORCHESTRATOR,
            name=chat.assistant_name,
            provider=leader.provider,
            model=leader.model,
            effort=leader.effort,
            creativity=leader.creativity,
            length=leader.length,
            instructions=saved.instructions if saved else "",
            tools=(REPORT_RESULT,) if spoken.last else (ORCHESTRATION,),
            max_steps=1 if spoken.last else MOST_STEPS,
        )
        await self._take(
            agent,
            spoken,
            members=members,
            kind=ORCHESTRATOR,
            notes=notes,
            state=state,
            given=(ORCHESTRATION,),
        )

    async def _hand_over(self, members: tuple[Agent, ...], spoken: Speak) -> None:
        agent = next((one for one in members if one.id == spoken.speaker), None)
        if agent is None:
            author = Author(id=spoken.speaker, name=spoken.speaker, path=(spoken.speaker,))
            self._fail(author, spoken)
            return
        await self._take(agent, spoken, members=members)


def _plan_text(plan: Plan | None) -> str:
    """Return the plan as text for the orchestrator: the user may have changed it."""
    if plan is None or not plan.items:
        return "There is no plan yet."
    lines = [f"{number}. [{'x' if item.done else ' '}] {item.text}" for number, item in enumerate(plan.items)]
    return "The plan now:\n" + "\n".join(lines)
