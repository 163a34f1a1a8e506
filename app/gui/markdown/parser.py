"""Parses Markdown into blocks; the parser is pulldown-cmark (`pyromark`)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

import pyromark

from app.core.markdown_marks import parsed_with_formulas
from app.gui.markdown.blocks import (
    BOLD,
    CODE,
    CODE_CHUNK,
    FORMULA,
    HEADING,
    IMAGE,
    INLINE_CODE,
    ITALIC,
    PARAGRAPH,
    PLAIN,
    RULE,
    STRUCK,
    TABLE,
    TICKED,
    UNTICKED,
    Block,
    Cell,
    Span,
    apart,
    clean,
    code_chunks,
    finished,
    names_other_host,
    plain,
    safe_link,
)

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
        self._source = source
        self._number = number
        self._out = Parsed(source)
        self._depth = 0
        self._quote = 0
        self._lists: list[int | None] = []
        self._marker = ""
        self._spans: list[Span] | None = None
        self._heading = 0
        self._style = PLAIN
        self._links: list[str] = []
        self._targets: list[tuple[int, str, bool]] = []
        self._code: list[str] | None = None
        self._language = ""
        self._fenced = False
        self._rows: list[tuple[Cell, ...]] = []
        self._cells: list[Cell] = []
        self._alignment: tuple[str, ...] = ()
        self._block_start = 0
        self._formulas = 0

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
        name: str
        value: Any
        name, value = (tag, None) if isinstance(tag, str) else next(iter(tag.items()))
        if name in _INLINE:
            self._style |= _INLINE[name]
            return
        if name in ("Link", "Image"):
            self._begin_link(value["dest_url"], name == "Image")
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
                self._language = "" if not self._fenced else clean(value["Fenced"]).split(" ")[0][:40]
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
                self._begin_item()
            case "Table":
                self._alignment = tuple(value)
                self._rows = []

    def _begin_item(self) -> None:
        number = self._lists[-1]
        if number is None:
            self._marker = "•"
        else:
            self._marker = f"{number}."
            self._lists[-1] = number + 1

    def _on_end(self, tag: Any, end: int) -> None:
        name = tag if isinstance(tag, str) else next(iter(tag))
        if name in _INLINE:
            self._style &= ~_INLINE[name]
            return
        if name in ("Link", "Image"):
            self._end_link()
            return
        if name == "TableCell":
            self._cells.append(finished(self._spans or []))
            self._spans = None
            return
        if name in ("TableHead", "TableRow"):
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
        match name:
            case "Heading":
                self._heading = 0
            case "BlockQuote":
                self._quote -= 1
            case "List":
                self._lists.pop()

    def _on_text(self, name: str, value: Any) -> None:
        if self._code is not None:
            self._code.append(value)
        elif name == "TaskListMarker":
            self._marker = TICKED if value else UNTICKED
        elif name in ("Html", "InlineHtml"):
            parts = _LINE_BREAK_TAG.split(value)
            for index, part in enumerate(parts):
                if index:
                    self._append("\n")
                self._append(part)
        elif name == "Code":
            self._append(value, INLINE_CODE)
        elif name == "Formula":
            self._formulas += 1
            self._append(value, FORMULA if self._formulas <= MAX_FORMULAS else PLAIN)
        else:
            self._append(value)

    def _append(self, text: str, style: int = PLAIN) -> None:
        if self._spans is None:
            self._spans = []
        if text:
            link = self._links[-1] if self._links else ""
            self._spans.append(Span(text, self._style | style, link))

    def _begin_link(self, url: str, image: bool) -> None:
        if self._spans is None:
            self._spans = []
        self._targets.append((len(self._spans), url, image))
        self._links.append(safe_link(url))

    def _end_link(self) -> None:
        start, url, image = self._targets.pop()
        spans = self._spans if self._spans is not None else []
        shown = clean(plain(tuple(spans[start:])))
        link = self._links[-1]
        address = clean(url)
        short = address if len(address) <= 80 else address[:79] + "…"
        if image:
            spans[start:] = [Span(f"{shown} ({short})" if shown else f"({short})", IMAGE, link)]
        elif not link:
            self._links.pop()
            self._append(f" ({short})")
            return
        elif names_other_host(shown, link):
            self._append(f" ({urlsplit(link).hostname})")
        self._links.pop()

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
        rows = tuple(self._rows)
        if len(rows) * len(self._alignment) > MAX_CELLS:
            source = self._source[self._block_start : end].decode("utf-8", "replace")
            for chunk in code_chunks(source, Block(CODE)):
                self._add(chunk)
            return
        self._add(Block(TABLE, rows=rows, alignment=self._alignment))

    def _add(self, block: Block) -> None:
        marker, self._marker = self._marker, ""
        if marker or self._lists or self._quote:
            block = replace(block, indent=len(self._lists), quote=self._quote, marker=marker)
        self._out.blocks.append(block)


_INLINE = {"Emphasis": ITALIC, "Strong": BOLD, "Strikethrough": STRUCK}
