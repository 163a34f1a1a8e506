"""Reads web pages: the main text as Markdown, or all text where no main part is found."""

import logging
import re
from html.parser import HTMLParser
from pathlib import Path

from app.files.encodings import decoded
from app.files.file_reader.document import Document, Unreadable

# The time trafilatura takes grows with the number of tags.
_MOST_TAGS = 200_000
_BLOCK_NAMES = """
address article aside blockquote br dd div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 header hr li main nav ol p
pre section table tr ul
"""
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_HIDDEN = frozenset(("head", "script", "style", "template"))
_CHARSET = re.compile(rb"""<meta[^>]{0,200}charset\s*=\s*["']?([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE)
_SPACES = re.compile(r"[ \t\r\f\v]+")
_GAPS = re.compile(r"\s*\n\s*\n\s*")


def read(path: Path) -> Document:
    """Return the text of a page. Raises Unreadable."""
    import trafilatura

    # It logs a warning for every unusual page.
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    data = path.read_bytes()
    named = _CHARSET.search(data[:4_000])
    text = decoded(data, named[1].decode() if named else "")[0] or data.decode("utf-8", "replace")
    if "\0" in text:
        raise Unreadable("file_damaged")
    text = "<".join(text.split("<", _MOST_TAGS)[:_MOST_TAGS])
    if "<html" not in text[:2_000].lower():
        text = f"<html><body>{text}</body></html>"
    main = trafilatura.extract(
        text, output_format="markdown", include_links=True, include_tables=True, include_comments=False
    )
    return Document((main or plain_text(text),))


def plain_text(page: str) -> str:
    """Return all text of a page, a line for each block."""
    reader = _TextOnly()
    reader.feed(page)
    reader.close()
    return _GAPS.sub("\n\n", _SPACES.sub(" ", "".join(reader.parts))).strip()


class _TextOnly(HTMLParser):
    """Collects the text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in _HIDDEN
        if tag in _BLOCKS:
            self.parts.append("\n")
        elif tag in ("td", "th"):
            self.parts.append("\t")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in _HIDDEN and self._hidden > 0
        if tag in _BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data)
