"""The list of sessions in one file, `index.json`: a cache that may be deleted.

An entry is valid while the log has the recorded size and time; every other log is read again.
"""

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import msgspec

from app.core.ids import is_id
from app.core.session import Reason, SessionSummary, Status
from app.storage.access import WriterLock
from app.storage.file_system import FileStat, FileSystem, Stamp, storage_errors, write_whole
from app.storage.lines import decode_line, encode_line
from app.storage.paths import DataPaths

INDEX_VERSION = 6
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
    found = [
        summary._replace(status=Status.PAUSED, reason=Reason.APP_RESTART)
        if summary.status == running and is_cut_off(summary.id)
        else summary
        for summary in summaries
    ]
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
    from app.storage.log import read_summary
    from app.storage.records import summary_of

    try:
        return read_summary(file_system, paths.session(session_id))
    except OSError:
        return summary_of(session_id, {}, 0, "", read_only=True)
