"""A folder of the user's that was chosen for a session: which may be, that nothing outside is reached, and what is kept of it."""

import contextlib
import errno
import os
import random
import shutil
import stat
import sys
import threading
import time
import zipfile
from pathlib import Path

import pytest

from app.core.errors import BadInput, NotFound, StorageError
from app.core.ids import new_id
from app.core.session_files import (
    MOST_LISTED,
    BadPathError,
    FileVersion,
    Writer,
    files_named,
    of_folder,
    permission_for,
)
from app.storage.access import real_folder
from app.storage.documents import JsonDocuments
from app.storage.paths import DataPaths
from app.storage.session_files import VersionedFiles
from app.storage.sessions import JsonLogStore
from app.storage.stored_data import FileArchive
from tests.storage.samples import debate, started
from tests.storage.test_session_files import SESSION, check_kills, held, hostile, put, rows

posix = pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    return folder


@pytest.fixture
def told() -> list[FileVersion]:
    return []


@pytest.fixture
def files(paths: DataPaths, mine: Path, told: list[FileVersion]) -> VersionedFiles:
    return opened(paths, mine, told)


def opened(paths: DataPaths, folder: Path, told: list[FileVersion] | None = None) -> VersionedFiles:
    news = [] if told is None else told
    return VersionedFiles(
        paths, chosen=lambda _id: str(folder), on_written=lambda _id, version: news.append(version)
    )


def all_of(folder: Path) -> dict[str, bytes | None]:
    """Return all that is in a folder, files with what they hold."""
    return {
        one.relative_to(folder).as_posix(): one.read_bytes() if one.is_file() else None
        for one in folder.rglob("*")
    }


async def test_the_original_is_kept_as_version_0_and_only_moots_data_holds_versions(
    files: VersionedFiles, paths: DataPaths, mine: Path, told: list[FileVersion]
) -> None:
    (mine / "plan.md").write_text("by the user")
    found, data = await files.read(SESSION, "plan.md")
    assert (found.version, found.author, data) == (0, "", b"by the user")
    # Reading keeps nothing.
    assert await files.versions(SESSION) == () and await rows(files) == []
    made = await put(files, "plan.md", "by Ann")
    await put(files, "new/more.md", "new")
    assert made.version == 1
    assert await rows(files) == [("new/more.md", 1, "Ann"), ("plan.md", 1, "Ann")]
    assert [await held(files, "plan.md", number) for number in (0, 1)] == ["by the user", "by Ann"]
    with pytest.raises(NotFound):
        await files.read(SESSION, "new/more.md", 0)
    assert [(one.path, one.version) for one in told] == [("plan.md", 1), ("new/more.md", 1)]
    assert all_of(mine) == {"plan.md": b"by Ann", "new": None, "new/more.md": b"new"}
    assert {one.name for one in (paths.files / SESSION).iterdir()} == {".versions"}
    assert files.folder(SESSION) == str(mine)
    # Another process knows the same.
    fresh = opened(paths, mine)
    assert await fresh.versions(SESSION) == await files.versions(SESSION)
    restored = await fresh.write(SESSION, "plan.md", lambda _before, _held: b"by the user")
    assert (restored.version, restored.author) == (2, "")


async def test_a_deleted_or_moved_file_of_the_user_comes_back(
    files: VersionedFiles, paths: DataPaths, mine: Path, told: list[FileVersion]
) -> None:
    (mine / "a.md").write_text("one")
    (mine / "b").mkdir()
    (mine / "b" / "c.md").write_text("two")
    gone = await files.delete(SESSION, "a.md", Writer("Ann"))
    assert (gone.version, gone.gone) == (0, True) and not (mine / "a.md").exists()
    moved = await files.move(SESSION, "b/c.md", "d.md", Writer("Ann"))
    assert (moved.version, moved.moved_from) == (1, "b/c.md")
    # The user's folders stay, also empty ones.
    assert all_of(mine) == {"b": None, "d.md": b"two"}
    assert [(one.path, one.gone) for one in told] == [("a.md", True), ("b/c.md", True), ("d.md", False)]
    _, data = await files.read(SESSION, "a.md", gone.version)
    assert (await files.write(SESSION, "a.md", lambda _before, _held: data)).version == 1
    assert await held(files, "b/c.md", 0) == "two"
    with pytest.raises(BadInput):
        await files.move(SESSION, "a.md", "d.md")
    assert await rows(opened(paths, mine)) == [("a.md", 1, ""), ("d.md", 1, "Ann")]


async def test_what_another_program_does_is_listed_for_known_files_and_for_new_ones_of_a_turn(
    files: VersionedFiles, mine: Path
) -> None:
    (mine / "old.md").write_text("old")
    (mine / "known.md").write_text("before")
    await put(files, "known.md", "by Ann")
    (mine / "later.md").write_text("between turns")
    seen = await files.seen(SESSION)
    (mine / "old.md").write_text("changed")
    (mine / "known.md").write_text("by the agent")
    (mine / "deep").mkdir()
    (mine / "deep" / "new.md").write_text("new")
    (mine / ".env").write_text("SECRET=1")
    (mine / "server.pem").write_text("secret")
    (mine / "run.exe").write_text("no")
    await files.take_in_new(SESSION, seen)
    assert await rows(files) == [("deep/new.md", 1, ""), ("known.md", 2, "")]
    assert await held(files, "known.md", 1) == "by Ann"
    assert set(await files.others(SESSION)) == {"old.md", "later.md"}
    # A later change of the new one is a version too.
    (mine / "deep" / "new.md").write_text("again")
    assert await rows(files) == [("deep/new.md", 2, ""), ("known.md", 2, "")]
    assert await held(files, "deep/new.md", 1) == "new"


async def test_new_files_of_a_turn_are_listed_within_the_limits(files: VersionedFiles, mine: Path) -> None:
    seen = await files.seen(SESSION)
    for number in range(450):
        (mine / f"{number:03}.md").write_text(str(number))
    (mine / "huge.bin").write_bytes(b"x" * 51_000_000)
    await files.take_in_new(SESSION, seen)
    assert len(await files.list(SESSION)) == 200
    with pytest.raises(BadInput, match="too_many_files"):
        await put(files, "one more.md", "x")
    # The others are the user's, and are counted nowhere.
    assert len(await files.others(SESSION)) == 251


async def test_only_what_the_session_wrote_counts(files: VersionedFiles, mine: Path) -> None:
    for number in range(300):
        (mine / f"{number}.md").write_text(str(number))
    (mine / "large.bin").write_bytes(b"x" * 60_000_000)
    assert (await put(files, "own.md", "x")).version == 1
    # Its original cannot be kept.
    for work in (put(files, "large.bin", "y"), files.delete(SESSION, "large.bin"), held(files, "large.bin")):
        with pytest.raises(BadInput, match="file_too_large_mb"):
            await work
    (mine / "half.bin").write_bytes(b"z" * 30_000_000)
    await put(files, "half.bin", "y")
    (mine / "other.bin").write_bytes(b"a" * 30_000_000)
    with pytest.raises(BadInput, match="files_too_large"):
        await put(files, "other.bin", "y")
    assert (mine / "other.bin").stat().st_size == 30_000_000
    # A known file that another program made too large is not written over either.
    (mine / "own.md").write_bytes(b"b" * 30_000_000)
    with pytest.raises(BadInput, match="files_too_large"):
        await put(files, "own.md", "z")
    assert (mine / "own.md").stat().st_size == 30_000_000


@pytest.mark.parametrize(
    "name",
    [
        *(
            ".env",
            ".ssh/config",
            "a/.git/config",
            "prod.env",
            "server.pem",
            "tls.KEY",
            "id_rsa",
            "ID_ED25519",
        ),
        *("vault.kdbx", "cert.p12", "cert.pfx", "id_rsa.bak", "server.pem~", "key.pem.old", "backup.jks"),
    ],
)
async def test_hidden_and_key_files_are_never_read_listed_or_written(
    files: VersionedFiles, mine: Path, name: str
) -> None:
    place = mine / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("secret")
    (mine / "seen.md").write_text("seen")
    before = all_of(mine)
    assert await files.others(SESSION) == ("seen.md",)
    for work in (
        held(files, name),
        put(files, name, "changed"),
        files.delete(SESSION, name),
        files.move(SESSION, name, "taken.md"),
        files.move(SESSION, "seen.md", f"{name}2/{name}"),
    ):
        with pytest.raises(BadInput):
            await work
    assert all_of(mine) == before


@pytest.mark.timeout(900)
@pytest.mark.parametrize("count", [300, pytest.param(2_000, marks=pytest.mark.slow)])
@posix
async def test_hostile_paths_and_links_reach_nothing_outside(
    files: VersionedFiles, mine: Path, tmp_path: Path, paths: DataPaths, count: int
) -> None:
    chance = random.Random(11)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "passwd").write_text("the secret")
    (mine / "file").write_text("a file")
    (mine / "folder").mkdir()
    for name, target in (
        *(("link", outside), ("link2", outside / "passwd"), ("etc", Path("/etc")), ("dev", paths.root)),
        *(("folder/up", Path("..")), ("folder/out", Path("../../outside")), ("passwd", outside / "new.md")),
    ):
        (mine / name).symlink_to(target)
    os.mkfifo(mine / "b.md")
    paths.files.mkdir(parents=True)

    def around() -> dict[str, bytes | None]:
        kept = (one for one in all_of(tmp_path).items() if not one[0].startswith("mine/"))
        return {name: data for name, data in kept if f"files/{SESSION}" not in name}

    before, taken = around(), 0
    ways = ("link/passwd", "link2", "folder/up/file", "folder/out/passwd", "etc/passwd", "dev/settings.json")
    tried = [*(f"{way}" for way in ways), *(hostile(chance) for _ in range(count))]
    for number, path in enumerate(tried):
        for work in (
            lambda path=path: held(files, path),
            lambda path=path, number=number: put(files, path, f"text {number}"),
            lambda path=path: files.move(SESSION, "file", path),
            lambda path=path: files.delete(SESSION, path),
        ):
            try:
                assert await work() != "the secret"
                taken += 1
            except BadInput:
                pass
        if not (mine / "file").exists():
            await put(files, "file", "a file")
    assert around() == before
    assert taken > 5
    assert (mine / "link").is_symlink() and (mine / "link2").is_symlink()
    assert not any("link" in path or "up/" in path for path in await files.others(SESSION))


@posix
async def test_a_link_put_there_between_a_look_and_a_write_leads_nowhere(
    files: VersionedFiles, mine: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("the secret")
    over, real = threading.Event(), mine / "real"
    real.mkdir()
    (real / "a.md").write_text("mine")

    def swap() -> None:
        """Let `way` be a folder and a link to the outside in turns."""
        way = mine / "way"
        while not over.is_set():
            if way.is_dir() and not way.is_symlink():
                # It was made for a new file.
                shutil.rmtree(way, ignore_errors=True)
            with contextlib.suppress(OSError):
                os.rename(real, way)
            time.sleep(0.0005)
            with contextlib.suppress(OSError):
                os.rename(way, real)
            with contextlib.suppress(OSError):
                way.symlink_to(outside)
            time.sleep(0.0005)
            with contextlib.suppress(OSError):
                way.unlink()

    thread = threading.Thread(target=swap)
    thread.start()
    read, refused = set(), 0
    try:
        for number in range(300):
            for work in (
                held(files, "way/a.md"),
                put(files, "way/a.md", f"{number}"),
                put(files, f"way/new {number % 7}.md", f"{number}"),
                files.delete(SESSION, f"way/new {number % 7}.md"),
            ):
                try:
                    read.add(await work)
                except (BadInput, StorageError):
                    refused += 1
    finally:
        over.set()
        thread.join()
    assert refused and len(read) > 5
    assert "the secret" not in read
    assert all_of(outside) == {"a.md": b"the secret"}


@posix
async def test_a_link_put_in_place_of_the_very_file_is_replaced_and_not_followed(
    paths: DataPaths, mine: Path, tmp_path: Path
) -> None:
    files = opened(paths, mine)
    outside = tmp_path / "outside.md"
    outside.write_text("outside")
    (mine / "a.md").write_text("mine")

    def make(_before: FileVersion | None, _held: bytes) -> bytes:
        # After the file was looked at and read.
        (mine / "a.md").unlink()
        (mine / "a.md").symlink_to(outside)
        return b"new"

    with pytest.raises(BadInput, match="file_changed"):
        await files.write(SESSION, "a.md", make, Writer("Ann"))
    assert outside.read_text() == "outside"
    assert await held(files, "a.md", 0) == "mine"


async def test_a_change_by_another_program_during_a_write_is_not_lost(
    files: VersionedFiles, mine: Path
) -> None:
    (mine / "a.md").write_text("mine")

    def make(_before: FileVersion | None, _held: bytes) -> bytes:
        (mine / "a.md").write_text("changed just now")
        return b"new"

    with pytest.raises(BadInput, match="file_changed"):
        await files.write(SESSION, "a.md", make, Writer("Ann"))
    assert (mine / "a.md").read_text() == "changed just now"
    with pytest.raises(BadInput, match="file_changed"):
        await files.write(
            SESSION, "b.md", lambda _before, _held: bytes((mine / "b.md").write_bytes(b"x")), Writer("Ann")
        )
    assert {one.name for one in mine.iterdir()} == {"a.md", "b.md"}
    assert (mine / "b.md").read_bytes() == b"x"


@posix
async def test_who_may_read_a_file_stays_as_it_was_and_none_becomes_executable(
    files: VersionedFiles, mine: Path
) -> None:
    for name, mode in (("secret.md", 0o600), ("tool.py", 0o755), ("shared.md", 0o664)):
        (mine / name).write_text("x")
        (mine / name).chmod(mode)
        await put(files, name, "y")
        assert stat.S_IMODE((mine / name).stat().st_mode) == mode & 0o666


async def test_a_folder_that_disappears_is_not_made_again_and_comes_back_as_it_was(
    files: VersionedFiles, paths: DataPaths, mine: Path
) -> None:
    (mine / "a.md").write_text("one")
    await put(files, "a.md", "two")
    mine.rename(mine.with_name("away"))
    fresh = opened(paths, mine)
    for work in (held(fresh, "a.md"), put(fresh, "a.md", "x"), fresh.delete(SESSION, "a.md")):
        with pytest.raises(BadInput, match="folder_not_there"):
            await work
    with pytest.raises(BadInput, match="folder_not_there"):
        await fresh.others(SESSION)
    # What Moot keeps can be read, and nothing counts as deleted.
    assert await held(fresh, "a.md", 0) == "one"
    assert await rows(fresh) == [("a.md", 1, "Ann")]
    assert not mine.exists()
    mine.with_name("away").rename(mine)
    assert await held(fresh, "a.md") == "two"


@posix
async def test_a_folder_that_became_a_link_or_part_of_something_else_is_not_used(
    files: VersionedFiles, paths: DataPaths, mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(files, "a.md", "one")
    other = tmp_path / "other"
    mine.rename(other)
    mine.symlink_to(other)
    with pytest.raises(BadInput, match="folder_not_there"):
        await put(files, "a.md", "two")
    mine.unlink()
    other.rename(mine)
    monkeypatch.setenv("HOME", str(mine))
    with pytest.raises(BadInput, match="folder_home"):
        await put(files, "a.md", "two")
    monkeypatch.undo()
    forged = opened(paths, Path("/etc"))
    with pytest.raises(BadInput, match="folder_of_system"):
        await forged.read(new_id(), "hostname")


@pytest.mark.parametrize(("number", "code"), [(errno.ENOSPC, "disk_full"), (errno.EROFS, "read_only")])
@posix
async def test_a_full_or_read_only_folder_leaves_the_file_as_it_was(
    files: VersionedFiles,
    paths: DataPaths,
    mine: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    code: str,
) -> None:
    (mine / "a.md").write_text("one")
    real = os.open

    def refuse(path: object, flags: int, *args: object, **kinds: object) -> int:
        if flags & os.O_CREAT and kinds.get("dir_fd") is not None:
            raise OSError(number, os.strerror(number))
        return real(path, flags, *args, **kinds)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(StorageError, match=code) as refused:
        await put(files, "a.md", "two")
    assert refused.value.details["path"] == str(mine)
    with pytest.raises(StorageError, match=code):
        await put(files, "b.md", "two")
    monkeypatch.undo()
    assert all_of(mine) == {"a.md": b"one"}
    # The original was kept before; it is no file of the session's.
    assert await rows(opened(paths, mine)) == []
    assert (await put(files, "a.md", "two")).version == 1


def test_these_folders_may_not_be_chosen(
    paths: DataPaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    project = home / "work" / "project"
    project.mkdir(parents=True)
    data = home / "work" / "moot"
    (data / "sessions").mkdir(parents=True)
    for hidden in (".ssh", "project/.git/x", "Library/Keychains"):
        (home / hidden).mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    (home / "a file").write_text("x")
    (tmp_path / "to home").symlink_to(home)
    (tmp_path / "to data").symlink_to(data)
    (tmp_path / "to project").symlink_to(project)
    (tmp_path / "dead").symlink_to(tmp_path / "none")
    refused = {
        "folder_home": (home, tmp_path, Path("/"), tmp_path / "to home", project / ".." / ".."),
        "folder_of_moot": (
            data,
            data / "sessions",
            home / "work",
            tmp_path / "to data",
            project / "../../work",
        ),
        "folder_of_system": (
            *(Path(one) for one in ("/etc", "/usr/local", "/bin", "/proc/self", "/dev", "/tmp", "/root")),
            *(home / one for one in (".ssh", "project/.git/x", "Library/Keychains")),
        ),
        "folder_not_there": (
            home / "none",
            home / "a file",
            tmp_path / "dead",
            Path("/etc/hostname"),
            Path("a\0b"),
        ),
    }
    for code, places in refused.items():
        for place in places:
            if code == "folder_of_system" and not place.is_dir():
                continue
            with pytest.raises(BadInput) as raised:
                real_folder(str(place), data)
            # What the system has at / differs; /tmp may hold this very home.
            assert raised.value.code == code or place == Path("/tmp"), place
    assert real_folder(str(project), data) == str(project)
    assert real_folder(str(tmp_path / "to project"), data) == str(project)
    assert real_folder(str(project / ".." / "project"), data) == str(project)


async def test_a_file_differing_by_case_alone_is_another_name_for_the_same(
    files: VersionedFiles, mine: Path
) -> None:
    (mine / "Readme.md").write_text("one")
    (mine / "notes").mkdir()
    for path in ("README.md", "Notes/a.md", "Readme.md/b.md", "notes"):
        with pytest.raises(BadPathError):
            await put(files, path, "x")
    with pytest.raises(BadPathError):
        await held(files, "README.md")
    assert all_of(mine) == {"Readme.md": b"one", "notes": None}
    # What the user has of both kinds stays usable.
    (mine / "README.md").write_text("two")
    if len(list(mine.iterdir())) == 3:
        assert [await held(files, name) for name in ("README.md", "Readme.md")] == ["two", "one"]


async def test_100_000_files_are_listed_fast_and_off_the_loop(files: VersionedFiles, mine: Path) -> None:
    for number in range(100_000):
        os.close(os.open(mine / f"{number}.txt", os.O_CREAT | os.O_WRONLY))
    (mine / "sub").mkdir()
    (mine / "sub" / "deep.md").write_text("x")
    took, main = [], threading.get_ident()
    threads = []
    real = os.scandir

    def noted(place: object) -> object:
        threads.append(threading.get_ident())
        return real(place)  # type: ignore[arg-type]

    for _ in range(3):
        begun = time.process_time()
        others = await files.others(SESSION)
        took.append(time.process_time() - begun)
    assert len(others) == MOST_LISTED + 1
    assert min(took) < 0.3
    os.scandir = noted  # type: ignore[assignment]
    try:
        await files.others(SESSION)
    finally:
        os.scandir = real
    assert threads and main not in threads
    begun = time.process_time()
    seen = await files.seen(SESSION)
    assert time.process_time() - begun < 1 and len(seen) == 100_001


async def test_the_trash_and_backups_do_not_touch_the_users_folder(
    files: VersionedFiles, paths: DataPaths, mine: Path, store: JsonLogStore
) -> None:
    store.append(started(debate(SESSION)))
    await store.flush(SESSION)
    (mine / "a.md").write_text("one")
    (mine / "own.md").write_text("the user's own")
    await put(files, "a.md", "two")
    before = all_of(mine)
    archive = FileArchive(paths, store, JsonDocuments(paths))
    backup = await archive.back_up("by_hand")
    with zipfile.ZipFile(backup.path) as packed:
        held_there = [packed.read(name) for name in packed.namelist() if name.startswith("contents/")]
    assert sorted(held_there) == [b"one", b"two"]
    await store.delete(SESSION)
    assert not (paths.files / SESSION).exists()
    await store.restore(SESSION)
    assert await rows(files) == [("a.md", 1, "Ann")]
    await store.delete(SESSION)
    await archive.remove_thrown([one.file for one in await archive.thrown()])
    assert all_of(mine) == before
    await archive.restore(backup.path, [SESSION], documents=True, replace=False)
    # The session has its files in a folder of its own.
    fresh = VersionedFiles(paths)
    assert [(one.path, one.version) for one in await fresh.list(SESSION)] == [("a.md", 1)]
    assert (await fresh.read(SESSION, "a.md", 0))[1] == b"one"
    assert all_of(mine) == before


async def test_hidden_files_and_those_for_keys_are_in_no_backup(
    paths: DataPaths, mine: Path, store: JsonLogStore
) -> None:
    store.append(started(debate(SESSION)))
    await store.flush(SESSION)
    named = frozenset((".env", "keys/id_rsa", ".github/ci.yml"))
    files = VersionedFiles(paths, chosen=lambda _id: str(mine), named=lambda _id: named)
    for path in (*sorted(named), "plan.md", "empty.md"):
        (mine / path).parent.mkdir(exist_ok=True)
        (mine / path).write_text("" if path == "empty.md" else f"user's {path}")
        await put(files, path, f"Ann's {path}")
    await files.write(SESSION, ".env", lambda _before, _held: b"", Writer("Ann"))
    assert await held(files, ".env", 0) == "user's .env" and await held(files, ".env", 1) == "Ann's .env"
    archive = FileArchive(paths, store, JsonDocuments(paths))
    backup = await archive.back_up("by_hand")
    with zipfile.ZipFile(backup.path) as packed:
        held_there = [packed.read(name) for name in packed.namelist() if name.startswith("contents/")]
    # What an empty file of the user's holds is there, though one of the others holds as little.
    assert sorted(held_there) == [b"", b"Ann's empty.md", b"Ann's plan.md", b"user's plan.md"]
    await store.delete(SESSION)
    await archive.restore(backup.path, [SESSION], documents=True, replace=False)
    fresh = VersionedFiles(paths)
    assert await rows(fresh) == [("empty.md", 1, "Ann"), ("plan.md", 1, "Ann")]
    assert await held(fresh, "empty.md", 0) == ""


@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("kills", [10, pytest.param(500, marks=pytest.mark.slow)])
@posix
def test_two_writers_killed_leave_every_file_whole_and_lose_nothing(kills: int) -> None:
    check_kills(kills, "chosen")


async def test_the_original_is_an_old_version_too_and_comes_back(files: VersionedFiles, mine: Path) -> None:
    (mine / "plan.md").write_text("by the user")
    await put(files, "plan.md", "by Ann")
    await files.drop_old(SESSION)
    assert all_of(mine) == {"plan.md": b"by Ann"}
    with pytest.raises(NotFound):
        await held(files, "plan.md", 0)
    assert (await put(files, "plan.md", "again")).version == 2
    await files.bring_back_old(SESSION)
    assert [await held(files, "plan.md", one) for one in (0, 1, 2)] == ["by the user", "by Ann", "again"]


async def test_what_the_user_no_longer_names_keeps_its_original_when_old_versions_go(
    paths: DataPaths, mine: Path
) -> None:
    named: dict[str, frozenset[str]] = {SESSION: frozenset((".env",))}
    (mine / ".env").write_text("by the user")

    def opened() -> VersionedFiles:
        return VersionedFiles(paths, chosen=lambda _id: str(mine), named=lambda session_id: named[session_id])

    await put(opened(), ".env", "by Ann")
    named[SESSION] = frozenset()
    files = opened()
    await put(files, "plan.md", "one")
    await put(files, "plan.md", "two")
    await files.drop_old(SESSION)
    named[SESSION] = frozenset((".env",))
    # Its newest version stays as that of any file, and the undo brings the original back.
    assert await held(opened(), ".env", 1) == "by Ann"
    await opened().bring_back_old(SESSION)
    assert await held(opened(), ".env", 0) == "by the user"


async def test_hidden_files_and_keys_are_used_where_the_user_has_named_them(
    paths: DataPaths, mine: Path
) -> None:
    named = frozenset((".env", "keys/id_rsa", ".github/ci.yml"))
    allowed = {SESSION: named}
    files = VersionedFiles(
        paths, chosen=lambda _id: str(mine), named=lambda session_id: allowed.get(session_id, frozenset())
    )
    (mine / "keys").mkdir()
    (mine / ".github").mkdir()
    for path in (*named, ".other", "keys/id_ed25519", "keys/.env"):
        (mine / path).write_text(f"secret of {path}")
    assert await held(files, "keys/id_rsa") == "secret of keys/id_rsa"
    assert await files.others(SESSION) == (".env", "keys/id_rsa")
    assert (await put(files, ".env", "KEY=2")).version == 1
    await put(files, ".github/ci.yml", "on: push")
    assert await held(files, ".env", 0) == "secret of .env" and (mine / ".env").read_text() == "KEY=2"
    # Also what was read of the log again.
    again = VersionedFiles(paths, chosen=lambda _id: str(mine), named=lambda _id: named)
    assert await rows(again) == [(".env", 1, "Ann"), (".github/ci.yml", 1, "Ann")]
    for path in (".other", ".ENV", "keys/id_ed25519", "keys/.env", "a/../.env", ".github/b.yml", ".env.bat"):
        for work in (held(files, path), put(files, path, "x"), files.move(SESSION, ".env", path)):
            with pytest.raises(BadPathError):
                await work
    # Nobody has named them for another session, nor in a session's own folder.
    other = new_id()
    with pytest.raises(BadPathError):
        await files.read(other, ".env")
    with pytest.raises(BadPathError):
        await put(VersionedFiles(paths, named=lambda _id: named), ".env", "x")
    # What is revoked is closed again.
    allowed.clear()
    with pytest.raises(BadPathError):
        await held(files, ".env")
    assert await files.others(SESSION) == ()


@pytest.mark.parametrize("path", ["", "..", "../.env", "/etc/passwd", ".a:b", ".env/..", ".run.bat", "a//b"])
def test_only_a_file_of_the_folder_can_be_named(path: str) -> None:
    with pytest.raises(BadPathError):
        permission_for(path)


def test_the_permissions_of_a_folder_say_which_files_were_named() -> None:
    given = [permission_for(one) for one in (".env", "a/.b/c d", "이름/.가")]
    assert files_named([*given, "write_file", "0123/file:.x"]) == {".env", "a/.b/c d", "이름/.가"}
    assert not any("/" in one for one in given)
    assert of_folder(["x", "read_folder", *given]) == ("read_folder", *given)
