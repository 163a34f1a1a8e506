"""The Moot that holds the data directory, as `moot mcp` reaches it; where there is none, one without a window is started."""

import asyncio
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil

from app.children.private_files import last_lines
from app.children.processes import moot_command, moot_environment
from app.cli.arguments import Arguments, CommandName
from app.cli.control import TooLongError, UnansweredError, hand_over, owner_pid
from app.cli.exit_status import PAUSED_OR_STOPPED, Interrupt
from app.storage.access import WriterLock
from app.storage.paths import DataPaths

_REACH_S = 30.0
_AGAIN_S = 0.1
# Where a window takes over, nobody else should be started meanwhile.
_START_AFTER_S = 8.0
_COMPLAINT_BYTES = 8_000
# Set by Moot for the external agents that it runs.
_STARTED_BY_MOOT = "MOOT_AGENTS"
# Some programs end all descendants of an MCP server with it. What the shell starts here is nobody's child once it has ended.
_DETACH = '"$@" >/dev/null & echo $!'
Found = dict[str, Any]


class CallError(Exception):
    """A call that failed; `code` is for programs, the text for people."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


class OwnerLines:
    """Reads what the owner writes: how far a session is, and the answer, each a line of JSON."""

    def __init__(self) -> None:
        self._rest = ""
        self.progress = ""
        self.found: Found = {}
        self.complaint = ""

    async def write(self, text: str) -> None:
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            found = json.loads(line)
            if "progress" in found:
                self.progress = str(found["progress"])
            else:
                self.found = found

    async def complain(self, line: str) -> None:
        self.complaint = line

    async def ask(self, question: str, *, secret: bool = False) -> str | None:
        return None


class Owner:
    """The Moot that holds the data directory; one without a window is started where there is none."""

    def __init__(self, paths: DataPaths) -> None:
        self._paths = paths
        self._started: psutil.Process | None = None
        self._reached = False

    async def call(self, arguments: Arguments, lines: OwnerLines) -> Found:
        """Hand a command over and return its answer. Raises CallError.

        Waiting goes on with the next owner where this one gives way to a window, or was killed.
        """
        loop = asyncio.get_running_loop()
        now = loop.time()
        start_at, waits_until = now, now + arguments.count
        until = max(waits_until, now + _REACH_S)
        waits = arguments.command == CommandName.SHOW
        while loop.time() < until:
            left = max(0, round(waits_until - loop.time()))
            try:
                status = await hand_over(
                    self._paths.control, replace(arguments, count=left), lines, Interrupt()
                )
            except TooLongError:
                raise CallError("too_long", "The text is too long.") from None
            except UnansweredError:
                if loop.time() >= start_at and not WriterLock(self._paths).is_held():
                    self._start()
            except ConnectionError:
                self._reached = True
                if not waits:
                    raise CallError("owner_ended", "Moot ended meanwhile; list the sessions.") from None
            else:
                self._reached = True
                if status != PAUSED_OR_STOPPED:
                    return _checked(lines)
                start_at = loop.time() + _START_AFTER_S
            await asyncio.sleep(_AGAIN_S)
        raise CallError("owner_unreachable", "Moot does not answer.")

    def _start(self) -> None:
        """Start a Moot without a window, unless one is starting. Raises CallError where the last one could not be."""
        if self._started is not None:
            if not _has_ended(self._started):
                return
            self._started = None
            if not self._reached and (complaint := _complaint(self._paths)):
                raise CallError("not_started", complaint)
        try:
            self._started, self._reached = _start_background(self._paths), False
        except psutil.NoSuchProcess:
            raise CallError("not_started", _complaint(self._paths) or "Moot could not be started.") from None
        except (OSError, subprocess.SubprocessError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise CallError("not_started", f"Moot could not be started: {reason}") from None


def _start_background(paths: DataPaths) -> psutil.Process:
    """Start a Moot without a window that outlives this process and what ends it; it writes its complaints to a file.

    Raises OSError, SubprocessError, NoSuchProcess.
    """
    paths.logs.mkdir(mode=0o700, parents=True, exist_ok=True)
    command = moot_command(CommandName.BACKGROUND, "--data-dir", str(paths.root))
    with _complaints(paths).open("wb") as complaints:
        how: dict[str, Any] = {
            "stdin": subprocess.DEVNULL,
            "stderr": complaints,
            "env": moot_environment() | _own_keys(),
            "cwd": paths.root,
        }
        if sys.platform == "win32":
            flags = subprocess.DETACHED_PROCESS
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, creationflags=flags, **how)
            return psutil.Process(process.pid)
        shell = ["/bin/sh", "-c", _DETACH, "sh", *command]
        said = subprocess.run(shell, check=True, stdout=subprocess.PIPE, start_new_session=True, **how)
    return psutil.Process(int(said.stdout))


def _has_ended(process: psutil.Process) -> bool:
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _own_keys() -> dict[str, str]:
    """Return the variables that hold keys for Moot; an agent's environment may hold the agent's own keys besides."""
    return {name: value for name, value in os.environ.items() if name.startswith("MOOT_KEY_")}


def _complaint(paths: DataPaths) -> str:
    """Return the last line that a Moot without a window wrote before it ended, "" for none."""
    lines = last_lines(_complaints(paths), _COMPLAINT_BYTES).splitlines()
    return lines[-1] if lines else ""


def _complaints(paths: DataPaths) -> Path:
    return paths.logs / "background.log"


def _checked(lines: OwnerLines) -> Found:
    """Return the answer. Raises CallError where it is an error."""
    if not lines.found:
        raise CallError("fault", lines.complaint or "Moot gave no answer.")
    if "error" in lines.found:
        raise CallError(str(lines.found["error"]), str(lines.found.get("message", "")))
    return lines.found


def refuse_recursion(paths: DataPaths) -> None:
    """Raise CallError where a Moot has started the program that calls, so that debates would hold debates."""
    own = owner_pid(paths.control)
    if _STARTED_BY_MOOT in os.environ or (
        own is not None and any(one.pid == own for one in psutil.Process().parents())
    ):
        raise CallError("called_from_moot", "Moot started this agent, so it cannot call Moot.")
