"""Files that are read: documents as text, pictures small and without notes; and the plug that reads them.

Pictures that models return are checked, and everything is removed from them that is no part of the picture.
Nothing is decoded: a small file can decode to gigabytes. What is kept is what the formats need to be painted.
"""

import base64
import errno
import re
import stat
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final, Protocol

from app.core.frozen import Frozen
from app.core.message import Attachment, Message

# What stands between two pages of a text, as in the output of other programs that read PDF files.
NEW_PAGE: Final = "\f"

MOST_CHARACTERS: Final = 1_000_000
MOST_BYTES: Final = 50_000_000
# Of a longer text, a model that can call tools and whose window is unknown gets the beginning; it reads on
# with a tool.
LONG_TEXT: Final = 60_000

_BEGINNING: Final = 8_000
_PAGE_CHARACTERS: Final = 3_000
# The longest side of a picture in pixels; models would make larger ones smaller.
LONGEST_SIDE: Final = 1568

# The most characters of the files that every participant of a session gets, together.
MOST_CONTEXT: Final = 400_000

# The most pages of a document that are sent as pictures.
MOST_PICTURES: Final = 20

PDF: Final = "application/pdf"
MOST_PDF_BYTES: Final = 5_000_000
# A PDF file with more bytes or pages is never sent as it is: providers take no more of a request, or charge
# for it dearly.
MOST_PDF_PAGES: Final = 100

# Pictures that are read, or named where the system cannot read them.
IMAGE_SUFFIXES: Final = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".avif", ".heic")

_OFFICE: Final = "application/vnd.openxmlformats-officedocument."
# The media types of the documents that can be read, by the ends of their names.
DOCUMENT_TYPES: Final = {
    ".pdf": PDF,
    ".docx": _OFFICE + "wordprocessingml.document",
    ".pptx": _OFFICE + "presentationml.presentation",
    ".xlsx": _OFFICE + "spreadsheetml.sheet",
    ".doc": "application/msword",
    ".ppt": "application/vnd.ms-powerpoint",
    ".xls": "application/vnd.ms-excel",
    ".rtf": "application/rtf",
    ".odt": "application/vnd.oasis.opendocument.text",
    ".epub": "application/epub+zip",
    ".hwpx": "application/hwp+zip",
    ".hwp": "application/x-hwp",
    ".html": "text/html",
    ".htm": "text/html",
}

# The usual encodings of texts that are not UTF-8, in the order in which they are named where several give the
# same text.
ENCODINGS = ("CP1252", "CP949", "CP932", "GB18030", "BIG5", "CP1250", "CP1251", "CP1253", "CP1254")

# Called while a document is read, with the number of pages that are read, and of all.
Progress = Callable[[int, int], None]


class FileText(Frozen):
    """The text of a file; `pages` and `pages_read` are 0 where it has no pages.

    A text that was too long ends at a page, with a line that says so; then `cut` is set.
    """

    name: str
    text: str
    media_type: str = "text/plain"
    pages: int = 0
    pages_read: int = 0
    cut: bool = False
    encoding: str = ""

    def attachment(self) -> Attachment:
        """Return it as the attachment of a message or a context file of a session."""
        return Attachment(name=self.name, media_type=self.media_type, text=self.text, encoding=self.encoding)


class SeenAs(Frozen):
    """As what a PDF file is sent that is to be seen as it looks: itself, for models that take it,
    or pictures of its pages.
    """

    pdf: bool = False
    pictures: bool = False

    def __bool__(self) -> bool:
        return self.pdf or self.pictures


class SeenFile(Frozen):
    """A PDF file as it looks; of its `pages` the first `shown` were made pictures."""

    attachment: Attachment
    pages: int
    shown: int


class FileReader(Protocol):
    """The plug that reads files."""

    async def read(
        self, path: Path, on_progress: Progress = lambda _read, _all: None, *, password: str = ""
    ) -> FileText:
        """Read a text or a document; cancelling ends that at once.

        Raises BadInput with the file's name and why it cannot be read.
        """

    async def as_it_looks(
        self, path: Path, look: SeenAs, on_progress: Progress = lambda *_: None, *, password: str = ""
    ) -> SeenFile:
        """Read a PDF file to be sent as it looks, with its text for models that cannot see it;
        cancelling ends that at once.

        Raises BadInput with the file's name and why it cannot be read.
        """

    async def picture(self, path: Path) -> Attachment:
        """Read a picture, and make it small. Raises BadInput with the file's name and why it cannot be
        read.
        """

    async def printed(self, html: str, title: str, form: str) -> bytes:
        """Return a page of HTML that loads nothing as a PDF or a Word document.
        Raises BadInput where that fails.
        """

    async def difference(self, old: bytes, new: bytes) -> str:
        """Return the lines in which two texts differ.
        Raises BadInput for other files, and where that takes too long.
        """


def regular_size(path: Path) -> int:
    """Return the bytes of a regular file.
    Raises OSError for what is none, such as a pipe: reading it might never end.
    """
    found = path.stat()
    # To open a folder says that it is none.
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
        raise OSError(errno.EINVAL, "it is not a regular file")
    return found.st_size


def is_image_file(path: Path) -> bool:
    """Say whether a file's name is that of a picture."""
    return path.suffix.casefold() in IMAGE_SUFFIXES


def is_pdf(path: Path) -> bool:
    """Say whether a file's name is that of a PDF file."""
    return path.suffix.casefold() == ".pdf"


def is_document(path: Path) -> bool:
    """Say whether a file's name is that of a document, which is more than plain text."""
    return path.suffix.casefold() in DOCUMENT_TYPES


def with_files(message: Message, words: Mapping[str, str]) -> str:
    """Return what a message says and, behind it, the texts of its files; `words` are a prompt's lines."""
    parts = [message.content.strip()] if message.content.strip() else []
    for attachment in message.attachments:
        text = with_page_numbers(attachment.text.strip(), words["page"]) or attachment.media_type
        parts.append(f"{words['attachment'].format(name=' '.join(attachment.name.split()))}\n{text}")
    return "\n\n".join(parts)


def with_page_numbers(text: str, label: str) -> str:
    """Return a text with a line before each page; `label` has a blank for its number.
    A text without pages stays.
    """
    return numbered(text.split(NEW_PAGE), label) if NEW_PAGE in text else text


def numbered(pages: Sequence[str], label: str) -> str:
    """Return pages as one text with a line before each; `label` has a blank for its number."""
    return "\n\n".join(f"{label.format(page=number)}\n{page}" for number, page in enumerate(pages, 1))


def page_count(attachment: Attachment) -> int:
    """Return how many pages a document has whose text keeps them."""
    return attachment.text.count(NEW_PAGE) + 1


def pages_of(text: str) -> list[str]:
    """Return the pages of a text; one without pages is divided at the ends of lines."""
    if NEW_PAGE in text:
        return text.split(NEW_PAGE)
    pages, start = [], 0
    while start < len(text):
        end = start + _PAGE_CHARACTERS
        if end < len(text):
            end = text.rfind("\n", start + 1, end) + 1 or end
        pages.append(text[start:end])
        start = end
    return pages


def first_pages(text: str) -> tuple[list[str], int]:
    """Return the pages at the beginning of a long text, and how many it has; a long first page is cut."""
    chosen: list[str] = []
    length, pages = 0, pages_of(text)
    for page in pages:
        length += len(page)
        if chosen and length > _BEGINNING:
            break
        chosen.append(page[:_BEGINNING])
    return chosen, len(pages)


# The texts failure.picture, notice.picture_too_large and notice.picture_too_many name these, and `MOST_BYTES`
# of providers/model_host/http_limits leaves room for them.
MOST_PICTURE_BYTES = 20_000_000
MOST_PIXELS = 80_000_000
MOST_ANSWER_PICTURES = 16
PICTURE_TYPES = ("image/png", "image/jpeg", "image/webp")
# Shown, by its first frame; it is sent to no model, because some take none.
GIF = "image/gif"
# Of what a tool returned: more is refused by Anthropic, the strictest.
_MOST_SENT = 5_000_000
_LONGEST_SENT = 8_000
# Enough of a picture without metadata to know its size.
_HEAD = 8_192

_DATA_URL = re.compile(r"data:[^,;]*(?:;[^,;]*)*;base64,", re.IGNORECASE)
_PNG = b"\x89PNG\r\n\x1a\n"
_BEGINNINGS = {
    "image/png": re.compile(_PNG),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/webp": re.compile(rb"RIFF.{4}WEBP", re.DOTALL),
    GIF: re.compile(b"GIF8[79]a"),
}
_PNG_CHUNKS = (b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"sBIT")
_GIF_FRAME, _GIF_EXTENSION, _GIF_END = 0x2C, 0x21, 0x3B
# How long a frame is shown; how often all are.
_GIF_CONTROL, _GIF_APPLICATION, _GIF_REPEATS = 0xF9, 0xFF, b"NETSCAPE2.0"
_WEBP_CHUNKS = (b"VP8 ", b"VP8L", b"VP8X", b"ALPH")
# The flags of VP8X for a colour profile, and for metadata in two forms.
_WEBP_EXTRAS = 0x20 | 0x08 | 0x04
# Start of frame; the other codes of the range begin tables.
_JPEG_FRAMES = set(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_SCAN, _JPEG_END, _JPEG_COMMENT = 0xDA, 0xD9, 0xFE
# Application data that changes how the picture is painted: its density, and Adobe's colours.
_JPEG_KEPT = (0xE0, 0xEE)
# In a scan an escaped 0xFF is followed by 0, and a restart by its number.
_JPEG_MARKER = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]", re.DOTALL)


class PictureFault(StrEnum):
    """Why a picture cannot be kept; each has a text `notice.picture_<fault>`."""

    ADDRESS = "address"
    BROKEN = "broken"
    TOO_LARGE = "too_large"
    TOO_MANY = "too_many"


class BadPicture(ValueError):
    """What a model returned cannot be kept as a picture: `fault` is a PictureFault."""

    def __init__(self, fault: PictureFault) -> None:
        super().__init__(fault)
        self.fault = fault


def picture_of(address: str) -> tuple[str, bytes]:
    """Return the media type and the bytes of a picture in a data: address.
    Raises BadPicture for any other address.
    """
    head = _DATA_URL.match(address[:1_000])
    if head is None:
        raise BadPicture(PictureFault.ADDRESS)
    if (len(address) - head.end()) * 3 // 4 > MOST_PICTURE_BYTES:
        raise BadPicture(PictureFault.TOO_LARGE)
    text = address[head.end() :]
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except ValueError as error:
        raise BadPicture(PictureFault.BROKEN) from error
    media_type, whole = cleaned(data)
    if media_type not in PICTURE_TYPES:
        raise BadPicture(PictureFault.BROKEN)
    return media_type, whole


def kind_of(data: bytes) -> str:
    """Return the media type of a picture by how it begins, "" for other data; none
    of these can hold a script.
    """
    return next((media_type for media_type, begins in _BEGINNINGS.items() if begins.match(data)), "")


def cleaned(data: bytes) -> tuple[str, bytes]:
    """Return the media type of a picture, and the picture without metadata. Raises BadPicture."""
    if len(data) > MOST_PICTURE_BYTES:
        raise BadPicture(PictureFault.TOO_LARGE)
    clean = {"image/png": _clean_png, "image/jpeg": _clean_jpeg, "image/webp": _clean_webp, GIF: _clean_gif}
    try:
        whole = b"".join(clean[media_type := kind_of(data)](data))
        width, height = size_of(whole)
    except (struct.error, LookupError, ValueError) as error:
        raise BadPicture(PictureFault.BROKEN) from error
    if width * height > MOST_PIXELS:
        raise BadPicture(PictureFault.TOO_LARGE)
    return media_type, whole


def size_of(data: bytes) -> tuple[int, int]:
    """Return width and height of a cleaned picture in pixels, from its first bytes. Raises ValueError."""
    size = (0, 0)
    if data.startswith(_PNG):
        size = struct.unpack_from(">II", data, 16)
    elif data.startswith(b"\xff\xd8"):
        for marker, start, _ in _jpeg_segments(data):
            if marker in _JPEG_FRAMES:
                height, width = struct.unpack_from(">HH", data, start + 5)
                size = (width, height)
                break
    elif data.startswith(b"GIF8"):
        size = struct.unpack_from("<HH", data, 6)
    elif data[8:12] == b"WEBP":
        size = _webp_size(data)
    if not size[0] or not size[1]:
        raise ValueError("a picture without a size")
    return size[0], size[1]


def size_in(data: str) -> tuple[int, int] | None:
    """Return width and height in pixels of a cleaned picture in base 64, None for what is no picture."""
    try:
        return size_of(base64.b64decode(data[:_HEAD]))
    except (ValueError, IndexError, struct.error):
        return None


def can_be_sent(media_type: str, data: str) -> bool:
    """Say whether every provider that takes pictures takes this one, in base 64: nobody chose its size
    for them.
    """
    if media_type not in PICTURE_TYPES or len(data) > _MOST_SENT:
        return False
    size = size_in(data)
    return size is not None and max(size) <= _LONGEST_SENT


def _clean_png(data: bytes) -> Iterator[bytes]:
    yield _PNG
    at, name, has_pixels = len(_PNG), b"", False
    while name != b"IEND":
        length, name = struct.unpack_from(">I4s", data, at)
        chunk = data[at : at + 12 + length]
        (check,) = struct.unpack_from(">I", chunk, 8 + length)
        if at == len(_PNG) and (name, length) != (b"IHDR", 13):
            raise ValueError("no header")
        if name in _PNG_CHUNKS:
            if zlib.crc32(chunk[4:-4]) != check:
                raise ValueError("damaged")
            yield chunk
        has_pixels |= name == b"IDAT"
        at += len(chunk)
    if not has_pixels:
        raise ValueError("no pixels")


def _clean_jpeg(data: bytes) -> Iterator[bytes]:
    yield b"\xff\xd8"
    for marker, start, end in _jpeg_segments(data):
        if marker in _JPEG_KEPT or not (0xE0 <= marker <= 0xEF or marker == _JPEG_COMMENT):
            yield data[start:end]


def _jpeg_segments(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield the code of each segment with its start and end; a scan contains its pixels."""
    at, marker = 2, 0
    while marker != _JPEG_END:
        if data[at] != 0xFF:
            raise ValueError("no marker")
        marker = data[at + 1]
        if marker == 0xFF:  # A byte that fills up.
            at += 1
            continue
        end = at + 2
        if marker != _JPEG_END:
            (length,) = struct.unpack_from(">H", data, at + 2)
            end = at + 2 + length
        if marker == _JPEG_SCAN:
            after = _JPEG_MARKER.search(data, end)
            if after is None:
                raise ValueError("no end")
            end = after.start()
        yield marker, at, end
        at = end


def _clean_webp(data: bytes) -> Iterator[bytes]:
    length, name = struct.unpack_from("<I4s", data, 4)
    if name != b"WEBP" or len(data) < length + 8:
        raise ValueError("cut")
    kept: list[bytes] = []
    at = 12
    while at + 8 <= length + 8:
        name, size = struct.unpack_from("<4sI", data, at)
        chunk = data[at : at + 8 + size + size % 2]
        if name == b"ANIM":
            raise ValueError("moving pictures are not shown")
        if name == b"VP8X":
            chunk = chunk[:8] + bytes([chunk[8] & ~_WEBP_EXTRAS]) + chunk[9:]
        if name in _WEBP_CHUNKS:
            kept.append(chunk)
        at += len(chunk)
    body = b"WEBP" + b"".join(kept)
    yield b"RIFF" + struct.pack("<I", len(body)) + body


def _webp_size(data: bytes) -> tuple[int, int]:
    name, start = data[12:16], 20
    if name == b"VP8X":
        width, height = data[start + 4 : start + 7], data[start + 7 : start + 10]
        return int.from_bytes(width, "little") + 1, int.from_bytes(height, "little") + 1
    if name == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, start + 1)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    width, height = struct.unpack_from("<HH", data, start + 6)
    return width & 0x3FFF, height & 0x3FFF


def _clean_gif(data: bytes) -> Iterator[bytes]:
    at = 13 + _gif_colours(data[10])
    yield data[:at]
    has_frame = False
    while data[at] != _GIF_END:
        start, kind = at, data[at]
        if kind == _GIF_FRAME:
            at += 11 + _gif_colours(data[at + 9])
            kept = has_frame = True
        elif kind == _GIF_EXTENSION:
            repeats = data[at + 1] == _GIF_APPLICATION and data[at + 3 : at + 14] == _GIF_REPEATS
            kept = repeats or data[at + 1] == _GIF_CONTROL
            at += 2
        else:
            raise ValueError("an unknown block")
        while data[at]:
            at += 1 + data[at]
        at += 1
        if kept:
            yield data[start:at]
    if not has_frame:
        raise ValueError("no picture")
    yield bytes([_GIF_END])


def _gif_colours(flags: int) -> int:
    """Return the length of a table of colours in bytes."""
    return 3 * 2 ** ((flags & 7) + 1) if flags & 0x80 else 0
