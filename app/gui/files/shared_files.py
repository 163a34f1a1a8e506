"""Files to open and to save: asks for them, reads and writes shared definitions, finds free names.

A file is replaced at once by the complete new one, so that a full disk leaves the old one.
"""

import asyncio
import unicodedata
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QDir, QIODevice, QSaveFile, QStandardPaths, Qt
from PySide6.QtWidgets import QFileDialog, QWidget

from app.core.errors import BadInput
from app.gui.display.appearance import Language
from app.gui.widgets.toast import Toasts

MOST_BYTES = 1_000_000
MOST_NAME_BYTES = 80
"""Bytes of UTF-8 of a suggested name with its suffix: Korean has three a letter."""
NAMELESS = "moot"
# Reserved names on Windows, whatever the suffix.
_DEVICES = {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"}
_DEVICES |= {f"{port}{number}" for port in ("COM", "LPT") for number in "0123456789¹²³"}


def ask_where(
    over: QWidget, title: str, name: str, then: Callable[[Path], object], suffix: str = "json"
) -> None:
    """Ask where to save a file; `name` is the suggested name."""
    dialog = QFileDialog(over, title)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
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
    dialog = QFileDialog(over, title)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    if kinds:
        dialog.setNameFilter(kinds)
    dialog.fileSelected.connect(lambda path: then(Path(path)))
    dialog.open()


async def read_shared_file(path: Path) -> str:
    """Return the text of a shared file. Raises BadInput."""
    return await asyncio.to_thread(_read, path)


def file_name(title: str, suffix: str) -> str:
    """Return a file name without suffix that is valid on every system, made from any title."""
    text = unicodedata.normalize("NFC", title).rstrip("?!.… ")
    text = "".join(one if one in " -_" or unicodedata.category(one)[0] in "LMN" else "_" for one in text)
    room = MOST_NAME_BYTES - len(suffix) - 1
    # A character cut in two is left out, and so is a short rest of a word.
    whole = text.strip()
    text = whole.encode("utf-8", "ignore")[:room].decode("utf-8", "ignore")
    begun = text.rpartition(" ")[0] if text != whole and whole[len(text)] != " " else ""
    text = (begun if len(begun) * 4 >= len(text) * 3 else text).strip()
    return f"_{text}" if text.upper() in _DEVICES else text or NAMELESS


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
        if path.stat().st_size > MOST_BYTES:
            raise BadInput("file_too_large", name=path.name)
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise BadInput("file_not_text", name=path.name) from error
    except OSError as error:
        raise BadInput("file_unreadable", name=path.name, detail=error.strerror or str(error)) from error
