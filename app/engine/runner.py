"""The open sessions, and the loop of one that runs: take a step, save, again, until its status changes.

The engine starts, pauses and stops it. Nothing starts before what came before is on the disk. The runs
of debates, chats, groups and workflows say what a step is.
"""

import asyncio
import contextlib
import logging
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from weakref import WeakValueDictionary

from app.core.errors import BadInput, MootError, StorageError
from app.core.events import EventBus, SessionDeleted
from app.core.ids import new_id
from app.core.message import Author, Message, UsageEntry
from app.core.owned_tasks import start_owned
from app.core.session import Reason, Session, Status, at_limit, has_ended, resumable
from app.core.store import SessionStore, StoredSession
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
        """Do what comes next, and take in what other programs make in the session's chosen folder
        meanwhile.
        """
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


KEPT = 32


@dataclass(eq=False, repr=False)
class Sessions:
    """Opens sessions and holds their runs.

    Of the sessions that do not run, only the latest and those that others refer to stay in memory.
    """

    _store: SessionStore
    _bus: EventBus
    # Makes the run of a session's kind.
    _run_of: Callable[[LiveSession], Run]
    # Adds what a session's folder asks.
    _briefed: Callable[[Session], Awaitable[Session]]
    check: Callable[[Session], None]
    _live: WeakValueDictionary[str, LiveSession] = field(default_factory=WeakValueDictionary, init=False)
    _kept: dict[str, LiveSession] = field(default_factory=dict, init=False)
    _runs: dict[str, Run] = field(default_factory=dict, init=False)

    def live(self, session_id: str) -> LiveSession | None:
        """Return an open session, None where it is not open."""
        return self._live.get(session_id)

    def all_live(self) -> Iterable[LiveSession]:
        """Return the open sessions."""
        return tuple(self._kept.values())

    async def open(self, session_id: str) -> LiveSession:
        """Open a session. Raises NotFound, StorageError."""
        live = self._live.get(session_id)
        if live is None:
            stored = await self._store.load(session_id)
            live = self._live.get(session_id) or LiveSession(stored, self._bus)
        self._keep(live)
        return live

    async def open_to_change(self, session_id: str) -> LiveSession:
        """Open a session of any kind to change it. Raises BadInput for one that may only be read."""
        live = await self.open(session_id)
        live.check_writable()
        return live

    def note_unsaid(self, live: LiveSession | None, entry: UsageEntry) -> None:
        """Keep in a session what a call cost that led to no message; not where it was closed
        or deleted meanwhile.
        """
        if live is not None and self.live(live.id) is live and not live.read_only:
            live.note_unsaid(entry)

    async def open_chat(self, session_id: str) -> LiveSession:
        """Open a chat to change it. Raises BadInput for another kind, and for one that may only be read."""
        live = await self.open_to_change(session_id)
        _ = live.chat_session
        return live

    async def open_conversation(self, session_id: str) -> LiveSession:
        """Open a chat in which the user may speak at any time. Raises BadInput for a workflow."""
        live = await self.open_chat(session_id)
        if live.session.workflow is not None:
            raise BadInput("workflow_asks_nothing", title=live.session.title)
        return live

    async def begin(self, session: Session, *messages: Message) -> LiveSession:
        """Make a session with its first messages. Raises BadInput, StorageError; then nothing started."""
        self.check(session)
        session = await self._briefed(session)
        live = LiveSession(StoredSession(session=session, messages=[]), self._bus)
        self._keep(live)
        live.begin()
        for message in messages:
            live.finish_message(message)
        try:
            await self._store.flush(session.id)
        except StorageError:
            self._let_go(session.id)
            await self._store.discard(session.id)
            self._bus.publish(SessionDeleted(session_id=session.id))
            raise
        return live

    async def start(self, session: Session, *messages: Message) -> str:
        """Begin a session, run it and return its id. Raises BadInput, StorageError; then nothing started."""
        live = await self.begin(session, *messages)
        self.run(live)
        return live.id

    async def move(self, session_id: str, folder_id: str) -> None:
        """Put a session into a folder, or "" for none; from now on it uses what that one has."""
        live = await self.open_to_change(session_id)
        moved = await self._briefed(replace(live.session, folder=folder_id))
        # Only what the folder changes: the session may have gone on meanwhile. Its place in the list stays
        # the same.
        fields: dict[str, object] = {"folder": folder_id, "updated_at": live.session.updated_at}
        if moved.debate is not None and live.session.debate is not None:
            fields["debate"] = replace(live.session.debate, instructions=moved.debate.instructions)
        elif moved.chat is not None and live.session.chat is not None:
            asks, context = moved.chat.instructions, moved.chat.context
            fields["chat"] = replace(live.session.chat, instructions=asks, context=context)
        live.change(**fields)

    def run(self, live: LiveSession) -> None:
        """Start or resume a session's run."""
        run = self._runs.get(live.id)
        if run is None or not run.looping:
            # Never two at once: one that has just stopped still exists while that is saved.
            run = self._run_of(live)
            self._runs = {key: item for key, item in self._runs.items() if not item.over}
            self._runs[live.id] = run
        run.start()

    def running(self, session_id: str) -> Run | None:
        """Return the run of a session, None where it does not run."""
        run = self._runs.get(session_id)
        return run if run is not None and not run.over else None

    async def stop(self, live: LiveSession) -> None:
        """Stop a session as the user asks, and keep its text; resuming it goes on from there."""
        await (self.running(live.id) or self._run_of(live)).stop()

    async def interrupt(self, live: LiveSession) -> None:
        """Stop a chat, because it goes on with something else: what is not done in its last turn is
        closed.
        """
        await (self.running(live.id) or self._run_of(live)).stop(Status.IDLE)

    async def wait(self, session_id: str) -> Session:
        """Wait until the session no longer runs, and return it."""
        live = await self.open(session_id)
        while (run := self.running(session_id)) is not None:
            await run.wait()
        return live.session

    async def forget(self, session_id: str) -> None:
        """Pause a session at once and close it; it resumes from there if it comes back."""
        run = self._runs.pop(session_id, None)
        if run is not None:
            await run.close(Reason.BY_USER)
        self._let_go(session_id)

    async def put_away(self, session_id: str) -> None:
        """Pause a running session at once, because the program ends."""
        run = self.running(session_id)
        if run is not None:
            await run.close()

    async def close(self) -> None:
        """Pause all running sessions."""
        await asyncio.gather(*(run.close() for run in self._runs.values()))
        self._runs.clear()

    def _keep(self, live: LiveSession) -> None:
        self._live[live.id] = live
        self._kept.pop(live.id, None)
        self._kept[live.id] = live
        for session_id, old in list(self._kept.items())[:-KEPT]:
            # Waiting sessions are listed with what needs the user; unsaved ones exist nowhere else.
            needed = old.session.status in (Status.RUNNING, Status.WAITING)
            if not needed and old.session.reason != Reason.SAVE_FAILED:
                del self._kept[session_id]

    def _let_go(self, session_id: str) -> None:
        self._live.pop(session_id, None)
        self._kept.pop(session_id, None)


def check_open(live: LiveSession) -> None:
    """Raise BadInput where nothing may be added to a session: it has ended for good,
    or a newer version wrote it.
    """
    live.check_writable()
    if has_ended(live.session) and not resumable(live.session):
        raise BadInput("session_ended", title=live.session.title)
