"""A program that has loaded its libraries already and splits off another for each test that wants one.

Loading costs seconds: LiteLLM in the model host, MCP in the tool host and in the servers of tests/tools/servers, the
engine in `moot`. What runs is the real program, with real pipes, in a process of its own. `python -m
tests.loaded_host SOCKET PROGRAM` waits; `tests/host_stub.py` and, for the stories, `tests/split_moot.py` ask.
"""

import asyncio
import atexit
import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.children import processes
from app.children.processes import MODEL_HOST, TOOL_HOST, end_with_parent
from tests.app_with_loaded_host import same_again, split_off

READY = b"ready\n"
MOOT = "app"
KIBIBYTE = 1 << 10
STUB = str(Path(__file__).with_name("host_stub.py"))
SERVERS = Path(__file__).parent / "tools" / "servers"
# Packages of `app` that another program imports, or that Qt or MCP are needed for.
OF_OTHERS = (
    "app.cli.mcp_server",
    "app.files.file_reader",
    "app.gui",
    "app.main",
    "app.providers.agent_host",
    "app.providers.embedded_server",
    "app.providers.model_fetch",
    "app.providers.model_host",
    "app.startup",
    "app.tools.tool_host",
)
# What the commands load when it is first used.
USED_BY_MOOT = (
    "concurrent.futures.thread",
    "email.parser",
    "encodings.idna",
    "encodings.utf_8_sig",
    "filelock",
    "keyring.backends.fail",
    "sqlite3",
    "urllib.request",
    "zoneinfo",
)
# What the tool host, and servers that are written with the same library, load when they are first used.
USED_BY_SERVERS = (
    "app.tools.tool_host.mcp_server",
    "app.tools.tool_host.web",
    "mcp.server.apps",
    "mcp.server.mcpserver.resolve",
    "mcp.server.stdio",
)


def serve(path: str, program: str) -> None:
    """Split off a program for each connection; end it when its connection ends, and tell how it ended."""
    end_with_parent()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    os.write(1, READY)
    # Not every run has a test that needs it.
    select.select([listener], [], [])
    if program == MODEL_HOST:
        _load_model_host()
    elif program == TOOL_HOST:
        _load_tool_host(path)
    else:
        _load_moot(path)
    assert threading.active_count() == 1, "a thread would be missing in what is split off"
    gc.collect()
    gc.freeze()
    # The file that becomes readable when a program ends, with its number and the connection of who asked.
    running: dict[int, tuple[int, socket.socket]] = {}
    while True:
        connections = {asking: end for end, (_, asking) in running.items()}
        readable, _, _ = select.select([listener, *connections, *running], [], [])
        for ready in readable:
            if ready is listener:
                asking, _ = listener.accept()
                request = _request(asking)
                if request is not None:
                    others = [listener, *connections, *running]
                    pid = _split_off(program, asking, *request, others)
                    running[os.pidfd_open(pid)] = (pid, asking)
                    _tell(asking, pid)
            elif ready in connections:
                os.kill(running[connections[ready]][0], signal.SIGKILL)
                _ended(*running.pop(end := connections[ready]), end)
            elif ready in running:
                _ended(*running.pop(ready), ready)


def _ended(pid: int, asking: socket.socket, end: int) -> None:
    """Wait for the end of a program, and tell who asked for it how it ended."""
    _, status = os.waitpid(pid, 0)
    os.close(end)
    with asking:
        _tell(asking, os.waitstatus_to_exitcode(status))


def _load_model_host() -> None:
    from app.providers.model_host import __main__ as model_host

    model_host._prepare_environment()
    import app.providers.model_host.host

    for module in _loaded_by_the_first_call():
        importlib.import_module(module)
    # What it would load is loaded.
    app.providers.model_host.host.warm_up = _is_warm


async def _is_warm(_acompletion: Callable[..., Any]) -> None:
    """Take the place of the warm-up, which only loads code."""


def _loaded_by_the_first_call() -> list[str]:
    """Return the modules that LiteLLM loads when it is asked for the first time.

    A child process asks, so that no loop, connection or thread of this call is in the hosts split off.
    """
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        import litellm

        from app.providers.model_host.host import warm_up

        before = set(sys.modules)
        asyncio.run(warm_up(litellm.acompletion))
        with open(writing, "w", encoding="utf-8") as pipe:
            json.dump([name for name in sys.modules if name not in before], pipe)
        os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8") as pipe:
        modules: list[str] = json.load(pipe)
    os.waitpid(pid, 0)
    return modules


def _load_moot(path: str) -> None:
    """Load what the commands need, and let each Moot have its hosts, and the Moot that it starts, split off as well."""
    folder = str(Path(path).parent)
    # Before the modules are loaded that import the functions by their names.
    processes.child_command = split_off(folder)
    processes.moot_command = same_again(folder)
    for package in (
        "app.cli",
        "app.wiring",
        "app.engine",
        "app.providers",
        "app.storage",
        "app.tools",
        "app.files",
    ):
        loaded = importlib.import_module(package)
        for found in pkgutil.walk_packages(getattr(loaded, "__path__", ()), f"{package}."):
            if not found.name.startswith(OF_OTHERS):
                importlib.import_module(found.name)
    for module in USED_BY_MOOT:
        importlib.import_module(module)
    # Importing the others takes seconds; tests/test_doctor.py has them imported.
    from app.cli.commands import doctor

    doctor._PACKAGES = {"msgspec": "msgspec"}


def _load_tool_host(path: str) -> None:
    """Load what it loads at its first use, and let the servers that it starts be split off here as well."""
    for module in USED_BY_SERVERS:
        importlib.import_module(module)
    from app.tools.tool_host import mcp_transports

    start: Callable[..., Any] = mcp_transports.start_program
    loaded = [
        str(script) for script in SERVERS.glob("*.py") if "from mcp.server import" in script.read_text()
    ]

    async def start_or_split(*command: str, **options: Any) -> Any:
        if len(command) > 1 and command[1] in loaded:
            command = (sys.executable, "-I", "-S", STUB, path, *command[1:])
        return await start(*command, **options)

    mcp_transports.start_program = start_or_split


def _request(asking: socket.socket) -> tuple[list[int], dict[str, Any]] | None:
    """Return the standard streams of who asks, and how it was started; None where it was ended meanwhile."""
    streams: list[int] = []
    try:
        first, streams, _, _ = socket.recv_fds(asking, KIBIBYTE, 3)
        with asking.makefile("rb") as rest:
            return streams, json.loads(first + rest.readline())
    except (OSError, ValueError):
        for stream in streams:
            os.close(stream)
        asking.close()
        return None


def _split_off(
    program: str,
    asking: socket.socket,
    streams: list[int],
    started: dict[str, Any],
    others: list[socket.socket | int],
) -> int:
    """Return the number of a new process that has the standard streams and the environment of who asks."""
    own = os.getpid()
    pid = os.fork()
    if pid:
        for stream in streams:
            os.close(stream)
        return pid
    asking.close()
    for other in others:
        os.close(other if isinstance(other, int) else other.detach())
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    # The name by which a test finds the process that works for the one that it has started.
    Path("/proc/self/comm").write_text(f"for {started['for']}", encoding="ascii")
    os.chdir(started["folder"])
    os.environ.clear()
    os.environ.update(started["environment"])
    arguments = started["arguments"]
    if program == MOOT:
        os.setsid()
        os._exit(_run_moot(arguments))
    if arguments:
        os._exit(_run_script(arguments))
    if program == MODEL_HOST:
        os.environ["MOOT_PARENT"] = str(own)
    os._exit(importlib.import_module(f"{program}.__main__").main())


def _run_moot(arguments: list[str]) -> int:
    """Run `moot` with its arguments as `python -m app` does; return its exit status."""
    sys.argv = ["moot", *arguments]
    # Those of the loaded one may stand for files, where these are pipes.
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = _unbuffered(1, "strict")
    sys.stderr = _unbuffered(2, "backslashreplace")
    return _status(lambda: runpy.run_module("app", run_name="__main__", alter_sys=True))


def _unbuffered(number: int, errors: str) -> io.TextIOWrapper:
    """Return a standard stream as PYTHONUNBUFFERED makes it: each line is written at once."""
    raw = io.FileIO(number, "w", closefd=False)
    return io.TextIOWrapper(raw, encoding="utf-8", errors=errors, write_through=True)  # type: ignore[type-var]


def _run_script(arguments: list[str]) -> int:
    """Run a Python script with its arguments as `python` does; return its exit status."""
    sys.argv = arguments
    sys.path[0] = str(Path(arguments[0]).parent)
    return _status(lambda: runpy.run_path(arguments[0], run_name="__main__"))


def _status(program: Callable[[], object]) -> int:
    """Run a program to its end as the interpreter does, with its threads and what it has to do at exit."""
    try:
        program()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        threading._shutdown()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


def _tell(asking: socket.socket, number: int) -> None:
    try:
        asking.sendall(f"{number}\n".encode())
    except OSError:
        return  # Who asked is gone.


if __name__ == "__main__":
    serve(*sys.argv[1:])
