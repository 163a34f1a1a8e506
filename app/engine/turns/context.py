"""What runs and turns share, and all calls of models: each passes the provider's gate and the month's limit.

The gate admits no more calls at once than the provider can answer, and none while it has asked to wait: a
rate limit that one session meets holds for all sessions. Also after which faults a model is asked again, and
when; and the limits of one user message, whose costs are counted from the messages, so that a restart does
not reset them.
"""

import random
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, aclosing, asynccontextmanager, nullcontext, suppress
from dataclasses import replace
from enum import StrEnum
from functools import partial
from hashlib import blake2b
from itertools import count, takewhile
from typing import cast

from app.core.criteria import Criterion, PlanItem
from app.core.definitions import SWITCH_ASSISTANT, Agent
from app.core.errors import FailureKind, ProviderError
from app.core.events import ToolStarted
from app.core.frozen import Frozen
from app.core.ids import new_id, utc_now
from app.core.message import Author, Message, MessageState, Role, ToolCall, Usage, UsageEntry
from app.core.provider import CallPiece, Delta, Finished, FinishReason, ModelRequest, Models, Price, Text
from app.core.session import Reason, counted
from app.core.settings import Settings
from app.core.store import SessionFiles, SessionStore
from app.core.tool import ToolError, canonical
from app.engine.availability import Slots, Waiting, Waits
from app.engine.drafts import Drafts
from app.engine.history import GrowingText, TokenCount, request_tokens
from app.engine.library.agents import AgentDirectory
from app.engine.live_session import LiveSession
from app.engine.memory import Memory
from app.engine.prompts import Prompts
from app.engine.request import AgentTurn, Attempt, Told, build_request
from app.engine.usage_book import UsageBook

NEAR = 0.8
# Said of a limit before it is reached, by its name: how much is spent, and of how much.
Near = Callable[[str, float, float], None]
Clock = Callable[[], float]


def _untold(*_: object) -> None:
    """Tell nobody."""


class Budget:
    """The limits of one user message and what is used of them; a limit of 0 means none.

    The limits are looked up each time, as they may be raised meanwhile; `near` is told of one that is nearly
    reached.
    """

    def __init__(
        self, settings: Callable[[], Settings], spent: Sequence[Message], clock: Clock, near: Near = _untold
    ) -> None:
        self._settings, self._clock, self._near = settings, clock, near
        self._model_calls = self._tool_rounds = 0
        self._cost_usd = self._seconds = 0.0
        children = set()
        for message in spent:
            if message.role in (Role.ASSISTANT, Role.SUMMARY):
                self.note_answer(message)
                self._seconds += message.seconds or 0.0
                if message.state != MessageState.FAILED or message.usage:
                    self._model_calls += 1
            # Members who work side by side are none.
            if message.parent_turn_id is not None and message.author.kind == "sub" and not message.part:
                children.add(message.turn_id)
        self._sub_agent_runs = len(children)
        self._begun = clock() - self._seconds

    def reached(self) -> str:
        """Return the limit that forbids another call of a model, "" where none does."""
        settings = self._settings()
        minutes = (self._clock() - self._begun) / 60
        if (rounds := settings.max_tool_rounds) and self._tool_rounds >= rounds:
            return counted(Reason.BUDGET_TOOL_ROUNDS, rounds)
        for name, spent, most, reason, units in (
            ("calls", self._model_calls, settings.max_model_calls, Reason.BUDGET_MODEL_CALLS, 1),
            ("minutes", minutes, settings.max_minutes, Reason.BUDGET_MINUTES, 1),
            ("usd", self._cost_usd, settings.max_cost_usd, Reason.BUDGET_COST, 100),
        ):
            if most and spent >= most:
                return counted(reason, round(most * units))
            if most and spent >= most * NEAR:
                self._near(name, spent, most)
        return ""

    def take_model_call(self) -> bool:
        """Count a call that is about to be made; false where it may not be."""
        if self.reached():
            return False
        self._model_calls += 1
        return True

    def take_sub_agent(self) -> bool:
        """Count a sub-agent that is about to run; false where it may not."""
        limit = self._settings().max_sub_agent_runs
        if limit and self._sub_agent_runs >= limit:
            return False
        self._sub_agent_runs += 1
        return True

    def note_answer(self, message: Message) -> None:
        """Count what an answer cost."""
        if message.own_calls:
            self._tool_rounds += 1
        if message.usage is not None and message.usage.cost_usd:
            self._cost_usd += message.usage.cost_usd


MOST_ALIKE = 2
# Of one answer; the others are refused, and those that run wait for a place.
MOST_CALLS = 32
MOST_AT_ONCE = 8


def carried_out(answer: Message) -> tuple[ToolCall, ...]:
    """Return the calls of an answer that Moot carries out."""
    return answer.own_calls[:MOST_CALLS]


class RepeatedCalls:
    """How often the calls of turns were made before; the arguments of each are read once."""

    def __init__(self, live: LiveSession) -> None:
        self._live = live
        # By name and arguments as they were written: the same for two calls that mean the same.
        self._keys: dict[tuple[str, str], bytes] = {}

    def before(self, turn: AgentTurn, answer: Message) -> dict[str, int]:
        """Return for each call that an answer carries out, by its id, how many calls before it are the
        same.
        """
        counts, found = self._before(turn, answer), {}
        for call in carried_out(answer):
            found[call.id] = counts[self._key(call)]
            counts[self._key(call)] += 1
        return found

    def insists(self, turn: AgentTurn, answer: Message) -> bool:
        """Say whether an answer calls only what an answer before it was told will not run again."""
        calls, counts = carried_out(answer), self._before(turn, answer)
        return bool(calls) and all(counts[self._key(call)] > MOST_ALIKE for call in calls)

    def _before(self, turn: AgentTurn, answer: Message) -> Counter[bytes]:
        """Count the calls before an answer in its turn; hand-overs also
        in the turns since the user's message.
        """
        before = takewhile(lambda message: message.id != answer.id, self._live.turns.said(turn.turn_id))
        calls = [call for message in before for call in carried_out(message)]
        if any(call.name == SWITCH_ASSISTANT for call in carried_out(answer)):
            for turn_id in self._live.turns.back_from(turn.follows or ""):
                earlier = self._live.turns.said(turn_id)
                if earlier[0].role == Role.USER:
                    break
                told = (call for message in earlier for call in carried_out(message))
                calls += [call for call in told if call.name == SWITCH_ASSISTANT]
        return Counter(map(self._key, calls))

    def _key(self, call: ToolCall) -> bytes:
        written = (call.name, call.arguments)
        if written not in self._keys:
            text = f"{call.name} {canonical(call.arguments)}"
            self._keys[written] = blake2b(text.encode("utf-8", "backslashreplace"), digest_size=16).digest()
        return self._keys[written]


def check_not_repeated(call: ToolCall, alike: int) -> None:
    """Raise ToolError for a call where MOST_ALIKE calls before it are the same."""
    if alike >= MOST_ALIKE:
        again = f"{call.name} was called {MOST_ALIKE} times with these arguments already."
        raise ToolError(f"{again} It will not run again: use what it returned, or do something else.")


# How often a model is asked again before its fault is the answer.
MOST_REPEATS = 3

SHORTEST_WAIT, LONGEST_WAIT = 0.5, 30.0
# A provider that wants to be left alone for longer than this is not waited for, in seconds.
_LONGEST_ASKED = 60.0
_BACKOFF = 3.0
# Where nothing listens (NETWORK) a server is not running, and a moment later it is not either.
PASSING = (FailureKind.OVERLOADED, FailureKind.SERVER, FailureKind.NO_ANSWER, FailureKind.INTERRUPTED)


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


Used = Callable[[UsageEntry], object]


class MeteredModels:
    """Calls models while the gate and the month's limit allow it, and counts calls that become no message."""

    def __init__(self, models: Models, usage: UsageBook, gate: Slots) -> None:
        self._models = models
        self._usage = usage
        self._gate = gate
        # What costs nothing is asked of the models themselves, and of the gate.
        self.facts, self.known_facts = models.facts, models.known_facts
        self.note_cut, self.note_stable = models.note_cut, models.note_stable
        self.answer_agent = models.answer_agent
        self.paused_for, self.end_pause = gate.paused_for, gate.end_pause

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
        self, request: ModelRequest, session_id: str = "", author: Author | None = None, *, used: Used
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

    def note(self, call: "MeteredCall", session_id: str, author: Author | None) -> UsageEntry | None:
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
        provider, model = self._request.provider, self._request.model
        subscribed = reported.cost_usd is None and self._models.is_subscribed(provider)
        used = replace(reported, provider=provider, model=model, subscribed=subscribed)
        used = replace(used, saved_usd=self._saved(reported))
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


# A place at a provider: makes calls, which are yet to be asked, as long as it is held.
Place = Callable[[ModelRequest], MeteredCall]


class Services(Frozen):
    """What running sessions share: models, slots, assistants, prompts, the disk, counting and a clock
    in seconds.

    `outsider` returns the model of another family than some that may read what they do, "" for none; all are
    "provider/model". `memory` takes what is proposed to be remembered. `check_item` has the criteria of a
    plan item checked that a call in a turn says is done.
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
    memory: Memory
    check_item: Callable[["TreeContext", str, str, PlanItem], Awaitable[tuple[Criterion, ...]]]

    def request(
        self, turn: AgentTurn, live: LiveSession, attempt: Attempt, *, wrap_up: bool = False
    ) -> ModelRequest:
        """Return the request of a turn's next call, with the tools that its assistant has there."""
        words = self.prompts.lines(live.session.language, "assistant")
        return build_request(turn, live, self.told(turn), attempt, words, wrap_up=wrap_up)

    def told(self, turn: AgentTurn) -> Told:
        """Return what a turn's model is told beside the conversation."""
        functions = self.directory.functions(turn.agent, turn.stack, turn.mode, turn.given)
        about_user, skills = self.directory.about_user(turn.agent), self.directory.skills.of(turn.agent)
        return Told(functions=functions, about_user=about_user, skills=skills)


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


class Outcome(Frozen, kw_only=False):
    """How far a turn came, and its last message where it has one.

    Of a turn that is held `reason` says why the session must pause; of one that is done or failed it is the
    limit that ended it, "" where none did.
    """

    state: str
    reason: str = ""
    message: Message | None = None


class TreeContext(Frozen):
    """What the turns that one user message sets off share.

    While a provider is waited for, the turn is inside `waits`. `members` are those of the session's group;
    `asks_too` are tools the user wants to be asked about in this session.
    """

    live: LiveSession
    services: Services
    budget: Budget
    waits: Waiting
    members: tuple[Agent, ...] = ()
    asks_too: frozenset[str] = frozenset()

    @property
    def language(self) -> str:
        """The language of the session."""
        return self.live.session.language
