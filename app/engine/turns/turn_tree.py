"""An assistant's turn with its tools and sub-agents; what comes next depends on the turn's messages alone.

`TurnTree.take` looks at what the turn has said: a call without a result is answered, a sub-agent's turn
that waits is entered again, otherwise the model is called. So a restart, a question three sub-agents
deep and a retry are one code path. `Summarizing` makes room before a call whose request would be too
long: what it makes is saved before the call. Killed in between, it finds no summary and begins again.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.core.definitions import ORCHESTRATOR
from app.core.errors import Failure, FailureKind, ProviderError
from app.core.events import TurnFinished
from app.core.frozen import Frozen
from app.core.message import Author, Message, MessageState, Role, SummaryNote, Usage, new_message
from app.core.provider import ModelRequest, asked_of, one_message
from app.core.session import Reason, Status, counted
from app.core.turns import last_answer
from app.engine import history
from app.engine import request as engine_request
from app.engine.availability import Waiting
from app.engine.history import LEAST_REPLACED, MOST_LEFT, Item, PastTurn, pruned_text, quotes, tokens_of
from app.engine.library.agents import AgentModel
from app.engine.live_session import LiveSession
from app.engine.request import AgentTurn, Attempt, History, history_of, items_before, turn_plan
from app.engine.turns.context import PASSING, MeteredCall, MeteredModels, Outcome, TreeContext, TurnState
from app.engine.turns.reply import ReplyCleaner
from app.engine.turns.speaker_turn import CallPlan, ReportedCalls, SpeakerTurn, asks_to_work
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
            rounds = sum(bool(item.own_calls) for item in messages if item.state == MessageState.DONE)
            if answer is not None and not answer.tool_calls:
                # With no step left the model was told to come to an end.
                limit = counted(Reason.STEPS, rounds) if 0 < turn.agent.max_steps <= rounds else ""
                done = answer.state == MessageState.DONE
                return Outcome(TurnState.FINISHED if done else TurnState.BROKEN, limit, answer)
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
        turn = engine_request.in_mode(turn, self._live.session.mode)
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
        told = "" if turn.agent_model.guided else engine_request.news_of(turn, self._live, words)
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


SUMMARY, TURN_SUMMARY = "summary", "turn-summary"
ATTEMPTS = 2
# How much of a message says where a summary has to stop.
MOST_BEGINNING = 120
# A member has notes of its own where a summary stands for more of its tools' results, in tokens.
OWN_RESULTS = 5_000
# Where the model could not be asked now, the call that follows meets the same failure and deals with it.
_NOT_NOW = (FailureKind.RATE_LIMIT, FailureKind.QUOTA, FailureKind.BUDGET_MONTH, FailureKind.NETWORK)
_NOT_FOR_US = (FailureKind.AUTHENTICATION, FailureKind.PERMISSION, FailureKind.MODEL_NOT_FOUND)


class _Summary(Frozen, kw_only=False):
    """The text of a summary, how it came about, and what it cost."""

    content: str
    note: str
    model: str = ""
    usage: Usage | None = None


class _Wanted(Frozen, kw_only=False):
    """A summary that is wanted: the request for it, what it quotes of the user, what stands in for it
    where no model gives one, and the tokens it replaces.
    """

    request: ModelRequest
    said: Sequence[str]
    instead: str
    replaces: int


def summary_message(author: Author, content: str, *, through: str, **fields: object) -> Message:
    """Return a summary of all up to the turn `through`, as a message of that turn."""
    return new_message(Role.SUMMARY, author, through, content=content, through=through, **fields)


async def ask_for_summary(
    live: LiveSession, models: MeteredModels, request: ModelRequest, author: Author, waits: Waiting
) -> tuple[str, MeteredCall]:
    """Ask for a summary; return its text, "" where it is not whole. Raises ProviderError.

    Where it has to wait for a place at the provider, it does so inside `waits`.
    """
    async with models.place(request.provider, lambda _: waits()) as place:
        call = place(request)
        try:
            said = await call.text()
        except (ProviderError, asyncio.CancelledError):
            models.note_unsaid(live, author, call)
            raise
    return ReplyCleaner.cleaned(author.name, said) if call.whole else "", call


def measured(turn: AgentTurn, live: LiveSession, past: History, count: history.TokenCount) -> list[PastTurn]:
    """Return the turns that came before one, with the tokens that each of them takes as it is sent."""
    return [
        PastTurn(turn_id, _tokens(turn, live, items, count), messages[0].role == Role.USER, messages)
        for turn_id, items in past.turns
        if (messages := live.turns.said(turn_id))
    ]


def _tokens(turn: AgentTurn, live: LiveSession, items: Sequence[Item], count: history.TokenCount) -> int:
    """Return about how many tokens items take that are sent to a turn's model."""
    return count.of(live.id, asked_of(turn.agent_model.seat, items))


class Summarizing:
    """Makes the requests of a tree's turns short enough."""

    def __init__(self, context: TreeContext) -> None:
        self._context = context
        self._services = context.services
        self._live = context.live
        self._words = context.services.prompts.lines(context.language, "assistant")

    async def make_room(
        self, turn: AgentTurn, request: ModelRequest, *, note: str = SummaryNote.AUTO, refused: bool = False
    ) -> bool:
        """Replace what is oldest where a turn's request is too long; say whether anything was replaced.

        `refused` says that the model has refused the request: then half of it is replaced. A conversation
        that the model itself cannot read whole is summarised part by part, each part a record of its own.
        """
        if turn.agent_model.guided:
            return False
        turn = self._shown(turn)
        facts = await self._services.models.facts(*turn.agent_model.seat)
        limit = history.limit_for(facts, self._live.session.chat, self._services.directory.settings())
        count = self._services.count.of(self._live.id, request)
        asked = note == SummaryNote.ASKED
        if refused or asked:
            limit = min(limit, count // 2)
        made = False
        while count > limit or asked:
            part = None
            if refused or count + history.reserve_of(facts) > facts.window:
                part = min(facts.window, count) // 2
            replaced = await self._replace(turn, limit, part, note)
            if not replaced:
                break
            made = True
            if part is None or refused:
                return True
            count -= replaced
        return made or (
            count > limit and (await self._prune(turn, limit) or await self._note_turn(turn, limit))
        )

    async def note_own(self, turn: AgentTurn) -> None:
        """Write notes of a member's own where the summary for all leaves out much of what its tools
        returned.
        """
        turn = self._shown(turn)
        summary = self._summary_for_all(turn)
        if summary is None:
            return
        earlier = history_of(turn, self._live, self._words, until=summary.through)
        turns = measured(turn, self._live, earlier, self._services.count)
        if not self._needs_own(turn, turns, earlier.summary):
            return
        before = earlier.summary.content if earlier.summary else ""
        own = [message for past in turns for message in past.messages if message.author.id == turn.agent.id]
        results = [message for message in own if message.role == Role.TOOL]
        wanted = _Wanted(
            request=self._request(turn, earlier.items(self._words), SUMMARY),
            said=quotes([msg for past in turns for msg in past.messages], sum(past.tokens for past in turns)),
            instead="\n\n".join((summary.content, pruned_text(own, results, brief=True))),
            replaces=sum(past.tokens for past in turns) + tokens_of(before, turn.agent_model.model),
        )
        if text := await self._written(turn, wanted, SummaryNote.AUTO):
            await self._write(turn, text, summary.through, replaces=wanted.replaces, agent_id=turn.agent.id)

    def _summary_for_all(self, turn: AgentTurn) -> Message | None:
        """Return the summary for all that a member of a group gets, None where it gets none
        or has had notes of its own.
        """
        live = self._live
        if live.session.group is None or not live.turns.is_summarized or turn.task:
            return None
        if turn.kind == ORCHESTRATOR or turn.agent_model.guided:
            return None
        summary = history.summary_for(live, live.turns.back_from(turn.follows or ""), turn.agent.id)
        others = live.turns.summaries(summary.through) if summary else ()
        return None if any(item.agent_id == turn.agent.id for item in others) else summary

    def _needs_own(self, turn: AgentTurn, turns: Sequence[PastTurn], before: Message | None) -> bool:
        """Whether a summary of these turns, and of notes before them, is for a member alone:
        it holds much that its tools returned, which is nothing to the others.
        """
        if self._live.session.group is None or turn.kind == ORCHESTRATOR:
            return False
        own = (item for past in turns for item in past.messages if item.author.id == turn.agent.id)
        results = (item.content[: engine_request.MAX_SENT_RESULT] for item in own if item.role == Role.TOOL)
        tokens = sum(tokens_of(text, turn.agent_model.model) for text in results)
        return tokens > OWN_RESULTS or bool(before and before.agent_id)

    async def _replace(self, turn: AgentTurn, limit: int, part: int | None, note: str) -> int:
        """Put a summary in place of the oldest turns; return how many tokens that saves, 0
        where nothing changed.
        """
        if turn.task:
            return 0
        words = self._words
        earlier = history_of(turn, self._live, words)
        turns = measured(turn, self._live, earlier, self._services.count)
        place = history.turns_to_replace(turns, limit, part)
        if not place:
            return 0
        covered, through = turns[:place], turns[place - 1].turn_id
        messages = [message for item in covered for message in item.messages]
        before = earlier.summary.content if earlier.summary else ""
        replaces = sum(item.tokens for item in covered) + tokens_of(before, turn.agent_model.model)
        instead = history.extract(messages, before, words["quoted"])
        sent, until = self._up_to(earlier, place, alone=part is not None or self._helper(turn) is not None)
        wanted = _Wanted(
            request=self._request(turn, sent.items(words), SUMMARY, until=until, tail=part is None),
            said=quotes(messages, limit),
            instead=instead if _is_worth(turn, instead, replaces) else "",
            replaces=replaces,
        )
        text = await self._written(turn, wanted, note)
        if text is None:
            return 0
        agent_id = turn.agent.id if self._needs_own(turn, covered, earlier.summary) else ""
        await self._write(turn, text, through, replaces=replaces, agent_id=agent_id)
        return replaces - tokens_of(text.content, turn.agent_model.model)

    def _up_to(self, earlier: History, place: int, *, alone: bool) -> tuple[History, str]:
        """Return what is sent for a summary of the first turns, and how the model is told where to stop.

        Where it begins as the request of the turn's next call does, the provider takes it from its cache.
        With `alone` nothing behind these turns is sent: then it is shorter.
        """
        turns = list(earlier.turns)
        while len(turns) > place and not alone and self._live.turns.said(turns[-1][0])[0].role == Role.USER:
            # What the user wants now must not be answered here.
            turns.pop()
        if alone or len(turns) <= place:
            return replace(earlier, turns=turns[:place]), ""
        behind = self._live.turns.said(turns[place][0])
        said = next((item.content for item in behind if item.content.strip()), "")
        text = self._words["until"].format(text=" ".join(said.split())[:MOST_BEGINNING])
        return replace(earlier, turns=turns), f"\n\n{text}"

    def _request(
        self, turn: AgentTurn, items: list[Item], prompt: str, *, until: str = "", tail: bool = False
    ) -> ModelRequest:
        """Return the request for a summary of what these items say: to the turn's own model
        as its next call would begin, or all as one text to a helper, which did not take part.
        """
        services, language = self._services, self._context.language
        text = services.prompts.text(language, prompt, until=until)
        if helper := self._helper(turn):
            return one_message(*helper.seat, history.as_transcript(items) + "\n\n" + text)
        asked: list[Item] = [*items, {"role": Role.USER, "content": text}]
        request = engine_request.request_of(turn, self._live, asked, services.told(turn), self._words)
        return replace(request, cache=turn_plan(turn, self._live, tail=True)) if tail else request

    async def _written(self, turn: AgentTurn, wanted: _Wanted, note: str) -> _Summary | None:
        """Return a summary by a model, else what stands in for it; None where nothing may change."""
        self._show(Reason.SUMMARISING)
        try:
            for _ in range(ATTEMPTS):
                if not self._context.budget.take_model_call():
                    return None
                try:
                    content, call = await ask_for_summary(
                        self._live, self._services.models, wanted.request, turn.author, self._context.waits
                    )
                except ProviderError as error:
                    if error.kind in (*_NOT_NOW, *_NOT_FOR_US):
                        return None
                    if error.kind in PASSING or error.kind == FailureKind.CONTEXT_WINDOW:
                        break
                    continue
                if content and wanted.said:
                    quoted = (f"> {text}" for text in wanted.said)
                    content = "\n".join((f"{content}\n\n{self._words['quoted']}", *quoted))
                if _is_worth(turn, content, wanted.replaces):
                    model = f"{wanted.request.provider}/{wanted.request.model}"
                    return _Summary(content, note, model, call.usage)
                self._services.models.note_unsaid(self._live, turn.author, call)
            return _Summary(wanted.instead, SummaryNote.EXTRACT) if wanted.instead else None
        finally:
            self._show("")

    def _shown(self, turn: AgentTurn) -> AgentTurn:
        """Return a turn as who writes its summaries sees it: a helper is told no notes."""
        return replace(turn, memory=()) if self._helper(turn) else turn

    def _helper(self, turn: AgentTurn) -> AgentModel | None:
        """Return who writes summaries in place of the turn's own model."""
        helper = self._services.directory.helper_for(self._live, turn.agent_model)
        return None if helper.name == turn.agent_model.name else helper

    async def _prune(self, turn: AgentTurn, limit: int) -> bool:
        """Shorten what tools returned early in the turn; say whether anything was."""
        _, messages = engine_request.notes_and_rest(self._live, turn.turn_id)
        done = history.usable_summaries(self._live, turn.turn_id)
        results, replaces = history.results_to_prune(messages, done, limit, turn.agent_model.model)
        if not results:
            return False
        text = _Summary(pruned_text(messages, results), SummaryNote.PRUNED)
        await self._write_of_turn(turn, text, results[-1], replaces)
        return True

    async def _note_turn(self, turn: AgentTurn, limit: int) -> bool:
        """Put notes in place of the turn's earliest calls, where they are long with short results too;
        say whether that was done.
        """
        live, words, model = self._live, self._words, turn.agent_model.model
        notes, messages = engine_request.notes_and_rest(live, turn.turn_id)
        last = history.part_to_note(messages)
        if last is None:
            return False
        covered = messages[: messages.index(last) + 1]
        calls = {call.id for message in covered for call in message.tool_calls}
        results = [message for message in messages if message.tool_call_id in calls]
        before = notes.content if notes else ""
        if tokens_of("\n".join((before, pruned_text(messages, results))), model) < LEAST_REPLACED * limit:
            return False
        items = engine_request.turn_items(turn.turn_id, turn, live, words, until=last.id)
        replaces = _tokens(turn, live, items, self._services.count)
        instead = "\n".join(filter(None, (before, pruned_text(messages, results, brief=True))))
        wanted = _Wanted(
            request=self._request(turn, [*items_before(turn, live, words), *items], TURN_SUMMARY, tail=True),
            said=quotes(covered, limit),
            instead=instead if _is_worth(turn, instead, replaces) else "",
            replaces=replaces,
        )
        text = await self._written(turn, wanted, SummaryNote.AUTO)
        if text is None:
            return False
        await self._write_of_turn(turn, text, last, replaces)
        return True

    async def _write_of_turn(self, turn: AgentTurn, text: _Summary, last: Message, replaces: int) -> None:
        """Keep a summary of a turn's messages up to one."""
        of = {"through_message": last.id, "agent_id": turn.agent.id}
        await self._write(turn, text, turn.turn_id, replaces=replaces, **of)

    async def _write(self, turn: AgentTurn, text: _Summary, through: str, **fields: object) -> None:
        told = {"model": text.model, "usage": text.usage, "note": text.note}
        message = summary_message(turn.author, text.content, through=through, **told, **fields)
        self._context.budget.note_answer(message)
        self._live.finish_answer(message, turn.turn_id)
        # The call that follows may outlive this process: the summary must not be asked for again.
        await self._services.store.flush(self._live.id)

    def _show(self, reason: str) -> None:
        if self._live.session.status == Status.RUNNING:
            self._live.change(reason=reason)


def _is_worth(turn: AgentTurn, content: str, replaces: int) -> bool:
    return bool(content) and tokens_of(content, turn.agent_model.model) <= MOST_LEFT * replaces
