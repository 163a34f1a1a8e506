"""Runs a command: signals, errors and exit status; what a command needs is imported when it runs."""

import asyncio
import contextlib
import signal
from collections.abc import Iterator

from app.cli.arguments import Arguments, CommandName
from app.cli.exit_status import BAD_INPUT, FAULT, PAUSED_OR_STOPPED, Interrupt
from app.cli.printing.lines import load_texts, lost_line, whereabouts
from app.cli.terminal import Out, TerminalOut, forget_output
from app.core.errors import MootError
from app.storage.paths import DataPaths


def run(arguments: Arguments) -> int:
    """Run a command in this process and return its exit status."""
    if arguments.command == CommandName.MCP:
        from app.cli.mcp_server import serve

        return serve(arguments)
    return asyncio.run(_run(arguments, TerminalOut()))


async def _run(arguments: Arguments, out: Out) -> int:
    texts = load_texts(arguments.language)
    interrupted = Interrupt()
    with _signals(interrupted):
        try:
            return await _run_in(DataPaths(arguments.root), arguments, out, interrupted)
        except ConnectionError:
            forget_output()
            return PAUSED_OR_STOPPED
        except MootError as error:
            return await _complain(out, lost_line(error, texts, interrupted.session_id), BAD_INPUT)
        except Exception as error:  # the last resort: no traceback, no key
            return await _complain(out, texts("cli.fault", **whereabouts(error)), FAULT)


async def _run_in(paths: DataPaths, arguments: Arguments, out: Out, interrupted: Interrupt) -> int:
    if arguments.command == CommandName.DOCTOR:
        from app.cli.commands.doctor import examine

        return await examine(paths, arguments, out, load_texts(arguments.language))
    if arguments.command == CommandName.SESSIONS:
        from app.cli.commands.session_list import list_sessions

        return await list_sessions(paths, arguments, out)
    if arguments.command == CommandName.BACKGROUND:
        from app.cli.background import run_background

        return await run_background(paths, arguments, interrupted)
    from app.cli.running import read, write

    return await (write if arguments.writes else read)(paths, arguments, out, interrupted)


async def _complain(out: Out, line: str, status: int) -> int:
    with contextlib.suppress(ConnectionError):
        await out.complain(line)
    return status


@contextlib.contextmanager
def _signals(interrupted: Interrupt) -> Iterator[None]:
    """Let the first Ctrl-C or SIGTERM ask for a pause, and the second end the process."""
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
