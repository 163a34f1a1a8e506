"""Positions in a text: Python counts characters, Qt UTF-16 code units, and an emoji is two of those.

The program counts characters and converts positions it passes to Qt or gets from it.
"""

import re
from bisect import bisect_left

_WIDE = re.compile("[\U00010000-\U0010ffff]")


def units(text: str) -> int:
    """Return the number of UTF-16 code units of a text, its length in Qt."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


class Utf16Places:
    """Converts positions in one text; fast if no character takes two code units."""

    __slots__ = ("_wide",)

    def __init__(self, text: str) -> None:
        wide = units(text) != len(text)
        self._wide = [match.start() for match in _WIDE.finditer(text)] if wide else []

    def to_qt(self, position: int) -> int:
        """Return a position in code units for one in characters."""
        return position + bisect_left(self._wide, position) if self._wide else position

    def from_qt(self, position: int) -> int:
        """Return a position in characters for one in code units; inside a character, where it begins."""
        if not self._wide:
            return position
        before = bisect_left(range(len(self._wide)), position, key=lambda at: self._wide[at] + at)
        return position - before
