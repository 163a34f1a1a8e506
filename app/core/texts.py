"""The catalogue of everything users read, in one JSON file a language (row A4)."""

import json
import locale
import os
import re
from collections.abc import Mapping
from pathlib import Path

LANGUAGES: tuple[str, ...] = ("en", "ko")

# A Korean particle in both its forms, behind what a blank was filled with: `‘비평가’을(를)`.
_PARTICLE = re.compile(r"([가-힣\d])([’”'\"]?)(은\(는\)|이\(가\)|을\(를\)|\(으\)로|\(이\)라)")
# How each digit ends when it is read: 영 일 이 삼 사 오 육 칠 팔 구.
_DIGITS = "영일이삼사오육칠팔구"
_SYLLABLES, _FINALS, _RIEUL = 0xAC00, 28, 8


class Texts:
    """The texts of one language: `texts("debate.start")`, `texts("debate.round", round=2, rounds=3)`.

    A key whose text differs by number has two entries, `key.one` and `key.other`, chosen by
    `count`. A key the catalogue lacks raises KeyError: every text is tested to be there.
    """

    def __init__(self, language: str, catalogue: Mapping[str, str]) -> None:
        self.language = language
        self._catalogue = catalogue

    @classmethod
    def load(cls, folder: Path, language: str) -> "Texts":
        """Read `<folder>/<language>.json`, a flat object from key to text."""
        text = (folder / f"{language}.json").read_text(encoding="utf-8")
        return cls(language, json.loads(text))

    def __call__(self, key: str, **values: object) -> str:
        """Return the text of a key with its blanks filled."""
        if "count" in values and key not in self._catalogue:
            key = f"{key}.one" if values["count"] == 1 else f"{key}.other"
        text = self._catalogue[key]
        if not values:
            return text
        filled = text.format(**values)
        return _PARTICLE.sub(_particle, filled) if self.language == "ko" else filled

    def named(self, prefix: str, code: str) -> str:
        """Return the text of `<prefix>.<code>`; "unknown" for a code that only a file can have brought."""
        text = self._catalogue.get(f"{prefix}.{code}", "{")
        return self._catalogue["unknown"] if "{" in text else text

    def __contains__(self, key: str) -> bool:
        return key in self._catalogue


def _particle(match: re.Match[str]) -> str:
    """Return the form that fits what is before it; behind Latin letters both stay, as nobody knows how they are read."""
    last, quote, both = match.groups()
    syllable = _DIGITS[int(last)] if last.isdigit() else last
    final = (ord(syllable) - _SYLLABLES) % _FINALS
    if both.startswith("("):
        closed = final and (final != _RIEUL or both != "(으)로")
        form = both.replace("(", "").replace(")", "") if closed else both[-1]
    else:
        form = both[0] if final else both[2]
    return last + quote + form


def in_words(details: Mapping[str, object], texts: Texts) -> dict[str, object]:
    """Return what fills the blanks of an error: pairs of a name and a provider's problem become words."""
    return {
        name: "; ".join(f"{who}: {texts(f'provider.{problem}')}" for who, problem in value)
        if isinstance(value, tuple)
        else value
        for name, value in details.items()
    }


def has_hangul(text: str) -> bool:
    """Say whether a text has a letter of the Korean script."""
    return re.search("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]", text) is not None


def choose_language(wanted: str) -> str:
    """Return `wanted` if it is a known language, else the system's, else English."""
    if wanted in LANGUAGES:
        return wanted
    system = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG")
    name = (system or locale.getlocale()[0] or "en")[:2].lower()
    return "ko" if name in ("ko", "kr") else "en"
