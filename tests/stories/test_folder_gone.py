"""A Moot that starts where the data folder of one that still runs was moved or deleted: it says so, and makes nothing."""

import json
import shutil
import signal
import sys
from pathlib import Path

import pytest
from filelock import FileLock

from app.gui.window_frame import WindowState
from app.storage.access import left_by
from app.storage.paths import DataPaths
from tests.screen_reader import wait
from tests.stories.processes import Running, moot

OFFSCREEN = {"QT_QPA_PLATFORM": "offscreen"}


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux says who holds the lock of a folder that is gone"
)
@pytest.mark.parametrize("how", ["deleted", "moved"])
def test_a_second_moot_names_the_folder_that_is_gone_and_makes_nothing_in_its_place(
    data_dir: Path, tmp_path: Path, how: str
) -> None:
    paths, away = DataPaths(data_dir), tmp_path / "trash"
    with Running("--lang", "en", environment=OFFSCREEN) as first:
        wait(paths.control.exists, "the first window")
        pid = json.loads((data_dir / "lock.holder").read_bytes())["pid"]
        if how == "moved":
            data_dir.rename(away)
        else:
            wait(lambda: shutil.rmtree(data_dir) or not data_dir.exists(), "an empty place")
        said = (
            f"Moot (process {pid}) still has {data_dir} open, which was moved or deleted. "
            "Put the folder back, or close that Moot. Then start again."
        )
        with Running("--lang", "en", environment=OFFSCREEN) as second:
            wait(lambda: second.errors, "what the second window says")
            assert said in second.errors[0]
            assert not data_dir.exists()
        command = moot("council", "Tea or coffee?", "--lang", "en")
        assert command.status == 2 and said in command.err
        assert not data_dir.exists()
        if how == "moved":
            # As it is said: once the folder is back, all goes on.
            away.rename(data_dir)
            assert moot("--lang", "en", environment=OFFSCREEN).status == 0
            away = data_dir
        first.send(signal.SIGTERM)
        assert first.finish().status == 0
    assert data_dir.exists() == (how == "moved"), "the first makes nothing either, as it ends"
    assert moot("list", "--json").out == "" and data_dir.exists() == (how == "moved")
    # Nobody has it any more: it is begun anew.
    with Running("--lang", "en", environment=OFFSCREEN) as third:
        wait(paths.control.exists, "the third window")
        third.send(signal.SIGTERM)
        assert third.finish().status == 0


def test_what_the_window_remembers_stays_until_the_end_and_makes_no_folder(tmp_path: Path) -> None:
    root, away = tmp_path / "data", tmp_path / "trash"
    root.mkdir()
    state = WindowState(root)
    state.keep("begins", "chat")
    state.save()
    root.rename(away)
    state.keep("begins", "decide")
    state.keep_place("20261121T100000000Z", "12")
    assert state.text("begins") == "decide"
    state.save()
    assert not root.exists()
    away.rename(root)
    assert WindowState(root).text("begins") == "chat"
    state.keep("begins", "work")
    state.save()
    assert WindowState(root).text("begins") == state.text("begins") == "work"


@pytest.mark.parametrize("holder", [b"[" * 200_000, b"{", b'{"path": 7}', b"\xff\xfe", b"7"])
def test_what_another_program_keeps_beside_its_lock_may_be_anything(tmp_path: Path, holder: bytes) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "lock.holder").write_bytes(holder)
    with FileLock(other / "lock"):
        assert left_by(tmp_path / "gone") == ""
