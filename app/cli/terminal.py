"""The terminal: where a command's text goes, and what the user types, shown or hidden."""

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from getpass import getpass
from typing import TextIO
from unicodedata import combining, east_asian_width

from app.core.texts import without_steering

# More than any answer or key.
MOST_TYPED = 24 * 1024
# Fits on one line of a terminal; a wrapped line could not be erased.
_PROGRESS_CELLS = 70


class Out:
    """Where a command's text goes. Raises ConnectionError when nobody reads it any more."""

    async def write(self, text: str) -> None:
        """Write to standard output at once."""

    async def complain(self, line: str) -> None:
        """Write one line to standard error."""

    async def ask(self, question: str, *, secret: bool = False) -> str | None:
        """Return what the user types, hidden if it is `secret`; None if nobody can be asked."""
        return None


class TerminalOut(Out):
    """This process's own standard input, output and error."""

    async def write(self, text: str) -> None:
        await _in_thread(sys.stdout, text)

    async def complain(self, line: str) -> None:
        await _in_thread(sys.stderr, line + "\n")

    async def ask(self, question: str, *, secret: bool = False) -> str | None:
        return await read_typed(without_steering(question), secret=secret)


class Nobody(Out):
    """Nobody reads or answers."""


def use_utf8() -> None:
    """Let any text be written, whatever the terminal's own encoding is."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def cells(text: str) -> int:
    """Return how many cells of a terminal a text takes: two
    for each Korean letter (Unicode Standard Annex 11).
    """
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(letter) in "WF" else not combining(letter) for letter in text)


def show_progress(text: str) -> None:
    """Show a line in place of the one before, "" for none; only if standard error is a terminal."""
    if not sys.stderr.isatty():
        return
    import shutil

    most = min(_PROGRESS_CELLS, shutil.get_terminal_size().columns - 1)
    line = " ".join(without_steering(text).split())
    while cells(line) > most:
        line = line[:-1]
    with contextlib.suppress(OSError):
        # Not every console of Windows knows the code that clears a line.
        sys.stderr.write(f"\r{' ' * most}\r")
        write_to(sys.stderr, line)


def forget_output() -> None:
    """Redirect standard output to nothing, so that closing a broken pipe at exit reports no second error."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())
    os.close(nothing)


async def read_typed(question: str, *, secret: bool = False) -> str | None:
    """Ask in the terminal and return the line that is typed; None if standard input is no terminal.

    A `secret` is not shown while it is typed; if standard input is no terminal, all of it is the secret.
    Cancelling stops waiting, and lets the terminal show again what is typed.
    """
    from app.storage.threads import in_thread

    try:
        descriptor = sys.stdin.fileno()
    except (AttributeError, OSError, ValueError):  # there is none, or it is closed
        return "" if secret else None
    if not os.isatty(descriptor):
        return (
            await in_thread(lambda: _read(descriptor, whole=True), "moot-terminal-input") if secret else None
        )
    if secret and sys.platform == "win32":
        return await in_thread(lambda: getpass(question), "moot-terminal-input")
    with _hidden(descriptor) if secret else contextlib.nullcontext():
        sys.stderr.write(question)
        sys.stderr.flush()
        return await in_thread(lambda: _read(descriptor, whole=False), "moot-terminal-input")


def _read(descriptor: int, *, whole: bool) -> str:
    """Read a line, or everything with `whole`, from a descriptor.

    Not from `sys.stdin`: a thread that still held its lock would make the end of Python fail.
    """
    data = b""
    # What is read so from a console of Windows is UTF-8, and not the console's code page.
    with open(descriptor, "rb", buffering=0, closefd=False) as stream:
        while len(data) <= MOST_TYPED and (whole or not data.endswith(b"\n")):
            piece = stream.read(MOST_TYPED)
            if not piece:
                break
            data += piece
    return data.decode("utf-8", "replace").rstrip("\r\n")


@contextlib.contextmanager
def _hidden(descriptor: int) -> Iterator[None]:
    """Let the terminal not show what is typed (POSIX)."""
    if sys.platform == "win32":
        raise NotImplementedError
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


async def _in_thread(stream: TextIO, text: str) -> None:
    import asyncio

    await asyncio.to_thread(write_to, stream, text)


def write_to(stream: TextIO, text: str) -> None:
    """Write to a stream; only here, so that nothing that is printed can steer the terminal."""
    stream.write(without_steering(text))
    stream.flush()
