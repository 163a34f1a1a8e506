"""The blocks of a message's text: Markdown, also while it streams, and the literal text of a person.

All but the last two pieces of streaming Markdown (blocks; items of a list, rows of a table, stretches of code) are
final and never parsed again. `finish` parses the whole once, because link definitions may stand at the end.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from app.core.markdown_marks import IN_A_LINE, ON_LINES, open_as_text
from app.core.message import Message
from app.gui.markdown.blocks import (
    CODE,
    FORMULA,
    LITERAL,
    PARAGRAPH,
    TABLE,
    Block,
    Cell,
    Span,
    break_words,
    clean,
    code_chunks,
    linked,
)
from app.gui.markdown.parser import (
    ITEM,
    LINES,
    MAX_CELLS,
    MAX_FORMULAS,
    ROW,
    WHOLE,
    Cut,
    Parsed,
    parse,
    parse_with_cuts,
)

_KEPT_OPEN = 2
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_TABLE_HEAD = re.compile(r"^ {0,3}\|(.+)\|[ ]*(?:\n[ |:-]*)?$")
_OPEN_TARGET = re.compile(r"!?\[([^\[\]\n]+)\]\([^()\s]*$")


def half_done(text: str) -> str:
    """Close the marks that the last paragraph leaves open, so that its look does not change when they are closed."""
    start = text.rfind("\n\n") + 2 if "\n\n" in text else 0
    last = text[start:]
    if not last.strip() or len(_FENCE.findall(text)) % 2:
        return text
    head = _TABLE_HEAD.match(last)
    if head:
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
        self._tail = ""
        self._prefix = ""
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
        for index, (before, after) in enumerate(zip(old, whole, strict=False)):
            if before != after:
                return index
        return min(len(old), len(whole))

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
        begin = max(
            [other.start for other in parsed.cuts if other.kind == WHOLE and other.start <= cut.start],
            default=0,
        )
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
    """Return a text with every character and line as it was typed; only addresses are links, and `$$…$$` formulas."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    blocks: list[Block] = []
    position = 0
    for match in ON_LINES.finditer(text) if "$$" in text else ():
        if len(blocks) < MAX_FORMULAS:
            blocks += [_block(lines) for lines in _chunks(text[position : match.start()].strip("\n"))]
            blocks.append(Block(LITERAL, (Span(_cleaned(match[0].strip()), FORMULA),)))
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
    for number, part in enumerate(IN_A_LINE.split(_cleaned("\n".join(lines)))):
        if number % 2:
            spans.append(Span(part, FORMULA))
        elif part:
            spans += linked(Span(break_words(part))) if "http" in part else (Span(break_words(part)),)
    return Block(LITERAL, tuple(spans) or (Span(""),))


def _cleaned(text: str) -> str:
    return "\n".join([clean(line) for line in text.split("\n")])
