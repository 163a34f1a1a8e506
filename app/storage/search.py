"""Searches the titles and messages of all sessions without loading them.

The logs are searched as bytes, the newest lines first; only lines that may contain the text are parsed.
"""

import contextlib
import functools
import itertools
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from app.core.message import AGENT_OPTION, Consent, MessageState, PromptType, Role
from app.core.session import SessionSummary
from app.core.store import Hit
from app.core.texts import clean_text
from app.storage.file_system import FileSystem, blocks_backwards
from app.storage.lines import decode_line, messages_backwards

MOST_IN_SESSION = 5
# Tool results are searched up to here: a fetched page is not part of the conversation.
MOST_OF_TOOL = 10_000
EXCERPT_BEFORE = 40
EXCERPT = 120
_OWN_OPTION = re.compile(rf"{AGENT_OPTION}\d+")

_BLOCK = 1024 * 1024
_ANCHOR = 3
# Above this no letter has another case.
_LETTERS = 0x20000
_MESSAGE = b'"op":"message","message":{"id":"'


def find_in_sessions(
    disk: FileSystem,
    sessions: Iterable[tuple[SessionSummary, Path]],
    text: str,
    limit: int,
    is_stopped: Callable[[], bool],
) -> list[Hit]:
    """Return at most `limit` hits, a session's title before its messages, and the newest messages first.

    Ignores case and Unicode composition. Skips logs that cannot be read; `is_stopped` ends the search early.
    """
    needle = Needle(text)
    hits: list[Hit] = []
    for summary, path in sessions if needle.text else ():
        if len(hits) >= limit or is_stopped():
            break
        found = []
        if (place := needle.find(summary.title)) is not None:
            found.append(Hit(session=summary, excerpt=excerpt(summary.title, place)))
        with contextlib.suppress(OSError):
            found += itertools.islice(_in_log(disk, path, summary, needle), MOST_IN_SESSION - len(found))
        hits += found
    return hits[:limit]


class Needle:
    """The text to find, as users see it and as the bytes that a log may contain."""

    def __init__(self, text: str) -> None:
        self.text = unicodedata.normalize("NFC", clean_text(text).strip()).casefold()
        anchor = _anchor(self.text)
        self._forms = sorted(
            {
                json.dumps(unicodedata.normalize(form, variant), ensure_ascii=False)[1:-1].encode().lower()
                for variant in _variants(anchor)
                for form in ("NFC", "NFD")
            }
        )
        self._has_case = any(form.upper() != form for form in self._forms)

    def find(self, text: str) -> int | None:
        """Return the position in `unicodedata.normalize("NFC", text)`, None if the text is not there."""
        text = unicodedata.normalize("NFC", text)
        place = text.casefold().find(self.text)
        if place <= 0 or len(text.casefold()) == len(text):
            return None if place < 0 else place
        lengths = itertools.accumulate(len(letter.casefold()) for letter in text)
        return next(number for number, length in enumerate(lengths) if length > place)

    def lines_backwards(self, block: bytes) -> Iterator[tuple[bytes, int]]:
        """Yield the lines that may contain the text, the last first, each with its end."""
        lowered = block.lower() if self._has_case else block
        end = len(block)
        while (place := max(lowered.rfind(form, 0, end) for form in self._forms)) >= 0:
            start = lowered.rfind(b"\n", 0, place) + 1
            stop = lowered.find(b"\n", place)
            stop = len(block) if stop < 0 else stop
            yield block[start:stop], stop
            end = start


def excerpt(text: str, place: int) -> str:
    """Return about 120 characters around a position, on one line, with an ellipsis for omitted text."""
    text = unicodedata.normalize("NFC", text)
    start = max(0, place - EXCERPT_BEFORE)
    end = min(len(text), start + EXCERPT)
    return ("…" if start else "") + " ".join(text[start:end].split()) + ("…" if end < len(text) else "")


def _anchor(needle: str) -> str:
    """Return the longest part that a log contains unchanged except for ASCII case.

    If there is none, return the first letters, which are searched in all their cases.
    """
    parts = ("".join(group) for easy, group in itertools.groupby(needle, _is_easy) if easy)
    longest = max(parts, key=len, default="")
    if longest:
        return longest
    alone = (
        place for place, letter in enumerate(needle) if any(len(way.casefold()) > 1 for way in _cases(letter))
    )
    return needle[: max(1, min(_ANCHOR, next(alone, _ANCHOR)))]


def _is_easy(letter: str) -> bool:
    # "ss" may be written "ß", and "k" as the Kelvin sign.
    return letter not in "sk" and (letter.isascii() or letter.lower() == letter.upper())


def _variants(anchor: str) -> Iterator[str]:
    if all(map(_is_easy, anchor)):
        return iter((anchor,))
    return map("".join, itertools.product(*map(_cases, anchor)))


@functools.cache
def _cases(letter: str) -> tuple[str, ...]:
    """Return all letters whose case folding contains this one."""
    return tuple(item for item in map(chr, range(_LETTERS)) if letter in item.casefold()) or (letter,)


def _in_log(disk: FileSystem, path: Path, summary: SessionSummary, needle: Needle) -> Iterator[Hit]:
    written: set[bytes] = set()
    for block, has_before in blocks_backwards(disk, path, _BLOCK):
        for line, stop in needle.lines_backwards(block):
            read = decode_line(line.rstrip(b"\r")) if b'"op":"message"' in line else None
            for message_id, record in messages_backwards(read) if read is not None else ():
                key = message_id.encode()
                # The message was written again later, and only its last state counts.
                if key in written or block.find(_MESSAGE + key + b'"', stop) >= 0:
                    continue
                written.add(key)
                hit = _message_hit(summary, record, needle)
                if hit is not None:
                    yield hit
        if has_before:
            written.update(piece.partition(b'"')[0] for piece in block.split(_MESSAGE)[1:])


def _message_hit(summary: SessionSummary, record: dict[str, Any], needle: Needle) -> Hit | None:
    if record.get("state") == MessageState.STREAMING or not isinstance(record.get("author"), dict):
        return None
    text = _seen(record)
    if (place := needle.find(text)) is None:
        return None
    return Hit(session=summary, message_id=record["id"], excerpt=excerpt(text, place))


def _seen(record: dict[str, Any]) -> str:
    """Return the visible text of a message: the words of a question, nothing of an approval."""
    content, prompt = record.get("content"), record.get("prompt")
    if isinstance(prompt, dict):
        content = "" if prompt.get("type") == PromptType.APPROVAL else prompt.get("question")
    elif record.get("answers") and (content in tuple(Consent) or _OWN_OPTION.fullmatch(str(content))):
        return ""
    # What a summary says was said in the messages before it.
    if not isinstance(content, str) or record.get("role") == Role.SUMMARY:
        return ""
    return content[:MOST_OF_TOOL] if record.get("role") == Role.TOOL else content
