"""The blocks of a message's text: plain text with styles, never HTML; parsed by pulldown-cmark (`pyromark`).

HTML is literal text (`<br>` breaks the line), images are links, formulas keep their source. While Markdown
streams, all but its last two pieces (blocks; items of a list, rows of a table, stretches of code) are final
and never parsed again; `finish` parses the whole once, because link definitions may stand at the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

import pyromark

from app.core.message import Message
from app.core.texts import IN_A_LINE, ON_LINES, bare_links, is_display, open_as_text, parsed_with_formulas

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
    """A run of text in one style; `link` is a http, https or mailto address.
    A formula is its source with its marks.
    """

    text: str
    style: int = PLAIN
    link: str = ""


Cell = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph, heading, piece of code, table or rule, or lines of literal text.

    `marker` opens a list item (a bullet, a number with its dot, a tick box), `indent` is the number of lists
    around it, `quote` that of quotations. Code longer than CODE_CHUNK lines is several blocks; `first` marks
    the first of them. The first of `rows` is the head of a table.
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


def same_start(old: Sequence[object], new: Sequence[object]) -> int:
    """Return how many of the first items of two sequences are the same."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((place for place, (pair, other) in pairs if pair != other), min(len(old), len(new)))


def plain(spans: Cell) -> str:
    """Return the text of spans without their styles."""
    return "".join(span.text for span in spans)


def clean(text: str) -> str:
    """Remove characters from outside text that reorder, hide or stack others."""
    if text.isascii() and text.replace("\n", "").isprintable():
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
    lines = clean(text).removesuffix("\n").split("\n")
    places = range(0, len(lines), CODE_CHUNK)
    texts = [break_words("\n".join(lines[start : start + CODE_CHUNK])) for start in places]
    first, *rest = [replace(block, spans=(Span(piece),)) for piece in texts]
    return [first, *(replace(piece, first=False) for piece in rest)]


def names_other_host(shown: str, link: str) -> bool:
    """Whether the text of a link reads like an address of another host."""
    match = _HOST_LIKE.match(shown.strip())
    host = urlsplit(link).hostname or ""
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
        text = clean(span.text) if span.style & FORMULA else break_words(clean(span.text))
        if not span.link and not span.style & (INLINE_CODE | IMAGE | FORMULA) and "http" in text:
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
    return [cell for part in parts if (cell := _trimmed(part))]


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


MAX_CELLS = 1_000
MAX_FORMULAS = 400
"""Formulas of a message up to which they are drawn."""

_MARKDOWN = pyromark.Markdown(
    options=pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_STRIKETHROUGH
    | pyromark.Options.ENABLE_TASKLISTS
    | pyromark.Options.ENABLE_MATH
)
_LINE_BREAK_TAG = re.compile(r"<br\s*/?>", re.IGNORECASE)

WHOLE = "whole"
ITEM = "item"
ROW = "row"
LINES = "lines"


@dataclass(frozen=True, slots=True)
class Cut:
    """A place where parsing can begin again: before a WHOLE block, or inside a list, table or code.

    `start` is in bytes, `index` counts blocks, `done` the rows of the table before it.
    """

    start: int
    index: int
    kind: str
    done: int = 0


@dataclass(slots=True)
class Parsed:
    """The blocks of a text, the places where it can be cut, and the text as UTF-8."""

    source: bytes
    blocks: list[Block] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)


def parse(text: str) -> list[Block]:
    """Return the blocks of a whole message."""
    return parse_with_cuts(text).blocks


def parse_with_cuts(text: str, number: int | None = None) -> Parsed:
    """Return the blocks and cuts of a text; `number` is that of the list item it begins with."""
    source = text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace")
    events = parsed_with_formulas(source.decode("utf-8"), _MARKDOWN.events_with_range)
    return _Builder(source, number).run(events)


class _Builder:
    """Makes flat blocks from the parser's events in one pass."""

    def __init__(self, source: bytes, number: int | None) -> None:
        self._source, self._number = source, number
        self._out = Parsed(source)
        self._depth = self._quote = self._heading = self._formulas = self._block_start = 0
        self._lists: list[int | None] = []
        self._marker = self._language = ""
        self._spans: list[Span] | None = None
        self._style = PLAIN
        # What is around: its first span, its address, whether it is a picture, and its link, "" for none.
        self._targets: list[tuple[int, str, bool, str]] = []
        self._code: list[str] | None = None
        self._fenced = False
        self._rows: list[tuple[Cell, ...]] = []
        self._cells: list[Cell] = []
        self._alignment: tuple[str, ...] = ()

    def run(self, events: Iterable[tuple[Any, Any]]) -> Parsed:
        for event, place in events:
            if isinstance(event, str):
                self._on_word(event, place["start"])
                continue
            [(name, value)] = event.items()
            if name == "Start":
                self._on_start(value, place["start"])
            elif name == "End":
                self._on_end(value, place["end"])
            else:
                self._on_text(name, value)
        self._flush()
        return self._out

    def _cut(self, start: int, kind: str = WHOLE, done: int = 0) -> None:
        line = self._source.rfind(b"\n", 0, start) + 1
        if not self._source[line:start].strip():
            start = line
        self._out.cuts.append(Cut(start, len(self._out.blocks), kind, done))

    def _on_word(self, event: str, start: int) -> None:
        if event == "Rule":
            self._flush()
            if not self._depth:
                self._cut(start)
            self._add(Block(RULE))
        elif event == "SoftBreak":
            self._append(" ")
        else:
            self._append("\n")

    def _on_start(self, tag: Any, start: int) -> None:
        value: Any
        name, value = (tag, None) if isinstance(tag, str) else next(iter(tag.items()))
        if name in _INLINE:
            self._style |= _INLINE[name]
            return
        if name in ("Link", "Image"):
            self._spans = self._spans or []
            url = value["dest_url"]
            self._targets.append((len(self._spans), url, name == "Image", safe_link(url)))
            return
        if name == "TableRow" and self._depth == 1:
            self._cut(start, ROW, len(self._rows))
        if name in ("TableHead", "TableRow", "TableCell"):
            self._cells = self._cells if name == "TableCell" else []
            self._spans = []
            return
        self._flush()
        if not self._depth:
            self._block_start = start
            if name != "List":
                self._cut(start)
        self._depth += 1
        match name:
            case "Heading":
                self._heading = int(value["level"][1])
            case "BlockQuote":
                self._quote += 1
            case "CodeBlock":
                self._code = []
                self._fenced = value != "Indented"
                self._language = clean(value["Fenced"]).split(" ")[0][:40] if self._fenced else ""
            case "List":
                if value is not None and self._number is not None and not self._out.blocks:
                    value = self._number
                self._lists.append(value)
            case "Item":
                if self._marker:
                    self._spans = []
                    self._flush()
                if self._depth == 2 and len(self._lists) == 1:
                    self._cut(start, ITEM)
                number = self._lists[-1]
                self._marker = "•" if number is None else f"{number}."
                self._lists[-1] = None if number is None else number + 1
            case "Table":
                self._alignment = tuple(value)
                self._rows = []

    def _on_end(self, tag: Any, end: int) -> None:
        name = tag if isinstance(tag, str) else next(iter(tag))
        if name in _INLINE:
            self._style &= ~_INLINE[name]
            return
        if name in ("Link", "Image"):
            self._end_link()
            return
        if name in ("TableHead", "TableRow", "TableCell"):
            if name == "TableCell":
                self._cells.append(finished(self._spans or []))
            else:
                self._rows.append(tuple(self._cells))
            self._spans = None
            return
        if name == "CodeBlock":
            self._end_code()
        elif name == "Table":
            self._end_table(end)
        elif name == "Item" and self._marker and self._spans is None:
            self._spans = []
        self._flush()
        self._depth -= 1
        if name == "Heading":
            self._heading = 0
        elif name == "BlockQuote":
            self._quote -= 1
        elif name == "List":
            self._lists.pop()

    def _on_text(self, name: str, value: Any) -> None:
        if self._code is not None:
            self._code.append(value)
        elif name == "TaskListMarker":
            self._marker = TICKED if value else UNTICKED
        elif name in ("Html", "InlineHtml"):
            self._append(_LINE_BREAK_TAG.sub("\n", value))
        elif name == "Code":
            self._append(value, INLINE_CODE)
        elif name == "Formula":
            self._formulas += 1
            self._append(value, FORMULA if self._formulas <= MAX_FORMULAS else PLAIN)
        else:
            self._append(value)

    def _append(self, text: str, style: int = PLAIN) -> None:
        self._spans = self._spans or []
        if text:
            link = self._targets[-1][-1] if self._targets else ""
            self._spans.append(Span(text, self._style | style, link))

    def _end_link(self) -> None:
        start, url, image, link = self._targets[-1]
        spans = self._spans if self._spans is not None else []
        shown = clean(plain(tuple(spans[start:])))
        address = clean(url)
        short = address if len(address) <= 80 else address[:79] + "…"
        if image:
            spans[start:] = [Span(f"{shown} ({short})" if shown else f"({short})", IMAGE, link)]
        elif link and names_other_host(shown, link):
            self._append(f" ({urlsplit(link).hostname})")
        self._targets.pop()
        if not image and not link:
            self._append(f" ({short})")

    def _flush(self) -> None:
        if self._spans is None:
            return
        spans, self._spans = self._spans, None
        kind = HEADING if self._heading else PARAGRAPH
        done = finished(spans)
        for part in apart(done) if kind == PARAGRAPH else [done]:
            if part or self._marker:
                self._add(Block(kind, part, level=self._heading))

    def _end_code(self) -> None:
        text, self._code = "".join(self._code or []), None
        chunks = code_chunks(text, Block(CODE, language=self._language))
        top = self._depth == 1 and self._fenced
        position = self._source.find(b"\n", self._block_start) + 1
        for index, chunk in enumerate(chunks):
            if index and top:
                for _ in range(CODE_CHUNK):
                    position = self._source.find(b"\n", position) + 1
                self._out.cuts.append(Cut(position, len(self._out.blocks), LINES))
            self._add(chunk)

    def _end_table(self, end: int) -> None:
        blocks = [Block(TABLE, rows=tuple(self._rows), alignment=self._alignment)]
        if len(self._rows) * len(self._alignment) > MAX_CELLS:
            source = self._source[self._block_start : end].decode("utf-8", "replace")
            blocks = code_chunks(source, Block(CODE))
        for block in blocks:
            self._add(block)

    def _add(self, block: Block) -> None:
        marker, self._marker = self._marker, ""
        if marker or self._lists or self._quote:
            block = replace(block, indent=len(self._lists), quote=self._quote, marker=marker)
        self._out.blocks.append(block)


_INLINE = {"Emphasis": ITALIC, "Strong": BOLD, "Strikethrough": STRUCK}


_KEPT_OPEN = 2
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_TABLE_HEAD = re.compile(r"^ {0,3}\|(.+)\|[ ]*(?:\n[ |:-]*)?$")
_OPEN_TARGET = re.compile(r"!?\[([^\[\]\n]+)\]\([^()\s]*$")


def half_done(text: str) -> str:
    """Close the marks that the last paragraph leaves open, so that its look does not change
    when they are closed.
    """
    start = text.rfind("\n\n") + 2 if "\n\n" in text else 0
    last = text[start:]
    if not last.strip() or len(_FENCE.findall(text)) % 2:
        return text
    if head := _TABLE_HEAD.match(last):
        columns = head.group(1).count("|") + 1
        return text[:start] + last.split("\n")[0] + "\n|" + "-|" * columns
    shown = open_as_text(last)
    if shown != last:
        return text[:start] + shown
    last = _OPEN_TARGET.sub(r"\1", last)
    if last.count("`") % 2:
        last = last[:-1] if last.endswith("`") else last + "`"
    elif last.count("**") % 2:
        stripped = last.rstrip("*")
        last = stripped if last.endswith("**") else last.rstrip() + "**"
    return text[:start] + last


class StreamingBlocks:
    """The blocks of a streaming text: `feed` pieces, then `finish`."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._pieces: list[str] = []
        self._frozen = 0
        self._tail = self._prefix = ""
        self._number: int | None = None
        self._code_goes_on = False
        self._rows: tuple[tuple[Cell, ...], ...] = ()
        self._table_source = ""

    @property
    def source(self) -> str:
        """The text so far."""
        return "".join(self._pieces)

    def feed(self, text: str) -> int:
        """Add a piece; return the index of the first block that may have changed."""
        self._pieces.append(text)
        self._tail += text
        first = self._frozen
        tail = self._tail if self._prefix else half_done(self._tail)
        parsed = parse_with_cuts(self._prefix + tail, self._number)
        own_rows = parsed.blocks[0].rows if parsed.blocks else ()
        before = len(parsed.blocks)
        self._join(parsed)
        self.blocks[first:] = parsed.blocks
        if len(parsed.cuts) > _KEPT_OPEN and not self._tail.endswith("\r"):
            self._freeze(parsed, parsed.cuts[-_KEPT_OPEN], own_rows, len(parsed.blocks) - before)
        return first

    def finish(self) -> int:
        """Parse the whole text; return the index of the first block that changed."""
        whole = parse(self.source)
        old, self.blocks = self.blocks, whole
        return same_start(old, whole)

    def _join(self, parsed: Parsed) -> None:
        """Complete the first block of the tail from the final part before it."""
        if not parsed.blocks:
            return
        first = parsed.blocks[0]
        if self._code_goes_on and first.kind == CODE:
            parsed.blocks[0] = replace(first, first=False)
        elif self._rows and first.kind == TABLE:
            rows = self._rows + first.rows[1:]
            if len(rows) * len(first.alignment) > MAX_CELLS:
                end = next((cut.start for cut in parsed.cuts if cut.index > 0), len(parsed.source))
                rest = parsed.source[len(self._prefix.encode()) : end].decode("utf-8", "replace")
                parsed.blocks[:1] = code_chunks(self._table_source + rest.rstrip("\n"), Block(CODE))
            else:
                parsed.blocks[0] = replace(first, rows=rows)

    def _freeze(self, parsed: Parsed, cut: Cut, own_rows: tuple[tuple[Cell, ...], ...], added: int) -> None:
        """Shorten the tail, so that only its last pieces are parsed again."""
        before = len(self._prefix.encode("utf-8", "replace"))
        place = cut.index + (added if cut.index else 0)
        if cut.start <= before:
            return
        # An empty quotation has made no block yet.
        block = parsed.blocks[place] if place < len(parsed.blocks) else Block(PARAGRAPH)
        rows = own_rows if cut.index == 0 else block.rows
        if cut.kind == ROW and not rows:
            return
        raw = (self._prefix + self._tail).replace("\r\n", "\n").replace("\r", "\n")
        source = raw.encode("utf-8", "replace")
        begins = [other.start for other in parsed.cuts if other.kind == WHOLE and other.start <= cut.start]
        begin = max(begins, default=0)
        number = block.marker if cut.kind == ITEM else ""
        self._number = int(number[:-1]) if number.endswith(".") else None
        self._code_goes_on = cut.kind == LINES
        prefix = ""
        if cut.kind == ROW:
            first_row = next(other for other in parsed.cuts if other.index == cut.index and other.kind == ROW)
            prefix = source[begin : first_row.start].decode()
            same = bool(self._rows) and cut.index == 0
            self._rows = self._rows + rows[1 : cut.done] if same else rows[: cut.done]
            done = source[(before if same else begin) : cut.start].decode()
            self._table_source = self._table_source + done if same else done
        else:
            self._rows, self._table_source = (), ""
        if cut.kind == LINES:
            prefix = source[begin : source.find(b"\n", begin) + 1].decode()
        self._frozen += place
        self._prefix = prefix
        self._tail = source[cut.start :].decode()


CHARACTERS = 1_500
"""A block is full at about so many; a long text is several, one below the other without a gap."""


def blocks_of(message: Message, text: str) -> list[Block]:
    """Return the blocks of a message's text: Markdown, except what the user wrote."""
    return literal_blocks(text) if message.by_user else parse(text)


def literal_blocks(text: str) -> list[Block]:
    """Return a text with every character and line as it was typed; only addresses are links,
    and `$$…$$` formulas.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    blocks: list[Block] = []
    position = 0
    for match in ON_LINES.finditer(text) if "$$" in text else ():
        if len(blocks) < MAX_FORMULAS:
            blocks += [_block(lines) for lines in _chunks(text[position : match.start()].strip("\n"))]
            blocks.append(Block(LITERAL, (Span(clean(match[0].strip()), FORMULA),)))
            position = match.end()
    return blocks + [_block(lines) for lines in _chunks(text[position:].lstrip("\n") if position else text)]


def _chunks(text: str) -> Iterator[list[str]]:
    lines: list[str] = []
    length = 0
    for line in text.split("\n") if text else ():
        lines.append(line)
        length += len(line) + 1
        if length >= CHARACTERS:
            yield lines
            lines, length = [], 0
    if lines:
        yield lines


def _block(lines: list[str]) -> Block:
    spans: list[Span] = []
    # The text between two formulas, a formula, and so on.
    for number, part in enumerate(IN_A_LINE.split(clean("\n".join(lines)))):
        if number % 2:
            spans.append(Span(part, FORMULA))
        elif part:
            spans += linked(Span(break_words(part))) if "http" in part else (Span(break_words(part)),)
    return Block(LITERAL, tuple(spans) or (Span(""),))
