"""Runs a command in a data directory, or hands it to the Moot that holds it; and a Moot without a window.

`moot mcp` starts the latter where no Moot holds the data directory. It ends five minutes after the last run
and the last command.
"""

import asyncio
import contextlib
import functools
import os
import subprocess
from collections.abc import Awaitable
from dataclasses import replace
from pathlib import Path

from app.children.login_start import BackgroundAtLogin
from app.children.processes import moot_command, moot_environment, start_detached
from app.cli import control
from app.cli.arguments import Arguments
from app.cli.commands.schedules import begin_in
from app.cli.commands.sessions import run_command
from app.cli.control import ControlServer, MovedError, UnansweredError
from app.cli.exit_status import BAD_INPUT, FAULT, OK, PAUSED_OR_STOPPED, WAITS
from app.cli.interrupt import Interrupt, beside
from app.cli.printing.lines import (
    error_line,
    json_line,
    lines_text,
    load_texts,
    lost_line,
    say_problems,
    whereabouts,
)
from app.cli.terminal import Nobody, Out
from app.core.errors import UNWRITTEN, BadInput, DataDirectoryBusy, MootError, StorageError
from app.core.session import ExportFormat, Status
from app.core.texts import Texts
from app.storage.access import WriterLock
from app.storage.paths import DataPaths
from app.wiring import Moot, open_moot

_HAND_OVER_TRIES = 100
_HAND_OVER_AGAIN_S = 0.1


async def read(paths: DataPaths, arguments: Arguments, out: Out, interrupted: Interrupt) -> int:
    """Run a command that changes nothing, also while another process writes.

    Where a verdict was printed for the first time, the one writer keeps that.
    """
    look_up_keys = arguments.command in ("providers", "keys")
    moot = await open_moot(paths.root, write=False, language=arguments.language, look_up_keys=look_up_keys)
    try:
        await say_problems(moot.engine.problems(), out, _texts(moot, arguments))
        status = await run_command(moot, arguments, out, interrupted)
        shown = await _verdict_shown(moot, arguments)
    finally:
        await moot.close()
    if shown:
        seen = replace(arguments, command="blind", values={"session": shown, "pick": "", "read": True})
        with contextlib.suppress(MootError, ConnectionError, MovedError):
            await write(paths, seen, Nobody(), interrupted)
    return status


async def _verdict_shown(moot: Moot, arguments: Arguments) -> str:
    """Return the id of the session whose verdict a command has printed for the first time, as text, else
    "".
    """
    exported = arguments.values.get("form") == ExportFormat.MARKDOWN and not arguments.values.get("output")
    if arguments.json or not (arguments.command == "show" or exported):
        return ""
    live = await moot.engine.open(arguments.values["session"])
    return live.id if moot.engine.councils.is_unread(live) else ""


async def write(paths: DataPaths, arguments: Arguments, out: Out, interrupted: Interrupt) -> int:
    """Run a command as the only writer; if there is another writer, let that one run it.

    Where a window takes the session over meanwhile, follow it there.
    """
    try:
        return await _write(paths, arguments, out, interrupted)
    except MovedError as moved:
        session_id = moved.session_id
    again = replace(arguments, command="resume", values={"session": session_id})
    for _ in range(_HAND_OVER_TRIES):
        # The window is just starting.
        with contextlib.suppress(UnansweredError):
            return await _hand_over(paths, again, out, interrupted)
        if interrupted.is_set():
            break
        await asyncio.sleep(_HAND_OVER_AGAIN_S)
    await out.complain(load_texts(arguments.language)("cli.owner_gone"))
    return PAUSED_OR_STOPPED


async def _write(paths: DataPaths, arguments: Arguments, out: Out, interrupted: Interrupt) -> int:
    for _ in range(_HAND_OVER_TRIES):
        try:
            moot = await open_moot(paths.root, language=arguments.language)
        except DataDirectoryBusy as busy:
            refusal = busy
        else:
            return await _serve_and_run(moot, arguments, out, interrupted)
        # The owner may be just starting or ending; then nobody takes the command yet.
        with contextlib.suppress(UnansweredError):
            return await _hand_over(paths, arguments, out, interrupted)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(interrupted.wait(), _HAND_OVER_AGAIN_S)
            await out.complain(load_texts(arguments.language)("cli.interrupted"))
            return PAUSED_OR_STOPPED
    raise refusal


async def _hand_over(paths: DataPaths, arguments: Arguments, out: Out, interrupted: Interrupt) -> int:
    try:
        return await control.hand_over(paths.control, arguments, out, interrupted)
    except control.TooLongError as error:
        raise BadInput("too_long_to_hand_over") from error
    except (BrokenPipeError, UnansweredError):
        raise
    except ConnectionError:
        # The owner was killed; its sessions come back paused.
        await out.complain(load_texts(arguments.language)("cli.owner_gone"))
        return PAUSED_OR_STOPPED


async def _serve_and_run(moot: Moot, arguments: Arguments, out: Out, interrupted: Interrupt) -> int:
    """Run a command here, and meanwhile the commands that other processes hand over.

    Raises MovedError where a window has taken over the session that the command follows.
    """
    status = FAULT

    def give_way() -> Awaitable[list[str]] | None:
        return put_away_all(moot) if interrupted.session_id else None

    run_other = functools.partial(run_for_another, moot)
    server = ControlServer(moot.paths.control, run_other, give_way=give_way, end=interrupted.close)
    passing_on = asyncio.create_task(_pass_on(interrupted, server))
    try:
        await server.start()
        await say_problems(moot.engine.problems(), out, _texts(moot, arguments))
        status = await run_command(moot, arguments, out, interrupted)
        # The commands of other processes run to their end.
        await server.drain()
    finally:
        passing_on.cancel()
        await server.close()
        try:
            await close_and_go_on(moot, server)
        except StorageError as error:
            # What could not be saved is lost with this process, so the run is not complete. A command that
            # failed has given its reason, which closing gives again, but has not said what is lost.
            complete = status in {OK, WAITS}
            if complete:
                status = PAUSED_OR_STOPPED
            if complete or error.code in UNWRITTEN:
                await out.complain(lost_line(error, load_texts(arguments.language), interrupted.session_id))
    if server.given_way.is_set() and status == PAUSED_OR_STOPPED:
        raise MovedError(interrupted.session_id)
    return status


def running_sessions(moot: Moot) -> list[str]:
    """Return the ids of the sessions that run here."""
    running = (each.id for each in moot.engine.sessions() if each.status == Status.RUNNING)
    return [session_id for session_id in running if moot.engine.live(session_id) is not None]


async def put_away_all(moot: Moot) -> list[str]:
    """Pause all running sessions at once, because another Moot takes over, and return their ids."""
    ids = running_sessions(moot)
    await asyncio.gather(*(moot.engine.put_away(session_id) for session_id in ids))
    return ids


async def run_for_another(moot: Moot, arguments: Arguments, out: Out, interrupted: Interrupt) -> int:
    """Run a command of another process, and report errors on that process's standard error."""
    texts = _texts(moot, arguments)
    try:
        return await run_command(moot, arguments, out, interrupted)
    except MootError as error:
        await out.complain(error_line(error, texts))
        return BAD_INPUT
    except ConnectionError:
        raise
    except Exception as error:  # a fault in one command must not end the others
        await out.complain(texts("cli.fault", **whereabouts(error)))
        return FAULT


async def _pass_on(interrupted: Interrupt, server: ControlServer) -> None:
    await interrupted.wait()
    server.interrupt()


def _texts(moot: Moot, arguments: Arguments) -> Texts:
    return load_texts(arguments.language or moot.engine.settings().language)


IDLE_S = 300.0
# How often a Moot without a window looks whether a command in a terminal has ended, in seconds.
TURN_S = 2.0
_YIELD_TRIES = 150
_YIELD_AGAIN_S = 0.1
# An owner that answers nothing may be just starting or ending, or it is of an older version.
_SILENT_TRIES = 20


async def run_background(
    paths: DataPaths, arguments: Arguments, interrupted: Interrupt, *, idle_s: float = IDLE_S
) -> int:
    """Run the commands of other processes, and what is scheduled, until nothing has run for `idle_s` seconds
    and no schedule is active, or a window opens.

    Returns at once where another Moot does that, and waits for the end of a command in a terminal. Raises
    StorageError.
    """
    while not interrupted.is_set():
        try:
            moot = await open_moot(paths.root, language=arguments.language)
            break
        except DataDirectoryBusy:
            if control.owner_keeps(paths.control):
                return OK
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(interrupted.wait(), TURN_S)
    else:
        return OK
    run, give_way = functools.partial(run_for_another, moot), functools.partial(put_away_all, moot)
    server = ControlServer(paths.control, run, give_way=give_way, keeps=True, end=interrupted.close)
    schedules = moot.engine.schedules
    schedules.begin = begin_in(moot)
    try:
        await server.start()
        async with beside(schedules.keep(), server.given_way.wait(), interrupted.wait()) as (keeping, *ends):
            # Until nothing has run for that long, a window wants the data directory, or a signal asks to end.
            loop = asyncio.get_running_loop()
            used = loop.time()
            while loop.time() - used < idle_s and not any(end.done() for end in ends):
                if server.busy or running_sessions(moot) or schedules.is_active():
                    used = loop.time()
                # It sleeps for long, so that a computer that rests is not woken up.
                await asyncio.wait((keeping, *ends), timeout=idle_s / 2, return_when=asyncio.FIRST_COMPLETED)
                if keeping.done():
                    keeping.result()
        await (server.close() if interrupted.is_set() else server.drain())
    finally:
        await server.close()
        await moot.close()
    return OK


async def close_and_go_on(moot: Moot, server: ControlServer) -> None:
    """Close a Moot, and start one without a window for the schedules where it starts with the computer,
    but not where Moot was asked to end.
    """
    goes_on = moot.engine.schedules.is_active() and await asyncio.to_thread(
        moot.engine.login_start.is_installed
    )
    await moot.close()
    if goes_on and not server.asked_to_end:
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            await asyncio.to_thread(start_background, moot.paths)


def start_background(paths: DataPaths) -> int:
    """Start a Moot without a window that outlives this process and what ends it, and return its number;
    it writes its complaints to a file.

    Raises OSError, SubprocessError.
    """
    paths.logs.mkdir(mode=0o700, parents=True, exist_ok=True)
    command = moot_command("background", "--data-dir", str(paths.root))
    # An agent's environment may hold the agent's own keys besides those for Moot.
    own_keys = {name: value for name, value in os.environ.items() if name.startswith("MOOT_KEY_")}
    with complaints_of(paths).open("wb") as complaints:
        where = {"env": moot_environment() | own_keys, "cwd": paths.root}
        return start_detached(command, stdin=subprocess.DEVNULL, stderr=complaints, **where)


def complaints_of(paths: DataPaths) -> Path:
    """Return the file of what a Moot without a window complains of."""
    return paths.logs / "background.log"


async def background_at_login(paths: DataPaths, arguments: Arguments, out: Out) -> int:
    """Let Moot start without a window at the user's login, or no longer, or say how that is."""
    login, texts = BackgroundAtLogin(paths.root), load_texts(arguments.language)
    pid = control.owner_pid(paths.control) if WriterLock(paths).is_held() else None
    if arguments.values["action"] == "install":
        login.install()
        pid = pid or await asyncio.to_thread(start_background, paths)
    elif arguments.values["action"] == "remove":
        login.remove()
    found = {"installed": login.is_installed(), "place": login.place, "running": pid is not None, "pid": pid}
    lines = [
        texts("cli.background.installed", place=login.place)
        if found["installed"]
        else texts("cli.background.not_installed"),
        texts("cli.background.running", pid=pid) if pid is not None else texts("cli.background.not_running"),
    ]
    await out.write(json_line(found) if arguments.json else lines_text(lines))
    return OK


async def open_in_window(
    paths: DataPaths, language: str, catalogue: Path | None
) -> tuple[Moot, tuple[str, ...]]:
    """Open a data directory for a window; a Moot without one gives way.

    Returns also the ids of the sessions that the other has paused. Raises DataDirectoryBusy, StorageError.
    """
    left: tuple[str, ...] = ()
    gave_way, silent = False, 0
    for _ in range(_YIELD_TRIES):
        try:
            moot = await open_moot(paths.root, language=language, look_up_keys=False, catalogue=catalogue)
        except DataDirectoryBusy as error:
            busy = error
        else:
            return moot, left
        try:
            if (given := await control.ask_to_yield(paths.control)) is None:
                raise busy
            left += given
            gave_way = True
        except UnansweredError:
            silent += 1
            if silent > _SILENT_TRIES and not gave_way:
                raise busy from None
        await asyncio.sleep(_YIELD_AGAIN_S)
    raise busy
