"""Stands for a host that `tests/loaded_host.py` splits off: has its number, and ends as it ends."""

import json
import os
import socket
import sys


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
    status = int(server.recv(16) or b"1")
    if status < 0:
        os.kill(os.getpid(), -status)
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
