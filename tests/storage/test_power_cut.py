"""The power goes off at every call the store makes of the disk: nothing acknowledged is lost.

Seeded faults show that the test can see what it is there for.
"""

import contextlib
import errno
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.core.errors import NotFound, StorageError
from app.core.message import Message
from app.core.session import DebateSession
from app.storage import file_system, index, json_file, session_log
from app.storage.json_file import JsonFile, parse_json
from app.storage.lines import LogRow
from app.storage.session_log import SessionLog
from tests.repeats import slow_after
from tests.storage.samples import ROOT, changed, debate, finished, message, new_store, started, streaming
from tests.storage.sim_fs import SimFS

SEEDS = 4
SESSION_ID = "01" + "a" * 24
SETTINGS = ROOT / "settings.json"
CONSENTS = ROOT / "consents.json"
TRIES = 3


class Story:
    """What was done to one session, and how much of it was acknowledged."""

    def __init__(self) -> None:
        self.session: DebateSession = debate(SESSION_ID, title="s0")
        self.said: list[Message] = []
        self.acknowledged: dict[str, str] = {}
        self.title = -1
        self.settings = -1
        self.consents = -1
        self.turn = 0

    async def run(self, disk: SimFS, turns: int) -> None:
        """Live through some turns on a disk; StorageError ends it, as it ends a debate."""
        store = new_store(disk)
        try:
            if self.title >= 0:
                stored = await store.load(SESSION_ID)
                if not isinstance(stored.session, DebateSession):
                    return  # What is wrong is found below.
                self.session = stored.session
                await self._step_in(store)
            else:
                store.append(started(self.session))
                await store.flush(SESSION_ID)
                self.title = 0
            for _ in range(turns):
                await self._turn(store, disk)
        finally:
            with contextlib.suppress(StorageError):
                await store.close()

    async def _step_in(self, store) -> None:
        said = message("And the buses?", role="user", turn_id="u")
        self.said.append(said)
        store.append((finished(SESSION_ID, said),))
        await store.flush(SESSION_ID)
        self.acknowledged[said.id] = said.content

    async def _turn(self, store, disk: SimFS) -> None:
        self.turn += 1
        one = message(f"Answer {self.turn}: cities breathe. " * 3, turn_id=f"t{self.turn}")
        self.said.append(one)
        for batch in streaming(SESSION_ID, one, size=30):
            store.append(batch)
            # As time does: each piece reaches the writer on its own.
            store._post_text()
            store._writer.call(lambda: store._writer.log(SESSION_ID).gather_text())
        self.session, event = changed(self.session, title=f"s{self.turn}")
        store.append((finished(SESSION_ID, one), event))
        await store.flush(SESSION_ID)
        self.acknowledged[one.id] = one.content
        self.title = self.turn
        try:
            file_system.write_whole(disk, SETTINGS, b"%d" % self.turn + b"." * 40)
        except OSError as error:
            raise StorageError("disk_error") from error
        self.settings = self.turn
        json_file.replace_document(disk, CONSENTS, {"version": 1, "consents": [str(self.turn)]})
        self.consents = self.turn

    async def faults(self, disk: SimFS) -> list[str]:
        """Return what a disk lacks of what was acknowledged, or holds that never was."""
        store = new_store(disk)
        try:
            stored = await store.load(SESSION_ID)
        except NotFound:
            return ["the session is gone"] if self.title >= 0 else []
        finally:
            await store.close()
        found = []
        if self.title >= 0 and stored.read_only:
            found.append("the session is read-only")
        kept = {one.id: one.content for one in stored.messages}
        found += [
            f"lost {content!r}" for key, content in self.acknowledged.items() if kept.get(key) != content
        ]
        said = iter(one.id for one in self.said)
        if not all(one.id in said for one in stored.messages):
            found.append("the order changed")
        whole = {one.id: one.content for one in self.said}
        found += [f"made up {text!r}" for key, text in kept.items() if not whole[key].startswith(text)]
        if not self.title <= int(stored.session.title.removeprefix("s") or -1) <= self.turn:
            found.append(f"the session went back to {stored.session.title}")
        if self.settings >= 0:
            inode = disk.names.get(str(SETTINGS))
            text = bytes(inode.seen).split(b".")[0] if inode else b""
            if not text.isdigit() or not self.settings <= int(text) <= self.turn:
                found.append("the settings are gone")
        if self.consents >= 0:
            inode = disk.names.get(str(CONSENTS))
            document = document_file_of(bytes(inode.seen) if inode else b"")
            if not self.consents <= int(document.get("consents", ["-1"])[0]) <= self.turn:
                found.append("the consents are gone")
        return found

    def copy(self) -> "Story":
        other = Story()
        other.__dict__.update(self.__dict__)
        other.said, other.acknowledged = list(self.said), dict(self.acknowledged)
        return other


def document_file_of(data: bytes) -> dict[str, list[str]]:
    found = parse_json(CONSENTS, data)
    return found.value if isinstance(found, JsonFile) else {}


async def power_cuts(step: int = 1) -> tuple[int, list[str]]:
    """Cut the power after every `step`-th call, in several ways, and again while starting anew, until a fault is found."""
    states, found = 0, []
    for off_after in range(0, 10_000, step):
        disk, story = SimFS(), Story()
        disk.off_after = off_after
        with contextlib.suppress(StorageError):
            await story.run(disk, turns=2)
        over = disk.calls <= off_after
        for seed in range(SEEDS):
            states += 1
            left = disk.after_power_cut(seed)
            where = f"call {off_after} seed {seed}: "
            found += [where + fault for fault in await story.faults(left)]
            again = story.copy()
            left.off_after = left.calls + (off_after + 7 * seed) % 25
            with contextlib.suppress(StorageError, NotFound):
                await again.run(left, turns=1)
            left = left.after_power_cut(seed)
            found += [where + "second start: " + fault for fault in await again.faults(left)]
        if over or found:
            return states, found
    raise AssertionError("the story never ended")


@pytest.mark.allow_blocking  # documents are written on a thread of their own in the program
async def test_nothing_acknowledged_is_lost_when_the_power_goes():
    states, found = await power_cuts()
    assert not found, found[:5]
    assert states > 150


def _no_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SimFS, "sync", lambda *_: None)


def _no_sync_of_fresh_files(monkeypatch: pytest.MonkeyPatch) -> None:
    real = SimFS.sync

    def sync(self: SimFS, descriptor: int) -> None:
        if not self._open[descriptor][1].endswith(".tmp"):
            real(self, descriptor)

    monkeypatch.setattr(SimFS, "sync", sync)


def _no_sync_of_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SimFS, "sync_folder", lambda *_: None)


def _torn_tail_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SessionLog, "_mend_tail", lambda *_: None)
    monkeypatch.setattr("app.storage.lines._salvage", lambda place, body: LogRow(place, [], body))


def _documents_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def write(disk: SimFS, path: Path, data: bytes) -> None:
        try:
            descriptor = disk.open(path)
            disk.truncate(descriptor, 0)
        except FileNotFoundError:
            descriptor = disk.create(path)
        file_system.write_all(disk, descriptor, data)
        disk.sync(descriptor)
        disk.close(descriptor)
        disk.sync_folder(path.parent)

    for module in (file_system, json_file, index, session_log):
        monkeypatch.setattr(module, "write_whole", write)


def _messages_need_no_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    real = SessionLog.write

    def write(self, *, sync=False):
        real(self)

    monkeypatch.setattr(SessionLog, "write", write)
    batch = session_log._Batch

    def unsynced(parts, summary, sync):
        return batch(parts, summary, sync=False)

    monkeypatch.setattr(session_log, "_Batch", unsynced)


@pytest.mark.allow_blocking  # documents are written on a thread of their own in the program
@pytest.mark.parametrize(
    "fault",
    [
        _no_sync,
        _no_sync_of_fresh_files,
        _no_sync_of_folders,
        _torn_tail_stays,
        _documents_in_place,
        _messages_need_no_sync,
    ],
)
async def test_a_seeded_fault_is_seen(fault: Callable[[pytest.MonkeyPatch], None], monkeypatch):
    fault(monkeypatch)
    _, found = await power_cuts(step=2)
    assert found


async def refusals(number: int, *, short: bool) -> tuple[int, list[str]]:
    """Let every call fail in turn, once, with one error; the story is tried again until it is saved."""
    found = []
    for place in range(1, 10_000):
        disk, story = SimFS(), Story()
        disk.short_writes = short
        disk.fault = lambda call, name, path, at=place: (
            OSError(number, "injected") if call in (at, at + 1) else None
        )
        for _ in range(TRIES):
            with contextlib.suppress(StorageError, NotFound):
                await story.run(disk, turns=1)
        found += [f"call {place}: {fault}" for fault in await story.faults(disk.after_kill())]
        found += [f"call {place}, off: {fault}" for fault in await story.faults(disk.after_power_cut(place))]
        if disk.calls < place:
            return place, found
    raise AssertionError("the story never ended")


@pytest.mark.allow_blocking  # documents are written on a thread of their own in the program
@pytest.mark.parametrize("number", slow_after(1, [(errno.ENOSPC,), (errno.EIO,), (errno.EDQUOT,)]))
async def test_an_error_at_any_call_loses_nothing(number: int):
    cases, found = await refusals(number, short=number == errno.ENOSPC)
    assert not found, found[:5]
    assert cases > 30


async def queued_records_survive(number: int) -> list[str]:
    """Let the disk fail for a while in the middle; what was appended must be there after a flush."""
    found = []
    for place in range(1, 30):
        disk = SimFS()
        disk.short_writes = True
        store = new_store(disk)
        session = debate(SESSION_ID)
        store.append(started(session))
        await store.flush(SESSION_ID)
        base = disk.calls
        disk.fault = lambda call, name, path, base=base, place=place: (
            OSError(number, "injected") if base + place <= call < base + place + 3 else None
        )
        said = [message(f"Answer {count}") for count in range(4)]
        for one in said:
            store.append((finished(SESSION_ID, one),))
            with contextlib.suppress(StorageError):
                await store.flush(SESSION_ID)
        for _ in range(4):
            try:
                await store.flush(SESSION_ID)
                break
            except StorageError:
                continue
        left = disk.after_power_cut(place)
        await store.close()
        again = new_store(left)
        kept = [one.content for one in (await again.load(SESSION_ID)).messages]
        await again.close()
        if kept != [one.content for one in said]:
            found.append(f"call {place}: {kept}")
    return found


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
async def test_what_failed_stays_queued_and_in_order(number: int):
    assert not await queued_records_survive(number)


@pytest.mark.parametrize("call", ["create", "write", "sync", "sync_folder"])
@pytest.mark.parametrize("heals", [True, False])
async def test_a_session_whose_start_was_refused_never_comes_back(call: str, heals: bool):
    disk = SimFS()
    store = new_store(disk)
    disk.fault = lambda _, name, path: OSError(errno.ENOSPC, "full") if name == call else None
    session = debate(SESSION_ID)
    store.append(started(session))
    with pytest.raises(StorageError):
        await store.flush(SESSION_ID)
    await store.discard(SESSION_ID)
    assert store.summaries() == []
    if heals:
        disk.fault = lambda *_: None
    await store.close()
    again = new_store(disk.after_kill())
    assert again.summaries() == []
    await again.close()


def _retry_the_failed_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    real = SessionLog._poison

    def stay(self: SessionLog) -> None:
        self._size = self._disk.stat(self.path).size
        self._pending.clear()

    monkeypatch.setattr(SessionLog, "_poison", stay)
    assert real


def _forget_what_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    real = SessionLog._write

    def write(self: SessionLog, sync: bool) -> None:
        try:
            real(self, sync)
        except OSError:
            self._pending.clear()
            raise

    monkeypatch.setattr(SessionLog, "_write", write)


def _leave_half_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    def leave(self: SessionLog, error: OSError) -> None:
        # As if the half line were what is expected: a file of another length is read again.
        self._known.id = self._disk.identity(self.path)
        self._size = self._known.id.size

    monkeypatch.setattr(SessionLog, "_take_back", leave)
    monkeypatch.setattr("app.storage.lines._salvage", lambda place, body: LogRow(place, [], body))


@pytest.mark.parametrize("fault", [_retry_the_failed_sync, _forget_what_failed, _leave_half_lines])
async def test_a_seeded_fault_of_the_error_paths_is_seen(fault, monkeypatch):
    fault(monkeypatch)
    found = []
    for number in (errno.ENOSPC, errno.EIO):
        with contextlib.suppress(StorageError):
            found += await queued_records_survive(number)
    assert found


def test_the_simulated_disk_keeps_what_was_synced() -> None:
    disk = SimFS()
    file_system.write_whole(disk, SETTINGS, b"one")
    assert all(bytes(disk.after_power_cut(seed).names[str(SETTINGS)].seen) == b"one" for seed in range(20))
    descriptor = disk.open(SETTINGS)
    disk.write(descriptor, b"two")
    disk.close(descriptor)
    seen: Iterator[bytes] = (
        bytes(disk.after_power_cut(seed).names[str(SETTINGS)].seen) for seed in range(60)
    )
    assert len(set(seen)) > 3
