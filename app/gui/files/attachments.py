"""Pasted pictures and texts as attachments, and the estimated size of context files."""

import asyncio
import tempfile
from pathlib import Path

from PySide6.QtGui import QImage

from app.core.errors import BadInput
from app.core.files import FileReader
from app.core.message import Attachment
from app.core.text import clean_text

LONG_PASTE = 4_000
CHARACTERS_PER_TOKEN = 4


def is_image(attachment: Attachment) -> bool:
    """Say whether an attachment is a picture."""
    return attachment.media_type.startswith("image/")


async def picture_attachment(files: FileReader, image: QImage, name: str) -> Attachment:
    """Return a pasted picture as an attachment; `name` ends with .png. Raises BadInput if it cannot be encoded."""
    with tempfile.TemporaryDirectory(prefix="moot-") as folder:
        path = Path(folder) / name
        if not await asyncio.to_thread(lambda: image.save(str(path))):
            raise BadInput("attachment_bad_image", name=name)
        return await files.picture(path)


def text_attachment(text: str, name: str) -> Attachment:
    """Return a long pasted text as an attachment."""
    return Attachment(name=name, text=clean_text(text))


def size_in_tokens(paths: tuple[str, ...]) -> int:
    """Estimate the tokens of files; missing ones count nothing."""
    total = 0
    for path in paths:
        try:
            total += Path(path).stat().st_size
        except OSError:
            continue
    return total // CHARACTERS_PER_TOKEN
