"""Identifiers that sort by the time they were made (ULID), monotonic within a process; and that time."""

import hashlib
import os
import threading
import time
from datetime import UTC, datetime

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_RANDOM_BITS = 80
_LAST_MS = 253_402_300_799_000  # the end of the year 9999


class _Clock:
    """Hands out 128-bit numbers that never go back, even when the wall clock does."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def next(self) -> int:
        now = (int(time.time() * 1000) << _RANDOM_BITS) | int.from_bytes(os.urandom(10), "big")
        with self._lock:
            self._last = max(now, self._last + 1)
            return self._last


_CLOCK = _Clock()


def new_id() -> str:
    """Return a new identifier: 26 characters of Crockford's base 32, in lower case."""
    return _in_base_32(_CLOCK.next())


def derived_id(*parts: str) -> str:
    """Return the id of an imported record: the same for the same texts, and not predictable by choice."""
    digest = hashlib.sha256("\0".join(parts).encode(errors="backslashreplace")).digest()
    return _in_base_32(int.from_bytes(digest[:16], "big"))


def _in_base_32(number: int) -> str:
    characters = []
    for _ in range(26):
        number, digit = divmod(number, 32)
        characters.append(_ALPHABET[digit])
    return "".join(reversed(characters))


def time_of(identifier: str) -> str:
    """Return when an identifier was made, in UTC as ISO 8601, "" for a text that is none."""
    if not is_id(identifier):
        return ""
    milliseconds = 0
    for character in identifier[:10]:
        milliseconds = milliseconds * 32 + _ALPHABET.index(character)
    # An id that a file brought may be of any time.
    milliseconds = min(milliseconds, _LAST_MS)
    return stamp(datetime.fromtimestamp(milliseconds / 1000, UTC))


def is_id(text: str) -> bool:
    """Say whether `text` has the form of an identifier made by `new_id`."""
    return len(text) == 26 and all(character in _ALPHABET for character in text)


def utc_now() -> str:
    """Return the time in UTC as ISO 8601 with milliseconds."""
    return stamp(datetime.now(UTC))


def stamp(moment: datetime, timespec: str = "milliseconds") -> str:
    """Return a time in UTC as it is written in files: ISO 8601, to the millisecond or as `timespec` says."""
    return moment.isoformat(timespec=timespec).replace("+00:00", "Z")
