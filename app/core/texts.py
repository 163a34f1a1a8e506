"""The catalogue of everything users read, in one JSON file a language (row A4)."""

import json
import locale
import os
import re
from collections.abc import Mapping
from pathlib import Path

LANGUAGES: tuple[str, ...] = ("en", "ko")


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
        return text.format(**values) if values else text

    def __contains__(self, key: str) -> bool:
        return key in self._catalogue


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
