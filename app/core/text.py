"""Cleans every text from outside before it is stored, and before a user decides on it."""

import functools
import re
import unicodedata
from collections.abc import Mapping

_EMPTY_LINES = 2
_EMPTY_LINES_BEFORE = re.compile(r"\A(?:[^\S\n]*\n)+")
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def clean_text(text: str) -> str:
    """Replace lone surrogates (no encoding can store them) and NULs by U+FFFD."""
    if text.isascii() and "\0" not in text:
        return text
    return _UNSTORABLE.sub("\ufffd", text)


def trimmed(text: str) -> str:
    """Return a text without the empty lines before it and the blanks after it; its first line stays indented."""
    return _EMPTY_LINES_BEFORE.sub("", text).rstrip()


def clean_values(value: object) -> object:
    """Return a JSON value with every text in it cleaned, the names of its fields too."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, Mapping):
        return {clean_text(str(name)): clean_values(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [clean_values(inner) for inner in value]
    return value


def clock_text(seconds: int) -> str:
    """Return a duration as minutes and seconds: `2:05`."""
    return f"{seconds // 60}:{seconds % 60:02}"


def visible(text: str, keep: str = "\n\t", *, joiners: bool = True) -> str:
    """Return a text with every character that is drawn as nothing, or moves what is drawn, as its code.

    For all that a user decides on. Line breaks and tabs stay, and so do `joiners` where they are needed: in an
    emoji that is put together of several, and between Arabic or Indic letters.
    """
    if text.isascii() and text.isprintable():
        return text
    if "\r" in text and "\n" in keep:
        text = text.replace("\r\n", "\n")
    signs = _signs(keep)
    if not joiners:
        return text.translate(signs)
    pieces = _JOINERS.split(text)
    return "".join(piece if place % 2 else piece.translate(signs) for place, piece in enumerate(pieces))


def readable(text: str) -> str:
    """Return a text of a server as `visible` does, without the third and further of empty lines in a row."""
    lines, empty = [], 0
    for line in visible(text).split("\n"):
        empty = 0 if line.strip() else empty + 1
        if empty <= _EMPTY_LINES:
            lines.append(line)
    return "\n".join(lines)


def exact(text: str, keep: str = "") -> str:
    """Return a text for the letter, as in a command line or a name: blanks other than " " are codes too."""
    shown = visible(text, keep, joiners=False)
    if shown.isascii():
        return shown
    return "".join(
        _code(ord(one)) if unicodedata.category(one) == "Zs" and one != " " else one for one in shown
    )


def without_steering(text: str) -> str:
    """Return a text with the codes of the characters that steer a terminal or turn the writing round.

    For what is only read, a piece at a time: what joins letters and emoji stays, though a piece may end there.
    """
    if text.isascii() and text.isprintable():
        return text
    return _STEERING.sub(lambda match: _code(ord(match[0])), text.replace("\r\n", "\n"))


_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)

_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
"""Unicode categories that are invisible, or change where other text is drawn."""

_BLANKS = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, 0x16FE4, 0x1D159}.union(
    range(0x180B, 0x1810), range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0)
)
"""Invisible characters of other categories: fillers, joiners, variation selectors."""

_NEW_EMOJI = range(0x1F000, 0x1FB00)
"""Ranges of new Unicode symbols: they are visible even where this Python does not know them yet."""

_SYMBOL = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u27bf\u2934\u2935\u2b00-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff]"
)
_LETTER = "[\u0600-\u0dff]"
_JOINERS = re.compile(
    f"((?<={_SYMBOL})\ufe0f(?:\u200d(?={_SYMBOL}))?|(?<={_SYMBOL})\u200d(?={_SYMBOL})|(?<=[0-9#*])\ufe0f(?=\u20e3)"
    f"|(?<={_LETTER})[\u200c\u200d](?={_LETTER}))"
)


class _Signs(dict[int, str]):
    """Maps each character to what is shown for it, computed on first use: texts may be megabytes long."""

    def __init__(self, keep: str) -> None:
        super().__init__({ord(one): one for one in keep})

    def __missing__(self, code: int) -> str:
        hidden = code in _BLANKS or (unicodedata.category(chr(code)) in _HIDDEN and code not in _NEW_EMOJI)
        self[code] = _code(code) if hidden else chr(code)
        return self[code]


@functools.cache
def _signs(keep: str) -> _Signs:
    return _Signs(keep)


def _code(code: int) -> str:
    return f"⟨U+{code:04X}⟩"


def fenced(text: str, language: str = "") -> str:
    """Return a text as a block of code, whatever backticks it holds."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language if language.isalnum() else ''}\n{text.rstrip()}\n{fence}"


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
