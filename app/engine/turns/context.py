"""What runs and turns share, and all calls of models: each passes the provider's gate and the month's limit.

The gate admits no more calls at once than the provider can answer, and none while it has asked to wait: a
rate limit that one session meets holds for all sessions. Also after which faults a model is asked again, and
when.
"""

import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, aclosing, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from itertools import count
from typing import cast

from app.core.criteria import Criterion
from app.core.definitions import Agent
from app.core.errors import FailureKind, ProviderError
from app.core.events import ToolStarted
from app.core.ids import new_id, utc_now
from app.core.message import Author, Message, ToolCall, Usage
from app.core.model_facts import ModelFacts, Price
from app.core.provider import CallPiece, Delta, Finished, FinishReason, ModelRequest, Models, Text
from app.core.session import PlanItem
from app.core.store import SessionFiles, SessionStore
from app.core.usage import UsageEntry
from app.engine.availability import Slots, Waits
from app.engine.drafts import Drafts
from app.engine.history import GrowingText, TokenCount, request_tokens
from app.engine.library.agents import AgentDirectory
from app.engine.live_session import LiveSession
from app.engine.prompts import Prompts
from app.engine.request import AgentTurn, Attempt, build_request
from app.engine.turns.limits import Budget
from app.engine.usage_book import UsageBook

MOST_REPEATS = 3
"""How often a model is asked again before its fault is the answer."""

SHORTEST_WAIT, LONGEST_WAIT = 0.5, 30.0
# A provider that wants to be left alone for longer than this is not waited for, in seconds.
_LONGEST_ASKED = 60.0
_BACKOFF = 3.0
# Where nothing listens (NETWORK) a server is not running, and a moment later it is not either.
PASSING = frozenset(
    (FailureKind.OVERLOADED, FailureKind.SERVER, FailureKind.NO_ANSWER, FailureKind.INTERRUPTED)
)


def seconds_before(repeat: int, error: ProviderError) -> float | None:
    """Return how long to wait before a model is asked for the `repeat`-th time again; None
    where the fault is the answer.
    """
    if error.kind not in PASSING or repeat > MOST_REPEATS:
        return None
    if error.retry_after is not None:
        return max(SHORTEST_WAIT, error.retry_after) if error.retry_after <= _LONGEST_ASKED else None
    usual: float = _BACKOFF ** (repeat - 1) * random.uniform(0.5, 1.5)
    return min(max(SHORTEST_WAIT, usual), LONGEST_WAIT)


def with_time(error: ProviderError) -> ProviderError:
    """Return a fault whose words name the time that its provider asked to wait, where that was too long."""
    if error.kind not in PASSING or (error.retry_after or 0) <= _LONGEST_ASKED:
        return error
    words = f"{error.detail} (Retry-After: {error.retry_after:.0f} s)".strip()
    return ProviderError(error.kind, words, error.retry_after)


MIN_WAIT = 10.0
MAX_WAIT = 120.0


def seconds_to_wait(error: ProviderError) -> float | None:
    """Return how long to wait before a provider is asked again, None where waiting does not help."""
    if error.kind != FailureKind.RATE_LIMIT:
        return None
    seconds = max(MIN_WAIT, error.retry_after or 0.0)
    return seconds if seconds <= MAX_WAIT else None


class MeteredModels:
    """Calls models while the gate and the month's limit allow it, and counts calls that become no message."""

    def __init__(self, models: Models, usage: UsageBook, gate: Slots) -> None:
        self._models = models
        self._usage = usage
        self._gate = gate

    @asynccontextmanager
    async def place(
        self, provider: str, waits: Callable[[float], AbstractContextManager[None]] = lambda _: nullcontext()
    ) -> AsyncIterator["Place"]:
        """Hold one of a provider's places while the block runs; it makes the calls.

        Where it has to wait for one, it does so inside `waits(seconds)`; 0 where the time is unknown.
        """
        with ExitStack() as waiting:

            def enter(_: Waits) -> None:
                waiting.enter_context(waits(self._gate.paused_for(provider)))

            async with self._gate.taken(provider, provider, waits=enter):
                waiting.close()
                yield partial(MeteredCall, self._models, self._usage, self._gate)

    async def ask(
        self,
        request: ModelRequest,
        session_id: str = "",
        author: Author | None = None,
        *,
        used: Callable[[UsageEntry], object],
    ) -> str:
        """Return the whole text of an answer that becomes no message. Raises ProviderError.

        `used` is told what the call cost, also where it fails or is cancelled.
        """
        async with self.place(request.provider) as place:
            call = place(request)
            try:
                return await call.text()
            finally:
                if (entry := self.note(call, session_id, author)) is not None:
                    used(entry)

    def known_facts(self, provider: str, model: str) -> ModelFacts:
        """Return what is known about a model by now; asks nobody."""
        return self._models.known_facts(provider, model)

    def note_stable(self, provider: str, model: str, stable: int, answers: str, address: str) -> None:
        """Keep what the voting check of a model has found."""
        self._models.note_stable(provider, model, stable, answers, address)

    def note_cut(self, provider: str, model: str, read: int) -> bool:
        """Keep that a server has read only so many tokens of a longer request; say whether it is one
        that may do that.
        """
        return self._models.note_cut(provider, model, read)

    def answer_agent(self, ask: str, answer: str) -> None:
        """Answer what an external agent asked."""
        self._models.answer_agent(ask, answer)

    async def facts(self, provider: str, model: str) -> ModelFacts:
        """Return what is known about a model; asks no provider."""
        return await self._models.facts(provider, model)

    def paused_for(self, provider: str) -> float:
        """Return for how many seconds a provider is not asked, because it said so; 0 for one that is."""
        return self._gate.paused_for(provider)

    def end_pause(self, provider: str) -> None:
        """End a provider's pause, so that it can be asked again at once."""
        self._gate.end_pause(provider)

    def note(
        self, call: "MeteredCall", session_id: str = "", author: Author | None = None
    ) -> UsageEntry | None:
        """Count the usage of a call that becomes no message; return it, None where it used nothing."""
        usage = call.usage
        if usage is None:
            return None
        entry = UsageEntry.of(usage, new_id(), utc_now(), session_id, author)
        self._usage.note(entry)
        return entry

    def note_unsaid(self, live: LiveSession, author: Author, *calls: "MeteredCall") -> None:
        """Count the usage of a session's calls that become no message, and keep it in the session."""
        noted = [self.note(call, live.id, author) for call in calls]
        live.note_unsaid(*(entry for entry in noted if entry is not None))


class MeteredCall:
    """One call of a model and its usage: as the provider reports it, else estimated."""

    def __init__(self, models: Models, book: UsageBook, gate: Slots, request: ModelRequest) -> None:
        self._models = models
        self._book = book
        self._gate = gate
        self._request = request
        self._price: Price | None = None
        self._asked = False
        self._said = GrowingText()
        self._finished: Finished | None = None

    async def stream(self) -> AsyncGenerator[Delta, None]:
        """Ask the model. Raises ProviderError, of the kind budget_month where the limit forbids it."""
        await self._book.check(self._request)
        # Look the price up first: a call that is cut has no time for it.
        with suppress(ProviderError):
            self._price = await self._models.price(self._request.provider, self._request.model)
        stream = cast(AsyncGenerator[Delta, None], self._models.stream(self._request))
        self._asked = True
        try:
            async with aclosing(stream):
                async for delta in stream:
                    if isinstance(delta, Finished):
                        self._finished = delta
                    elif isinstance(delta, CallPiece):
                        self._said.add(delta.name + delta.arguments)
                    elif isinstance(delta, Text):
                        self._said.add(delta.text + delta.thinking)
                    yield delta
        except Exception as error:
            if isinstance(error, ProviderError) and (seconds := seconds_to_wait(error)):
                self._gate.pause_provider(self._request.provider, seconds)
            # A refused request costs nothing.
            empty = isinstance(error, ProviderError) and error.kind == FailureKind.EMPTY
            self._asked = bool(self._said) or empty
            raise

    async def text(self) -> str:
        """Ask the model and return the whole text of its answer, after faults
        that pass at most MOST_REPEATS times more.

        Raises ProviderError as `stream` does.
        """
        for repeat in count(1):
            pieces = []
            try:
                async with aclosing(self.stream()) as stream:
                    async for delta in stream:
                        pieces += [delta.text] if isinstance(delta, Text) else []
                break
            except ProviderError as error:
                seconds = None if self._said else seconds_before(repeat, error)
                if seconds is None:
                    raise
            await self._gate.rest(seconds)
        return "".join(pieces)

    @property
    def whole(self) -> bool:
        """Whether the answer came to its own end."""
        return self._finished is not None and self._finished.reason == FinishReason.STOP

    @property
    def usage(self) -> Usage | None:
        """What the call used so far; None where the model was not asked, or refused the request."""
        if not self._asked:
            return None
        reported = self._finished.usage if self._finished else Usage()
        used = replace(
            reported,
            provider=self._request.provider,
            model=self._request.model,
            saved_usd=self._saved(reported),
            subscribed=reported.cost_usd is None and self._models.is_subscribed(self._request.provider),
        )
        if used.tokens:
            return used
        read, written = request_tokens(self._request), self._said.count.tokens(self._request.model)
        cost = used.cost_usd
        if cost is None and self._price is not None:
            cost = self._price.cost_of(read, written)
        return replace(used, input_tokens=read, output_tokens=written, cost_usd=cost, estimated=True)

    def _saved(self, reported: Usage) -> float:
        if self._price is None:
            return 0.0
        plan = self._request.cache
        for_hour = plan is not None and plan.life == "1h"
        return self._price.saved(reported.cached_tokens, reported.cache_written_tokens, for_hour=for_hour)


Place = Callable[[ModelRequest], MeteredCall]
"""A place at a provider: makes calls, which are yet to be asked, as long as it is held."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """What running sessions share: models, slots, assistants, prompts, the disk, counting and a clock
    in seconds.

    `outsider` returns the model of another family than some that may read what they do, "" for none; all are
    "provider/model". `check_item` has the criteria of a plan item checked that a call in a turn says is done.
    """

    models: MeteredModels
    slots: Slots
    directory: AgentDirectory
    prompts: Prompts
    store: SessionStore
    files: SessionFiles
    drafts: Drafts
    count: TokenCount
    clock: Callable[[], float]
    outsider: Callable[[Sequence[str]], str]
    check_item: Callable[["TreeContext", str, str, PlanItem], Awaitable[tuple[Criterion, ...]]]

    def request(
        self, turn: AgentTurn, live: LiveSession, attempt: Attempt, *, wrap_up: bool = False
    ) -> ModelRequest:
        """Return the request of a turn's next call, with the tools that its assistant has there."""
        functions = self.directory.functions(turn.agent, turn.stack, turn.mode, turn.given)
        language, about = live.session.language, self.directory.about_user(turn.agent)
        sent = (turn, live, functions, attempt, self.prompts, language)
        return build_request(*sent, about_user=about, wrap_up=wrap_up)


def started(live: LiveSession, turn: AgentTurn, call: ToolCall) -> ToolStarted:
    """Return that a tool runs for a call."""
    return ToolStarted(**about_call(live, turn, call), arguments=call.arguments)


def about_call(live: LiveSession, turn: AgentTurn, call: ToolCall) -> dict[str, str]:
    """Return what every event about a call says."""
    about = {"session_id": live.id, "turn_id": turn.turn_id}
    return {**about, "tool_call_id": call.id, "name": call.name}


class TurnState(StrEnum):
    """How far a turn came."""

    FINISHED = "done"
    WAITING = "waiting"
    HELD = "held"
    BROKEN = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How far a turn came, and its last message where it has one.

    Of a turn that is held `reason` says why the session must pause; of one that is done or failed it is the
    limit that ended it, "" where none did.
    """

    state: str
    reason: str = ""
    message: Message | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeContext:
    """What the turns that one user message sets off share.

    While a provider is waited for, the turn is inside `waits`. `members` are those of the session's group;
    `asks_too` are tools the user wants to be asked about in this session.
    """

    live: LiveSession
    services: Services
    budget: Budget
    language: str
    waits: Callable[[], AbstractContextManager[None]]
    members: tuple[Agent, ...] = ()
    asks_too: frozenset[str] = frozenset()
