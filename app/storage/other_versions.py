"""What another program wrote in place of a file that Moot uses: what it lacks, what it adds, and where it is kept.

A readable version of a session becomes a session of its own, with the time in its title; everything else is kept in
quarantine under a name with `.other-`, which the settings and `moot doctor` list.
"""

import io
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.core.ids import derived_id
from app.core.message import Message, MessageState
from app.core.store import Problem
from app.storage.codec import Plain, plain
from app.storage.file_system import FileSystem, write_whole
from app.storage.log import Replay, read_log, with_line
from app.storage.paths import DataPaths

_MARK = ".other-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """A file that another program deleted, cut or replaced while Moot used it.

    `code` is that of the notice, `name` the session's title or the file's name. The other version is the session
    `kept_id` with the title `kept`, or the file `kept`; "" if it added nothing.
    """

    code: str
    name: str
    session_id: str = ""
    kept: str = ""
    kept_id: str = ""


class OtherLog:
    """The log that another program put in place of a session's own, compared with the messages in memory."""

    def __init__(self, data: bytes, messages: Sequence[Message], unwritten: Collection[str]) -> None:
        self.data = data
        self.replay = read_log(lambda: io.BytesIO(data), lambda record: record)
        self._open = dict(self.replay.open_records())
        self._own: Mapping[str, Plain] = {one.id: plain(one) for one in messages}
        self._unwritten = unwritten

    def is_log_of(self, session: Plain | None, size: int, number: int) -> bool:
        """Return whether nothing that was written is missing; `size` and `number` are those of the log as written."""
        written = [one for one in self._own if one not in self._unwritten]
        if self.replay.damaged or any(one not in self.replay.messages for one in written):
            return False
        if len(self.data) == size and self.replay.last_number == number:
            return True
        same = session is None or self.replay.session == session
        return same and self.replay.last_number >= number and all(map(self._holds, written))

    def adds(self, updated_at: str) -> bool:
        """Return whether the log has something that the session in memory, last changed then, never had."""
        later = self.replay.session.get("updated_at")
        if self.replay.damaged or (isinstance(later, str) and later > updated_at):
            return True
        return any(
            not _begins(self._own.get(message_id), self._open.get(message_id, record))
            for message_id, record in self.replay.messages.items()
        )

    def _holds(self, message_id: str) -> bool:
        own, found = self._own[message_id], self.replay.messages[message_id]
        if own.get("state") == MessageState.STREAMING:
            return True  # Its end will be written with all of its text.
        return isinstance(found, dict) and all(found.get(name) == value for name, value in own.items())


def _begins(own: Plain | None, found: Any) -> bool:
    """Return whether a record is a message's own one, or one of an earlier moment."""
    if own is None or not isinstance(found, dict):
        return False
    return str(own.get("content", "")).startswith(str(found.get("content", "")))


def keep_log(disk: FileSystem, paths: DataPaths, session_id: str, other: OtherLog) -> tuple[str, str]:
    """Keep another version of a session; return its title and id, or its file and "". Raises OSError."""
    replay: Replay = other.replay
    if not replay.session or replay.damaged:
        path = keep_bytes(disk, paths.quarantine, paths.session(session_id), other.data)
        return str(path), ""
    kept_id = derived_id("other version", session_id, str(zlib.crc32(other.data)), str(len(other.data)))
    title = f"{replay.session.get('title', '')} · {datetime.now(UTC).astimezone():%Y-%m-%d %H:%M}"
    patch = {"op": "session", "patch": {"title": title}}
    # The same bytes may be put there again and again; they are kept once.
    if not _exists(disk, paths.session(kept_id)):
        write_whole(disk, paths.session(kept_id), with_line(other.data, replay.last_number + 1, [patch]))
    return title, kept_id


def keep_bytes(disk: FileSystem, quarantine: Path, path: Path, data: bytes) -> Path:
    """Keep another version of a file in quarantine and return its path. Raises OSError."""
    kept = quarantine / f"{path.stem}{_MARK}{zlib.crc32(data):08x}{path.suffix}"
    if not _exists(disk, kept):
        write_whole(disk, kept, data)
    return kept


def _exists(disk: FileSystem, path: Path) -> bool:
    try:
        disk.stat(path)
    except FileNotFoundError:
        return False
    return True


def kept_versions(disk: FileSystem, quarantine: Path) -> list[Problem]:
    """Return a problem for each file that is kept, so that the user finds it; none if the folder cannot be read."""
    try:
        names = sorted(one.name for one in disk.scan(quarantine) if _MARK in one.name)
    except OSError:
        return []
    return [Problem(path=str(quarantine / name), code="other_version") for name in names]
