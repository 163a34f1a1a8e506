"""Removes keys from texts: known keys in every form in which they may appear, and what looks like a key.

Applied to error texts, logs, exports and standard error. `FaultLog` is the log of Moot's own process.
"""

import base64
import contextlib
import json
import logging
import re
import string
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote, quote_plus

from app.children.private_files import HostLog
from app.core.catalog import KEY_STARTS

MARK = "[key removed]"

_SHORT = 6
_PIECE = 8
_SMALL_LETTERS = {ord(letter): letter.lower() for letter in string.ascii_uppercase}

_SCHEMES = ("bearer", "basic", "token")
_FIELDS = (
    *(f"api{between}key" for between in ("", "-", "_", " ")),
    "access-token",
    "access_token",
    "client-secret",
    "client_secret",
    "authorization",
)
# Patterns of keys. Each is tried only where one of its words occurs, so that the time is linear in the
# text; the words of patterns that ignore case are in lower case.
_SHAPES = tuple(
    (words, folded, re.compile(pattern, re.IGNORECASE if folded else 0))
    for words, folded, pattern in (
        (KEY_STARTS, False, rf"\b(?:{'|'.join(map(re.escape, KEY_STARTS))})[\w\-.*…]{{8,}}"),
        (_SCHEMES, True, rf"\b(?:{'|'.join(_SCHEMES)})\s+[A-Za-z0-9._~+/=\-*…]{{8,}}"),
        (
            _FIELDS,
            True,
            rf"(?:{'|'.join(_FIELDS)})[\"']?\s*[:=]\s*[\"']?(?:\w+ )?(?=\S{{0,256}}\d)[^\s\"',;&}})\]]{{6,}}",
        ),
        (("key=",), True, r"(?<=[?&])key=[^\s&\"'#]{6,}"),
    )
)


class Redactor:
    """Removes all known keys, whole or in part, plain or encoded, in linear time."""

    def __init__(self) -> None:
        self._keys: set[str] = set()
        self._whole: set[str] = set()
        self._forms: list[str] = []
        self._folded: list[str] = []
        self._short: list[tuple[str, re.Pattern[str]]] = []
        self._ends: list[tuple[str, re.Pattern[str], bool]] = []

    def add(self, key: str) -> None:
        """Add a key for the lifetime of the program: a removed key must not appear in a late error either."""
        self._remember(self._keys, key)

    def add_whole(self, text: str) -> None:
        """Add a text that is removed only as a whole, because its ends may be ordinary words."""
        self._remember(self._whole, text)

    def _remember(self, among: set[str], key: str) -> None:
        key = key.strip()
        if not key or key in among:
            return
        among.add(key)
        known = self._keys | self._whole
        long = [item for item in known if len(item) >= _SHORT]
        # The longest first, because a key may be part of another.
        self._forms = sorted({form for item in long for form in _forms(item)}, key=len, reverse=True)
        self._folded = sorted({quote(item, safe="").lower() for item in long}, key=len, reverse=True)
        self._short = [(item, _short_form(item)) for item in known if len(item) < _SHORT]
        self._ends = [end for item in self._keys for end in _ends(item)]

    def redact(self, text: str) -> str:
        """Return the text without any key."""
        for form in self._forms:
            text = text.replace(form, MARK)
        lower = _lower(text)
        spans = [(place, place + len(form)) for form in self._folded for place in _places(lower, form)]
        text = _without(text, spans)
        for key, pattern in self._short:
            if key in text:
                text = pattern.sub(MARK, text)
        for piece, pattern, is_start in self._ends:
            if piece in text:
                # Backwards for the end of a key, so that the text before it is read only once.
                text = pattern.sub(MARK, text) if is_start else pattern.sub(MARK[::-1], text[::-1])[::-1]
        return _without_shapes(text)


def _without_shapes(text: str) -> str:
    spans = []
    lower = _lower(text)
    for words, folded, pattern in _SHAPES:
        for word in words:
            searched = lower if folded else text
            place = searched.find(word)
            while place >= 0:
                match = pattern.match(text, place)
                if match:
                    spans.append(match.span())
                # Continue behind a match, so that a text of nothing but such words is read only once.
                place = searched.find(word, match.end() if match else place + 1)
    return _without(text, spans)


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    """Return the text with a mark in place of each span; overlapping spans get one mark."""
    if not spans:
        return text
    parts = []
    end = 0
    for start, stop in sorted(spans):
        if start >= end:
            parts += [text[end:start], MARK]
        end = max(end, stop)
    return "".join([*parts, text[end:]])


def _places(text: str, word: str) -> Iterator[int]:
    place = text.find(word)
    while place >= 0:
        yield place
        place = text.find(word, place + len(word))


def _lower(text: str) -> str:
    """Return the text in lower case, with every character at its place."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text.translate(_SMALL_LETTERS)


def _forms(key: str) -> set[str]:
    """Return the forms of a key: plain, escaped and encoded."""
    whole = {key, json.dumps(key)[1:-1], json.dumps(key, ensure_ascii=False)[1:-1].replace("/", "\\/")}
    whole |= {quote(key, safe=""), quote(key), quote_plus(key)}
    data = key.encode()
    return whole | {data.hex(), data.hex().upper()} | _base64_forms(data)


def _short_form(key: str) -> re.Pattern[str]:
    """Return a pattern for a key so short that it may be part of a word."""
    return re.compile(rf"(?<![A-Za-z0-9]){re.escape(key)}(?![A-Za-z0-9])")


def _ends(key: str) -> list[tuple[str, re.Pattern[str], bool]]:
    """Return start and end of a key, which providers may echo, as (text, pattern, whether it is the start).

    The pattern of the end is for reversed text.
    """
    if len(key) < 2 * _PIECE:
        return []
    start, end = key[:_PIECE], key[-_PIECE:]
    return [
        (start, re.compile(rf"{re.escape(start)}[^\s\"'<>]*"), True),
        (end, re.compile(rf"{re.escape(end[::-1])}[A-Za-z0-9_\-*.…]*"), False),
    ]


def _base64_forms(data: bytes) -> set[str]:
    """Return the part of a key's base64 form that does not depend on its position in a longer text."""
    forms = set()
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + data).decode().rstrip("=")
        start = (0, 2, 3)[before]
        end = len(encoded) - (1 if (before + len(data)) % 3 else 0)
        middle = encoded[start:end]
        forms |= {middle, middle.replace("+", "-").replace("/", "_")}
    return {form for form in forms if len(form) >= _SHORT}


def keep_keys_out_of_errors(redact: Callable[[str], str]) -> None:
    """Remove keys from standard error: from log records and uncaught exceptions."""

    class Keyless(logging.Formatter):
        """Formats a record as usual, without keys."""

        def format(self, record: logging.LogRecord) -> str:
            return redact(super().format(record))

    def tell(error: BaseException | None) -> None:
        if error is not None and sys.stderr is not None:
            sys.stderr.write(redact("".join(traceback.format_exception(error))))

    if logging.lastResort is not None:
        logging.lastResort.setFormatter(Keyless())
    # A debugger's own hook stays.
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = lambda _kind, error, _trace: tell(error)
    if threading.excepthook is threading.__excepthook__:
        threading.excepthook = lambda found: tell(found.exc_value)


class FaultLog(logging.Handler):
    """Writes log records to `moot.log` in a folder, and not to standard error; `redact` removes keys."""

    def __init__(self, folder: Path, redact: Callable[[str], str]) -> None:
        super().__init__(logging.WARNING)
        self._log = HostLog(folder / "moot.log", redact)
        self.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
        logging.getLogger().addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        # A record that cannot be written must not become a fault of its own.
        with contextlib.suppress(Exception):
            self._log.write(self.format(record))

    def close(self) -> None:
        """Write what is left, and take no more records."""
        logging.getLogger().removeHandler(self)
        self._log.wait()
        super().close()
