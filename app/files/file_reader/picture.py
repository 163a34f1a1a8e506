"""Reads pictures, and encodes them again: small enough for any model, and without place and camera."""

from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, Qt
from PySide6.QtGui import QImage, QImageReader, QImageWriter

from app.core.files import LONGEST_SIDE
from app.files.file_reader.document import Unreadable

_MOST_PIXELS = 80_000_000
_PNG_BYTES = 1_500_000
_JPEG_QUALITY = 88


def read(path: Path) -> tuple[bytes, str]:
    """Return a picture and its media type. Raises Unreadable."""
    reader = QImageReader(str(path))
    reader.setAutoTransform(True)
    whole = reader.size()
    # A small file can decode to gigabytes; the header gives the size before decoding.
    if not whole.isValid():
        with path.open("rb") as file:
            brand = file.read(12)[4:]
        if brand.startswith(b"ftyp"):
            raise Unreadable("picture_format", format="AVIF" if brand.endswith(b"avif") else "HEIC")
    if not whole.isValid() or whole.width() * whole.height() > _MOST_PIXELS:
        raise Unreadable("attachment_bad_image")
    image = reader.read()
    if image.isNull():
        raise Unreadable("attachment_bad_image")
    if max(image.width(), image.height()) > LONGEST_SIDE:
        ratio, smooth = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
        image = image.scaled(LONGEST_SIDE, LONGEST_SIDE, ratio, smooth)
    for key in image.textKeys():
        image.setText(key, "")
    data, media_type = saved(image, "PNG"), "image/png"
    if len(data) > _PNG_BYTES:
        flat = image.convertToFormat(QImage.Format.Format_RGB32)
        data, media_type = saved(flat, "JPEG", _JPEG_QUALITY), "image/jpeg"
    if not data:
        raise Unreadable("attachment_bad_image")
    return data, media_type


def saved(image: QImage, format_name: str, quality: int = -1) -> bytes:
    """Return a picture in a format, b"" where that fails."""
    held = QByteArray()
    buffer = QBuffer(held)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QImageWriter(buffer, QByteArray(format_name.encode()))
    writer.setQuality(quality)
    writer.write(image)
    buffer.close()
    return bytes(held.data())
