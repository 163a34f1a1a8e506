"""Finding by what is typed, Korean too: spaces are ignored, and initial consonants and half-typed syllables match.

Also the order in which names are listed.
"""

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

_INITIALS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
# The final consonants of syllables in their order; a blank for none, and for those that cannot begin the next
# syllable.
_FINALS = " ㄱㄲ ㄴ  ㄷㄹ       ㅁㅂ ㅅㅆㅇㅈㅊㅋㅌㅍㅎ"
_FIRST, _LAST = 0xAC00, 0xD7A3
_PER_INITIAL, _PER_VOWEL = 588, 28
_NUMBERS = re.compile(r"\d+|\D")
_NOT_LETTERS = re.compile("[^\u3131-\u318e]+")


def fold(text: str) -> str:
    """Return a text without what does not count in a search: case, width, and how letters are composed."""
    if text.isascii():
        return text.casefold()
    text = unicodedata.normalize("NFC", text)
    # Single Korean letters stay as they are typed.
    return _NOT_LETTERS.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text).casefold()


def fits(text: str, typed: str) -> bool:
    """Return whether a text contains every word typed."""
    return finder(typed)(fold(text) if typed else "")


def finder(typed: str) -> Callable[[str], bool]:
    """Return what says of a folded text whether it contains every word typed."""
    words = [(word, None if word.isascii() else _pattern(word)) for word in fold(typed).split()]
    return lambda folded: all(
        word in folded or (pattern is not None and pattern.search(folded)) for word, pattern in words
    )


@lru_cache(maxsize=1_024)
def name_order(name: str, language: str) -> tuple[tuple[int, int, str], ...]:
    """Return what names are sorted by: numbers by their value, then letters; in Korean 가나다 before Latin letters."""
    hangul = 1 if language == "ko" else 3
    parts: list[tuple[int, int, str]] = []
    for one in _NUMBERS.findall(fold(name)):
        if one.isdecimal():
            parts.append((0, int(one), ""))
        elif not one.isalpha():
            parts.append((-1, 0, one))
        elif _FIRST <= ord(one) <= _LAST or one in _INITIALS:
            parts.append((hangul, 0, one))
        else:
            # Letters with accents stand with those without.
            parts.append((2, 0, unicodedata.normalize("NFD", one)[0]))
    return tuple(parts)


@lru_cache(maxsize=256)
def _pattern(word: str) -> re.Pattern[str]:
    """Return the pattern of a word with Korean letters, between which spaces may stand."""
    parts = [_letter(one) for one in word[:-1]] + [_last(word[-1])]
    return re.compile(r"\s*".join(parts))


def _letter(letter: str) -> str:
    """Return the pattern of a letter; an initial consonant stands for all its syllables."""
    place = _INITIALS.find(letter)
    if place < 0:
        return re.escape(letter)
    start = _FIRST + place * _PER_INITIAL
    return f"[{letter}{chr(start)}-{chr(start + _PER_INITIAL - 1)}]"


def _last(letter: str) -> str:
    """Return the pattern of the letter typed last, which may not be whole yet."""
    code = ord(letter)
    if not _FIRST <= code <= _LAST:
        return _letter(letter)
    final = (code - _FIRST) % _PER_VOWEL
    if not final:
        return f"[{letter}-{chr(code + _PER_VOWEL - 1)}]"
    following = _FINALS[final].strip()
    open_one = chr(code - final)
    return rf"(?:{letter}|{open_one}\s*{_letter(following)})" if following else letter
