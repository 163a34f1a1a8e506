"""Reads PDF files with PDFium: their text, pictures of their pages,
and the files themselves without a password.
"""

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pypdfium2

from app.core.files import LONGEST_SIDE, MOST_PDF_BYTES, MOST_PDF_PAGES, MOST_PICTURES
from app.files.file_reader.document import Document, Unreadable

_PASSWORD = (pypdfium2.raw.FPDF_ERR_PASSWORD, pypdfium2.raw.FPDF_ERR_SECURITY)
_JPEG_QUALITY = 80
# PDFium's sign for a hyphen at the end of a line that is not part of the word.
_SOFT_HYPHEN = "\ufffe"


def read(path: Path, password: str = "") -> Document:
    """Return the pages of a file. Raises Unreadable."""
    file = _opened(path, password)
    return Document(_pages(file, len(file)), len(file))


def whole(path: Path, password: str = "") -> bytes:
    """Return a file as providers take it, without its password; b"" for one that is too large.
    Raises Unreadable.
    """
    file = _opened(path, password)
    if len(file) > MOST_PDF_PAGES:
        return b""
    data = path.read_bytes()
    if pypdfium2.raw.FPDF_GetSecurityHandlerRevision(file) != -1:
        out = io.BytesIO()
        file.save(out, flags=pypdfium2.raw.FPDF_REMOVE_SECURITY)
        data = out.getvalue()
    return data if len(data) <= MOST_PDF_BYTES else b""


def pictures(path: Path, on_progress: Callable[[int, int], None], password: str = "") -> list[bytes]:
    """Return the first pages as JPEG pictures. Raises Unreadable."""
    # Qt is imported only where pictures are made.
    from PySide6.QtGui import QImage

    from app.files.file_reader.picture import saved

    file = _opened(path, password)
    found: list[bytes] = []
    for number in range(min(len(file), MOST_PICTURES)):
        try:
            page = file[number]
            scale = LONGEST_SIDE / max(1.0, *page.get_size())
            shown = page.render(scale=scale, prefer_bgrx=True)
        except pypdfium2.PdfiumError as error:
            raise Unreadable("file_damaged") from error
        image = QImage(shown.buffer, shown.width, shown.height, shown.stride, QImage.Format.Format_RGB32)
        found.append(saved(image, "JPEG", _JPEG_QUALITY))
        page.close()
        on_progress(number + 1, min(len(file), MOST_PICTURES))
    return found


def _opened(path: Path, password: str) -> pypdfium2.PdfDocument:
    try:
        file = pypdfium2.PdfDocument(path, password=password or None)
    except pypdfium2.PdfiumError as error:
        locked = "file_wrong_password" if password else "file_locked"
        raise Unreadable(locked if error.err_code in _PASSWORD else "file_damaged") from error
    if not len(file):
        raise Unreadable("file_damaged")
    return file


def _pages(file: pypdfium2.PdfDocument, count: int) -> Iterator[str]:
    for number in range(count):
        try:
            page = file[number]
        except pypdfium2.PdfiumError:
            # One damaged page; the others can be read.
            yield ""
            continue
        lines = page.get_textpage().get_text_bounded(errors="replace").replace("\r\n", "\n")
        page.close()
        yield lines.replace(_SOFT_HYPHEN + "\n", "").replace(_SOFT_HYPHEN, "")
