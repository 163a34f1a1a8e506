"""Which view shows which session: opens sessions into views and routes the engine's events to them.

Switching or closing a view changes nothing in a run (the runtime belongs to the session).
"""

from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.core.events import (
    MessageFinished,
    MessageStarted,
    RetryScheduled,
    SessionChanged,
    SessionDeleted,
    TurnStarted,
)
from app.core.message import Message
from app.core.session import RUNNING, Debate, DebateSession, Participant, SessionSummary
from app.engine.engine import Engine
from app.gui.bridge import Bridge
from app.gui.panels.debate.discussion_view import DiscussionView
from app.gui.window_state import WindowState

TAIL = 60


class SessionViews(QObject):
    """Keeps views and sessions together; emits `view_changed` when one shows something new."""

    view_changed = Signal(object)

    def __init__(
        self, engine: Engine, bridge: Bridge, state: WindowState, views: tuple[DiscussionView, ...]
    ) -> None:
        super().__init__()
        self._state = state
        self._answered = False
        self._waiting: dict[str, TurnStarted] = {}
        self._engine = engine
        self._views = views
        bridge.session_changed.connect(self._on_session_changed)
        bridge.session_deleted.connect(self._on_session_deleted)
        bridge.turn_started.connect(self._on_turn_started)
        bridge.message_started.connect(self._on_message_started)
        bridge.text_arrived.connect(self._on_text_arrived)
        bridge.message_finished.connect(self._on_message_finished)
        bridge.retry_scheduled.connect(self._on_retry_scheduled)

    async def open(self, view: DiscussionView, summary: SessionSummary) -> None:
        """Show a session in a view: its last messages at once, the rest when it is read.

        Raises NotFound, StorageError.
        """
        session_id = summary.id
        self.keep_place(view)
        place = self._state.place(session_id)
        long = summary.messages > TAIL and self._engine.live(session_id) is None
        tail = self._engine.tail(session_id, TAIL) if long else []
        if tail:
            view.show_session(provisional(summary, tail), tail)
            view.go_to(place)
            self.view_changed.emit(view)
        live = await self._engine.open(session_id)
        if tail and view.session_id != session_id:
            return
        messages = list(live.whole_messages())
        if not isinstance(live.session, DebateSession):
            return
        if tail:
            shown = {message.id for message in tail}
            earlier = [message for message in messages if message.id not in shown]
            view.show_change(live.session)
            view.prepend(earlier, read_only=live.read_only, damaged=live.damaged)
            if view.transcript.following:
                view.go_to(place)
        else:
            view.show_session(live.session, messages, read_only=live.read_only, damaged=live.damaged)
            view.go_to(place)
        turn = self._waiting.get(session_id)
        if turn is not None:
            view.show_turn(turn, starting=not self._answered)
        self.view_changed.emit(view)

    def keep_place(self, view: DiscussionView) -> None:
        """Remember where in its session a view is read."""
        if view.session_id:
            self._state.keep_place(view.session_id, view.place)

    def _showing(self, session_id: str) -> list[DiscussionView]:
        return [view for view in self._views if view.session_id == session_id]

    def _on_session_changed(self, event: SessionChanged) -> None:
        if event.session.status != RUNNING:
            self._waiting.pop(event.session_id, None)
        for view in self._showing(event.session_id):
            if isinstance(event.session, DebateSession):
                view.show_change(event.session)
                self.view_changed.emit(view)

    def _on_session_deleted(self, event: SessionDeleted) -> None:
        for view in self._showing(event.session_id):
            view.clear()
            self.view_changed.emit(view)

    def _on_turn_started(self, event: TurnStarted) -> None:
        self._waiting[event.session_id] = event
        for view in self._showing(event.session_id):
            view.show_turn(event, starting=not self._answered)

    def _on_message_started(self, event: MessageStarted) -> None:
        self._waiting.pop(event.session_id, None)
        for view in self._showing(event.session_id):
            view.show_message(event)

    def _on_text_arrived(self, session_id: str, message_id: str, text: str, thinking: str) -> None:
        self._answered = True
        for view in self._showing(session_id):
            view.show_text(message_id, text, thinking)

    def _on_message_finished(self, event: MessageFinished) -> None:
        for view in self._showing(event.session_id):
            view.show_finished(event)
            self.view_changed.emit(view)

    def _on_retry_scheduled(self, event: RetryScheduled) -> None:
        for view in self._showing(event.session_id):
            view.show_retry(event)


def provisional(summary: SessionSummary, tail: list[Message]) -> DebateSession:
    """Return a session as far as its summary and last messages tell, until it has been read."""
    ids = {message.author.name: message.author.id for message in tail}
    participants = tuple(
        Participant(id=ids.get(name, name), name=name, provider="", model="") for name in summary.speakers
    )
    debate = Debate(
        topic=summary.title, rounds=summary.rounds, round=summary.round, participants=participants
    )
    if summary.mode in ("round-robin", "free", "roles"):
        debate = replace(debate, mode=summary.mode)  # type: ignore[arg-type]
    return DebateSession(
        id=summary.id,
        title=summary.title,
        status=summary.status,
        reason=summary.reason,
        created_at=summary.created_at,
        updated_at=summary.updated_at,
        debate=debate,
    )
