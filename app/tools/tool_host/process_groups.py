"""The process groups that MCP servers run in: known to the host and its parent, so that none outlives both."""

import contextlib
import os
import signal

# Read by a thread when the event loop is stuck.
_groups: set[int] = set()


def add_group(group: int) -> None:
    """Remember the group of a server that was started."""
    _groups.add(group)


def remove_group(group: int) -> None:
    """Forget a group that has ended."""
    _groups.discard(group)


def groups() -> list[int]:
    """Return the groups that run."""
    return sorted(_groups)


def kill_all_groups() -> None:
    """End every server and what it started at once."""
    for group in groups():
        kill_group(group)


def end_group(group: int) -> None:
    """Ask a process group to end (POSIX)."""
    _signal_group(group, signal.SIGTERM)


def kill_group(group: int) -> None:
    """End a process group at once (POSIX; on Windows a job object does so by itself)."""
    _signal_group(group, signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)


def _signal_group(group: int, number: signal.Signals) -> None:
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
