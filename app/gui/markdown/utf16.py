"""Positions in a text: Python counts characters, Qt counts UTF-16 code units, and an emoji is two of those.

Everything of Moot counts characters; who hands a place to Qt, or gets one from it, converts it here.
"""

import re
from bisect import bisect_left

_WIDE = re.compile("[\U00010000-\U0010ffff]")


def units(text: str) -> int:
    """Return how many UTF-16 code units a text has: its length in Qt."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


class Utf16Places:
    """Converts positions in one text; nearly free where no character takes two code units."""

    __slots__ = ("_wide",)

    def __init__(self, text: str) -> None:
        wide = units(text) != len(text)
        self._wide = [match.start() for match in _WIDE.finditer(text)] if wide else []

    def to_qt(self, position: int) -> int:
        """Return the place in code units of a place in characters."""
        return position + bisect_left(self._wide, position) if self._wide else position

    def from_qt(self, position: int) -> int:
        """Return the place in characters of a place in code units; inside of a character it is its begin."""
        if not self._wide:
            return position
        before = bisect_left(range(len(self._wide)), position, key=lambda at: self._wide[at] + at)
        return position - before
