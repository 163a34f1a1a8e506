"""Colours for code: one regular expression per family of languages.

A hundred lines take well under a millisecond, so neither a thread nor a cache nor the import of a lexer is
needed.
"""

import re
from collections.abc import Sequence

from PySide6.QtGui import QColor, QTextCharFormat, QTextDocument, QTextLayout

from app.gui.display.theme import Tokens
from app.gui.markdown.document import Utf16Places

Run = tuple[int, int, str]

COMMENT = "comment"
STRING = "string"
NUMBER = "number"
KEYWORD = "keyword"
NAME = "name"
MARK = "mark"

MAX_CODE = 20_000
"""Longer stretches of code stay plain, in characters."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_HASH = _words(
    "python py python3 bash sh shell zsh console ruby rb yaml yml toml perl r make makefile"
    " dockerfile ini conf powershell ps1 elixir nix julia"
)
_SLASH = _words(
    "c cpp c++ h hpp java javascript js jsx typescript ts tsx go golang rust rs swift kotlin kt"
    " csharp cs c# php scala dart css scss less json jsonc json5 proto zig groovy"
)
_DASH = _words("sql sqlite postgresql mysql lua haskell hs elm ada")
_ANGLE = _words("html xml svg xhtml vue")

_KEYWORDS = _words(
    """
    abstract alias and any as assert async await auto begin bool boolean break by byte case catch char class
    const constexpr continue create crate data def default defer del delete deriving do done double drop dyn
    echo elif else elsif end ensure enum esac except exec export extends extern false False fi final finally
    float fn for foreach from fun func function global go goto group guard having if impl implements import in
    index inner insert instance instanceof int interface internal into is join lambda left let limit local
    long loop match mod module move mut namespace new nil None nonlocal not null nullptr object of offset on
    open operator or order outer override package pass primary private protected pub public raise readonly
    ref references require rescue return right select self Self set short signed sizeof static str string
    struct super switch table template then this throw throws trait true True try type typedef typename
    typeof undefined union unless unsafe unsigned until update use using values var view virtual void
    volatile when where while with yield
    """
)

_WORDS = r"""
    |(?P<mark>(?:^[ \t]*)?[@][A-Za-z_][\w.]*)
    |(?P<number>\b(?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?)\w{0,3}\b)
    |(?P<word>[^\W\d]\w*)(?P<call>(?=[ ]?\())?
"""
_QUOTED = r"""(?P<string>%s"(?:\\.|[^"\\\n])*"?|(?<!\w)'(?:\\.|[^'\\\n])*'?)"""
_TRIPLE = r'"{3}(?:\\.|[^\\])*?(?:"{3}|\Z)|\'{3}(?:\\.|[^\\])*?(?:\'{3}|\Z)|'
_BACKTICKS = r"`(?:\\.|[^`\\])*`?|"


def _scanner(comment: str, more_strings: str = "") -> re.Pattern[str]:
    pattern = f"(?P<comment>{comment})|{_QUOTED % more_strings}{_WORDS}"
    return re.compile(pattern, re.VERBOSE | re.MULTILINE | re.DOTALL)


_SCANNERS = {
    **dict.fromkeys(_HASH, _scanner(r"(?<![\w$&{\\])\#[^\n]*", _TRIPLE)),
    **dict.fromkeys(_SLASH, _scanner(r"//[^\n]*|/\*.*?(?:\*/|\Z)", _BACKTICKS)),
    **dict.fromkeys(_DASH, _scanner(r"--[^\n]*|/\*.*?(?:\*/|\Z)")),
    **dict.fromkeys(
        _ANGLE,
        re.compile(
            r"""(?P<comment><!--.*?(?:-->|\Z))|(?P<mark></?[A-Za-z][\w:.-]*|/?>)|(?P<string>"[^"\n]*"?)""",
            re.DOTALL,
        ),
    ),
}
_CASELESS = _words("sql sqlite postgresql mysql")


def lex(language: str, code: str) -> list[Run]:
    """Return runs of (start, length, kind); none for an unknown language or more than MAX_CODE characters."""
    language = language.lower()
    scanner = _SCANNERS.get(language)
    if scanner is None or len(code) > MAX_CODE:
        return []
    caseless = language in _CASELESS
    runs: list[Run] = []
    for match in scanner.finditer(code):
        kind, text = match.lastgroup, match.group()
        if kind in ("word", "call"):
            if (text.lower() if caseless else text) in _KEYWORDS:
                kind = KEYWORD
            elif kind == "call":
                kind = NAME
            else:
                continue
        assert kind is not None
        runs.append((match.start(), len(text), kind))
    return runs


def colour(document: QTextDocument, code: str, runs: Sequence[Run], tokens: Tokens) -> None:
    """Colour the code of a document without a new layout."""
    places = Utf16Places(code)
    formats = _formats(tokens)
    ranges: dict[int, list[QTextLayout.FormatRange]] = {}
    for start, length, kind in runs:
        position, end = places.to_qt(start), places.to_qt(start + length)
        while position < end:
            block = document.findBlock(position)
            if not block.isValid():
                break
            stop = min(end, block.position() + block.length())
            piece = QTextLayout.FormatRange()
            piece.start, piece.length = position - block.position(), stop - position
            piece.format = formats[kind]
            ranges.setdefault(block.blockNumber(), []).append(piece)
            position = stop
    for number, pieces in ranges.items():
        block = document.findBlockByNumber(number)
        block.layout().setFormats(pieces)
        document.markContentsDirty(block.position(), block.length())


def _formats(tokens: Tokens) -> dict[str, QTextCharFormat]:
    """Return the format of each kind of run."""
    colours = dict(zip((STRING, NUMBER, NAME, MARK), [colour for colour, _ in tokens.speakers], strict=False))
    formats = {}
    for kind, colour in (colours | {KEYWORD: tokens.accent, COMMENT: tokens.text_2}).items():
        formats[kind] = QTextCharFormat()
        formats[kind].setForeground(QColor(colour))
    return formats
