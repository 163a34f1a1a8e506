"""A Moot without a window: it runs what other programs have begun, and gives way to a window.

`moot mcp` starts it where no Moot holds the data directory. It ends five minutes after the last run and the last command.
"""

import asyncio
import contextlib
import functools
from pathlib import Path

from app.cli.arguments import Arguments
from app.cli.control import ControlServer, UnansweredError, ask_to_yield
from app.cli.exit_status import OK
from app.cli.interrupt import Interrupt
from app.cli.running import put_away_all, run_for_another, running_sessions
from app.core.errors import DataDirectoryBusy
from app.storage.paths import DataPaths
from app.wiring import Moot, open_moot

IDLE_S = 300.0
_LOOK_S = 0.5
_YIELD_TRIES = 150
_YIELD_AGAIN_S = 0.1
# An owner that answers nothing may be just starting or ending, or it is of an older version.
_SILENT_TRIES = 20


async def run_background(
    paths: DataPaths, arguments: Arguments, interrupted: Interrupt, *, idle_s: float = IDLE_S
) -> int:
    """Run the commands of other processes until nothing has run for `idle_s` seconds, or a window opens.

    Returns at once where another Moot holds the data directory. Raises StorageError.
    """
    try:
        moot = await open_moot(paths.root, language=arguments.language)
    except DataDirectoryBusy:
        return OK
    server = ControlServer(
        paths.control,
        functools.partial(run_for_another, moot),
        give_way=functools.partial(put_away_all, moot),
    )
    try:
        await server.start()
        await _until_idle(moot, server, interrupted, idle_s)
        await (server.close() if interrupted.is_set() else server.drain())
    finally:
        await server.close()
        await moot.close()
    return OK


async def _until_idle(moot: Moot, server: ControlServer, interrupted: Interrupt, idle_s: float) -> None:
    """Return when nothing has run for that long, a window wants the data directory, or a signal asks to end."""
    loop = asyncio.get_running_loop()
    used = loop.time()
    while loop.time() - used < idle_s and not interrupted.is_set() and not server.given_way.is_set():
        if server.busy or running_sessions(moot):
            used = loop.time()
        with contextlib.suppress(TimeoutError):
            # A window waits for this one; a signal may wait a moment.
            await asyncio.wait_for(server.given_way.wait(), _LOOK_S)


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
            if (given := await ask_to_yield(paths.control)) is None:
                raise busy
            left += given
            gave_way = True
        except UnansweredError:
            silent += 1
            if silent > _SILENT_TRIES and not gave_way:
                raise busy from None
        await asyncio.sleep(_YIELD_AGAIN_S)
    raise busy
