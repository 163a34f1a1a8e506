"""Pasted pictures and texts as attachments, and the estimated size of context files."""

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtGui import QImage

from app.core.errors import BadInput
from app.core.files import PDF, FileReader, is_document
from app.core.message import Attachment
from app.core.text import clean_text
from app.gui.display.appearance import Language

LONG_PASTE = 4_000
CHARACTERS_PER_TOKEN = 4


def is_image(attachment: Attachment) -> bool:
    """Say whether an attachment is a picture."""
    return attachment.media_type.startswith("image/")


def is_seen(attachment: Attachment) -> bool:
    """Say whether an attachment is a PDF file that is sent as it looks."""
    return attachment.media_type == PDF and bool(attachment.data or attachment.pages)


async def picture_attachment(files: FileReader, image: QImage, name: str) -> Attachment:
    """Return a pasted picture as an attachment; `name` ends with .png. Raises BadInput if it cannot be encoded."""
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

    def in_tokens(self, paths: Sequence[str]) -> int:
        """Estimate the tokens of files; missing ones, and documents that were not read, count nothing."""
        return sum(map(self._size, paths)) // CHARACTERS_PER_TOKEN

    def _size(self, path: str) -> int:
        if is_document(Path(path)):
            return self._read.get(path, 0)
        try:
            return Path(path).stat().st_size
        except OSError:
            return 0
