"""Creates folders and files that only the user can read, whatever the umask; used for logs and models."""

import os
from pathlib import Path
from typing import TextIO


def make_private_folder(folder: Path) -> None:
    """Make a folder and those of its parents that are missing, for the user only. Raises OSError."""
    if not folder.is_dir():
        make_private_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def open_to_append(path: Path) -> TextIO:
    """Open a log for more text; one that is not there yet is the user's only. Raises OSError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    return os.fdopen(descriptor, "a", encoding="utf-8", errors="replace")
