"""Finds the command of an MCP server: with the login shell's PATH too, which a desktop start does not have."""

import asyncio
import os
import select
import shutil
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

from app.children.processes import system_environment
from app.core.tool import NOT_FOUND
from app.tools.tool_host.errors import RequestError
from app.tools.tool_host.process_groups import kill_group

_SHELL_SECONDS = 5.0
_MARK = b"__MOOT_PATH__"


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
    return asyncio.get_running_loop().create_task(asyncio.to_thread(_ask_shell))


def _ask_shell() -> str:
    shell = os.environ.get("SHELL") or "/bin/sh"
    mark = _MARK.decode()
    try:
        process = subprocess.Popen(
            # The markers part the answer from what the user's start files print.
            [shell, "-ilc", f'printf "%s%s%s" {mark} "$PATH" {mark}'],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=system_environment(),
        )
    except OSError:
        return ""
    assert process.stdout is not None
    deadline = time.monotonic() + _SHELL_SECONDS
    output = b""
    with process.stdout as pipe:
        # Not to the end: what the start files leave in the background may hold the pipe open.
        while output.count(_MARK) < 2 and _readable(pipe.fileno(), deadline):
            data = os.read(pipe.fileno(), 1 << 16)
            if not data:
                break
            output += data
    try:
        process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        kill_group(process.pid)
        process.wait()
    parts = output.split(_MARK)
    return parts[1].decode("utf-8", "replace") if len(parts) > 2 else ""


def _readable(pipe: int, deadline: float) -> bool:
    return bool(select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))[0])
