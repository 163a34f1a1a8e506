"""Reads ODT, HWPX and EPUB files: XML in a zip archive."""

import posixpath
import re
import urllib.parse
from collections.abc import Iterator, Mapping
from pathlib import Path

from app.files.file_reader.archive import ZipDocument, parse
from app.files.file_reader.document import Document, Unreadable
from app.files.file_reader.web_page import plain_text

_PARAGRAPHS = frozenset(("p", "h"))
_CELLS = frozenset(("table-cell", "tc"))
_ROWS = frozenset(("table-row", "tr"))
_BREAKS: Mapping[str, str] = {
    "tab": "\t",
    "line-break": "\n",
    "lineBreak": "\n",
    "s": " ",
    "fwSpace": " ",
    "nbSpace": " ",
}
# In HWPX only the text of `t` is shown; other elements contain settings.
_SECTION = re.compile(r"Contents/section(\d+)\.xml")


class _Text:
    """Collects the text of an ODT or HWPX file: a line for a paragraph, a line with tabs for a row of a table."""

    def __init__(self, within: str) -> None:
        """`within` is the element whose text counts, "" for all."""
        self._within, self._inside = within, 0
        self._cells = 0
        self._parts: list[str] = []

    def start(self, name: str, _values: Mapping[str, str]) -> None:
        self._inside += name == self._within
        self._cells += name in _CELLS
        if name in _BREAKS:
            self._parts.append(_BREAKS[name])

    def end(self, name: str) -> None:
        self._inside -= name == self._within
        if name in _CELLS:
            self._cells -= 1
            self._parts.append("\t")
        elif name in _ROWS or (name in _PARAGRAPHS and not self._cells):
            self._parts.append("\n")
        elif name in _PARAGRAPHS:
            self._parts.append(" ")

    def text(self, text: str) -> None:
        if self._inside or not self._within:
            self._parts.append(text)

    def __str__(self) -> str:
        return "".join(self._parts)


def _xml_text(data: bytes, within: str = "") -> str:
    collected = _Text(within)
    parse(data, collected.start, collected.end, collected.text)
    return str(collected)


def read_odt(path: Path) -> Document:
    """Return the text of an OpenDocument text. Raises Unreadable."""
    archive = ZipDocument(path)
    if b"encryption-data" in archive.read("META-INF/manifest.xml"):
        raise Unreadable("file_encrypted")
    data = archive.read("content.xml")
    if not data:
        raise Unreadable("file_damaged")
    return Document((_xml_text(data),))


def read_hwpx(path: Path) -> Document:
    """Return the text of an HWPX document. Raises Unreadable."""
    archive = ZipDocument(path)
    if b"encryption-data" in archive.read("META-INF/manifest.xml"):
        raise Unreadable("file_encrypted")
    found = [(int(match[1]), match[0]) for name in archive.names if (match := _SECTION.fullmatch(name))]
    if not found:
        raise Unreadable("file_damaged")
    return Document(_xml_text(archive.read(name), "t") for _, name in sorted(found))


def read_epub(path: Path) -> Document:
    """Return the text of an e-book, chapter by chapter. Raises Unreadable."""
    archive = ZipDocument(path)
    rootfiles: list[str] = []

    def root(name: str, values: Mapping[str, str]) -> None:
        if name == "rootfile":
            rootfiles.append(values.get("full-path", ""))

    parse(archive.read("META-INF/container.xml"), root, _ignore, _ignore)
    files: dict[str, str] = {}
    order: list[str] = []

    def item(name: str, values: Mapping[str, str]) -> None:
        if name == "item" and "html" in values.get("media-type", ""):
            files[values.get("id", "")] = values.get("href", "")
        elif name == "itemref":
            order.append(values.get("idref", ""))

    if not rootfiles:
        raise Unreadable("file_damaged")
    parse(archive.read(rootfiles[0]), item, _ignore, _ignore)
    folder = posixpath.dirname(rootfiles[0])
    names = [
        posixpath.normpath(posixpath.join(folder, urllib.parse.unquote(files[one])))
        for one in order
        if one in files
    ]
    if not names:
        raise Unreadable("file_damaged")
    if b"EncryptedData" in (found := archive.read("META-INF/encryption.xml")) and any(
        name.encode() in found for name in names
    ):
        raise Unreadable("file_encrypted")
    return Document(_chapters(archive, names))


def _chapters(archive: ZipDocument, names: list[str]) -> Iterator[str]:
    for name in names:
        yield plain_text(archive.read(name).decode("utf-8", "replace"))


def _ignore(_: str) -> None:
    """Take no notice."""
