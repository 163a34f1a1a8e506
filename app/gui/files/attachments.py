"""Reads pictures as attachments, in a thread, and estimates the size of context files.

Pictures are encoded again, small enough for any model and without metadata.
"""

import asyncio
import base64
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, Qt
from PySide6.QtGui import QImage, QImageReader, QImageWriter

from app.core.errors import BadInput
from app.core.message import Attachment
from app.core.text import clean_text

MOST_IMAGE_BYTES = 30_000_000
MOST_PIXELS = 80_000_000
LONGEST_SIDE = 1568
LONG_PASTE = 4_000
PNG_LIMIT = 1_500_000
JPEG_QUALITY = 88
IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".gif")


def is_image(attachment: Attachment) -> bool:
    """Say whether an attachment is a picture."""
    return attachment.media_type.startswith("image/")


def is_image_file(path: Path) -> bool:
    """Say whether a file's name is that of a picture."""
    return path.suffix.casefold() in IMAGE_SUFFIXES


async def read_picture(path: Path) -> Attachment:
    """Read a picture in a thread. Raises BadInput with its name and why it cannot be attached."""
    return await asyncio.to_thread(_read_image, path)


async def picture_attachment(image: QImage, name: str) -> Attachment:
    """Return a pasted picture as an attachment. Raises BadInput if it cannot be encoded."""
    return await asyncio.to_thread(_encoded, image, name)


def text_attachment(text: str, name: str) -> Attachment:
    """Return a long pasted text as an attachment."""
    return Attachment(name=name, text=clean_text(text))


def _read_image(path: Path) -> Attachment:
    try:
        size = path.stat().st_size
    except OSError as error:
        raise BadInput("attachment_unreadable", name=path.name, detail=error.strerror or "") from error
    if size > MOST_IMAGE_BYTES:
        raise BadInput("attachment_too_large", name=path.name, most=MOST_IMAGE_BYTES // 1_000_000)
    reader = QImageReader(str(path))
    reader.setAutoTransform(True)
    whole = reader.size()
    # A small file can decode to gigabytes; the header gives the size before decoding.
    if not whole.isValid() or whole.width() * whole.height() > MOST_PIXELS:
        raise BadInput("attachment_bad_image", name=path.name)
    image = reader.read()
    if image.isNull():
        raise BadInput("attachment_bad_image", name=path.name)
    return _encoded(image, path.name)


def _encoded(image: QImage, name: str) -> Attachment:
    """Return a picture encoded again, without place and camera."""
    if max(image.width(), image.height()) > LONGEST_SIDE:
        image = image.scaled(
            LONGEST_SIDE,
            LONGEST_SIDE,
            Qt.AspectRatioMode.KeepAspectRatio,
            Qt.TransformationMode.SmoothTransformation,
        )
    for key in image.textKeys():
        image.setText(key, "")
    data, media_type = _saved(image, "PNG"), "image/png"
    if len(data) > PNG_LIMIT:
        data, media_type = _saved(image.convertToFormat(QImage.Format.Format_RGB32), "JPEG"), "image/jpeg"
    if not data:
        raise BadInput("attachment_bad_image", name=name)
    return Attachment(name=name, media_type=media_type, data=base64.b64encode(data).decode())


def _saved(image: QImage, format_name: str) -> bytes:
    held = QByteArray()
    buffer = QBuffer(held)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QImageWriter(buffer, QByteArray(format_name.encode()))
    if format_name == "JPEG":
        writer.setQuality(JPEG_QUALITY)
    writer.write(image)
    buffer.close()
    return bytes(held.data())


CHARACTERS_PER_TOKEN = 4


def size_in_tokens(paths: tuple[str, ...]) -> int:
    """Estimate the tokens of files; missing ones count nothing."""
    total = 0
    for path in paths:
        try:
            total += Path(path).stat().st_size
        except OSError:
            continue
    return total // CHARACTERS_PER_TOKEN
