r"""Formulas in Markdown: `$…$`, `$$…$$`, `\(…\)` and `\[…\]`.

The parser of Markdown knows dollars only, and would take a line of a formula for a list or a heading. It is
therefore given a text in which brackets are dollars and such formulas stand on one line. Both take as many bytes,
so that the places it tells are those of the text itself, in which the formula is then looked up.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from app.core.korean_emphasis import parsed

ON_LINES = re.compile(r"^[ \t]*\$\$(?:(?!\n[ \t]*\n|\$\$).)+\$\$[ \t]*$", re.DOTALL | re.MULTILINE)
"""A formula in a text that is no Markdown, on lines of its own."""
IN_A_LINE = re.compile(r"(\$\$(?![\s$])[^\n$]*[^\s$]\$\$)(?!\$)")
"""A formula in a text that is no Markdown, in a line; `$$` alone means something else in a shell."""

_TOKEN = re.compile(rb"\\.|\$\$|\n[ \t>]*(?=\n)", re.DOTALL)
_CLOSING = {"\\[": "\\]", "\\(": "\\)", "$$": "$$"}
_OTHER_BLOCK = re.compile(rb"\n[ \t]*(?:[-+*>]\s|#{1,6}\s|\d{1,9}[.)]\s|```|~~~)")
_QUOTED_LINE = re.compile(r"\n[ \t]*>")
_LINE_SO_FAR = re.compile(rb"[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)?")
_MARK = re.compile(r"`+|\\.|\$\$", re.DOTALL)
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_MONEY = re.compile(r"\d[\d.,]*\s+[^\W\d_]{2,}[^\\]*$")
_DOLLAR = "\x1a"
_TRIES = 8

Parser = Callable[[str], Iterable[tuple[Any, Any]]]
"""Returns the events of a text with their places, in bytes."""


def parsed_with_formulas(text: str, parser: Parser) -> Iterable[tuple[Any, Any]]:
    """Return the events a parser of Markdown finds in a text; formulas are events `Formula` with their source."""
    if "$" not in text and "\\(" not in text and "\\[" not in text:
        return parsed(text, parser)
    source, shown = text.encode("utf-8"), with_dollars(text, parser)
    for _ in range(_TRIES):
        events, wrong = [], []
        for event, place in parsed(shown, parser):
            start, end = place["start"], place["end"]
            value = event.get("InlineMath", event.get("DisplayMath")) if isinstance(event, dict) else None
            if value is None:
                events.append((event, place))
            elif "DisplayMath" in event or _is_formula(
                value, source[start - 1 : start], source[end : end + 1]
            ):
                events.append(({"Formula": _source(value, source[start:end].decode("utf-8"))}, place))
            else:
                wrong.append(start)
                events.append(({"Text": source[start:end].decode("utf-8")}, place))
        if not wrong or _DOLLAR in text:
            break
        shown = _without_dollars(shown, wrong)
    return [(_with_dollar(event), place) for event, place in events] if _DOLLAR in shown else events


def with_dollars(text: str, parser: Parser) -> str:
    r"""Return a text for the parser, in which `\(…\)`, `\[…\]` and `$$…$$` stand between dollars and on one line."""
    if "$$" not in text and "\\(" not in text and "\\[" not in text:
        return text
    source = text.encode("utf-8")
    code = [(place["start"], place["end"]) for event, place in parser(text) if _is_code(event)]
    parts, done = [], 0
    for start, end in _marked(source, code):
        inner = source[start + 2 : end - 2]
        line = source[source.rfind(b"\n", 0, start) + 1 : start]
        if not inner.strip() or (_OTHER_BLOCK.search(inner) and not _LINE_SO_FAR.fullmatch(line)):
            continue
        quoted = b">" in line and b"\n" in inner
        parts += [source[done:start], b"$$", inner if quoted else inner.replace(b"\n", b" "), b"$$"]
        done = end
    return b"".join([*parts, source[done:]]).decode("utf-8")


def _marked(source: bytes, code: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield where formulas begin and end, in a paragraph and not in code."""
    wanted, start, number = "", 0, 0
    for match in _TOKEN.finditer(source):
        mark = match[0].decode("latin-1")
        while number < len(code) and code[number][1] <= match.start():
            number += 1
        if (number < len(code) and code[number][0] <= match.start()) or mark[0] == "\n":
            wanted = ""
        elif mark == wanted:
            yield start, match.end()
            wanted = ""
        elif mark in _CLOSING and (mark == "$$" or wanted != "$$"):
            wanted, start = _CLOSING[mark], match.start()


def _is_formula(value: str, before: bytes, after: bytes) -> bool:
    """Whether what stands between single dollars is a formula; it may be two prices or two variables."""
    return not before.isalnum() and not after.isalnum() and not _MONEY.match(value)


def _source(value: str, text: str) -> str:
    """Return a formula as it was written; between its lines may be the marks of a quotation."""
    return text[:2] + value + text[-2:] if _QUOTED_LINE.search(text) else text


def _without_dollars(text: str, places: Sequence[int]) -> str:
    """Return a text for the parser without some dollars, so that what follows them is parsed."""
    source = bytearray(text.encode("utf-8"))
    for place in places:
        source[place] = ord(_DOLLAR)
    return source.decode("utf-8")


def _with_dollar(event: Any) -> Any:
    """Return an event with the dollars that the parser was not shown."""
    if isinstance(event, dict):
        [(name, value)] = event.items()
        if isinstance(value, str):
            return {name: value.replace(_DOLLAR, "$")}
    return event


def is_display(source: str) -> bool:
    """Whether a formula, with its marks, stands on a line of its own."""
    return source.startswith(("$$", "\\["))


def tex_of(source: str) -> str:
    """Return a formula without its marks."""
    width = 1 if source.startswith("$") and not source.startswith("$$") else 2
    return source[width:-width].strip()


def open_as_text(text: str) -> str:
    """Return the last paragraph of a text that still grows, with a formula that is not closed as plain text."""
    start = _open_formula(text)
    if start < 0:
        return text
    # Lines are kept, so that the source looks as it was written.
    source = _PUNCTUATION.sub(r"\\\1", text[start:].rstrip("\n"))
    before = text[:start].removesuffix("\n")
    return (
        before + ("\\\n" if before.strip() and before != text[:start] else "") + source.replace("\n", "\\\n")
    )


def _open_formula(text: str) -> int:
    """Return where the formula begins that is not closed; -1 if there is none."""
    wanted, start = "", -1
    for match in _MARK.finditer(text):
        mark = match[0]
        if wanted:
            wanted = "" if mark == wanted else wanted
        elif mark in _CLOSING or mark[0] == "`":
            wanted, start = _CLOSING.get(mark, mark), match.start()
    return start if wanted and wanted[0] != "`" else -1


def _is_code(event: Any) -> bool:
    if isinstance(event, str):
        return False
    [(name, value)] = event.items()
    return name == "Code" or (name == "Start" and isinstance(value, dict) and "CodeBlock" in value)
