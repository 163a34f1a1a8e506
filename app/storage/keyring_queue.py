"""Asks the keyring one question at a time, in order; used by the secrets.

A keyring may take as long as its user needs, or not answer at all. Who asks waits for a limited time; the question
stays, and its answer is taken whenever it comes.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from app.storage.system_keyring import (
    NO_KEYRING,
    STOPPED,
    WAITING,
    Backend,
    SystemKeyring,
    problem_of,
    system_keyring,
)
from app.storage.threads import run_in_thread

# Of a keyring that does not say it asks its user, an answer comes at once or not at all.
SILENT_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a question: a value, or why there is none; `pending` where the keyring may still answer."""

    value: Any = None
    problem: str = ""
    pending: bool = False


Question = Callable[[SystemKeyring], Any]
# Takes an answer, and whether it is late: nobody waits for it any more.
Take = Callable[[Answer, bool], None]


class _Job:
    def __init__(self, question: Question, take: Take) -> None:
        self.question, self.take = question, take
        self.done: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.late = False


class KeyringQueue:
    """Asks one question at a time in a thread; `timeout` is how long somebody waits for the answer."""

    def __init__(self, backend: Backend, service: str, timeout: float) -> None:
        self._backend, self._service, self._timeout = backend, service, timeout
        self._jobs: deque[_Job] = deque()
        self._keyring: SystemKeyring | None = None

    async def ask(self, question: Question, take: Take) -> Answer:
        """Return the answer; after the time limit, that the keyring waits for its user or does not respond.

        `take` gets the answer whenever it comes, before this returns it.
        """
        # Behind a question that takes too long already, nobody needs to wait as long again.
        overdue = bool(self._jobs) and self._jobs[0].late
        job = self.put(question, take)
        try:
            if not overdue:
                await self._wait(job)
        finally:
            job.late = not job.done.done()
        if job.done.done():
            return job.done.result()
        asks = self._keyring is not None and self._keyring.asks_user
        return Answer(problem=WAITING if asks else STOPPED, pending=True)

    def put(self, question: Question, take: Take) -> _Job:
        """Ask a question that nobody waits for."""
        job = _Job(question, take)
        self._jobs.append(job)
        if len(self._jobs) == 1:
            self._begin()
        return job

    async def _wait(self, job: _Job) -> None:
        silent = min(SILENT_SECONDS, self._timeout)
        await asyncio.wait((job.done,), timeout=silent)
        if not job.done.done() and self._keyring is not None and self._keyring.asks_user:
            await asyncio.wait((job.done,), timeout=self._timeout - silent)

    def _begin(self) -> None:
        """Ask the first question that is left."""
        job, loop = self._jobs[0], asyncio.get_running_loop()
        future = run_in_thread(lambda: self._answer(job.question), "moot-keyring")

        def tell(_: object) -> None:
            with contextlib.suppress(RuntimeError):  # The loop has ended, and whoever asked with it.
                loop.call_soon_threadsafe(self._end, job, future.result())

        future.add_done_callback(tell)

    def _end(self, job: _Job, answer: Answer) -> None:
        self._jobs.popleft()
        if self._jobs:
            self._begin()
        job.done.set_result(answer)
        job.take(answer, job.late)

    def _answer(self, question: Question) -> Answer:
        try:
            if self._keyring is None:
                self._keyring = system_keyring(self._backend(), self._service)
            if self._keyring is None:
                return Answer(problem=NO_KEYRING)
            return Answer(question(self._keyring))
        except Exception as error:  # A backend raises whatever its system's library does.
            return Answer(problem=problem_of(error))
