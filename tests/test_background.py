"""A Moot without a window: when it ends, and that it gives way to a window; real sockets and files."""

import asyncio
from pathlib import Path

import pytest

from app.children.login_start import BackgroundAtLogin
from app.cli import running
from app.cli.arguments import Arguments
from app.cli.commands.schedules import begin_in
from app.cli.control import ControlServer, UnansweredError, ask_to_yield, end_other, owner_keeps
from app.cli.interrupt import Interrupt
from app.cli.printing.lines import load_texts
from app.cli.running import open_in_window, run_background, run_for_another, write
from app.cli.terminal import Nobody
from app.core.errors import DataDirectoryBusy
from app.core.schedule import Schedule
from app.storage.access import WriterLock
from app.storage.paths import DataPaths
from app.wiring import open_moot
from tests.app_driver import until
from tests.test_control import Commands, Lines

BACKGROUND = Arguments(command="background")


async def test_it_ends_when_nothing_runs_any_more(data_dir: Path) -> None:
    paths = DataPaths(data_dir)
    assert await run_background(paths, BACKGROUND, Interrupt(), idle_s=0.1) == 0
    assert not paths.control.exists() and not WriterLock(paths).is_held()


async def test_it_leaves_the_data_directory_to_another(data_dir: Path) -> None:
    paths = DataPaths(data_dir)
    first = asyncio.create_task(run_background(paths, BACKGROUND, interrupted := Interrupt()))
    await until(paths.control.exists)
    assert await run_background(paths, BACKGROUND, Interrupt()) == 0
    assert not first.done()
    interrupted.close()
    assert await first == 0


async def test_it_waits_for_the_end_of_a_command_in_a_terminal(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "TURN_S", 0.05)
    paths = DataPaths(data_dir)
    data_dir.mkdir()
    lock = WriterLock(paths)
    lock.acquire()
    server = ControlServer(paths.control, Commands())
    await server.start()
    waiting = asyncio.create_task(run_background(paths, BACKGROUND, interrupted := Interrupt()))
    other = asyncio.create_task(run_background(paths, BACKGROUND, Interrupt()))
    given_up = asyncio.create_task(run_background(paths, BACKGROUND, ended := Interrupt()))
    await asyncio.sleep(0.3)
    assert not waiting.done() and not other.done()
    ended.close()
    assert await given_up == 0
    await server.close()
    lock.release()
    # Each of the two may be the first, and the second one then has nothing to do.
    done, _ = await asyncio.wait((waiting, other), return_when=asyncio.FIRST_COMPLETED)
    assert len(done) == 1 and owner_keeps(paths.control)
    interrupted.close()
    if waiting in done:
        assert await end_other(paths, Nobody(), load_texts("en")) == 0
    assert (await waiting, await other) == (0, 0)


@pytest.mark.parametrize("installed", [False, True])
async def test_a_command_in_a_terminal_leaves_one_behind_for_its_schedules(
    data_dir: Path, home: Path, installed: bool
) -> None:
    """Also where the one that started at login has ended, because there was no schedule yet."""
    paths = DataPaths(data_dir)
    if installed:
        BackgroundAtLogin(data_dir).install()
    values = {"action": "add", "name": "S", "every": "day", "time": "08:00", "words": ("debate", "Tabs?")}
    added = Arguments(command="schedule", data_dir=str(data_dir), values=values)
    assert await write(paths, added, Nobody(), Interrupt()) == 0
    lock = WriterLock(paths)
    if installed:
        await until(lock.is_held)
        assert await end_other(paths, Nobody(), load_texts("en")) == 0
    assert not lock.is_held()


@pytest.mark.parametrize("word", ["--help", "--version"])
async def test_a_command_that_asks_for_help_does_not_end_who_holds_the_directory(
    data_dir: Path, word: str
) -> None:
    moot, out = await open_moot(data_dir), Lines()
    words = ("debate", word) if word == "--help" else (word,)
    values = {"action": "add", "name": "S", "every": "day", "time": "08:00", "words": words}
    added = Arguments(command="schedule", language="en", values=values)
    assert await run_for_another(moot, added, out, Interrupt()) == 2
    assert out.err == ["A schedule runs one of these commands: ask, council, debate, workflow"]
    made = Schedule(id="", name="S", words=("debate", word), every="day", time="08:00")
    made = await moot.engine.schedules.make(made)
    moot.engine.schedules.begin = begin_in(moot)
    await (await moot.engine.schedules.run_now(made.id))
    (run,) = moot.engine.schedules.runs(made.id)
    code = "schedule_command" if word == "--help" else "usage_missing"
    assert (run.state, run.reason) == ("failed", code)
    await moot.close()


async def test_it_gives_way_to_a_window(data_dir: Path) -> None:
    paths = DataPaths(data_dir)
    first = asyncio.create_task(run_background(paths, BACKGROUND, Interrupt()))
    await until(paths.control.exists)
    moot, left = await open_in_window(paths, "en", None)
    assert left == ()
    assert await first == 0
    await moot.close()


async def test_a_command_in_a_terminal_does_not_give_way(data_dir: Path) -> None:
    paths = DataPaths(data_dir)
    data_dir.mkdir()
    lock = WriterLock(paths)
    lock.acquire()
    server = ControlServer(paths.control, Commands())
    await server.start()
    assert await ask_to_yield(paths.control) is None
    with pytest.raises(DataDirectoryBusy):
        await open_in_window(paths, "en", None)
    await server.close()
    with pytest.raises(UnansweredError):
        await ask_to_yield(paths.control)
    lock.release()


async def test_what_runs_is_paused_and_named_and_nothing_more_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "control"
    commands, paused = Commands(waits=True), asyncio.Event()

    async def give_way() -> list[str]:
        paused.set()
        return ["01abc", "02abc"]

    server = ControlServer(path, commands, give_way=give_way)
    await server.start()
    assert await ask_to_yield(path) == ("01abc", "02abc")
    assert paused.is_set() and server.given_way.is_set() and not path.exists()
    await server.close()
