"""Views of sessions: opens sessions, passes the engine's events to the views that show them, and picks the page in front.

Switching or closing a view does not affect a run.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.core.events import (
    Event,
    MessageFinished,
    MessageStarted,
    RetryScheduled,
    SessionChanged,
    SessionDeleted,
    TurnStarted,
)
from app.core.message import Message
from app.core.session import (
    DebateMode,
    Session,
    SessionSummary,
    Status,
)
from app.engine.engine import Engine
from app.engine.live_session import LiveSession
from app.gui.bridge import FRAME_MS, Bridge
from app.gui.display.session_kinds import KINDS, kind_of, modes_of
from app.gui.pages.chat.chat_page import ChatPage
from app.gui.panels.conversation_view import ConversationView
from app.gui.widgets.label import plain_tip
from app.gui.window_frame import WindowFrame, WindowState

TAIL = 60


class SessionViews(QObject):
    """Knows which view shows which session; emits `view_changed` when a view shows something new."""

    view_changed = Signal(object)

    def __init__(
        self, engine: Engine, bridge: Bridge, state: WindowState, views: tuple[ConversationView, ...]
    ) -> None:
        super().__init__()
        self._bridge = bridge
        self._state = state
        self._answered = False
        self._waiting: dict[str, TurnStarted] = {}
        # Turns that wait before they retry, and the time at which that was reported.
        self._retries: dict[str, tuple[RetryScheduled, float]] = {}
        # The engine unloads idle sessions unless somebody holds them.
        self._held: dict[ConversationView, LiveSession] = {}
        self._engine = engine
        self._views = views
        self._changed: dict[ConversationView, None] = {}
        self._frame = QTimer(self, singleShot=True, interval=FRAME_MS)
        self._frame.timeout.connect(self._on_frame)
        bridge.session_changed.connect(self._on_session_changed)
        bridge.session_deleted.connect(self._on_session_deleted)
        bridge.turn_started.connect(self._on_turn_started)
        bridge.message_started.connect(self._on_message_started)
        bridge.text_arrived.connect(self._on_text_arrived)
        bridge.message_finished.connect(self._on_message_finished)
        bridge.retry_scheduled.connect(self._on_retry_scheduled)
        for signal, show in (
            (bridge.calls_streamed, lambda view, event: view.show_calls(event)),
            (bridge.tool_started, lambda view, event: view.show_tool_started(event)),
            (bridge.tool_progressed, lambda view, event: view.show_tool_progress(event)),
            (bridge.tool_finished, lambda view, event: view.show_tool_finished(event)),
            (bridge.turn_finished, lambda view, event: view.show_turn_finished(event)),
        ):
            signal.connect(partial(self._show_call, show))

    async def open(self, view: ConversationView, summary: SessionSummary) -> None:
        """Show a session in a view: its last messages at once, the rest when they are read.

        Raises NotFound, StorageError.
        """
        session_id = summary.id
        self.keep_place(view)
        place = self._state.place(session_id)
        is_known = summary.kind in KINDS
        long = is_known and summary.messages > TAIL and self._engine.live(session_id) is None
        tail = self._engine.tail(session_id, TAIL) if long else []
        if tail:
            view.show_session(kind_of(summary).provisional(summary, tail), tail)
            view.set_draft(self._engine.drafts.of(session_id))
            view.go_to(place)
            self.view_changed.emit(view)
        live = await self._engine.open(session_id)
        if (tail and view.session_id != session_id) or not isinstance(live.session, view.KIND):
            return
        self._bridge.flush()
        self._show_whole(view, live, tail)
        if not tail:
            view.set_draft(self._engine.drafts.of(session_id))
        if not tail or view.transcript.following:
            view.go_to(place)
        turn = self._waiting.get(session_id)
        if turn is not None:
            view.show_turn(turn, starting=not self._answered)
        if session_id in self._retries:
            retry, told_at = self._retries[session_id]
            left = retry.seconds - (time.monotonic() - told_at)
            if left > 0:
                view.show_retry(replace(retry, seconds=left))
        self.view_changed.emit(view)

    def _show_whole(self, view: ConversationView, live: LiveSession, tail: list[Message]) -> None:
        """Show a whole session in a view that shows nothing of it yet, or the messages of `tail`."""
        self._held[view] = live
        session, read_only, damaged = live.session, live.read_only, live.damaged
        messages = live.shown_with_summaries() if isinstance(view, ChatPage) else list(live.whole_messages())
        # The tail is the end of the log; it may hold other versions, or messages that later lines change.
        if tail and messages[-len(tail) :] == tail:
            view.show_change(session)
            view.prepend(messages[: -len(tail)], read_only=read_only, damaged=damaged)
        else:
            view.show_session(session, messages, read_only=read_only, damaged=damaged)
        if isinstance(view, ChatPage):
            view.show_versions(live.turns.versions_shown(live.chat_session.chat.head))
            # Hidden versions of answers cost money too.
            view.spending.add(live.whole_messages())

    def add(self, view: ConversationView) -> None:
        """Show sessions in one more view."""
        self._views = (*self._views, view)

    def keep_place(self, view: ConversationView) -> None:
        """Save the scroll position of a view."""
        if view.session_id:
            self._state.keep_place(view.session_id, view.place)

    def close(self) -> None:
        """Tell no more of changes."""
        self._frame.stop()

    def _note_change(self, view: ConversationView) -> None:
        """Emit `view_changed` a frame later: it takes longer than the paint of the first word, which must not wait."""
        self._changed[view] = None
        if not self._frame.isActive():
            self._frame.start()

    def _on_frame(self) -> None:
        changed, self._changed = self._changed, {}
        for view in changed:
            self.view_changed.emit(view)

    def _showing(self, session_id: str) -> list[ConversationView]:
        return [view for view in self._views if view.session_id == session_id]

    def _show_call(self, show: Callable[[ConversationView, Any], None], event: Event) -> None:
        for view in self._showing(event.session_id):
            show(view, event)

    def _on_session_changed(self, event: SessionChanged) -> None:
        if event.session.status != Status.RUNNING:
            self._waiting.pop(event.session_id, None)
            self._retries.pop(event.session_id, None)
        for view in self._showing(event.session_id):
            view.show_change(event.session)
            if isinstance(view, ChatPage) and event.session.chat is not None:
                self._follow_head(view, event.session_id, event.session.chat.head)
            self.view_changed.emit(view)

    def _follow_head(self, view: ChatPage, session_id: str, head: str) -> None:
        """Show another version if the chat's head has moved, and the number of versions."""
        live = self._engine.live(session_id)
        if live is None:
            return
        # A turn without messages cannot be shown.
        if not view.stands_at(head) and live.turns.said(head):
            self._bridge.flush()
            view.reload(live.shown_with_summaries(), live.turns.versions_shown(live.chat_session.chat.head))
        else:
            view.show_versions(live.turns.versions_shown(live.chat_session.chat.head))

    def _on_session_deleted(self, event: SessionDeleted) -> None:
        for view in self._showing(event.session_id):
            view.clear()
            self.view_changed.emit(view)

    def _on_turn_started(self, event: TurnStarted) -> None:
        self._retries.pop(event.session_id, None)
        if event.parent_turn_id is None:
            self._waiting[event.session_id] = event
        for view in self._showing(event.session_id):
            view.show_turn(event, starting=not self._answered)
            self.view_changed.emit(view)

    def _on_message_started(self, event: MessageStarted) -> None:
        if event.message.parent_turn_id is None:
            self._waiting.pop(event.session_id, None)
        self._retries.pop(event.session_id, None)
        for view in self._showing(event.session_id):
            view.show_message(event.message)
            self._note_change(view)

    def _on_text_arrived(self, session_id: str, message_id: str, text: str, thinking: str) -> None:
        self._answered = True
        for view in self._showing(session_id):
            view.show_text(message_id, text, thinking)

    def _on_message_finished(self, event: MessageFinished) -> None:
        for view in self._showing(event.session_id):
            view.show_finished(event)
            self.view_changed.emit(view)

    def _on_retry_scheduled(self, event: RetryScheduled) -> None:
        self._retries[event.session_id] = event, time.monotonic()
        for view in self._showing(event.session_id):
            view.show_retry(event)


class MainPages(QObject):
    """Knows the page of each kind of session; emits `shown` with a page that comes to the front.

    `debate_shown` gives the page of debates or of councils that is in front, else None.
    """

    shown = Signal(object)
    debate_shown = Signal(object)

    def __init__(
        self,
        window: WindowFrame,
        *,
        debates: ConversationView,
        councils: ConversationView,
        chats: ConversationView,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._debates, self._councils, self._chats = debates, councils, chats
        self._last_ids: dict[ConversationView, str] = {debates: "", councils: "", chats: ""}
        for page in self._last_ids:
            window.main_area.addWidget(page)
        window.main_area.currentChanged.connect(lambda _place: self._give_names())
        self._give_names()

    @property
    def current(self) -> ConversationView | None:
        """The session page in front, None while the main area shows something else."""
        page = self._window.main_area.currentWidget()
        return page if isinstance(page, ConversationView) else None

    @property
    def session(self) -> Session | None:
        """The session in front."""
        return self.current.session if self.current else None

    def page_of(self, summary: SessionSummary) -> ConversationView:
        """Return the page that shows sessions of a kind."""
        if summary.mode == DebateMode.COUNCIL:
            return self._councils
        return self._debates if summary.kind == "debate" else self._chats

    def refresh(self) -> bool:
        """Refresh the top bar; return False if no session page is in front."""
        if self.current is not None:
            self.show(self.current)
        return self.current is not None

    def follow(self, view: ConversationView) -> None:
        """Bring a session that was opened to the front, and refresh the one in front."""
        if view not in self._last_ids:
            return
        opened = self._last_ids[view] != view.session_id
        self._last_ids[view] = view.session_id
        if view.session is None:
            if view is self.current:
                self._window.show_welcome()
        elif opened or view is self.current:
            self.show(view)
        self._give_names()

    def _give_names(self) -> None:
        """Give the page in front its object names: debates have their own, which the panel has otherwise."""
        debate = self.current is self._debates and self._debates.session is not None
        self._debates.bear_names(debate)
        for page in (self._councils, self._chats):
            page.bear_names(page is (self._councils if self.current is self._councils else self._chats))
        council = self.current is self._councils and self._councils.session is not None
        self.debate_shown.emit(self.current if debate or council else None)

    def show(self, view: ConversationView) -> None:
        """Bring a session page to the front, with the session's title, state and cost in the top bar."""
        window, session, top = self._window, view.session, self._window.top_bar
        window.main_area.setCurrentWidget(view)
        window.side_bar.sessions.select(view.session_id)
        self.shown.emit(view)
        if session is None:
            top.show_title(window.language("chat.new"))
            top.show_session_tools(False)
            top.show_mode(modes_of(window.language, group=view.in_group_mode, settings=view.in_settings_mode))
            return
        top.show_title(session.title, can_rename=True)
        top.show_session_tools(True)
        top.show_state(session)
        top.cost.set_text(
            view.spending.text(window.language), short=view.spending.short_text(window.language)
        )
        top.cost.setToolTip(plain_tip(view.spending.lines(window.language)))
        top.fit()
