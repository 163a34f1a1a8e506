"""Reads PDF files with PDFium."""

from collections.abc import Iterator
from pathlib import Path

import pypdfium2

from app.files.file_reader.document import Document, Unreadable

_PASSWORD = (pypdfium2.raw.FPDF_ERR_PASSWORD, pypdfium2.raw.FPDF_ERR_SECURITY)
# PDFium's sign for a hyphen at the end of a line that is not part of the word.
_SOFT_HYPHEN = "\ufffe"


def read(path: Path) -> Document:
    """Return the pages of a file. Raises Unreadable."""
    try:
        file = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        raise Unreadable("file_encrypted" if error.err_code in _PASSWORD else "file_damaged") from error
    count = len(file)
    if not count:
        raise Unreadable("file_damaged")
    return Document(_pages(file, count), count)


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
