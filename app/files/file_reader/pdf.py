"""Reads PDF files with PDFium, as text or as pictures of their pages."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pypdfium2

from app.core.files import LONGEST_SIDE, MOST_PICTURES
from app.files.file_reader.document import Document, Unreadable

_PASSWORD = (pypdfium2.raw.FPDF_ERR_PASSWORD, pypdfium2.raw.FPDF_ERR_SECURITY)
_JPEG_QUALITY = 80
# PDFium's sign for a hyphen at the end of a line that is not part of the word.
_SOFT_HYPHEN = "\ufffe"


def read(path: Path) -> Document:
    """Return the pages of a file. Raises Unreadable."""
    file = _opened(path)
    return Document(_pages(file, len(file)), len(file))


def pictures(path: Path, on_progress: Callable[[int, int], None]) -> tuple[list[bytes], int]:
    """Return the first pages as JPEG pictures, and the number of all pages. Raises Unreadable."""
    # Qt is imported only where pictures are made.
    from PySide6.QtGui import QImage

    from app.files.file_reader.picture import saved

    file = _opened(path)
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
    return found, len(file)


def _opened(path: Path) -> pypdfium2.PdfDocument:
    try:
        file = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        raise Unreadable("file_encrypted" if error.err_code in _PASSWORD else "file_damaged") from error
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
