"""The commands of sessions of any kind, and how any command is run.

`running` runs them in this process, `control` for another process, with that process's output.
"""

from collections.abc import Awaitable, Callable
from typing import Annotated

from app.cli.arguments import Arguments, AsItLooks, Files, Many, SessionId, Text, Typed, function_of
from app.cli.command_run import CommandRun, end_text, is_council, printer_of
from app.cli.commands import calls, chats, debates
from app.cli.exit_status import OK
from app.cli.interrupt import Interrupt
from app.cli.printing.lines import load_texts, one_line
from app.cli.printing.sessions import last_line
from app.cli.terminal import Out
from app.core.errors import BadInput
from app.core.events import MessageFinished
from app.core.message import Attachment, Role
from app.core.session import Status, has_ended
from app.engine.export.event_lines import event_line
from app.engine.session_kinds import session_document
from app.engine.work import NEVER, Needs, work_object
from app.wiring import Moot


async def run_command(
    moot: Moot,
    arguments: Arguments,
    out: Out,
    interrupted: Interrupt,
    attachments: tuple[Attachment, ...] = (),
    allowed: tuple[str, ...] = (),
) -> int:
    """Run a command and return its exit status.

    `interrupted` asks it to pause what it runs; `attachments` go with the first message, and `allowed` are
    the consent keys of tools that need not ask. Raises MootError; ConnectionError when nobody reads its
    output any more, and what it ran is then paused.
    """
    texts = load_texts(arguments.language or moot.engine.settings().language)
    run = CommandRun(
        moot=moot,
        arguments=arguments,
        out=out,
        texts=texts,
        interrupted=interrupted,
        attachments=attachments,
        allowed=allowed,
    )
    if arguments.caller:
        return await calls.answer_call(run)
    function = function_of(arguments.command, arguments.action)
    assert function is not None
    values = dict(arguments.values)
    if arguments.action:
        values.pop("action", None)
    status: int = await function(run, **values)
    return status


async def resume(
    run: CommandRun,
    session: SessionId,
    skip_turn: Annotated[bool, Typed("--skip-turn", either=True)] = False,
    without: Annotated[str, Typed("--without", metavar="NAME", either=True)] = "",
    skip_check: Annotated[bool, Typed("--skip-check")] = False,
) -> int:
    """Go on with a paused session; in a debate skip a turn or leave out a participant if that is asked for.

    Raises BadInput for these options in another kind of session; in a council those two change nothing. With
    `skip_check` one that runs goes on without waiting for the voting check.
    """
    live = await run.open(session)
    engine, council = run.engine, is_council(live.session)
    if live.session.debate is None and (skip_turn or without or skip_check):
        raise BadInput("not_a_debate", title=live.session.title)
    held = engine.debates.held
    left_out = await held.participant(live.id, without) if without and not council else None

    async def step() -> None:
        if left_out is not None:
            await held.go_on_without(live.id, left_out.id)
        elif skip_turn and not council:
            await held.skip(live.id)
        elif not (skip_check and live.session.status == Status.RUNNING):
            await engine.resume(live.id)
        if skip_check:
            await engine.debates.skip_check(live.id)

    return await run.go_on(live, step)


async def reply(
    run: CommandRun,
    session: SessionId,
    text: Text,
    to: Annotated[Many, Typed("--to", text="reply_to", metavar="NAME")] = (),
    helper: debates.Helper = "",
    files: Files = (),
    as_it_looks: AsItLooks = False,
) -> int:
    """Answer a session's oldest open question; if there is none, say something in it.

    After the end of a debate or a council that begins a what-if round, of all participants or those with the
    names in `to`; `helper` compares and merges from now on.
    """
    live = await run.open(session)
    engine, debate = run.engine, live.session.debate
    if (to or helper) and debate is None:
        raise BadInput("not_a_debate", title=live.session.title)
    asked = [(await engine.debates.held.participant(live.id, name)).id for name in to]
    if helper:
        await engine.councils.choose_helper(live.id, helper)
    if is_council(live.session):
        chats.check_no_files(files)

        async def ask() -> None:
            await debates.say_price(run, live.debate_session, live.messages, "what_if", asked)
            await engine.councils.ask(live.id, text, asked)

        return await run.go_on(live, ask)
    if answer := await chats.answering(run, live, text, files):
        return await run.go_on(live, answer)
    readers = chats.speaker_of(run, live) if debate is None else debate.participants
    attachments = await chats.attachments_of(run, files, readers, as_it_looks=as_it_looks)
    if debate is None:
        return await run.go_on(live, lambda: engine.chats.send(live.id, text, attachments))
    if engine.debates.is_over(live):

        async def begin() -> None:
            await debates.say_price(run, live.debate_session, live.messages, "what_if", asked)
            await engine.debates.say(live.id, text, attachments, asked)

        return await run.go_on(live, begin)
    before = len(live.messages)
    await engine.debates.say(live.id, text, attachments, asked)
    await run.moot.store.flush(live.id)
    said = next(message for message in live.messages[before:] if message.role == Role.USER)
    line = event_line(MessageFinished(session_id=live.id, message=said))
    return await run.answer(line, run.texts("cli.said", title=one_line(live.session.title)) + "\n")


async def pause(run: CommandRun, session: SessionId) -> int:
    """Pause a session."""
    return await _end(run, session, run.engine.pause)


async def stop(run: CommandRun, session: SessionId) -> int:
    """Stop a session."""
    return await _end(run, session, run.engine.stop)


async def accept(run: CommandRun, session: SessionId) -> int:
    """Take a session's work as it is: what is not met of its criteria is accepted."""
    live = await run.open(session)
    return await run.go_on(live, lambda: run.engine.criteria.accept(live.id))


async def _end(run: CommandRun, session: str, end: Callable[[str], Awaitable[None]]) -> int:
    """Let a session end, unless it has. Raises NotFound, BadInput."""
    live = await run.open(session)
    if has_ended(live.session):
        raise BadInput("session_ended", title=live.session.title)
    await end(live.id)
    ended = await run.engine.wait(live.id)
    await run.moot.store.flush(live.id)
    await run.print(last_line(ended, run.texts))
    return OK


async def work(run: CommandRun, everything: Annotated[bool, Typed("--all", text="work_all")] = False) -> int:
    """Print all work that needs the user, stopped, runs or waits, and what is done where that is wanted."""
    engine, texts = run.engine, run.texts
    done_since = "" if everything else NEVER
    for row in engine.work.rows(texts, done_since):
        if row.needs in (Needs.ANSWER, Needs.CRITERIA) and engine.live(row.id) is None:
            # What it asks, and what is met, is in no index.
            await engine.open(row.id)
    rows = engine.work.rows(texts, done_since)
    shown = [
        (row.id, texts(f"work.state.{row.state}"), texts.named("kind", row.kind), row.title[:80], row.says)
        for row in rows
    ]
    sizes = await engine.session_files.sizes([row.id for row in rows if run.arguments.json])
    objects = [work_object(row, sizes[row.id].files if row.id in sizes else 0) for row in rows]
    return await run.answer_rows(objects, shown, "work.nothing")


async def show(run: CommandRun, session: SessionId) -> int:
    """Print a whole session."""
    live = await run.open(session)
    if live.damaged:
        await run.out.complain(run.texts("cli.damaged", count=live.damaged, session_id=live.session.id))
    if run.arguments.json:
        files = await run.engine.session_files.list(live.id)
        return await run.answer(session_document(live, run.engine.journal.get(live.id), files), "")
    for text in printer_of(live.session, run.texts).whole(live):
        await run.out.write(text)
    await run.out.write(end_text(live.session, live, run.texts, read=True))
    return OK
