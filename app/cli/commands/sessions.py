"""The table of commands, and those of sessions of any kind.

`running` runs them in this process, `control` for another process, with that process's output.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from app.cli.arguments import DIVIDED, Action, Arguments, CommandName
from app.cli.command_run import CommandRun
from app.cli.commands import calls, chats, debates, providers, servers, stored_data
from app.cli.exit_status import OK
from app.cli.interrupt import Interrupt
from app.cli.printing.lines import json_line, load_texts
from app.cli.printing.sessions import last_line
from app.cli.terminal import Out
from app.core.errors import BadInput
from app.core.reasons import has_ended
from app.core.session import Session
from app.engine.live_session import LiveSession
from app.engine.session_kinds import session_document
from app.wiring import Moot

SessionCommand = Callable[[CommandRun, LiveSession], Awaitable[int]]


@dataclass(frozen=True, slots=True)
class CommandsOfKind:
    """The commands `resume`, `reply` and `show` of a kind of session; each returns the exit status."""

    resume: SessionCommand
    reply: SessionCommand
    show: SessionCommand


_DEBATE = CommandsOfKind(debates.resume_debate, debates.reply_to_debate, debates.show_debate)
_COUNCIL = CommandsOfKind(debates.resume_council, debates.reply_to_council, debates.show_council)
_CHAT = CommandsOfKind(chats.resume_chat, chats.reply_to_chat, chats.show_chat)
KINDS = {"debate": _DEBATE, "chat": _CHAT, "group": _CHAT, "workflow": _CHAT}


def _kind_of(session: Session) -> CommandsOfKind:
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
    if arguments.command in DIVIDED:
        return await _DIVIDED[arguments.command, arguments.action or Action.LIST](run)
    return await _COMMANDS[arguments.command](run)


async def _resume(run: CommandRun) -> int:
    live = await run.moot.engine.open(run.session_id)
    return await _kind_of(live.session).resume(run, live)


async def _reply(run: CommandRun) -> int:
    live = await run.moot.engine.open(run.session_id)
    return await _kind_of(live.session).reply(run, live)


async def _pause(run: CommandRun) -> int:
    session_id = await _open_session(run)
    await run.moot.engine.pause(session_id)
    return await _settled(run, session_id)


async def _stop(run: CommandRun) -> int:
    session_id = await _open_session(run)
    await run.moot.engine.stop(session_id)
    return await _settled(run, session_id)


async def _show(run: CommandRun) -> int:
    live = await run.moot.engine.open(run.session_id)
    if live.damaged:
        await run.out.complain(run.texts("cli.damaged", count=live.damaged, session_id=live.session.id))
    if run.arguments.json:
        await run.out.write(json_line(session_document(live)))
        return OK
    return await _kind_of(live.session).show(run, live)


_COMMANDS: dict[str, Callable[[CommandRun], Awaitable[int]]] = {
    CommandName.ASK: chats.ask,
    CommandName.WORKFLOW: chats.workflow,
    CommandName.STEP: chats.step,
    CommandName.DEBATE: debates.debate,
    CommandName.RETRY: chats.retry,
    CommandName.COUNCIL: debates.council,
    CommandName.EXTEND: debates.extend,
    CommandName.RESUME: _resume,
    CommandName.REPLY: _reply,
    CommandName.PAUSE: _pause,
    CommandName.STOP: _stop,
    CommandName.DELETE: stored_data.delete,
    CommandName.SHOW: _show,
    CommandName.EXPORT: stored_data.export,
    CommandName.IMPORT: stored_data.bring_in,
    CommandName.BACKUP: stored_data.back_up,
    CommandName.RESTORE: stored_data.restore,
    CommandName.PROVIDERS: providers.list_providers,
    CommandName.PANELS: debates.list_panels,
    CommandName.JOURNAL: debates.list_decisions,
    CommandName.USAGE: providers.usage,
}


_DIVIDED: dict[tuple[str, str], Callable[[CommandRun], Awaitable[int]]] = {
    (CommandName.SERVERS, Action.LIST): servers.list_servers,
    (CommandName.SERVERS, Action.ALLOW): servers.allow_server,
    (CommandName.SERVERS, Action.DENY): servers.deny_server,
    (CommandName.SERVERS, Action.LOGIN): servers.login,
    (CommandName.SERVERS, Action.LOGOUT): servers.logout,
    (CommandName.SERVERS, Action.LOG): servers.show_log,
    (CommandName.AGENTS, Action.LIST): providers.list_agents,
    (CommandName.AGENTS, Action.ADD): providers.add_agent,
    (CommandName.AGENTS, Action.ALLOW): providers.allow_agent,
    (CommandName.AGENTS, Action.DENY): providers.deny_agent,
    (CommandName.AGENTS, Action.CHECK): providers.check_agent,
    (CommandName.KEYS, Action.LIST): providers.list_keys,
    (CommandName.KEYS, Action.SET): providers.set_key,
    (CommandName.KEYS, Action.REMOVE): providers.remove_key,
    (CommandName.MODELS, Action.LIST): providers.list_models,
    (CommandName.MODELS, Action.GET): providers.get_model,
    (CommandName.MODELS, Action.REMOVE): providers.remove_model,
    (CommandName.MODELS, Action.ADD): providers.add_model,
    (CommandName.MODELS, Action.CHECK): providers.check_model,
    (CommandName.MODELS, Action.ALLOW): providers.allow_model,
}


async def _open_session(run: CommandRun) -> str:
    """Return the id of a session that has not ended. Raises NotFound, BadInput."""
    live = await run.moot.engine.open(run.session_id)
    if has_ended(live.session):
        raise BadInput("session_ended", title=live.session.title)
    return live.session.id


async def _settled(run: CommandRun, session_id: str) -> int:
    session = await run.moot.engine.wait(session_id)
    await run.moot.store.flush(session_id)
    await run.print(last_line(session, run.texts))
    return OK
