"""A `moot` that `tests/loaded_host.py` splits off, in place of one that is started with `subprocess.Popen`."""

import contextlib
import json
import os
import socket
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


class SplitMoot:
    """A process of a session of its own, with what the stories use of `subprocess.Popen`."""

    def __init__(
        self, path: str, arguments: Sequence[str], environment: Mapping[str, str], folder: Path
    ) -> None:
        self._told = socket.socket(socket.AF_UNIX)
        self._told.connect(path)
        (out, its_out), (err, its_err) = os.pipe(), os.pipe()
        nothing = os.open(os.devnull, os.O_RDONLY)
        started = {
            "environment": dict(environment),
            "folder": str(folder),
            "arguments": list(arguments),
            "for": os.getpid(),
        }
        socket.send_fds(self._told, [b"{"], [nothing, its_out, its_err])
        self._told.sendall(json.dumps(started).encode()[1:] + b"\n")
        for stream in (nothing, its_out, its_err):
            os.close(stream)
        self.stdout, self.stderr = os.fdopen(out, "rb"), os.fdopen(err, "rb")
        self.pid = self._number()
        self._status: int | None = None

    def send_signal(self, number: int) -> None:
        """Send a signal to the process alone, unless it has ended."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def wait(self, seconds: float) -> int:
        """Wait for its end; return its exit status. Raises subprocess.TimeoutExpired."""
        if self._status is None:
            self._told.settimeout(seconds)
            try:
                self._status = self._number()
            except TimeoutError:
                raise subprocess.TimeoutExpired("moot", seconds) from None
            self._told.close()
        return self._status

    def _number(self) -> int:
        line = b""
        while not line.endswith(b"\n"):
            piece = self._told.recv(1)
            assert piece, "the loaded moot is gone"
            line += piece
        return int(line)
