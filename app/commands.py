"""The sub-commands, each a function of a running Moot, its arguments and where to write.

cli runs them here; control runs them for another process, with that process's output.
"""

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from app.arguments import (
    DEBATE,
    DELETE,
    EXPORT,
    PAUSE,
    PROVIDERS,
    REPLY,
    RESUME,
    SESSIONS,
    SHOW,
    STOP,
    Arguments,
    parse_spec,
)
from app.core.catalog import EMBEDDED, EMBEDDED_MODEL, EMBEDDED_VOICES
from app.core.errors import BadInput, NotFound, ProviderError
from app.core.events import MessageFinished
from app.core.ids import is_id, new_id
from app.core.provider import ProviderStatus
from app.core.session import (
    COMPLETED,
    ENDED,
    ERROR,
    MIN_PARTICIPANTS,
    ROLES,
    ROUND_ROBIN,
    WAITING,
    ContextFile,
    Participant,
    Session,
)
from app.core.texts import Texts
from app.engine.engine import DebateSetup
from app.engine.event_lines import event_line
from app.engine.roles import ROLES as ROLE_NAMES
from app.terminal import (
    Follower,
    JsonPrinter,
    Out,
    Printer,
    TextPrinter,
    json_line,
    last_line,
    load_texts,
    named_text,
    one_line,
)
from app.wiring import Moot

OK = 0
FAULT = 1
WAITS = 3
PAUSED_OR_STOPPED = 4

_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_MAX_CONTEXT_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One command on its way; `interrupted` asks it to pause what it runs."""

    moot: Moot
    arguments: Arguments
    out: Out
    texts: Texts
    interrupted: asyncio.Event


Command = Callable[[Call], Awaitable[int]]


async def run_command(moot: Moot, arguments: Arguments, out: Out, interrupted: asyncio.Event) -> int:
    """Run a sub-command and return its exit status.

    `interrupted` asks it to pause what it runs. Raises MootError; ConnectionError when nobody
    reads its output any more (what it ran is paused then).
    """
    texts = load_texts(arguments.language or moot.engine.settings().language)
    call = Call(moot=moot, arguments=arguments, out=out, texts=texts, interrupted=interrupted)
    return await _COMMANDS[arguments.command](call)


async def _debate(call: Call) -> int:
    setup = await asyncio.to_thread(_setup, call.moot, call.arguments)
    call.moot.engine.check(setup)
    await _warm_up(call.moot, setup.participants)
    return await _run(call, lambda: call.moot.engine.start_debate(setup))


async def _resume(call: Call) -> int:
    session_id = _session_id(call.arguments)

    async def start() -> str:
        await _warm_up(call.moot, ())
        await call.moot.engine.resume(session_id)
        return session_id

    return await _run(call, start)


async def _reply(call: Call) -> int:
    session_id = _session_id(call.arguments)
    live = await call.moot.engine.open(session_id)
    before = len(live.messages)
    await call.moot.engine.say(session_id, call.arguments.text)
    await call.moot.store.flush(session_id)
    if call.arguments.json:
        said = next(message for message in live.messages[before:] if message.role == "user")
        line = event_line(MessageFinished(session_id=session_id, message=said))
        await call.out.write(json_line(line))
    else:
        await call.out.write(call.texts("cli.said", title=one_line(live.session.title)) + "\n")
    return OK


async def _pause(call: Call) -> int:
    session_id = await _open_session(call)
    await call.moot.engine.pause(session_id)
    return await _settled(call, session_id)


async def _stop(call: Call) -> int:
    session_id = await _open_session(call)
    await call.moot.engine.stop(session_id)
    return await _settled(call, session_id)


async def _delete(call: Call) -> int:
    session_id = _session_id(call.arguments)
    await call.moot.engine.delete(session_id)
    await call.out.write(call.texts("cli.deleted", session_id=session_id) + "\n")
    return OK


async def _sessions(call: Call) -> int:
    found = call.moot.engine.sessions()
    if call.arguments.json:
        fields = ("id", "kind", "title", "status", "updated_at", "messages")
        await call.out.write(json_line([{name: getattr(one, name) for name in fields} for one in found]))
        return OK
    lines = [
        f"{one.id}  {one.updated_at[:16].replace('T', ' ')}  {named_text(call.texts, 'status', one.status)}  "
        f"{call.texts('cli.messages', count=one.messages)}  {one_line(one.title)[:80]}\n"
        for one in found
    ]
    await call.out.write("".join(lines) or call.texts("cli.no_sessions") + "\n")
    return OK


async def _show(call: Call) -> int:
    live = await call.moot.engine.open(_session_id(call.arguments))
    if live.damaged:
        await call.out.complain(call.texts("cli.damaged", count=live.damaged, session_id=live.session.id))
    if call.arguments.json:
        await call.out.write(json_line(call.moot.engine.session_document(live)))
        return OK
    printer = TextPrinter(call.texts)
    printer.know(live.session)
    await call.out.write(printer.heading(live.session))
    for message in live.whole_messages():
        await call.out.write(printer.message(message))
    await call.out.write("\n" + last_line(live.session, call.texts) + "\n")
    return OK


async def _export(call: Call) -> int:
    text = await call.moot.engine.export(_session_id(call.arguments), call.arguments.format)
    if not call.arguments.output:
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
    DEBATE: _debate,
    RESUME: _resume,
    REPLY: _reply,
    PAUSE: _pause,
    STOP: _stop,
    DELETE: _delete,
    SESSIONS: _sessions,
    SHOW: _show,
    EXPORT: _export,
    PROVIDERS: _providers,
}


async def _run(call: Call, start: Callable[[], Awaitable[str]]) -> int:
    """Start or resume a session, print it as it goes, and return the exit status of its end."""
    printer: Printer = JsonPrinter(event_line) if call.arguments.json else TextPrinter(call.texts)
    follower = Follower(printer, call.out, call.moot.store.flush)
    unsubscribe = call.moot.bus.subscribe(follower.listen)
    try:
        session_id = await start()
        live = call.moot.engine.live(session_id)
        if live is not None and isinstance(printer, TextPrinter):
            printer.know(live.session)
        session = await _followed(call.moot, session_id, follower, call.interrupted)
    finally:
        unsubscribe()
    if not call.arguments.json:
        await call.out.write("\n" + last_line(session, call.texts) + "\n")
    return _exit_status(session)


async def _followed(moot: Moot, session_id: str, follower: Follower, interrupted: asyncio.Event) -> Session:
    printing = asyncio.create_task(follower.follow(session_id))
    ended = asyncio.create_task(moot.engine.wait(session_id))
    asked = asyncio.create_task(interrupted.wait())
    try:
        await asyncio.wait({printing, ended, asked}, return_when=asyncio.FIRST_COMPLETED)
        if not ended.done():
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


async def _open_session(call: Call) -> str:
    """Return the id of a session that has not ended. Raises NotFound, BadInput."""
    live = await call.moot.engine.open(_session_id(call.arguments))
    if live.session.status in ENDED:
        raise BadInput("session_ended", title=live.session.title)
    return live.session.id


async def _settled(call: Call, session_id: str) -> int:
    session = await call.moot.engine.wait(session_id)
    await call.moot.store.flush(session_id)
    await call.out.write(last_line(session, call.texts) + "\n")
    return OK


async def _warm_up(moot: Moot, participants: tuple[Participant, ...]) -> None:
    """Start what takes seconds to be ready, while the session is written; the first turn says what fails."""
    with contextlib.suppress(ProviderError):
        await moot.models.start()
        if any(participant.provider == EMBEDDED for participant in participants):
            await moot.models.warm_embedded()


def _exit_status(session: Session) -> int:
    return {COMPLETED: OK, WAITING: WAITS, ERROR: FAULT}.get(session.status, PAUSED_OR_STOPPED)


def _session_id(arguments: Arguments) -> str:
    if not is_id(arguments.session):
        raise NotFound("session_not_found", session=arguments.session)
    return arguments.session


def _setup(moot: Moot, arguments: Arguments) -> DebateSetup:
    """Make the set-up a command line describes; what is wrong in it is the engine's to say."""
    participants = [_participant(moot, spec) for spec in arguments.participants]
    if not participants:
        participants = [
            Participant(id=new_id(), name=name, provider=EMBEDDED, model=EMBEDDED_MODEL)
            for name in EMBEDDED_VOICES[:MIN_PARTICIPANTS]
        ]
    roles_given = any(participant.role for participant in participants)
    return DebateSetup(
        topic=arguments.text,
        participants=tuple(participants),
        mode=arguments.mode or (ROLES if roles_given else ROUND_ROBIN),
        rounds=arguments.rounds,
        seed=arguments.seed,
        context=tuple(_context_file(Path(path)) for path in arguments.context),
        language="ko" if _HANGUL.search(arguments.text) else "en",
    )


def _participant(moot: Moot, text: str) -> Participant:
    spec = parse_spec(text, ROLE_NAMES)
    status = next((one for one in moot.engine.providers() if one.config.id == spec.provider), None)
    model, colon, word = spec.model.rpartition(":")
    if status is not None and colon and model in status.models and not status.local:
        # A hosted model has no tags, so the word was meant as a role.
        raise BadInput("unknown_role", role=word, name=spec.name, roles=", ".join(ROLE_NAMES))
    return Participant(id=new_id(), name=spec.name, provider=spec.provider, model=spec.model, role=spec.role)


def _context_file(path: Path) -> ContextFile:
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_CONTEXT_BYTES + 1)
    except OSError as error:
        raise BadInput("context_unreadable", path=path, detail=error.strerror or error) from error
    if len(data) > _MAX_CONTEXT_BYTES:
        raise BadInput("context_too_long", path=path, limit=_MAX_CONTEXT_BYTES // 1024)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput("context_not_text", path=path) from error
    return ContextFile(name=path.name, text=text)


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
