"""A command on its way, and a session that it starts or goes on with, followed to its end.

Used by commands and chat_commands.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from app.cli.exit_status import BY_STATUS, PAUSED_OR_STOPPED
from app.cli.interrupt import Interrupt
from app.cli.parser import Arguments
from app.cli.printing.output import Follower, JsonPrinter, Out, Printer, TextPrinter, last_line, verdict_text
from app.core.errors import NotFound, ProviderError
from app.core.ids import is_id
from app.core.session import Session
from app.core.texts import Texts
from app.engine.export.event_lines import event_line
from app.wiring import Moot


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One command on its way; `interrupted` asks it to pause what it runs."""

    moot: Moot
    arguments: Arguments
    out: Out
    texts: Texts
    interrupted: Interrupt


def session_id_of(arguments: Arguments) -> str:
    """Return the session that was named. Raises NotFound for what can be no session's id."""
    if not is_id(arguments.session):
        raise NotFound("session_not_found", session=arguments.session)
    return arguments.session


async def warm_up(moot: Moot, *, embedded: bool = False) -> None:
    """Start what takes seconds to be ready, while the session is written; the first turn says what fails.

    Who speaks with the first model that is ready must not be sent to a local server that does not run.
    """
    await moot.engine.look_for_servers()
    with contextlib.suppress(ProviderError):
        await moot.models.start()
        if embedded:
            await moot.models.warm_embedded()


async def run_session(call: Call, start: Callable[[], Awaitable[str]], words: Printer) -> int:
    """Start or resume a session, print it as it goes, and return the exit status of its end."""
    session = await followed(call, start, words)
    if not call.arguments.json:
        await call.out.write("\n" + verdict_text(session, call.texts) + last_line(session, call.texts) + "\n")
    return BY_STATUS.get(session.status, PAUSED_OR_STOPPED)


async def followed(call: Call, start: Callable[[], Awaitable[str]], words: Printer) -> Session:
    """Print a session from its start until it no longer runs: as JSON where that is asked for, else in words."""
    follower = Follower(
        JsonPrinter(event_line, call.texts) if call.arguments.json else words,
        call.out,
        call.moot.store.flush,
    )
    unsubscribe = call.moot.bus.subscribe(follower.listen)
    try:
        session_id = await start()
        live = call.moot.engine.live(session_id)
        if live is not None and isinstance(words, TextPrinter):
            words.know(live.session)
        return await _printed(call.moot, session_id, follower, call.interrupted)
    finally:
        unsubscribe()


async def _printed(moot: Moot, session_id: str, follower: Follower, interrupted: Interrupt) -> Session:
    printing = asyncio.create_task(follower.follow(session_id))
    ended = asyncio.create_task(moot.engine.wait(session_id))
    asked = asyncio.create_task(interrupted.wait())
    try:
        await asyncio.wait({printing, ended, asked}, return_when=asyncio.FIRST_COMPLETED)
        if not ended.done() and interrupted.closing:
            await moot.engine.put_away(session_id)
        elif not ended.done():
            # Twice: the first pause lets the answer in flight finish, the second does not.
            await moot.engine.pause(session_id)
            await moot.engine.pause(session_id)
        session = await ended
        follower.end()
        await printing
        return session
    finally:
        for task in (printing, ended, asked):
            task.cancel()
        await asyncio.gather(printing, ended, asked, return_exceptions=True)
