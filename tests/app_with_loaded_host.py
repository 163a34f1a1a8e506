"""Runs `moot` with a model host that `tests/loaded_host.py` splits off: `… SOCKET [ARGUMENTS of moot]`.

It is `python -m app` but for the command that starts the model host. Only tests know this file: nothing that
`app` itself reads can make it start another host.
"""

import runpy
import sys
from collections.abc import Callable

from app.children import processes
from app.children.processes import MODEL_HOST, child_command
from tests import host_stub


def split_off(path: str) -> Callable[[str], list[str]]:
    """Return what stands for `child_command`: a model host comes from the loaded one at this socket."""

    def command(program: str) -> list[str]:
        if program == MODEL_HOST:
            return [sys.executable, "-I", "-S", host_stub.__file__, path]
        return child_command(program)

    return command


def same_again(path: str) -> Callable[..., list[str]]:
    """Return what stands for `moot_command`: another Moot has its model host from there too."""
    return lambda *arguments: [sys.executable, "-m", "tests.app_with_loaded_host", path, *arguments]


if __name__ == "__main__":
    # Before the modules are loaded that import the functions by their names.
    processes.child_command = split_off(socket := sys.argv.pop(1))
    processes.moot_command = same_again(socket)
    runpy.run_module("app", run_name="__main__", alter_sys=True)
