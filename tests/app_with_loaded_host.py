"""Runs `moot` with hosts that `tests/loaded_host.py` splits off: `… FOLDER [ARGUMENTS of moot]`.

It is `python -m app` but for the commands that start the hosts, and another Moot. Only tests know this file: nothing that `app` itself reads can make it start another host.
"""

import runpy
import sys
from collections.abc import Callable
from pathlib import Path

from app.children import processes
from app.children.processes import child_command
from tests import host_stub


def split_off(folder: str) -> Callable[[str], list[str]]:
    """Return what stands for `child_command`: a host comes from the loaded one whose socket is in this folder."""
    loaded = {path.name: path for path in Path(folder).iterdir()}
    return lambda program: _asking(loaded[program]) if program in loaded else child_command(program)


def same_again(folder: str) -> Callable[..., list[str]]:
    """Return what stands for `moot_command`: another Moot comes from the loaded one."""
    return lambda *arguments: [*_asking(Path(folder, "app")), *arguments]


def _asking(path: Path) -> list[str]:
    return [sys.executable, "-I", "-S", host_stub.__file__, str(path)]


if __name__ == "__main__":
    # Before the modules are loaded that import the functions by their names.
    processes.child_command = split_off(folder := sys.argv.pop(1))
    processes.moot_command = same_again(folder)
    runpy.run_module("app", run_name="__main__", alter_sys=True)
