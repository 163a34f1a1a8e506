"""Assistants and groups given to others as files, and what such a file would bring in.

Made by the commands of assistants; those of groups use it too, as a file may hold either.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.engine.engine import Engine
from app.gui.files.shared_files import (
    ask_for_file,
    ask_where,
    holds_group,
    read_shared_file,
    write_shared_file,
)
from app.gui.tasks import Tasks
from app.gui.window_frame import WindowFrame


class Sharing(QObject):
    """Writes what is shared and shows what comes in.

    Signals: assistant_agreed(Agent), group_agreed(Shared[Group]) when the user wants to keep what came.
    """

    assistant_agreed = Signal(object)
    group_agreed = Signal(object)

    def __init__(self, window: WindowFrame, engine: Engine, tasks: Tasks) -> None:
        super().__init__(window)
        self._window, self._language = window, window.language
        self._engine, self._tasks = engine, tasks

    def give(self, name: str, text: Callable[[], Awaitable[str]]) -> None:
        """Ask where to, then write the file of what is called `name`; its `text` is asked for then."""
        ask_where(
            self._window,
            self._language("assistant.share"),
            name,
            lambda path: self._tasks.start(f"share {path}", self._write(path, text)),
        )

    def ask(self, title: str) -> None:
        """Ask for a file, then show what it would bring in."""
        ask_for_file(
            self._window, title, lambda path: self._tasks.replace("bring in", self.bring_in_file(path))
        )

    async def bring_in_file(self, path: Path) -> None:
        """Show what a file would bring in. Raises BadInput."""
        from app.gui.dialogs.definition_dialogs import BringInDialog, assistant_preview, group_preview

        text = await read_shared_file(path)
        if holds_group(text):
            group = self._engine.groups.read_shared(text)
            preview, agreed = group_preview(group, self._language), partial(self.group_agreed.emit, group)
        else:
            one = self._engine.assistants.read_shared(text)
            preview = assistant_preview(one, self._language)
            agreed = partial(self.assistant_agreed.emit, one.definition)
        dialog = BringInDialog(self._language, self._window.look, preview, self._window)
        dialog.accepted.connect(agreed)
        dialog.open()

    async def _write(self, path: Path, text: Callable[[], Awaitable[str]]) -> None:
        await write_shared_file(self._window.toasts, self._language, path, await text())
