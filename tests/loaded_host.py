"""A host that has loaded its libraries already and splits off another for each test that wants one.

Loading costs seconds of a processor, for hundreds of tests: LiteLLM in the model host, MCP in the tool host and in
each server of tests/tools/servers that is written with that library. What runs is the real program, with real pipes,
in a process of its own. `python -m tests.loaded_host SOCKET PROGRAM` waits; `tests/host_stub.py` asks.
"""

import asyncio
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.children.processes import MODEL_HOST, TOOL_HOST, end_with_parent

READY = b"ready\n"
KIBIBYTE = 1 << 10
STUB = str(Path(__file__).with_name("host_stub.py"))
SERVERS = Path(__file__).parent / "tools" / "servers"
# What the tool host, and servers that are written with the same library, load when they are first used.
USED_BY_SERVERS = (
    "app.tools.tool_host.mcp_servers",
    "app.tools.tool_host.web_fetch",
    "app.tools.tool_host.web_search",
    "mcp.server.apps",
    "mcp.server.mcpserver.resolve",
    "mcp.server.stdio",
)


def serve(path: str, program: str) -> None:
    """Split off a host for each connection; end it when its connection ends, and tell how it ended."""
    end_with_parent()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    if program == MODEL_HOST:
        _load_model_host()
    os.write(1, READY)
    if program == TOOL_HOST:
        # Not every run has a test that needs it.
        select.select([listener], [], [])
        _load_tool_host(path)
    gc.collect()
    gc.freeze()
    hosts: dict[int, socket.socket] = {}
    while True:
        # How a host ends comes as no readable file: it is looked for now and then while there are any.
        readable, _, _ = select.select([listener, *hosts.values()], [], [], 0.02 if hosts else None)
        for connection in readable:
            if connection is listener:
                asking, _ = listener.accept()
                request = _request(asking)
                if request is not None:
                    hosts[_split_off(program, asking, *request, [listener, *hosts.values()])] = asking
        for pid, asking in list(hosts.items()):
            if asking in readable:
                os.kill(pid, signal.SIGKILL)
            ended, status = os.waitpid(pid, 0 if asking in readable else os.WNOHANG)
            if ended:
                del hosts[pid]
                _tell(asking, status)


def _load_model_host() -> None:
    from app.providers.model_host import __main__ as model_host

    model_host._prepare_environment()
    import app.providers.model_host.host  # noqa: F401

    for module in _loaded_by_the_first_call():
        importlib.import_module(module)


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


def _load_tool_host(path: str) -> None:
    """Load what it loads at its first use, and let the servers that it starts be split off here as well."""
    for module in USED_BY_SERVERS:
        importlib.import_module(module)
    from app.tools.tool_host import mcp_transports

    start: Callable[..., Any] = mcp_transports._start
    loaded = [
        str(script) for script in SERVERS.glob("*.py") if "from mcp.server import" in script.read_text()
    ]

    async def start_or_split(command: list[str], **options: Any) -> Any:
        if len(command) > 1 and command[1] in loaded:
            command = [sys.executable, "-I", "-S", STUB, path, *command[1:]]
        return await start(command, **options)

    mcp_transports._start = start_or_split


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
    others: list[socket.socket],
) -> int:
    """Return the number of a new host that has the standard streams and the environment of who asks."""
    own = os.getpid()
    pid = os.fork()
    if pid:
        for stream in streams:
            os.close(stream)
        return pid
    for other in (asking, *others):
        other.close()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    # The name by which a test finds the process that works for the one that it has started.
    Path("/proc/self/comm").write_text(f"for {started['for']}", encoding="ascii")
    os.chdir(started["folder"])
    os.environ.clear()
    os.environ.update(started["environment"])
    if arguments := started["arguments"]:
        os._exit(_run_script(arguments))
    if program == MODEL_HOST:
        os.environ["MOOT_PARENT"] = str(own)
    os._exit(importlib.import_module(f"{program}.__main__").main())


def _run_script(arguments: list[str]) -> int:
    """Run a Python script with its arguments as `python` does; return its exit status."""
    sys.argv = arguments
    sys.path[0] = str(Path(arguments[0]).parent)
    try:
        runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


def _tell(asking: socket.socket, status: int) -> None:
    with asking:
        try:
            asking.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
        except OSError:
            return  # Who asked is gone.


if __name__ == "__main__":
    serve(*sys.argv[1:])
