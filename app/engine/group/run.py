"""A running group: the orchestrator's turns and its members', each a root turn of the conversation."""

from app.core.definitions import Agent
from app.core.message import Author
from app.core.session import GroupSession, Reason, Status, counted
from app.engine.chat.run import ChatRun
from app.engine.director import Ask, Speak
from app.engine.group.director import decide
from app.engine.library.agents import ORCHESTRATION
from app.engine.request import ORCHESTRATOR, next_lead, orchestrator_of, told_to_lead, turns_used


class GroupRun(ChatRun):
    """A running group, in a task of its own."""

    async def _step(self) -> None:
        session = self._live.group_session
        if session.chat.summarise and not self._pausing:
            directory, prompts = self._services.directory, self._services.prompts
            await self._summarise(next_lead(self._live, directory, prompts))
            return
        members = self._services.directory.members(session.group)
        queue = session.chat.queue
        reads = bool(queue) and not self._services.drafts.holds(self._live.id, queue[0].id)
        match decide(self._live, session, members, reads=reads):
            case Speak() as spoken if not self._pausing:
                if spoken.speaker == ORCHESTRATOR:
                    await self._lead(session, members, spoken)
                else:
                    await self._hand_over(members, spoken)
            case decision:
                if isinstance(decision, Ask) and turns_used(self._live) >= session.group.turns_limit:
                    self._limit = counted(Reason.TURNS_LIMIT, session.group.turns_limit)
                await self._end_or_send(decision)
                ended = isinstance(decision, Ask) and self._live.session.status != Status.RUNNING
                if ended and session.plan is not None and session.plan.open:
                    self._live.notice("plan_open", count=len(session.plan.open))

    async def _lead(self, session: GroupSession, members: tuple[Agent, ...], spoken: Speak) -> None:
        saved = self._services.directory.group(session.group.id)
        if spoken.last and not spoken.turn_id:
            self._live.notice(Reason.TURNS_LIMIT, limit=session.group.turns_limit)
        agent = orchestrator_of(self._live, saved, last=spoken.last)
        notes, state = told_to_lead(self._live, members, self._services.prompts, begun=bool(spoken.turn_id))
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
            name = self._live.group_session.group.name_of(spoken.speaker)
            author = Author(id=spoken.speaker, name=name, path=(spoken.speaker,))
            self._fail(author, spoken)
            return
        await self._take(agent, spoken, members=members)
