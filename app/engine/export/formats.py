"""How documents are written: as Markdown, or as one page of HTML that loads nothing.

Also what documents share: the line below a message, escaped Markdown.
"""

import base64
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from html import escape
from typing import Any

from app.core import texts as core_texts
from app.core.files import NEW_PAGE, kind_of
from app.core.message import Attachment, Message, MessageState
from app.core.session import DOCX, PDF, ExportFormat
from app.core.texts import IN_A_LINE, ON_LINES, Texts, closed, escape_markdown, fenced, with_lower_headings
from app.engine.export.document import Chart, DocumentHead, DocumentPart, Entry, ListItem, Section
from app.engine.prompts import Lines

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


def named(lines: Lines, prefix: str, code: str) -> str:
    """Return the text `<prefix>.<code>`; "unknown" for a code that only a file can have brought."""
    return lines.get(f"{prefix}.{code}", lines["unknown"])


def marks(message: Message, lines: Lines, texts: Texts) -> list[str]:
    """Return the remarks below a message that was cut, failed, or carries a warning."""
    found = []
    if message.state == MessageState.STOPPED:
        found.append(lines["stopped"])
    if message.state == MessageState.FAILED and message.error:
        why = f"{texts.named('failure', message.error.kind)} {message.error.detail}"
        found.append(lines["failed"].format(why=why.rstrip()))
    if message.state not in tuple(MessageState):
        found.append(f"({lines['unknown']})")
    if message.state == MessageState.DONE and message.note:
        found.append(lines.get(f"note.{message.note}", f"({lines['unknown']})"))
    return found


def said_by(message: Message, lines: Lines) -> str:
    """Return who said a message: the user, a program in the user's place, or a model by its name."""
    if message.author.program:
        return lines["through_mcp"].format(name=message.author.program)
    return lines["user"] if message.by_user else message.author.name


def message_as_markdown(message: Message) -> str:
    """Return a message's text as Markdown that cannot affect its surroundings; the user's text reads
    as it was written.
    """
    return literal_markdown(message.content) if message.by_user else closed(message.content)


def message_entry(message: Message, lines: Lines, texts: Texts, **fields: Any) -> Entry:
    """Return what a message shows: its text, its attachments and the remarks below it."""
    body, notes = message_as_markdown(message), tuple(marks(message, lines, texts))
    return Entry(body=body, notes=notes, files=message.attachments, **fields)


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


def as_markdown(parts: Iterable[DocumentPart], tame: Callable[[str], str]) -> Iterator[str]:
    """Yield a document as Markdown, part by part; sub-agents are nested quotes.

    `tame` makes links of pictures and text of HTML.

    Citations are links to an HTML anchor, which is what GitHub, VS Code and pandoc follow; others leave it
    out.
    """
    cited: set[str] = set()
    for part in parts:
        match part:
            case DocumentHead():
                lines = [f"# {escape_markdown(part.title)}", ""]
                lines += [f"- {label}: {escape_markdown(value)}" for label, value in part.facts]
            case Section():
                cited.update(cite.anchor for line in part.lines for cite in line.cites)
                lines = ["", "", f"## {escape_markdown(part.heading)}"]
                lines += ["", escape_markdown(part.text)] if part.text else []
                lines += ["", *(_item(line, tame) for line in part.lines)] if part.lines else []
                lines += files_as_markdown(part.files)
            case Entry():
                anchor = f'<a id="{part.anchor}"></a>' if part.anchor in cited else ""
                heading = f"**{escape_markdown(part.heading)}**"
                quote = "> " * part.depth
                told = entry_text(replace(part, body=tame(part.body)))
                text = f"{anchor}{heading}\n\n{told}".rstrip().split("\n")
                lines = ["", "", *(f"{quote}{line}".rstrip() for line in text)]
        yield "\n".join(lines).rstrip()
    yield "\n"


def entry_text(entry: Entry) -> str:
    """Return what stands below the heading of an entry, as Markdown."""
    lines = with_lower_headings(entry.body).split("\n") if entry.body else []
    # An entry without text begins where its text would be.
    lines += files_as_markdown(entry.files)[0 if entry.body else 1 :]
    lines += [""] if lines and entry.notes else []
    return "\n".join([*lines, *(f"*{escape_markdown(note)}*" for note in entry.notes)])


def files_as_markdown(attachments: Sequence[Attachment]) -> list[str]:
    """Return the lines of attachments: their names, and the content of texts."""
    lines = []
    for attachment in attachments:
        lines += ["", f"*{escape_markdown(f'[{attachment.name}]')}*"]
        lines += ["", *fenced(text_of(attachment)).split("\n")] if attachment.text else []
    return lines


def _item(line: ListItem, tame: Callable[[str], str]) -> str:
    box = "" if line.done is None else "[x] " if line.done else "[ ] "
    cites = (f"[{_link_text(cite.text)}](#{cite.anchor})" for cite in line.cites)
    head = box + " ".join(filter(None, (escape_markdown(line.text), *cites)))
    lines = "\n\n".join(filter(None, (head, with_lower_headings(tame(line.body)).strip()))).split("\n")
    return "\n".join([f"- {lines[0]}", *(f"  {below}" if below else "" for below in lines[1:])])


def _link_text(text: str) -> str:
    """Return the text of a link, which its own brackets would end."""
    return escape_markdown(text.strip("[]")).replace("]", "\\]")


# As what a file of Markdown can be saved too.
FILE_FORMATS = (ExportFormat.HTML, PDF, DOCX)
_HEADING = re.compile(r"<(/?)h([3-6])>")


def is_markdown(path: str) -> bool:
    """Say whether a file is Markdown, by its name."""
    return path.casefold().endswith((".md", ".markdown"))


def page_of(text: str, title: str, render: Callable[[str], str]) -> str:
    """Return a text of Markdown as a page; `render` turns it into HTML, in which headings begin
    with the third level.
    """
    body = _HEADING.sub(lambda found: f"<{found[1]}h{int(found[2]) - 2}>", render(text))
    return f"{_opened(title, core_texts.language_of(text))}{body}</body></html>\n"


CHART_WIDTH, CHART_HEIGHT = 620, 220

_LINE, _INK = "#d9d5cb", "#66635b"
_STYLE = (
    "body{font:16px/1.55 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#1f1e1b}"
    "h2{font-size:1.05rem;margin-top:2rem}"
    "article{border-left:3px solid #0e8a6d;padding-left:.8rem;margin:1rem 0}"
    "article{overflow-wrap:break-word;word-break:keep-all}article>p{margin:.3rem 0 .6rem}"
    "article:target{background:#f6f4ef}.meta{color:#66635b;font-size:.85rem}"
    "pre{white-space:pre-wrap;font:.85rem/1.5 monospace;background:#f6f4ef;padding:.6rem}"
    "code{font:.9em monospace;background:#f6f4ef}blockquote{margin:.4rem 0;padding-left:.8rem;color:#66635b;"
    "border-left:2px solid #d9d5cb}table{border-collapse:collapse}th,td{border:1px solid #d9d5cb;"
    "padding:.2rem .6rem;text-align:left}hr{border:0;border-top:1px solid #d9d5cb}"
    "img{max-width:100%}p,li,h1,h2,h3,h4,td,th,strong{unicode-bidi:plaintext}"
)
_LEFT, _TOP, _FOOT, _RIGHT = 70, 16, 190, 20
_APART = 2.5


def as_html(parts: Iterable[DocumentPart], render: Callable[[str], str]) -> Iterator[str]:
    """Yield a document as a page, part by part; `render` turns Markdown into HTML."""
    for part in parts:
        match part:
            case DocumentHead():
                yield _head(part)
            case Section():
                text = f"<p>{escape(part.text)}</p>" if part.text else ""
                items = "".join(_html_item(line, render) for line in part.lines)
                listed = f"<ul>{items}</ul>" if items else ""
                chart = chart_svg(part.chart) if part.chart is not None else ""
                yield f"<h2>{escape(part.heading)}</h2>{text}{listed}{chart}{_files(part.files)}"
            case Entry():
                yield _entry(part, render)
    yield "</body></html>\n"


def chart_svg(chart: Chart) -> str:
    """Return a chart as an SVG picture of CHART_WIDTH × CHART_HEIGHT, in the colours of light paper."""
    gap = (_FOOT - _TOP - 10) / max(len(chart.levels) - 1, 1)
    heights = [_TOP + place * gap for place in range(len(chart.levels))]
    lines = []
    for height, word in zip(heights, chart.levels, strict=True):
        ends = f'x1="{_LEFT}" x2="{CHART_WIDTH - _RIGHT}" y1="{height:.0f}" y2="{height:.0f}"'
        lines.append(f'<line {ends} stroke="{_LINE}"/>')
        lines.append(f'<text x="{_LEFT - 10}" y="{height + 4:.0f}" text-anchor="end">{escape(word)}</text>')
    step = (CHART_WIDTH - _RIGHT - _LEFT - 20) / max(len(chart.columns) - 1, 1)
    places = [_LEFT + 10 + number * step for number in range(len(chart.columns))]
    for x, column in zip(places, chart.columns, strict=True):
        lines.append(f'<text x="{x:.0f}" y="{_FOOT + 18}" text-anchor="middle">{escape(column)}</text>')
    for place, curve in enumerate(chart.curves):
        # Curves that meet stay apart.
        shift = _APART * (place - (len(chart.curves) - 1) / 2)
        votes = zip(places, curve.votes, strict=True)
        points = [(x, heights[vote] + shift) for x, vote in votes if vote is not None]
        path = " ".join(f"{x:.0f},{y:.1f}" for x, y in points)
        lines.append(f'<polyline points="{path}" fill="none" stroke="{curve.colour}" stroke-width="2"/>')
        lines += [f'<circle cx="{x:.0f}" cy="{y:.1f}" r="3.5" fill="{curve.colour}"/>' for x, y in points]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {CHART_WIDTH} {CHART_HEIGHT}" role="img" '
        f'font-size="12" fill="{_INK}"><title>{escape(chart.title)}</title>{"".join(lines)}</svg>'
    )


def _head(head: DocumentHead) -> str:
    facts = "".join(f"<div>{escape(label)}: {escape(value)}</div>" for label, value in head.facts)
    opened = _opened(head.title, head.language)
    return f'{opened}<h1>{escape(head.title)}</h1><div class="meta">{facts}</div>'


def _opened(title: str, language: str) -> str:
    return (
        f'<!doctype html>\n<html lang="{escape(language)}"><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'; img-src data:\">"
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>"
    )


def _html_item(line: ListItem, render: Callable[[str], str]) -> str:
    box = "" if line.done is None else "☑ " if line.done else "☐ "
    colour = f' style="color:{line.colour}"' if line.colour else ""
    cites = (f'<a href="#{escape(cite.anchor)}">{escape(cite.text)}</a>' for cite in line.cites)
    head = " ".join(filter(None, (box + escape(line.text), *cites)))
    return f"<li{colour}>{head}{render(line.body) if line.body else ''}</li>"


def _entry(entry: Entry, render: Callable[[str], str]) -> str:
    anchor = f' id="{escape(entry.anchor)}"' if entry.anchor else ""
    notes = "".join(f'<div class="meta">{escape(note)}</div>' for note in entry.notes)
    return (
        f'<article{anchor} style="margin-left:{min(entry.depth, 8) * 26}px;border-color:{entry.colour}">'
        f'<strong style="color:{entry.colour}">{escape(entry.heading)}</strong>'
        f"{render(entry.body)}{_files(entry.files)}{notes}</article>"
    )


def _files(attachments: Sequence[Attachment]) -> str:
    """Return attachments: their names, and the content of texts and pictures."""
    parts = []
    for attachment in attachments:
        parts.append(f'<div class="meta">{escape(f"[{attachment.name}]")}</div>')
        parts.append(f'<pre class="file">{escape(text_of(attachment))}</pre>' if attachment.text else "")
        source = _picture(attachment)
        parts.append(f'<img alt="{escape(attachment.name)}" src="{source}">' if source else "")
    return "".join(parts)


def _picture(attachment: Attachment) -> str:
    """Return a picture as a data: address; "" where its content is not of its type."""
    try:
        data = base64.b64decode(attachment.data, validate=True)
    except ValueError:
        return ""
    if (kind := kind_of(data)) != attachment.media_type or not kind:
        return ""
    return f"data:{attachment.media_type};base64,{base64.b64encode(data).decode()}"
