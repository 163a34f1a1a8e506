"""`moot quit`: closes the Moot that runs, with a window or without one, and says where there is none."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from app.cli.control import ControlServer, end_other, owner_pid
from app.cli.printing.lines import load_texts
from app.storage.access import WriterLock
from app.storage.paths import DataPaths
from tests.app_driver import until
from tests.mcp_caller import TWO, calling, numbered
from tests.stories.processes import Finished, Running, here, look, moot
from tests.test_control import Commands, Lines
from tests.wire.fixtures import wire_home, wire_servers
from tests.wire.server import WireServer

__all__ = ["wire_home", "wire_servers"]


async def quit_with(other: Running) -> tuple[Finished, Finished]:
    """Quit Moot while another command runs; return what both said."""
    # It is looked at meanwhile, as by a shell: a process that nobody looks at is never gone.
    return await asyncio.gather(asyncio.to_thread(moot, "quit"), asyncio.to_thread(other.finish, 60))


async def test_what_a_terminal_runs_is_paused_and_kept(asked: WireServer, data_dir: Path) -> None:
    numbered(asked, pace=0.2)
    with Running(
        "debate", "Tea or coffee?", "--rounds", "3", "-p", TWO[0], "-p", TWO[1], "--json"
    ) as terminal:
        await until(lambda: len(asked.requests) == 2)
        done, ended = await quit_with(terminal)
    assert (done.status, done.out, done.err) == (0, "Moot is closed.\n", "")
    assert ended.status == 4
    [session] = look("sessions", "--json").json
    assert (session["status"], session["messages"] > 0) == ("paused", True)
    assert not WriterLock(DataPaths(data_dir)).is_held()


async def test_a_window_is_closed(data_dir: Path) -> None:
    paths = DataPaths(data_dir)
    with Running(command=[sys.executable, "-m", "app"]) as window:
        await until(paths.control.exists)
        done, ended = await quit_with(window)
    assert (done.status, done.out) == (0, "Moot is closed.\n")
    assert (ended.status, ended.err) == (0, "")
    assert not paths.control.exists() and not WriterLock(paths).is_held()


async def test_one_without_a_window_is_closed(asked: WireServer, data_dir: Path) -> None:
    paths = DataPaths(data_dir)
    async with calling(data_dir) as caller:
        await caller.call("list", what="models")
        owner = owner_pid(paths.control)
        done = await asyncio.to_thread(moot, "quit")
        assert (done.status, done.out) == (0, "Moot is closed.\n")
        assert owner is not None and not paths.control.exists()
        # The program of the agent stays, and starts another one for its next call.
        await caller.call("list", what="models")
        assert owner_pid(paths.control) != owner


@pytest.mark.parametrize(
    ("language", "said"), [("en", "Moot is not running."), ("ko", "실행 중인 Moot가 없어요.")]
)
def test_it_says_where_none_runs(data_dir: Path, language: str, said: str) -> None:
    done = here("--lang", language, "quit")
    assert (done.status, done.out, done.err) == (0, f"{said}\n", "")
    assert not data_dir.exists()


async def test_one_that_stays_is_named(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.cli.control._END_TRIES", 3)
    data_dir.mkdir()
    paths = DataPaths(data_dir)
    lock = WriterLock(paths)
    lock.acquire()
    server = ControlServer(paths.control, Commands())
    await server.start()
    lines = Lines()
    assert await end_other(paths, lines, load_texts("en")) == 1
    said = f"Moot is still running (process {os.getpid()}). Close its window, or end that process."
    assert (lines.out, lines.err) == ("", [said])
    await server.close()
    lock.release()
