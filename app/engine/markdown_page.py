"""Markdown as HTML that can do nothing, for the pages that sessions are exported to.

Every character of the text is escaped; what is not understood stays as it was written. Work grows with the
length of the text alone, whatever is in it.
"""

import re
from collections.abc import Iterator
from html import escape

_FENCE = re.compile(r"(\s*)(`{3,}|~{3,})([^`]*)")
_HEADING = re.compile(r" {0,3}(#{1,6})\s+(.*?)[\s#]*")
_RULE = re.compile(r" {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})")
_QUOTE = re.compile(r" {0,3}> ?")
_ITEM = re.compile(r"(\s*)([-*+]|\d{1,9}[.)])\s+(.*)")
_DIVIDER = re.compile(r"\s*\|?(?:\s*:?-+:?\s*\|)+(?:\s*:?-+:?\s*)?")
_TICKS = {"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "}
_MOST_QUOTES = 8

_CODE = r"(?<!`)`([^`\n]+)`(?!`)"
_LINK = r"!?\[([^\[\]\n]+)\]\((https?://[^\s()<>]+)\)"
_ADDRESS = r"(?<!\w)(https?://[^\s<>()\[\]*`|\"']*[\w/])"
_TOKEN = re.compile(rf"\\([!-/:-@\[-`{{-~])|{_CODE}|{_LINK}|{_ADDRESS}")
_STYLES = (
    (re.compile(r"\*\*(?=[^\s*])([^*\n]+)(?<=\S)\*\*"), "strong"),
    (re.compile(r"(?<!\w)__(?=[^\s_])([^_\n]+)(?<=\S)__(?!\w)"), "strong"),
    (re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]+)(?<=\S)\*(?![\w*])"), "em"),
    (re.compile(r"(?<!\w)_(?=[^\s_])([^_\n]+)(?<=\S)_(?!\w)"), "em"),
    (re.compile(r"~~(?=[^\s~])([^~\n]+)(?<=\S)~~"), "s"),
)
# A text without any of these has nothing to look for.
_SPECIAL = re.compile("[*_~`\\\\:\ue000\ue001]")
# Stand for what is done already while the styles around it are looked for.
_OPEN, _CLOSE = "\ue000", "\ue001"
_KEPT = re.compile(f"{_OPEN}(\\d+){_CLOSE}")


def as_html(text: str, depth: int = 0) -> str:
    """Return a text of Markdown as HTML; `depth` is in how many quotes it stands."""
    return "".join(_blocks(text.splitlines(), depth))


def _blocks(lines: list[str], depth: int) -> Iterator[str]:
    at = 0
    while at < len(lines):
        line, start = lines[at], at
        if not line.strip():
            at += 1
        elif fence := _FENCE.fullmatch(line):
            at = _end_of_code(lines, at, fence[2])
            yield f'<pre class="code">{escape(_unindented(lines[start + 1 : at], len(fence[1])))}</pre>'
            at += 1
        elif heading := _HEADING.fullmatch(line):
            level = min(len(heading[1]) + 2, 6)
            yield f"<h{level}>{_inline(heading[2])}</h{level}>"
            at += 1
        elif _RULE.fullmatch(line):
            yield "<hr>"
            at += 1
        elif _QUOTE.match(line) and depth < _MOST_QUOTES:
            while at < len(lines) and _QUOTE.match(lines[at]):
                at += 1
            inner = "\n".join(_QUOTE.sub("", one, count=1) for one in lines[start:at])
            yield f"<blockquote>{as_html(inner, depth + 1)}</blockquote>"
        elif _is_table(lines, at):
            while at < len(lines) and "|" in lines[at]:
                at += 1
            yield _table([lines[start], *lines[start + 2 : at]])
        elif _ITEM.fullmatch(line):
            while at < len(lines) and _goes_on(lines, at):
                at += 1
            yield from _list(lines[start:at])
        else:
            at += 1
            while at < len(lines) and not _begins(lines, at, depth):
                at += 1
            yield f"<p>{'<br>'.join(_inline(one.strip()) for one in lines[start:at])}</p>"


def _begins(lines: list[str], at: int, depth: int) -> bool:
    """Say whether something else than a paragraph begins here."""
    line = lines[at]
    return (
        not line.strip()
        or any(one.fullmatch(line) for one in (_FENCE, _HEADING, _RULE, _ITEM))
        or (_QUOTE.match(line) is not None and depth < _MOST_QUOTES)
        or _is_table(lines, at)
    )


def _end_of_code(lines: list[str], at: int, fence: str) -> int:
    """Return where a block of code ends: at its closing fence, or with the text."""
    for place in range(at + 1, len(lines)):
        line = lines[place].strip()
        if len(line) >= len(fence) and not line.strip(fence[0]):
            return place
    return len(lines)


def _unindented(lines: list[str], indent: int) -> str:
    return "\n".join(one[indent:] if not one[:indent].strip() else one for one in lines)


def _is_table(lines: list[str], at: int) -> bool:
    return "|" in lines[at] and at + 1 < len(lines) and _DIVIDER.fullmatch(lines[at + 1]) is not None


def _table(lines: list[str]) -> str:
    rows = [[_inline(cell.strip()) for cell in one.strip().strip("|").split("|")] for one in lines]
    head = "".join(f"<th>{cell}</th>" for cell in rows[0])
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows[1:])
    return f"<table><tr>{head}</tr>{body}</table>"


def _goes_on(lines: list[str], at: int) -> bool:
    """Say whether a list goes on in this line: with an item, with more of one, or after one blank line."""
    line = lines[at]
    if not line.strip():
        return at + 1 < len(lines) and _ITEM.fullmatch(lines[at + 1]) is not None
    if _RULE.fullmatch(line) or _FENCE.fullmatch(line):
        return False
    return _ITEM.fullmatch(line) is not None or line.startswith((" ", "\t"))


def _list(lines: list[str]) -> Iterator[str]:
    """Yield a list; what is indented more than the item before is a list in it."""
    open_ones: list[tuple[int, str]] = []
    for line in filter(str.strip, lines):
        item = _ITEM.fullmatch(line)
        if item is None:
            yield f"<br>{_inline(line.strip())}"
            continue
        indent, mark, text = len(item[1].expandtabs(4)), item[2], item[3]
        while open_ones and indent < open_ones[-1][0] and len(open_ones) > 1:
            yield f"</li></{open_ones.pop()[1]}>"
        if not open_ones or (indent > open_ones[-1][0] + 1 and len(open_ones) < _MOST_QUOTES):
            kind = "ol" if mark[0].isdigit() else "ul"
            open_ones.append((indent, kind))
            yield f'<ol start="{int(mark[:-1])}">' if kind == "ol" else "<ul>"
        else:
            yield "</li>"
        tick = _TICKS.get(text[:4], "")
        yield f"<li>{tick}{_inline(text[4:] if tick else text)}"
    while open_ones:
        yield f"</li></{open_ones.pop()[1]}>"


def _inline(text: str) -> str:
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        mark, code, label, target, address = match.groups()
        if mark is not None:
            kept.append(escape(mark))
        elif code is not None:
            kept.append(f"<code>{escape(code)}</code>")
        elif label is not None:
            # Where a link leads is read beside it, whatever it calls itself.
            host = target.split("/")[2].rpartition("@")[2]
            kept.append(f'<a href="{escape(target)}">{escape(label)}</a> ({escape(host)})')
        else:
            kept.append(f'<a href="{escape(address)}">{escape(address)}</a>')
        return f"{_OPEN}{len(kept) - 1}{_CLOSE}"

    if not _SPECIAL.search(text):
        return escape(text)
    text = escape(_TOKEN.sub(keep, text.replace(_OPEN, "").replace(_CLOSE, "")))
    for style, tag in _STYLES:
        text = style.sub(rf"<{tag}>\1</{tag}>", text)
    return _KEPT.sub(lambda match: kept[int(match[1])], text)
