"""The files of the session in front: connects their list to the engine."""

import asyncio
import base64
from pathlib import PurePath

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication

from app.core.events import FileWritten
from app.core.message import Attachment
from app.core.session_files import FileVersion
from app.core.texts import exact
from app.gui.controllers.controller import Controller, Parts
from app.gui.controllers.sessions import MainPages, SessionController
from app.gui.dialogs.file_dialog import RESTORE, FileDialog, shown_text
from app.gui.pages.chat.chat_page import ChatPage
from app.gui.pages.chat.session_files import COPY, DELETE, FOLDER, OPEN, SAVE
from app.gui.window_frame import WindowFrame


class FilesController(Controller):
    """Shows the files of the session in front, and does with them what the user asks."""

    def __init__(
        self, parts: Parts[WindowFrame], page: ChatPage, pages: MainPages, sessions: SessionController
    ) -> None:
        super().__init__(parts)
        self._page, self._sessions = page, sessions
        self._files = parts.engine.session_files
        parts.bridge.file_written.connect(self._on_written)
        pages.shown.connect(lambda _page: self.refresh())
        page.files.asked.connect(lambda path, what: self._start(self._do(page.session_id, path, what)))

    def refresh(self) -> None:
        """Show the files of the session in front as they are now."""
        self._tasks.replace("session files", self._show(self._page.session_id))

    def _on_written(self, event: FileWritten) -> None:
        if event.session_id == self._page.session_id:
            self.refresh()

    async def _show(self, session_id: str) -> None:
        files = await self._files.list(session_id) if session_id else ()
        if session_id == self._page.session_id:
            self._page.files.show_files(files)

    async def _do(self, session_id: str, path: str, what: str, version: int | None = None) -> None:
        """Do what the user asks of a file, or of a version of it."""
        if what == OPEN:
            await self._open(session_id, path)
        elif what == FOLDER:
            QDesktopServices.openUrl(QUrl.fromLocalFile(self._files.folder(session_id)))
        elif what == DELETE:
            gone = await self._files.delete(session_id, path)
            text = self._language("files.deleted", name=exact(path))
            self._offer_undo(text, lambda: self._start(self._restore(session_id, path, gone.version)))
        elif what == RESTORE and version is not None:
            await self._restore(session_id, path, version)
        else:
            _, data = await self._files.read(session_id, path, version)
            if what == SAVE:
                self._sessions.ask_to_save(
                    Attachment(name=PurePath(path).name, data=base64.b64encode(data).decode())
                )
            elif what == COPY:
                QGuiApplication.clipboard().setText(data.decode(errors="replace"))

    async def _restore(self, session_id: str, path: str, version: int) -> None:
        _, data = await self._files.read(session_id, path, version)
        made = await self._files.write(session_id, path, lambda _before, _held: data)
        text = self._language("files.restored", name=exact(path), version=version, now=made.version)
        self._toasts.show_toast(text)

    async def _open(self, session_id: str, path: str) -> None:
        found = [one for one in await self._files.versions(session_id) if one.path == path and not one.gone]
        shown, text = await self._read(session_id, path, None)
        dialog = FileDialog(self._language, self._look, found, self._window)
        dialog.show_version(shown, text)

        async def choose(version: int) -> None:
            dialog.show_version(*await self._read(session_id, path, version))

        def do(what: str) -> None:
            self._start(self._do(session_id, path, what, dialog.versions.value()))
            if what == RESTORE:
                dialog.accept()

        dialog.version_chosen.connect(lambda version: self._tasks.replace("file version", choose(version)))
        dialog.asked.connect(do)
        dialog.finished.connect(lambda _result: self._tasks.cancel("file version"))
        dialog.open()

    async def _read(self, session_id: str, path: str, version: int | None) -> tuple[FileVersion, str | None]:
        found, data = await self._files.read(session_id, path, version)
        return found, await asyncio.to_thread(shown_text, data)
