"""Backups: what is in them, when they are made, and that a power cut leaves the data and the backups whole."""

import asyncio
import json
import os
import zipfile
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.core.errors import StorageError
from app.core.store import BackupReason
from app.storage.documents import JsonDocuments
from app.storage.file_system import FileSystem
from app.storage.foreign_file import CheckedZip
from app.storage.paths import DEFINITIONS, DataPaths
from app.storage.sessions import JsonLogStore
from app.storage.stored_data import (
    KEPT,
    LIMITS,
    MANIFEST,
    FileArchive,
    may_be_packed,
    own_backups,
    write_backup,
)
from tests.storage.samples import ROOT, debate, finished, message, new_store, put, saved, started
from tests.storage.sim_fs import SimFS

DISK = FileSystem()


def archive_of(paths: DataPaths, store: JsonLogStore) -> FileArchive:
    return FileArchive(paths, store, JsonDocuments(paths))


def names_in(path: str) -> set[str]:
    with zipfile.ZipFile(path) as file:
        assert file.testzip() is None
        return set(file.namelist())


def age(path: str, days: float) -> None:
    """Give a backup of the data directory the name it would have had some days ago."""
    old = Path(path)
    _, _, _, _, why = old.stem.split("-", 4)
    stamp = (datetime.now(UTC) - timedelta(days=days)).strftime("%Y%m%d-%H%M%S-%f")
    old.rename(old.with_name(f"moot-{stamp}-{why}.zip"))


@pytest.mark.threat("T1")
async def test_everything_of_the_users_is_packed_and_nothing_else(paths: DataPaths, store: JsonLogStore):
    session = await saved(store, "said")
    put(paths.root / "assistants" / "ada.json", '{"id": "ada", "name": "Ada"}')
    put(paths.root / "assistants" / "My own.json", '{"id": "own", "name": "Own"}')
    put(paths.root / "assistants" / ".versions" / "ada" / "1.json", "{}")
    for folder in DEFINITIONS[1:]:
        put(paths.root / folder / "x.json", "{}")
    for path in (paths.settings, paths.providers, paths.mcp, paths.usage, paths.memory, paths.schedule_runs):
        put(path, "{}")
    for path in (paths.consents, paths.index, paths.control, paths.lock, paths.logs / "a.log"):
        put(path, "not to be packed")
    for path in (paths.trash / "x.1.json", paths.quarantine / "x", paths.sessions / "stray.tmp"):
        put(path, "not to be packed")
    backup = await archive_of(paths, store).back_up(BackupReason.BY_HAND)
    assert names_in(backup.path) == {
        MANIFEST,
        f"sessions/{session.id}.jsonl",
        "assistants/ada.json",
        "assistants/My own.json",
        "assistants/.versions/ada/1.json",
        *(f"{folder}/x.json" for folder in DEFINITIONS[1:]),
        "settings.json",
        "providers.json",
        "mcp.json",
        "usage.jsonl",
        "memory.json",
        "schedule_runs.json",
    }
    if os.name == "posix":
        assert Path(backup.path).stat().st_mode & 0o777 == 0o600


async def test_a_log_is_packed_up_to_its_last_whole_line(paths: DataPaths, store: JsonLogStore):
    session = await saved(store, "said")
    whole = paths.session(session.id).read_bytes()
    with paths.session(session.id).open("ab") as file:
        file.write(b'{"c":"1234')
    backup = await archive_of(paths, store).back_up(BackupReason.BY_HAND)
    with zipfile.ZipFile(backup.path) as file:
        assert file.read(f"sessions/{session.id}.jsonl") == whole


async def test_the_backup_of_the_day_is_made_once_and_only_after_a_change(
    paths: DataPaths, store: JsonLogStore
):
    archive = archive_of(paths, store)
    assert await archive.back_up_if_due() is None
    await saved(store, "said")
    first = await archive.back_up_if_due()
    assert first is not None and first.why == BackupReason.DAILY
    await saved(store, "more")
    assert await archive.back_up_if_due() is None  # one was made today
    age(first.path, 1.5)
    second = await archive.back_up_if_due()
    assert second is not None
    age(second.path, 1.1)
    assert await archive.back_up_if_due() is None  # nothing has changed since
    await saved(store, "even more")
    assert await archive.back_up_if_due() is not None


async def test_the_newest_seven_of_each_kind_stay(paths: DataPaths, store: JsonLogStore):
    await saved(store, "said")
    for _ in range(KEPT + 3):
        await asyncio.to_thread(write_backup, paths, DISK, BackupReason.DAILY)
    await asyncio.to_thread(write_backup, paths, DISK, BackupReason.BEFORE_RESTORE)
    found = await asyncio.to_thread(own_backups, paths, DISK)
    assert [one.why for one in found] == [BackupReason.BEFORE_RESTORE, *[BackupReason.DAILY] * KEPT]
    assert [one.made_at for one in found] == sorted((one.made_at for one in found), reverse=True)


async def test_a_clock_that_was_ahead_keeps_no_backup_from_being_made_and_kept(
    paths: DataPaths, store: JsonLogStore
):
    archive = archive_of(paths, store)
    await saved(store, "said")
    for _ in range(KEPT):
        age((await asyncio.to_thread(write_backup, paths, DISK, BackupReason.DAILY)).path, -40)
    await saved(store, "more")
    made = await archive.back_up_if_due()
    assert made is not None and Path(made.path).exists()
    assert await archive.back_up_if_due() is None, "one was made today"
    left = await archive.backups()
    assert len(left) == KEPT and made.made_at in [one.made_at for one in left]


async def test_a_backup_by_hand_goes_where_it_is_wanted(
    paths: DataPaths, store: JsonLogStore, tmp_path: Path
):
    await saved(store, "said")
    archive = archive_of(paths, store)
    target = tmp_path / "stick" / "mine.zip"
    backup = await archive.back_up(BackupReason.BY_HAND, str(target))
    assert backup.size == target.stat().st_size
    assert await archive.backups() == ()
    (tmp_path / "file").write_text("")
    # Where it was to go is named, and nothing is said of trying again there.
    for work in (
        archive.back_up(BackupReason.BY_HAND, str(tmp_path / "file" / "mine.zip")),
        archive.write_zip(str(tmp_path / "file" / "mine.zip"), iter([])),
    ):
        with pytest.raises(StorageError, match="export_failed") as caught:
            await work
        assert caught.value.details["name"] == "mine.zip"


async def test_what_packs_too_well_to_be_believed_can_still_be_read(paths: DataPaths, store: JsonLogStore):
    session = await saved(store, "a" * 5_000_000)
    backup = await archive_of(paths, store).back_up(BackupReason.BY_HAND)

    def read() -> bytes:
        with closing(CheckedZip(Path(backup.path), LIMITS)) as file:
            return file.read(f"sessions/{session.id}.jsonl")

    assert len(await asyncio.to_thread(read)) > 5_000_000


@pytest.mark.parametrize(
    "name",
    [
        "../settings.json",
        "sessions/../settings.json",
        "/etc/passwd",
        "sessions/x.jsonl",
        "sessions/" + "a" * 26 + ".json",
        "assistants/../../x.json",
        "assistants/a/b.json",
        "assistants/.hidden.json",
        "assistants/a\\b.json",
        "assistants/a\nb.json",
        "assistants/c:d.json",
        "assistants/" + "x" * 120 + ".json",
        "assistants/.versions/x/y.json",
        "assistants/.versions/../1.json",
        "consents.json",
        "lock",
        "",
    ],
)
@pytest.mark.threat("T16")
def test_only_names_of_ours_are_packed_or_read(name: str):
    assert not may_be_packed(name)


def test_a_power_cut_leaves_every_backup_whole_and_the_sessions_as_they_were():
    """The power goes off at each call a backup makes of the disk."""

    async def said(disk: SimFS) -> bytes:
        store = new_store(disk)
        session = debate("01" + "a" * 24)
        store.append(started(session))
        store.append((finished(session.id, message("said")),))
        await store.close()
        return disk.read(DataPaths(ROOT).session(session.id))

    calls, number = 10_000, 0
    while number < calls:
        number += 1
        disk = SimFS()
        paths = DataPaths(ROOT)
        log = asyncio.run(said(disk))
        before = disk.calls
        disk.off_after = before + number
        try:
            write_backup(paths, disk, BackupReason.BY_HAND)
            calls = number
        except StorageError:
            pass
        for seed in range(3):
            later = disk.after_power_cut(seed)
            assert later.read(paths.session("01" + "a" * 24)) == log
            for one in own_backups(paths, later):
                with zipfile.ZipFile(later.open_read(Path(one.path))) as file:
                    assert file.testzip() is None
                    assert json.loads(file.read(MANIFEST))["files"] == 1
    assert 5 < calls < 10_000
