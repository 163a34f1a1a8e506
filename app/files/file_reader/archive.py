"""Opens documents that are zip archives, after checking that they cannot fill the memory."""

import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from xml.parsers import expat

from app.files.file_reader.document import Unreadable

MOST_BYTES = 200_000_000
MOST_RATIO = 100
# An archive of this size does no harm, whatever its ratio: a page of blanks compresses a thousandfold.
SMALL_BYTES = 5_000_000
MOST_ENTRIES = 2_000
_ENCRYPTED = 0x1

Start = Callable[[str, Mapping[str, str]], None]
End = Callable[[str], None]
Text = Callable[[str], None]


class ZipDocument:
    """A document that is a ZIP file, checked; the names of its entries are only keys and never become paths."""

    def __init__(self, path: Path) -> None:
        """Open it. Raises Unreadable."""
        try:
            self._file = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise Unreadable("file_damaged") from error
        entries = self._file.infolist()
        whole = sum(entry.file_size for entry in entries)
        packed = sum(entry.compress_size for entry in entries)
        if len(entries) > MOST_ENTRIES or whole > MOST_BYTES:
            raise Unreadable("file_too_packed")
        if whole > SMALL_BYTES and whole > MOST_RATIO * max(1, packed):
            raise Unreadable("file_too_packed")
        if any(entry.flag_bits & _ENCRYPTED for entry in entries):
            raise Unreadable("file_encrypted")
        self.names = tuple(entry.filename for entry in entries)

    def read(self, name: str) -> bytes:
        """Return an entry; b"" if there is none of that name. Raises Unreadable."""
        if name not in self.names:
            return b""
        try:
            return self._file.read(name)
        except Exception as error:
            # Each way of packing raises errors of its own for damaged data.
            raise Unreadable("file_damaged") from error


def parse(data: bytes, start: Start, end: End, text: Text) -> None:
    """Go through an XML document; names come without their namespaces. Raises Unreadable, also for entities."""
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = lambda name, values: start(
        name.rpartition(" ")[2], {key.rpartition(" ")[2]: value for key, value in values.items()}
    )
    parser.EndElementHandler = lambda name: end(name.rpartition(" ")[2])
    parser.CharacterDataHandler = text
    parser.EntityDeclHandler = _refuse_entity
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise Unreadable("file_damaged") from error


def _refuse_entity(*_: object) -> None:
    raise Unreadable("file_damaged")
