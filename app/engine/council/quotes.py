"""What is quoted in a statement, looked up in the files of the question; pure.

A quote is text in quotation marks that is long enough to tell. Spaces, quotation marks, dashes and capitals do not count.
"""

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from enum import StrEnum

from app.core.council_parts import FileQuote, Quoting
from app.core.files import NEW_PAGE
from app.core.message import Attachment, Message

LEAST_LETTERS, LEAST_HANGUL = 12, 6
NEARLY = 0.9
MOST_QUOTES = 12
MOST_LENGTH = 400

_MARKED = re.compile(
    rf"“([^”\n]{{2,{MOST_LENGTH}}})”|„([^“”\n]{{2,{MOST_LENGTH}}})[“”]|«([^»\n]{{2,{MOST_LENGTH}}})»"
    rf"|「([^」\n]{{2,{MOST_LENGTH}}})」|『([^』\n]{{2,{MOST_LENGTH}}})』|‘([^’\n]{{2,{MOST_LENGTH}}})’"
    rf'|"([^"\n]{{2,{MOST_LENGTH}}})"'
)
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_LEFT_OUT = re.compile(r"\s*(?:\[\s*)?(?:…|\.\.\.)(?:\s*\])?\s*")
PLAIN_SIGNS = str.maketrans("“”„‟«»＂‘’‚‛`´‐‑‒–—―−", '"' * 7 + "'" * 6 + "-" * 7)
# At most so many places are compared with a quote of which nothing was found word for word.
_PIECES, _PLACES = 8, 2


class QuoteState(StrEnum):
    """Whether a quote is in the files."""

    EXACT = "exact"
    NEARLY = "nearly"
    MISSING = "missing"


class Sources:
    """The texts in which quotes are looked up; made once for all statements, which takes a while for long files."""

    def __init__(self, files: Sequence[Attachment]) -> None:
        self._files: list[tuple[str, str, list[int]]] = []
        for file in files:
            plain, starts = "", []
            for page in file.text.split(NEW_PAGE):
                starts.append(len(plain))
                plain += f"{_plain(page)} "
            self._files.append((file.name, plain, starts))

    def look_up(self, text: str) -> FileQuote:
        """Return where a quote is; of one with something left out, all parts must be in one file."""
        parts = [plain for one in _LEFT_OUT.split(text) if (plain := _plain(one).strip(" .,;:!?"))]
        best = FileQuote(text=text, found=QuoteState.MISSING)
        for name, source, starts in self._files:
            places = [_place(part, source) for part in parts]
            if not parts or any(place < 0 for place, _ in places):
                continue
            page = bisect_right(starts, places[0][0]) if len(starts) > 1 else 0
            exact = all(whole for _, whole in places)
            found = FileQuote(
                text=text, found=QuoteState.EXACT if exact else QuoteState.NEARLY, file=name, page=page
            )
            if exact:
                return found
            best = found if best.found == QuoteState.MISSING else best
        return best

    def check(self, text: str, others: Sequence[str] = ()) -> list[FileQuote]:
        """Return what is quoted in a text, looked up; words of `others`, who are no source, are passed over."""
        if not self._files:
            return []
        said = [_plain(one) for one in others]
        quotes = list(dict.fromkeys(_quoted(text)))[:MOST_QUOTES]
        found = [self.look_up(one) for one in quotes]
        return [
            one
            for one in found
            if one.found == QuoteState.EXACT
            or not any(_plain(one.text).strip(" .,;:!?") in other for other in said)
        ]


def quotes_of(message: Message) -> list[FileQuote]:
    """Return the quotes of a statement as they were looked up when it ended."""
    return [quote for quote in message.data_as(Quoting).quotes if quote.found in tuple(QuoteState)]


def _quoted(text: str) -> Iterator[str]:
    for marked in _MARKED.finditer(_CODE.sub(" ", text)):
        words = next(one for one in marked.groups() if one is not None).strip()
        hangul = sum("가" <= one <= "힣" for one in words)
        if hangul >= LEAST_HANGUL or sum(map(str.isalpha, words)) >= LEAST_LETTERS:
            yield words


def _plain(text: str) -> str:
    """Return a text in which spaces, quotation marks, dashes and capitals are told apart no more."""
    return " ".join(unicodedata.normalize("NFC", text).translate(PLAIN_SIGNS).casefold().split())


def _place(part: str, source: str) -> tuple[int, bool]:
    """Return where words are in a text, -1 for nowhere, and whether they are there word for word."""
    if (place := source.find(part)) >= 0:
        return place, True
    # Few changes leave some piece as it is.
    size = max(3, len(part) // (len(part) // 10 + 2))
    starts = range(0, len(part) - size + 1, max(size, len(part) // _PIECES))
    votes: Counter[int] = Counter()
    for start in starts:
        place = source.find(part[start : start + size])
        for _ in range(_PIECES):
            if place < 0:
                break
            votes[max(0, place - start) // 4] += 1
            place = source.find(part[start : start + size], place + 1)
    room = len(part) // 10 + 4
    for near, _ in votes.most_common(_PLACES):
        begin = max(0, near * 4 - room)
        window = source[begin : near * 4 + len(part) + room]
        blocks = SequenceMatcher(None, part, window, autojunk=False).get_matching_blocks()[:-1]
        blocks = [one for one in blocks if one.size > 1]
        same = sum(one.size for one in blocks)
        if blocks:
            length = blocks[-1].b + blocks[-1].size - blocks[0].b
            if 2 * same / (len(part) + length) >= NEARLY:
                return begin + blocks[0].b, False
    return -1, False
