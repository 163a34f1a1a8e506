"""The sub-commands, each a function of a running Moot, its arguments and where to write.

cli runs them here; control runs them for another process, with that process's output.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path

from app.cli.commands.chats import ask
from app.cli.commands.debates import debate
from app.cli.commands.keys import list_keys, remove_key, set_key
from app.cli.commands.models import get_model, list_models, remove_model
from app.cli.commands.servers import allow_server, deny_server, list_servers
from app.cli.commands.session_kinds import kind_of
from app.cli.commands.stored_data import back_up, bring_in, restore
from app.cli.commands.usage import usage
from app.cli.commands.workflows import step, workflow
from app.cli.exit_status import OK
from app.cli.follow import Call, session_id_of
from app.cli.interrupt import Interrupt
from app.cli.parser import (
    ALLOW,
    ASK,
    BACKUP,
    DEBATE,
    DELETE,
    DENY,
    DIVIDED,
    EXPORT,
    GET,
    IMPORT,
    KEYS,
    LIST,
    MODELS,
    PAUSE,
    PROVIDERS,
    REMOVE,
    REPLY,
    RESTORE,
    RESUME,
    SERVERS,
    SET,
    SHOW,
    STEP,
    STOP,
    USAGE,
    WORKFLOW,
    Arguments,
)
from app.cli.printing.output import (
    Out,
    json_line,
    last_line,
    load_texts,
    named_text,
    one_line,
    safe_json,
)
from app.core.errors import BadInput
from app.core.provider import ProviderStatus
from app.core.session import ENDED
from app.wiring import Moot

Command = Callable[[Call], Awaitable[int]]


async def run_command(moot: Moot, arguments: Arguments, out: Out, interrupted: Interrupt) -> int:
    """Run a sub-command and return its exit status.

    `interrupted` asks it to pause what it runs. Raises MootError; ConnectionError when nobody
    reads its output any more (what it ran is paused then).
    """
    texts = load_texts(arguments.language or moot.engine.settings().language)
    call = Call(moot=moot, arguments=arguments, out=out, texts=texts, interrupted=interrupted)
    command = arguments.command
    if command in DIVIDED:
        return await _DIVIDED[command, arguments.action or LIST](call)
    return await _COMMANDS[command](call)


async def _resume(call: Call) -> int:
    live = await call.moot.engine.open(session_id_of(call.arguments))
    return await kind_of(live.session).resume(call, live)


async def _reply(call: Call) -> int:
    live = await call.moot.engine.open(session_id_of(call.arguments))
    return await kind_of(live.session).reply(call, live)


async def _pause(call: Call) -> int:
    session_id = await _open_session(call)
    await call.moot.engine.pause(session_id)
    return await _settled(call, session_id)


async def _stop(call: Call) -> int:
    session_id = await _open_session(call)
    await call.moot.engine.stop(session_id)
    return await _settled(call, session_id)


async def _delete(call: Call) -> int:
    session_id = session_id_of(call.arguments)
    await call.moot.engine.delete(session_id)
    await call.out.write(call.texts("cli.deleted", session_id=session_id) + "\n")
    return OK


async def _show(call: Call) -> int:
    live = await call.moot.engine.open(session_id_of(call.arguments))
    if live.damaged:
        await call.out.complain(call.texts("cli.damaged", count=live.damaged, session_id=live.session.id))
    if call.arguments.json:
        await call.out.write(json_line(call.moot.engine.session_document(live)))
        return OK
    return await kind_of(live.session).show(call, live)


async def _export(call: Call) -> int:
    text = await call.moot.engine.export(session_id_of(call.arguments), call.arguments.format)
    if not call.arguments.output:
        text = safe_json(text) if call.arguments.format == "json" else text
        await call.out.write(text if text.endswith("\n") else text + "\n")
        return OK
    path = Path(call.arguments.output)
    try:
        await asyncio.to_thread(_write_whole, path, text)
    except OSError as error:
        raise BadInput("cannot_write", path=path, detail=error.strerror or error) from error
    await call.out.write(call.texts("cli.exported", path=path) + "\n")
    return OK


async def _providers(call: Call) -> int:
    await call.moot.engine.look_for_servers()
    found = call.moot.engine.providers()
    if call.arguments.json:
        await call.out.write(json_line([_status_fields(one) for one in found]))
        return OK
    for one in found:
        state = call.texts("cli.ready") if one.ready else named_text(call.texts, "provider", one.problem)
        key = call.texts(f"cli.key.{one.key_source or ('none' if one.needs_key else 'needless')}")
        models = ", ".join(one.models) or "-"
        await call.out.write(one_line(f"{one.config.id}  {one.label}  {state}  {key}  {models}") + "\n")
    return OK


_COMMANDS: dict[str, Command] = {
    ASK: ask,
    WORKFLOW: workflow,
    STEP: step,
    DEBATE: debate,
    RESUME: _resume,
    REPLY: _reply,
    PAUSE: _pause,
    STOP: _stop,
    DELETE: _delete,
    SHOW: _show,
    EXPORT: _export,
    IMPORT: bring_in,
    BACKUP: back_up,
    RESTORE: restore,
    PROVIDERS: _providers,
    USAGE: usage,
}
_DIVIDED: dict[tuple[str, str], Command] = {
    (SERVERS, LIST): list_servers,
    (SERVERS, ALLOW): allow_server,
    (SERVERS, DENY): deny_server,
    (KEYS, LIST): list_keys,
    (KEYS, SET): set_key,
    (KEYS, REMOVE): remove_key,
    (MODELS, LIST): list_models,
    (MODELS, GET): get_model,
    (MODELS, REMOVE): remove_model,
}


async def _open_session(call: Call) -> str:
    """Return the id of a session that has not ended. Raises NotFound, BadInput."""
    live = await call.moot.engine.open(session_id_of(call.arguments))
    if live.session.status in ENDED:
        raise BadInput("session_ended", title=live.session.title)
    return live.session.id


async def _settled(call: Call, session_id: str) -> int:
    session = await call.moot.engine.wait(session_id)
    await call.moot.store.flush(session_id)
    await call.out.write(last_line(session, call.texts) + "\n")
    return OK


def _status_fields(status: ProviderStatus) -> dict[str, object]:
    fields = asdict(status)
    config = fields.pop("config")
    return {"id": config["id"], "kind": config["kind"], "enabled": config["enabled"], **fields}


def _write_whole(path: Path, text: str) -> None:
    """Write a file so that a full disk leaves the one that was there."""
    part = path.with_name(path.name + ".part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
