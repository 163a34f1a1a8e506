"""Files that come in and go out: asked for, and those of assistants and groups read and written; free names."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget

from app.core.errors import BadInput
from app.gui.main_window import MainWindow

MOST_BYTES = 1_000_000
MOST_NAME = 60


def ask_where(
    over: QWidget, title: str, name: str, then: Callable[[Path], object], suffix: str = "json"
) -> None:
    """Ask where to write the file of what is called `name`."""
    dialog = QFileDialog(over, title)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(suffix)
    dialog.selectFile("".join(c if c.isalnum() or c in " -_" else "_" for c in name)[:MOST_NAME])
    dialog.fileSelected.connect(lambda path: then(Path(path)))
    dialog.open()


def ask_for_file(
    over: QWidget, title: str, then: Callable[[Path], object], kinds: str = "JSON (*.json)"
) -> None:
    """Ask for a file of these kinds."""
    dialog = QFileDialog(over, title)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    dialog.setNameFilter(kinds)
    dialog.fileSelected.connect(lambda path: then(Path(path)))
    dialog.open()


async def read_shared_file(path: Path) -> str:
    """Return what a shared file holds. Raises BadInput."""
    return await asyncio.to_thread(_read, path)


def holds_group(text: str) -> bool:
    """Say whether a shared file is a group's, by its members."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and "members" in document


async def write_shared_file(window: MainWindow, path: Path, text: str) -> None:
    """Write a shared file and say how that went."""
    try:
        await asyncio.to_thread(path.write_text, text, encoding="utf-8")
    except OSError as error:
        detail = error.strerror or str(error)
        window.toasts.show_toast(window.language("export.failed", name=path.name, detail=detail))
    else:
        window.toasts.show_toast(window.language("export.done", name=path.name))


def free_name(name: str, taken: set[str]) -> str:
    """Return a name nobody has, numbered where it must be."""
    if name not in taken:
        return name
    return next(text for number in range(2, 10_000) if (text := f"{name} {number}") not in taken)


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise BadInput("file_too_large", name=path.name)
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput("context_unreadable", path=str(path), detail=str(error)) from error
