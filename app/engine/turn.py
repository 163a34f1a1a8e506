"""One participant speaking once: the only code that calls a provider; used by the runner.

Errors never leave `take_turn`: a failure becomes a failed message, or a reason to pause. Only
cancellation does, after the text so far was kept as stopped.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import cast

from app.core.errors import (
    BAD_RESPONSE,
    CONTENT_FILTER,
    CONTEXT_WINDOW,
    EMPTY,
    INTERRUPTED,
    QUOTA,
    RATE_LIMIT,
    ProviderError,
)
from app.core.events import RetryScheduled, UsageReported, utc_now
from app.core.ids import new_id
from app.core.message import ASSISTANT, DONE, FAILED, STOPPED, Author, Failure, Message, Usage
from app.core.provider import LENGTH, TRUNCATED, Delta, Finished, ModelRequest, Models
from app.engine.debate import PASSED
from app.engine.live_session import LiveSession
from app.engine.perspective import SHORT_WINDOW, WINDOW
from app.engine.reply import ReplyCleaner, is_pass, whole_sentences

MIN_WAIT = 10.0
MAX_WAIT = 120.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnPlan:
    """Who speaks and why.

    `request` makes the request for a window of so many messages; `may_ask` says whether the
    speaker's provider is still switched on.
    """

    author: Author
    round: int
    why: str
    request: Callable[[int], ModelRequest]
    cleaner: Callable[[], ReplyCleaner]
    may_ask: Callable[[], bool]
    may_pass: bool = False


@dataclass(frozen=True, slots=True)
class TurnResult:
    """How a turn ended.

    `message` is whole or failed and yet to be written; None when the turn was held up and has to be
    taken again: then `held` is the reason to pause, "" where there is none because the provider was
    switched off meanwhile, and `detail` the provider's words. `usage` goes into the message's batch.
    """

    message: Message | None = None
    held: str = ""
    detail: str = ""
    usage: UsageReported | None = None


async def take_turn(
    live: LiveSession,
    plan: TurnPlan,
    models: Models,
    *,
    wait: Callable[[float], Awaitable[None]],
    clock: Callable[[], float],
) -> TurnResult:
    """Let a participant speak; `wait` sleeps so many seconds, `clock` is monotonic, in seconds."""
    turn = _Turn(live, plan, clock)
    live.start_turn(turn.turn_id, plan.author, plan.round, plan.why)
    window, retried = WINDOW, False
    try:
        while plan.may_ask():
            error = await turn.ask(plan.request(window), models)
            if error is None:
                return turn.answered()
            if turn.content or (retried and error.kind not in (RATE_LIMIT, QUOTA)):
                return turn.failed(error)
            if error.kind in (RATE_LIMIT, QUOTA):
                seconds = max(MIN_WAIT, error.retry_after or 0.0)
                if error.kind == QUOTA or retried or seconds > MAX_WAIT:
                    return turn.held(error)
                turn.announce_retry(seconds, error.kind)
                await wait(seconds)
            elif error.kind == CONTEXT_WINDOW:
                window = SHORT_WINDOW
            elif error.kind != EMPTY:
                return turn.failed(error)
            retried = True
        turn.stopped()
        return TurnResult()
    except asyncio.CancelledError:
        turn.stopped()
        raise


class _Turn:
    """The answer as it grows over the attempts of one turn."""

    def __init__(self, live: LiveSession, plan: TurnPlan, clock: Callable[[], float]) -> None:
        self.turn_id = new_id()
        self._live = live
        self._plan = plan
        self._clock = clock
        self._message: Message | None = None
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._opening = ""
        self._held_back = ""
        self._request: ModelRequest | None = None
        self._finished = Finished()
        self._begun = clock()

    @property
    def content(self) -> str:
        """The text so far."""
        return "".join(self._text).strip()

    async def ask(self, request: ModelRequest, models: Models) -> ProviderError | None:
        """Ask once; return why there is no whole answer, None when there is one."""
        self._begun, self._request = self._clock(), request
        self._held_back = ""
        self._opening = request.opener.partition(":")[2].strip()
        try:
            await self._listen(models, request)
        except ProviderError as error:
            return error
        except Exception as fault:
            _log.exception("A turn failed in a way nobody foresaw")
            return ProviderError(BAD_RESPONSE, type(fault).__name__)
        if self.content or self._finished.reason == CONTENT_FILTER:
            return None
        return ProviderError(INTERRUPTED if self._finished.reason == TRUNCATED else EMPTY)

    async def _listen(self, models: Models, request: ModelRequest) -> None:
        cleaner = self._plan.cleaner()
        self._finished = Finished(reason=TRUNCATED)
        stream = cast(AsyncGenerator[Delta, None], models.stream(request))
        async with aclosing(stream):
            async for delta in stream:
                if isinstance(delta, Finished):
                    self._finished = delta
                    continue
                text, thinking = cleaner.feed(delta.text)
                self._show(text, thinking + delta.thinking)
                if cleaner.cut:
                    self._finished = Finished()
                    break
        self._show(*cleaner.finish())

    def _show(self, text: str, thinking: str) -> None:
        if text and not self._text:
            self._held_back += text
            text = "" if self._opening.startswith(self._held_back.strip()) else self._held_back
        if not text and not thinking:
            return
        if self._message is None:
            self._message = self._new_message()
            self._live.start_message(self._message)
        self._live.append_text(self._message.id, text, thinking)
        self._text += [text] if text else []
        self._thinking += [thinking] if thinking else []

    def announce_retry(self, seconds: float, reason: str) -> None:
        """Say that the turn waits before it asks again."""
        self._live.tell(
            RetryScheduled(
                session_id=self._live.id,
                turn_id=self.turn_id,
                author=self._plan.author,
                seconds=seconds,
                reason=reason,
            )
        )

    def answered(self) -> TurnResult:
        """Return the whole answer, marked where it carries a warning."""
        content, note = self.content, ""
        if self._opening and self._finished.reason == LENGTH:
            content = whole_sentences(content)
        elif self._finished.reason in (LENGTH, TRUNCATED, CONTENT_FILTER):
            note = self._finished.reason
        if self._plan.may_pass and is_pass(content):
            content, note = "", PASSED
        usage = self._usage()
        message = replace(self._ended(DONE), content=content, note=note, usage=usage)
        report = UsageReported(session_id=self._live.id, turn_id=self.turn_id, usage=usage) if usage else None
        return TurnResult(message, usage=report)

    def failed(self, error: ProviderError) -> TurnResult:
        """Return the failure as a message; a blocked answer is shown as such and is no failure."""
        if error.kind == CONTENT_FILTER:
            return TurnResult(replace(self._ended(DONE), note=CONTENT_FILTER))
        return TurnResult(replace(self._ended(FAILED), error=Failure(kind=error.kind, detail=error.detail)))

    def held(self, error: ProviderError) -> TurnResult:
        """Return that the debate must pause before this turn."""
        self.stopped()
        return TurnResult(held=error.kind, detail=error.detail)

    def stopped(self) -> None:
        """Keep what was said so far, marked as cut."""
        if self._message is not None:
            self._live.finish_message(self._ended(STOPPED))

    def _new_message(self) -> Message:
        return Message(
            id=new_id(),
            turn_id=self.turn_id,
            role=ASSISTANT,
            author=self._plan.author,
            round=self._plan.round,
            why=self._plan.why,
            created_at=utc_now(),
        )

    def _ended(self, state: str) -> Message:
        return replace(
            self._message or self._new_message(),
            content=self.content,
            thinking="".join(self._thinking),
            state=state,
            seconds=round(self._clock() - self._begun, 3),
        )

    def _usage(self) -> Usage | None:
        if self._request is None or not (self._finished.input_tokens or self._finished.output_tokens):
            return None
        return Usage(
            provider=self._request.provider,
            model=self._request.model,
            input_tokens=self._finished.input_tokens,
            output_tokens=self._finished.output_tokens,
            cost_usd=self._finished.cost_usd,
        )
