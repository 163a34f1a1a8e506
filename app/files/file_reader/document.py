"""What every reader gives: the pages of a document, one after the other, or why it cannot be read.

Also texts in any usual encoding.
"""

import codecs
import re
import time
from collections.abc import Callable, Iterable
from contextlib import suppress

from app.core.files import ENCODINGS, MOST_CHARACTERS, NEW_PAGE
from app.core.frozen import Frozen
from app.core.texts import clean_text

# A document that takes longer than this is cut, before the parent ends this process.
_SECONDS = 22.0
_PROGRESS_SECONDS = 0.1
_SCANNED = 20


class Unreadable(Exception):
    """A document that cannot be read; `code` has a text `error.<code>`, `details` fill its blanks."""

    def __init__(self, code: str, **details: object) -> None:
        super().__init__(code)
        self.code = code
        self.details = details


class Document(Frozen, kw_only=False):
    """The texts of the pages in order, and their number; 0 for a document that has no pages."""

    pages: Iterable[str]
    count: int = 0


class Collected(Frozen):
    """The text of a document as far as it was read."""

    text: str
    pages: int
    pages_read: int
    cut: bool


def collected(
    document: Document, on_progress: Callable[[int, int], None], *, scanned: bool = False
) -> Collected:
    """Read the pages until the text or the time is used up.

    Raises Unreadable if there is no text, unless the pages may be `scanned`.
    """
    started = told = time.monotonic()
    pages: list[str] = []
    characters, cut = 0, False
    for page in document.pages:
        text = clean_text(page.replace(NEW_PAGE, "\n")).strip()
        now = time.monotonic()
        cut = characters + len(text) > MOST_CHARACTERS or (bool(pages) and now - started > _SECONDS)
        if cut:
            pages += [] if pages and document.count else [text[: MOST_CHARACTERS - characters]]
            break
        characters += len(text)
        pages.append(text)
        if now - told > _PROGRESS_SECONDS and document.count:
            told = now
            on_progress(len(pages), document.count)
    if not any(pages) and not scanned:
        raise Unreadable("file_scanned" if document.count else "file_empty", pages=document.count)
    if document.count > 1 and not cut and not scanned and characters < _SCANNED * document.count:
        raise Unreadable("file_scanned", pages=document.count)
    read = len(pages) if document.count else 0
    whole = (NEW_PAGE if document.count else "\n\n").join(pages)
    if cut:
        what = f"{read} of {document.count} pages" if read else f"{len(whole):,} characters"
        whole += f"\n[The file is longer: only the first {what} are given here.]"
    return Collected(text=whole, pages=document.count, pages_read=read, cut=cut)


_CONTROLS = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")


def decoded(data: bytes, *named: str) -> tuple[str, str]:
    """Return a text and its encoding where that is not UTF-8; "" for the text of what is none.

    `named` are encodings that are said to be the text's; one is taken where the bytes fit it and are not
    UTF-8.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        with suppress(UnicodeDecodeError):
            return data.decode("utf-16"), "UTF-16"
        return "", ""
    for charset in ("utf-8-sig", *named):
        with suppress(UnicodeError, LookupError):
            return data.decode(charset), "" if charset == "utf-8-sig" else charset.upper()
    text = data.decode("utf-8-sig", "replace")
    broken = text.count("\N{REPLACEMENT CHARACTER}")
    # UTF-8 with some damaged bytes: other encodings have no letter that is right in UTF-8.
    if sum(not letter.isascii() for letter in text) > 10 * broken and not _CONTROLS.search(text):
        return text, ""
    from charset_normalizer import from_bytes

    best = from_bytes(data, cp_isolation=[name.lower() for name in ENCODINGS]).best()
    text = str(best) if best is not None else ""
    if not text or _CONTROLS.search(text):
        return "", ""
    return text, next(name for name in ENCODINGS if data.decode(name, "replace") == text)
