"""The commands of sessions of any kind, and how any command is run.

`running` runs them in this process, `control` for another process, with that process's output.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated

from app.cli.arguments import Arguments, AsItLooks, Files, SessionId, Text, Typed, function_of
from app.cli.command_run import CommandRun, end_text
from app.cli.commands import calls, chats, debates
from app.cli.exit_status import OK
from app.cli.interrupt import Interrupt
from app.cli.printing.chats import ChatPrinter
from app.cli.printing.debates import CouncilPrinter, DebatePrinter
from app.cli.printing.lines import json_line, load_texts
from app.cli.printing.sessions import last_line
from app.cli.terminal import Out
from app.core.errors import BadInput
from app.core.reasons import has_ended
from app.core.session import Session
from app.core.texts import Texts
from app.engine.session_kinds import session_document
from app.wiring import Moot


@dataclass(frozen=True, slots=True)
class _Kind:
    """What `resume` and `reply` do in a kind of session, each with what the command takes, and how the kind is printed."""

    resume: Callable[..., Awaitable[int]]
    reply: Callable[..., Awaitable[int]]
    printer: Callable[[Texts], ChatPrinter | CouncilPrinter | DebatePrinter]


_DEBATE = _Kind(debates.resume_debate, debates.reply_to_debate, DebatePrinter)
_COUNCIL = _Kind(debates.resume_council, debates.reply_to_council, CouncilPrinter)
_CHAT = _Kind(chats.resume_chat, chats.reply_to_chat, ChatPrinter)
KINDS = {"debate": _DEBATE, "chat": _CHAT, "group": _CHAT, "workflow": _CHAT}


def _kind_of(session: Session) -> _Kind:
    # A plain Session is of an unknown kind, or parts of it are missing.
    if session.debate is not None and session.debate.council is not None:
        return _COUNCIL
    return KINDS.get(session.kind, _DEBATE) if type(session) is not Session else _DEBATE


async def run_command(moot: Moot, arguments: Arguments, out: Out, interrupted: Interrupt) -> int:
    """Run a command and return its exit status.

    `interrupted` asks it to pause what it runs. Raises MootError; ConnectionError when nobody reads its output
    any more, and what it ran is then paused.
    """
    texts = load_texts(arguments.language or moot.engine.settings().language)
    run = CommandRun(moot=moot, arguments=arguments, out=out, texts=texts, interrupted=interrupted)
    if arguments.caller:
        return await calls.answer_call(run)
    function = function_of(arguments.command, arguments.action)
    assert function is not None
    status: int = await function(run, **arguments.for_function)
    return status


async def resume(
    run: CommandRun,
    session: SessionId,
    skip_turn: Annotated[bool, Typed("--skip-turn", either=True)] = False,
    without: Annotated[str, Typed("--without", metavar="NAME", either=True)] = "",
) -> int:
    """Go on with a paused session."""
    live = await run.open(session)
    return await _kind_of(live.session).resume(run, live, skip_turn, without)


async def reply(
    run: CommandRun, session: SessionId, text: Text, files: Files = (), as_it_looks: AsItLooks = False
) -> int:
    """Answer a session's oldest open question; if there is none, say something in it."""
    live = await run.open(session)
    return await _kind_of(live.session).reply(run, live, text, files, as_it_looks)


async def pause(run: CommandRun, session: SessionId) -> int:
    """Pause a session."""
    session = await _open_session(run, session)
    await run.moot.engine.pause(session)
    return await _settled(run, session)


async def stop(run: CommandRun, session: SessionId) -> int:
    """Stop a session."""
    session = await _open_session(run, session)
    await run.moot.engine.stop(session)
    return await _settled(run, session)


async def show(run: CommandRun, session: SessionId) -> int:
    """Print a whole session."""
    live = await run.open(session)
    if live.damaged:
        await run.out.complain(run.texts("cli.damaged", count=live.damaged, session_id=live.session.id))
    if run.arguments.json:
        await run.out.write(json_line(session_document(live)))
        return OK
    for text in _kind_of(live.session).printer(run.texts).whole(live):
        await run.out.write(text)
    await run.out.write(end_text(live.session, live, run.texts, read=True))
    return OK


async def _open_session(run: CommandRun, session: str) -> str:
    """Return the id of a session that has not ended. Raises NotFound, BadInput."""
    live = await run.open(session)
    if has_ended(live.session):
        raise BadInput("session_ended", title=live.session.title)
    return live.session.id


async def _settled(run: CommandRun, session_id: str) -> int:
    session = await run.moot.engine.wait(session_id)
    await run.moot.store.flush(session_id)
    await run.print(last_line(session, run.texts))
    return OK
