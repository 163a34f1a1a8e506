"""The loop of a session that runs: take a step, save, again, until its status changes.

The engine starts, pauses and stops it. Nothing starts before what came before is on the disk. The runs
of debates, chats, groups and workflows say what a step is.
"""

import asyncio
import contextlib
import logging
from abc import ABC, abstractmethod
from collections.abc import Iterator

from app.core.errors import MootError, StorageError
from app.core.ids import new_id
from app.core.message import Author
from app.core.owned_tasks import start_owned
from app.core.session import Reason, Status, at_limit, resumable
from app.engine.live_session import LiveSession
from app.engine.request import AgentTurn
from app.engine.turns.context import Outcome, Services
from app.engine.turns.speaker_turn import SpeakerTurn
from app.engine.turns.turn_tree import TurnTree

STOP_SECONDS = 1.0

_log = logging.getLogger(__name__)


class Run(ABC):
    """A running session, in a task of its own."""

    def __init__(self, live: LiveSession, services: Services) -> None:
        self._live = live
        self._services = services
        self._pausing = False
        self._waiting = 0
        self._unsaved = False
        self._task: asyncio.Task[None] | None = None
        self._trees: list[TurnTree] = []
        # What was spent before this id no longer counts towards the limits.
        self._since = ""
        # Clear while a cut writes the session's status: only then is the run over.
        self._settled = asyncio.Event()
        self._settled.set()

    @property
    def over(self) -> bool:
        """Whether the loop has ended and its end is written down."""
        return self._task is None or (self._task.done() and self._settled.is_set())

    @property
    def looping(self) -> bool:
        """Whether the loop has not ended; it may have stopped and still be saving that."""
        return self._task is not None and not self._task.done() and self._settled.is_set()

    @property
    def only_waits(self) -> bool:
        """Whether nothing is in flight: it waits to retry, or for an assistant that is busy."""
        return self._waiting > 0

    def start(self) -> None:
        """Start, or resume after a pause; a loop that still saves its stop goes on by itself."""
        self._unsaved = self._live.session.reason == Reason.SAVE_FAILED
        if at_limit(self._live.session):
            self._since = new_id()
        self._pausing = False
        told = self._live.servers_told
        self._live.servers_told = {(server, who, waits) for server, who, waits in told if waits}
        self._begin()
        if not self.looping:
            self._task = start_owned(self._loop(), name=f"session {self._live.id}")

    async def wait(self) -> None:
        """Wait until the loop has ended; a fault of the program is then the session's reason."""
        if self._task is not None:
            await asyncio.wait({self._task})
            await self._settled.wait()

    async def pause(self) -> None:
        """Pause after the turn in flight; at once when asked twice, or while it only waits."""
        if self._pausing or self.only_waits:
            await self._cut(Status.PAUSED, Reason.BY_USER)
        self._pausing = True

    def go_on(self) -> None:
        """Withdraw a pause that has not happened yet."""
        self._pausing = False

    def answered(self) -> None:
        """Let waiting turns look for the user's answer."""
        for tree in self._trees:
            tree.calls.answered()

    def stop_turn(self, turn_id: str) -> bool:
        """Stop one sub-agent; false where it does not run."""
        return any(tree.calls.stop_turn(turn_id) for tree in self._trees)

    async def stop(self, status: str = Status.STOPPED) -> None:
        """Stop at once, also while it waits; requests are cancelled and the text so far is kept."""
        if not self.over:
            await self._cut(status, Reason.BY_USER)
        elif status != (session := self._live.session).status and (
            session.status in (Status.RUNNING, Status.WAITING) or resumable(session)
        ):
            self._settle(status)
            self._live.change(status=status, reason=Reason.BY_USER)
            await self._save()

    async def close(self, reason: str = Reason.APP_CLOSED) -> None:
        """Pause at once: the program ends, or the session is closed and may come back."""
        await self._cut(Status.PAUSED, reason)

    @abstractmethod
    def _begin(self) -> None:
        """Set the session's status to running."""

    @abstractmethod
    async def _step(self) -> None:
        """Do what comes next, and change the status where that was the end."""

    def _settle(self, status: str) -> None:
        """Bring the messages of an interrupted turn to an end."""
        self._live.settle()

    async def _cut(self, status: str, reason: str) -> None:
        if self.over or self._task is None:
            return
        self._settled.clear()
        try:
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=STOP_SECONDS)
            self._settle(status)
            self._live.change(status=status, reason=reason)
            await self._save()
        finally:
            self._settled.set()

    async def _loop(self) -> None:
        try:
            running = await self._save()
            while running:
                await self._step_and_notice()
                running = await self._save() and self._live.session.status == Status.RUNNING
        except Exception:
            _log.exception("The run of session %s ended by a fault", self._live.id)
            await self._end_by_fault()

    async def _step_and_notice(self) -> None:
        """Do what comes next, and take in what other programs make in the session's chosen folder meanwhile."""
        files, seen = self._services.files, None
        with contextlib.suppress(MootError):
            seen = await files.seen(self._live.id) if self._live.session.chosen_folder else None
        try:
            await self._step()
        finally:
            with contextlib.suppress(MootError):
                await files.take_in_new(self._live.id, seen) if seen is not None else None

    async def _end_by_fault(self) -> None:
        """End the run as failed; resuming goes on from the last record."""
        with contextlib.suppress(Exception):
            self._settle(Status.ERROR)
        # What listens to the change may be what has failed; the others hear of it all the same.
        with contextlib.suppress(Exception):
            self._live.change(status=Status.ERROR, reason=Reason.FAULT)
        await self._save()

    async def _taken(self, tree: TurnTree, turn: AgentTurn, speaker: SpeakerTurn) -> Outcome:
        """Take a turn as soon as its speaker is free. Raises NotFree, and SentTo where it may move."""
        self._trees.append(tree)
        try:
            async with speaker.slot():
                return await tree.take(turn, speaker)
        finally:
            self._trees.remove(tree)

    def _speaker(self, author: Author, *, may_move: bool = False) -> SpeakerTurn:
        """Return the turn of a speaker; while it waits for a slot the session's reason says so."""
        return SpeakerTurn(
            self._live, self._services, author, waits=self._waits, busy=self._show_busy, may_move=may_move
        )

    def _show_busy(self, busy: bool) -> None:
        self._waiting += 1 if busy else -1
        # A cut writes its own reason.
        if self._settled.is_set():
            self._live.change(reason=Reason.BUSY if busy else "")

    @contextlib.contextmanager
    def _waits(self) -> Iterator[None]:
        """Count as only waiting while the block runs."""
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1

    async def _save(self) -> bool:
        """Wait until all is saved; where that fails, pause and publish a notice."""
        try:
            await self._services.store.flush(self._live.id)
        except StorageError as error:
            if self._live.session.status == Status.RUNNING:
                self._live.change(status=Status.PAUSED, reason=Reason.SAVE_FAILED)
            self._live.notice("save_failed", level="error", sticky=True, detail=error.code)
            return False
        if self._unsaved:
            self._unsaved = False
            self._live.notice("saved_again", level="info")
        return True
