"""One writer a data directory: the second is refused with the holder's name, a dead one lets go."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.core.errors import DataDirectoryBusy, StorageError
from app.storage.access import WriterLock
from app.storage.paths import DataPaths, default_data_dir, resources_dir

HOLD = """
import sys
from pathlib import Path
from app.storage.access import WriterLock
from app.storage.paths import DataPaths
lock = WriterLock(DataPaths(Path(sys.argv[1])))
lock.acquire()
print("held", flush=True)
sys.stdin.read()
"""


def test_the_second_is_told_who_the_first_is(data_dir):
    first, second = WriterLock(DataPaths(data_dir)), WriterLock(DataPaths(data_dir))
    assert not second.is_held()
    first.acquire()
    assert second.is_held()
    with pytest.raises(DataDirectoryBusy) as caught:
        second.acquire()
    assert caught.value.details["pid"] == os.getpid()
    assert caught.value.details["path"] == str(data_dir)
    first.release()
    second.acquire()
    second.release()
    assert data_dir.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in data_dir.iterdir()} <= {0o600}


@pytest.mark.parametrize(
    "holder", ["", "[]", '{"pid": 1e999, "since": ""}', '{"pid": [1], "since": ""}', "[" * 9_999]
)
def test_a_holder_that_cannot_be_read_is_not_named(data_dir, holder):
    first, second = WriterLock(DataPaths(data_dir)), WriterLock(DataPaths(data_dir))
    first.acquire()
    (data_dir / "lock.holder").write_text(holder)
    with pytest.raises(DataDirectoryBusy) as caught:
        second.acquire()
    assert caught.value.details["pid"] == "?"
    first.release()


def test_a_killed_holder_lets_go(data_dir):
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(data_dir)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    assert child.stdout is not None
    assert child.stdin is not None
    try:
        assert child.stdout.readline() == b"held\n"
        lock = WriterLock(DataPaths(data_dir))
        with pytest.raises(DataDirectoryBusy) as caught:
            lock.acquire()
        assert caught.value.details["pid"] == child.pid
    finally:
        child.kill()
        child.wait()
        child.stdin.close()
        child.stdout.close()
    lock.acquire()
    lock.release()


def test_a_place_that_is_no_directory_is_said(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError):
        WriterLock(DataPaths(tmp_path / "file" / "data")).acquire()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "lock").mkdir()
    with pytest.raises(StorageError):
        WriterLock(DataPaths(tmp_path / "data")).acquire()


def test_the_paths(data_dir, monkeypatch):
    assert default_data_dir() == data_dir
    monkeypatch.delenv("MOOT_DATA_DIR")
    assert default_data_dir().name == "Moot"
    assert (resources_dir() / "i18n").is_dir()
    paths = DataPaths(data_dir)
    assert all(data_dir in path.parents for name, path in vars(paths).items() if name != "root")
