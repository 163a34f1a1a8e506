"""An assistant's turn with its tools and sub-agents; what comes next depends on the turn's messages alone.

`TurnTree.take` looks at what the turn has said: a call without a result is answered, a sub-agent's turn
that waits is entered again, otherwise the model is called. So a restart, a question three sub-agents
deep and a retry are one code path.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.core.errors import Failure
from app.core.events import TurnFinished
from app.core.message import Message, MessageState, SummaryNote, Usage
from app.core.provider import ModelRequest
from app.core.session import Reason, counted
from app.core.turns import last_answer
from app.engine.request import ORCHESTRATOR, AgentTurn, Attempt, in_mode, news_of, turn_plan
from app.engine.turns.context import Outcome, TreeContext, TurnState
from app.engine.turns.reply import ReplyCleaner
from app.engine.turns.speaker_turn import CallPlan, ReportedCalls, SpeakerTurn, asks_to_work
from app.engine.turns.summarizing import Summarizing
from app.engine.turns.tool_calls import Offer, ToolCalls, guided_call, guided_request, lead_offer

GUIDED = "guided"


class TurnTree:
    """The turns that one user message sets off: the assistant's, and its sub-agents' below it."""

    def __init__(self, context: TreeContext) -> None:
        self._context = context
        self._services = context.services
        self._live = context.live
        self.calls = ToolCalls(context, self.take)
        self._summarizing = Summarizing(context)

    async def take(self, turn: AgentTurn, speaker: SpeakerTurn) -> Outcome:
        """Go on with a turn until it is done, waits, is held or has failed."""
        self._announce(turn)
        try:
            outcome = await self._take(turn, speaker)
        except BaseException:
            self._tell_end(turn, TurnState.STOPPED)
            raise
        self._tell_end(turn, outcome.state)
        return outcome

    def _announce(self, turn: AgentTurn) -> None:
        self._live.start_turn(turn.message())

    def _adapted(self, turn: AgentTurn, plan: CallPlan) -> CallPlan:
        """Return how a call of a turn is made, where that differs from other turns."""
        return plan

    def _written(self, turn: AgentTurn, message: Message) -> tuple[Message, Mapping[str, object]]:
        """Return an answer as it is kept, and the fields of the session that change in the same batch."""
        return message, {}

    async def _look_up(self, turn: AgentTurn, message: Message) -> None:
        """Find out what takes a while, and is part of an answer as it is kept."""

    async def summarise(self, turn: AgentTurn) -> bool:
        """Summarise what came before a turn, because the user has asked for it; say whether anything was."""
        request = self._request(turn, Attempt())
        return await self._summarizing.make_room(turn, request, note=SummaryNote.ASKED)

    def _tell_end(self, turn: AgentTurn, state: str) -> None:
        self._live.tell(TurnFinished(session_id=self._live.id, turn_id=turn.turn_id, outcome=state))

    async def _take(self, turn: AgentTurn, speaker: SpeakerTurn) -> Outcome:
        while True:
            messages = self._live.turns.said(turn.turn_id)
            answer = last_answer(messages)
            rounds = sum(
                bool(message.own_calls) for message in messages if message.state == MessageState.DONE
            )
            if answer is not None and not answer.tool_calls:
                # With no step left the model was told to come to an end.
                limit = counted(Reason.STEPS, rounds) if 0 < turn.agent.max_steps <= rounds else ""
                return Outcome(
                    TurnState.FINISHED if answer.state == MessageState.DONE else TurnState.BROKEN,
                    limit,
                    answer,
                )
            spent = rounds > turn.agent.max_steps
            if answer is not None:
                outcome = await self.calls.answer_all(turn, answer, refuse=spent)
                if outcome is not None:
                    return outcome
            repeats = answer is not None and self.calls.repeated.insists(turn, answer)
            if spent or repeats:
                failure = Failure(kind=Reason.REPEATED if repeats else Reason.STEPS)
                message = turn.message(state=MessageState.FAILED, error=failure)
                message, fields = self._written(turn, message)
                self._live.finish_message(message, **fields)
                limit = Reason.REPEATED if repeats else counted(Reason.STEPS, turn.agent.max_steps)
                return Outcome(TurnState.BROKEN, limit, message)
            held = await self._call(turn, speaker, wrap_up=rounds == turn.agent.max_steps)
            if held is not None:
                return held

    async def _call(self, turn: AgentTurn, speaker: SpeakerTurn, *, wrap_up: bool) -> Outcome | None:
        """Let the model say the next thing; return why it could not be asked."""
        context, services = self._context, self._services
        turn = in_mode(turn, self._live.session.mode)
        if turn.folder and (asked := asks_to_work(context, turn)) is not None:
            return asked
        if reason := context.budget.reached():
            return Outcome(TurnState.HELD, reason)
        messages = self._live.turns.said(turn.turn_id)
        offer = self._offer(turn, messages) if turn.agent_model.guided else None

        sent: list[ModelRequest] = []

        def request(attempt: Attempt) -> ModelRequest:
            if turn.agent_model.guided:
                return guided_request(turn, self._live, offer, attempt, services.prompts)
            made = self._request(turn, attempt, wrap_up=wrap_up)
            sent.append(made)
            return made

        async def make_room() -> bool:
            return await self._summarizing.make_room(turn, sent[-1], refused=True)

        if messages or self._live.session.chat is not None:
            await self._summarizing.note_own(turn)
            await self._summarizing.make_room(turn, request(Attempt()))

        words = services.prompts.lines(context.language, "assistant")
        told = "" if turn.agent_model.guided else news_of(turn, self._live, words)
        plan = CallPlan(
            message=turn.message(told=told, **({"why": GUIDED} if offer else {})),
            provider=turn.agent_model.provider,
            request=request,
            cleaner=lambda: ReplyCleaner.for_name(turn.agent.name),
            may_ask=context.budget.take_model_call,
            taken=frozenset(call.id for message in messages for call in message.tool_calls),
            make_room=make_room,
            reports=ReportedCalls(context, turn, self.calls.ask) if turn.folder else None,
        )
        message = await speaker.call(self._adapted(turn, plan))
        if isinstance(message, str):
            return Outcome(TurnState.HELD, message or context.budget.reached())
        if sent and message.usage is not None and not message.usage.estimated:
            self._learn(turn, sent[-1], message.usage)
        if offer is not None and message.state == MessageState.DONE:
            message = replace(message, content="", tool_calls=offer.calls(message.content))
        context.budget.note_answer(message)
        try:
            await self._look_up(turn, message)
        finally:
            # An answer that was paid for is kept, also where the wait was cut short.
            message, fields = self._written(turn, message)
            self._live.finish_answer(message, **fields)
        return None

    def _learn(self, turn: AgentTurn, request: ModelRequest, usage: Usage) -> None:
        """Learn from the tokens that a provider reports: how it counts, or that it has cut the request."""
        services, read = self._services, usage.input_tokens
        if services.count.is_cut(self._live.id, request, read + usage.cached_tokens) and (
            services.models.note_cut(request.provider, request.model, read)
        ):
            self._live.notice("beginning_cut", name=turn.agent.name, model=request.model, tokens=f"{read:,}")
        else:
            services.count.learn(self._live.id, request, read)

    def _request(self, turn: AgentTurn, attempt: Attempt, *, wrap_up: bool = False) -> ModelRequest:
        request = self._services.request(turn, self._live, attempt, wrap_up=wrap_up)
        return replace(request, cache=turn_plan(turn, self._live, tail=wrap_up or attempt.after_empty))

    def _offer(self, turn: AgentTurn, messages: Sequence[Message]) -> Offer | None:
        tools = tuple(self._services.directory.tools(turn.agent, turn.mode, turn.given))
        if turn.kind == ORCHESTRATOR:
            return lead_offer(turn, self._live, self._context.members, tools)
        return guided_call(turn, messages, self._services.directory.helpers(turn.agent, turn.stack), tools)
