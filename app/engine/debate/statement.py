"""The turn of a participant of a debate or a council: asked in the way of its session, with tools as any assistant's turn.

The statement is the answer that calls no more tools; what comes before it is part of the turn and no statement.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from app.core.agent import Agent
from app.core.message import Message, MessageState, Role
from app.core.provider import ModelRequest
from app.core.reasons import Reason
from app.core.session import DebateTools, Participant, Status
from app.core.turns import is_over
from app.engine.availability import NotFree
from app.engine.chat.run import close_turns, open_questions
from app.engine.debate.verdict import Judge
from app.engine.debate.voting_check import VotingChecks
from app.engine.live_session import LiveSession
from app.engine.requests.attempt import Attempt
from app.engine.requests.merging import merged
from app.engine.requests.request import AgentTurn, name_of, turn_items
from app.engine.runner import Run
from app.engine.turns.answer import CallPlan
from app.engine.turns.context import Outcome, TreeContext, TurnState
from app.engine.turns.limits import Budget
from app.engine.turns.server_notices import attach_servers
from app.engine.turns.turn_tree import TurnTree

READING = ("web_search", "web_fetch")
MOST_READINGS = 3

Written = Callable[[Message], tuple[Message, Mapping[str, object]]]
LookedUp = Callable[[Message], Awaitable[None]]


class StatementTree(TurnTree):
    """The turns that a statement takes: the speaker's, asked as `plan` says, and its sub-agents' below it.

    `written` returns the statement as it is kept, and the fields of the session that change with it, after `looked_up`.
    """

    def __init__(
        self, context: TreeContext, plan: CallPlan, written: Written, looked_up: LookedUp | None
    ) -> None:
        super().__init__(context)
        self._plan = plan
        self._statement, self._looked_up = written, looked_up

    def _announce(self, turn: AgentTurn) -> None:
        # The run announces a participant's turn before it waits for a slot.
        if turn.parent_turn_id:
            super()._announce(turn)

    def _adapted(self, turn: AgentTurn, plan: CallPlan) -> CallPlan:
        if turn.parent_turn_id:
            return plan
        own = self._plan
        return replace(
            plan,
            cleaner=own.cleaner,
            may_ask=lambda: own.may_ask() and plan.may_ask(),
            may_pass=own.may_pass,
            make_room=None,
        )

    async def _look_up(self, turn: AgentTurn, message: Message) -> None:
        if self._looked_up is not None and not turn.parent_turn_id and not message.tool_calls:
            await self._looked_up(message)

    def _written(self, turn: AgentTurn, message: Message) -> tuple[Message, Mapping[str, object]]:
        if turn.parent_turn_id or message.tool_calls:
            return super()._written(turn, message)
        return self._statement(message)

    def _request(self, turn: AgentTurn, attempt: Attempt, *, wrap_up: bool = False) -> ModelRequest:
        if turn.parent_turn_id:
            return super()._request(turn, attempt, wrap_up=wrap_up)
        request = self._plan.request(attempt)
        directory, language = self._services.directory, self._context.language
        words = self._services.prompts.lines(language, "assistant")
        functions = directory.functions(turn.agent, turn.stack, turn.mode)
        items = turn_items(turn.turn_id, turn, self._live, words)
        told = words["wrap_up"] if wrap_up else words["statement_tools"] if functions and not items else ""
        if told:
            items.append({"role": Role.USER, "content": told})
        if not items:
            return request
        return replace(
            request,
            messages=(*merged([dict(one) for one in (*request.messages, *items)]),),
            tools=tuple(sorted(functions, key=name_of)),
        )


class StatementRun(Run):
    """A running session whose participants make statements."""

    def _turn(self, plan: CallPlan, model: str, tools: str) -> AgentTurn:
        """Return the turn of a plan, as far as it was taken before; the speaker may use some `tools` (DebateTools).

        A participant that is an assistant has that assistant's own, if the debate allows them.
        """
        message, author = plan.message, plan.message.author
        directory = self._services.directory
        agent = Agent(id=author.id, name=author.name)
        if tools == DebateTools.READING:
            agent = replace(agent, tools=READING, max_steps=MOST_READINGS)
        elif tools == DebateTools.OWN:
            agent = directory.agent(author.id) or agent
        agent = replace(agent, name=author.name, provider=plan.provider, model=model)
        return AgentTurn(
            turn_id=begun_turn(self._live, message) or message.turn_id,
            agent=agent,
            # It is asked as the session says, also where its model cannot choose tools.
            agent_model=replace(directory.model_of(agent), row=None),
            stack=(author.id,),
            mode=self._live.session.mode,
            kind=author.kind,
            marks={name: getattr(message, name) for name in ("round", "why", "retakes", "part", "data")},
        )

    async def _check_voting(self, checks: VotingChecks, seats: Sequence[Participant | Judge]) -> None:
        """Check the models that were not checked yet, and say which of them cannot vote or judge."""
        due = checks.due((one.provider, one.model) for one in seats)
        if not due:
            return
        self._live.change(reason=Reason.CHECKING_VOTES)
        try:
            await checks.ensure(due)
        finally:
            if self._live.session.status == Status.RUNNING:
                self._live.change(reason="")
        unfit = dict.fromkeys(seat[1] for seat in due if checks.failed(seat))
        if unfit:
            self._live.notice("votes_not_counted", level="info", models=", ".join(unfit))

    async def _stated(
        self, plan: CallPlan, turn: AgentTurn, written: Written, looked_up: LookedUp | None = None
    ) -> Outcome:
        """Take the turn that leads to a statement; one whose speaker is not free has failed."""
        live, services = self._live, self._services
        live.start_turn(turn.message())
        spent = [one for one in live.turns.said_below(turn.turn_id) if one.id > self._since]
        context = TreeContext(
            live=live,
            services=services,
            budget=Budget(services.directory.settings(), spent, services.clock),
            language=live.debate_session.debate.language,
            waits=self._waits,
        )
        await attach_servers(live, services.directory, turn.agent)
        speaker = self._speaker(turn.author)
        try:
            return await self._taken(StatementTree(context, plan, written, looked_up), turn, speaker)
        except NotFree as refused:
            message, fields = written(speaker.failed(turn.message(), refused.reason))
            live.finish_message(message, **fields)
            return Outcome(TurnState.BROKEN, message=message)


def begun_turn(live: LiveSession, message: Message) -> str:
    """Return the id of the turn that leads to a statement to be, if it was begun with tools and not ended, else ""."""
    wanted = (message.author.id, message.part, message.round, message.retakes)
    for turn_id in reversed(live.turns.ids):
        first = live.turns.first(turn_id)
        if first is None or (first.author.id, first.part, first.round, first.retakes) != wanted:
            continue
        messages = live.turns.said(turn_id)
        called = any(one.tool_calls and one.state == MessageState.DONE for one in messages)
        return turn_id if called and not is_over(messages) else ""
    return ""


def close_others(live: LiveSession, *kept: str) -> None:
    """End the turns with open questions, but for those that go on: nobody needs to answer them any more."""
    for turn_id in {live.turns.root(one.turn_id) for one in open_questions(live)} - {*kept}:
        close_turns(live, turn_id)
