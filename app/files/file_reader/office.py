"""Reads Word, PowerPoint and Excel files, also those from before 2007, as Markdown."""

from collections.abc import Callable
from pathlib import Path

from app.files.file_reader.archive import ZipDocument
from app.files.file_reader.document import Document, Unreadable

_OLD = (".doc", ".ppt", ".xls")
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# A protected file of any age is an OLE file; the new ones keep everything in one part of this name.
_PROTECTED = "EncryptedPackage".encode("utf-16-le")


def read(path: Path) -> Document:
    """Return the text of a file. Raises Unreadable."""
    from office_oxide import Document as OfficeFile
    from office_oxide import OfficeOxideError

    name = path.suffix.casefold()
    data = path.read_bytes()
    old = data.startswith(_OLE)
    if old and _PROTECTED in data:
        raise Unreadable("file_encrypted")
    if old != (name in _OLD):
        raise Unreadable("file_damaged")
    if not old:
        ZipDocument(path)
    try:
        made: Callable[[], str] = OfficeFile.from_bytes(data, name[1:]).to_markdown
        return Document((made(),))
    except OfficeOxideError as error:
        wanted = any(word in str(error).casefold() for word in ("encrypt", "password"))
        raise Unreadable("file_encrypted" if wanted else "file_damaged") from error
