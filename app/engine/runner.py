"""THE loop: ask the director, take the turn, write it down, again; one Run per session that runs.

The engine starts, pauses and stops it. Nothing starts before what came before is on the disk.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from app.core.errors import StorageError
from app.core.events import Event, Notice
from app.core.message import FAILED, Author
from app.core.provider import ModelRequest, Models
from app.core.session import COMPLETED, PAUSED, RUNNING, STOPPED, DebateSession, Participant
from app.core.store import SessionStore
from app.engine.debate import after_resume, after_turn, decide
from app.engine.debate_modes import mode_of
from app.engine.director import Finish, Halt, Speak, Wait, World
from app.engine.live_session import LiveSession
from app.engine.reply import ReplyCleaner
from app.engine.turn import TurnPlan, TurnResult, take_turn

BY_USER = "by_user"
APP_CLOSED = "app_closed"
SAVE_FAILED = "save_failed"

STOP_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a run needs from outside: models, disk, time, and what the providers are like now."""

    models: Models
    store: SessionStore
    world: Callable[[DebateSession], World]
    request: Callable[[LiveSession, Speak, int], ModelRequest]
    sleep: Callable[[float], Awaitable[None]]
    clock: Callable[[], float]


class Run:
    """A session that runs, in a task of its own."""

    def __init__(self, live: LiveSession, surroundings: Surroundings) -> None:
        self._live = live
        self._around = surroundings
        self._pausing = False
        self._waiting = False
        self._unsaved = False
        self._absent: frozenset[str] = frozenset()
        self._task: asyncio.Task[None] | None = None
        # Clear while a cut writes down how the session stands: only then is the run over.
        self._settled = asyncio.Event()
        self._settled.set()

    @property
    def over(self) -> bool:
        """Whether the loop has ended and its end is written down."""
        return self._task is None or (self._task.done() and self._settled.is_set())

    def start(self) -> None:
        """Begin, or go on after a pause."""
        session = self._live.debate_session
        self._unsaved = session.reason == SAVE_FAILED
        if session.status != RUNNING or session.debate.failures:
            self._live.change(status=RUNNING, reason="", debate=after_resume(session.debate))
        self._task = asyncio.create_task(self._loop(), name=f"debate {self._live.id}")

    async def wait(self) -> None:
        """Return when the loop has ended; raises what ended it when that was a fault of the program."""
        if self._task is not None:
            await asyncio.wait({self._task})
            await self._settled.wait()
            if not self._task.cancelled():
                self._task.result()

    async def pause(self) -> None:
        """Pause after the turn in flight; asked twice, or while it only waits to retry, at once."""
        if self._pausing or self._waiting:
            await self._cut(PAUSED, BY_USER)
        self._pausing = True

    def go_on(self) -> None:
        """Forget a pause that has not come yet."""
        self._pausing = False

    async def stop(self) -> None:
        """End the debate now; the request is cancelled and the text so far is kept."""
        await self._cut(STOPPED, BY_USER)

    async def close(self) -> None:
        """Pause at once because the program ends."""
        await self._cut(PAUSED, APP_CLOSED)

    async def _cut(self, status: str, reason: str) -> None:
        if self.over or self._task is None:
            return
        self._settled.clear()
        try:
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=STOP_SECONDS)
            self._live.settle()
            self._live.change(status=status, reason=reason)
            await self._save()
        finally:
            self._settled.set()

    async def _loop(self) -> None:
        if not await self._save():
            return
        while True:
            session = self._live.debate_session
            world = self._around.world(session)
            self._tell_absent(session, world)
            match decide(session, self._live.messages, world):
                case Finish(reason):
                    self._live.change(status=COMPLETED, reason=reason)
                case Halt(reason):
                    self._live.change(status=PAUSED, reason=reason)
                case Wait():
                    self._live.change(status=PAUSED, reason=BY_USER)
                case Speak() if self._pausing:
                    self._live.change(status=PAUSED, reason=BY_USER)
                case Speak() as spoken:
                    result = await take_turn(
                        self._live,
                        self._plan(session, spoken),
                        self._around.models,
                        wait=self._wait,
                        clock=self._around.clock,
                    )
                    self._write(result, spoken, world)
            if not await self._save() or self._live.session.status != RUNNING:
                return

    def _tell_absent(self, session: DebateSession, world: World) -> None:
        """Say once of everybody whose provider is switched off or gone that they no longer speak."""
        for participant in session.debate.participants:
            if participant.id in world.absent - self._absent:
                details = {"name": participant.name}
                notice = Notice(
                    session_id=self._live.id, level="warning", code="participant_absent", details=details
                )
                self._live.tell(notice)
        self._absent = world.absent

    def _write(self, result: TurnResult, spoken: Speak, world: World) -> None:
        """Put message and cursor into one batch, so that no turn is lost or doubled."""
        if result.message is None:
            if not result.held:
                return
            details = {"name": spoken.participant.name, "kind": result.held, "detail": result.detail}
            self._live.change(status=PAUSED, reason=result.held)
            self._live.tell(
                Notice(session_id=self._live.id, level="warning", code="turn_held", details=details)
            )
            return
        failed = result.message.state == FAILED
        debate = after_turn(self._live.debate_session.debate, spoken, failed=failed, world=world)
        extra: tuple[Event, ...] = (result.usage,) if result.usage else ()
        self._live.finish_message(result.message, *extra, debate=debate)

    def _plan(self, session: DebateSession, spoken: Speak) -> TurnPlan:
        debate, speaker = session.debate, spoken.participant
        return TurnPlan(
            author=author_of(speaker),
            round=spoken.round,
            why=spoken.why,
            request=lambda window: self._around.request(self._live, spoken, window),
            cleaner=lambda: ReplyCleaner.for_speaker(speaker, debate.participants),
            may_ask=lambda: speaker.id not in self._around.world(session).absent,
            may_pass=mode_of(debate.mode).may_pass,
        )

    async def _wait(self, seconds: float) -> None:
        self._waiting = True
        try:
            await self._around.sleep(seconds)
        finally:
            self._waiting = False

    async def _save(self) -> bool:
        """Wait until all is on the disk; where it cannot be, pause and say so."""
        try:
            await self._around.store.flush(self._live.id)
        except StorageError as error:
            if self._live.session.status == RUNNING:
                self._live.change(status=PAUSED, reason=SAVE_FAILED)
            self._live.tell(
                Notice(
                    session_id=self._live.id,
                    level="error",
                    code="save_failed",
                    details={"detail": error.code},
                    sticky=True,
                )
            )
            return False
        if self._unsaved:
            self._unsaved = False
            self._live.tell(Notice(session_id=self._live.id, level="info", code="saved_again"))
        return True


def author_of(participant: Participant) -> Author:
    """Return a participant as the author of a message."""
    return Author(id=participant.id, name=participant.name, kind="participant")
