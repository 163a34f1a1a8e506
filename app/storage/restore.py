"""Reads a backup: its contents compared with the data directory, and its parts ready to be restored.

A backup may come from anywhere, so the usual readers check every part.
"""

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.core.approvals import without_approvals
from app.core.errors import BadInput
from app.core.message import Message
from app.core.stored_data import Backup, BackupContents, Difference, PackedDocument, PackedSession
from app.core.usage import UsageEntry
from app.storage.backup import BACKUP_VERSION, MANIFEST, may_be_packed
from app.storage.codec import plain, with_unknown
from app.storage.file_system import FileSystem
from app.storage.foreign_file import CheckedZip, Limits
from app.storage.json_file import JsonFile, parse_json
from app.storage.log import Op, with_line
from app.storage.mcp_file import unpacked
from app.storage.paths import DataPaths
from app.storage.records import MessageReader, merge_patch, read_session, summary_of
from app.storage.replay import read_log, stored_session
from app.storage.upgrades import STEPS, upgraded
from app.storage.usage_ledger import read_ledger

# A year of work may be large, but not a single log or document.
LIMITS = Limits(file=4 << 30, unpacked=16 << 30, entry=512 << 20, entries=100_000)

_SESSIONS = "sessions/"
_LEDGER = "usage.jsonl"


class OpenBackup:
    """An open backup, and the data directory that it would be restored to; all methods block."""

    def __init__(self, paths: DataPaths, disk: FileSystem, path: Path) -> None:
        self._paths = paths
        self._disk = disk
        self._path = path
        self._schema = 1
        self._zip = CheckedZip(path, LIMITS)
        try:
            self.backup = self._read_manifest()
        except BaseException:
            self._zip.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._zip.close()

    def contents(self) -> BackupContents:
        """Return the contents, each part compared with the data directory."""
        sessions = [self._session(name) for name in self._zip.names if name.startswith(_SESSIONS)]
        sessions.sort(key=lambda one: (one.updated_at, one.id), reverse=True)
        documents = tuple(
            PackedDocument(name=name, state=self.document_state(name, data))
            for name, data in self.documents()
        )
        return BackupContents(backup=self.backup, sessions=tuple(sessions), documents=documents)

    def documents(self) -> Iterator[tuple[str, bytes]]:
        """Yield name and bytes of everything except sessions.

        The usage ledger is left out too: it may be open, and is imported line by line.
        """
        for name in self._zip.names:
            if name not in (MANIFEST, _LEDGER) and not name.startswith(_SESSIONS):
                data = upgraded(name, self._zip.read(name), self._schema)
                yield name, self._with_secrets(data) if name == "mcp.json" else data

    def usage(self) -> list[UsageEntry]:
        """Return the model calls in the backup's usage ledger."""
        return list(read_ledger(io.BytesIO(self._zip.read(_LEDGER)))) if _LEDGER in self._zip.names else []

    def log(self, session_id: str) -> bytes:
        """Return the log of a session, after reading it completely. Raises BadInput."""
        name = f"{_SESSIONS}{session_id}.jsonl"
        if name not in self._zip.names:
            raise BadInput("backup_lacks", name=self._path.name, entry=name)
        data = self._log(name)
        reader = MessageReader()
        replay = read_log(lambda: io.BytesIO(data), reader.read)
        session, _ = read_session(session_id, replay.session)
        if session.kind == "unknown":
            raise BadInput("backup_log_damaged", name=self._path.name, entry=name)
        return data

    def session_state(self, session_id: str, data: bytes) -> str:
        """Compare the log of a session with the present one."""
        path = self._paths.session(session_id)
        try:
            here = self._disk.read(path, 0, len(data))
        except FileNotFoundError:
            return Difference.MISSING
        except OSError:
            return Difference.CHANGED
        # A log only grows, so a log that begins with these bytes contains them all.
        return Difference.SAME if here == data else Difference.CHANGED

    def document_state(self, name: str, data: bytes) -> str:
        """Compare a document with the present one."""
        path = self._paths.root / name
        here = b""
        with contextlib.suppress(OSError):
            here = path.read_bytes()
        if not here.strip():
            return Difference.MISSING
        found = parse_json(path, data)
        if not isinstance(found, JsonFile):
            return Difference.UNREADABLE
        now = parse_json(path, here)
        return (
            Difference.SAME if isinstance(now, JsonFile) and now.value == found.value else Difference.CHANGED
        )

    def _with_secrets(self, servers: bytes) -> bytes:
        """Return `mcp.json` with the secrets that the user wrote into the present file."""
        with contextlib.suppress(OSError):
            return unpacked(servers, self._paths.mcp.read_bytes())
        return servers

    def _log(self, name: str) -> bytes:
        return upgraded(name, self._zip.read(name), self._schema)

    def _session(self, name: str) -> PackedSession:
        session_id = name.removeprefix(_SESSIONS).removesuffix(".jsonl")
        data = self._log(name)
        replay = read_log(lambda: io.BytesIO(data))
        summary = summary_of(session_id, replay.session, len(replay.messages), replay.latest, read_only=False)
        return PackedSession(
            id=session_id,
            kind=summary.kind,
            title=summary.title,
            updated_at=summary.updated_at,
            messages=summary.messages,
            state=self.session_state(session_id, data) if replay.session else Difference.UNREADABLE,
        )

    def _read_manifest(self) -> Backup:
        if MANIFEST not in self._zip.names:
            raise BadInput("not_a_backup", name=self._path.name)
        for name in self._zip.names:
            if name != MANIFEST and not may_be_packed(name):
                raise BadInput("zip_odd_entry", name=self._path.name, entry=name[:120])
        found = parse_json(self._path, self._zip.read(MANIFEST))
        manifest: dict[str, Any] = found.value if isinstance(found, JsonFile) else {}
        version, made_at, why = (manifest.get(key) for key in ("version", "made_at", "why"))
        if type(version) is not int or not isinstance(made_at, str) or not isinstance(why, str):
            raise BadInput("not_a_backup", name=self._path.name)
        schema = manifest.get("schema", 1)
        self._schema = schema if type(schema) is int else 1
        if version > BACKUP_VERSION or self._schema > 1 + len(STEPS):
            raise BadInput("backup_newer", name=self._path.name)
        if manifest.get("files") != len(self._zip.names) - 1:
            raise BadInput("zip_damaged", name=self._path.name, detail=MANIFEST)
        size = self._path.stat().st_size
        return Backup(path=str(self._path), made_at=made_at[:40], why=why[:40], size=size)


def renamed(data: bytes, made_at: str) -> bytes:
    """Return a log with the day of the backup added to its title, to tell the copy from the original."""
    replay = read_log(lambda: io.BytesIO(data))
    title = f"{replay.session.get('title', '')} · {made_at[:10]}"
    return with_line(data, replay.last_number + 1, [{"op": "session", "patch": {"title": title}}])


def unapproved(data: bytes) -> bytes:
    """Return a log with a line added that withdraws the approvals, if it contains any."""
    reader = MessageReader()
    replay = read_log(lambda: io.BytesIO(data), reader.read)
    before = stored_session("", replay, reader, mend=True)
    after = without_approvals(before.session, before.messages)
    ops: list[Op] = [
        {"op": "message", "message": with_unknown(Message, reader.more.get(one.id), plain(one))}
        for one in after.written
    ]
    if patch := merge_patch(plain(before.session), plain(after.session)):
        ops.append({"op": "session", "patch": patch})
    return with_line(data, replay.last_number + 1, ops) if ops else data
