"""What is sent, in the window: summaries and pinned messages, the command "Summarise now",
and the gauge by the composer.
"""

from collections.abc import Sequence
from functools import partial

from app.core.message import Message, Role, tokens_text
from app.core.session import Status
from app.core.texts import exact, unmarked
from app.engine.history import NOTES
from app.gui.controllers.chats import ChatController
from app.gui.controllers.controller import PageController, Parts
from app.gui.controllers.sessions import SessionViews
from app.gui.dialogs.ask_dialogs import SummaryDialog, WindowDialog
from app.gui.pages.chat.chat_page import ChatPage
from app.gui.panels.debate.discussion_view import DebateView
from app.gui.tasks import timer
from app.gui.transcript.selection import EDIT, LEAVE_SUMMARY, PIN, REDO_SUMMARY, UNPIN, USE_SUMMARY
from app.gui.window_frame import AppWindow

SETTLED_MS = 150


class SummaryController(PageController):
    """Answers what the user asks about the summaries of the chat in front, and shows how long it is."""

    def __init__(
        self,
        parts: Parts[AppWindow],
        page: ChatPage,
        debates: Sequence[DebateView],
        views: SessionViews,
        chats: ChatController,
    ) -> None:
        super().__init__(parts)
        self._page = page
        self._views = (page, *debates)
        self._pin_shown = ""
        # The request is counted once what happened has been painted.
        self._timer = timer(self, SETTLED_MS, self.show_use, once=True)
        summaries = parts.engine.summaries
        page.transcript.summary_writer = lambda: summaries.writer_of(page.session_id)
        for debate in debates:
            debate.transcript.summary_writer = partial(self._notes_writer, debate)
        for view in self._views:
            view.summary_action_requested.connect(self._on_action)
        page.chat_composer.gauge.choices.aboutToShow.connect(self._fill_menu)
        for signal in (views.view_changed, chats.refreshed):
            signal.connect(self._count_later)
        self._language.changed.connect(self.show_use)

    def _notes_writer(self, debate: DebateView) -> str:
        return self._engine.debates.notes_writer(debate.session_id)

    def summarise(self) -> None:
        """Summarise the chat in front now."""
        session = self._page.session
        if session is not None and self._page.isVisible():
            self._start(self._engine.summaries.make(session.id))

    def next_pin(self) -> None:
        """Show the next pinned message of the session in front, after the last one the first."""
        pins = ((item, item.session.pinned) for item in self._views if item.session and item.isVisible())
        view, pinned = next((each for each in pins if each[1]), (self._page, ()))
        if not pinned:
            self._toasts.show_toast(self._language("toast.no_pins"))
            return
        order = sorted(pinned)
        self._pin_shown = next((item for item in order if item > self._pin_shown), order[0])
        view.transcript.point_out(self._pin_shown)
        view.transcript.setFocus()

    async def _pin(self, session_id: str, message_id: str, *, pinned: bool) -> None:
        """Pin a message or no longer, and offer to take that back."""
        await self._engine.summaries.pin(session_id, message_id, pinned=pinned)
        undo = partial(self._engine.summaries.pin, session_id, message_id, pinned=not pinned)
        self._offer_undo("toast.pinned" if pinned else "toast.unpinned", undo)

    def show_use(self) -> None:
        """Show how much of its model's window the chat in front uses."""
        gauge, session = self._page.chat_composer.gauge, self._page.session
        use = self._engine.summaries.use_of(session.id) if session is not None else None
        gauge.setVisible(use is not None)
        if use is None:
            return
        sent, window = tokens_text(use.tokens), tokens_text(use.window)
        above = use.tokens > use.limit
        key = "gauge.above" if above else "gauge.below"
        tip = self._language(key, sent=f"{use.tokens:,}", window=f"{use.window:,}", limit=f"{use.limit:,}")
        shown = self._language("gauge", sent=sent, window=window)
        self._page.chat_composer.show_gauge(shown, tip, above=above)

    def _count_later(self) -> None:
        # Not a lambda: as the slot of signals of several objects, it kept a closed window in memory.
        self._timer.start()

    def _fill_menu(self) -> None:
        menu, session = self._page.chat_composer.gauge.choices, self._page.session
        menu.clear()
        words = self._language("palette.summarise")
        writer = self._engine.summaries.writer_of(session.id) if session is not None else ""
        if writer:
            words = unmarked(self._language("gauge.summarise", words=words, model=exact(writer)))
        action = menu.addAction(words, self.summarise)
        action.setEnabled(session is not None and session.status == Status.IDLE)
        menu.addAction(self._language("gauge.set_window"), self._ask_window)

    def _ask_window(self) -> None:
        """Ask how many tokens the model of the chat in front can read."""
        session = self._page.session
        use = self._engine.summaries.use_of(session.id) if session is not None else None
        if use is not None:
            dialog = WindowDialog(self._language, use.model, use.own_window, use.window, self._window)
            choose = partial(self._engine.connections.choose_window, use.provider, use.model)
            dialog.open_for(self._starts(lambda tokens: self._then(partial(choose, tokens), self.show_use)))

    def _on_action(self, session_id: str, message: Message, action: str) -> None:
        summaries, notes = self._engine.summaries, message.author.kind == NOTES
        if action in (PIN, UNPIN):
            self._start(self._pin(session_id, message.id, pinned=action == PIN))
        elif message.role != Role.SUMMARY:
            return
        elif action == EDIT:
            key = "summary.notes.text" if notes else "summary.edit.text"
            dialog = SummaryDialog(self._language, message.content, self._window, key=key)
            dialog.open_for(self._starts(partial(summaries.edit, session_id, message.id)))
        elif action == REDO_SUMMARY:
            redo = self._engine.debates.redo_notes if notes else summaries.redo
            self._start(redo(session_id, message.id))
        elif action in (USE_SUMMARY, LEAVE_SUMMARY):
            self._start(summaries.use(session_id, message.id, used=action == USE_SUMMARY))
