"""What was not sent yet, on a real disk: written whole, read again, and set aside where it cannot be read."""

import contextlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.draft import NEW, SETUP, Draft, ParticipantDraft, Rewriting, SetupDraft
from app.core.errors import StorageError
from app.core.ids import new_id
from app.core.message import Attachment
from app.storage.documents import DraftFolder, JsonDocuments
from app.storage.file_system import FileSystem
from app.storage.paths import DataPaths
from app.storage.sessions import JsonLogStore
from app.storage.stored_data import FileArchive, packed_files
from tests.storage.sim_fs import SimFS

PICTURE = Attachment(name="그림.png", media_type="image/png", data="aGVsbG8=" * 900_000)
FULL = Draft(
    text="반쯤 쓴 생각\n\ud800",
    attachments=(Attachment(name="note.txt", text="Read me."), PICTURE),
    rewriting=Rewriting(message_id="m1", text="again", attachments=(Attachment(name="a.txt", text="A"),)),
    answers={"q1": "half an answer"},
)
SET_UP = Draft(
    text="Tabs or spaces?",
    setup=SetupDraft(
        mode="roles",
        rounds=7,
        polls=True,
        seats=(
            ParticipantDraft(
                id="added-1", provider="openai", model="gpt-5.2", chosen=True, added=True, effort="high"
            ),
        ),
    ),
)


async def test_what_is_kept_is_read_again_whole_and_the_users_alone(paths: DataPaths) -> None:
    session_id = new_id()
    folder = DraftFolder(paths)
    await folder.save(session_id, FULL)
    await folder.save(SETUP, SET_UP)
    found = await DraftFolder(paths).load()
    assert found == {session_id: replace(FULL, text="반쯤 쓴 생각\n?"), SETUP: SET_UP}
    assert paths.draft(session_id).stat().st_mode & 0o777 == 0o600
    await folder.save(session_id, Draft())
    await folder.save(session_id, Draft())
    assert await DraftFolder(paths).load() == {SETUP: SET_UP}
    assert sorted(one.name for one in paths.drafts.iterdir()) == ["setup.json"]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b'{"version": 1, "text": "hal', "not_json"),
        (b"[]", "not_an_object"),
        (b"\xff\xfe\x00", "not_json"),
        (b"[" * 100_000, "not_json"),
        (b'{"version": 1, "text": 7}', "wrong_type"),
        (b'{"version": 1, "attachments": [{"text": "no name"}]}', "missing"),
        (b'{"version": 2, "text": "of tomorrow"}', "newer_version"),
    ],
)
async def test_one_that_cannot_be_read_is_set_aside_and_said(
    paths: DataPaths, data: bytes, code: str
) -> None:
    folder = DraftFolder(paths)
    await folder.save("new", Draft(text="fine"))
    path = paths.draft(new_id())
    path.write_bytes(data)
    assert await folder.load() == {NEW: Draft(text="fine")}
    [problem] = folder.problems()
    assert (problem.path, problem.code) == (str(path), code)
    assert not path.exists()
    [kept] = paths.quarantine.iterdir()
    assert kept.read_bytes() == data
    assert await folder.load() == {NEW: Draft(text="fine")}
    assert folder.problems() == ()


async def test_lone_surrogates_are_replaced_and_what_is_too_deep_is_set_aside(paths: DataPaths) -> None:
    paths.drafts.mkdir(parents=True)
    paths.draft("odd").write_text('{"version": 1, "text": "a\\ud800b", "later": ["\\udc00"]}')
    paths.draft("deep").write_text('{"version": 1, "later": ' + "[" * 900 + "]" * 900 + "}")
    folder = DraftFolder(paths)
    assert await folder.load() == {"odd": Draft(text="a\ufffdb")}
    assert [(Path(fault.path).name, fault.code) for fault in folder.problems()] == [("deep.json", "too_deep")]
    assert [path.name for path in paths.quarantine.iterdir()] == ["deep.json.1"]
    await folder.save("odd", Draft(text="c"))
    assert json.loads(paths.draft("odd").read_bytes())["later"] == ["\ufffd"]


async def test_after_a_power_cut_anywhere_it_is_the_old_one_or_the_new_one() -> None:
    paths, old, new = DataPaths(Path("/data")), Draft(text="old"), Draft(text="new " * 5_000)
    seen = set()
    for more in range(30):
        disk = SimFS()
        folder = DraftFolder(paths, file_system=disk)
        await folder.save(NEW, old)
        disk.off_after = disk.calls + more
        acknowledged = old
        with contextlib.suppress(StorageError):
            await folder.save(NEW, new)
            acknowledged = new
        for seed in range(5):
            left = DraftFolder(paths, file_system=disk.after_power_cut(seed))
            found = (await left.load())[NEW]
            assert found in (acknowledged, new), (more, seed)
            assert left.problems() == ()
            seen.add(found.text)
    assert seen == {old.text, new.text}


async def test_a_full_disk_is_an_error_and_nothing_is_lost(paths: DataPaths) -> None:
    await DraftFolder(paths).save(NEW, Draft(text="old"))

    class Full(FileSystem):
        def write(self, descriptor: int, data: bytes | memoryview) -> int:
            raise OSError(28, "No space left on device")

    with pytest.raises(StorageError) as caught:
        await DraftFolder(paths, file_system=Full()).save(NEW, Draft(text="new"))
    assert caught.value.code == "disk_full"
    assert await DraftFolder(paths).load() == {NEW: Draft(text="old")}


@pytest.mark.allow_blocking  # looks itself
async def test_a_backup_holds_drafts_and_brings_missing_ones_back(
    paths: DataPaths, store: JsonLogStore
) -> None:
    session_id = new_id()
    folder = DraftFolder(paths)
    await folder.save(session_id, SET_UP)
    assert [name for name, _ in packed_files(paths, FileSystem())] == [f"drafts/{session_id}.json"]
    archive = FileArchive(paths, store, JsonDocuments(paths))
    backup = await archive.back_up("by-hand")
    await folder.save(session_id, Draft())
    contents = await archive.contents(backup.path)
    assert [(one.part, one.state) for one in contents.documents] == [("drafts", "missing")]
    await archive.restore(backup.path, (), documents=True, replace=False)
    assert await folder.load() == {session_id: SET_UP}


@pytest.mark.allow_blocking  # looks itself
async def test_it_goes_with_a_session_that_is_deleted_for_good(paths: DataPaths, store: JsonLogStore) -> None:
    thrown, other = new_id(), new_id()
    folder = DraftFolder(paths)
    for session_id in (thrown, other):
        await folder.save(session_id, Draft(text="half"))
    paths.trash.mkdir(exist_ok=True)
    file = paths.trash / f"{thrown}.1700000000.jsonl"
    file.write_bytes(json.dumps({}).encode() + b"\n")
    archive = FileArchive(paths, store, JsonDocuments(paths))
    await archive.remove_thrown([file.name])
    assert list(await folder.load()) == [other]
