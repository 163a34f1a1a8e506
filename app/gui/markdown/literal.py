"""A person's text as blocks: every character and line as it was typed; only addresses become links."""

from collections.abc import Iterator

from app.core.message import Message
from app.gui.markdown.blocks import LITERAL, Block, Span, break_words, clean, linked, parse

CHARACTERS = 1_500
"""A block is full at about so many; a long text is several, one below the other without a gap."""


def blocks_of(message: Message, text: str) -> list[Block]:
    """Return the blocks of a message's text: Markdown, except what the user wrote."""
    return literal_blocks(text) if message.by_user else parse(text)


def literal_blocks(text: str) -> list[Block]:
    """Return a text as it was written."""
    return [_block(lines) for lines in _chunks(text.replace("\r\n", "\n").replace("\r", "\n").strip("\n"))]


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
    text = break_words("\n".join([clean(line) for line in lines]))
    return Block(LITERAL, tuple(linked(Span(text))) if "http" in text else (Span(text),))
