"""Converts Markdown to harmless HTML, for the pages that sessions are exported to, and
to harmless Markdown (`tamed`).

Every character of the text is escaped, HTML stays text, pictures become links, and only web addresses are
links, each with its host beside it. Formulas are drawn.
"""

import re
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from typing import Any

import pyromark

from app.core.texts import bare_links, fenced, is_code, is_display, parsed_with_formulas, tex_of
from app.formulas import draw

_FORMS = pyromark.Options.ENABLE_TABLES | pyromark.Options.ENABLE_STRIKETHROUGH
_FORMS |= pyromark.Options.ENABLE_TASKLISTS | pyromark.Options.ENABLE_MATH
_MARKDOWN = pyromark.Markdown(options=_FORMS)
# Readers of Markdown without tables and formulas find pictures elsewhere.
_PLAIN = pyromark.Markdown()
_PICTURE = re.compile(rb"!(?=\[)")
_TAG_BEGINS = re.compile(rb"<(?=[A-Za-z/!?])")
_TRIES = 4
_TAGS = {
    "Paragraph": "p", "HtmlBlock": "p", "BlockQuote": "blockquote", "Item": "li", "Emphasis": "em",
    "Strong": "strong", "Strikethrough": "s", "Table": "table", "TableHead": "tr", "TableRow": "tr",
}  # fmt: skip
_SIDES = {"Center": "center", "Right": "right"}
_WORDS = {"SoftBreak": "<br>", "HardBreak": "<br>", "Rule": "<hr>"}
# Browsers end the host at a backslash too; the part before an @ is not the host.
_HOST = re.compile(r"https?://(?:[^/?#\\\s@]*@)*([^/?#\\\s@]+)(?=[/?#\\]|$)", re.IGNORECASE)


def as_html(text: str) -> str:
    """Return a text of Markdown as HTML."""
    return "".join(_pieces(text))


def tamed(text: str) -> str:
    """Return Markdown in which pictures are links and HTML is text, so that nothing is loaded
    where it is shown.

    Code stays as it is. A text in which ever more is found becomes a block of code.
    """
    text = text.encode("utf-8", "replace").decode("utf-8")
    for _ in range(_TRIES):
        before, text = text, _tamed(_tamed(text, _MARKDOWN), _PLAIN)
        if text == before:
            return text
    return fenced(text)


def _tamed(text: str, parser: pyromark.Markdown) -> str:
    source, pictures, parts, done = text.encode("utf-8"), set[int](), list[bytes](), 0
    if not (_PICTURE.search(source) or _TAG_BEGINS.search(source)):
        return text

    def without(mark: re.Match[bytes]) -> bytes:
        """Return what stands for the mark of a picture; what is none here may be one beside other
        messages.
        """
        place = done + mark.start()
        return b"" if place in pictures and source[place - 1 : place] != b"!" else b"! "

    for event, place in parser.events_with_range(text):
        (name, value), start, end = _named(event), place["start"], place["end"]
        if name == "Start" and _named(value)[0] == "Image":
            pictures.add(start)
        is_html = name in ("Html", "InlineHtml")
        if start >= done and (is_html or is_code(event)):
            parts.append(_PICTURE.sub(without, source[done:start]))
            parts.append(_TAG_BEGINS.sub(rb"\\<", source[start:end]) if is_html else source[start:end])
            done = end
    return b"".join((*parts, _PICTURE.sub(without, source[done:]))).decode("utf-8")


def _pieces(text: str) -> Iterator[str]:
    open_ones: list[tuple[str, str]] = []
    alignments: Sequence[str] = ()
    column = 0
    text = text.encode("utf-8", "replace").decode("utf-8")
    events = parsed_with_formulas(text, _MARKDOWN.events_with_range)
    for name, values in groupby((_named(event) for event, _ in events), key=lambda event: event[0]):
        if name == "Text":
            # The parser splits a text where a mark might have stood.
            words = "".join(value for _, value in values)
            literal = any(part in ("CodeBlock", "Link", "Image") for part, _ in open_ones)
            yield escape(words) if literal else _with_links(words)
            continue
        for _, value in values:
            match name:
                case "Start":
                    part, detail = _named(value)
                    cell = "th" if open_ones and open_ones[-1][0] == "TableHead" else "td"
                    opening, closing = _tags(part, detail, cell)
                    if part == "Table":
                        alignments = detail
                    elif part in ("TableHead", "TableRow"):
                        column = 0
                    elif part == "TableCell":
                        side = _SIDES.get(alignments[column], "")
                        opening = f'<{cell} style="text-align:{side}">' if side else opening
                        column += 1
                    open_ones.append((part, closing))
                    yield opening
                case "End":
                    yield open_ones.pop()[1]
                case "Formula":
                    yield _formula(value)
                case "Code":
                    yield f"<code>{escape(value)}</code>"
                case "TaskListMarker":
                    yield "☑ " if value else "☐ "
                case _:
                    yield _WORDS.get(name) or escape(value)


def _formula(source: str) -> str:
    """Return a formula as a picture with its source as the text for it."""
    alone = is_display(source)
    formula = draw(tex_of(source), display=alone)
    if formula is None:
        return f"<code>{escape(source)}</code>"
    size = f"width:{formula.width:.3f}em;height:{formula.ascent + formula.descent:.3f}em;max-width:100%"
    place = "display:block;margin:.6em auto" if alone else f"vertical-align:{-formula.descent:.3f}em"
    # The text of a page is as large as that of a formula only if its letters are.
    return formula.svg.replace(
        ">", f' role="img" style="font-size:1.1em;{size};{place}"><title>{escape(source)}</title>', 1
    )


def _named(event: Any) -> tuple[str, Any]:
    """Return the name of a parser event and its details."""
    return (event, None) if isinstance(event, str) else next(iter(event.items()))


def _tags(part: str, detail: Any, cell: str) -> tuple[str, str]:
    """Return the opening and the closing tag of a part."""
    match part:
        case "Heading":
            tag = f"h{min(int(detail['level'][1]) + 2, 6)}"
        case "CodeBlock":
            return '<pre class="code">', "</pre>"
        case "List":
            return ("<ul>", "</ul>") if detail is None else (f'<ol start="{detail}">', "</ol>")
        case "TableCell":
            tag = cell
        case "Link" | "Image":
            return _link(detail["dest_url"])
        case _:
            tag = _TAGS[part]
    return f"<{tag}>", f"</{tag}>"


def _link(address: str) -> tuple[str, str]:
    host = _HOST.match(address)
    if host is None:
        return "", f" ({escape(address)})"
    # The link's text ends here, also if it changes the direction of writing.
    return f'<a href="{escape(address)}"><bdi>', f"</bdi></a> ({escape(host[1])})"


def _with_links(words: str) -> str:
    pieces = []
    position = 0
    for start, end in bare_links(words):
        address = escape(words[start:end])
        pieces += [escape(words[position:start]), f'<a href="{address}">{address}</a>']
        position = end
    return "".join([*pieces, escape(words[position:])])
