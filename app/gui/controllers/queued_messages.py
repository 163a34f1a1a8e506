"""Messages queued for a busy assistant: connects the queue on the chat page to the engine."""

from collections.abc import Callable
from dataclasses import replace

from app.core.draft import Draft
from app.core.errors import MootError
from app.core.events import SessionChanged
from app.core.message import Role
from app.core.session import QueuedMessage
from app.core.text import trimmed
from app.gui.controllers.controller import PageController, Parts
from app.gui.pages.chat.chat_page import ChatPage
from app.gui.window_frame import AppWindow


class QueuedMessages(PageController):
    """Answers what the user asks of the queue; no text that was being written is lost."""

    def __init__(
        self, parts: Parts[AppWindow], page: ChatPage, show_draft: Callable[[str, Draft], None]
    ) -> None:
        """`show_draft` keeps the unsent draft of a session and shows it if the session is in front."""
        super().__init__(parts)
        self._page, self._show_draft = page, show_draft
        queue = page.queue
        self._run(queue.edited, lambda one, text: self._edit(page.session_id, one, text))
        self._run(queue.moved, lambda one, place: self._move(page.session_id, one, place))
        self._run(queue.sent, lambda one: self._send_now(page.session_id, one))
        queue.written.connect(self._on_written)
        self._run(queue.removed, lambda one: self._remove(page.session_id, one))
        parts.bridge.session_changed.connect(self._on_session_changed)

    def _on_written(self, _queued_id: str, text: str | None) -> None:
        """Send the messages that an edit held back, once it is cancelled."""
        if text is None:
            self._start(self._engine.chats.send_queued(self._page.session_id))

    async def _edit(self, session_id: str, queued_id: str, text: str) -> None:
        """Rewrite a queued message; if it is no longer queued, put the text into the composer."""
        try:
            await self._engine.chats.edit_queued(session_id, queued_id, text)
        except MootError:
            self._end_edit(session_id, queued_id)
            self._show_draft(session_id, self._engine.drafts.of(session_id).led_by(text))
            raise
        self._end_edit(session_id, queued_id)
        await self._engine.chats.send_queued(session_id)

    async def _take_over(self, session_id: str, queued_id: str) -> None:
        """Save the unfinished edit of a message that is about to leave the queue."""
        text = self._engine.drafts.of(session_id).queued.get(queued_id, "")
        if text.strip():
            await self._engine.chats.edit_queued(session_id, queued_id, text)
        self._end_edit(session_id, queued_id)

    def _end_edit(self, session_id: str, queued_id: str) -> None:
        draft = self._engine.drafts.of(session_id)
        if queued_id in draft.queued:
            rest = {other: text for other, text in draft.queued.items() if other != queued_id}
            self._show_draft(session_id, replace(draft, queued=rest))

    async def _send_now(self, session_id: str, queued_id: str) -> None:
        await self._take_over(session_id, queued_id)
        await self._engine.chats.send_now(session_id, queued_id)

    async def _move(self, session_id: str, queued_id: str, place: int) -> None:
        await self._engine.chats.move_queued(session_id, queued_id, place)
        await self._engine.chats.send_queued(session_id)

    async def _remove(self, session_id: str, queued_id: str) -> None:
        await self._take_over(session_id, queued_id)
        live = self._engine.live(session_id)
        queue = live.chat_session.chat.queue if live else ()
        await self._engine.chats.remove_queued(session_id, queued_id)
        await self._engine.chats.send_queued(session_id)
        place, queued = next((at, one) for at, one in enumerate(queue) if one.id == queued_id)
        self._offer_undo(
            self._language("queue.removed"),
            lambda: self._start(self._put_back(session_id, queued, place)),
        )

    async def _put_back(self, session_id: str, queued: QueuedMessage, place: int) -> None:
        await self._engine.chats.send(session_id, queued.text, queued.attachments)
        live = self._engine.live(session_id)
        queue = live.chat_session.chat.queue if live else ()
        if queue and place < len(queue) - 1:
            await self._engine.chats.move_queued(session_id, queue[-1].id, place)

    def _on_session_changed(self, event: SessionChanged) -> None:
        """Put the edits of messages that have left the queue into the composer."""
        draft = self._engine.drafts.of(event.session_id)
        if not draft.queued or event.session.chat is None:
            return
        waits = {one.id for one in event.session.chat.queue}
        gone = [text for queued_id, text in draft.queued.items() if queued_id not in waits]
        if gone:
            live = self._engine.live(event.session_id)
            said = {one.content for one in live.messages if one.role == Role.USER} if live else set()
            late = [text for text in gone if trimmed(text) not in said]
            rest = {queued_id: text for queued_id, text in draft.queued.items() if queued_id in waits}
            self._show_draft(event.session_id, replace(draft.led_by("\n\n".join(late)), queued=rest))
