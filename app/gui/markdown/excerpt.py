"""Blocks as text to copy: as Markdown or plain text, whole or in part."""

from collections.abc import Sequence

from app.gui.markdown.blocks import (
    BOLD,
    BREAK,
    CODE,
    HEADING,
    INLINE_CODE,
    ITALIC,
    LITERAL,
    RULE,
    STRUCK,
    TABLE,
    Block,
    Cell,
    Span,
)


def markdown_of(blocks: Sequence[Block], start: int, end: int) -> str:
    """Return a range of the plain text as Markdown."""
    parts: list[str] = []
    above: Block | None = None
    for block, begin, stop in _covered(blocks, start, end):
        text = _markdown(block, begin, stop)
        if above is not None:
            tight = bool(above.indent and block.indent) or (block.kind == CODE and not block.first)
            tight = tight or block.kind == LITERAL
            parts.append("\n" if tight else "\n\n")
        parts.append(text)
        above = block
    return "".join(parts).replace("\n```\n\n```", "").replace(BREAK, "")


def plain_of(blocks: Sequence[Block], start: int, end: int) -> str:
    """Return a range of the plain text without marks."""
    parts = []
    for block, begin, stop in _covered(blocks, start, end):
        marker = f"{block.marker} " if block.marker and not begin else ""
        parts.append("  " * max(0, block.indent - 1) + marker + block.text[begin:stop])
    return "\n".join(parts).replace(BREAK, "")


def _covered(blocks: Sequence[Block], start: int, end: int) -> list[tuple[Block, int, int]]:
    result = []
    position = 0
    for block in blocks:
        length = len(block.text)
        if position <= end and start <= position + length:
            result.append((block, max(0, start - position), min(length, end - position)))
        position += length + 1
    return result


def _markdown(block: Block, begin: int, stop: int) -> str:
    quote = "> " * block.quote
    if block.kind == RULE:
        return quote + "---"
    if block.kind == LITERAL:
        return block.text[begin:stop]
    if block.kind == TABLE:
        whole = begin == 0 and stop >= len(block.text)
        return _table(block) if whole else block.text[begin:stop]
    if block.kind == CODE:
        code = block.text[begin:stop]
        fence = "````" if "```" in code else "```"
        return f"{fence}{block.language}\n{code}\n{fence}"
    text = inline(_sliced(block.spans, begin, stop)).replace("\n", "  \n")
    if begin:
        return quote + text
    head = "#" * block.level + " " if block.kind == HEADING else ""
    marker = {"•": "- ", "☐": "- [ ] ", "☑": "- [x] ", "": ""}.get(block.marker, f"{block.marker} ")
    return quote + "  " * max(0, block.indent - (1 if marker else 0)) + head + marker + text


def _table(block: Block) -> str:
    marks = {"None": "---", "Left": ":---", "Center": ":-:", "Right": "---:"}
    lines = [
        "| " + " | ".join(inline(cell).replace("\n", "<br>") for cell in row) + " |" for row in block.rows
    ]
    lines.insert(1, "|" + "|".join(marks[each] for each in block.alignment) + "|")
    return "\n".join(lines)


def _sliced(spans: Cell, begin: int, stop: int) -> list[Span]:
    result = []
    position = 0
    for span in spans:
        text = span.text[max(0, begin - position) : max(0, stop - position)]
        if text:
            result.append(Span(text, span.style, span.link))
        position += len(span.text)
    return result


def inline(spans: Sequence[Span]) -> str:
    """Return spans as Markdown."""
    parts = []
    for span in spans:
        text = span.text
        if span.style & INLINE_CODE:
            text = f"`{text}`"
        for style, mark in ((STRUCK, "~~"), (ITALIC, "*"), (BOLD, "**")):
            if span.style & style:
                text = f"{mark}{text}{mark}"
        if span.link and span.link != span.text:
            text = f"[{text}]({span.link})"
        parts.append(text)
    return "".join(parts)
