"""The command line: opens the data directory or hands the command over; signals, errors, exit status.

Used by __main__; imports no Qt. What the sub-commands do stands in commands.
"""

import asyncio
import contextlib
import functools
import signal
import traceback
from collections.abc import Iterator
from pathlib import Path

from app.arguments import DOCTOR, Arguments
from app.commands import run_command
from app.control import ControlServer, TooLongError, UnansweredError, hand_over
from app.core.errors import BadInput, Busy, MootError, StorageError
from app.doctor import examine
from app.follow import FAULT, OK, PAUSED_OR_STOPPED, WAITS
from app.storage.paths import DataPaths
from app.terminal import Out, TerminalOut, error_line, forget_output, load_texts, problem_line
from app.wiring import Moot, open_moot

BAD_INPUT = 2

_HAND_OVER_TRIES = 100
_HAND_OVER_AGAIN_S = 0.1


def run(arguments: Arguments) -> int:
    """Run a sub-command in this process and return its exit status."""
    return asyncio.run(_run(arguments, TerminalOut()))


async def _run(arguments: Arguments, out: Out) -> int:
    texts = load_texts(arguments.language)
    paths = DataPaths(arguments.root)
    interrupted = asyncio.Event()
    with _signals(interrupted):
        try:
            if arguments.command == DOCTOR:
                return await examine(paths, arguments, out, texts)
            if arguments.writes:
                return await _write(paths, arguments, out, interrupted)
            return await _read(paths, arguments, out, interrupted)
        except ConnectionError:
            forget_output()
            return PAUSED_OR_STOPPED
        except MootError as error:
            return await _complain(out, error_line(error, texts), BAD_INPUT)
        except Exception as error:  # the last line of defence: no traceback, no key
            return await _complain(out, texts("cli.fault", **_whereabouts(error)), FAULT)


async def _read(paths: DataPaths, arguments: Arguments, out: Out, interrupted: asyncio.Event) -> int:
    moot = await open_moot(paths.root, write=False, language=arguments.language)
    try:
        await _say_problems(moot, arguments, out)
        return await run_command(moot, arguments, out, interrupted)
    finally:
        await moot.close()


async def _write(paths: DataPaths, arguments: Arguments, out: Out, interrupted: asyncio.Event) -> int:
    """Run a command as the one writer; while there is another, let that one run it."""
    for _ in range(_HAND_OVER_TRIES):
        try:
            moot = await open_moot(paths.root, language=arguments.language)
        except Busy as busy:
            refusal = busy
        else:
            return await _serve_and_run(moot, arguments, out, interrupted)
        # Its owner may be just starting or just leaving: then there is nobody to take it yet.
        with contextlib.suppress(UnansweredError):
            return await _hand_over(paths, arguments, out, interrupted)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(interrupted.wait(), _HAND_OVER_AGAIN_S)
            return await _complain(out, load_texts(arguments.language)("cli.interrupted"), PAUSED_OR_STOPPED)
    raise refusal


async def _hand_over(paths: DataPaths, arguments: Arguments, out: Out, interrupted: asyncio.Event) -> int:
    try:
        return await hand_over(paths.control, arguments, out, interrupted)
    except TooLongError as error:
        raise BadInput("too_long_to_hand_over") from error
    except (BrokenPipeError, UnansweredError):
        raise
    except ConnectionError:
        # It was killed; what ran in it comes back paused.
        await out.complain(load_texts(arguments.language)("cli.owner_gone"))
        return PAUSED_OR_STOPPED


async def _serve_and_run(moot: Moot, arguments: Arguments, out: Out, interrupted: asyncio.Event) -> int:
    """Run a command here, and until it ends whatever other processes hand over."""
    status = FAULT
    server = ControlServer(moot.paths.control, functools.partial(run_for_another, moot))
    passing_on = asyncio.create_task(_pass_on(interrupted, server))
    try:
        await server.start()
        await _say_problems(moot, arguments, out)
        status = await run_command(moot, arguments, out, interrupted)
        # What other processes handed over runs on to its end.
        await server.drain()
    finally:
        passing_on.cancel()
        await server.close()
        try:
            await moot.close()
        except StorageError as error:
            # What the disk still refuses is lost with this process: a run that looked complete is not.
            if status in {OK, WAITS}:
                status = PAUSED_OR_STOPPED
                await out.complain(error_line(error, load_texts(arguments.language)))
    return status


async def _say_problems(moot: Moot, arguments: Arguments, out: Out) -> None:
    """Name the files that could not be used; the rest works."""
    texts = load_texts(arguments.language or moot.engine.settings().language)
    for problem in moot.engine.problems():
        await out.complain(problem_line(problem, texts))


async def run_for_another(moot: Moot, arguments: Arguments, out: Out, interrupted: asyncio.Event) -> int:
    """Run a command that another process handed over; its errors go to that process's standard error."""
    texts = load_texts(arguments.language or moot.engine.settings().language)
    try:
        return await run_command(moot, arguments, out, interrupted)
    except MootError as error:
        await out.complain(error_line(error, texts))
        return BAD_INPUT
    except ConnectionError:
        raise
    except Exception as error:  # a fault in one command must not end the others
        await out.complain(texts("cli.fault", **_whereabouts(error)))
        return FAULT


async def _pass_on(interrupted: asyncio.Event, server: ControlServer) -> None:
    await interrupted.wait()
    server.interrupt()


async def _complain(out: Out, line: str, status: int) -> int:
    with contextlib.suppress(ConnectionError):
        await out.complain(line)
    return status


def _whereabouts(error: BaseException) -> dict[str, object]:
    """Name an unexpected error by its type and place; its text might hold anything."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
    return {"kind": type(error).__name__, "place": place}


@contextlib.contextmanager
def _signals(interrupted: asyncio.Event) -> Iterator[None]:
    """Let Ctrl-C or SIGTERM ask for a pause once; a second one kills."""
    loop = asyncio.get_running_loop()

    def on_signal(_number: int, _frame: object) -> None:
        for number in before:
            signal.signal(number, signal.SIG_DFL)
        loop.call_soon_threadsafe(interrupted.set)

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
