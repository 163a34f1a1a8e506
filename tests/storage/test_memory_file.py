"""`memory.json`: kept with what is not known here, set aside where it cannot be read, and part of backups.

Also what schedules ran, as part of backups.
"""

import json
from pathlib import Path

import pytest

from app.core.memory import Note
from app.core.schedule import ScheduleRun
from app.core.store import BackupReason
from app.storage.documents import JsonDocuments
from app.storage.paths import DataPaths
from app.storage.sessions import JsonLogStore
from app.storage.stored_data import FileArchive
from tests.storage.samples import loaded

pytestmark = pytest.mark.usefixtures("folder")

DOGS = Note(id="a", text="Two dogs.", agent="main", at="2026-12-01T10:00:00+00:00")
CATS = Note(id="b", text="One cat.", folder="f", local=True, origin="file", source="cats.md")


async def test_notes_are_kept_and_what_a_later_version_knows_of_them_survives(paths: DataPaths) -> None:
    documents = await loaded(paths)
    assert documents.notes() == ()
    await documents.change_notes(lambda notes: (*notes, DOGS, CATS))
    assert (await loaded(paths)).notes() == (DOGS, CATS)
    held = json.loads(paths.memory.read_bytes())
    held |= {"of_tomorrow": 1}
    held["notes"][0] |= {"mood": "glad"}
    paths.memory.write_text(json.dumps(held))
    # This process takes in what another one has written.
    await documents.change_notes(lambda notes: notes[:1])
    now = json.loads(paths.memory.read_bytes())
    assert (now["of_tomorrow"], [note["id"] for note in now["notes"]]) == (1, ["a"])
    assert now["notes"][0]["mood"] == "glad"
    assert paths.memory.stat().st_mode & 0o777 == 0o600


async def test_an_unreadable_one_is_reported_and_set_aside_before_the_next_save(paths: DataPaths) -> None:
    paths.memory.parent.mkdir(parents=True, exist_ok=True)
    paths.memory.write_bytes(b'{"notes": [')
    documents = await loaded(paths)
    assert (documents.notes(), [problem.code for problem in documents.problems()]) == ((), ["not_json"])
    await documents.change_notes(lambda notes: (*notes, DOGS))
    [kept] = paths.quarantine.iterdir()
    assert (kept.read_bytes(), (await loaded(paths)).notes()) == (b'{"notes": [', (DOGS,))


async def test_a_backup_has_the_notes_and_what_schedules_ran(paths: DataPaths, tmp_path: Path) -> None:
    store = JsonLogStore(paths)
    await store.open()
    documents = JsonDocuments(paths)
    await documents.load()
    await documents.change_notes(lambda notes: (DOGS,))
    ran = ScheduleRun(
        id="s 1", schedule="s", due="2026-12-01T08:00:00", state="ran", at="2026-12-01T07:00:00.000Z"
    )
    await documents.change_schedule_runs(lambda _: (ran,))
    archive = FileArchive(paths, store, documents)
    backup = await archive.back_up(BackupReason.BY_HAND, str(tmp_path / "all.zip"))
    await documents.change_notes(lambda notes: (CATS,))
    # One that is there stays: what ran since would run again.
    paths.schedule_runs.unlink()
    await archive.restore(backup.path, [], documents=True, replace=True)
    assert (documents.notes(), documents.schedule_runs()) == ((DOGS,), (ran,))
    await store.close()
