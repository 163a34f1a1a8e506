"""Folders: sessions of one project, with the instructions and files that they are given; `engine.folders` for the faces."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from app.core.errors import BadInput
from app.core.events import EventBus, FoldersChanged
from app.core.files import MOST_CONTEXT, FileReader
from app.core.ids import new_id
from app.core.message import Attachment
from app.core.session import Folder, Session
from app.core.store import Documents
from app.core.text import clean_text
from app.engine.library.definitions import Definitions, LibraryKind

_KIND = LibraryKind(
    noun=Folder,
    name="folder",
    store=lambda documents: documents.folders,
    changed=FoldersChanged,
    order="folder_order",
    shared=("name", "instructions"),
)


class Folders(Definitions[Folder]):
    """What a user may do with folders; a session of a deleted one is in none until the folder is restored."""

    def __init__(
        self, documents: Documents, files: FileReader, bus: EventBus, language: Callable[[], str]
    ) -> None:
        super().__init__(_KIND, documents, bus, language, {})
        self._files = files

    async def briefed(self, session: Session) -> Session:
        """Return a session with the instructions and files of its folder as they are now. Raises BadInput for the files.

        A debate has the files it was set up with.
        """
        folder = self.get(session.folder)
        instructions = clean_text(folder.instructions).strip() if folder else ""
        if session.debate is not None:
            return replace(session, debate=replace(session.debate, instructions=instructions))
        if session.chat is None:
            return session
        context = await self._context(folder) if folder else ()
        return replace(session, chat=replace(session.chat, instructions=instructions, context=context))

    async def _context(self, folder: Folder) -> tuple[Attachment, ...]:
        files = [(await self._files.read(Path(path))).attachment() for path in folder.context]
        if sum(len(file.text) for file in files) > MOST_CONTEXT:
            raise BadInput("context_too_much", most=MOST_CONTEXT)
        return tuple(files)

    def _free_id(self, wanted: str) -> str:
        # Sessions name their folder by its id: a new folder must not get the sessions of a deleted one.
        return new_id()
