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
from app.storage.paths import DataPaths

if TYPE_CHECKING:
    from app.cli.interrupt import Interrupt


def run(arguments: Arguments) -> int:
    """Run a command in this process and return its exit status."""
    if arguments.command == "mcp":
        from app.cli.mcp_server import serve

        return serve(arguments)
    interrupted = None
    try:
        if arguments.command == "sessions":
            # Without an event loop, whose import takes as long as the rest.
            from app.cli.commands.session_list import sessions

            text, complaints = sessions(DataPaths(arguments.root), arguments, **arguments.values)
            write_to(sys.stderr, lines_text(complaints))
            write_to(sys.stdout, text)
            return OK
        import asyncio

        from app.cli.interrupt import Interrupt

        interrupted = Interrupt()
        return asyncio.run(_run(arguments, TerminalOut(), interrupted))
    except (ConnectionError, KeyboardInterrupt):
        forget_output()
        return PAUSED_OR_STOPPED
    except MootError as error:
        session_id = interrupted.session_id if interrupted is not None else ""
        line, status = lost_line(error, load_texts(arguments.language), session_id), BAD_INPUT
    except Exception as error:
        # No traceback, and no text of the error, which might hold a key.
        line, status = load_texts(arguments.language)("cli.fault", **whereabouts(error)), FAULT
    with contextlib.suppress(ConnectionError):
        write_to(sys.stderr, f"{line}\n")
    return status


async def _run(arguments: Arguments, out: Out, interrupted: "Interrupt") -> int:
    paths = DataPaths(arguments.root)
    with _signals(interrupted):
        if arguments.command == "doctor":
            from app.cli.commands.doctor import examine

            return await examine(paths, arguments, out, load_texts(arguments.language))
        if arguments.command == "quit":
            from app.cli.control import end_other

            return await end_other(paths, out, load_texts(arguments.language))
        if arguments.command == "background":
            from app.cli.running import background_at_login, run_background

            if arguments.values.get("action"):
                return await background_at_login(paths, arguments, out)
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
        loop.call_soon_threadsafe(interrupted.close if number == signal.SIGTERM else interrupted.set)

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
