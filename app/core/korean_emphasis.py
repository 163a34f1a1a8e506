"""Emphasis that ends before a Korean particle, as in `**생산성(효율)**은`.

CommonMark ends no emphasis between a punctuation mark and a letter, as it knows no particles. A parser is
therefore given a punctuation mark in the place of such a letter, and the letter is put back into what it
finds. Both are three bytes of UTF-8, so that the places the parser tells are those of the text itself.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

_STAND_IN = "\u2e19"
_END = re.compile(r"(?<=[^\w\s*~\\(\[{<「『《〈“‘])([*~]+)([\u1100-\u11ff\uac00-\ud7a3])")
_TEXTS = ("Text", "Code", "Html", "InlineHtml")

Parser = Callable[[str], Iterable[Any]]


def parsed(text: str, parser: Parser) -> Iterable[Any]:
    """Return the events a parser of Markdown finds in a text, each with its place or without."""
    if text.isascii() or _STAND_IN in text or not _END.search(text):
        return parser(text)
    letters: list[str] = []

    def stand_in(match: re.Match[str]) -> str:
        letters.append(match[2])
        return match[1] + _STAND_IN

    changed = _END.sub(stand_in, text)
    left = iter(letters)
    events = [_with_letters(event, left) for event in parser(changed)]
    # What is left stands in an address or a title, out of order: such a text is parsed as it is.
    return parser(text) if next(left, None) is not None else events


def _with_letters(event: Any, letters: Iterator[str]) -> Any:
    """Return an event with the letters that belong into its text."""
    if isinstance(event, tuple):
        return _with_letters(event[0], letters), event[1]
    if isinstance(event, dict):
        [(name, value)] = event.items()
        if name in _TEXTS and _STAND_IN in value:
            return {name: re.sub(_STAND_IN, lambda _match: next(letters, _STAND_IN), value)}
    return event
