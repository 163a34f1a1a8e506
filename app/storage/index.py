"""The list of sessions in one file, `index.json`: a cache that may be deleted.

An entry is valid while the log has the recorded size and time; every other log is read again.
"""

from typing import NamedTuple

from app.core.ids import is_id
from app.core.reasons import Reason
from app.core.session import SessionSummary, Status
from app.storage.file_system import FileStat, FileSystem, write_whole
from app.storage.log import decode_line, encode_line
from app.storage.paths import DataPaths
from app.storage.replay import read_summary

INDEX_VERSION = 2
_SUFFIX = ".jsonl"
_SUFFIX_AT = -len(_SUFFIX)


class IndexEntry(NamedTuple):
    """A session's summary, with the size and time of the log that it was read from."""

    summary: SessionSummary
    size: int
    mtime_ns: int


def load_index(file_system: FileSystem, paths: DataPaths) -> tuple[dict[str, IndexEntry], bool]:
    """Return an entry for every log, and whether `index.json` is out of date.

    A log that cannot be read is listed as damaged. Raises OSError if the folder cannot be listed.
    """
    cached = read_index(file_system, paths)
    found = file_system.scan(paths.sessions)
    if _is_current(cached, found):
        return cached, False
    entries: dict[str, IndexEntry] = {}
    stale = False
    for stat in found:
        session_id = stat.name.removesuffix(_SUFFIX)
        if session_id == stat.name or not is_id(session_id):
            continue
        entry = cached.get(session_id)
        if entry is None or (entry.size, entry.mtime_ns) != (stat.size, stat.mtime_ns):
            stale = True
            entry = _read_entry(file_system, paths, session_id, stat)
        if entry is not None:
            entries[session_id] = entry
    return entries, stale or len(entries) != len(cached)


def _is_current(cached: dict[str, IndexEntry], found: list[FileStat]) -> bool:
    """Return whether there is exactly one file, with the same size and time, for each entry."""
    for name, size, mtime_ns in found:
        entry = cached.get(name[:_SUFFIX_AT])
        if entry is None or entry[1] != size or entry[2] != mtime_ns or name[_SUFFIX_AT:] != _SUFFIX:
            return False
    return len(found) == len(cached)


def read_index(file_system: FileSystem, paths: DataPaths) -> dict[str, IndexEntry]:
    """Return the entries of `index.json`; none if it is missing, damaged or of another version."""
    try:
        line = decode_line(file_system.read(paths.index).rstrip(b"\n"))
    except OSError:
        return {}
    if line is None or not line.ops or line.ops[0].get("version") != INDEX_VERSION:
        return {}
    entries = {}
    try:
        for row in line.ops[0]["sessions"]:
            _, size, mtime_ns = row[:3]
            del row[1:3]
            row[-1] = tuple(row[-1])
            entries[row[0]] = IndexEntry._make((SessionSummary._make(row), size, mtime_ns))
    except (KeyError, TypeError, ValueError, IndexError):
        return {}
    return entries


def save_index(file_system: FileSystem, paths: DataPaths, entries: dict[str, IndexEntry]) -> None:
    """Write `index.json`. Raises OSError."""
    rows = [_row(entry) for entry in entries.values()]
    data = encode_line(1, [{"op": "index", "version": INDEX_VERSION, "sessions": rows}])
    write_whole(file_system, paths.index, data)


def _read_entry(
    file_system: FileSystem, paths: DataPaths, session_id: str, stat: FileStat
) -> IndexEntry | None:
    try:
        summary = read_summary(file_system, paths.session(session_id))
    except OSError:
        summary = SessionSummary(
            id=session_id,
            kind="unknown",
            title="",
            status=Status.ERROR,
            reason=Reason.DAMAGED,
            updated_at="",
            messages=0,
            read_only=True,
        )
    return None if summary is None else IndexEntry(summary, stat.size, stat.mtime_ns)


def _row(entry: IndexEntry) -> list[object]:
    session_id, *rest = entry.summary
    return [session_id, entry.size, entry.mtime_ns, *rest]
