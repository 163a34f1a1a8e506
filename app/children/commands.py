"""Commands of the user's programs: where they are found, how they are ended, and what they have started.

A command is also searched on the PATH of the login shell, which a program started from the desktop does not
have. What a program has started is found, recorded and ended on Linux, where /proc tells it; a process is
known by its number and its start time, because numbers are used again.
"""

import asyncio
import contextlib
import ctypes
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterable
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


_PR_SET_CHILD_SUBREAPER = 36
_ROUNDS = 200
_PAUSE_SECONDS = 0.01
_PROC = Path("/proc")

# The number of a process and its start time, in clock ticks since the system was started.
Process = tuple[int, int]


def become_subreaper() -> None:
    """Let orphans below this process become its children, so that they can be found and ended."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)


def boot_id() -> str:
    """Return what differs after each start of the system, "" where it is not known."""
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def below(roots: Collection[int]) -> set[Process]:
    """Return all living processes below these, without them."""
    parents = _rows()
    found: set[Process] = set()
    level = set(roots)
    while level:
        children = {pid for pid, (parent, _, _) in parents.items() if parent in level}
        level = {pid for pid in children if (pid, parents[pid][1]) not in found}
        found |= {(pid, parents[pid][1]) for pid in level}
    return {(pid, start) for pid, start in found if parents[pid][2] != "Z"}


def children(pid: int) -> set[Process]:
    """Return the living processes that a process has started or adopted."""
    rows = _rows().items()
    return {(one, start) for one, (parent, start, state) in rows if parent == pid and state != "Z"}


def process_of(pid: int) -> Process | None:
    """Return a living process by its number."""
    row = _row(pid)
    return (pid, row[1]) if row is not None and row[2] != "Z" else None


def marked(mark: str) -> set[Process]:
    """Return the living processes of the user that were started with this NAME=value in their environment."""
    found = set()
    for pid in _numbers():
        try:
            variables = (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if os.fsencode(mark) in variables and (one := process_of(pid)) is not None:
            found.add(one)
    return found


def living(processes: Iterable[Process]) -> set[Process]:
    """Return those of the processes that still run."""
    return {one for one in processes if process_of(one[0]) == one}


def end_processes(processes: Iterable[Process], adopted_by: int | None = None) -> None:
    """Kill processes and all below them until none is left; blocks for two seconds at most.

    With `adopted_by`, also all below that process, which is the subreaper of the others.
    """
    known = set(processes)
    for _ in range(_ROUNDS):
        known = living(known)
        known |= below({pid for pid, _ in known} | ({adopted_by} if adopted_by else set()))
        if not known:
            return
        for pid, _ in known:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if adopted_by == os.getpid():
            reap_orphans(set())
        time.sleep(_PAUSE_SECONDS)


def reap_orphans(own: Collection[int]) -> None:
    """Let the system forget the ended children of this process that it did not start itself; `own` are those it did."""
    for pid, (parent, _, state) in _rows().items():
        if parent == os.getpid() and state == "Z" and pid not in own:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


def _numbers() -> list[int]:
    try:
        return [int(one.name) for one in _PROC.iterdir() if one.name.isdigit()]
    except OSError:
        return []


def _rows() -> dict[int, tuple[int, int, str]]:
    return {pid: row for pid in _numbers() if (row := _row(pid)) is not None}


def _row(pid: int) -> tuple[int, int, str] | None:
    """Return the parent, the start time and the state of a process."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name stands in brackets and may hold anything.
    fields = text.rpartition(")")[2].split()
    return int(fields[1]), int(fields[19]), fields[0]
