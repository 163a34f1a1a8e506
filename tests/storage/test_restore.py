"""Restoring: what is missing comes back, nothing that is here is lost, and a zip of anybody's does no harm."""

import dataclasses
import io
import json
import random
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from app.core.errors import BadInput, NotFound, StorageError
from app.core.ids import new_id
from app.core.session import Folder
from app.core.store import BackupContents, BackupReason, Difference
from app.storage import foreign_file, stored_data
from app.storage.documents import JsonDocuments
from app.storage.paths import DataPaths
from app.storage.sessions import JsonLogStore
from app.storage.stored_data import MANIFEST, FileArchive
from tests.storage.samples import finished, log_bytes, message, put, saved

ADA = '{"id": "ada", "name": "Ada"}'


async def packed(archive: FileArchive, tmp_path: Path) -> str:
    return (await archive.back_up(BackupReason.BY_HAND, str(tmp_path / "packed.zip"))).path


def states(contents: BackupContents) -> dict[str, str]:
    return {one.id: one.state for one in contents.sessions}


async def test_a_session_that_is_missing_comes_back_as_it_was(
    archive: FileArchive, store: JsonLogStore, paths: DataPaths, tmp_path: Path
):
    session = await saved(store, "one", "둘")
    log = paths.session(session.id).read_bytes()
    path = await packed(archive, tmp_path)
    await store.delete(session.id)
    await archive.remove_thrown([one.file for one in await archive.thrown()])
    assert states(await archive.contents(path)) == {session.id: Difference.MISSING}
    back = await archive.restore(path, [session.id], documents=True, replace=False)
    assert back.sessions == (session.id,)
    assert paths.session(session.id).read_bytes() == log
    assert [one.id for one in store.summaries()] == [session.id]
    assert [one.content for one in (await store.load(session.id)).messages] == ["one", "둘"]
    # It goes on where it ended.
    store.append((finished(session.id, message("three")),))
    await store.flush(session.id)
    again = JsonLogStore(paths)
    assert [one.content for one in (await again.load(session.id)).messages] == ["one", "둘", "three"]
    await again.close()


async def test_a_session_that_has_grown_since_stays_as_it_is(
    archive: FileArchive, store: JsonLogStore, paths: DataPaths, tmp_path: Path
):
    session = await saved(store, "one")
    path = await packed(archive, tmp_path)
    store.append((finished(session.id, message("two")),))
    await store.flush(session.id)
    now = paths.session(session.id).read_bytes()
    assert states(await archive.contents(path)) == {session.id: Difference.SAME}
    back = await archive.restore(path, [session.id], documents=True, replace=True)
    assert (back.sessions, back.copies) == ((), ())
    assert paths.session(session.id).read_bytes() == now


async def test_a_session_that_differs_comes_back_as_a_copy_once(
    archive: FileArchive, store: JsonLogStore, paths: DataPaths, tmp_path: Path
):
    session = await saved(store, "one", "two")
    path = await packed(archive, tmp_path)
    await store.close()
    lines = paths.session(session.id).read_bytes().splitlines(keepends=True)
    paths.session(session.id).write_bytes(b"".join(lines[:-1]))
    assert states(await archive.contents(path)) == {session.id: Difference.CHANGED}
    back = await archive.restore(path, [session.id], documents=False, replace=False)
    (copy_id,) = back.copies
    assert [one.content for one in (await store.load(copy_id)).messages] == ["one", "two"]
    assert len((await store.load(session.id)).messages) == 1
    day = (await archive.contents(path)).backup.made_at[:10]
    titles = {one.id: one.title for one in store.summaries()}
    assert titles[copy_id] == f"{titles[session.id]} · {day}"
    again = await archive.restore(path, [session.id], documents=False, replace=False)
    assert (again.sessions, again.copies) == ((), ())


async def test_the_present_state_is_backed_up_first(
    archive: FileArchive, store: JsonLogStore, tmp_path: Path
):
    await saved(store, "before")
    path = await packed(archive, tmp_path)
    now = await saved(store, "now")
    back = await archive.restore(path, [], documents=True, replace=True)
    (kept,) = await archive.backups()
    assert (kept.path, kept.why) == (back.backup, BackupReason.BEFORE_RESTORE)
    assert now.id in states(await archive.contents(kept.path))


async def test_documents_come_back_where_they_are_missing_and_are_replaced_only_when_that_is_wanted(
    archive: FileArchive, paths: DataPaths, tmp_path: Path
):
    put(paths.root / "assistants" / "ada.json", ADA)
    put(paths.root / "assistants" / "eve.json", ADA.replace("da", "ve"))
    put(paths.settings, '{"version": 1, "theme": "dark"}')
    put(paths.usage, "the ledger")
    path = await packed(archive, tmp_path)
    (paths.root / "assistants" / "ada.json").unlink()
    put(paths.root / "assistants" / "eve.json", '{"id": "ave", "name": "Changed"}')
    put(paths.settings, '{\n "theme": "dark", "version": 1}')
    put(paths.usage, "another ledger")
    found = {one.name: one.state for one in (await archive.contents(path)).documents}
    assert found == {
        "assistants/ada.json": Difference.MISSING,
        "assistants/eve.json": Difference.CHANGED,
        "settings.json": Difference.SAME,
    }
    back = await archive.restore(path, [], documents=True, replace=False)
    assert back.documents == ("assistants/ada.json",)
    assert "Changed" in (paths.root / "assistants" / "eve.json").read_text(encoding="utf-8")
    back = await archive.restore(path, [], documents=True, replace=True)
    assert back.documents == ("assistants/eve.json",)
    assert "Changed" not in (paths.root / "assistants" / "eve.json").read_text(encoding="utf-8")


async def test_what_schedules_have_run_since_a_backup_is_never_forgotten(
    archive: FileArchive, paths: DataPaths, tmp_path: Path
):
    put(paths.schedule_runs, '{"runs": [], "version": 1}')
    path = await packed(archive, tmp_path)
    run = {"id": "s 1", "schedule": "s", "due": "2026-12-01T08:00:00", "state": "ran", "at": "2026"}
    since = json.dumps({"runs": [run], "version": 1})
    put(paths.schedule_runs, since)
    back = await archive.restore(path, [], documents=True, replace=True)
    assert back.documents == () and paths.schedule_runs.read_text(encoding="utf-8") == since
    paths.schedule_runs.unlink()
    back = await archive.restore(path, [], documents=True, replace=False)
    assert back.documents == ("schedule_runs.json",)


def zipped(entries: dict[str, bytes | str], **manifest: object) -> bytes:
    """Return a backup of these files, made by somebody else."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in entries.items():
            file.writestr(name, content)
        facts = {"version": 1, "made_at": "2026-01-01T00:00:00Z", "why": "daily", "files": len(entries)}
        file.writestr(MANIFEST, json.dumps({**facts, **manifest}))
    return data.getvalue()


def linked() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        info = zipfile.ZipInfo("settings.json")
        info.external_attr = 0o120777 << 16
        file.writestr(info, "/etc/passwd")
        file.writestr(MANIFEST, "{}")
    return data.getvalue()


def locked() -> bytes:
    data = bytearray(zipped({"settings.json": "{}"}))
    for start, shift in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        data[data.index(start) + shift] |= 1
    return bytes(data)


def twice() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        file.writestr("settings.json", "{}")
        with pytest.warns(UserWarning, match="Duplicate"):
            file.writestr("settings.json", "{}")
        file.writestr(MANIFEST, "{}")
    return data.getvalue()


HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "no zip": (lambda: b"PK\x03\x04 or not", "zip_damaged"),
    "empty": (lambda: b"", "zip_damaged"),
    "no manifest": (lambda: zipped({})[:0] + _without_manifest(), "not_a_backup"),
    "a manifest of another kind": (lambda: zipped({}, version="1"), "not_a_backup"),
    "newer": (lambda: zipped({}, version=2), "backup_newer"),
    "a newer schema": (lambda: zipped({}, schema=99), "backup_newer"),
    "a file too few": (lambda: zipped({"settings.json": "{}"}, files=2), "zip_damaged"),
    "up": (lambda: zipped({"../settings.json": "{}"}), "zip_odd_entry"),
    "up inside": (lambda: zipped({"sessions/../../x": "{}"}), "zip_odd_entry"),
    "absolute": (lambda: zipped({"/etc/passwd": "{}"}), "zip_odd_entry"),
    "a drive": (lambda: zipped({"C:/x.json": "{}"}), "zip_odd_entry"),
    "backslash": (lambda: zipped({"sessions\\x.jsonl": "{}"}), "zip_odd_entry"),
    "a file of no place": (lambda: zipped({"consents.json": "{}"}), "zip_odd_entry"),
    "a session of no id": (lambda: zipped({"sessions/con.jsonl": "{}"}), "zip_odd_entry"),
    "a link": (linked, "zip_odd_entry"),
    "a password": (locked, "zip_odd_entry"),
    "twice": (twice, "zip_odd_entry"),
    "a bomb": (lambda: zipped({"settings.json": b"\0" * 300_000_000}), "zip_unpacks_too_large"),
}


def _without_manifest() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        file.writestr("settings.json", "{}")
    return data.getvalue()


@pytest.mark.threat("T16", "T17")
@pytest.mark.corpus(37, 38)
@pytest.mark.parametrize(("make", "code"), HOSTILE.values(), ids=HOSTILE.keys())
async def test_a_zip_that_is_no_backup_is_refused_in_words(
    archive: FileArchive, paths: DataPaths, tmp_path: Path, make: Callable[[], bytes], code: str
):
    path = tmp_path / "given.zip"
    path.write_bytes(make())
    for work in (
        archive.contents(str(path)),
        archive.restore(str(path), [], documents=True, replace=True),
    ):
        with pytest.raises(BadInput) as refused:
            await work
        assert refused.value.code == code
    assert not list(paths.root.rglob("*.json*"))
    assert not (tmp_path / "settings.json").exists()


@pytest.mark.corpus(39)
@pytest.mark.threat("T17")
async def test_a_zip_of_very_many_files_is_refused(
    archive: FileArchive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(stored_data, "LIMITS", stored_data.LIMITS._replace(entries=5))
    path = tmp_path / "given.zip"
    path.write_bytes(zipped({f"assistants/a{number}.json": ADA for number in range(9)}))
    with pytest.raises(BadInput, match="zip_too_many"):
        await archive.contents(str(path))


@pytest.mark.threat("T17")
@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, 99])
def test_what_cannot_be_unpacked_is_said_whatever_packed_it(tmp_path: Path, method: int):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_STORED if method == 99 else method) as file:
        file.writestr("settings.json", bytes(range(256)) * 40)
    whole = bytearray(data.getvalue())
    if method == 99:
        for start, shift in ((b"PK\x01\x02", 10), (b"PK\x03\x04", 8)):
            whole[whole.index(start) + shift] = 99
    path = tmp_path / "given.zip"
    chance = random.Random(1)
    for _ in range(40):
        broken = bytearray(whole)
        for _ in range(4):
            broken[chance.randrange(43, whole.index(b"PK\x01\x02"))] = chance.randrange(256)
        path.write_bytes(broken)
        with (
            closing(foreign_file.CheckedZip(path, stored_data.LIMITS)) as file,
            pytest.raises(BadInput, match=r"zip_damaged|zip_unpacks_too_large"),
        ):
            file.read("settings.json")


@pytest.mark.threat("T17")
def test_what_a_zip_says_of_its_size_does_not_count(tmp_path: Path):
    data = bytearray(zipped({"settings.json": b"\0" * 5_000_000}))
    place = data.index(b"PK\x01\x02")
    data[place + 24 : place + 28] = (10).to_bytes(4, "little")
    path = tmp_path / "given.zip"
    path.write_bytes(data)
    with closing(foreign_file.CheckedZip(path, stored_data.LIMITS)) as file, pytest.raises(BadInput):
        file.read("settings.json")


async def test_a_damaged_zip_is_refused_or_read_but_never_more(
    archive: FileArchive, store: JsonLogStore, paths: DataPaths, tmp_path: Path
):
    session = await saved(store, "one", "two")
    put(paths.root / "assistants" / "ada.json", ADA)
    whole = Path(await packed(archive, tmp_path)).read_bytes()
    log = paths.session(session.id).read_bytes()
    chance = random.Random(1)
    for number in range(120):
        data = bytearray(whole)
        if number % 3 == 0:
            del data[chance.randrange(len(data)) :]
        else:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        path = tmp_path / "given.zip"
        path.write_bytes(data)
        try:
            contents = await archive.contents(str(path))
            await archive.restore(str(path), list(states(contents)), documents=True, replace=True)
        except BadInput:
            continue
    assert paths.session(session.id).read_bytes() == log
    assert json.loads((paths.root / "assistants" / "ada.json").read_text(encoding="utf-8"))["name"] == "Ada"


@pytest.mark.threat("T11")
@pytest.mark.corpus(40)
async def test_a_log_that_is_none_and_a_document_that_is_none_do_not_come_back(
    archive: FileArchive, paths: DataPaths, tmp_path: Path
):
    good, bad = new_id(), new_id()
    path = tmp_path / "given.zip"
    path.write_bytes(
        zipped(
            {
                f"sessions/{good}.jsonl": log_bytes(),
                f"sessions/{bad}.jsonl": b"no log\n" * 9,
                "assistants/evil.json": '{"id": "evil", "name": "E", "command": "rm"}',
                "groups/half.json": '{"id": "half"',
            }
        )
    )
    assert states(await archive.contents(str(path))) == {good: Difference.MISSING, bad: Difference.UNREADABLE}
    with pytest.raises(BadInput, match="backup_log_damaged"):
        await archive.restore(str(path), [bad], documents=False, replace=False)
    back = await archive.restore(str(path), [good], documents=True, replace=True)
    assert back.sessions == (good,)
    assert back.documents == ()
    assert not (paths.root / "assistants" / "evil.json").exists()
    with pytest.raises(BadInput, match="backup_lacks"):
        await archive.restore(str(path), [new_id()], documents=False, replace=False)


async def test_a_full_disk_stops_a_restore_with_everything_whole(
    archive: FileArchive, store: JsonLogStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    first, second = await saved(store, "one"), await saved(store, "two")
    path = await packed(archive, tmp_path)
    for one in (first, second):
        await store.delete(one.id)
    real, count = JsonLogStore.put, 0

    async def put_one(self: JsonLogStore, session_id: str, make: Callable[[], bytes]) -> None:
        nonlocal count
        count += 1
        if count > 1:
            raise StorageError("disk_full", path="", detail="")
        await real(self, session_id, make)

    monkeypatch.setattr(JsonLogStore, "put", put_one)
    with pytest.raises(StorageError):
        await archive.restore(path, [first.id, second.id], documents=False, replace=False)
    assert [one.id for one in store.summaries()] == [first.id]
    monkeypatch.undo()
    back = await archive.restore(path, [first.id, second.id], documents=False, replace=False)
    assert back.sessions == (second.id,)


# The bin


async def test_the_bin_is_listed_given_back_and_emptied(
    archive: FileArchive, store: JsonLogStore, paths: DataPaths
):
    kept, gone = await saved(store, "one"), await saved(store, "two")
    await store.delete(kept.id)
    await store.delete(gone.id)
    put(paths.trash / "ada.1700000000.json", ADA)
    (paths.trash / "foreign.txt").write_text("")
    thrown = {one.session_id: one for one in await archive.thrown()}
    assert (thrown[kept.id].title, thrown[kept.id].kind, thrown[kept.id].days_left) == (
        kept.title,
        "debate",
        30,
    )
    assert (thrown[""].title, thrown[""].kind, thrown[""].days_left) == ("Ada", "assistant", 0)
    assert await archive.take_out(thrown[kept.id].file) == kept.id
    assert await archive.take_out(thrown[""].file) == ""
    assert (paths.root / "assistants" / "ada.json").exists()
    assert [one.id for one in store.summaries()] == [kept.id]
    await archive.remove_thrown([thrown[gone.id].file, "../settings.json", "foreign.txt"])
    assert await archive.thrown() == ()
    assert (paths.trash / "foreign.txt").exists()
    with pytest.raises(NotFound):
        await archive.take_out(thrown[gone.id].file)


async def test_nothing_of_the_bin_takes_the_place_of_what_is_here(
    archive: FileArchive, store: JsonLogStore, paths: DataPaths
):
    session = await saved(store, "one")
    await store.delete(session.id)
    (thrown,) = await archive.thrown()
    later = dataclasses.replace(session, title="later")
    await store.bring_in(later, [message("later")])
    with pytest.raises(BadInput, match="bin_place_taken"):
        await archive.take_out(thrown.file)
    assert [one.content for one in (await store.load(session.id)).messages] == ["later"]
    put(paths.root / "assistants" / "ada.json", '{"id": "ada", "name": "Here"}')
    put(paths.trash / "ada.1700000000.json", ADA)
    with pytest.raises(BadInput, match="bin_place_taken"):
        await archive.take_out("ada.1700000000.json")


async def test_the_one_that_is_chosen_comes_out_of_the_bin_and_not_a_later_one(
    archive: FileArchive, store: JsonLogStore
):
    session = await saved(store, "one")
    await store.delete(session.id)
    await store.bring_in(session, [message("later")])
    await store.delete(session.id)
    later, earlier = await archive.thrown()
    await archive.take_out(earlier.file)
    assert [one.content for one in (await store.load(session.id)).messages] == ["one"]
    assert await archive.thrown() == (later,)


async def test_sizes_are_told_by_part(archive: FileArchive, store: JsonLogStore, paths: DataPaths):
    await saved(store, "one")
    put(paths.settings, "{}")
    sizes = {part.name: part for part in await archive.sizes()}
    assert sizes["sessions"].files == 1
    assert sizes["sessions"].size > 300
    assert sizes["other"].size >= 2


async def test_folders_come_back_from_the_bin_and_from_a_backup_with_their_sessions(
    store: JsonLogStore, paths: DataPaths, tmp_path: Path
):
    documents = JsonDocuments(paths)
    archive = FileArchive(paths, store, documents)
    folder = await documents.folders.change(lambda: Folder(id="f1", name="School", instructions="Be brief."))
    session = await saved(store, "one", folder=folder.id)
    path = await packed(archive, tmp_path)
    await documents.folders.delete(folder.id)
    [thrown] = await archive.thrown()
    assert (thrown.kind, thrown.title) == ("folder", "School")
    await archive.take_out(thrown.file)
    assert documents.folders.all() == (folder,)
    await documents.folders.delete(folder.id)
    await store.delete(session.id)
    await archive.restore(path, [session.id], documents=True, replace=False)
    assert documents.folders.all() == (folder,)
    assert [(one.id, one.folder) for one in store.summaries()] == [(session.id, folder.id)]
