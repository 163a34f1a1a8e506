"""Compares two texts line by line: first by the lines that each has once, which takes no longer
where much has changed.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher


def difference(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Yield the lines in which two texts differ, with three around them; `@@` says where they are."""
    for group in _Lines(old, new).get_grouped_opcodes():
        (_, start, _, begin, _), (_, _, stop, _, end) = group[0], group[-1]
        yield f"@@ -{start + 1},{stop - start} +{begin + 1},{end - begin} @@"
        for tag, i, i_end, j, j_end in group:
            both = tag == "equal"
            yield from (f"{' ' if both else '-'}{line}" for line in old[i:i_end])
            yield from (f"+{line}" for line in new[j : 0 if both else j_end])


class _Lines(SequenceMatcher[str]):
    """A comparison in which difflib, whose time grows with the square, sees only what is between anchors."""

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        super().__init__(None, old, new)
        self._texts = old, new

    def get_matching_blocks(self) -> list[Match]:
        (old, new), found = self._texts, [Match(0, 0, 0)]
        for i_end, j_end in [*_anchors(old, new), (len(old), len(new))]:
            i, j = (place + found[-1].size for place in found[-1][:2])
            between = SequenceMatcher(None, old[i:i_end], new[j:j_end]).get_matching_blocks()
            blocks = [Match(i + match.a, j + match.b, match.size) for match in between]
            for block in (*blocks, Match(i_end, j_end, int(i_end < len(old)))):
                last = found[-1]
                if (last.a + last.size, last.b + last.size) == block[:2]:
                    found[-1] = Match(last.a, last.b, last.size + block.size)
                else:
                    found.append(block)
        return found


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places of lines that both have once: the longest run of them with one order in both."""
    counts, others = Counter(old), Counter(new)
    places = {line: place for place, line in enumerate(new)}
    pairs = [(i, places[line]) for i, line in enumerate(old) if counts[line] == others[line] == 1]
    # For each length of a run the pair at the end of that which ends first.
    heights: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for number, (_, j) in enumerate(pairs):
        length = bisect_left(heights, j)
        before.append(ends[length - 1] if length else -1)
        heights[length : length + 1], ends[length : length + 1] = [j], [number]
    run, number = [], ends[-1] if ends else -1
    while number >= 0:
        run.append(pairs[number])
        number = before[number]
    return run[::-1]
