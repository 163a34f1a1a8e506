"""The files of sessions: every version is kept, nothing outside is reached, and what another program did is taken in."""

import json
import os
import random
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from app.core.errors import BadInput, NotFound, StorageError
from app.core.ids import new_id
from app.core.session_files import (
    FORBIDDEN_SUFFIXES,
    MOST_BYTES,
    MOST_FILES,
    USER,
    BadPathError,
    FileVersion,
    Writer,
)
from app.core.store import FilesSize
from app.storage.documents import JsonDocuments
from app.storage.file_system import FileSystem
from app.storage.lines import encode_line
from app.storage.paths import DataPaths
from app.storage.session_files import ASIDE, LOG, VERSIONS, VersionedFiles, is_digest
from app.storage.sessions import JsonLogStore
from app.storage.stored_data import FileArchive
from tests.storage.samples import debate, started

SESSION = new_id()


@pytest.fixture
def told() -> list[tuple[str, FileVersion]]:
    return []


@pytest.fixture
def files(paths: DataPaths, told: list[tuple[str, FileVersion]]) -> VersionedFiles:
    return VersionedFiles(paths, on_written=lambda *news: told.append(news))


async def put(files: VersionedFiles, path: str, text: str, author: str = "Ann") -> FileVersion:
    return await files.write(SESSION, path, lambda _before, _held: text.encode(), Writer(author, "m1"))


async def held(files: VersionedFiles, path: str, version: int | None = None) -> str:
    return (await files.read(SESSION, path, version))[1].decode()


async def rows(files: VersionedFiles) -> list[tuple[str, int, str]]:
    return [(one.path, one.version, one.author) for one in await files.list(SESSION)]


async def test_every_version_is_kept_with_who_wrote_it(files: VersionedFiles, paths: DataPaths, told) -> None:
    await put(files, "notes/plan.md", "one")
    again = await put(files, "notes/plan.md", "two", "Bo")
    assert (again.version, again.bytes, again.author, again.message_id) == (2, 3, "Bo", "m1")
    assert again.sha256 == "3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3"
    assert await held(files, "notes/plan.md") == "two" == await held(files, "notes/plan.md", 2)
    assert await held(files, "notes/plan.md", 1) == "one"
    assert (paths.files / SESSION / "notes" / "plan.md").read_text() == "two"
    assert [(session, one.version) for session, one in told] == [(SESSION, 1), (SESSION, 2)]
    # The same text once more is no new version.
    assert await put(files, "notes/plan.md", "two") == again
    assert await VersionedFiles(paths, read_only=True).versions(SESSION) == await files.versions(SESSION)


async def test_the_files_of_many_sessions_are_counted_at_once(
    files: VersionedFiles, paths: DataPaths
) -> None:
    other = f"{SESSION[:-1]}X"
    await put(files, "a.md", "one")
    await put(files, "a.md", "two")
    (paths.files / SESSION / "mine.txt").write_text("by hand")
    counts = {one: size.files for one, size in (await files.sizes([SESSION, other])).items()}
    assert counts == {SESSION: 2, other: 0}
    assert await files.sizes([]) == {} and not (paths.files / other).exists()


async def test_a_move_and_a_deletion_are_lines_too_and_an_old_version_comes_back(
    files: VersionedFiles,
) -> None:
    await put(files, "a/draft.md", "one")
    await put(files, "b.md", "two")
    moved = await files.move(SESSION, "a/draft.md", "final.md", Writer("Bo"))
    assert (moved.path, moved.version, moved.moved_from) == ("final.md", 1, "a/draft.md")
    with pytest.raises(BadInput, match="file_is_there"):
        await files.move(SESSION, "b.md", "final.md")
    await files.delete(SESSION, "b.md", Writer("Bo"))
    assert await rows(files) == [("final.md", 1, "Bo")]
    for path in ("a/draft.md", "b.md", "/etc/passwd", "../final.md"):
        with pytest.raises(NotFound, match="file_not_found"):
            await files.read(SESSION, path)
    assert await held(files, "a/draft.md", 1) == "one"
    with pytest.raises(NotFound, match="file_version_not_found"):
        await files.read(SESSION, "b.md", 2)
    _, before = await files.read(SESSION, "b.md", 1)
    assert (await files.write(SESSION, "b.md", lambda _before, _held: before)).version == 2
    # The empty folder is gone, so that a file may have its name.
    assert (await put(files, "a", "a file")).version == 1
    lines = [(one.path, one.version, one.gone) for one in await files.versions(SESSION)]
    assert lines[2:5] == [("a/draft.md", 1, True), ("final.md", 1, False), ("b.md", 1, True)]


async def test_what_another_program_wrote_changed_or_deleted_is_taken_in(
    files: VersionedFiles, paths: DataPaths, told
) -> None:
    await put(files, "a.md", "one")
    await put(files, "b.md", "two")
    folder = paths.files / SESSION
    (folder / "a.md").write_text("by hand")
    (folder / "b.md").unlink()
    (folder / "sub").mkdir()
    (folder / "sub" / "mine.txt").write_text("new")
    (folder / ".hidden").write_text("no")
    (folder / "bad:name").write_text("no")
    told.clear()
    fresh = VersionedFiles(paths, on_written=lambda *news: told.append(news))
    assert await rows(fresh) == [("a.md", 2, ""), ("sub/mine.txt", 1, "")]
    assert len(told) == 3
    assert (await held(fresh, "a.md"), await held(fresh, "a.md", 1), await held(fresh, "b.md", 1)) == (
        "by hand",
        "one",
        "two",
    )
    told.clear()
    assert await rows(fresh) == [("a.md", 2, ""), ("sub/mine.txt", 1, "")]
    assert told == []


async def test_a_line_that_was_cut_off_is_written_again(files: VersionedFiles, paths: DataPaths) -> None:
    await put(files, "a.md", "one")
    await put(files, "a.md", "two")
    log = paths.files / SESSION / ".versions" / "log.jsonl"
    log.write_bytes(log.read_bytes()[:-20])
    fresh = VersionedFiles(paths)
    # The file was written before its line: nobody knows any more who did it, but nothing is lost.
    assert await rows(fresh) == [("a.md", 2, "")]
    assert await held(fresh, "a.md", 1) == "one"
    assert log.read_bytes().endswith(b"\n")


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
async def test_no_link_is_followed(files: VersionedFiles, paths: DataPaths, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    await put(files, "mine.md", "mine")
    folder = paths.files / SESSION
    (folder / "file.md").symlink_to(outside / "secret.md")
    (folder / "folder").symlink_to(outside, target_is_directory=True)
    (folder / "dead.md").symlink_to(outside / "new.md")
    os.mkfifo(folder / "pipe.md")
    assert await rows(files) == [("mine.md", 1, "Ann")]
    for path in ("file.md", "folder/secret.md", "dead.md", "pipe.md"):
        with pytest.raises(NotFound):
            await files.read(SESSION, path)
        with pytest.raises(BadPathError):
            await put(files, path, "changed")
        with pytest.raises(BadPathError):
            await files.move(SESSION, "mine.md", path)
    for path in ("folder/new.md", "folder"):
        with pytest.raises(BadPathError):
            await put(files, path, "changed")
    # A file that became a link is no file of the session any more.
    (folder / "mine.md").unlink()
    (folder / "mine.md").symlink_to(outside / "secret.md")
    assert await rows(files) == []
    assert [one.name for one in outside.iterdir()] == ["secret.md"]
    assert (outside / "secret.md").read_text() == "secret"


async def test_a_session_has_at_most_200_files_and_50_mb_of_versions(
    files: VersionedFiles, paths: DataPaths
) -> None:
    big = b"x" * 30_000_000
    await files.write(SESSION, "big.md", lambda _before, _held: big)
    await files.write(SESSION, "copy.md", lambda _before, _held: big)
    with pytest.raises(BadInput, match="files_too_large"):
        await files.write(SESSION, "big.md", lambda _before, held: held + big)
    assert (await files.read(SESSION, "big.md"))[1] == big
    # What a person puts there is left alone where there is no room, and nothing is written over it.
    (paths.files / SESSION / "own.md").write_bytes(b"y" * 25_000_000)
    assert [path for path, *_ in await rows(files)] == ["big.md", "copy.md"]
    with pytest.raises(BadPathError):
        await put(files, "own.md", "lost")
    other = new_id()
    folder = paths.files / other
    folder.mkdir()
    for number in range(MOST_FILES):
        (folder / f"{number}.md").write_text(str(number))
    assert len(await files.list(other)) == MOST_FILES
    with pytest.raises(BadInput, match="too_many_files"):
        await files.write(other, "one more.md", lambda _before, _held: b"")
    assert (await files.write(other, "7.md", lambda _before, _held: b"new")).version == 2


PIECES = (
    *(
        "..",
        ".",
        "",
        "a",
        "b.md",
        "한글",
        "..\\..",
        "C:",
        "\\\\host",
        "~",
        "$HOME",
        "%TEMP%",
        "CON",
        "nul.txt",
        "x.exe",
    ),
    *(
        "．．",
        "‥",
        "…",
        "／",
        "＼",
        "a／..",
        "\u202e",
        "\u200b",
        "a\0b",
        "a\n",
        "a ",
        "a.",
        ".versions",
        ".env",
        "file",
    ),
    *(
        "link",
        "link2",
        "folder",
        "dev",
        "etc",
        "passwd",
        "log.jsonl",
        "x.lnk",
        "%2e%2e",
        "..%2f",
        "a" * 300,
        "A",
        "B.MD",
    ),
    *(
        "\ud800",
        "\u1112\u1161\u11ab",
        "con\u00b9",
        "COM¹",
        "x:y",
        "x|y",
        "id_rsa",
        "..;",
        ". .",
        ".. ",
        "...",
        "a..b",
    ),
)


def hostile(chance: random.Random) -> str:
    """Return a path as somebody would write it who wants to get out."""
    parts = [chance.choice(PIECES) for _ in range(chance.randint(1, 6))]
    text = chance.choice(("/", "/", "/", "\\", "//", "∕")).join(parts)
    return chance.choice(("", "", "", "/", "./", "../", "~/", "file:///")) + text


@pytest.mark.timeout(900)
@pytest.mark.parametrize("count", [200, pytest.param(2_000, marks=pytest.mark.slow)])
@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
async def test_hostile_paths_change_nothing_outside(
    files: VersionedFiles, paths: DataPaths, tmp_path: Path, count: int
) -> None:
    chance = random.Random(7)
    await put(files, "file", "a file")
    folder = paths.files / SESSION
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "passwd").write_text("secret")
    (folder / "link").symlink_to(outside)
    (folder / "link2").symlink_to(outside / "passwd")

    def around() -> dict[str, object]:
        """Return all that is outside of the session's folder."""
        found = {}
        for place, folders, names in os.walk(tmp_path):
            if Path(place) == paths.files and SESSION in folders:
                folders.remove(SESSION)
            found |= {f"{place}/{name}": (Path(place) / name).read_bytes() for name in names}
            found |= {f"{place}/{name}/": None for name in folders}
        return found

    before, taken = around(), 0
    for number in range(count):
        path = hostile(chance)
        for work in (
            lambda path=path, number=number: put(files, path, f"text {number}"),
            lambda path=path: files.move(SESSION, "file", path),
            lambda path=path: files.delete(SESSION, path),
        ):
            try:
                await work()
                taken += 1
            except BadInput:
                pass
        if "file" not in [one.path for one in await files.list(SESSION)]:
            await put(files, "file", "a file")
    assert around() == before
    assert taken > 5
    for one in folder.rglob("*"):
        if ".versions" in one.parts or one.is_symlink() or one.is_dir():
            continue
        assert not one.lstat().st_mode & 0o111
        assert one.suffix[1:].casefold() not in FORBIDDEN_SUFFIXES


def check_kills(kills: int, *where: str) -> None:
    """Kill two writers so often, `where` the files are, and look that nothing is lost, torn, wrong or left over."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.storage.kill_files", str(kills), "7", *where],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["acknowledged"] >= found["kills"] == kills
    assert {found[name] for name in ("lost", "torn", "wrong", "left_over")} == {0}, found


@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("kills", [10, pytest.param(500, marks=pytest.mark.slow)])
@pytest.mark.skipif(sys.platform == "win32", reason="needs fork and SIGKILL")
def test_two_writers_killed_leave_every_file_whole_and_lose_nothing(kills: int) -> None:
    check_kills(kills)


async def test_the_trash_keeps_the_files_of_a_session(
    files: VersionedFiles, paths: DataPaths, store: JsonLogStore
) -> None:
    store.append(started(debate(SESSION)))
    await store.flush(SESSION)
    await put(files, "notes/a.md", "one")
    await store.delete(SESSION)
    assert not (paths.files / SESSION).exists()
    assert await files.list(SESSION) == ()
    await store.restore(SESSION)
    assert await rows(files) == [("notes/a.md", 1, "Ann")]
    await store.delete(SESSION)
    archive = FileArchive(paths, store, JsonDocuments(paths))
    await archive.remove_thrown([one.file for one in await archive.thrown()])
    assert list(paths.trash.iterdir()) == []


async def test_a_backup_holds_each_content_once_and_brings_the_files_back(
    files: VersionedFiles, paths: DataPaths, store: JsonLogStore
) -> None:
    other = new_id()
    for session_id in (SESSION, other):
        store.append(started(debate(session_id)))
        await store.flush(session_id)
        await files.write(session_id, "same.md", lambda _before, _held: b"in both", Writer("Ann"))
    await put(files, "notes/a.md", "one")
    await put(files, "notes/a.md", "two")
    await files.delete(SESSION, "same.md", Writer("Bo"))
    archive = FileArchive(paths, store, JsonDocuments(paths))
    backup = await archive.back_up("by_hand")
    with zipfile.ZipFile(backup.path) as packed:
        names = packed.namelist()
    assert len([name for name in names if name.startswith("contents/")]) == 3
    before = await files.versions(SESSION)
    for session_id in (SESSION, other):
        await store.delete(session_id)
    await archive.restore(backup.path, [SESSION, other], documents=True, replace=False)
    fresh = VersionedFiles(paths)
    assert await fresh.versions(SESSION) == before
    assert await rows(fresh) == [("notes/a.md", 2, "Ann")]
    assert await held(fresh, "notes/a.md", 1) == "one"
    assert (await fresh.read(other, "same.md"))[1] == b"in both"


async def test_a_backup_from_elsewhere_writes_no_file_it_may_not(
    paths: DataPaths, store: JsonLogStore
) -> None:
    store.append(started(debate(SESSION)))
    await store.flush(SESSION)
    archive = FileArchive(paths, store, JsonDocuments(paths))
    backup = await archive.back_up("by_hand")
    good = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    lies = "0" * 64
    bad = [
        {"path": path, "version": 1, "bytes": 5, "sha256": good}
        for path in ("../x.md", "/x", "a.exe", ".env")
    ]
    bad += [{"path": "lies.md", "version": 1, "bytes": 5, "sha256": lies}, {"path": 5}]
    log = b"".join(
        encode_line(number, [{"op": "file", "file": one}])
        for number, one in enumerate([*bad, {"path": "good.md", "version": 1, "bytes": 9, "sha256": good}], 1)
    )
    with zipfile.ZipFile(backup.path) as packed:
        parts = {name: packed.read(name) for name in packed.namelist()}
    manifest = json.loads(parts.pop("moot-backup.json"))
    parts |= {f"files/{SESSION}.jsonl": log, f"contents/{good}": b"hello", f"contents/{lies}": b"hello"}
    with zipfile.ZipFile(backup.path, "w") as packed:
        for name, data in parts.items():
            packed.writestr(name, data)
        packed.writestr("moot-backup.json", json.dumps({**manifest, "files": len(parts)}))
    await store.delete(SESSION)
    await archive.restore(backup.path, [SESSION], documents=True, replace=False)
    files = VersionedFiles(paths)
    assert [(one.path, one.bytes) for one in await files.list(SESSION)] == [("good.md", 5)]
    found = {one.relative_to(paths.files).as_posix() for one in paths.files.rglob("*") if one.is_file()}
    assert found == {f"{SESSION}/good.md", f"{SESSION}/.versions/log.jsonl", f"{SESSION}/.versions/{good}"}


async def test_old_versions_are_dropped_and_come_back(files: VersionedFiles, paths: DataPaths) -> None:
    await put(files, "plan.md", "one" * 10)
    await put(files, "plan.md", "two")
    await put(files, "gone.md", "gone")
    await files.delete(SESSION, "gone.md")
    before = await files.versions(SESSION)
    assert await files.sizes([SESSION]) == {SESSION: FilesSize(files=1, size=37, old=34)}
    await files.drop_old(SESSION)
    assert await files.sizes([SESSION]) == {SESSION: FilesSize(files=1, size=3, old=0)}
    assert await rows(files) == [("plan.md", 2, "Ann")] and await held(files, "plan.md") == "two"
    with pytest.raises(NotFound, match="file_version_not_found"):
        await files.read(SESSION, "plan.md", 1)
    kept = paths.files / SESSION / VERSIONS
    assert sum(map(is_digest, os.listdir(kept))) == 1
    # What is written meanwhile goes on with the numbers, and stays.
    assert (await put(files, "plan.md", "three")).version == 3
    assert (await put(files, "gone.md", "new")).version == 2
    await files.bring_back_old(SESSION)
    assert [await held(files, "plan.md", number) for number in (1, 2, 3)] == ["one" * 10, "two", "three"]
    assert (await files.versions(SESSION))[: len(before)] == before
    assert await rows(files) == [("gone.md", 2, "Ann"), ("plan.md", 3, "Ann")]
    assert await VersionedFiles(paths, read_only=True).versions(SESSION) == await files.versions(SESSION)
    assert not (kept / ASIDE).exists()
    # Where nothing is old, what was put aside last stays for the undo.
    await files.drop_old(SESSION)
    await files.drop_old(SESSION)
    await files.bring_back_old(SESSION)
    assert await held(files, "plan.md", 1) == "one" * 10


async def test_dropped_versions_are_gone_for_good_after_the_next_start(
    files: VersionedFiles, paths: DataPaths
) -> None:
    await put(files, "plan.md", "one")
    await put(files, "plan.md", "two")
    await files.drop_old(SESSION)
    aside = paths.files / SESSION / VERSIONS / ASIDE
    assert sum(map(is_digest, os.listdir(aside))) == 1
    again = JsonLogStore(paths)
    again.summaries()
    await again.close()
    assert not aside.exists()
    with pytest.raises(StorageError):
        await files.bring_back_old(SESSION)
    assert await held(files, "plan.md") == "two" and await rows(files) == [("plan.md", 2, "Ann")]


class CountingDisk(FileSystem):
    """Counts how often each log is read."""

    def __init__(self) -> None:
        super().__init__()
        self.logs: list[Path] = []

    def read(self, path: Path, start: int = 0, end: int | None = None) -> bytes:
        if path.name == LOG and end is None:
            self.logs.append(path)
        return super().read(path, start, end)


async def test_a_log_is_read_once_unless_another_process_has_written_to_it(paths: DataPaths) -> None:
    disk = CountingDisk()
    files, other = VersionedFiles(paths, file_system=disk), VersionedFiles(paths)
    for text in ("one", "two", "three"):
        await put(files, "plan.md", text)
        assert await held(files, "plan.md") == text
    assert len(disk.logs) == 1
    await put(other, "plan.md", "by another")
    await put(other, "new.md", "by another")
    assert await rows(files) == [("new.md", 1, "Ann"), ("plan.md", 4, "Ann")]
    assert len(disk.logs) == 2 and await held(files, "plan.md", 4) == "by another"
    # Between a look and a write of its own another one writes.
    folder = files._folders[SESSION]
    add = folder._add

    def add_late(*versions: FileVersion) -> None:
        del folder._add
        VersionedFiles(paths)._work_in(SESSION, lambda one: one.write("late.md", lambda *_: b"late", USER))
        add(*versions)

    folder._add = add_late
    await put(files, "plan.md", "five")
    assert "late.md" in [one.path for one in await files.list(SESSION)]
    assert await files.versions(SESSION) == await VersionedFiles(paths, read_only=True).versions(SESSION)


async def test_what_was_too_large_is_the_version_that_it_was_once_it_is_small_again(
    files: VersionedFiles, paths: DataPaths
) -> None:
    await put(files, "plan.md", "one")
    place = paths.files / SESSION / "plan.md"
    place.write_bytes(b"0" * (MOST_BYTES + 1))
    assert await rows(files) == []
    place.write_text("one")
    assert await rows(files) == [("plan.md", 1, "Ann")]
    place.write_bytes(b"0" * (MOST_BYTES + 1))
    assert await rows(files) == []
    place.unlink()
    assert await rows(files) == [] == await rows(VersionedFiles(paths, read_only=True))
    assert (await files.versions(SESSION))[-1].gone


async def test_of_many_sessions_the_logs_of_few_are_kept(paths: DataPaths) -> None:
    disk = CountingDisk()
    files, ids = VersionedFiles(paths, file_system=disk), [new_id() for _ in range(40)]
    for session_id in ids:
        await files.write(session_id, "a.md", lambda *_: b"text")
    assert {size.files for size in (await files.sizes(ids)).values()} == {1}
    assert len(files._folders) < 10
