"""Reads office documents and books: Word, PowerPoint and Excel (also from before 2007), RTF, ODT, HWPX
and EPUB.

Those that are zip archives are opened after checking that they cannot fill the memory.
"""

import html
import posixpath
import re
import urllib.parse
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lxml import etree

from app.files.file_reader.document import Document, Unreadable, decoded
from app.files.file_reader.web_page import plain_text

MOST_BYTES = 200_000_000
MOST_RATIO = 100
# An archive of this size does no harm, whatever its ratio: a page of blanks compresses a thousandfold.
SMALL_BYTES = 5_000_000
MOST_ENTRIES = 2_000
_ENCRYPTED = 0x1


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


def _tree(data: bytes) -> Any:
    """Return the root of an XML document. Raises Unreadable, also for entities."""
    try:
        parser = etree.XMLParser(resolve_entities=False, remove_comments=True, remove_pis=True)
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise Unreadable("file_damaged") from error
    types = root.getroottree().docinfo.internalDTD
    if types is not None and any(types.iterentities()):
        raise Unreadable("file_damaged")
    return root


def _values(element: Any) -> dict[str, str]:
    """Return the attributes of an element by their names without namespaces."""
    return {name.rpartition("}")[2]: value for name, value in element.items()}


_PARAGRAPHS = frozenset(("p", "h"))
_CELLS = frozenset(("table-cell", "tc"))
_ROWS = frozenset(("table-row", "tr"))
_BREAKS: Mapping[str, str] = {
    "tab": "\t", "line-break": "\n", "lineBreak": "\n", "s": " ", "fwSpace": " ", "nbSpace": " ",
}  # fmt: skip
# In HWPX only the text of `t` is shown; other elements contain settings.
_SECTION = re.compile(r"Contents/section(\d+)\.xml")


def _xml_text(data: bytes, within: str = "") -> str:
    """Return the text of an ODT or HWPX file: a line for a paragraph, a line with tabs for a row of a table.

    `within` is the element whose text counts, "" for all.
    """
    parts, cells, inside = list[str](), 0, int(not within)
    for event, element in etree.iterwalk(_tree(data), events=("start", "end")):
        name, begins = etree.QName(element).localname, event == "start"
        inside += (1 if begins else -1) * (name == within)
        cells += (1 if begins else -1) * (name in _CELLS)
        if begins:
            parts.append(_BREAKS.get(name, ""))
        elif name in _CELLS:
            parts.append("\t")
        elif name in _ROWS or (name in _PARAGRAPHS and not cells):
            parts.append("\n")
        elif name in _PARAGRAPHS:
            parts.append(" ")
        parts.append((element.text if begins else element.tail) or "" if inside else "")
    return "".join(parts)


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
    container = _tree(archive.read("META-INF/container.xml"))
    rootfiles = [root.get("full-path", "") for root in container.iter("{*}rootfile")]
    if not rootfiles:
        raise Unreadable("file_damaged")
    package = _tree(archive.read(rootfiles[0]))
    pages = [item for item in package.iter("{*}item") if "html" in item.get("media-type", "")]
    files = {item.get("id", ""): item.get("href", "") for item in pages}
    order = [entry.get("idref", "") for entry in package.iter("{*}itemref")]
    folder = posixpath.dirname(rootfiles[0])
    chapters = [urllib.parse.unquote(files[entry]) for entry in order if entry in files]
    names = [posixpath.normpath(posixpath.join(folder, chapter)) for chapter in chapters]
    if not names:
        raise Unreadable("file_damaged")
    if b"EncryptedData" in (found := archive.read("META-INF/encryption.xml")) and any(
        name.encode() in found for name in names
    ):
        raise Unreadable("file_encrypted")
    return Document(plain_text(archive.read(name).decode("utf-8", "replace")) for name in names)


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
    sheets, related = map(book.read, ("xl/workbook.xml", "xl/_rels/workbook.xml.rels"))
    found = map(_values, _tree(sheets).iter("{*}sheet") if sheets else ())
    names = {sheet.get("id", ""): sheet.get("name", "") for sheet in found}
    found = map(_values, _tree(related).iter("{*}Relationship") if related else ())
    files = {file.get("Id", ""): file.get("Target", "") for file in found}
    return {posixpath.join("xl", files[entry]).lstrip("/"): names[entry] for entry in names if entry in files}


# The formats that are read here; `read` has all others.
READERS = {".odt": read_odt, ".hwpx": read_hwpx, ".epub": read_epub}
