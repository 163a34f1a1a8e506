"""The list of sessions in one file, `index.json`: a cache that may be deleted.

An entry is valid while the log has the recorded size and time; every other log is read again. Also the search
in all sessions: logs are searched as bytes, the newest lines first, and only lines that may contain the text
are parsed.
"""

import contextlib
import functools
import itertools
import json
import operator
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from app.core.ids import is_id
from app.core.json_values import read_object
from app.core.message import AGENT_OPTION, SPOKEN, Author, Consent, MessageState, PromptType, Role
from app.core.session import Hit, Reason, SessionSummary, Status
from app.core.texts import clean_text
from app.storage.access import WriterLock
from app.storage.file_system import FileStat, FileSystem, Stamp, blocks_backwards, storage_errors, write_whole
from app.storage.lines import decode_line, encode_line, messages_backwards
from app.storage.paths import DataPaths

INDEX_VERSION = 7
_SUFFIX = ".jsonl"
_FIELDS = len(SessionSummary._fields)


@dataclass(slots=True)
class SessionIndex:
    """The summaries of all sessions by id, and the sizes and times of the logs they were read
    from by file name.

    Two dictionaries, because the second is compared with the folder as a whole: a thousand sessions are
    listed before the window shows.
    """

    summaries: dict[str, SessionSummary] = field(default_factory=dict)
    stamps: dict[str, Stamp] = field(default_factory=dict)

    def put(self, session_id: str, summary: SessionSummary, stat: FileStat) -> bool:
        """Add or replace a session; return whether that changed anything."""
        stamp = (stat.size, stat.mtime_ns)
        name = session_id + _SUFFIX
        if self.summaries.get(session_id) == summary and self.stamps.get(name) == stamp:
            return False
        self.summaries[session_id] = summary
        self.stamps[name] = stamp
        return True

    def remove(self, session_id: str) -> None:
        """Remove a session if it is there."""
        self.summaries.pop(session_id, None)
        self.stamps.pop(session_id + _SUFFIX, None)

    def is_cut_off(self, session_id: str, writer_since_ns: int | None) -> bool:
        """Return whether a session that is running according to its log was left so by a process
        that is gone.

        `writer_since_ns` is since when a process writes the data directory, None if there is none.
        """
        stamp = self.stamps.get(session_id + _SUFFIX)
        return writer_since_ns is None or (stamp is not None and stamp[1] < writer_since_ns)


def load_index(file_system: FileSystem, paths: DataPaths) -> tuple[SessionIndex, bool]:
    """Return the index of all logs, and whether `index.json` is out of date.

    A log that cannot be read is listed as damaged. Raises OSError if the folder cannot be listed.
    """
    cached = read_index(file_system, paths)
    found = file_system.stamps(paths.sessions)
    if cached.stamps == found:
        return cached, False
    index = SessionIndex()
    stale = False
    for name, stamp in found.items():
        session_id = name.removesuffix(_SUFFIX)
        if session_id == name or not is_id(session_id):
            continue
        summary = cached.summaries.get(session_id)
        if summary is None or cached.stamps[name] != stamp:
            stale = True
            summary = _read_summary(file_system, paths, session_id)
        if summary is not None:
            index.summaries[session_id] = summary
            index.stamps[name] = stamp
    return index, stale or len(index.stamps) != len(cached.stamps)


def read_index(file_system: FileSystem, paths: DataPaths) -> SessionIndex:
    """Return what `index.json` says; nothing if it is missing, damaged or of another version."""
    index = SessionIndex()
    try:
        line = decode_line(file_system.read(paths.index).rstrip(b"\n"))
    except OSError:
        return index
    if line is None or not line.ops or line.ops[0].get("version") != INDEX_VERSION:
        return index
    try:
        rows = line.ops[0]["sessions"]
        stamps = [(row.pop(1), row.pop(1)) for row in rows]
        summaries = msgspec.convert(rows, list[SessionSummary])
    except (KeyError, TypeError, AttributeError, IndexError, msgspec.ValidationError):
        return index
    if all(len(row) == _FIELDS for row in rows):
        index.summaries |= {summary.id: summary for summary in summaries}
        names = (summary.id + _SUFFIX for summary in summaries)
        index.stamps |= dict(zip(names, stamps, strict=True))
    return index


def newest_first(
    summaries: Iterable[SessionSummary], is_cut_off: Callable[[str], bool]
) -> list[SessionSummary]:
    """Return the list of sessions as people see it: one that was cut off while it ran is paused."""
    running = Status.RUNNING.value
    found = list(summaries)
    for place, summary in enumerate(found):
        if summary.status == running and is_cut_off(summary.id):
            found[place] = summary._replace(status=Status.PAUSED, reason=Reason.APP_RESTART)
    # By id and then by time: sorting twice by a string is four times as fast as once by a pair of them.
    found.sort(key=operator.attrgetter("id"), reverse=True)
    found.sort(key=operator.attrgetter("updated_at"), reverse=True)
    return found


def read_list(paths: DataPaths) -> list[SessionSummary]:
    """Return all sessions, newest first, for a process that only looks. Raises StorageError."""
    writer_since_ns = WriterLock(paths).held_since_ns()
    with storage_errors(paths.sessions):
        index, _ = load_index(FileSystem(), paths)
    return newest_first(index.summaries.values(), lambda item: index.is_cut_off(item, writer_since_ns))


def save_index(file_system: FileSystem, paths: DataPaths, index: SessionIndex) -> None:
    """Write `index.json`, newest first: a list that has its order already is sorted fast. Raises OSError."""
    newest = sorted(index.summaries.values(), key=operator.attrgetter("updated_at", "id"), reverse=True)
    rows = [[session_id, *index.stamps[session_id + _SUFFIX], *rest] for session_id, *rest in newest]
    data = encode_line(1, [{"op": "index", "version": INDEX_VERSION, "sessions": rows}])
    write_whole(file_system, paths.index, data)


def _read_summary(file_system: FileSystem, paths: DataPaths, session_id: str) -> SessionSummary | None:
    # Imported with the first log that the index does not know.
    from app.storage.codec import summary_of
    from app.storage.log import read_summary

    try:
        return read_summary(file_system, paths.session(session_id))
    except OSError:
        return summary_of(session_id, {}, 0, "", read_only=True)._replace(damaged=1)


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
            found.append(Hit(session=summary, excerpt=excerpt(summary.title, place, len(needle.text))))
        with contextlib.suppress(OSError):
            found += itertools.islice(_in_log(disk, path, summary, needle), MOST_IN_SESSION - len(found))
        hits += found
    return hits[:limit]


class Needle:
    """The text to find, as users see it and as the bytes that a log may contain."""

    def __init__(self, text: str) -> None:
        self.text = unicodedata.normalize("NFC", clean_text(text).strip()).casefold()
        anchor = _anchor(self.text)
        ways = (unicodedata.normalize(form, way) for way in _variants(anchor) for form in ("NFC", "NFD"))
        self._forms = sorted({json.dumps(way, ensure_ascii=False)[1:-1].encode().lower() for way in ways})
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


def excerpt(text: str, place: int, wanted: int) -> str:
    """Return about 120 characters around `wanted` ones at a position, on one line, with an ellipsis for
    omitted text; words are left out whole.
    """
    text = unicodedata.normalize("NFC", text)
    start = max(0, place - EXCERPT_BEFORE)
    end = min(len(text), start + EXCERPT)
    if start and not text[start - 1].isspace():
        cut = re.search(r"\s", text[start:place])
        start += cut.end() if cut else 0
    if end < len(text) and not text[end].isspace():
        cut = re.search(r"\s\S*$", text[place + wanted : end])
        end = place + wanted + cut.start() if cut else end
    return ("…" if start else "") + " ".join(text[start:end].split()) + ("…" if end < len(text) else "")


def _anchor(needle: str) -> str:
    """Return the longest part that a log contains unchanged except for ASCII case.

    If there is none, return the first letters, which are searched in all their cases.
    """
    parts = ("".join(group) for easy, group in itertools.groupby(needle, _is_easy) if easy)
    longest = max(parts, key=len, default="")
    if longest:
        return longest
    several = (any(len(way.casefold()) > 1 for way in _cases(letter)) for letter in needle[:_ANCHOR])
    return needle[: max(1, next((place for place, found in enumerate(several) if found), _ANCHOR))]


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
    wanted = len(needle.text)
    who, name, kind = (str(record["author"].get(key, "")) for key in ("id", "name", "kind"))
    author, shown = Author(id=who, name=name, kind=kind), excerpt(text, place, wanted)
    by_user = record.get("role") == Role.USER and kind != "orchestrator"
    return Hit(session=summary, message_id=record["id"], excerpt=shown, author=author, by_user=by_user)


def _words_in(answer: str) -> str:
    """Return the sentences of what Moot reads itself, as a judge's reading: JSON, or already words."""
    if "{" not in answer:
        return answer
    waiting: list[object] = [read_object(answer)]
    sentences: list[str] = []
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, dict | list):
            waiting[:0] = value.values() if isinstance(value, dict) else value
        elif isinstance(value, str) and len(value.split()) > 1:
            sentences.append(value.strip())
    return "\n".join(sentences)


def _seen(record: dict[str, Any]) -> str:
    """Return the visible text of a message: the words of a question, nothing of an approval."""
    content, prompt = record.get("content"), record.get("prompt")
    if isinstance(prompt, dict):
        content = "" if prompt.get("type") == PromptType.APPROVAL else prompt.get("question")
    elif record.get("answers") and (content in tuple(Consent) or _OWN_OPTION.fullmatch(str(content))):
        return ""
    if record.get("part", "") not in SPOKEN and isinstance(content, str):
        content = _words_in(content)
    # What a summary says was said in the messages before it.
    if not isinstance(content, str) or record.get("role") == Role.SUMMARY:
        return ""
    return content[:MOST_OF_TOOL] if record.get("role") == Role.TOOL else content
