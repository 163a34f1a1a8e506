"""Sessions of every kind on a file system of 1 MB that fills up while a model speaks, and is freed again."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stories.every_kind import (
    KINDS,
    Kind,
    acknowledged,
    check_kept,
    furnish,
    next_command,
    show,
    to_the_end,
)
from tests.stories.processes import Finished, Running
from tests.wire import WireServer
from tests.wire.fixtures import wire_home, wire_servers

__all__ = ["wire_home", "wire_servers"]

MEGABYTE = 1 << 20


@pytest.fixture
def small_disk(data_dir: Path) -> Iterator[Path]:
    """Put the data directory on a file system of its own, which takes root on Linux."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        pytest.skip("only root can mount a file system, and only Linux has tmpfs")
    data_dir.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={MEGABYTE},mode=700", "tmpfs", str(data_dir)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"a file system cannot be mounted here: {mounted.stderr.decode().strip()}")
    yield data_dir
    subprocess.run(["umount", str(data_dir)], check=True)


def fill(disk: Path) -> Path:
    """Take every byte that is left; return the file that holds them."""
    ballast = disk / "ballast"
    with ballast.open("ab", buffering=0) as file:
        for size in (1 << 12, 1):
            with contextlib.suppress(OSError):
                while True:
                    file.write(bytes(size))
    return ballast


def told_of(done: Finished) -> bool:
    """Say whether the user was told that the disk is full, in words or as a notice."""
    notices = [one["text"] for one in done.events if one["event"] == "notice"]
    return any("disk is full" in text or "disk_full" in text for text in (done.err, *notices))


@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=() if kind is KINDS[0] else pytest.mark.slow, id=kind.name) for kind in KINDS],
)
def test_a_full_disk_pauses_the_session_and_space_lets_it_go_on(
    kind: Kind, small_disk: Path, wire_home: dict[str, WireServer]
) -> None:
    furnish(small_disk, wire_home)
    command = kind.command
    with Running(*command, "--json", "--lang", "en") as running:
        running.event("message.delta", seconds=60)
        ballast = fill(small_disk)
        done = running.finish(90)
    assert done.status == 4, (done.status, done.err)
    assert told_of(done), done.events[-3:]
    assert "saving is retried" not in done.err
    session_id = str(done.events[0]["session_id"])
    told = acknowledged(done.events)
    check_kept(show(session_id), told)
    with Running(*next_command(show(session_id)), "--json", "--lang", "en") as running:
        refused = running.finish(90)
    assert refused.status in {2, 4}, (refused.status, refused.err)
    assert told_of(refused), (refused.err, refused.events[-3:])
    check_kept(show(session_id), told)
    ballast.unlink()
    _, told_later = to_the_end(kind, session_id)
    check_kept(show(session_id), told | told_later)
