"""Attachments of chats: reads files in the background and adds them to the draft they were chosen for.

A file belongs to the session it was chosen in, whichever session is in front once it is read.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFileDialog

from app.core.draft import NEW, Draft, Rewriting
from app.core.errors import BadInput, MootError
from app.core.files import Progress, is_image_file
from app.core.message import Attachment
from app.engine.engine import Engine
from app.gui.bridge import Bridge
from app.gui.controllers.controller import Controller
from app.gui.files.attachments import pasted_text, picture_attachment
from app.gui.pages.chat.attachment_strip import Reading
from app.gui.pages.chat.chat_page import ChatPage
from app.gui.tasks import Tasks
from app.gui.widgets.composer import DropHint
from app.gui.window_frame import WindowFrame


@dataclass(slots=True)
class FileBeingRead:
    """A file that is being read for the draft of a session, "" for a new chat."""

    reading: Reading
    session_id: str


class Explained(MootError):
    """A file could not be read, and the user has been told."""


class AttachmentController(Controller):
    """Reads files one after the other; Send waits for them.

    Signals: ready(session id) when all files are read that Send waited for in a session not in front,
    brought_back() when a removed attachment was put back.
    """

    ready = Signal(str)
    brought_back = Signal()

    def __init__(
        self,
        window: WindowFrame,
        engine: Engine,
        bridge: Bridge,
        tasks: Tasks,
        page: ChatPage,
        takes_images: Callable[[], bool],
    ) -> None:
        super().__init__(window, engine, bridge, tasks)
        self._drafts, self._files = engine.drafts, engine.files
        self._page, self._takes_images = page, takes_images
        self._numbers = count(1)
        self._readings: dict[int, FileBeingRead] = {}
        # The text to send, by session, as soon as all its files are read.
        self._to_send: dict[str, str] = {}
        self._one_at_a_time = asyncio.Lock()
        composer = page.chat_composer
        composer.attach_requested.connect(self.ask)
        composer.files_given.connect(self.attach_files)
        composer.image_given.connect(self.attach_image)
        composer.long_text_given.connect(self.attach_text)
        composer.reading_cancelled.connect(self._on_cancelled)
        composer.send_waited.connect(self._on_send_waited)
        composer.strip.removed.connect(lambda one, place: self.offer_back(page.session_id, one, place))
        self._hint = DropHint(self._look, page, (composer, composer.message_box.viewport()), self._takes)
        self._hint.dropped.connect(composer.message_box.insertFromMimeData)
        self._language.changed.connect(self._retranslate)
        self._retranslate()
        page.draft_shown.connect(self._show)
        page.draft_changed.connect(self._on_draft_changed)

    def _retranslate(self) -> None:
        self._hint.words = self._language("chat.drop")

    def _takes(self, given: QMimeData) -> bool:
        """Say whether dragged data can be dropped on the page: files or a picture, while the page can be written on."""
        files = any(url.isLocalFile() for url in given.urls())
        return self._page.chat_composer.isVisible() and (files or given.hasImage())

    def ask(self) -> None:
        """Open a dialog to choose files to attach."""
        dialog = QFileDialog(self._window, self._language("chat.attach"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(lambda names: self.attach_files([Path(name) for name in names]))
        dialog.open()

    def attach_files(self, paths: Sequence[Path]) -> None:
        """Attach files; say of each that cannot be read why not."""
        images = self._takes_images()
        for path in paths:
            if not is_image_file(path):
                self._read(path.name, partial(self._as_text, path))
            elif images:
                self._read(path.name, partial(self._as_picture, path))
            else:
                self._toasts.show_toast(self._language.problem("attachment_no_images", name=path.name))

    def attach_image(self, image: QImage) -> None:
        """Attach a picture if the model takes pictures."""
        name = self._language("chat.picture")
        if self._takes_images():
            self._read(name, partial(self._as_pasted, image, f"{name}.png"))
        else:
            self._toasts.show_toast(self._language.problem("attachment_no_images", name=name))

    def attach_text(self, text: str) -> None:
        """Attach a long text as a file."""
        self._put(self._page.session_id, (pasted_text(text, self._language),))

    def offer_back(self, session_id: str, attachment: Attachment, place: int) -> None:
        """Say that an attachment was removed in a session, "" for a new chat, and offer to undo that."""
        rewriting = self._drafts.of(session_id or NEW).rewriting
        message_id = rewriting.message_id if rewriting is not None else ""
        self._offer_undo(
            self._language("chat.attachment.removed", name=attachment.name),
            lambda: self._put_back(session_id, message_id, attachment, place),
        )

    def _put_back(self, session_id: str, message_id: str, attachment: Attachment, place: int) -> None:
        draft = self._drafts.of(session_id or NEW)
        written: Draft | Rewriting | None = draft
        if message_id:
            same = draft.rewriting is not None and draft.rewriting.message_id == message_id
            written = draft.rewriting if same else None
        if written is None:
            # The message that had the attachment is no longer being edited.
            self._toasts.show_toast(self._language("toast.nothing"))
            return
        attachments = (*written.attachments[:place], attachment, *written.attachments[place:])
        if isinstance(written, Rewriting):
            draft = replace(draft, rewriting=replace(written, attachments=attachments))
        else:
            draft = replace(draft, attachments=attachments)
        self._keep(session_id, draft)
        self.brought_back.emit()

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

    async def _as_picture(self, path: Path, _number: int) -> tuple[Attachment, ...]:
        return (await self._files.picture(path),)

    async def _as_pasted(self, image: QImage, name: str, _number: int) -> tuple[Attachment, ...]:
        return (await picture_attachment(self._files, image, name),)

    async def _as_text(self, path: Path, number: int) -> tuple[Attachment, ...]:
        """Read a text or a document; say so where only its beginning could be read."""
        try:
            file = await self._files.read(path, self._progress_of(path, number))
        except BadInput as error:
            if error.code != "file_scanned" or not self._takes_images():
                raise
            self._offer_pictures(path, number, self._language.problem("file_scanned_images", **error.details))
            raise Explained(error.code) from error
        if file.cut:
            self._toasts.show_toast(self._language("chat.file.cut", name=file.name))
        return (file.attachment(),)

    def _offer_pictures(self, path: Path, number: int, text: str) -> None:
        """Say that a PDF file has no text, with a button that attaches its pages as pictures."""
        session_id = self._readings[number].session_id

        def attach() -> None:
            self._read(path.name, partial(self._as_pictures, path), session_id)

        self._toasts.show_toast(text, self._language("chat.file.images"), attach, undoes=False)

    async def _as_pictures(self, path: Path, number: int) -> tuple[Attachment, ...]:
        """Make pictures of the pages of a PDF file; say so where only the first are attached."""
        found = await self._files.page_pictures(path, self._progress_of(path, number))
        shown = len(found.attachments)
        if shown < found.pages:
            words = self._language("chat.file.images.cut", name=path.name, shown=shown, pages=found.pages)
            self._toasts.show_toast(words)
        return found.attachments

    def _read(
        self,
        name: str,
        work: Callable[[int], Awaitable[tuple[Attachment, ...]]],
        session_id: str | None = None,
    ) -> None:
        """Read in the background what is added to the draft of a session, the one in front where none is named."""
        number = next(self._numbers)
        self._readings[number] = FileBeingRead(
            Reading(name), self._page.session_id if session_id is None else session_id
        )
        self._tasks.start(_task(number), self._read_in_turn(number, work))
        self._show()

    async def _read_in_turn(
        self, number: int, work: Callable[[int], Awaitable[tuple[Attachment, ...]]]
    ) -> None:
        reading = self._readings[number]
        try:
            async with self._one_at_a_time:
                attachments = await work(number)
            self._put(reading.session_id, attachments)
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
        done = not any(one.session_id == session_id for one in self._readings.values())
        sends = done and self._to_send.pop(session_id, None) is not None
        self._show()
        if sends and self._page.session_id == session_id:
            self._page.chat_composer.submit()
        elif sends and session_id:
            self.ready.emit(session_id)

    def _put(self, session_id: str, attachments: Sequence[Attachment]) -> None:
        """Add attachments to the draft of a session, in front or not."""
        draft = self._drafts.of(session_id or NEW)
        written = draft.rewriting
        if written is not None:
            written = replace(written, attachments=(*written.attachments, *attachments))
            draft = replace(draft, rewriting=written)
        else:
            draft = replace(draft, attachments=(*draft.attachments, *attachments))
        self._keep(session_id, draft)

    def _keep(self, session_id: str, draft: Draft) -> None:
        self._drafts.keep(session_id or NEW, draft)
        if self._page.session_id == session_id:
            self._page.set_draft(draft)

    def _show(self) -> None:
        session_id = self._page.session_id
        shown = {
            number: one.reading for number, one in self._readings.items() if one.session_id == session_id
        }
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


def _task(number: int) -> str:
    return f"read a file {number}"


def _text_of(draft: Draft) -> str:
    return (draft.rewriting or draft).text
