"""Reads office documents and books: Word, PowerPoint and Excel (also from before 2007), RTF, ODT, HWPX
and EPUB.

Those that are zip archives are opened after checking that they cannot fill the memory.
"""

import html
import posixpath
import re
import urllib.parse
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from xml.parsers import expat

from app.files.file_reader.document import Document, Unreadable, decoded
from app.files.file_reader.web_page import plain_text

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
    """A document that is a ZIP file, checked; the names of its entries are only keys and never become
    paths.
    """

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
    """Go through an XML document; names come without their namespaces. Raises Unreadable, also for
    entities.
    """
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


_PARAGRAPHS = frozenset(("p", "h"))
_CELLS = frozenset(("table-cell", "tc"))
_ROWS = frozenset(("table-row", "tr"))
_BREAKS: Mapping[str, str] = {
    "tab": "\t", "line-break": "\n", "lineBreak": "\n", "s": " ", "fwSpace": " ", "nbSpace": " ",
}  # fmt: skip
# In HWPX only the text of `t` is shown; other elements contain settings.
_SECTION = re.compile(r"Contents/section(\d+)\.xml")


class _Text:
    """Collects the text of an ODT or HWPX file: a line for a paragraph, a line with tabs for a row
    of a table.
    """

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


def _unlocked(path: Path) -> ZipDocument:
    archive = ZipDocument(path)
    if b"encryption-data" in archive.read("META-INF/manifest.xml"):
        raise Unreadable("file_encrypted")
    return archive


def read_odt(path: Path) -> Document:
    """Return the text of an OpenDocument text. Raises Unreadable."""
    data = _unlocked(path).read("content.xml")
    if not data:
        raise Unreadable("file_damaged")
    return Document((_xml_text(data),))


def read_hwpx(path: Path) -> Document:
    """Return the text of an HWPX document. Raises Unreadable."""
    archive = _unlocked(path)
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
    chapters = [urllib.parse.unquote(files[entry]) for entry in order if entry in files]
    names = [posixpath.normpath(posixpath.join(folder, chapter)) for chapter in chapters]
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


_OLD = (".doc", ".ppt", ".xls", ".rtf")
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# A protected file of any age is an OLE file; the new ones keep everything in one part of this name.
_PROTECTED = "EncryptedPackage".encode("utf-16-le")
_RTF = b"{\\rtf"
# A cell with a formula that is followed by no result.
_FORMULA = re.compile(
    rb"<(?:\w+:)?c r=\"(\w+)\"[^>]*><(?:\w+:)?f[^>]*>([^<]+)</(?:\w+:)?f>"
    rb"(?:<(?:\w+:)?v ?/>|<(?:\w+:)?v></|</(?:\w+:)?c>)"
)
MOST_FORMULAS = 500


def read(path: Path) -> Document:
    """Return the text of a file. Raises Unreadable."""
    from office_oxide import Document as OfficeFile
    from office_oxide import OfficeOxideError

    name, data, formulas = path.suffix.casefold(), path.read_bytes(), ""
    if data.startswith(_OLE):
        if _PROTECTED in data:
            raise Unreadable("file_encrypted")
        name = name.removesuffix("x")
    elif zipfile.is_zipfile(path):
        name = name.removesuffix("x") + "x"
        archive = ZipDocument(path)
        formulas = _uncounted(archive) if name == ".xlsx" else ""
    elif name in _OLD:
        return Document((_by_content(data),))
    else:
        raise Unreadable("file_damaged")
    try:
        made: Callable[[], str] = OfficeFile.from_bytes(data, name[1:]).to_markdown
        return Document((made() + formulas,))
    except OfficeOxideError as error:
        wanted = any(word in str(error).casefold() for word in ("encrypt", "password"))
        raise Unreadable("file_encrypted" if wanted else "file_damaged") from error


def _by_content(data: bytes) -> str:
    """Return the text of a file with the name of an old office document that is RTF, a page, or lines
    of text.
    """
    if data.startswith(_RTF):
        from striprtf.striprtf import rtf_to_text

        return str(rtf_to_text(data.decode("latin-1"), errors="replace"))
    text, _ = decoded(data)
    if not text or "\0" in text:
        raise Unreadable("file_damaged")
    return plain_text(text) if re.search(r"<(html|table|body)\b", text[:4_000], re.IGNORECASE) else text


def _uncounted(book: ZipDocument) -> str:
    """Return lines that say which formulas of a workbook have no stored result."""
    lines: list[str] = []
    for name, sheet in sorted(_sheets(book).items()):
        found = _FORMULA.findall(book.read(name))
        lines += [f"- {sheet}!{cell.decode()}: ={html.unescape(said.decode())}" for cell, said in found]
    if not lines:
        return ""
    return "\n\nFormulas whose result is not stored in the file:\n\n" + "\n".join(lines[:MOST_FORMULAS])


def _sheets(book: ZipDocument) -> dict[str, str]:
    """Return the names of a workbook's sheets by the files that hold them."""
    names: dict[str, str] = {}
    files: dict[str, str] = {}

    def item(name: str, values: Mapping[str, str]) -> None:
        if name == "sheet":
            names[values.get("id", "")] = values.get("name", "")
        elif name == "Relationship":
            files[values.get("Id", "")] = values.get("Target", "")

    for part in ("xl/workbook.xml", "xl/_rels/workbook.xml.rels"):
        if data := book.read(part):
            parse(data, item, _ignore, _ignore)
    return {posixpath.join("xl", files[entry]).lstrip("/"): names[entry] for entry in names if entry in files}


# The formats that are read here; `read` has all others.
READERS = {".odt": read_odt, ".hwpx": read_hwpx, ".epub": read_epub}
