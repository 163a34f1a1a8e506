"""Reads web pages: the main text as Markdown, or all text where no main part is found."""

import codecs
import logging
import re
from contextlib import suppress
from html import unescape
from pathlib import Path
from typing import Any

from lxml.etree import ParserError
from lxml.html import HTMLParser, document_fromstring

from app.core.texts import clean_text
from app.files.file_reader.document import Document, Unreadable, decoded

# The time trafilatura takes grows with the number of tags.
_MOST_TAGS = 200_000
_BLOCK_NAMES = """
address article aside blockquote br dd div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 header hr li main
nav ol p pre section table tr ul
"""
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_VOID = ("br", "hr")
_HIDDEN = ("head", "script", "style", "template")
_HTML_TYPES = ("text/html", "application/xhtml+xml")
_HTML_START = re.compile(r"\s*(<!--.{0,500}?-->\s*)?(<!doctype html|<html)", re.IGNORECASE | re.DOTALL)
_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{1,1000})", re.IGNORECASE)
_CHARSET = re.compile(rb"""charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{2,40})""", re.IGNORECASE)
_HEAD = 4_096
# Pages often name a small charset and use the larger one.
_LARGER_SETS = {"euc_kr": "cp949", "johab": "cp949", "gb2312": "gb18030", "gbk": "gb18030"}
_LARGER_SETS |= {"shift_jis": "cp932", "iso8859-1": "cp1252", "ascii": "cp1252"}
_SPACES = re.compile(r"[ \t\r\f\v]+")
_GAPS = re.compile(r"\s*\n\s*\n\s*")


def read(path: Path) -> Document:
    """Return the text of a page. Raises Unreadable."""
    text = _decoded(path.read_bytes(), "")
    if "\0" in text:
        raise Unreadable("file_damaged")
    return Document((_main_text(text, None),))


def fetched(data: bytes, charset: str, url: str, content_type: str) -> tuple[str, str]:
    """Return the title of what a server sent, "" for none, and the main text;
    of what is no page the whole text.
    """
    text = clean_text(_decoded(data, charset))
    if content_type not in _HTML_TYPES and not _HTML_START.match(text[:_HEAD]):
        return "", text.strip()
    found = _TITLE.search(text[: 50 * _HEAD])
    title = " ".join(unescape(found[1]).split())[:200] if found else ""
    return clean_text(title), clean_text(_main_text(text, url)).strip()


def _main_text(text: str, url: str | None) -> str:
    import trafilatura

    # It logs a warning for every unusual page.
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    text = "<".join(text.split("<", _MOST_TAGS)[:_MOST_TAGS])
    if "<html" not in text[:_HEAD].lower():
        text = f"<html><body>{text}</body></html>"
    parts: dict[str, Any] = {"include_links": True, "include_tables": True, "include_comments": False}
    main = trafilatura.extract(text, url=url, output_format="markdown", **parts)
    # A page without a recognisable main part is read whole.
    return main or plain_text(text)


def _decoded(data: bytes, charset: str) -> str:
    """Return a page's text; a charset that the page or its server names is used only if the bytes fit."""
    meta = _CHARSET.search(data[:_HEAD])
    claims = [_known(charset), _known(meta[1].decode() if meta else "")]
    for stateful in (claim for claim in claims if claim.startswith("iso2022")):
        # Its bytes are ASCII, and so would be UTF-8 too.
        with suppress(UnicodeError):
            return data.decode(stateful)
    # Many servers name Latin-1 for everything, and all bytes fit it, so it comes last.
    claims.sort(key=lambda claim: claim == "cp1252")
    return decoded(data, *claims)[0] or data.decode("utf-8", "replace")


def _known(charset: str) -> str:
    """Return Python's name of a charset, "" if it is unknown."""
    with suppress(LookupError, ValueError):
        known = codecs.lookup(charset).name
        return _LARGER_SETS.get(known, known)
    return ""


def plain_text(page: str) -> str:
    """Return all text of a page, a line for each block."""
    parser = HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    try:
        tree = document_fromstring(page.encode("utf-8", "replace"), parser)
    except ParserError:  # There is nothing in it.
        return ""
    for element in list(tree.iter()):
        if element.tag in _HIDDEN:
            element.clear(keep_tail=True)
        if element.tag in _BLOCKS:
            element.text = f"\n{element.text or ''}"
        if element.tag in _BLOCKS and element.tag not in _VOID:
            element.tail = f"\n{element.tail or ''}"
        if element.tag in ("td", "th"):
            element.text = f"\t{element.text or ''}"
    return _GAPS.sub("\n\n", _SPACES.sub(" ", "".join(tree.itertext()))).strip()
