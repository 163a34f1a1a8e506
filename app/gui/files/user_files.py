"""Files of the user: pasted pictures and texts as attachments, context files, files to open and to save.

`ContextList` shows the files that a debate is given. A file is saved by replacing it at once by the complete
new one, so that a full disk leaves the old one.
"""

import asyncio
import tempfile
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QDir, QIODevice, QSaveFile, QStandardPaths, Qt, Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFileDialog, QWidget

from app.core.errors import BadInput
from app.core.files import PDF, FileReader, is_document, is_pdf, regular_size
from app.core.message import Attachment, tokens_text
from app.core.session_files import DEVICES, folded
from app.core.texts import clean_text
from app.engine.library.agents import AgentModel, look_of
from app.engine.library.definitions import MAX_SHARED
from app.gui.display.appearance import Language, Look
from app.gui.widgets.boxes import empty, frame, hbox, vbox
from app.gui.widgets.controls import WrappedTick, icon_button
from app.gui.widgets.notices import Toasts
from app.gui.widgets.text import ElidedLabel, name_button, named, plain_label, plain_tip, say

LONG_PASTE = 4_000
CHARACTERS_PER_TOKEN = 4


def is_image(attachment: Attachment) -> bool:
    """Say whether an attachment is a picture."""
    return attachment.media_type.startswith("image/")


def is_seen(attachment: Attachment) -> bool:
    """Say whether an attachment is a PDF file that is sent as it looks."""
    return attachment.media_type == PDF and bool(attachment.data or attachment.pages)


async def picture_attachment(files: FileReader, image: QImage, name: str) -> Attachment:
    """Return a pasted picture as an attachment; `name` ends with .png.
    Raises BadInput if it cannot be encoded.
    """
    with tempfile.TemporaryDirectory(prefix="moot-") as folder:
        path = Path(folder) / name
        if not await asyncio.to_thread(lambda: image.save(str(path))):
            raise BadInput("attachment_bad_image", name=name)
        return await files.picture(path)


def pasted_text(text: str, language: Language) -> Attachment:
    """Return a long pasted text as an attachment."""
    return Attachment(name=f"{language('chat.paste')}.txt", text=clean_text(text))


class FileSizes:
    """Estimates the tokens of files: of plain text from the size, of documents once their text was read."""

    def __init__(self) -> None:
        self._read: dict[str, int] = {}

    def keep(self, path: str, characters: int) -> None:
        """Keep the length of a document's text; 0 for one that cannot be read."""
        self._read[path] = characters

    def unread(self, paths: Sequence[str]) -> tuple[str, ...]:
        """Return the documents that are there and whose text has not been read."""
        documents = (path for path in paths if path not in self._read and is_document(Path(path)))
        return tuple(path for path in documents if Path(path).is_file())

    def characters(self, path: str) -> int:
        """Estimate the characters of a file: 0 for one that is missing, or a document that was not read."""
        if is_document(Path(path)):
            return self._read.get(path, 0)
        try:
            return Path(path).stat().st_size
        except OSError:
            return 0


MOST_NAME_BYTES = 80
"""Bytes of UTF-8 of a suggested name with its suffix: Korean has three a letter."""
NAMELESS = "moot"


def ask_where(
    over: QWidget, title: str, name: str, then: Callable[[Path], object], suffix: str = "json"
) -> None:
    """Ask where to save a file; `name` is the suggested name."""
    dialog = _dialog(over, title, QFileDialog.FileMode.AnyFile)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    if dialog.directory() == QDir.current():
        # Nothing was saved yet: the working directory is no place of the user's.
        documents = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
        dialog.setDirectory(documents if QDir(documents).exists() else QDir.homePath())
    dialog.setDefaultSuffix(suffix)
    suggested = file_name(name, suffix)
    dialog.selectFile(f"{suggested}.{suffix}" if suffix else suggested)
    dialog.fileSelected.connect(lambda path: then(Path(path)))
    dialog.open()


def ask_for_file(
    over: QWidget, title: str, then: Callable[[Path], object], kinds: str = "JSON (*.json)"
) -> None:
    """Ask for a file to open, of the given kinds; "" means any."""
    dialog = _dialog(over, title, QFileDialog.FileMode.ExistingFile)
    if kinds:
        dialog.setNameFilter(kinds)
    dialog.fileSelected.connect(lambda path: then(Path(path)))
    dialog.open()


def ask_for_files(over: QWidget, title: str, then: Callable[[list[Path]], object]) -> None:
    """Ask for any files to open."""
    dialog = _dialog(over, title, QFileDialog.FileMode.ExistingFiles)
    dialog.filesSelected.connect(lambda paths: then([Path(path) for path in paths]))
    dialog.open()


def ask_for_folder(over: QWidget, title: str, then: Callable[[str], object], begin: str = "") -> None:
    """Ask for a folder; `begin` is the one that is shown first, "" for any."""
    dialog = _dialog(over, title, QFileDialog.FileMode.Directory, begin)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    dialog.fileSelected.connect(then)
    dialog.open()


def _dialog(over: QWidget, title: str, mode: QFileDialog.FileMode, begin: str = "") -> QFileDialog:
    dialog = QFileDialog(over, title, begin, fileMode=mode)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    return dialog


async def read_shared_file(path: Path) -> str:
    """Return the text of a shared file. Raises BadInput."""
    return await asyncio.to_thread(_read, path)


def file_name(title: str, suffix: str) -> str:
    """Return a file name without suffix that is valid on every system, made from any title."""
    text = unicodedata.normalize("NFC", title).rstrip("?!.… ")
    text = "".join(item if item in " -_" or unicodedata.category(item)[0] in "LMN" else "_" for item in text)
    room = MOST_NAME_BYTES - len(suffix) - 1
    # A character cut in two is left out, and so is a short rest of a word.
    whole = text.strip()
    text = whole.encode("utf-8", "ignore")[:room].decode("utf-8", "ignore")
    begun = text.rpartition(" ")[0] if text != whole and whole[len(text)] != " " else ""
    text = (begun if len(begun) * 4 >= len(text) * 3 else text).strip()
    return f"_{text}" if folded(text) in DEVICES else text or NAMELESS


def save_whole(path: Path, data: bytes) -> None:
    """Write a file completely, or leave the old one; blocks. Raises OSError."""
    file = QSaveFile(str(path))
    opened = file.open(QIODevice.OpenModeFlag.WriteOnly)
    if not opened or file.write(data) != len(data) or not file.commit():
        raise OSError(file.errorString())


async def write_shared_file(toasts: Toasts, words: Language, path: Path, text: str) -> None:
    """Write a shared file and say whether that succeeded."""
    try:
        await asyncio.to_thread(save_whole, path, text.encode())
    except OSError as error:
        detail = error.strerror or str(error)
        toasts.show_toast(words("export.failed", name=path.name, detail=detail))
    else:
        toasts.show_toast(words("export.done", name=path.name))


def free_name(name: str, taken: set[str]) -> str:
    """Return the name, with a number if it is taken."""
    if name not in taken:
        return name
    return next(text for number in range(2, 10_000) if (text := f"{name} {number}") not in taken)


def _read(path: Path) -> str:
    try:
        if regular_size(path) > MAX_SHARED:
            raise BadInput("file_too_large", name=path.name)
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise BadInput("file_not_text", name=path.name) from error
    except OSError as error:
        raise BadInput("file_unreadable", name=path.name, detail=error.strerror or str(error)) from error


class ContextList(QWidget):
    """Shows the chosen context files and their sizes, one per line; below them whether PDF files are sent
    as they look.

    Signals: kept(remaining paths) after one was removed, files_given(paths) after more were chosen,
    look_chosen(paths of the PDF files that are now sent as they look).
    """

    kept = Signal(tuple)
    files_given = Signal(list)
    look_chosen = Signal(tuple)

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self._language, self._look = language, look
        self.paths: tuple[str, ...] = ()
        self.sizes = FileSizes()
        # Tokens of PDF files as they look, by their paths.
        self._seen: dict[str, int] = {}
        self._column = vbox(spacing=0)
        self.look = say(named("context_look", WrappedTick(look)), language, "setup.look")
        self.look.hide()
        self.look.clicked.connect(lambda _on: self.look_chosen.emit(self.seen_paths))
        vbox(self._column, self.look, inside=self, margins=(26, 0, 0, 0), spacing=0)
        language.changed.connect(self._show_again)

    def _show_again(self) -> None:
        self.show_paths(self.paths)

    @property
    def seen_paths(self) -> tuple[str, ...]:
        """The paths of the PDF files that are sent as they look."""
        chosen = self.look.isEnabled() and self.look.isChecked()
        return tuple(path for path in self.paths if chosen and is_pdf(Path(path)))

    def keep_seen(self, path: str, tokens: int) -> None:
        """Keep how many tokens a PDF file takes as it looks, for the model of which it takes most."""
        self._seen[path] = tokens

    def tokens(self, paths: Sequence[str]) -> int:
        """Estimate the tokens of files as they are sent."""
        seen = [path for path in paths if path in self._seen and path in self.seen_paths]
        others = [path for path in paths if path not in seen]
        read = sum(map(self.sizes.characters, others)) // CHARACTERS_PER_TOKEN
        return sum(self._seen[path] for path in seen) + read

    def offer_look(self, models: Sequence[AgentModel]) -> None:
        """Offer to send PDF files as they look, where one of the models can see that."""
        seen = bool(look_of(models))
        self.look.setVisible(any(is_pdf(Path(path)) for path in self.paths))
        self.look.setEnabled(seen)
        self.look.setToolTip(plain_tip(self._language("setup.look.hint" if seen else "setup.look.none")))

    def show_paths(self, paths: tuple[str, ...]) -> None:
        """Replace the files shown."""
        self.paths = paths
        empty(self._column)
        for path in paths:
            self._column.addWidget(self._line(path))

    def ask(self) -> None:
        """Open a dialog to choose more files."""
        title = self._language("setup.context.choose")
        ask_for_files(self.window(), title, lambda paths: self.files_given.emit([*map(str, paths)]))

    def _line(self, path: str) -> QWidget:
        name = ElidedLabel("meta", text=Path(path).name)
        size = plain_label("hint")
        if not Path(path).is_file():
            size.setText(self._language("setup.context.missing"))
        elif not self.sizes.unread((path,)):
            size.setText(self._language("transcript.group.tokens", tokens=tokens_text(self.tokens((path,)))))
        remove = icon_button(self._look, "x")
        remove.setFixedSize(24, 24)
        name_button(remove, self._language("setup.context.remove", name=Path(path).name))
        remove.clicked.connect(lambda: self.kept.emit(tuple(item for item in self.paths if item != path)))
        return frame("", hbox((name, 1), size, remove))
