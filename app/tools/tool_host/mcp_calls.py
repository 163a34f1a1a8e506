"""The calls that run in an MCP server: their time limits, what the server asks meanwhile, and how far it says it is."""

import asyncio
import contextlib
import itertools
import math
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

from app.core.text import visible

_PROGRESS_SECONDS = 0.2
_PROGRESS_CHARACTERS = 300
_OPEN_QUESTIONS = 8
_QUESTIONS = 32

Line = Mapping[str, Any]
NUMBERS = itertools.count(1)


class RunningCall:
    """A running call: where its server's questions go, and its time limit, which pauses while a question is open."""

    def __init__(self, put: Callable[[Line], None], limit: asyncio.Timeout, seconds: float) -> None:
        self.put = put
        self.limit = limit
        self.seconds = seconds
        self.open: dict[int, asyncio.Future[str | None]] = {}
        self.asked = 0
        self._told_refusal = False
        self._told_at = 0.0

    async def on_progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Restart the time limit, and pass the progress on, not too often."""
        self.alive()
        now = asyncio.get_running_loop().time()
        if now - self._told_at < _PROGRESS_SECONDS and (total is None or progress < total):
            return
        self._told_at = now
        share = progress / total if total else math.nan
        shown = min(1.0, max(0.0, share)) if math.isfinite(share) else None
        self.put({"progress": {"share": shown, "text": visible(message or "")[:_PROGRESS_CHARACTERS]}})

    def may_ask(self) -> bool:
        """Return whether one more question may be put to the user, who is told once that some are refused."""
        may = len(self.open) < _OPEN_QUESTIONS and self.asked < _QUESTIONS
        if not may and not self._told_refusal:
            self._told_refusal = True
            self.put({"refused": True})
        return may

    def alive(self) -> None:
        """Restart the time limit, unless a question is open."""
        self.limit.reschedule(None if self.open else asyncio.get_running_loop().time() + self.seconds)


_CURRENT: ContextVar[RunningCall | None] = ContextVar("running call", default=None)


class RunningCalls:
    """The running calls of one server."""

    def __init__(self) -> None:
        self._calls: list[RunningCall] = []

    @contextlib.asynccontextmanager
    async def running(self, put: Callable[[Line], None], seconds: float) -> AsyncGenerator[RunningCall, None]:
        """Run a call within its time limit; at its end its open questions are dismissed. Raises TimeoutError."""
        async with asyncio.timeout(seconds) as limit:
            call = RunningCall(put, limit, seconds)
            self._calls.append(call)
            _CURRENT.set(call)
            try:
                yield call
            finally:
                self._calls.remove(call)
                for question in call.open.values():
                    if not question.done():
                        question.set_result(None)

    def current(self) -> RunningCall | None:
        """Return the call that a question of the server belongs to, None for none."""
        # In older protocols a server does not say which call it is.
        call = _CURRENT.get()
        return call if call in self._calls else self._calls[-1] if self._calls else None

    def questions(self) -> Sequence[dict[int, asyncio.Future[str | None]]]:
        """Return the open questions of each call, by number."""
        return [call.open for call in self._calls]

    async def ask(self, call: RunningCall, question: dict[str, Any]) -> str | None:
        """Put a question to the user; None where it was dismissed."""
        if call not in self._calls:
            return None
        number = next(NUMBERS)
        call.asked += 1
        call.open[number] = asyncio.get_running_loop().create_future()
        call.alive()
        try:
            call.put({"ask": {"number": number, **question}})
            return await call.open[number]
        finally:
            del call.open[number]
            if call in self._calls:
                call.alive()
