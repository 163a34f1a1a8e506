"""Commands on a session from any view: pause, resume, stop, rename, delete, export, save a picture, open a link."""

import asyncio
import base64
from collections.abc import Coroutine, Sequence
from pathlib import Path, PurePath

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication

from app.core.message import Attachment
from app.core.reasons import resumable
from app.core.session import Session, SessionSummary, Status
from app.gui.controllers.controller import PageController
from app.gui.dialogs.ask_dialogs import RenameDialog
from app.gui.dialogs.link_dialog import LinkDialog, may_open
from app.gui.display.appearance import Language
from app.gui.files.attachments import is_image
from app.gui.files.shared_files import ask_where, save_whole
from app.gui.navigation.session_list import PDF
from app.gui.transcript.pictures import SAVE_FILE, SAVE_PICTURE
from app.gui.widgets.picture_viewer import PictureSize, PictureViewer
from app.gui.widgets.toast import Toast, Toasts

Listed = Session | SessionSummary


class SessionController(PageController):
    """Turns requests about sessions into tasks on the engine."""

    def pause(self, session_id: str) -> None:
        """Pause after the turn in flight; asked a second time, pause at once."""
        name = f"pause {session_id}"
        self._tasks.start(
            f"{name} now" if self._tasks.running(name) else name, self._engine.pause(session_id)
        )

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
        return next((one for one in self._engine.sessions() if one.id == session_id), None)

    def delete(self, session_id: str) -> None:
        """Move a session to the trash, and offer to restore it."""
        summary = self.summary(session_id)
        if summary is not None:
            self._tasks.start(f"delete {session_id}", self._delete(summary))

    def ask_name(self, session_id: str) -> None:
        """Ask for a title and rename the session."""
        summary = self.summary(session_id)
        if summary is not None:
            dialog = RenameDialog(self._language, summary.title, self._window)
            dialog.named.connect(lambda title: self.rename(summary, title))
            dialog.open()

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
        if session is None:
            return
        ask_where(
            self._window,
            self._language("top.export"),
            session.title,
            lambda path: self._tasks.add("export", self._export(session, format_name, path)),
            format_name,
        )

    def on_picture(self, action: str, pictures: Sequence[PictureSize], place: int) -> None:
        """Show a picture of a message large, or save it or another file."""
        if action in (SAVE_PICTURE, SAVE_FILE):
            self._ask_to_save(pictures[place][0])
            return
        over = QApplication.activeWindow() or self._window
        viewer = PictureViewer(self._language, self._look, pictures, place, over)
        viewer.save_requested.connect(self._ask_to_save)
        viewer.open()

    def _ask_to_save(self, file: Attachment) -> None:
        """Ask for a file name, then save a picture or another file of a message."""
        name = PurePath(file.name)
        ask_where(
            QApplication.activeWindow() or self._window,
            self._language("transcript.save_picture" if is_image(file) else "transcript.save_file"),
            name.stem,
            lambda path: self._tasks.add("save file", self._save_file(file, path)),
            name.suffix[1:],
        )

    async def _save_file(self, file: Attachment, path: Path) -> None:
        words = self._language
        try:
            await asyncio.to_thread(
                lambda: save_whole(path, base64.b64decode(file.data) if file.data else file.text.encode())
            )
        except OSError as error:
            detail = error.strerror or str(error)
            self._toasts.show_toast(words("export.failed", name=path.name, detail=detail))
        else:
            if is_image(file):
                self._offer_open(path)
            else:
                # What a server sent may be a program.
                self._toasts.show_toast(words("export.done", name=path.name))

    async def _delete(self, summary: SessionSummary) -> None:
        await self._engine.delete(summary.id)
        self._offer_undo(
            self._language("history.deleted", title=summary.title),
            lambda: self._tasks.start(f"restore {summary.id}", self._engine.restore(summary.id)),
        )

    async def _rename(self, session: Listed, title: str) -> None:
        await self._engine.chats.rename(session.id, title)
        self._offer_undo(
            self._language("session.renamed", title=title),
            lambda: self._tasks.start(
                f"rename {session.id}", self._engine.chats.rename(session.id, session.title)
            ),
        )

    async def _export(self, session: Listed, format_name: str, path: Path) -> None:
        words = self._language
        work = self._write(session, format_name, path)
        try:
            done = await with_note(self._toasts, words, words("export.working", name=path.name), work)
        except OSError as error:
            detail = error.strerror or str(error)
            self._toasts.show_toast(words("export.failed", name=path.name, detail=detail))
        else:
            if done:
                self._offer_open(path)

    def _offer_open(self, path: Path) -> None:
        """Say that a file is saved, and offer to open it."""
        words = self._language
        self._toasts.show_toast(
            words("export.done", name=path.name),
            words("export.open"),
            lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))),
            undoes=False,
        )

    async def _write(self, session: Listed, format_name: str, path: Path) -> None:
        if format_name != PDF:
            text = await self._engine.export(session.id, format_name)
            await asyncio.to_thread(save_whole, path, text.encode())
            return
        from app.gui.files.pdf_file import write_pdf

        await write_pdf(path, session.title, await self._engine.document(session.id), QApplication.font())


NOTE_AFTER_S = 0.5


async def with_note(
    toasts: Toasts, words: Language, text: str, work: Coroutine[object, object, object]
) -> bool:
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
