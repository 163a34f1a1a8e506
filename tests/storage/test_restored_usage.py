"""What calls of models used comes back with a backup: each call once, and nothing that is here goes."""

from pathlib import Path

from app.core.events import EventBus
from app.core.message import UsageEntry
from app.core.settings import Settings
from app.engine.usage_book import UsageBook
from app.storage.paths import DataPaths
from app.storage.sessions import JsonLogStore
from app.storage.stored_data import FileArchive
from app.storage.usage_ledger import UsageFile
from tests.builders import ScriptedModels
from tests.storage.samples import saved
from tests.storage.test_restore import packed


def a_call(number: int, session_id: str = "") -> UsageEntry:
    at = "2026-11-03T10:00:00.000Z"
    return UsageEntry(message_id=f"c{number}", at=at, session_id=session_id, cost_usd=0.5)


async def test_what_calls_used_comes_back_with_what_they_were_made_for(
    archive: FileArchive, store: JsonLogStore, paths: DataPaths, tmp_path: Path
):
    session = await saved(store, "one")
    ledger = UsageFile(paths, store.in_turn)
    for entry in (a_call(1, session.id), a_call(2)):
        ledger.add(entry)
    assert len(await ledger.entries("2026-11")) == 2
    path = await packed(archive, tmp_path)
    await ledger.close()
    paths.usage.write_bytes(b"")
    paths.session(session.id).unlink()
    back = await archive.restore(path, [session.id], documents=False, replace=False)
    assert back.usage == (a_call(1, session.id),)
    back = await archive.restore(path, [], documents=True, replace=False)
    assert back.usage == (a_call(1, session.id), a_call(2))
    assert paths.usage.read_bytes() == b""


async def test_a_restored_month_counts_its_calls_once(
    archive: FileArchive, store: JsonLogStore, paths: DataPaths, tmp_path: Path
):
    ledger = UsageFile(paths, store.in_turn)
    for number in (1, 2):
        ledger.add(a_call(number))
    await ledger.close()
    path = await packed(archive, tmp_path)
    paths.usage.write_bytes(b"")
    ledger = UsageFile(paths, store.in_turn)
    book = UsageBook(ledger, ScriptedModels(), Settings, EventBus())
    book.note(a_call(2))
    book.note(a_call(3))
    for _ in range(2):
        back = await archive.restore(path, [], documents=True, replace=True)
        await book.bring_in(back.usage)
        assert [(month, one.calls) for month, one in await book.months()][-1] == ("2026-11", 3)
    assert [one.message_id for one in await ledger.entries("2026-11")] == ["c2", "c3", "c1"]
    await book.close()
    again = UsageFile(paths, store.in_turn)
    assert {month: one.known_usd for month, one in (await again.months()).items()} == {"2026-11": 1.5}
    await again.close()
