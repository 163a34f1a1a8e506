"""Files that sessions are given: attachments of chats, resources of MCP servers, context files
of debates and councils.

Files are read in the background and added to the draft they were chosen for: a file belongs to the session it
was chosen in, whichever session is in front once it is read.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from itertools import count
from pathlib import Path

from PySide6.QtCore import QMimeData, Signal
from PySide6.QtGui import QImage

from app.core.definitions import SavedPrompt
from app.core.draft import NEW, Draft
from app.core.errors import BadInput, MootError
from app.core.files import Progress, SeenAs, SeenFile, is_image_file, is_pdf
from app.core.json_values import object_in
from app.core.message import Attachment, Attachments
from app.core.texts import visible
from app.core.tool import ServerResource
from app.engine.engine import DebateSetup
from app.engine.history import seen_tokens
from app.engine.library.agents import AgentModel, look_of
from app.gui.controllers.controller import Controller, PageController, Parts
from app.gui.dialogs.ask_dialogs import ConfirmDialog, PasswordDialog, ResourcesDialog, VariablesDialog
from app.gui.files.user_files import ask_for_files, is_seen, pasted_text, picture_attachment
from app.gui.pages.chat.chat_page import ChatPage
from app.gui.pages.chat.message_box import AttachmentStrip, Reading
from app.gui.panels.debate.setup_view import SetupView
from app.gui.widgets.controls import DropHint
from app.gui.widgets.text import say
from app.gui.window_frame import AppWindow, WindowFrame

Models = Sequence[AgentModel]
Reads = Callable[[int], Awaitable[Attachment]]
MOST_SOURCES = 32
PATHS = "attached_pdfs"
LOCKED = ("file_locked", "file_wrong_password")


@dataclass(slots=True)
class FileBeingRead:
    """A file that is being read for the draft of a session, "" for a new chat;
    `replaces` is what it takes the place of.
    """

    reading: Reading
    session_id: str
    replaces: Attachment | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """Where an attached PDF file is, and the password that opened it, which is kept in memory only."""

    path: Path
    password: str = ""


class Explained(MootError):
    """A file could not be read, and the user has been told."""


class AttachmentController(PageController):
    """Reads files one after the other; Send waits for them.

    Signals: ready(session id) when all files are read that Send waited for in a session not in front,
    picture_requested(action, pictures, place) to show one large.
    """

    ready = Signal(str)
    picture_requested = Signal(str, object, int)

    def __init__(self, parts: Parts[AppWindow], page: ChatPage, models: Callable[[], Models]) -> None:
        super().__init__(parts)
        self._drafts, self._files = parts.engine.drafts, parts.engine.files
        self._page, self._models = page, models
        # Where the attached PDF files are, for those who want to send one another way.
        self._sources: dict[Attachment, Source] = {}
        self._numbers = count(1)
        self._readings: dict[int, FileBeingRead] = {}
        # The text to send, by session, as soon as all its files are read.
        self._to_send: dict[str, str] = {}
        self._one_at_a_time = asyncio.Lock()
        composer = page.chat_composer
        self.from_servers = ServerFilesController(parts, lambda: partial(self._put, page.session_id))
        composer.sources = parts.engine.servers.with_resources
        composer.attach_requested.connect(self.ask)
        composer.attach_from_requested.connect(self.from_servers.ask)
        page.resource_requested.connect(self.from_servers.offer)
        composer.files_given.connect(self.attach_files)
        composer.image_given.connect(self.attach_image)
        composer.message_box.image_beside.connect(self._offer_picture)
        composer.long_text_given.connect(self.attach_text)
        composer.reading_cancelled.connect(self._on_cancelled)
        composer.send_waited.connect(self._on_send_waited)
        composer.strip.removed.connect(lambda one, place: self.offer_back(page.session_id, one, place))
        self.wire_looks(composer.strip)
        hint = DropHint(self._look, page, (composer, composer.message_box.viewport()), self._takes)
        say(hint, self._language, "chat.drop")
        hint.dropped.connect(composer.message_box.insertFromMimeData)
        page.draft_shown.connect(self._show)
        page.draft_changed.connect(self._on_draft_changed)

    def wire_looks(self, strip: AttachmentStrip) -> None:
        """Let the user choose on a strip how PDF files are sent, and look at its pictures."""
        strip.picture_requested.connect(self.picture_requested)
        strip.why_not_seen = self._why_not_seen
        strip.look_chosen.connect(self._on_look_chosen)

    def _takes(self, given: QMimeData) -> bool:
        """Say whether dragged data can be dropped on the page: files or a picture,
        while the page can be written on.
        """
        files = any(url.isLocalFile() for url in given.urls())
        return self._page.chat_composer.isVisible() and (files or given.hasImage())

    def ask(self) -> None:
        """Open a dialog to choose files to attach."""
        ask_for_files(self._window, self._language("chat.attach"), self.attach_files)

    def attach_files(self, paths: Sequence[Path]) -> None:
        """Attach files; say of each that cannot be read why not."""
        for path in paths:
            if is_image_file(path):
                self._attach_picture(path.name, partial(self._files.picture, path))
            else:
                self._read(path.name, partial(self._as_text, Source(path)))

    def attach_image(self, image: QImage) -> None:
        """Attach a picture."""
        name = self._language("chat.picture")
        self._attach_picture(name, partial(picture_attachment, self._files, image, f"{name}.png"))

    def _offer_picture(self, image: QImage) -> None:
        """Offer to attach the picture of what was pasted as text, if one of the models takes pictures."""
        if any(model.images for model in self._models()):
            words, attach = self._language, partial(self.attach_image, image)
            self._toasts.show_toast(words("chat.pasted"), words("chat.pasted.picture"), attach, undoes=False)

    def _attach_picture(self, name: str, read: Callable[[], Awaitable[Attachment]]) -> None:
        """Attach a picture if one of the models takes pictures."""
        if any(model.images for model in self._models()):
            self._read(name, lambda _number: read())
        else:
            self._toasts.show_toast(self._language.problem("attachment_no_images", name=name))

    def attach_text(self, text: str) -> None:
        """Attach a long text as a file."""
        self._put(self._page.session_id, (pasted_text(text, self._language),))

    def attach(self, attachments: Sequence[Attachment]) -> None:
        """Attach what was read already."""
        self._put(self._page.session_id, attachments)

    def offer_back(self, session_id: str, attachment: Attachment, place: int) -> None:
        """Say that an attachment was removed in a session, "" for a new chat, and offer to undo that."""
        rewriting = self._drafts.of(session_id or NEW).rewriting
        message_id = rewriting.message_id if rewriting is not None else ""
        put_back = partial(self._put_back, session_id, message_id, attachment, place)
        self._offer_undo("chat.attachment.removed", put_back, name=attachment.name)

    def _put_back(self, session_id: str, message_id: str, attachment: Attachment, place: int) -> None:
        draft = self._drafts.of(session_id or NEW)
        rewriting = draft.rewriting
        if not message_id:
            draft = draft.with_file(attachment, place)
        elif rewriting is not None and rewriting.message_id == message_id:
            files = (*rewriting.attachments[:place], attachment, *rewriting.attachments[place:])
            draft = replace(draft, rewriting=replace(rewriting, attachments=files))
        else:
            # The message that had the attachment is no longer being edited.
            self._toasts.show_toast(self._language("toast.nothing"))
            return
        self.show_draft(session_id, draft)

    def carry_over(self, session_id: str) -> None:
        """Give a chat that has begun the files that are being read for it."""
        for reading in self._readings.values():
            reading.session_id = reading.session_id or session_id
        self._show()

    def _progress_of(self, path: Path, number: int) -> Progress:
        def show(read: int, pages: int) -> None:
            if one := self._readings.get(number):
                one.reading = Reading(path.name, read, pages)
                self._show()

        return show

    async def _seen_as(self) -> SeenAs:
        """Return as what the models that answer take a PDF file that is sent as it looks."""
        await self._engine.connections.learn_about(self._models())
        return look_of(self._models())

    async def _as_text(self, source: Source, number: int) -> Attachment:
        """Read a text or a document; say so where only its beginning could be read."""
        path, reading = source.path, self._readings[number]
        try:
            file = await self._files.read(path, self._progress_of(path, number), password=source.password)
        except BadInput as error:
            if error.code in LOCKED:
                self._ask_password(source, reading, self._as_text)
            elif error.code == "file_scanned" and await self._seen_as():
                words = self._language.problem("file_scanned_images", **error.details)
                # Say that a PDF file has no text, with a button that attaches it as it looks.
                work = partial(self._as_it_looks, source)
                attach = partial(self._read, source.path.name, work, reading.session_id)
                self._toasts.show_toast(words, self._language("chat.look.seen"), attach, undoes=False)
            else:
                raise
            raise Explained(error.code) from error
        if file.cut:
            self._toasts.show_toast(self._language("chat.file.cut", name=file.name))
        attachment = file.attachment()
        if is_pdf(path):
            self._remember(attachment, source)
        return attachment

    def _ask_password(
        self, source: Source, reading: FileBeingRead, work: Callable[[Source, int], Awaitable[Attachment]]
    ) -> None:
        """Ask for the password of a file, and read it then."""
        name = source.path.name
        dialog = PasswordDialog(self._language, name, self._window, wrong=bool(source.password))

        def read(password: str) -> None:
            opens = partial(work, Source(source.path, password))
            self._read(name, opens, reading.session_id, reading.replaces)

        dialog.open_for(read)

    async def _as_it_looks(self, source: Source, number: int) -> Attachment:
        """Read a PDF file to be sent as it looks; say so where only its first pages are seen."""
        path, reading = source.path, self._readings[number]
        look = await self._seen_as()
        if not look:
            raise BadInput("attachment_no_images", name=path.name)
        try:
            progress = self._progress_of(path, number)
            found = await self._files.as_it_looks(path, look, progress, password=source.password)
        except BadInput as error:
            if error.code not in LOCKED:
                raise
            self._ask_password(source, reading, self._as_it_looks)
            raise Explained(error.code) from error
        self._say_look(found, path.name, self._models())
        self._remember(found.attachment, source)
        return found.attachment

    def _remember(self, attachment: Attachment, source: Source) -> None:
        self._sources[attachment] = source
        while len(self._sources) > MOST_SOURCES:
            del self._sources[next(iter(self._sources))]
        kept = self._kept_paths()
        kept.pop(_key_of(attachment), None)
        kept[_key_of(attachment)] = str(source.path)
        self._state.keep(PATHS, json.dumps(dict([*kept.items()][-MOST_SOURCES:])))

    def _kept_paths(self) -> dict[str, str]:
        """Return where the PDF files of drafts are, which outlive a restart; without passwords."""
        return object_in(self._state.text(PATHS, "{}")) or {}

    def _source_of(self, attachment: Attachment) -> Source | None:
        """Return where an attached PDF file is, None where that is not known or it is gone."""
        path = Path(str(self._kept_paths().get(_key_of(attachment), "")))
        return self._sources.get(attachment) or (Source(path) if path.is_file() else None)

    def _why_not_seen(self, attachment: Attachment) -> str:
        """Return why a PDF file cannot be sent as it looks, "" where it can."""
        if not look_of(self._models()):
            return self._language("chat.look.none")
        return "" if self._source_of(attachment) else self._language("chat.look.again")

    def _on_look_chosen(self, attachment: Attachment, seen: bool) -> None:
        if seen == is_seen(attachment):
            return
        session_id, source = self._page.session_id, self._source_of(attachment)
        if not seen and attachment.text.strip():
            text = replace(attachment, data="", pages=())
            if source is not None:
                self._remember(text, source)
            self._put(session_id, (text,), attachment)
        elif source is not None:
            plain = partial(self._as_text, Source(source.path))
            work = partial(self._as_it_looks, source) if seen else plain
            self._read(attachment.name, work, session_id, attachment)
        else:
            self._toasts.show_toast(self._language("chat.look.again"))

    def _read(
        self, name: str, work: Reads, session_id: str | None = None, replaces: Attachment | None = None
    ) -> None:
        """Read in the background what is added to the draft of a session, the one in front
        where none is named.

        With `replaces` it takes the place of that attachment, if that is still there.
        """
        number = next(self._numbers)
        session_id = self._page.session_id if session_id is None else session_id
        self._readings[number] = FileBeingRead(Reading(name), session_id, replaces)
        self._tasks.start(_task(number), self._read_in_turn(number, work))
        self._show()

    async def _read_in_turn(self, number: int, work: Reads) -> None:
        reading = self._readings[number]
        try:
            async with self._one_at_a_time:
                attachment = await work(number)
            self._put(reading.session_id, (attachment,), reading.replaces)
        except MootError as error:
            # A message is not sent without a file that failed.
            self._to_send.pop(reading.session_id, None)
            if not isinstance(error, Explained):
                self._toasts.show_toast(self._language.problem(error.code, **error.details))
        finally:
            self._end(number)

    def _end(self, number: int) -> None:
        reading = self._readings.pop(number, None)
        if reading is None:
            return
        session_id = reading.session_id
        done = not any(read.session_id == session_id for read in self._readings.values())
        sends = done and self._to_send.pop(session_id, None) is not None
        self._show()
        if sends and self._page.session_id == session_id:
            self._page.chat_composer.submit()
        elif sends and session_id:
            self.ready.emit(session_id)

    def _put(self, session_id: str, added: Sequence[Attachment], replaces: Attachment | None = None) -> None:
        """Add attachments to the draft of a session, in front or not, or put them in the place of one of
        it.
        """
        draft = self._drafts.of(session_id or NEW)
        files = [*(draft.rewriting or draft).attachments]
        if replaces is None:
            files += added
        elif replaces in files:
            place = files.index(replaces)
            files[place : place + 1] = added
        changed = replace(draft.rewriting or draft, attachments=tuple(files))
        draft = changed if isinstance(changed, Draft) else replace(draft, rewriting=changed)
        self.show_draft(session_id, draft)

    def show_draft(self, session_id: str, draft: Draft) -> None:
        """Keep the unsent draft of a session, "" for a new chat, and show it where the session is in
        front.
        """
        self._drafts.keep(session_id or NEW, draft)
        if self._page.session_id == session_id:
            self._page.set_draft(draft)

    def _show(self) -> None:
        session_id, readings = self._page.session_id, self._readings.items()
        shown = {number: read.reading for number, read in readings if read.session_id == session_id}
        self._page.chat_composer.show_readings(shown, sends=session_id in self._to_send)

    def _on_cancelled(self, number: int) -> None:
        self._tasks.cancel(_task(number))
        self._end(number)

    def _on_send_waited(self) -> None:
        self._to_send[self._page.session_id] = _text_of(self._page.draft)
        self._show()

    def _on_draft_changed(self, session_id: str, draft: Draft) -> None:
        """Cancel the delayed sending when the user goes on writing."""
        if self._to_send.get(session_id, _text_of(draft)) != _text_of(draft):
            del self._to_send[session_id]
            self._show()


def _key_of(attachment: Attachment) -> str:
    return sha256(f"{attachment.name}\n{attachment.text}".encode("utf-8", "replace")).hexdigest()[:32]


def _task(number: int) -> str:
    return f"read a file {number}"


def _text_of(draft: Draft) -> str:
    return (draft.rewriting or draft).text


Put = Callable[[Sequence[Attachment]], None]


class ServerFilesController(PageController):
    """Answers *Attach from NAME…*; `aim` returns what adds attachments to the draft that is in front now."""

    def __init__(self, parts: Parts[AppWindow], aim: Callable[[], Put]) -> None:
        super().__init__(parts)
        self._aim = aim

    def ask(self, server: str) -> None:
        """List what a server has, and attach what the user chooses."""
        self._start(self._list(server, self._aim()))

    def offer(self, server: str, uri: str) -> None:
        """Ask whether what a result of a server refers to is read through that server,
        and attach it after a yes.
        """
        words, read = self._language, partial(self._read, server, uri, self._aim())
        title = words("resources.read.title", name=visible(server))
        text = words("resources.read.text", uri=visible(uri))
        dialog = ConfirmDialog(words, title, text, words("resources.attach"), self._window)
        dialog.open_for(self._starts(read))

    async def _list(self, server: str, put: Put) -> None:
        resources = await self._engine.servers.resources(server)
        dialog = ResourcesDialog(self._language, self._look, server, resources, self._window)
        dialog.open_for(lambda chosen: self._take(server, chosen, put))

    def _take(self, server: str, chosen: Sequence[ServerResource], put: Put) -> None:
        """Read resources; what an address leaves open is asked for."""
        for resource in chosen:
            blanks = SavedPrompt(id="", name=resource.name, text=resource.uri)
            if not blanks.variables:
                self._start(self._read(server, resource.uri, put))
                continue
            read = self._starts(lambda values, of=blanks: self._read(server, of.filled(values), put))
            VariablesDialog(self._language, blanks, self._window).open_for(read)

    async def _read(self, server: str, uri: str, put: Put) -> None:
        put(await self._engine.servers.read_resource(server, uri))


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
            put_back = partial(self._put_file_back, path, before.index(path))
            self._offer_undo("setup.removed", put_back, name=Path(path).name)

    def _put_file_back(self, path: str, place: int) -> None:
        now = self._context_paths()
        if path not in now:
            self._choose_context((*now[:place], path, *now[place:]))

    def _choose_context(self, paths: tuple[str, ...]) -> None:
        if (folder := self.folder) is not None:
            self._start(self._engine.folders.change(folder.id, lambda found: replace(found, context=paths)))
            return
        self.settings_chosen.emit({"project_context": paths})
        self._setup.set_context_paths(paths)

    async def read(self, setup: DebateSetup, paths: tuple[str, ...]) -> Attachments:
        """Read files for a debate, those chosen so as they look.
        Raises BadInput for one that cannot be read or seen.
        """
        found, seen = [], self._setup.files.seen_paths
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
        """Show the size of a PDF file as it looks; say what of it is not seen, and where it takes much
        of a window.
        """
        setup = self._setup.setup()
        file = await self._as_it_looks(path, setup)
        models = self._engine.models_for(setup.participants)
        sizes = (seen_tokens(file.attachment, model) for model in models)
        self._setup.files.keep_seen(path, max(sizes, default=0))
        self.show()
        self._say_look(file, Path(path).name, models)

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
