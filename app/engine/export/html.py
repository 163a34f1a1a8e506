"""Documents as one page of HTML that loads nothing."""

import base64
import binascii
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape

from app.core.message import Attachment
from app.core.verdict import AGAINST, FOR
from app.engine.export.document import Chart, DocumentHead, DocumentPart, Entry, ListItem, Section
from app.engine.export.parts import text_of

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
    "img{max-width:100%}"
)
_PICTURES = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
}
"""The kinds of pictures a page may hold, and how their files begin: none of them can hold a script."""
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
                items = "".join(map(_item, part.lines))
                listed = f"<ul>{items}</ul>" if items else ""
                chart = chart_svg(part.chart) if part.chart is not None else ""
                yield f"<h2>{escape(part.heading)}</h2>{text}{listed}{chart}{_files(part.files)}"
            case Entry():
                yield _entry(part, render)
    yield "</body></html>\n"


def chart_svg(chart: Chart) -> str:
    """Return a chart as an SVG picture of CHART_WIDTH × CHART_HEIGHT, in the colours of light paper."""
    lines = []
    for level in range(AGAINST, FOR + 1):
        y, dashed = _y(level), ' stroke-dasharray="2 4"' if level % 2 else ""
        lines.append(
            f'<line x1="{_LEFT}" x2="{CHART_WIDTH - _RIGHT}" y1="{y}" y2="{y}" stroke="{_LINE}"{dashed}/>'
        )
    for level, word in zip((FOR, 0, AGAINST), chart.levels, strict=True):
        lines.append(f'<text x="{_LEFT - 10}" y="{_y(level) + 4}" text-anchor="end">{escape(word)}</text>')
    step = (CHART_WIDTH - _RIGHT - _LEFT - 20) / max(len(chart.columns) - 1, 1)
    places = [_LEFT + 10 + number * step for number in range(len(chart.columns))]
    for x, column in zip(places, chart.columns, strict=True):
        lines.append(f'<text x="{x:.0f}" y="{_FOOT + 18}" text-anchor="middle">{escape(column)}</text>')
    for place, curve in enumerate(chart.curves):
        # Curves that meet stay apart.
        shift = _APART * (place - (len(chart.curves) - 1) / 2)
        points = [
            (x, _y(vote) + shift) for x, vote in zip(places, curve.votes, strict=True) if vote is not None
        ]
        path = " ".join(f"{x:.0f},{y:.1f}" for x, y in points)
        lines.append(f'<polyline points="{path}" fill="none" stroke="{curve.colour}" stroke-width="2"/>')
        lines += [f'<circle cx="{x:.0f}" cy="{y:.1f}" r="3.5" fill="{curve.colour}"/>' for x, y in points]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {CHART_WIDTH} {CHART_HEIGHT}" role="img" '
        f'font-size="12" fill="{_INK}"><title>{escape(chart.title)}</title>{"".join(lines)}</svg>'
    )


def _y(level: float) -> float:
    """Return the height of a vote in a chart."""
    return _TOP + (FOR - level) * (_FOOT - _TOP - 10) / (FOR - AGAINST)


def _head(head: DocumentHead) -> str:
    title = escape(head.title)
    facts = "".join(f"<div>{escape(label)}: {escape(value)}</div>" for label, value in head.facts)
    return (
        f'<!doctype html>\n<html lang="{escape(head.language)}"><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'; img-src data:\">"
        f"<title>{title}</title><style>{_STYLE}</style></head><body><h1>{title}</h1>"
        f'<div class="meta">{facts}</div>'
    )


def _item(line: ListItem) -> str:
    box = "" if line.done is None else "☑ " if line.done else "☐ "
    colour = f' style="color:{line.colour}"' if line.colour else ""
    cites = (f'<a href="#{escape(one.anchor)}">{escape(one.text)}</a>' for one in line.cites)
    return f"<li{colour}>{' '.join(filter(None, (box + escape(line.text), *cites)))}</li>"


def _entry(entry: Entry, render: Callable[[str], str]) -> str:
    anchor = f' id="{escape(entry.anchor)}"' if entry.anchor else ""
    notes = "".join(f'<div class="meta">{escape(note)}</div>' for note in entry.notes)
    return (
        f'<article{anchor} style="margin-left:{min(entry.depth, 8) * 1.6:.1f}rem;border-color:{entry.colour}">'
        f'<strong style="color:{entry.colour}">{escape(entry.heading)}</strong>'
        f"{render(entry.body)}{_files(entry.files)}{notes}</article>"
    )


def _files(attachments: Sequence[Attachment]) -> str:
    """Return attachments: their names, and the content of texts and pictures."""
    parts = []
    for one in attachments:
        parts.append(f'<div class="meta">{escape(f"[{one.name}]")}</div>')
        parts.append(f'<pre class="file">{escape(text_of(one))}</pre>' if one.text else "")
        source = _picture(one)
        parts.append(f'<img alt="{escape(one.name)}" src="{source}">' if source else "")
    return "".join(parts)


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
