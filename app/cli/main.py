"""Runs a command: signals, errors and exit status; what a command needs is imported when it runs."""

import contextlib
import signal
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from app.cli.arguments import Arguments
from app.cli.exit_status import BAD_INPUT, FAULT, OK, PAUSED_OR_STOPPED
from app.cli.printing.lines import lines_text, load_texts, lost_line, whereabouts
from app.cli.terminal import Out, TerminalOut, forget_output, write_to
from app.core.errors import MootError
from app.core.texts import Texts
from app.storage.paths import DataPaths

if TYPE_CHECKING:
    from app.cli.interrupt import Interrupt


def run(arguments: Arguments) -> int:
    """Run a command in this process and return its exit status."""
    if arguments.command == "mcp":
        from app.cli.mcp_server import serve

        return serve(arguments)
    if arguments.command == "sessions":
        return _list_sessions(arguments)
    import asyncio

    return asyncio.run(_run(arguments, TerminalOut()))


def _list_sessions(arguments: Arguments) -> int:
    """List the sessions without an event loop, whose import takes as long as the rest."""
    from app.cli.commands.session_list import sessions

    try:
        text, complaints = sessions(DataPaths(arguments.root), arguments, **arguments.values)
        write_to(sys.stderr, lines_text(complaints))
        write_to(sys.stdout, text)
    except (ConnectionError, KeyboardInterrupt):
        forget_output()
        return PAUSED_OR_STOPPED
    except Exception as error:
        line, status = _told(error, load_texts(arguments.language))
        with contextlib.suppress(ConnectionError):
            write_to(sys.stderr, f"{line}\n")
        return status
    return OK


async def _run(arguments: Arguments, out: Out) -> int:
    from app.cli.interrupt import Interrupt

    texts = load_texts(arguments.language)
    interrupted = Interrupt()
    with _signals(interrupted):
        try:
            return await _run_in(DataPaths(arguments.root), arguments, out, interrupted)
        except ConnectionError:
            forget_output()
            return PAUSED_OR_STOPPED
        except Exception as error:
            line, status = _told(error, texts, interrupted.session_id)
            with contextlib.suppress(ConnectionError):
                await out.complain(line)
            return status


def _told(error: Exception, texts: Texts, session_id: str = "") -> tuple[str, int]:
    """Return what is said of an error that ends a command, and the exit status: no traceback, no key."""
    if isinstance(error, MootError):
        return lost_line(error, texts, session_id), BAD_INPUT
    return texts("cli.fault", **whereabouts(error)), FAULT


async def _run_in(paths: DataPaths, arguments: Arguments, out: Out, interrupted: "Interrupt") -> int:
    if arguments.command == "doctor":
        from app.cli.commands.doctor import examine

        return await examine(paths, arguments, out, load_texts(arguments.language))
    if arguments.command == "background":
        from app.cli.background import run_background

        return await run_background(paths, arguments, interrupted)
    from app.cli.running import read, write

    return await (write if arguments.writes else read)(paths, arguments, out, interrupted)


@contextlib.contextmanager
def _signals(interrupted: "Interrupt") -> Iterator[None]:
    """Let the first Ctrl-C or SIGTERM ask for a pause, and the second end the process."""
    import asyncio

    loop = asyncio.get_running_loop()

    def on_signal(number: int, _frame: object) -> None:
        for other in before:
            signal.signal(other, signal.SIG_DFL)
        closing = number == signal.SIGTERM
        loop.call_soon_threadsafe(interrupted.close if closing else interrupted.set)

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
