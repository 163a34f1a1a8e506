"""The ledger of model calls: `usage.jsonl`, one checksummed line for each call, only appended to.

Each line is written on the session store's thread before the session's own, so that a crash loses none. A
missing ledger is rebuilt from the logs of all sessions, including the trash; one that another program
replaced or cut is too, from these, what is in it now, and what this process wrote.
"""

import asyncio
import contextlib
import io
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from app.core.json_values import as_list, as_object
from app.core.message import Total, UsageEntry, totals
from app.core.store import UsageLedger
from app.storage.codec import Plain, apply_patch, plain, read, with_unknown
from app.storage.file_system import FileSystem, KnownFile, storage_errors, write_all, write_whole
from app.storage.lines import decode_line, encode_line, read_lines
from app.storage.log import mended_size
from app.storage.paths import DataPaths
from app.storage.threads import Result, in_thread, run_in_thread

_OP = "usage"
# Only lines of a log with one of these can contain usage.
_NEEDLES = (b'"usage":', b'"unsaid":', b'"verdict":')
# How often in a row the file is waited for that another program replaces.
_MOST_REBUILDS = 4
_TIME = re.compile(r"\d{4}-(0[1-9]|1[0-2])-\d")


class InTurn(Protocol):
    """Runs jobs one after the other on a thread of its own."""

    def __call__(self, job: Callable[[], Result]) -> "Future[Result]":
        """Run a job after all that were queued before it."""


class UsageFile(UsageLedger):
    """Keeps the ledger of a data directory; with `read_only` it writes nothing."""

    def __init__(
        self,
        paths: DataPaths,
        in_turn: InTurn,
        *,
        read_only: bool = False,
        file_system: FileSystem | None = None,
    ) -> None:
        self._paths = paths
        self._path = paths.usage
        self._in_turn = in_turn
        self._read_only = read_only
        self._disk = file_system or FileSystem()
        self._pending: dict[str, bytes] = {}
        # What this process wrote, and the file as it left it.
        self._written: dict[str, bytes] = {}
        self._known = KnownFile(self._disk, self._path)
        self._descriptor: int | None = None
        self._size = 0
        self._size_before: int | None = None
        self._rebuilding: Future[None] | None = None
        self._closing = False

    def add(self, entry: UsageEntry) -> None:
        """Queue a call; if the disk refuses it, it is written with the next one."""
        line = _line(entry)

        def write() -> None:
            self._pending[entry.message_id] = line
            self._write_pending()

        if not self._read_only:
            self._in_turn(write)

    async def months(self) -> dict[str, Total]:
        """Return the total of each month, without the calls added by this process. Raises StorageError."""
        return await self._read(
            lambda found: totals((entry.month, entry) for entry in found), lambda: self._size_before, b""
        )

    async def entries(self, month: str) -> list[UsageEntry]:
        """Return all calls of a month, the oldest first. Raises StorageError."""
        of_month = await self._read(list, lambda: self._size, b'"at":"%b' % month.encode())
        return [entry for entry in of_month if entry.month == month]

    async def bring_in(self, entries: Sequence[UsageEntry]) -> list[UsageEntry]:
        """Add the calls whose ids are not in the ledger, and return them. Raises StorageError."""

        def write() -> list[UsageEntry]:
            there = {entry.message_id for entry in self._kept(self._size, b"")} | self._pending.keys()
            new = [entry for entry in _once(iter(entries)) if entry.message_id not in there]
            self._pending |= {entry.message_id: _line(entry) for entry in new}
            self._write_pending()
            return new

        with storage_errors(self._path):
            await self._opened()
            # Shielded, so that calls that were written are not reported as missing.
            return await asyncio.shield(asyncio.wrap_future(self._in_turn(write)))

    async def close(self) -> None:
        """Write the queue and close the file."""

        def finish() -> None:
            if self._pending or not self._known.is_there():
                self._write_pending()
            self._close()

        if not self._read_only:
            # Shielded, because the queue must be written even if the caller is cancelled.
            await asyncio.shield(asyncio.wrap_future(self._in_turn(finish)))
            if self._rebuilding is not None:
                # The queue goes into the new file.
                self._closing = True
                with contextlib.suppress(OSError):
                    await asyncio.wrap_future(self._rebuilding)
                await asyncio.shield(asyncio.wrap_future(self._in_turn(finish)))

    async def _read(
        self, sum_up: Callable[[Iterator[UsageEntry]], Result], size: Callable[[], int | None], needle: bytes
    ) -> Result:
        """Sum up those of the first `size` bytes' lines that contain the needle, in a thread."""
        end: int | None = None
        with storage_errors(self._path):
            if not self._read_only:
                await self._opened()
                end = size()
            return await in_thread(lambda: sum_up(self._kept(end, needle)), "moot-usage")

    async def _opened(self) -> None:
        """Open the file, or wait until it has been rebuilt. Raises OSError."""
        for _ in range(_MOST_REBUILDS):
            if (await asyncio.wrap_future(self._in_turn(self._open))) or self._rebuilding is None:
                return
            # It may be replaced again meanwhile, or before the thread that rebuilt it has ended.
            await asyncio.wrap_future(self._rebuilding)

    def _kept(self, size: int | None, needle: bytes) -> Iterator[UsageEntry]:
        """Yield the entries in the first `size` bytes (None for all), each message's once.

        Lines without the needle are not decoded.
        """
        try:
            lines = io.BytesIO(self._disk.read(self._path, 0, size))
        except FileNotFoundError:
            yield from _once(self._from_logs())
            return
        yield from read_ledger(line for line in lines if needle in line)

    def _from_logs(self) -> Iterator[UsageEntry]:
        for folder in (self._paths.sessions, self._paths.trash):
            for stat in self._disk.scan(folder):
                if stat.name.endswith(".jsonl"):
                    yield from _of_log(self._disk, folder / stat.name)

    # The rest runs on the store's thread.

    def _write_pending(self) -> None:
        try:
            if not self._open() or self._descriptor is None:
                return
            data = b"".join(self._pending.values())
            write_all(self._disk, self._descriptor, data)
            self._disk.sync(self._descriptor)
            self._size += len(data)
            self._known.id = written = self._disk.identity(self._descriptor)
            self._written |= self._pending
            self._pending.clear()
            # Replaced while it was written: what went to the other file is in memory.
            if written.size != self._size or not self._known.is_there():
                self._open()
        except OSError:
            # Kept for the next call; the session on the same disk reports the error. Opening the file again
            # cuts off a half-written line.
            self._close()

    def _open(self) -> bool:
        """Open the file and cut off an unfinished line; false if it is missing or replaced,
        and is being rebuilt.
        """
        is_there = self._known.is_there()
        if self._descriptor is not None and is_there:
            return True
        self._close()
        if not is_there:
            return self._begin_rebuilding()
        descriptor = None
        with contextlib.suppress(FileNotFoundError):
            descriptor = self._known.open()
        if descriptor is None:
            return self._begin_rebuilding()
        try:
            self._size = mended_size(self._disk, self._path, descriptor)
        except OSError:
            self._disk.close(descriptor)
            raise
        self._descriptor = descriptor
        self._known.id = self._disk.identity(descriptor)
        if self._size_before is None:
            self._size_before = self._size
        return True

    def _close(self) -> None:
        if self._descriptor is not None:
            self._disk.close(self._descriptor)
            self._descriptor = None

    def _begin_rebuilding(self) -> bool:
        if not self._closing and (self._rebuilding is None or self._rebuilding.done()):
            self._rebuilding = run_in_thread(self._rebuild, "moot-usage")
        return False

    def _rebuild(self) -> None:
        """Write the file from the logs and what it holds, without the calls that are queued anyway."""
        found = b""
        with contextlib.suppress(FileNotFoundError):
            found = self._disk.read(self._path)
        kept = list(_records(found.splitlines(keepends=True)))
        # What an entry has besides the fields of its class stays; the first of a call counts.
        before = {entry.message_id: record for entry, record in reversed(kept)}
        calls = chain((entry for entry, _ in kept), self._from_logs())
        entries = sorted(_once(calls), key=lambda entry: entry.at)

        def take_over() -> None:
            own = self._written | self._pending
            others = (entry for entry in entries if entry.message_id not in own)
            lines = [_line(entry, before.get(entry.message_id)) for entry in others]
            lines += [line for message_id, line in own.items() if message_id not in self._pending]
            self._known.id = write_whole(self._disk, self._path, b"".join(lines))
            self._write_pending()

        self._in_turn(take_over).result()


def _line(entry: UsageEntry, before: Plain | None = None) -> bytes:
    return encode_line(0, [{"op": _OP, "usage": with_unknown(UsageEntry, before, plain(entry))}])


def _once(entries: Iterator[UsageEntry]) -> Iterator[UsageEntry]:
    seen = set()
    for entry in entries:
        if entry.message_id not in seen:
            seen.add(entry.message_id)
            yield entry


def read_ledger(lines: Iterable[bytes]) -> Iterator[UsageEntry]:
    """Yield the calls in a ledger's lines, each once; unreadable lines are skipped."""
    yield from _once(entry for entry, _ in _records(lines))


def _records(lines: Iterable[bytes]) -> Iterator[tuple[UsageEntry, Plain]]:
    """Yield the calls in a ledger's lines, each with its record."""
    for line in read_lines(lines):
        for op in line.ops if line is not None else ():
            record = op.get("usage")
            if op.get("op") == _OP and (entry := _entry(record)) is not None:
                yield entry, as_object(record)


def _of_log(disk: FileSystem, path: Path) -> Iterator[UsageEntry]:
    """Yield the usage in a session's log: of its messages, its votes, and calls that were cut early."""
    session_id = path.name.partition(".")[0]
    session: dict[str, Any] = {}
    with disk.open_read(path) as file:
        for data in file:
            wanted = any(needle in data for needle in _NEEDLES)
            line = decode_line(data.rstrip(b"\r\n")) if wanted else None
            for op in line.ops if line is not None else ():
                records = [*_of_message(op.get("message"))]
                if patch := as_object(op.get("patch")):
                    apply_patch(session, patch)
                    records += _of_session(session_id, session)
                for record in records:
                    entry = _entry({**record, "session_id": record.get("session_id") or session_id})
                    if entry is not None:
                        yield entry


def _of_message(message: Any) -> Iterator[dict[str, Any]]:
    """Yield the usage of a message; its start stands for its end."""
    message = as_object(message)
    if usage := as_object(message.get("usage")):
        author = as_object(message.get("author"))
        names = {"author_id": author.get("id"), "author": author.get("name")}
        yield {**usage, **names, "message_id": message.get("id"), "at": message.get("created_at")}


def _of_session(session_id: str, session: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the usage of votes, of the verdict, and of calls without a message.

    Old votes have no time of their own, so the time of the change that brought them is used.
    """
    debate, at = as_object(session.get("debate")), session.get("updated_at")
    for ballot in map(as_object, as_list(debate.get("ballots"))):
        name = f"{session_id} {ballot.get('participant')} {ballot.get('round')}"
        if usage := as_object(ballot.get("usage")):
            yield {"message_id": name, "at": at, **usage}
    if usage := as_object(as_object(debate.get("verdict")).get("usage")):
        yield {"message_id": f"{session_id} verdict", "at": at, **usage}
    yield from map(as_object, as_list(session.get("unsaid")))


def _entry(record: Any) -> UsageEntry | None:
    """Return the entry of a record, None if it does not say which call it was, when,
    or costs what nothing can.
    """
    entry = read(UsageEntry, record, [])
    if entry is None or not entry.message_id or not _TIME.match(entry.at):
        return None
    return entry if 0 <= (entry.cost_usd or 0) < math.inf else None
