"""What exported documents share: the line below a message, escaped Markdown."""

import re
from collections.abc import Mapping
from datetime import date, datetime

from app.core.files import NEW_PAGE
from app.core.formula_marks import IN_A_LINE, ON_LINES
from app.core.message import Attachment, Message, MessageState
from app.core.text import closed

# Markdown ignores an underscore inside a word, and an & that begins no entity.
# Without the closing bracket: between `\[` and `\]` is a formula.
_MARKS = re.compile(r"[\\`*\[<>|~$]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
# What could be code, HTML or a link if it is no formula after all.
_OTHER_THAN_FORMULA = re.compile(r"[`~]|<[A-Za-z/!?]|\]\(|https?:")
_LINE_BEGINS = re.compile(r"^(\d*)([#+=.)-])")


def moment(iso: str) -> str:
    """Return a moment in local time as people write it; a text that is not a moment unchanged."""
    try:
        local = datetime.fromisoformat(iso).astimezone()
        return f"{local:%Y-%m-%d %H:%M} (UTC{local.isoformat()[-6:]})"
    except ValueError:
        return iso


def is_day(text: str) -> bool:
    """Say whether a text is a date such as 2026-11-21."""
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return len(text) == 10


def named(lines: Mapping[str, str], prefix: str, code: str) -> str:
    """Return the text `<prefix>.<code>`; "unknown" for a code that only a file can have brought."""
    return lines.get(f"{prefix}.{code}", lines["unknown"])


def marks(message: Message, lines: Mapping[str, str]) -> list[str]:
    """Return the remarks below a message that was cut, failed, or carries a warning."""
    found = []
    if message.state == MessageState.STOPPED:
        found.append(lines["stopped"])
    if message.state == MessageState.FAILED and message.error:
        why = f"{message.error.kind.replace('_', ' ')}: {message.error.detail}".removesuffix(": ")
        found.append(lines["failed"].format(why=why))
    if message.state not in (
        MessageState.DONE,
        MessageState.FAILED,
        MessageState.STOPPED,
        MessageState.STREAMING,
    ):
        found.append(f"({lines['unknown']})")
    if message.state == MessageState.DONE and message.note:
        found.append(lines.get(f"note.{message.note}", f"({lines['unknown']})"))
    return found


def said_by(message: Message, lines: Mapping[str, str]) -> str:
    """Return who said a message: the user, a program in the user's place, or a model by its name."""
    if message.author.program:
        return lines["through_mcp"].format(name=message.author.program)
    return lines["user"] if message.by_user else message.author.name


def as_markdown(message: Message) -> str:
    """Return a message's text as Markdown that cannot affect its surroundings; the user's text reads as it was written."""
    return literal_markdown(message.content) if message.by_user else closed(message.content)


def literal_markdown(text: str) -> str:
    """Return Markdown that shows a text with every character and line as it is; formulas stay formulas."""
    parts, position = [], 0
    for match in ON_LINES.finditer(text):
        formula = " ".join(match[0].split())
        if not _OTHER_THAN_FORMULA.search(formula):
            parts += [_literal_lines(text[position : match.start()]), formula]
            position = match.end()
    return "\n\n".join(filter(None, [*parts, _literal_lines(text[position:])]))


def _literal_lines(text: str) -> str:
    lines = [_literal_line(line) for line in text.strip("\n").splitlines()]
    parts: list[str] = []
    for number, line in enumerate(lines):
        if line:
            # One empty line separates paragraphs; further ones are kept as lines.
            follows = bool(parts) and bool(lines[number - 1])
            parts.append(("\\\n" if follows else "\n\n" if parts else "") + line)
        elif number and not lines[number - 1]:
            parts.append("\n\n&nbsp;")
    return "".join(parts)


def _literal_line(line: str) -> str:
    words = line.strip()
    indent = len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())
    words = "".join(
        part if number % 2 and not _OTHER_THAN_FORMULA.search(part) else _MARKS.sub(r"\\\g<0>", part)
        for number, part in enumerate(IN_A_LINE.split(words))
    )
    return "&nbsp;" * indent + _LINE_BEGINS.sub(r"\g<1>\\\g<2>", words) if words else ""


def text_of(attachment: Attachment) -> str:
    """Return the text of an attachment; an empty line stands between its pages."""
    return attachment.text.replace(NEW_PAGE, "\n\n")
