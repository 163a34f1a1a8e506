"""The turn of a speaker in any kind of session: a free slot, the provider's gate, the call, its failure.

Used by debates, chats, groups, sub-agents and the steps of workflows. How often and when a call is made again is
decided here; how long it waits first is `seconds_to_wait` in metered_models.py.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import replace

from app.core.errors import FailureKind, ProviderError
from app.core.events import RetryScheduled, utc_now
from app.core.message import Author, Failure, Message, MessageState
from app.core.provider import ModelRequest
from app.engine.availability import Waits, Work
from app.engine.live_session import LiveSession
from app.engine.requests.attempt import Attempt
from app.engine.turns.answer import SHORT_WINDOW, Answer, CallPlan, CallResult
from app.engine.turns.context import Services
from app.engine.turns.metered_models import seconds_to_wait
from app.engine.turns.passing_faults import MOST_REPEATS, seconds_before, with_time

_TOO_LONG = (FailureKind.CONTEXT_WINDOW, FailureKind.TOO_LARGE, FailureKind.UNANSWERED)
# What providers also answer to a request that is too long, without saying that it is.
_PERHAPS_TOO_LONG = (FailureKind.BAD_REQUEST, FailureKind.SERVER, FailureKind.EMPTY, FailureKind.ALL_THOUGHT)
# A request of this share of the window is taken for one that is too long.
_NEAR = 0.9


class SpeakerTurn:
    """One turn of a speaker; its errors never leave it, they become a failed message or a reason to pause.

    `busy` is called with true when the speaker has too much to do and the turn must wait, and with false once
    that is over. While the provider is waited for, the turn is inside `waits`. `about` says in words what the turn is for,
    `may_move` whether another assistant may be given it while it waits.
    """

    def __init__(
        self,
        live: LiveSession,
        services: Services,
        author: Author,
        *,
        waits: Callable[[], AbstractContextManager[None]],
        busy: Callable[[bool], None] = lambda _: None,
        about: str = "",
        may_move: bool = False,
    ) -> None:
        self._live = live
        self._services = services
        self._author = author
        self._waits = waits
        self._busy = busy
        self._work = Work(session_id=live.id, about=about, may_move=may_move)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold a slot of the speaker while the block runs. Raises NotFree, and SentTo where the work may move."""
        waiting = False

        def wait(waits: Waits) -> None:
            nonlocal waiting
            waiting = True
            self._busy(True)
            if waits.held:
                # Only the user ends that.
                self._live.notice("held_back", name=self._author.name)

        try:
            async with self._services.slots.taken(self._author.id, work=self._work, waits=wait):
                if waiting:
                    waiting = False
                    self._busy(False)
                yield
        finally:
            if waiting:
                self._busy(False)

    async def call(self, plan: CallPlan) -> CallResult:
        """Let the model answer. Only cancellation leaves this, after the text so far was kept as stopped."""
        services = self._services
        answer = Answer(self._live, plan, services.models, services.clock)
        attempt, retried, repeat = Attempt(), False, 1
        try:
            while True:
                async with services.models.place(plan.provider, self._at_gate(plan)) as place:
                    if not plan.may_ask():
                        break
                    request = plan.request(attempt)
                    error = await answer.ask(place, request)
                if error is None:
                    for fault in answer.lost_pictures:
                        self._live.notice(f"picture_{fault}", name=self._author.name)
                    if left_out := self._live.first_told(answer.left_out):
                        self._live.notice("tools_left_out", name=self._author.name, tools=", ".join(left_out))
                    return answer.answered()
                if error.kind == FailureKind.BUDGET_MONTH:
                    return self._held(answer, error, plan.provider)
                seconds = seconds_before(repeat, error) if answer.silent else None
                if seconds is not None:
                    await self._rest(plan, error, seconds, repeat)
                    repeat += 1
                    continue
                limited = error.kind in (FailureKind.RATE_LIMIT, FailureKind.QUOTA)
                if answer.begun or (retried and not limited):
                    return answer.failed(with_time(error))
                if limited:
                    if retried or seconds_to_wait(error) is None:
                        return self._held(answer, error, plan.provider)
                elif self._is_too_long(error, request):
                    if plan.make_room is None:
                        attempt = replace(attempt, window=SHORT_WINDOW)
                    elif not await plan.make_room() and error.kind != FailureKind.UNANSWERED:
                        return answer.failed(with_time(error))
                elif error.kind in (FailureKind.EMPTY, FailureKind.MALFORMED_CALL):
                    attempt = replace(attempt, after_empty=True)
                else:
                    return answer.failed(with_time(error))
                retried = True
            answer.stopped()
            return CallResult()
        except asyncio.CancelledError:
            answer.stopped()
            raise

    def _is_too_long(self, error: ProviderError, request: ModelRequest) -> bool:
        """Return whether a shorter request may be answered: its provider says so, or all that is known of the window does."""
        if error.kind in _TOO_LONG:
            return True
        if error.kind not in _PERHAPS_TOO_LONG:
            return False
        window = self._services.models.known_facts(request.provider, request.model).window
        return self._services.count.of(self._live.id, request) >= _NEAR * window

    def failed(self, message: Message, kind: str) -> Message:
        """Return the turn's message to be as one that failed before any model was asked."""
        failure = Failure(kind=kind, detail=self._author.name)
        return replace(message, state=MessageState.FAILED, error=failure, created_at=utc_now())

    def _held(self, answer: Answer, error: ProviderError, provider: str) -> CallResult:
        """Keep what was said, and say that the session must pause before this call."""
        answer.stopped()
        self._live.notice(
            "turn_held", name=self._author.name, kind=error.kind, detail=error.detail, provider=provider
        )
        return CallResult(held=error.kind)

    def _at_gate(self, plan: CallPlan) -> Callable[[float], AbstractContextManager[None]]:
        """Return what the gate enters while the turn waits there, and for how many seconds as far as known."""

        @contextmanager
        def waiting(seconds: float) -> Iterator[None]:
            if seconds:
                self._announce(plan, FailureKind.RATE_LIMIT, seconds)
            with self._waits():
                yield

        return waiting

    async def _rest(self, plan: CallPlan, error: ProviderError, seconds: float, repeat: int) -> None:
        """Wait before the model is asked again, without a place at its provider."""
        self._announce(plan, error.kind, seconds, repeat)
        with self._waits():
            await self._services.slots.rest(seconds)

    def _announce(self, plan: CallPlan, reason: str, seconds: float, repeat: int = 0) -> None:
        event = RetryScheduled(
            session_id=self._live.id,
            turn_id=plan.message.turn_id,
            author=plan.message.author,
            seconds=seconds,
            reason=reason,
            provider=plan.provider,
            repeat=repeat,
            repeats=MOST_REPEATS if repeat else 0,
        )
        self._live.tell(event)
