"""The open sessions and those that run; used by the engine and the commands of every kind."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from weakref import WeakValueDictionary

from app.core.errors import BadInput, StorageError
from app.core.events import EventBus, SessionDeleted
from app.core.message import Message
from app.core.session import Reason, Session, Status, has_ended, resumable
from app.core.store import SessionStore, StoredSession
from app.core.usage import UsageEntry
from app.engine.live_session import LiveSession
from app.engine.runner import Run

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
        """Keep in a session what a call cost that led to no message; not where it was closed or deleted meanwhile."""
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
        # Only what the folder changes: the session may have gone on meanwhile. Its place in the list stays the same.
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
            self._runs = {key: one for key, one in self._runs.items() if not one.over}
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
        """Stop a chat, because it goes on with something else: what is not done in its last turn is closed."""
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
            if (
                old.session.status not in (Status.RUNNING, Status.WAITING)
                and old.session.reason != Reason.SAVE_FAILED
            ):
                del self._kept[session_id]

    def _let_go(self, session_id: str) -> None:
        self._live.pop(session_id, None)
        self._kept.pop(session_id, None)


def check_open(live: LiveSession) -> None:
    """Raise BadInput where nothing may be added to a session: it has ended for good, or a newer version wrote it."""
    live.check_writable()
    if has_ended(live.session) and not resumable(live.session):
        raise BadInput("session_ended", title=live.session.title)
