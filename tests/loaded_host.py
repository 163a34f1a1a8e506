"""A model host that has loaded LiteLLM already and splits off another for each test that wants one.

Loading costs seconds of a processor, for hundreds of tests. What runs is the real host: its program, its
pipes, a process of its own. `python -m tests.loaded_host SOCKET` waits; `tests/host_stub.py` asks.
"""

import asyncio
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys

from app.children.processes import end_with_parent
from app.providers.model_host import __main__ as model_host

READY = b"ready\n"
KIBIBYTE = 1 << 10


def serve(path: str) -> None:
    """Split off a host for each connection; end it when its connection ends, and tell how it ended."""
    end_with_parent()
    model_host._prepare_environment()
    import app.providers.model_host.host  # noqa: F401

    for module in _loaded_by_the_first_call():
        importlib.import_module(module)
    gc.collect()
    gc.freeze()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    os.write(1, READY)
    hosts: dict[int, socket.socket] = {}
    while True:
        # How a host ends comes as no readable file: it is looked for now and then while there are any.
        readable, _, _ = select.select([listener, *hosts.values()], [], [], 0.02 if hosts else None)
        for connection in readable:
            if connection is listener:
                asking, _ = listener.accept()
                request = _request(asking)
                if request is not None:
                    hosts[_split_off(asking, *request, [listener, *hosts.values()])] = asking
        for pid, asking in list(hosts.items()):
            if asking in readable:
                os.kill(pid, signal.SIGKILL)
            ended, status = os.waitpid(pid, 0 if asking in readable else os.WNOHANG)
            if ended:
                del hosts[pid]
                _tell(asking, status)


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


def _request(asking: socket.socket) -> tuple[list[int], dict[str, str]] | None:
    """Return the standard streams and the environment of who asks; None where they were ended meanwhile."""
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
    asking: socket.socket, streams: list[int], environment: dict[str, str], others: list[socket.socket]
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
    os.environ.clear()
    os.environ.update(environment, MOOT_PARENT=str(own))
    os._exit(model_host.main())


def _tell(asking: socket.socket, status: int) -> None:
    with asking:
        try:
            asking.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
        except OSError:
            return  # Who asked is gone.


if __name__ == "__main__":
    serve(sys.argv[1])
