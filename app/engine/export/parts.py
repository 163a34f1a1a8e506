"""What exported documents share: the page, the line below a message, attachments, sub-agents, escaped Markdown."""

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from html import escape

from app.core.files import NEW_PAGE
from app.core.formula_marks import IN_A_LINE, ON_LINES
from app.core.message import Attachment, Message, MessageState, ToolCall
from app.engine.importing.foreign import fenced

_STYLE = (
    "body{font:16px/1.55 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#1f1e1b}"
    "h2{font-size:.8rem;letter-spacing:.06em;text-transform:uppercase;color:#66635b;margin-top:2rem}"
    "article{border-left:3px solid #0e8a6d;padding-left:.8rem;margin:1rem 0}"
    "article{overflow-wrap:break-word;word-break:keep-all}article>p{margin:.3rem 0 .6rem}"
    ".meta{color:#66635b;font-size:.85rem}"
    "pre{white-space:pre-wrap;font:.85rem/1.5 monospace;background:#f6f4ef;padding:.6rem}"
    "code{font:.9em monospace;background:#f6f4ef}blockquote{margin:.4rem 0;padding-left:.8rem;color:#66635b;"
    "border-left:2px solid #d9d5cb}table{border-collapse:collapse}th,td{border:1px solid #d9d5cb;"
    "padding:.2rem .6rem;text-align:left}hr{border:0;border-top:1px solid #d9d5cb}"
    "img{max-width:100%}"
)
# As in the window's light theme.
_SPEAKERS = ("#0C7A60", "#AB5030", "#2466D1", "#7A4FC4", "#8A6100", "#B03A78", "#00728A", "#5B6B1F")
USER, QUIET = "#1f1e1b", "#66635b"
PAGE_END = "</body></html>\n"
# Markdown ignores an underscore inside a word, and an & that begins no entity.
# Without the closing bracket: between `\[` and `\]` is a formula.
_MARKS = re.compile(r"[\\`*\[<>|~$]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
# What could be code, HTML or a link if it is no formula after all.
_OTHER_THAN_FORMULA = re.compile(r"[`~]|<[A-Za-z/!?]|\]\(|https?:")
_LINE_BEGINS = re.compile(r"^(\d*)([#+=.)-])")
_PICTURES = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
}
"""The kinds of pictures a page may hold, and how their files begin: none of them can hold a script."""


def page_head(title: str, language: str, facts: Sequence[tuple[str, str]]) -> str:
    """Return the start of a page that loads nothing; HTML follows, and PAGE_END."""
    heading = escape(title)
    lines = "".join(f"<div>{escape(label)}: {escape(value)}</div>" for label, value in facts)
    return (
        f'<!doctype html>\n<html lang="{escape(language)}"><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'; img-src data:\">"
        f"<title>{heading}</title><style>{_STYLE}</style></head><body><h1>{heading}</h1>"
        f'<div class="meta">{lines}</div>'
    )


def colour_of(place: int) -> str:
    """Return the colour of a speaker by the place in the order of speaking."""
    return _SPEAKERS[place % len(_SPEAKERS)]


def article(heading: str, body: str, *, colour: str, anchor: str = "", depth: int = 0) -> str:
    """Return a part of a page in the colour of its speaker; `body` is HTML, `anchor` what links lead to."""
    place = f' id="{escape(anchor)}"' if anchor else ""
    return (
        f'<article{place} style="margin-left:{min(depth, 8) * 1.6:.1f}rem;border-color:{colour}">'
        f'<strong style="color:{colour}">{escape(heading)}</strong>{body}</article>'
    )


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


def files_as_markdown(attachments: Sequence[Attachment]) -> list[str]:
    """Return the lines of attachments: their names, and the content of texts."""
    lines = []
    for one in attachments:
        lines += ["", f"*{escape_markdown(f'[{one.name}]')}*"]
        lines += ["", *fenced(_without_new_pages(one)).split("\n")] if one.text else []
    return lines


def files_as_html(attachments: Sequence[Attachment]) -> str:
    """Return attachments as HTML: their names, and the content of texts and pictures."""
    parts = []
    for one in attachments:
        parts.append(f'<div class="meta">{escape(f"[{one.name}]")}</div>')
        parts.append(f'<pre class="file">{escape(_without_new_pages(one))}</pre>' if one.text else "")
        source = _picture(one)
        parts.append(f'<img alt="{escape(one.name)}" src="{source}">' if source else "")
    return "".join(parts)


def _without_new_pages(attachment: Attachment) -> str:
    return attachment.text.replace(NEW_PAGE, "\n\n")


def _picture(attachment: Attachment) -> str:
    """Return a picture as a data: address; "" where its content is not of its type."""
    starts = _PICTURES.get(attachment.media_type, ())
    try:
        data = base64.b64decode(attachment.data, validate=True)
    except (ValueError, binascii.Error):
        return ""
    if not data.startswith(starts) or (attachment.media_type == "image/webp" and data[8:12] != b"WEBP"):
        return ""
    return f"data:{attachment.media_type};base64,{base64.b64encode(data).decode()}"


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


def closed(text: str) -> str:
    """Return Markdown with its open code fence closed, so that nothing after it becomes code."""
    fence = ""
    for line in text.splitlines():
        mark = line.strip()
        run = mark[: len(mark) - len(mark.lstrip(mark[:1]))] if mark[:1] in ("`", "~") else ""
        if not fence and len(run) >= 3 and not (run[0] == "`" and "`" in mark[len(run) :]):
            fence = run
        elif fence and mark == run and run[:1] == fence[0] and len(run) >= len(fence):
            fence = ""
    return f"{text.rstrip()}\n{fence}" if fence else text


def escape_markdown(text: str) -> str:
    """Return a text that Markdown shows as it is, on one line."""
    line = " ".join(text.split())
    return "".join(f"\\{character}" if character in "\\`*_[<>#|" else character for character in line)


Item = Message | tuple[Message, ToolCall]


def in_tree(messages: Iterable[Message]) -> Iterator[Item]:
    """Yield messages so that a sub-agent's turn and the result follow their (message, call)."""
    found = list(messages)
    about: dict[tuple[str | None, str | None], list[Message]] = {}
    for message in found:
        if message.parent_call_id and message.parent_turn_id:
            about.setdefault((message.parent_turn_id, message.parent_call_id), []).append(message)
    results: dict[tuple[str, str], list[Message]] = {}
    for message in found:
        if message.tool_call_id:
            results.setdefault((message.turn_id, message.tool_call_id), []).append(message)
    told: set[str] = set()

    def tell(some: Iterable[Message]) -> Iterator[Item]:
        for message in some:
            if message.id in told:
                continue
            told.add(message.id)
            yield message
            for call in message.tool_calls:
                yield message, call
                yield from tell(about.get((message.turn_id, call.id), ()))
                yield from tell(results.get((message.turn_id, call.id), ()))

    below = {one.id for some in about.values() for one in some}
    yield from tell(one for one in found if one.id not in below)
    yield from tell(found)
