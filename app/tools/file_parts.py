"""The tool that reads pages of attached files of which models get only the beginning."""

import re
from typing import Final

from app.core.files import pages_of
from app.core.texts import clean_text
from app.core.tool import FILE_PARTS, READ_FILE_PART, ToolContext, ToolError, ToolResult
from app.tools.declared import Declared

# Longer results are cut in requests.
MOST_CHARACTERS: Final = 18_000
_RANGE: Final = re.compile(r"\s*(\d{1,7})\s*(?:[-–]\s*(\d{1,7})\s*)?")


async def read_file_part(context: ToolContext, name: str, pages: str) -> ToolResult:
    """Read pages of an attached file of which only the beginning is in the conversation.

    Args:
        context: The session.
        name: The name of the file.
        pages: A page, or the first and the last page, such as "12" or "12-15".
    """
    attached = [item for message in context.messages() for item in message.attachments if item.text]
    wanted = " ".join(clean_text(name).split())
    found = [attachment for attachment in attached if " ".join(attachment.name.split()) == wanted]
    if not found:
        names = ", ".join(sorted({attachment.name for attachment in attached})) or "none"
        raise ToolError(f"read_file_part: there is no file {wanted[:200]!r}. Files: {names[:2_000]}.")
    # Of several files of one name the newest counts.
    return ToolResult(content=pages_text("read_file_part", found[-1].text, pages))


def pages_text(tool: str, text: str, pages: str) -> str:
    """Return pages of a text, each with its number before it, as many as one result holds. Raises
    ToolError.
    """
    texts = pages_of(text)
    given = _RANGE.fullmatch(pages)
    first, last = (int(given[1]), int(given[2] or given[1])) if given is not None else (0, 0)
    if not 1 <= first <= last or first > len(texts):
        raise ToolError(
            f"{tool}: argument `pages` must be a page or a range from 1 to {len(texts)}, not {pages[:60]!r}."
        )
    parts: list[str] = []
    length = 0
    for number, page in enumerate(texts[first - 1 : last], first):
        if parts and length + len(page) > MOST_CHARACTERS:
            parts.append(
                f"[Pages {number} to {min(last, len(texts))} did not fit: ask for them in another call.]"
            )
            break
        length += len(page)
        cut = page[:MOST_CHARACTERS]
        parts.append(f"[page {number} of {len(texts)}]\n{cut}{' …' * (len(cut) < len(page))}")
    return "\n\n".join(parts)


TOOLS: Final = (Declared(key=READ_FILE_PART, function=read_file_part, group=FILE_PARTS, repeatable=True),)
