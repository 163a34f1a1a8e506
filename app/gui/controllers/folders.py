"""Folders: connects the sidebar to the engine, and chooses the folder in which new sessions begin."""

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import Signal

from app.core.session import Folder
from app.gui.controllers.controller import FOLDER, Controller, Parts
from app.gui.dialogs.ask_dialogs import RenameDialog
from app.gui.dialogs.folder_dialog import FolderDialog
from app.gui.navigation.session_list import BEGIN, CONTENTS, DELETE, RENAME
from app.gui.window_frame import WindowFrame

CLOSED = "closed_folders"


class FolderController(Controller):
    """Makes, edits and deletes folders, and moves sessions.

    Signals: begin_requested() to show where a session begins, changed() when the list or the chosen folder changed.
    """

    begin_requested = Signal()
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
        sessions.move_requested.connect(lambda session, folder: self._start(self._move(session, folder)))
        sessions.folder_requested.connect(self._on_requested)
        parts.bridge.folders_changed.connect(lambda _event: self._tell())
        self._tell()

    def choose(self, folder_id: str) -> None:
        """Let new sessions begin in a folder, "" for none."""
        self._state.keep(FOLDER, folder_id)
        self._tell()

    def follow(self, folder_id: str) -> None:
        """Let new sessions begin in no folder once a session outside the chosen one is shown."""
        if folder_id != self.folder_id:
            self.choose("")

    def make_new(self, session_id: str = "") -> None:
        """Ask for a name and make a folder, with a session in it if one is given."""
        self._ask_name("", "folder.new.title", lambda name: self._start(self._make(name, session_id)))

    def _ask_name(self, before: str, key: str, use: Callable[[str], object]) -> None:
        dialog = RenameDialog(self._language, before, self._window, key=key)
        dialog.named.connect(use)
        dialog.open()

    async def _make(self, name: str, session_id: str) -> None:
        folder = await self._engine.folders.save(Folder(id="", name=name))
        if session_id:
            await self._move(session_id, folder.id)

    async def _move(self, session_id: str, folder_id: str) -> None:
        before = next((one.folder for one in self._engine.sessions() if one.id == session_id), "")
        await self._engine.chats.move(session_id, folder_id)
        folder, words = self._engine.folders.get(folder_id), self._language
        self._offer_undo(
            words("folder.moved", name=folder.name) if folder else words("folder.moved_out"),
            lambda: self._start(self._engine.chats.move(session_id, before)),
        )

    def _on_requested(self, action: str, folder_id: str) -> None:
        folder = self._engine.folders.get(folder_id)
        if folder is None:
            return
        if action == BEGIN:
            self.choose(folder_id)
            self.begin_requested.emit()
        elif action == RENAME:
            self._ask_name(
                folder.name,
                "folder.name",
                lambda name: self._start(
                    self._engine.folders.change(folder_id, lambda found: replace(found, name=name))
                ),
            )
        elif action == CONTENTS:
            dialog = FolderDialog(self._language, self._look, folder, self._window)
            self._run(dialog.changed, self._engine.folders.save)
            dialog.open()
        elif action == DELETE:
            self._start(self._delete(folder))

    async def _delete(self, folder: Folder) -> None:
        await self._engine.folders.delete(folder.id)
        self._offer_undo(
            self._language("folder.deleted", name=folder.name),
            lambda: self._start(self._engine.folders.restore(folder)),
        )

    def _tell(self) -> None:
        self._window.side_bar.sessions.mark(self.folder_id)
        self.changed.emit()
