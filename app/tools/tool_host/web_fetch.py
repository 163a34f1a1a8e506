"""Reads a web page for `web_fetch` and returns its main text as Markdown."""

import asyncio
import codecs
import html
import logging
import re
from typing import Any, Final

from app.core.text import clean_text
from app.tools.tool_host.errors import RequestError
from app.tools.tool_host.web_client import LIMITS, PUBLIC, AddressPolicy, Download, WebLimits, download

MAX_CHARACTERS: Final = 20_000

_ACCEPTS = (
    "text/",
    "application/xhtml+xml",
    "application/xml",
    "application/json",
    "application/ld+json",
    "application/atom+xml",
    "application/rss+xml",
)
_HTML_TYPES = ("text/html", "application/xhtml+xml")
# Sites often name a small charset and use the larger one.
_LARGER_SETS = {
    "euc_kr": "cp949",
    "johab": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
}
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_META_CHARSET = re.compile(rb"""charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{2,40})""", re.IGNORECASE)
_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{1,1000})", re.IGNORECASE)
_HTML_START = re.compile(r"\s*(<!--.{0,500}?-->\s*)?(<!doctype html|<html)", re.IGNORECASE | re.DOTALL)
_HEAD = 4_096
_MAX_TAGS = 50_000


async def fetch(url: str, *, policy: AddressPolicy = PUBLIC, limits: WebLimits = LIMITS) -> dict[str, Any]:
    """Return a page's `url` (after redirects), `title` and `text` (Markdown), and a `note` if it was cut.

    Raises RequestError.
    """
    page = await download(url, policy=policy, limits=limits, accepts=_ACCEPTS)
    try:
        async with asyncio.timeout(limits.seconds):
            title, text = await asyncio.to_thread(_readable, page)
    except TimeoutError:
        raise RequestError(f"{page.url[:200]} takes too long to read; look for another page.") from None
    if not text:
        raise RequestError(f"{page.url[:200]} holds no text (it may need a browser that runs scripts).")
    note = ""
    if len(text) > MAX_CHARACTERS:
        note = f"Only the first {MAX_CHARACTERS:,} of {len(text):,} characters are shown."
    return {"url": page.url, "title": title, "text": text[:MAX_CHARACTERS], "note": note}


def _readable(page: Download) -> tuple[str, str]:
    """Return a page's title, "" if it has none, and its main text."""
    if page.data.startswith(b"%PDF-"):
        raise RequestError(f"{page.url[:200]} is a PDF file, which cannot be read yet; look for a web page.")
    marked = page.data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if b"\0" in page.data and not marked:
        raise RequestError(f"{page.url[:200]} is no text and was not read.")
    text = clean_text(_decoded(page))
    if page.content_type not in _HTML_TYPES and not _HTML_START.match(text[:_HEAD]):
        return "", text.strip()
    found = _TITLE.search(text[: 50 * _HEAD])
    title = " ".join(html.unescape(found[1]).split())[:200] if found else ""
    return title, _main_text(text, page.url).strip()


def _main_text(text: str, url: str) -> str:
    import trafilatura

    # It logs a warning for every unusual page.
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    # Its time grows with the number of tags; text behind so many would not be shown anyway.
    text = "<".join(text.split("<", _MAX_TAGS)[:_MAX_TAGS])
    if "<html" not in text[:_HEAD].lower():
        text = f"<html><body>{text}</body></html>"
    main = trafilatura.extract(
        text,
        url=url,
        output_format="markdown",
        include_links=True,
        include_tables=True,
        include_comments=False,
    )
    # A page without a recognisable main part is read whole.
    return clean_text(main or trafilatura.html2txt(text))


def _decoded(page: Download) -> str:
    """Return a page's text; a charset that it names is used only if the bytes fit."""
    meta = _META_CHARSET.search(page.data[:_HEAD])
    for mark, charset in _MARKS:
        if page.data.startswith(mark):
            return page.data.decode(charset, "replace")
    claims = [_charset(page.charset), _charset(meta[1].decode("ascii") if meta else "")]
    # Many servers name Latin-1 for everything, and all bytes fit it, so it comes last.
    claims.sort(key=lambda claim: claim == "cp1252")
    stateful = [claim for claim in claims if claim.startswith("iso2022")]
    for charset in (*stateful, "utf-8", *claims):
        if charset and (text := _try(page.data, charset)) is not None:
            return text
    from charset_normalizer import from_bytes

    best = from_bytes(page.data[:100_000]).best()
    return page.data.decode(best.encoding if best else "utf-8", "replace")


def _charset(name: str) -> str:
    """Return Python's name of a charset, "" if it is unknown."""
    try:
        known = codecs.lookup(name).name
    except (LookupError, ValueError):
        return ""
    return _LARGER_SETS.get(known, known)


def _try(data: bytes, charset: str) -> str | None:
    try:
        return data.decode(charset)
    except (UnicodeError, LookupError):
        return None
