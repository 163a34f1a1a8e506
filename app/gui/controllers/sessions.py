"""Sessions: commands on one from any view, folders, and the views that show them.

Commands: pause, resume, stop, rename, delete, export, save a picture, open a link. `SessionViews` opens
sessions and passes the engine's events to their views, `MainPages` picks the page in front; neither affects a
run.
"""

import asyncio
import base64
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePath

from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication

from app.core import events
from app.core.errors import MootError
from app.core.message import SPOKEN, Attachment, Message
from app.core.session import PDF, ZIP, DebateMode, Folder, Session, SessionSummary, Status, resumable
from app.core.texts import exact
from app.engine.live_session import LiveSession
from app.gui.bridge import FRAME_MS
from app.gui.controllers.controller import FOLDER, Controller, PageController, Parts
from app.gui.dialogs.ask_dialogs import FolderDialog, FolderExportDialog, LinkDialog, RenameDialog, may_open
from app.gui.display.appearance import Language
from app.gui.display.descriptions import KINDS, kind_of
from app.gui.files.user_files import ask_where, is_image, save_whole
from app.gui.navigation.session_list import BEGIN, CONTENTS, DELETE, RENAME
from app.gui.pages.chat.chat_page import ChatPage
from app.gui.pages.council.council_page import CouncilPage
from app.gui.panels.conversation_view import MODEL, PROCESS, ConversationView
from app.gui.panels.debate.discussion_view import DebatePage
from app.gui.tasks import Work, timer
from app.gui.transcript.pictures import SAVE_FILE, SAVE_PICTURE
from app.gui.transcript.transcript_model import TurnEvent
from app.gui.widgets.choices import ChipOption
from app.gui.widgets.notices import Toast, Toasts
from app.gui.widgets.picture_viewer import PictureSize, PictureViewer
from app.gui.widgets.text import plain_tip
from app.gui.window_frame import WindowFrame

Listed = Session | SessionSummary


class SessionController(PageController):
    """Turns requests about sessions into tasks on the engine."""

    def pause(self, session_id: str) -> None:
        """Pause after the turn in flight; asked a second time, pause at once."""
        name = f"pause {session_id}"
        name = f"{name} now" if self._tasks.running(name) else name
        self._tasks.start(name, self._engine.pause(session_id))

    def pause_or_resume(self, session: Session | None) -> None:
        """Pause a running session, saying that a second time pauses at once; resume a paused one."""
        if session is not None and session.status == Status.RUNNING:
            self.pause(session.id)
            self._toasts.show_toast(self._language("session.pausing"))
        elif session is not None and resumable(session):
            self.resume(session.id)

    def resume(self, session_id: str) -> None:
        """Resume a session."""
        self._tasks.start(f"resume {session_id}", self._engine.resume(session_id))

    def stop(self, session_id: str) -> None:
        """Stop a session."""
        self._tasks.start(f"stop {session_id}", self._engine.stop(session_id))

    def summary(self, session_id: str) -> SessionSummary | None:
        """Return the summary of a session, None if there is none."""
        return next((session for session in self._engine.sessions() if session.id == session_id), None)

    def delete(self, session_id: str) -> None:
        """Move a session to the trash, and offer to restore it."""
        summary = self.summary(session_id)
        if summary is not None:
            self._tasks.start(f"delete {session_id}", self._delete(summary))

    def delete_several(self, session_ids: Sequence[str]) -> None:
        """Move sessions to the trash, and offer to restore them together."""
        self._tasks.start(f"delete {session_ids[0]}", self._delete_several(session_ids))

    def ask_name(self, session_id: str) -> None:
        """Ask for a title and rename the session."""
        summary = self.summary(session_id)
        if summary is not None:
            dialog = RenameDialog(self._language, summary.title, self._window)
            dialog.open_for(lambda title: self.rename(summary, title))

    def rename(self, session: Listed | None, title: str) -> None:
        """Rename a session, and offer to undo that."""
        if session is not None:
            self._tasks.start(f"rename {session.id}", self._rename(session, title))

    def open_link(self, url: str, shown: str) -> None:
        """Confirm with the user before opening a link; refuse links that are neither web nor mail."""
        if may_open(url):
            LinkDialog(self._language, url, shown, self._window).open()
        else:
            self._toasts.show_toast(self._language("link.refused"))

    def export(self, session: Listed | None, format_name: str) -> None:
        """Ask for a file name, then export a session in one of the formats of EXPORTS."""
        if session is not None:
            self._tasks.start("look at folder", self._look_and_export(session, format_name))

    async def _look_and_export(self, session: Listed, format_name: str) -> None:
        """Export a session; ask first where the file can have what is from its folder."""
        if not await self._engine.exports_folder(session.id, format_name):
            self._export(session, format_name)
            return
        dialog = FolderExportDialog(self._language, self._look, self._window)
        dialog.open_for(lambda chosen: self._export(session, format_name, with_folder=chosen))

    def _export(self, session: Listed, format_name: str, *, with_folder: bool = False) -> None:
        title = self._language("top.export")
        write = partial(self._write, session, format_name, with_folder=with_folder)
        self._ask_where(title, session.title, format_name, write, opens=format_name != ZIP)

    def export_memo(self, session_id: str, title: str, format_name: str) -> None:
        """Ask for a file name, then save the memo about a session in one of MEMO_FORMATS."""
        write = partial(self._write_made, partial(self._engine.memo_file, session_id, format_name))
        self._ask_where(self._language("journal.memo"), title, format_name, write)

    def save_as(self, session_id: str, path: str, format_name: str, version: int | None) -> None:
        """Ask for a file name, then save a Markdown file of a session in one of FILE_FORMATS."""
        make = partial(self._engine.file_as, session_id, path, format_name, version)
        write = partial(self._write_made, make)
        self._ask_where(self._language("files.save"), PurePath(path).stem, format_name, write)

    def on_picture(self, action: str, pictures: Sequence[PictureSize], place: int) -> None:
        """Show a picture of a message large, or save it or another file."""
        if action in (SAVE_PICTURE, SAVE_FILE):
            self.ask_to_save(pictures[place][0])
            return
        over = QApplication.activeWindow() or self._window
        viewer = PictureViewer(self._language, self._look, pictures, place, over)
        viewer.save_requested.connect(self.ask_to_save)
        viewer.open()

    def ask_to_save(self, file: Attachment) -> None:
        """Ask for a file name, then save a picture or another file of a message."""
        name = PurePath(file.name)
        title = self._language("transcript.save_picture" if is_image(file) else "transcript.save_file")
        # What a server sent may be a program.
        self._ask_where(title, name.stem, name.suffix[1:], partial(_write_file, file), opens=is_image(file))

    def _ask_where(
        self, title: str, name: str, suffix: str, write: Callable[[Path], Work], *, opens: bool = True
    ) -> None:
        """Ask for a file name, then write the file; `opens` offers to open it."""

        def save(path: Path) -> None:
            self._tasks.add("export", self._save(write(path), path, opens=opens))

        ask_where(QApplication.activeWindow() or self._window, title, name, save, suffix)

    async def _delete(self, summary: SessionSummary) -> None:
        await self._engine.delete(summary.id)
        restore = partial(self._engine.restore, summary.id)
        self._offer_undo("history.deleted", restore, lasts=True, title=summary.title)

    async def _delete_several(self, session_ids: Sequence[str]) -> None:
        gone: list[str] = []
        try:
            for session_id in session_ids:
                await self._engine.delete(session_id)
                gone.append(session_id)
        finally:
            if gone:
                self._offer_undo("history.deleted_several", partial(self._restore_all, gone), count=len(gone))

    async def _restore_all(self, session_ids: Sequence[str]) -> None:
        for session_id in session_ids:
            await self._engine.restore(session_id)

    async def _rename(self, session: Listed, title: str) -> None:
        await self._engine.chats.rename(session.id, title)
        undo = partial(self._engine.chats.rename, session.id, session.title)
        self._offer_undo("session.renamed", undo, title=title)

    async def _save(self, work: Work, path: Path, *, opens: bool = True) -> None:
        """Write a file and say so; `opens` offers to open it."""
        words = self._language
        try:
            done = await with_note(self._toasts, words, words("export.working", name=path.name), work)
        except OSError as error:
            detail = error.strerror or str(error)
            self._toasts.show_toast(words("export.failed", name=path.name, detail=detail))
            return
        text, show = words("export.done", name=path.name), QUrl.fromLocalFile(str(path))
        if done and opens:
            act = partial(QDesktopServices.openUrl, show)
            self._toasts.show_toast(text, words("export.open"), act, undoes=False)
        elif done:
            self._toasts.show_toast(text)

    async def _write_made(self, make: Callable[[], Awaitable[bytes]], path: Path) -> None:
        await asyncio.to_thread(save_whole, path, await make())

    async def _write(
        self, session: Listed, format_name: str, path: Path, *, with_folder: bool = False
    ) -> None:
        if format_name == ZIP:
            await self._engine.export_zip(session.id, str(path))
            return
        if format_name != PDF:
            make = partial(self._engine.export_file, session.id, format_name, with_folder=with_folder)
            await self._write_made(make, path)
            return
        from app.gui.files.pdf_file import write_pdf

        await write_pdf(path, session.title, await self._engine.document(session.id), QApplication.font())


async def _write_file(file: Attachment, path: Path) -> None:
    def write() -> None:
        save_whole(path, base64.b64decode(file.data) if file.data else file.text.encode())

    await asyncio.to_thread(write)


NOTE_AFTER_S = 0.5


async def with_note(toasts: Toasts, words: Language, text: str, work: Work) -> bool:
    """Await work and return True, or False if cancelled; after half a second show a toast with Cancel."""
    task = asyncio.ensure_future(work)
    notes: list[Toast] = []

    def show_note() -> None:
        notes.append(toasts.show_toast(text, words("dialog.cancel"), task.cancel, undoes=False, stays=True))

    timer = asyncio.get_running_loop().call_later(NOTE_AFTER_S, show_note)
    waits = asyncio.current_task()
    try:
        await task
    except asyncio.CancelledError:
        # Closing the window cancels this task; the toast cancels only the work.
        if waits is not None and waits.cancelling():
            raise
        return False
    finally:
        timer.cancel()
        for note in notes:
            note.leave()
    return True


TAIL = 60
HOST = "wait for the model host"


class SessionViews(QObject):
    """Knows which view shows which session; emits `view_changed` when a view shows something new."""

    view_changed = Signal(object)

    def __init__(self, parts: Parts[WindowFrame], views: tuple[ConversationView, ...]) -> None:
        super().__init__()
        self._engine, self._bridge, self._state = parts.engine, parts.bridge, parts.window.state
        self._tasks, self._answered = parts.tasks, False
        self._waiting: dict[str, events.TurnStarted] = {}
        # Turns that wait before they retry, and the time at which that was reported.
        self._retries: dict[str, tuple[events.RetryScheduled, float]] = {}
        # The engine unloads idle sessions unless somebody holds them.
        self._held: dict[ConversationView, LiveSession] = {}
        self._views, bridge = views, parts.bridge
        self._changed: dict[ConversationView, None] = {}
        self._frame = timer(self, FRAME_MS, self._on_frame, once=True)
        bridge.session_changed.connect(self._on_session_changed)
        bridge.session_deleted.connect(self._on_session_deleted)
        bridge.turn_started.connect(self._on_turn_started)
        bridge.message_started.connect(self._on_message_started)
        bridge.text_arrived.connect(self._on_text_arrived)
        bridge.message_finished.connect(self._on_message_finished)
        bridge.retry_scheduled.connect(self._on_retry_scheduled)
        tools = bridge.tool_started, bridge.tool_progressed, bridge.tool_finished
        for signal in (bridge.calls_streamed, *tools, bridge.turn_finished):
            signal.connect(self._show_call)

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
            view.open_first_step()
            view.set_draft(self._engine.drafts.of(session_id))
            view.go_to(place)
            self.view_changed.emit(view)
        live = await self._engine.open(session_id)
        if (tail and view.session_id != session_id) or not isinstance(live.session, view.KIND):
            return
        self._bridge.flush()
        # Rows, step and what stands around them take a callback each; nothing is drawn before all are there.
        view.setUpdatesEnabled(False)
        try:
            anew = self._show_whole(view, live, tail)
            if not tail:
                # Before anything else: a key that is pressed now belongs to this session.
                view.set_draft(self._engine.drafts.of(session_id))
            await asyncio.sleep(0)
            if anew and view.session_id == session_id:
                view.open_first_step()
                await asyncio.sleep(0)
        finally:
            view.setUpdatesEnabled(True)
        if view.session_id != session_id:
            return
        if not tail or view.transcript.following:
            view.go_to(place)
        turn = self._waiting.get(session_id)
        if turn is not None:
            view.show_turn(turn, starting=self._starting())
        if session_id in self._retries:
            retry, told_at = self._retries[session_id]
            left = retry.seconds - (time.monotonic() - told_at)
            if left > 0:
                view.show_retry(replace(retry, seconds=left))
        self.view_changed.emit(view)

    def _show_whole(self, view: ConversationView, live: LiveSession, tail: list[Message]) -> bool:
        """Show a whole session in a view that shows nothing of it yet, or the messages of `tail`; return
        whether all is shown anew.
        """
        self._held[view] = live
        session, read_only, damaged = live.session, live.read_only, live.damaged
        messages = live.shown_with_summaries() if isinstance(view, ChatPage) else list(live.whole_messages())
        # The tail is the end of the log; it may hold other versions, or messages that later lines change.
        anew = not tail or messages[-len(tail) :] != tail
        if not anew:
            view.show_change(session)
            view.prepend(messages[: -len(tail)], read_only=read_only, damaged=damaged)
        else:
            view.show_session(session, messages, read_only=read_only, damaged=damaged)
        if isinstance(view, ChatPage):
            view.show_versions(live.turns.versions_shown(live.chat_session.chat.head))
            # Hidden versions of answers cost money too.
            view.spending.add(live.whole_messages())
        return anew

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

    def _on_frame(self) -> None:
        changed, self._changed = self._changed, {}
        for view in changed:
            self.view_changed.emit(view)

    def _showing(self, session_id: str) -> list[ConversationView]:
        return [view for view in self._views if view.session_id == session_id]

    def _show_call(self, event: events.CallsStreamed | TurnEvent) -> None:
        for view in self._showing(event.session_id):
            view.show_call(event)

    def _on_session_changed(self, event: events.SessionChanged) -> None:
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

    def _on_session_deleted(self, event: events.SessionDeleted) -> None:
        for view in self._showing(event.session_id):
            view.clear()
            self.view_changed.emit(view)

    def _on_turn_started(self, event: events.TurnStarted) -> None:
        # What is asked beside the turns of a debate says nothing of them.
        if event.part in SPOKEN:
            self._retries.pop(event.session_id, None)
            if event.parent_turn_id is None:
                self._waiting[event.session_id] = event
        starting = self._starting()
        if starting == PROCESS and not self._tasks.running(HOST):
            self._tasks.start(HOST, self._wait_for_host())
        for view in self._showing(event.session_id):
            view.show_turn(event, starting=starting)
            self.view_changed.emit(view)

    def _starting(self) -> str:
        """Return what has to start before a model is asked."""
        if not self._engine.connections.is_warm():
            return PROCESS
        return "" if self._answered else MODEL

    async def _wait_for_host(self) -> None:
        """Show that requests are sent once the process that asks the models can do so."""
        with contextlib.suppress(MootError):  # The turn says why it can't be started.
            await self._engine.connections.warm()
        for view in self._views:
            view.show_started(self._starting())

    def _on_message_started(self, event: events.MessageStarted) -> None:
        if event.message.part in SPOKEN:
            if event.message.parent_turn_id is None:
                self._waiting.pop(event.session_id, None)
            self._retries.pop(event.session_id, None)
        for view in self._showing(event.session_id):
            view.show_message(event.message)
            # A frame later: it takes longer than the paint of the first word, which must not wait.
            self._changed[view] = None
            if not self._frame.isActive():
                self._frame.start()

    def _on_text_arrived(self, session_id: str, message_id: str, text: str, thinking: str) -> None:
        self._answered = True
        for view in self._showing(session_id):
            view.show_text(message_id, text, thinking)

    def _on_message_finished(self, event: events.MessageFinished) -> None:
        for view in self._showing(event.session_id):
            view.show_finished(event)
            self.view_changed.emit(view)

    def _on_retry_scheduled(self, event: events.RetryScheduled) -> None:
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
        self, window: WindowFrame, debates: DebatePage, councils: CouncilPage, chats: ChatPage
    ) -> None:
        super().__init__(window)
        self._window = window
        self._debates, self._councils, self._chats = debates, councils, chats
        self._last_ids: dict[ConversationView, str] = {debates: "", councils: "", chats: ""}
        window.add_page(debates)
        window.add_page(councils)
        window.main_area.currentChanged.connect(lambda _place: self._give_names())
        self._give_names()

    @property
    def current(self) -> ConversationView | None:
        """The session page in front, also without a session; None while the main area shows something
        else.
        """
        page = self._window.main_area.currentWidget()
        return page if isinstance(page, ConversationView) else None

    @property
    def session(self) -> Session | None:
        """The session in front."""
        return self.current.session if self.current else None

    def page_of(self, summary: SessionSummary) -> ConversationView:
        """Return the page that shows sessions of a kind, as large as it will be."""
        page: ConversationView = self._debates if summary.kind == "debate" else self._chats
        page = self._councils if summary.mode == DebateMode.COUNCIL else page
        page.resize(self._window.main_area.size())
        return page

    def refresh(self) -> None:
        """Refresh the top bar."""
        if self.current is not None:
            self.show(self.current)

    def follow(self, view: ConversationView) -> None:
        """Bring a session that was opened to the front, and refresh the one in front."""
        if view not in self._last_ids:
            return
        opened = self._last_ids[view] != view.session_id
        self._last_ids[view] = view.session_id
        if view.session is None:
            if view is self.current and opened:
                self._window.begin_requested.emit("")
        elif opened or view is self.current:
            self.show(view)
        self._give_names()

    def _give_names(self) -> None:
        """Give the page in front its object names: debates have their own, which the panel has otherwise."""
        debate = self.current is self._debates and self._debates.session is not None
        self._debates.use_names(debate)
        for page in (self._councils, self._chats):
            page.use_names(page is (self._councils if self.current is self._councils else self._chats))
        council = self.current is self._councils and self._councils.session is not None
        self.debate_shown.emit(self.current if debate or council else None)

    def show(self, view: ConversationView) -> None:
        """Bring a session page to the front, with the session's title, state and cost in the top bar."""
        window, session, top = self._window, view.session, self._window.top_bar
        self._last_ids[view] = view.session_id
        window.main_area.setCurrentWidget(view)
        window.side_bar.sessions.select(view.session_id)
        self.shown.emit(view)
        if session is None:
            top.show_title("")
            top.show_session_tools(False)
            top.show_mode(view.new_mode)
            return
        top.show_title(session.title, can_rename=True)
        top.show_session_tools(True)
        top.show_state(session)
        words, spent = window.language, view.spending
        top.cost.set_text(spent.text(words), short=spent.short_text(words))
        top.cost.setToolTip(plain_tip(spent.lines(words)))
        top.fit()


CLOSED = "closed_folders"


class FolderController(Controller):
    """Makes, edits and deletes folders, and moves sessions.

    Emits changed() when the list or the chosen folder changed.
    """

    changed = Signal()

    def __init__(self, parts: Parts[WindowFrame]) -> None:
        super().__init__(parts)
        side = parts.window.side_bar
        side.new_folder_requested.connect(self.make_new)
        sessions = side.sessions
        for folder_id in self._state.text(CLOSED).split():
            sessions.fold(folder_id, closed=True)
        sessions.folded.connect(lambda: self._state.keep(CLOSED, " ".join(sorted(sessions.closed))))
        sessions.new_folder_requested.connect(self.make_new)
        self._run(sessions.move_requested, self._move)
        sessions.folder_requested.connect(self._on_requested)
        parts.bridge.folders_changed.connect(lambda _event: self._tell())
        self._tell()

    def choose(self, folder_id: str) -> None:
        """Let new sessions begin in a folder, "" for none."""
        self._state.keep(FOLDER, folder_id)
        self._tell()

    def make_new(self, session_id: str = "") -> None:
        """Ask for a name and make a folder, with a session in it if one is given."""
        self._ask_name("", "folder.new.title", lambda name: self._start(self._make(name, session_id)))

    def _ask_name(self, before: str, key: str, use: Callable[[str], object]) -> None:
        RenameDialog(self._language, before, self._window, key=key).open_for(use)

    async def _make(self, name: str, session_id: str) -> None:
        folder = await self._engine.folders.save(Folder(id="", name=name))
        if session_id:
            await self._move(session_id, folder.id)

    async def _move(self, session_id: str, folder_id: str) -> None:
        before = next((session.folder for session in self._engine.sessions() if session.id == session_id), "")
        await self._engine.move(session_id, folder_id)
        folder = self._engine.folders.get(folder_id)
        undo, name = partial(self._engine.move, session_id, before), folder.name if folder else ""
        self._offer_undo("folder.moved" if folder else "folder.moved_out", undo, name=name)

    def _on_requested(self, action: str, folder_id: str) -> None:
        folder = self._engine.folders.get(folder_id)
        if folder is None:
            return
        if action == BEGIN:
            self.choose(folder_id)
            self._window.begin_requested.emit("")
        elif action == RENAME:
            change = self._engine.folders.change
            rename = self._starts(lambda name: change(folder_id, lambda found: replace(found, name=name)))
            self._ask_name(folder.name, "folder.name", rename)
        elif action == CONTENTS:
            self._start(self._show_contents(folder))
        elif action == DELETE:
            self._start(self._delete(folder))

    async def _show_contents(self, folder: Folder) -> None:
        skills = self._engine.skills
        await skills.look()
        offers = [
            ChipOption(item.name, exact(item.title)) for item in skills.all() if skills.may_be_read(item)
        ]
        dialog = FolderDialog(self._language, self._look, folder, self._window, offers)
        dialog.open_for(self._starts(self._engine.folders.save))

    async def _delete(self, folder: Folder) -> None:
        await self._engine.folders.delete(folder.id)
        restore = partial(self._engine.folders.restore, folder)
        self._offer_undo("folder.deleted", restore, lasts=True, name=folder.name)

    def _tell(self) -> None:
        self._window.side_bar.sessions.mark(self.folder_id)
        self.changed.emit()
