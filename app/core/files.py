"""Files that are read: documents as text, pictures small and without notes; and the plug that reads them."""

import errno
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from app.core.message import Attachment, Message

NEW_PAGE: Final = "\f"
"""What stands between two pages of a text, as in the output of other programs that read PDF files."""

MOST_CHARACTERS: Final = 1_000_000
MOST_BYTES: Final = 50_000_000
LONG_TEXT: Final = 60_000
"""Of a longer text, a model that can call tools and whose window is unknown gets the beginning;
it reads on with a tool.
"""

_BEGINNING: Final = 8_000
_PAGE_CHARACTERS: Final = 3_000
LONGEST_SIDE: Final = 1568
"""The longest side of a picture in pixels; models would make larger ones smaller."""

MOST_CONTEXT: Final = 400_000
"""The most characters of the files that every participant of a session gets, together."""

MOST_PICTURES: Final = 20
"""The most pages of a document that are sent as pictures."""

PDF: Final = "application/pdf"
MOST_PDF_BYTES: Final = 5_000_000
MOST_PDF_PAGES: Final = 100
"""A PDF file with more bytes or pages is never sent as it is: providers take no more of a request,
or charge for it dearly.
"""

IMAGE_SUFFIXES: Final = (
    ".png",
    ".jpg",
    ".jpeg",
    ".webp",
    ".gif",
    ".bmp",
    ".tif",
    ".tiff",
    ".avif",
    ".heic",
)
"""Pictures that are read, or named where the system cannot read them."""

_OFFICE: Final = "application/vnd.openxmlformats-officedocument."
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
"""The media types of the documents that can be read, by the ends of their names."""

ENCODINGS = ("CP1252", "CP949", "CP932", "GB18030", "BIG5", "CP1250", "CP1251", "CP1253", "CP1254")
"""The usual encodings of texts that are not UTF-8, in the order in which they are named
where several give the same text.
"""

Progress = Callable[[int, int], None]
"""Called while a document is read, with the number of pages that are read, and of all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileText:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenAs:
    """As what a PDF file is sent that is to be seen as it looks: itself, for models that take it,
    or pictures of its pages.
    """

    pdf: bool = False
    pictures: bool = False

    def __bool__(self) -> bool:
        return self.pdf or self.pictures


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenFile:
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
        self,
        path: Path,
        look: SeenAs,
        on_progress: Progress = lambda _read, _all: None,
        *,
        password: str = "",
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


def first_pages(text: str) -> list[str]:
    """Return the pages at the beginning of a long text; a long first page is cut."""
    chosen: list[str] = []
    length = 0
    for page in pages_of(text):
        length += len(page)
        if chosen and length > _BEGINNING:
            break
        chosen.append(page[:_BEGINNING])
    return chosen
