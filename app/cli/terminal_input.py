"""Reads what the user types in the terminal: a line, or a secret that is not shown; used by terminal."""

import asyncio
import contextlib
import os
import sys
from collections.abc import Iterator
from getpass import getpass

from app.storage.threads import run_in_thread

# More than any answer or key has.
MOST_TYPED = 24 * 1024


async def read_typed(question: str, *, secret: bool = False) -> str | None:
    """Ask in the terminal and return the line that is typed; None where standard input is no terminal.

    A `secret` is not shown while it is typed, and may also be all of a standard input that is no terminal.
    Cancelling stops waiting and makes the terminal show again what is typed.
    """
    try:
        descriptor = sys.stdin.fileno()
    except (AttributeError, OSError, ValueError):  # there is none, or it is closed
        return "" if secret else None
    if not os.isatty(descriptor):
        return await _in_thread(descriptor, whole=True) if secret else None
    if secret and sys.platform == "win32":
        return await asyncio.wrap_future(run_in_thread(lambda: getpass(question), "moot-terminal-input"))
    with _unseen(descriptor) if secret else contextlib.nullcontext():
        sys.stderr.write(question)
        sys.stderr.flush()
        return await _in_thread(descriptor, whole=False)


async def _in_thread(descriptor: int, *, whole: bool) -> str:
    """Read in a thread that does not keep the program from ending.

    It reads the descriptor itself: a thread that held the lock of `sys.stdin` would make the end of Python fail.
    """

    def read() -> str:
        data = b""
        while len(data) <= MOST_TYPED and (whole or not data.endswith(b"\n")):
            piece = os.read(descriptor, MOST_TYPED)
            if not piece:
                break
            data += piece
        return data.decode("utf-8", "replace").rstrip("\r\n")

    return await asyncio.wrap_future(run_in_thread(read, "moot-terminal-input"))


@contextlib.contextmanager
def _unseen(descriptor: int) -> Iterator[None]:
    """Let the terminal not show what is typed."""
    import termios

    before = termios.tcgetattr(descriptor)
    quiet = list(before)
    quiet[3] &= ~termios.ECHO
    termios.tcsetattr(descriptor, termios.TCSAFLUSH, quiet)
    try:
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSAFLUSH, before)
        sys.stderr.write("\n")
        sys.stderr.flush()
