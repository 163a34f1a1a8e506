"""Starts `python -m app …` the way a person does, and watches what it prints; used by the stories."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.cli.arguments import Arguments, parse_arguments, wanted_language
from app.cli.main import run
from app.cli.printing.lines import load_texts
from tests.split_moot import SplitMoot

PROJECT = Path(__file__).resolve().parents[2]
# How the stories start `moot`; tests/split_hosts.py gives most of them another command, and the folder of a loaded
# `moot` that splits off those of which only the environment is special.
COMMAND = [sys.executable, "-m", "app"]
LOADED: list[str] = []
# What is read before `moot` itself runs, and so not by one that is split off.
READ_BY_PYTHON = {"LANG", "LC_ALL", "LC_CTYPE", "PYTHONDONTWRITEBYTECODE", "PYTHONIOENCODING", "PYTHONPATH"}


@dataclass(slots=True)
class Finished:
    """A command that has ended: its exit status and what it printed."""

    status: int
    out: str
    err: str
    events: list[dict[str, Any]] = field(default_factory=list)

    @property
    def json(self) -> Any:
        """What it printed, as one JSON value."""
        return json.loads(self.out)


def moot(*arguments: str, seconds: float = 60, **options: Any) -> Finished:
    """Run a command to its end."""
    with Running(*arguments, **options) as running:
        return running.finish(seconds)


def look(*arguments: str) -> Finished:
    """Run a command that only reads, in this process: what it says is the same, and nothing has to start."""
    assert not read(*arguments).writes
    return here(*arguments)


def session_of(done: Finished) -> str:
    """Return the id of the session that a command with --json told of first."""
    return str(done.events[0]["session_id"])


def shown(session_id: str) -> dict[str, Any]:
    """Return a session as `moot show --json` prints it."""
    document = look("show", session_id, "--json").json
    assert isinstance(document, dict)
    return document


def read(*arguments: str) -> Arguments:
    """Return a command line as data."""
    return parse_arguments(arguments, load_texts(wanted_language(arguments)))


def here(*arguments: str) -> Finished:
    """Run a command in this process, to its end."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run(read(*arguments))
    return Finished(status, out.getvalue(), err.getvalue())


class Running:
    """A command that runs in a process group of its own; leaving the block kills what is left of it.

    `command` starts another program than `moot`.
    """

    def __init__(
        self,
        *arguments: str,
        environment: dict[str, str] | None = None,
        command: Sequence[str] = (),
        **options: Any,
    ) -> None:
        how = os.environ | {"PYTHONUNBUFFERED": "1"} | (environment or {})
        self._process: subprocess.Popen[bytes] | SplitMoot
        if LOADED and not command and not options and not READ_BY_PYTHON & set(environment or {}):
            self._process = SplitMoot(LOADED[0], arguments, how, PROJECT)
        else:
            self._process = subprocess.Popen(
                [*(command or COMMAND), *arguments],
                cwd=PROJECT,
                env=how,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                **options,
            )
        self.pid = self._process.pid
        self.lines: list[str] = []
        self.errors: list[str] = []
        self._closing = False
        self._more = threading.Condition()
        self._readers = [
            threading.Thread(target=self._read, args=(self._process.stdout, self.lines)),
            threading.Thread(target=self._read, args=(self._process.stderr, self.errors)),
        ]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> "Running":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._end(10)

    @property
    def events(self) -> list[dict[str, Any]]:
        """The `--json` lines so far; a line cut off by a kill is none."""
        events = []
        for line in list(self.lines):
            with contextlib.suppress(ValueError):
                events.append(json.loads(line))
        return events

    @property
    def session_id(self) -> str:
        """The session it runs; waits until it says which."""
        return self.event("session.started")["session_id"]

    def event(self, name: str, count: int = 1, seconds: float = 30) -> dict[str, Any]:
        """Wait for the `count`-th event of a name and return it."""

        def found() -> list[dict[str, Any]]:
            return [event for event in self.events if event["event"] == name]

        assert self.wait_for(lambda: len(found()) >= count, seconds), (name, self.lines[-3:], self.errors)
        return found()[count - 1]

    def wait_for(self, condition: Callable[[], bool], seconds: float = 30) -> bool:
        """Wait until something it printed makes the condition true; false when time or process is over."""
        deadline = time.monotonic() + seconds
        with self._more:
            while not condition():
                over = not any(reader.is_alive() for reader in self._readers)
                if over or time.monotonic() > deadline:
                    return condition()
                self._more.wait(0.05)
        return True

    def close_output(self) -> None:
        """Stop reading its standard output, as `head` does when it has enough."""
        self._closing = True

    def send(self, number: int) -> None:
        """Send a signal to the process alone."""
        self._process.send_signal(number)

    def kill(self) -> None:
        """SIGKILL the process group: the command, and every child that did not leave the group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    def kill_alone(self) -> None:
        """SIGKILL the command only; its children must end by themselves."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def finish(self, seconds: float = 60) -> Finished:
        """Wait for its end."""
        status = self._end(seconds)
        out, err = "".join(self.lines), "".join(self.errors)
        return Finished(status, out, err, self.events)

    def _end(self, seconds: float) -> int:
        status = self._process.wait(seconds)
        for reader in self._readers:
            reader.join(seconds)
        for pipe in (self._process.stdout, self._process.stderr):
            assert pipe is not None
            pipe.close()
        return status

    def _read(self, pipe: Any, lines: list[str]) -> None:
        for line in iter(pipe.readline, b""):
            with self._more:
                lines.append(line.decode("utf-8"))
                self._more.notify_all()
            if self._closing and lines is self.lines:
                pipe.close()
                return


def children_of(pid: int) -> list[int]:
    """Return the processes below one, from /proc; empty where there is no /proc."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            parent = int(entry.read_text().rpartition(")")[2].split()[1])
            if parent == pid:
                child = int(entry.parent.name)
                found += [child, *children_of(child)]
    return found


def wait_until_gone(pids: list[int], seconds: float = 5) -> list[int]:
    """Return which of the processes are still there after some seconds."""
    deadline = time.monotonic() + seconds
    while True:
        left = [pid for pid in pids if _alive(pid)]
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.05)


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state != "Z"
