"""Another program replaces, cuts, deletes or moves the files while Moot uses them: nothing acknowledged is lost."""

import asyncio
import dataclasses
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from app.cli.printing.lines import load_texts
from app.cli.printing.sessions import aside_text
from app.core.errors import DataDirectoryBusy, StorageError
from app.core.events import EventBus, Notice
from app.core.ids import new_id
from app.core.store import StoredSession
from app.engine.live_session import LiveSession
from app.gui.display.appearance import Language
from app.storage.access import WriterLock
from app.storage.documents import JsonDocuments
from app.storage.file_system import FileSystem
from app.storage.json_file import Replaced
from app.storage.paths import DataPaths, resources_dir
from app.storage.sessions import JsonLogStore, autosave
from app.wiring import open_moot
from tests.storage.samples import debate, message, reopened

Way = Callable[[Path, bytes, bytes], None]
"""What another program does to a log, of which it has an older version, and the log of another session."""


class Desk:
    """Open sessions in memory and the store that saves them, as in the program."""

    def __init__(self, root: Path, disk: FileSystem | None = None) -> None:
        self.paths = DataPaths(root)
        self.told: list[Replaced] = []
        self.lives: dict[str, LiveSession] = {}
        self.bus = EventBus()
        self.store = JsonLogStore(
            self.paths, file_system=disk, recall=self.recall, on_replaced=self.told.append
        )
        autosave(self.bus, self.store)

    def recall(self, session_id: str) -> StoredSession | None:
        live = self.lives.get(session_id)
        return live.as_stored() if live is not None else None

    async def begin(self, *texts: str, title: str = "Cities") -> LiveSession:
        session = debate(title=title)
        live = LiveSession(StoredSession(session=session, messages=[], damaged=0, read_only=False), self.bus)
        self.lives[live.id] = live
        live.begin()
        await self.say(live, *texts)
        return live

    async def open(self, session_id: str) -> LiveSession:
        live = self.lives[session_id] = LiveSession(await self.store.load(session_id), self.bus)
        return live

    async def say(self, live: LiveSession, *texts: str) -> None:
        for text in texts:
            live.finish_message(message(text, turn_id=new_id()))
            await self.store.flush(live.id)

    async def kept(self, session_id: str) -> list[str]:
        """Return what is on the disk when the program has ended."""
        await self.store.close()
        stored = await reopened(self.paths, session_id)
        assert stored.damaged == 0
        return [one.content for one in stored.messages]


def replaced(path: Path, data: bytes) -> None:
    """Put another file in place, as programs that synchronise files do."""
    fresh = path.with_name(".syncthing." + path.name)
    fresh.write_bytes(data)
    fresh.replace(path)


def identical(path: Path, _older: bytes, _other: bytes) -> None:
    replaced(path, path.read_bytes())


def older(path: Path, before: bytes, _other: bytes) -> None:
    replaced(path, before)


def others(path: Path, _older: bytes, other: bytes) -> None:
    replaced(path, other)


def garbage(path: Path, _older: bytes, _other: bytes) -> None:
    replaced(path, b"\0garbage\n" * 400)


def deleted(path: Path, _older: bytes, _other: bytes) -> None:
    path.unlink()


def folder_deleted(path: Path, _older: bytes, _other: bytes) -> None:
    shutil.rmtree(path.parent)


def cut(path: Path, before: bytes, _other: bytes) -> None:
    os.truncate(path, len(before) - 30)


def emptied(path: Path, _older: bytes, _other: bytes) -> None:
    os.truncate(path, 0)


def overwritten(path: Path, _older: bytes, other: bytes) -> None:
    path.write_bytes(other)


WAYS = {
    "identical": (identical, ""),
    "older": (older, "log_cut"),
    "another session's": (others, "log_other"),
    "garbage": (garbage, "log_unreadable"),
    "deleted": (deleted, "log_deleted"),
    "folder deleted": (folder_deleted, "log_deleted"),
    "cut": (cut, "log_cut"),
    "emptied": (emptied, "log_cut"),
    "overwritten": (overwritten, "log_other"),
}
BY_WAY = pytest.mark.parametrize(("way", "code"), WAYS.values(), ids=WAYS)


async def attacked(desk: Desk, way: Way, *, is_open: bool) -> LiveSession:
    """Say three things, of which the other program has two, and let it act."""
    other = await desk.begin("of another", title="Trains")
    other_log = desk.paths.session(other.id).read_bytes()
    live = await desk.begin("one", "two")
    path = desk.paths.session(live.id)
    before = path.read_bytes()
    await desk.say(live, "three")
    if not is_open:
        desk.store.in_turn(desk.store._writer.log(live.id).close).result(10)
    way(path, before, other_log)
    return live


@BY_WAY
@pytest.mark.parametrize("is_open", [True, False], ids=["open", "closed"])
async def test_what_is_said_after_a_log_was_replaced_is_kept_with_all_before(tmp_path, way, code, is_open):
    desk = Desk(tmp_path)
    live = await attacked(desk, way, is_open=is_open)
    await desk.say(live, "four", "five")
    assert await desk.kept(live.id) == ["one", "two", "three", "four", "five"]
    told = [one for one in desk.told if one.session_id == live.id]
    assert [(one.code, one.name) for one in told] == ([(code, "Cities")] if code else [])


@BY_WAY
async def test_a_log_that_was_replaced_after_the_last_write_is_put_right_at_the_end(tmp_path, way, code):
    desk = Desk(tmp_path)
    live = await attacked(desk, way, is_open=True)
    assert await desk.kept(live.id) == ["one", "two", "three"]
    assert [one.code for one in desk.told if one.session_id == live.id] == ([code] if code else [])


@BY_WAY
async def test_a_log_that_was_replaced_between_reading_and_the_first_write_is_put_right(tmp_path, way, code):
    before = Desk(tmp_path)
    live = await before.begin("one", "two")
    older_log = before.paths.session(live.id).read_bytes()
    await before.say(live, "three")
    other = await before.begin("of another")
    await before.store.close()
    desk = Desk(tmp_path)
    live = await desk.open(live.id)
    way(desk.paths.session(live.id), older_log, desk.paths.session(other.id).read_bytes())
    if way is folder_deleted:
        desk.paths.sessions.mkdir()
    await desk.say(live, "four")
    assert await desk.kept(live.id) == ["one", "two", "three", "four"]
    assert [one.code for one in desk.told] == ([code] if code else [])


class ReplacedWhenOpened(FileSystem):
    """A disk on which another program acts once more just before a file is opened."""

    again: Callable[[], None] | None = None

    def open(self, path: Path) -> int:
        if self.again is not None:
            again, self.again = self.again, None
            again()
        return super().open(path)


@pytest.mark.parametrize("first", [older, identical, deleted])
@BY_WAY
async def test_a_log_that_is_replaced_once_more_while_it_is_put_right_is_put_right_again(
    tmp_path, way, code, first
):
    disk = ReplacedWhenOpened()
    desk = Desk(tmp_path, disk)
    live = await attacked(desk, first, is_open=True)
    other, path = next(iter(desk.lives)), desk.paths.session(live.id)
    older_log = path.read_bytes() if first is older else None
    other_log = desk.paths.session(other).read_bytes()
    disk.again = lambda: way(path, older_log or path.read_bytes()[:400], other_log)
    await desk.say(live, "four")
    assert disk.again is None
    await desk.say(live, "five")
    assert await desk.kept(live.id) == ["one", "two", "three", "four", "five"]


@pytest.mark.allow_blocking  # The lock and the list are taken when the program starts.
async def test_another_version_is_kept_as_a_session_of_its_own_and_listed(tmp_path):
    desk = Desk(tmp_path)
    live = await desk.begin("one")
    path = desk.paths.session(live.id)
    there = Desk(tmp_path / "other computer")
    there.paths.sessions.mkdir(parents=True)
    shutil.copy(path, there.paths.session(live.id))
    await there.say(await there.open(live.id), "said there")
    await there.store.close()
    await desk.say(live, "said here")
    newer = there.paths.session(live.id).read_bytes()
    replaced(path, newer)
    await desk.say(live, "two")
    replaced(path, newer)  # Again the same bytes: they are kept once.
    assert await desk.kept(live.id) == ["one", "said here", "two"]
    first, second = desk.told
    assert (first.code, first.kept_id) == ("log_other", second.kept_id)
    assert first.kept.startswith("Cities · 20")
    stored = await reopened(desk.paths, first.kept_id)
    assert [one.content for one in stored.messages] == ["one", "said there"]
    assert stored.session.title == first.kept
    listed = JsonLogStore(desk.paths)
    assert {one.id for one in listed.summaries()} == {live.id, first.kept_id}
    assert {one.id for one in desk.store.summaries()} == {live.id, first.kept_id}
    await listed.close()


async def test_garbage_in_place_of_a_log_is_kept_in_quarantine(tmp_path):
    desk = Desk(tmp_path)
    live = await attacked(desk, garbage, is_open=True)
    await desk.say(live, "four")
    path = Path(desk.told[0].kept)
    assert path.parent == desk.paths.quarantine
    assert path.read_bytes() == b"\0garbage\n" * 400
    await desk.store.close()
    documents = JsonDocuments(desk.paths)
    await documents.load()
    assert [(one.path, one.code) for one in documents.problems()] == [(str(path), "other_version")]


async def test_text_that_still_streams_survives_a_cut(tmp_path):
    desk = Desk(tmp_path)
    live = await desk.begin("one")
    answer = message("", turn_id="t2")
    live.start_message(answer)
    live.append_text(answer.id, "Half of ")
    await desk.store.flush(live.id)
    emptied(desk.paths.session(live.id), b"", b"")
    live.append_text(answer.id, "an answer")
    assert await desk.kept(live.id) == ["one", "Half of an answer"]


@pytest.mark.allow_blocking  # The lock and the list are taken when the program starts.
async def test_the_index_may_be_replaced_at_any_time(tmp_path):
    desk = Desk(tmp_path)
    live = await desk.begin("one")
    desk.store.in_turn(desk.store._save_index).result(10)
    stale = desk.paths.index.read_bytes()
    other = await desk.begin("two", title="Trains")
    await desk.store.close()
    replaced(desk.paths.index, stale)
    again = JsonLogStore(desk.paths)
    assert {(one.id, one.messages) for one in again.summaries()} == {(live.id, 1), (other.id, 1)}
    await again.close()


async def test_a_session_that_only_was_looked_at_is_left_as_the_other_program_made_it(tmp_path):
    before = Desk(tmp_path)
    live = await before.begin("one", "two")
    await before.store.close()
    desk = Desk(tmp_path)
    await desk.open(live.id)
    cut(path := desk.paths.session(live.id), data := path.read_bytes(), b"")
    await desk.store.close()
    assert path.read_bytes() == data[:-30]
    assert desk.told == []


# The data folder.


def guarded(root: Path) -> tuple[Desk, WriterLock]:
    lock = WriterLock(DataPaths(root))
    lock.acquire()
    return Desk(root, FileSystem(root, lock.take_again)), lock


@pytest.mark.allow_blocking  # The lock and the list are taken when the program starts.
async def test_a_data_folder_that_was_moved_is_not_made_again_and_goes_on_when_it_is_back(tmp_path):
    root, away = tmp_path / "data", tmp_path / "away"
    desk, lock = guarded(root)
    live = await desk.begin("one")
    documents = JsonDocuments(desk.paths, file_system=FileSystem(root, lock.take_again))
    await documents.load()
    root.rename(away)
    for text in ("two", "three"):
        with pytest.raises(StorageError) as raised:
            await desk.say(live, text)
        assert raised.value.code == "data_dir_gone"
        assert raised.value.details == {"path": str(root)}
    with pytest.raises(StorageError, match="data_dir_gone"):
        await documents.change_settings(lambda settings: dataclasses.replace(settings, theme="dark"))
    assert not root.exists()
    away.rename(root)
    await desk.say(live, "four")
    assert await desk.kept(live.id) == ["one", "two", "three", "four"]
    assert desk.told == []
    lock.release()


@pytest.mark.allow_blocking  # The lock and the list are taken when the program starts.
async def test_a_copy_of_the_data_folder_takes_its_place_with_the_lock(tmp_path):
    root, copy = tmp_path / "data", tmp_path / "copy"
    desk, lock = guarded(root)
    live = await desk.begin("one")
    shutil.copytree(root, copy)
    await desk.say(live, "two")
    shutil.rmtree(root)
    with pytest.raises(StorageError, match="data_dir_gone"):
        await desk.say(live, "three")
    copy.rename(root)
    await desk.say(live, "four")
    with pytest.raises(DataDirectoryBusy):
        WriterLock(desk.paths).acquire()
    assert await desk.kept(live.id) == ["one", "two", "three", "four"]
    lock.release()
    second = WriterLock(desk.paths)
    second.acquire()
    second.release()


@pytest.mark.allow_blocking  # The lock and the list are taken when the program starts.
async def test_another_folder_in_place_of_the_data_folder_is_not_written_to(tmp_path):
    root, away = tmp_path / "data", tmp_path / "away"
    desk, lock = guarded(root)
    live = await desk.begin("one")
    root.rename(away)
    # As when a drive was taken out, or another Moot has begun anew here.
    root.mkdir()
    with pytest.raises(StorageError, match="data_dir_gone"):
        await desk.say(live, "two")
    assert list(root.iterdir()) == []
    root.rmdir()
    away.rename(root)
    assert await desk.kept(live.id) == ["one", "two"]
    lock.release()


# The whole program.


@pytest.mark.allow_blocking  # The whole program is opened; what opening costs is tested elsewhere.
async def test_the_user_is_told_by_name_in_the_window_and_the_terminal(tmp_path, qapp):
    before = Desk(tmp_path)
    live = await before.begin("one")
    await before.store.close()
    moot = await open_moot(tmp_path, look_up_keys=False)
    told: list[Notice] = []
    moot.engine.bus.subscribe(lambda events: told.extend(one for one in events if isinstance(one, Notice)))
    open_one = await moot.engine.open(live.id)
    open_one.change(title="Towns")
    await moot.store.flush(live.id)
    moot.paths.session(live.id).unlink()
    open_one.change(title="Villages")
    await moot.store.flush(live.id)
    await moot.documents.change_settings(lambda one: dataclasses.replace(one, theme="dark"))
    moot.paths.settings.unlink()
    await moot.documents.change_settings(lambda one: dataclasses.replace(one, text_size=115))
    while len(told) < 2:
        await asyncio.sleep(0)
    assert [(one.code, one.session_id) for one in told] == [("log_deleted", live.id), ("file_deleted", "")]
    for language, words in (
        ("en", "deleted the file of “Villages”"),
        ("ko", "‘Villages’ 세션의 파일을 삭제"),
    ):
        assert words in aside_text(told[0], load_texts(language))
        assert words in Language(resources_dir() / "i18n", language).notice(told[0])
    await moot.close()
    stored = await reopened(moot.paths, live.id)
    assert (stored.session.title, [one.content for one in stored.messages]) == ("Villages", ["one"])


# All at once, in processes of their own.


def race(records: int, seed: int) -> dict[str, int]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.storage.replace_files", str(records), str(seed)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize(
    "records",
    [
        pytest.param(100, marks=pytest.mark.timeout(120)),
        # A mark of the function would hold here too, whatever the case says.
        pytest.param(3_000, marks=[pytest.mark.slow, pytest.mark.timeout(1_200)]),
    ],
)
def test_nothing_acknowledged_is_lost_while_another_process_replaces_the_files(records):
    found = race(records, 7)
    assert found["acknowledged"] == records
    assert found["replaced"] >= records // 10
    assert (found["lost"], found["damaged"], found["settings_lost"], found["unlisted"]) == (0, 0, 0, 0), found
