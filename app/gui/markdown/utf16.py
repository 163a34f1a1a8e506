"""Positions in a text: Python counts characters, Qt UTF-16 code units, and an emoji is two of those.

The program counts characters and converts positions it passes to Qt or gets from it.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence

_WIDE = re.compile("[\U00010000-\U0010ffff]")


def units(text: str) -> int:
    """Return the number of UTF-16 code units of a text, its length in Qt."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


class Utf16Places:
    """Converts positions between a text and its document; fast where all characters take one code unit.

    Each of `objects`, ranges of the text in order, is one character in the document.
    """

    __slots__ = ("_ends", "_lost", "_starts")

    def __init__(self, text: str, objects: Sequence[tuple[int, int]] = ()) -> None:
        wide = units(text) != len(text)
        odd = [(match.start(), match.end(), 2) for match in _WIDE.finditer(text)] if wide else []
        if objects:
            odd = [each for each in odd if not any(start <= each[0] < end for start, end in objects)]
            odd = sorted(odd + [(start, end, 1) for start, end in objects])
        self._starts = [start for start, _, _ in odd]
        self._ends = [end for _, end, _ in odd]
        self._lost = [0]
        """How much shorter the document is than the text, before each of them."""
        for start, end, taken in odd:
            self._lost.append(self._lost[-1] + end - start - taken)

    def to_qt(self, position: int, *, end: bool = False) -> int:
        """Return a position in the document for one in the text; inside an object, its start or its `end`."""
        if not self._starts:
            return position
        number = bisect_left(self._starts, position)
        if number and position < self._ends[number - 1]:
            number -= 1
            position = self._ends[number] if end else self._starts[number]
            number += end
        return position - self._lost[number]

    def from_qt(self, position: int) -> int:
        """Return a position in the text for one in the document; inside a character, where it begins."""
        if not self._starts:
            return position
        number = bisect_left(range(len(self._starts)), position, key=self._begins)
        if number and position < self._ends[number - 1] - self._lost[number]:
            return self._starts[number - 1]
        return position + self._lost[number]

    def _begins(self, number: int) -> int:
        return self._starts[number] - self._lost[number]
