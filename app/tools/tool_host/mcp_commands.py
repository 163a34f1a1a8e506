"""Finds the command of an MCP server: with the login shell's PATH too, which a desktop start does not have."""

import asyncio
import os
import shutil
import sys
from functools import cache
from pathlib import Path

from app.core.tool import NOT_FOUND
from app.tools.tool_host.errors import RequestError

_SHELL_SECONDS = 5.0
_MARK = "__MOOT_PATH__"


async def resolve(command: str, cwd: str | None, path: str) -> str:
    """Return the file of a command; raises RequestError naming where was looked."""
    found = await asyncio.to_thread(_find, command, cwd, path)
    if found is None:
        where = path.replace(os.pathsep, ", ")
        raise RequestError(f"The command {command!r} was not found. Looked in: {where}", NOT_FOUND)
    return found


def _find(command: str, cwd: str | None, path: str) -> str | None:
    program = Path(command).expanduser()
    if len(program.parts) > 1:
        # A name with a folder in it is meant as it stands, seen from where the server will run.
        return shutil.which(str(Path(cwd or "", program)))
    return shutil.which(command, path=path)


async def search_path() -> str:
    """Return our PATH, then what the user's login shell adds to it."""
    parts = [*os.environ.get("PATH", os.defpath).split(os.pathsep), *(await _shell_path()).split(os.pathsep)]
    return os.pathsep.join(dict.fromkeys(part for part in parts if part))


async def _shell_path() -> str:
    return "" if sys.platform == "win32" else await asyncio.shield(_asked_once())


@cache
def _asked_once() -> "asyncio.Task[str]":
    return asyncio.get_running_loop().create_task(_ask_shell())


async def _ask_shell() -> str:
    shell = os.environ.get("SHELL") or "/bin/sh"
    try:
        process = await asyncio.create_subprocess_exec(
            shell,
            "-ilc",
            # The markers part the answer from what the user's start files print.
            f'printf "%s%s%s" {_MARK} "$PATH" {_MARK}',
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return ""
    try:
        async with asyncio.timeout(_SHELL_SECONDS):
            output, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return ""
    parts = output.decode("utf-8", "replace").split(_MARK)
    return parts[1] if len(parts) == 3 else ""
