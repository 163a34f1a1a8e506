"""The blocks of a message's Markdown: plain text with styles, never HTML.

HTML stays literal text (`<br>` breaks the line), images become links, and formulas keep their source.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from app.core.markdown_marks import bare_links, is_display

PARAGRAPH = "paragraph"
HEADING = "heading"
CODE = "code"
TABLE = "table"
RULE = "rule"
LITERAL = "literal"

TICKED = "☑"
UNTICKED = "☐"
TICK_BOXES = (TICKED, UNTICKED)

MAX_WORD = 2_000
CODE_CHUNK = 100
BREAK = "\u2028"
"""Stands where an endless word was broken; it is left out of what is copied."""

_SCHEMES = ("http", "https", "mailto")
_LONG_WORD = re.compile(rf"\S{{{MAX_WORD}}}(?=\S)")
_HOST_LIKE = re.compile(r"^(?:https?://)?([\w-]+(?:\.[\w-]+)+)(?:[/:?#].*)?$", re.IGNORECASE)
_HIDDEN = re.compile("[\u202a-\u202e\u2066-\u2069\ufeff\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_LINE_SEPARATORS = re.compile("[\u2028\u2029\x85\ufdd0\ufdd1]")
_MARKS = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_MARK_PILE = re.compile(f"([{_MARKS}]{{4}})[{_MARKS}]+")


PLAIN = 0
BOLD = 1
ITALIC = 2
STRUCK = 4
INLINE_CODE = 8
IMAGE = 16
FORMULA = 32
"""The styles of a span, added up; plain numbers because a parse handles thousands of them."""


@dataclass(frozen=True, slots=True)
class Span:
    """A run of text in one style; `link` is a http, https or mailto address. A formula is its source with its marks."""

    text: str
    style: int = PLAIN
    link: str = ""


Cell = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph, heading, piece of code, table or rule, or lines of literal text.

    `marker` opens a list item (a bullet, a number with its dot, a tick box), `indent` is the number of lists around it,
    `quote` that of quotations. Code longer than CODE_CHUNK lines is several blocks; `first` marks the first of them.
    The first of `rows` is the head of a table.
    """

    kind: str
    spans: Cell = ()
    level: int = 0
    indent: int = 0
    quote: int = 0
    marker: str = ""
    language: str = ""
    first: bool = True
    rows: tuple[tuple[Cell, ...], ...] = ()
    alignment: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The block as plain text: cells separated by tabs, rows by line ends."""
        if self.kind == TABLE:
            return "\n".join("\t".join(plain(cell) for cell in row) for row in self.rows)
        return plain(self.spans)


def plain(spans: Cell) -> str:
    """Return the text of spans without their styles."""
    return "".join(span.text for span in spans)


def clean(text: str) -> str:
    """Remove characters from outside text that reorder, hide or stack others."""
    if text.isascii() and text.isprintable():
        return text
    text = _LINE_SEPARATORS.sub(" ", _HIDDEN.sub("", text))
    return _MARK_PILE.sub(r"\1", text)


def break_words(text: str) -> str:
    """Put a BREAK into every word longer than MAX_WORD characters."""
    if len(text) <= MAX_WORD:
        return text
    return _LONG_WORD.sub(lambda match: match.group() + BREAK, text)


def safe_link(url: str) -> str:
    """Return an address with an allowed scheme, else nothing."""
    try:
        scheme = urlsplit(url).scheme.lower()
    except ValueError:
        return ""
    return clean(url) if scheme in _SCHEMES else ""


def code_chunks(text: str, block: Block) -> list[Block]:
    """Return code as blocks of at most CODE_CHUNK lines; `block` gives everything but the text."""
    text = _MARK_PILE.sub(r"\1", _LINE_SEPARATORS.sub(" ", _HIDDEN.sub("", text)))
    lines = text.removesuffix("\n").split("\n")
    return [
        replace(
            block,
            spans=(Span(break_words("\n".join(lines[start : start + CODE_CHUNK]))),),
            first=block.first and start == 0,
        )
        for start in range(0, len(lines), CODE_CHUNK)
    ]


def names_other_host(shown: str, link: str) -> bool:
    """Whether the text of a link reads like an address of another host."""
    match = _HOST_LIKE.match(shown.strip())
    try:
        host = urlsplit(link).hostname or ""
    except ValueError:
        return True
    return bool(match and host and match.group(1).lower().removeprefix("www.") != host.removeprefix("www."))


def finished(spans: list[Span]) -> Cell:
    """Join neighbouring spans of one style, link bare addresses, break endless words."""
    joined: list[Span] = []
    for span in spans:
        alike = joined and joined[-1].style == span.style and joined[-1].link == span.link
        if alike and not span.style & FORMULA:
            joined[-1] = Span(joined[-1].text + span.text, span.style, span.link)
        else:
            joined.append(span)
    if joined:
        joined[-1] = replace(joined[-1], text=joined[-1].text.rstrip("\n"))
    done: list[Span] = []
    for span in joined:
        if span.style & FORMULA:
            done.append(replace(span, text="\n".join(map(clean, span.text.split("\n")))))
            continue
        text = break_words("\n".join(map(clean, span.text.split("\n"))))
        if not span.link and not span.style & (INLINE_CODE | IMAGE) and "http" in text:
            done.extend(linked(replace(span, text=text)))
        elif text:
            done.append(Span(text, span.style, span.link))
    return tuple(done)


def apart(spans: Cell) -> list[Cell]:
    """Return the spans of a paragraph with each formula that stands on a line of its own apart."""
    if not any(stands_apart(span) for span in spans):
        return [spans]
    parts: list[list[Span]] = [[]]
    for span in spans:
        if stands_apart(span):
            parts += [[span], []]
        else:
            parts[-1].append(span)
    trimmed = [_trimmed(part) for part in parts]
    return [part for part in trimmed if part]


def stands_apart(span: Span) -> bool:
    """Whether a span is a formula that stands on a line of its own."""
    return bool(span.style & FORMULA) and is_display(span.text)


def _trimmed(spans: list[Span]) -> Cell:
    """Return spans without white space at both ends."""
    if spans and not spans[0].style & FORMULA:
        spans[0] = replace(spans[0], text=spans[0].text.lstrip())
    if spans and not spans[-1].style & FORMULA:
        spans[-1] = replace(spans[-1], text=spans[-1].text.rstrip())
    return tuple(span for span in spans if span.text)


def linked(span: Span) -> Iterator[Span]:
    """Yield a run of text with its bare addresses as links."""
    position = 0
    for start, end in bare_links(span.text):
        if start > position:
            yield replace(span, text=span.text[position:start])
        yield replace(span, text=span.text[start:end], link=span.text[start:end])
        position = end
    if position < len(span.text):
        yield replace(span, text=span.text[position:])
