"""A writer is killed at random moments."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.repeats import repeats

KILLS = repeats(30)


@pytest.mark.repeats
@pytest.mark.timeout(60 + KILLS)
@pytest.mark.skipif(sys.platform == "win32", reason="needs fork and SIGKILL")
def test_a_killed_writer_loses_nothing_acknowledged():
    done = subprocess.run(
        [sys.executable, "-m", "tests.storage.kill_writer", str(KILLS), "7"],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["kills"] == KILLS
    assert found["acknowledged"] >= KILLS
    assert {found[name] for name in ("lost", "damaged", "turned_back", "not_paused")} == {0}, found


@pytest.mark.repeats
@pytest.mark.timeout(60 + 2 * KILLS)
@pytest.mark.skipif(sys.platform == "win32", reason="needs fork and SIGKILL")
def test_a_killed_backup_or_restore_leaves_every_file_whole():
    done = subprocess.run(
        [sys.executable, "-m", "tests.storage.kill_archive", str(KILLS // 2), "7"],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["backups"] > 2
    assert (found["kills"], found["damaged"], found["missing"]) == (KILLS // 2, 0, 0), found
