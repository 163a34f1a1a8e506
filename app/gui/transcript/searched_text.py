"""What can be found in a row: its texts, and each as it reads on the screen; pure, used by the finder."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from app.core.message import Message
from app.core.text import visible
from app.gui.markdown.blocks import CODE, Block, code_chunks
from app.gui.markdown.literal import literal_blocks
from app.gui.markdown.streaming import StreamingBlocks
from app.gui.transcript.row_tree import CARD, GROUP, QUESTION, Entry
from app.gui.transcript.search_result import ARGUMENTS, REST, RESULT, TEXT, THOUGHT
from app.gui.transcript.thought_line import thought_blocks
from app.gui.transcript.transcript_model import TranscriptModel

SLICE = 500
"""Characters of a message that are parsed at a time, in less than four milliseconds."""

ShownText = Callable[[Message, str], str]


class SearchedText(NamedTuple):
    """One of a row's texts as it is stored; `part` is one of `hit`'s, `literal` means that it is not Markdown."""

    part: str
    source: str
    literal: bool = False


def searched_texts(entry: Entry, model: TranscriptModel, shown_text: ShownText) -> list[SearchedText]:
    """Return the texts of a row; `shown_text` gives of a message's text what is shown of it."""
    message = model.book.messages[entry.message_id]
    if entry.kind == GROUP:
        return []
    if entry.kind == CARD:
        call = message.tool_calls[entry.call]
        result = model.book.messages.get(entry.result_id)
        given = (call.name, call.arguments, result.content if result else "")
        parts = (REST, ARGUMENTS, RESULT)
        return [SearchedText(part, text) for part, text in zip(parts, given, strict=True)]
    if entry.kind == QUESTION:
        prompt = message.prompt
        asked = (
            (prompt.question, *prompt.options, prompt.answer, prompt.tool, prompt.arguments) if prompt else ()
        )
        return [SearchedText(REST, text) for text in asked]
    thought = [SearchedText(THOUGHT, message.thinking)] if model.chat else []
    rest = [text for one in message.attachments for text in (one.name, one.text)]
    if message.error is not None:
        rest.append(message.error.detail)
    said = SearchedText(TEXT, shown_text(message, model.said(message.id)), literal=message.by_user)
    return [*thought, said, *(SearchedText(REST, text) for text in rest)]


def as_it_reads(text: SearchedText) -> Iterator[str | None]:
    """Yield a text as the row shows it, last; None before, as often as somebody else may have a turn."""
    if text.literal:
        blocks = literal_blocks(text.source)
    elif text.part == TEXT:
        stream = StreamingBlocks()
        for start in range(0, len(text.source), SLICE):
            stream.feed(text.source[start : start + SLICE])
            yield None
        stream.finish()
        blocks = stream.blocks
    elif text.part == THOUGHT:
        blocks = thought_blocks(text.source)
    elif text.part == REST:
        blocks = []
    else:
        blocks = code_chunks(visible(text.source), Block(CODE))
    yield "\n".join([block.text for block in blocks]) if text.part != REST else text.source
