"""Takes keys out of texts: those Moot knows in every form they may come back in, and what looks like one.

Used by secrets on error texts, logs and exports, and by the wiring on what goes to standard error.
"""

import base64
import json
import logging
import re
import sys
import threading
import traceback
from collections.abc import Callable
from urllib.parse import quote, quote_plus

MARK = "[key removed]"

_SHORT = 6
_PIECE = 8

_PATTERNS = (
    r"\b(?:(?:sk|rk|pk|gsk|xai|hf|r8|gh[pos]|github_pat|glpat|pplx|nvapi)[-_]|AIza|AKIA|ya29\.)[\w\-.*…]{8,}",
    r"(?i)\b(?:bearer|basic|token)\s+[A-Za-z0-9._~+/=\-*…]{8,}",
    r"(?i)(?:api[-_ ]?key|authorization|access[-_]token|client[-_]secret)[\"']?\s*[:=]\s*[\"']?(?:\w+ )?(?=\S*\d)[^\s\"',;&})\]]{6,}",
    r"(?i)(?<=[?&])key=[^\s&\"'#]{6,}",
)


class Redactor:
    """Removes every key it was told of, whole or in part, plain or encoded."""

    def __init__(self) -> None:
        self._keys: set[str] = set()
        self._whole: set[str] = set()
        self._known: re.Pattern[str] | None = None
        self._shapes = re.compile("|".join(f"(?:{_scoped(pattern)})" for pattern in _PATTERNS))

    def add(self, key: str) -> None:
        """Remember a key for good: a removed one must not come back in a late error either."""
        self._remember(self._keys, key)

    def add_whole(self, text: str) -> None:
        """Remember a text that is removed as a whole only: its ends may be ordinary words."""
        self._remember(self._whole, text)

    def _remember(self, among: set[str], key: str) -> None:
        key = key.strip()
        if not key or key in among:
            return
        among.add(key)
        forms: set[str] = set()
        for known in self._keys:
            forms |= _forms(known) | _ends(known)
        for known in self._whole:
            forms |= _forms(known)
        self._known = re.compile("|".join(sorted(forms, key=len, reverse=True)))

    def redact(self, text: str) -> str:
        """Return the text without any key."""
        if self._known is not None:
            text = self._known.sub(MARK, text)
        return self._shapes.sub(MARK, text)


def _scoped(pattern: str) -> str:
    return f"(?i:{pattern[4:]})" if pattern.startswith("(?i)") else pattern


def _forms(key: str) -> set[str]:
    """Return patterns of a key: as it is, escaped and encoded."""
    if len(key) < _SHORT:
        return {rf"(?<![A-Za-z0-9]){re.escape(key)}(?![A-Za-z0-9])"}
    whole = {key, json.dumps(key)[1:-1], json.dumps(key, ensure_ascii=False)[1:-1].replace("/", "\\/")}
    whole |= {quote(key, safe=""), quote(key), quote_plus(key)}
    data = key.encode()
    whole |= {data.hex(), data.hex().upper()}
    forms = {re.escape(form) for form in whole} | {f"(?i:{re.escape(quote(key, safe=''))})"}
    return forms | {re.escape(form) for form in _base64_forms(data)}


def _ends(key: str) -> set[str]:
    """Return patterns of the ends of a key that a provider may echo."""
    if len(key) < 2 * _PIECE:
        return set()
    start, end = re.escape(key[:_PIECE]), re.escape(key[-_PIECE:])
    return {rf"{start}[^\s\"'<>]*", rf"[A-Za-z0-9_\-*.…]*{end}"}


def _base64_forms(data: bytes) -> set[str]:
    """Return what of a key's base64 is the same wherever in a longer text the key stands."""
    forms = set()
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + data).decode().rstrip("=")
        start = (0, 2, 3)[before]
        end = len(encoded) - (1 if (before + len(data)) % 3 else 0)
        middle = encoded[start:end]
        forms |= {middle, middle.replace("+", "-").replace("/", "_")}
    return {form for form in forms if len(form) >= _SHORT}


def keep_keys_out_of_errors(redact: Callable[[str], str]) -> None:
    """Take keys out of what goes to standard error: log lines, and errors that nobody caught."""

    class Keyless(logging.Formatter):
        """Writes a record as ever, without keys."""

        def format(self, record: logging.LogRecord) -> str:
            return redact(super().format(record))

    def tell(error: BaseException | None) -> None:
        if error is not None and sys.stderr is not None:
            sys.stderr.write(redact("".join(traceback.format_exception(error))))

    if logging.lastResort is not None:
        logging.lastResort.setFormatter(Keyless())
    # Whoever has put a hook of their own there, as a debugger does, keeps it.
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = lambda _kind, error, _trace: tell(error)
    if threading.excepthook is threading.__excepthook__:
        threading.excepthook = lambda found: tell(found.exc_value)
