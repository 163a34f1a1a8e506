"""A made-up version of tomorrow: files are brought to it at the opening, a backup first, nothing lost."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from app import wiring
from app.core.errors import StorageError
from app.core.ids import new_id
from app.core.store import BackupReason
from app.storage import lines, stored_data
from app.storage.file_system import FileSystem
from app.storage.paths import DataPaths
from app.storage.sessions import JsonLogStore
from app.storage.stored_data import STEPS, OpenBackup, Ops, Step, own_backups, upgrade, upgraded, write_backup
from tests.storage.samples import ROOT, log_bytes, log_file, new_store, put, saved
from tests.storage.sim_fs import SimFS

DISK = FileSystem()


def shouting(ops: Ops) -> Ops:
    """Write every message in capital letters: once or twice, it is the same."""
    found = []
    for op in ops:
        message = op.get("message")
        if isinstance(message, dict):
            op = {**op, "message": {**message, "content": message.get("content", "").upper()}}
        found.append(op)
    return found


def renamed(name: str, document: dict[str, Any]) -> dict[str, Any]:
    if name == "settings.json" and "theme" in document:
        document = {**document, "look": document["theme"]}
        del document["theme"]
    return document


TOMORROW = (Step(line=shouting, document=renamed),)


def losing(ops: Ops) -> Ops:
    return [op for op in ops if op.get("op") != "message"]


def test_the_versions_written_and_the_steps_to_them_agree():
    assert 1 + len(STEPS) == lines.VERSION


def test_where_nothing_is_to_be_done_nothing_is(paths: DataPaths):
    log_file(paths, log_bytes())
    before = {path: path.read_bytes() for path in paths.root.rglob("*") if path.is_file()}
    upgrade(paths, DISK)
    assert {path: path.read_bytes() for path in paths.root.rglob("*") if path.is_file()} == before


def test_every_file_is_brought_to_the_new_version_after_a_backup(paths: DataPaths):
    data = log_bytes()
    session_id = log_file(paths, data)
    put(paths.settings, '{"version": 1, "theme": "dark"}')
    put(paths.root / "assistants" / "ada.json", '{"id": "ada", "name": "Ada"}')
    upgrade(paths, DISK, TOMORROW)
    (backup,) = own_backups(paths, DISK)
    assert backup.why == BackupReason.BEFORE_UPGRADE
    with zipfile.ZipFile(backup.path) as file:
        assert file.read(f"sessions/{session_id}.jsonl") == data
        assert json.loads(file.read("settings.json"))["theme"] == "dark"
    fresh = paths.session(session_id).read_bytes()
    assert b'"SAID"' in fresh and b'"version":2' in fresh and b"op of tomorrow" in fresh
    assert json.loads(paths.settings.read_text(encoding="utf-8")) == {"version": 1, "look": "dark"}
    assert json.loads(paths.schema.read_text(encoding="utf-8")) == {"version": 2}
    # Once is enough.
    before = paths.session(session_id).stat().st_mtime_ns
    upgrade(paths, DISK, TOMORROW)
    assert paths.session(session_id).stat().st_mtime_ns == before
    assert len(own_backups(paths, DISK)) == 1


async def test_a_moot_of_before_reads_what_was_upgraded_and_writes_none_of_it(paths: DataPaths):
    store = JsonLogStore(paths)
    session = await saved(store, "said")
    await store.close()
    paths.session(session.id).write_bytes(
        upgraded(f"sessions/{session.id}.jsonl", paths.session(session.id).read_bytes(), 1, TOMORROW)
    )
    again = JsonLogStore(paths)
    stored = await again.load(session.id)
    with pytest.raises(StorageError, match="newer_version"):
        await again.close()
    assert stored.read_only
    assert [one.content for one in stored.messages] == ["SAID"]


def test_a_step_that_loses_messages_is_stopped(paths: DataPaths):
    data = log_bytes()
    session_id = log_file(paths, data)
    with pytest.raises(StorageError, match="upgrade_failed"):
        upgrade(paths, DISK, (Step(line=losing),))
    assert paths.session(session_id).read_bytes() == data
    assert not paths.schema.exists()


def test_damaged_lines_are_kept_beside(paths: DataPaths):
    data = log_bytes() + b"damaged\n"
    session_id = log_file(paths, data)
    upgrade(paths, DISK, TOMORROW)
    assert (paths.quarantine / f"{session_id}.before-2").read_bytes() == data
    assert b"damaged" not in paths.session(session_id).read_bytes()


def test_what_cannot_be_read_stays_as_it_is(paths: DataPaths):
    session_id = log_file(paths, b"no log at all\n")
    put(paths.settings, '{"theme": ')
    upgrade(paths, DISK, TOMORROW)
    assert paths.session(session_id).read_bytes() == b"no log at all\n"
    assert paths.settings.read_text(encoding="utf-8") == '{"theme": '


def test_a_backup_of_before_comes_back_in_the_form_of_now(paths: DataPaths, monkeypatch: pytest.MonkeyPatch):

    session_id = log_file(paths, log_bytes())
    put(paths.settings, '{"version": 1, "theme": "dark"}')
    packed = write_backup(paths, DISK, "daily").path
    paths.session(session_id).unlink()
    monkeypatch.setattr("app.storage.stored_data.STEPS", TOMORROW)
    monkeypatch.setattr("app.storage.stored_data.upgraded", lambda *args: upgraded(*args, TOMORROW))
    backup = OpenBackup(paths, DISK, Path(packed))
    assert b'"SAID"' in backup.log(session_id)
    assert dict(backup.documents())["settings.json"].count(b'"look": "dark"') == 1
    backup.close()


def test_the_power_goes_off_at_every_call_of_an_upgrade():
    paths, session_ids = DataPaths(ROOT), [new_id(), new_id()]

    def filled() -> SimFS:
        disk = SimFS()
        for session_id in session_ids:
            stored_data.write_whole(disk, paths.session(session_id), log_bytes())
        return disk

    number, ended = 0, False
    while not ended:
        number += 1
        disk = filled()
        disk.off_after = disk.calls + number
        try:
            upgrade(paths, disk, TOMORROW)
            ended = True
        except StorageError:
            pass
        for seed in range(3):
            later = disk.after_power_cut(seed)
            upgrade(paths, later, TOMORROW)
            for session_id in session_ids:
                data = later.read(paths.session(session_id))
                assert b'"SAID"' in data
                assert data.count(b'"version":2') == 1
    assert number > 20


@pytest.mark.allow_blocking
async def test_opening_runs_it(data_dir: Path, monkeypatch: pytest.MonkeyPatch):

    store = new_store(root=data_dir)
    session = await saved(store, "said")
    await store.close()
    for module in ("session_log", "log"):
        monkeypatch.setattr(f"app.storage.{module}.READER", lines.READER + 1)
    monkeypatch.setattr(wiring, "upgrade", lambda paths, disk: upgrade(paths, disk, TOMORROW))
    moot = await wiring.open_moot(data_dir)
    try:
        live = await moot.engine.open(session.id)
        assert [one.content for one in live.messages] == ["SAID"]
        assert [one.why for one in await moot.engine.archive.files.backups()] == [BackupReason.BEFORE_UPGRADE]
    finally:
        await moot.close()
