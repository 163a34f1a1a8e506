"""The context files of debates and councils: connects their list in Setup to the settings, the folders and the engine."""

from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal

from app.core.errors import BadInput, MootError
from app.core.files import SeenFile
from app.core.message import Attachment
from app.engine.engine import DebateSetup
from app.engine.library.agents import look_of
from app.engine.requests.attached_files import look_cost, look_words, seen_tokens
from app.gui.controllers.controller import Controller, Parts
from app.gui.panels.debate.setup_view import SetupView
from app.gui.window_frame import WindowFrame


class ContextFileController(Controller):
    """Keeps and reads the context files of Setup; `settings_chosen` carries {name: value}."""

    settings_chosen = Signal(object)

    def __init__(self, parts: Parts[WindowFrame], setup: SetupView) -> None:
        super().__init__(parts)
        self._setup = setup
        setup.context_chosen.connect(self._on_context_chosen)
        setup.sizes_wanted.connect(self._on_sizes_wanted)
        setup.files.look_chosen.connect(self._on_look_chosen)

    def show(self) -> None:
        """Show the files of the folder in which debates begin, or those for sessions in none."""
        folder = self.folder
        self._setup.set_context_paths(self._context_paths(), folder.name if folder else "")

    def _context_paths(self) -> tuple[str, ...]:
        folder = self.folder
        return folder.context if folder else self._engine.settings().project_context

    def _on_context_chosen(self, paths: tuple[str, ...]) -> None:
        before = self._context_paths()
        self._choose_context(paths)
        for path in set(before) - set(paths):
            self._offer_undo(
                self._language("setup.removed", name=Path(path).name),
                partial(self._put_file_back, path, before.index(path)),
            )

    def _put_file_back(self, path: str, place: int) -> None:
        now = self._context_paths()
        if path not in now:
            self._choose_context((*now[:place], path, *now[place:]))

    def _choose_context(self, paths: tuple[str, ...]) -> None:
        folder = self.folder
        if folder is not None:
            self._start(self._engine.folders.change(folder.id, lambda found: replace(found, context=paths)))
            return
        self.settings_chosen.emit({"project_context": paths})
        self._setup.set_context_paths(paths)

    async def read(
        self, setup: DebateSetup, paths: tuple[str, ...], seen: tuple[str, ...]
    ) -> tuple[Attachment, ...]:
        """Read files for a debate, those of `seen` as they look. Raises BadInput for one that cannot be read or seen."""
        found = []
        for path in paths:
            if path in seen:
                found.append((await self._as_it_looks(path, setup)).attachment)
            else:
                found.append((await self._engine.files.read(Path(path))).attachment())
        return tuple(found)

    async def _as_it_looks(self, path: str, setup: DebateSetup) -> SeenFile:
        await self._engine.connections.learn_about(self._engine.models_for(setup.participants))
        if not (look := look_of(self._engine.models_for(setup.participants))):
            raise BadInput("attachment_no_images", name=Path(path).name)
        return await self._engine.files.as_it_looks(Path(path), look)

    def _on_look_chosen(self, paths: tuple[str, ...]) -> None:
        self.show()
        for path in paths:
            self._tasks.start(f"look {path}", self._warn_of_look(path))

    async def _warn_of_look(self, path: str) -> None:
        """Show the size of a PDF file as it looks; say what of it is not seen, and where it takes much of a window."""
        setup, name = self._setup.setup(), Path(path).name
        file = await self._as_it_looks(path, setup)
        if 0 < file.shown < file.pages:
            words = self._language("chat.file.images.cut", name=name, shown=file.shown, pages=file.pages)
            self._toasts.show_toast(words)
        models, facts = self._engine.models_for(setup.participants), self._engine.connections.known_facts
        self._setup.files.keep_seen(
            path, max((seen_tokens(file.attachment, one) for one in models), default=0)
        )
        self.show()
        if cost := look_cost(file.attachment, models, facts):
            self._toasts.show_toast(look_words(cost, name, self._language))

    def _on_sizes_wanted(self, paths: tuple[str, ...]) -> None:
        for path in paths:
            self._tasks.start(f"read context {path}", self._read_size(path))

    async def _read_size(self, path: str) -> None:
        """Read a document for its size; say why if it cannot be read."""
        characters = 0
        try:
            characters = len((await self._engine.files.read(Path(path))).text)
        except MootError as error:
            self._toasts.show_toast(self._language.problem(error.code, **error.details))
        self._setup.show_document_size(path, characters)
        if characters and path in self._setup.files.seen_paths:
            await self._warn_of_look(path)
