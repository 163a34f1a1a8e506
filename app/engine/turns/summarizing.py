"""Makes room before a call whose request would be too long: a summary of the oldest turns, or shorter results of tools.

A step of its own: what it makes is saved before the call. Killed in between, it finds no summary and begins again.
"""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from app.core.errors import FailureKind, ProviderError
from app.core.events import UsageReported, utc_now
from app.core.ids import new_id
from app.core.message import Author, Message, MessageState, Role, SummaryNote, Usage
from app.core.provider import ModelRequest
from app.core.reasons import Reason
from app.core.session import Status
from app.engine.chat.request import AgentTurn, History, history_of, summary_request
from app.engine.history.pruning import pruned_text, results_to_prune
from app.engine.history.summaries import (
    MOST_LEFT,
    PastTurn,
    extract,
    is_usable,
    limit_for,
    quotes,
    reserve_of,
    turns_to_replace,
)
from app.engine.history.token_count import TokenCount, request_tokens, tokens_of
from app.engine.library.agents import AgentModel
from app.engine.live_session import LiveSession
from app.engine.turns.cache_plans import turn_plan
from app.engine.turns.context import TreeContext
from app.engine.turns.metered_models import MeteredCall, MeteredModels
from app.engine.turns.reply import ReplyCleaner

ATTEMPTS = 2
# Where the model could not be asked now, the call that follows meets the same failure and deals with it.
_SAME_FOR_THE_CALL = (
    FailureKind.RATE_LIMIT,
    FailureKind.QUOTA,
    FailureKind.BUDGET_MONTH,
    FailureKind.AUTHENTICATION,
    FailureKind.PERMISSION,
    FailureKind.MODEL_NOT_FOUND,
    FailureKind.NETWORK,
)


@dataclass(frozen=True, slots=True)
class _Summary:
    """The text of a summary, how it came about, and what it cost."""

    content: str
    note: str
    model: str = ""
    usage: Usage | None = None


def summary_message(author: Author, content: str, *, through: str, **fields: object) -> Message:
    """Return a summary of all up to the turn `through`, as a message of that turn."""
    message = Message(
        id=new_id(),
        turn_id=through,
        role=Role.SUMMARY,
        author=author,
        content=content,
        state=MessageState.DONE,
        through=through,
        created_at=utc_now(),
    )
    return replace(message, **fields)  # type: ignore[arg-type]


def write_summary(live: LiveSession, message: Message, turn_id: str) -> None:
    """Write a summary, and what it cost as used in a turn."""
    used = message.usage
    reported = [UsageReported(session_id=live.id, turn_id=turn_id, usage=used)] if used else []
    live.finish_message(message, *reported)


async def ask_for_summary(
    live: LiveSession,
    models: MeteredModels,
    request: ModelRequest,
    author: Author,
    waits: Callable[[], AbstractContextManager[None]],
) -> tuple[str, MeteredCall]:
    """Ask for a summary; return its text, "" where it is not whole. Raises ProviderError.

    Where it has to wait for a place at the provider, it does so inside `waits`.
    """
    async with models.place(request.provider, lambda _: waits()) as place:
        call = place.call(request)
        try:
            said = await call.text()
        except (ProviderError, asyncio.CancelledError):
            note_in_vain(live, models, call, author)
            raise
    return ReplyCleaner.cleaned(author.name, said) if call.whole else "", call


def note_in_vain(live: LiveSession, models: MeteredModels, call: MeteredCall, author: Author) -> None:
    """Keep what a call has cost that led to no summary."""
    entry = models.note(call, live.id, author)
    live.note_unsaid(*([entry] if entry else []))


def measured(turn: AgentTurn, live: LiveSession, history: History, count: TokenCount) -> list[PastTurn]:
    """Return the turns that came before one, with the tokens that each of them takes as it is sent."""
    model = turn.agent_model
    factor = count.factor(live.id, model.provider, model.model)

    def tokens(items: list[dict[str, object]]) -> int:
        sent = ModelRequest(provider=model.provider, model=model.model, messages=tuple(items))
        return round(request_tokens(sent) * factor)

    return [
        PastTurn(turn_id, tokens(items), messages[0].role == Role.USER, messages)
        for turn_id, items in history.turns
        if (messages := live.turn(turn_id))
    ]


class Summarizing:
    """Makes the requests of a tree's turns short enough."""

    def __init__(self, context: TreeContext) -> None:
        self._context = context
        self._services = context.services
        self._live = context.live

    async def make_room(
        self, turn: AgentTurn, request: ModelRequest, *, note: str = SummaryNote.AUTO, refused: bool = False
    ) -> bool:
        """Replace what is oldest where a turn's request is too long; say whether anything was replaced.

        `refused` says that the model has refused the request: then half of it is replaced. A conversation that the model
        itself cannot read whole is summarised part by part, each part a record of its own.
        """
        if turn.agent_model.guided:
            return False
        facts = await self._services.models.facts(turn.agent_model.provider, turn.agent_model.model)
        limit = limit_for(facts, self._live.chat_session.chat, self._services.directory.settings())
        count = self._services.count.of(self._live.id, request)
        asked = note == SummaryNote.ASKED
        if refused or asked:
            limit = min(limit, count // 2)
        made = False
        while count > limit or asked:
            part = None
            if refused or count + reserve_of(facts) > facts.window:
                part = min(facts.window, count) // 2
            replaced = await self._replace(turn, limit, part, note)
            if not replaced:
                break
            made = True
            if part is None or refused:
                return True
            count -= replaced
        return made or (count > limit and self._prune(turn, limit))

    async def _replace(self, turn: AgentTurn, limit: int, part: int | None, note: str) -> int:
        """Put a summary in place of the oldest turns; return how many tokens that saves, 0 where nothing changed."""
        if turn.parent_turn_id:
            return 0
        words = self._services.prompts.lines(self._context.language, "assistant")
        history = history_of(turn, self._live, words)
        turns = measured(turn, self._live, history, self._services.count)
        place = turns_to_replace(turns, limit, part)
        if not place:
            return 0
        covered, through = turns[:place], turns[place - 1].turn_id
        before = history.summary.content if history.summary else ""
        replaces = sum(one.tokens for one in covered) + tokens_of(before, turn.agent_model.model)
        self._show(Reason.SUMMARISING)
        try:
            said = quotes([message for one in covered for message in one.messages], limit)
            text = await self._written(turn, covered, before, said, replaces, note, alone=part is not None)
        finally:
            self._show("")
        if text is None:
            return 0
        self._write(turn, text, through=through, replaces=replaces)
        return replaces - tokens_of(text.content, turn.agent_model.model)

    async def _written(
        self,
        turn: AgentTurn,
        covered: list[PastTurn],
        before: str,
        said: list[str],
        replaces: int,
        note: str,
        *,
        alone: bool,
    ) -> _Summary | None:
        """Return a summary by the turn's own model, else an extract; None where nothing may change."""
        words = self._services.prompts.lines(self._context.language, "assistant")
        messages = [message for one in covered for message in one.messages]
        helper = self._helper(turn)
        for _ in range(ATTEMPTS):
            if not self._context.budget.take_model_call():
                return None
            try:
                content, call = await self._asked(turn, covered[-1].turn_id, alone=alone, helper=helper)
            except ProviderError as error:
                if error.kind in _SAME_FOR_THE_CALL:
                    return None
                if error.kind == FailureKind.CONTEXT_WINDOW:
                    break
                continue
            if content and said:
                content = "\n".join((f"{content}\n\n{words['quoted']}", *(f"> {text}" for text in said)))
            if self._is_worth(turn, content, replaces):
                return _Summary(content, note, (helper or turn.agent_model).name, call.usage)
            note_in_vain(self._live, self._services.models, call, turn.author)
        content = extract(messages, before, words["quoted"])
        return _Summary(content, SummaryNote.EXTRACT) if self._is_worth(turn, content, replaces) else None

    def _is_worth(self, turn: AgentTurn, content: str, replaces: int) -> bool:
        return bool(content) and tokens_of(content, turn.agent_model.model) <= MOST_LEFT * replaces

    def _helper(self, turn: AgentTurn) -> AgentModel | None:
        """Return who writes summaries in place of the turn's own model."""
        imported = bool(self._live.session.source)
        directory, own = self._services.directory, turn.agent_model
        helper = directory.helper_for(self._live.messages, own, imported=imported)
        return None if helper.name == own.name else helper

    async def _asked(
        self, turn: AgentTurn, through: str, *, alone: bool, helper: AgentModel | None
    ) -> tuple[str, MeteredCall]:
        """Ask for a summary; return its text, "" where it is not whole. Raises ProviderError."""
        services, context = self._services, self._context
        functions = services.directory.functions(turn.agent, turn.stack, turn.mode, turn.given)
        request = summary_request(
            turn,
            self._live,
            functions,
            services.prompts,
            context.language,
            through,
            about_user=services.directory.about_user(turn.agent),
            alone=alone,
            helper=helper,
        )
        if not alone and helper is None:
            request = replace(request, cache=turn_plan(turn, self._live, tail=True))
        return await ask_for_summary(self._live, services.models, request, turn.author, context.waits)

    def _prune(self, turn: AgentTurn, limit: int) -> bool:
        """Shorten what tools returned early in the turn; say whether anything was."""
        messages = self._live.turn(turn.turn_id)
        done = [one for one in self._live.summaries(turn.turn_id) if is_usable(self._live, one)]
        results, replaces = results_to_prune(messages, done, limit, turn.agent_model.model)
        if not results:
            return False
        text = _Summary(pruned_text(messages, results), SummaryNote.PRUNED)
        self._write(turn, text, through=turn.turn_id, through_message=results[-1].id, replaces=replaces)
        return True

    def _write(
        self, turn: AgentTurn, text: _Summary, *, through: str, replaces: int, through_message: str = ""
    ) -> None:
        message = summary_message(
            turn.author,
            text.content,
            model=text.model,
            usage=text.usage,
            note=text.note,
            through=through,
            through_message=through_message,
            agent_id=turn.agent.id if through_message else "",
            replaces=replaces,
        )
        self._context.budget.note_answer(message)
        write_summary(self._live, message, turn.turn_id)

    def _show(self, reason: str) -> None:
        if self._live.session.status == Status.RUNNING:
            self._live.change(reason=reason)
