"""Commands of the user's programs: where they are found, and how their process groups are ended.

A command is also searched on the PATH of the login shell, which a program started from the desktop does not have.
"""

import asyncio
import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

from app.children.processes import system_environment

_SHELL_SECONDS = 5.0
_MARK = b"__MOOT_PATH__"


def find_command(command: str, cwd: str | None, path: str) -> str | None:
    """Return the file of a command, None where there is none; looks at the disk."""
    program = Path(command).expanduser()
    if len(program.parts) > 1:
        # A name with a folder in it is relative to the program's working folder.
        return shutil.which(str(Path(cwd or "", program)))
    return shutil.which(command, path=path)


async def search_path() -> str:
    """Return Moot's PATH, followed by what the user's login shell adds to it."""
    added = "" if sys.platform == "win32" else await asyncio.shield(_asked_once())
    parts = [*os.environ.get("PATH", os.defpath).split(os.pathsep), *added.split(os.pathsep)]
    return os.pathsep.join(dict.fromkeys(part for part in parts if part))


@cache
def _asked_once() -> "asyncio.Task[str]":
    return asyncio.get_running_loop().create_task(asyncio.to_thread(_ask_shell))


def _ask_shell() -> str:
    shell = os.environ.get("SHELL") or "/bin/sh"
    mark = _MARK.decode()
    try:
        process = subprocess.Popen(
            # The marks separate the answer from the output of the user's start-up files.
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
        # Not to the end: background programs of the start-up files may hold the pipe open.
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


def end_group(group: int) -> None:
    """Send SIGTERM to a process group (POSIX)."""
    _signal_group(group, signal.SIGTERM)


def kill_group(group: int) -> None:
    """Kill a process group (POSIX; on Windows a job object does that by itself)."""
    _signal_group(group, signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)


def _signal_group(group: int, number: signal.Signals) -> None:
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
