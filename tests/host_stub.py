"""Stands for a program that `tests/loaded_host.py` splits off: passes signals on to it, and ends as it ends."""

import json
import os
import signal
import socket
import sys

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(path: str, *arguments: str) -> int:
    """Give the standard streams away and wait."""
    server = socket.socket(socket.AF_UNIX)
    server.connect(path)
    socket.send_fds(server, [b"{"], [0, 1, 2])
    started = {
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "arguments": arguments,
        "for": os.getpid(),
    }
    server.sendall(json.dumps(started).encode()[1:] + b"\n")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    with server.makefile("r", encoding="ascii") as told:
        pid = int(told.readline() or "0")
        if not pid:
            return 1
        for number in PASSED_ON:
            signal.signal(number, lambda number, _frame: os.kill(pid, number))
        status = int(told.readline() or "1")
    if status < 0:
        if -status in PASSED_ON:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
