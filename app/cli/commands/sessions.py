"""The commands of sessions of any kind, and how any command is run; import, export, files, backups.

`running` runs them in this process, `control` for another process, with that process's output.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from app.cli.arguments import Arguments, AsItLooks, Files, Many, SessionId, Text, Typed, absolute, function_of
from app.cli.command_run import CommandRun, checked_id, end_text, is_council, printer_of
from app.cli.commands import calls, chats, debates
from app.cli.exit_status import OK
from app.cli.interrupt import Interrupt
from app.cli.printing.lines import columns, error_line, json_line, lines_text, load_texts, one_line, safe_json
from app.cli.printing.sessions import last_line
from app.cli.terminal import Out
from app.core.errors import BadInput
from app.core.events import MessageFinished
from app.core.message import Role
from app.core.session import DOCX, PDF, ZIP, ExportFormat, Status, has_ended
from app.core.store import Difference
from app.core.texts import size_text
from app.engine.export.event_lines import event_line, fields_of
from app.engine.export.formats import FILE_FORMATS
from app.engine.session_kinds import session_document
from app.engine.work import NEVER, Needs, work_object
from app.wiring import Moot


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
    skip_check: Annotated[bool, Typed("--skip-check")] = False,
) -> int:
    """Go on with a paused session; in a debate skip a turn or leave out a participant if that is asked for.

    Raises BadInput for these options in another kind of session; in a council those two change nothing. With `skip_check`
    one that runs goes on without waiting for the voting check.
    """
    live = await run.open(session)
    engine, council = run.moot.engine, is_council(live.session)
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
    files: Files = (),
    as_it_looks: AsItLooks = False,
) -> int:
    """Answer a session's oldest open question; if there is none, say something in it.

    After the end of a debate or a council that begins a what-if round, of all participants or those with the names in `to`.
    """
    live = await run.open(session)
    engine, debate = run.moot.engine, live.session.debate
    if to and debate is None:
        raise BadInput("not_a_debate", title=live.session.title)
    asked = [(await engine.debates.held.participant(live.id, name)).id for name in to]
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
    return await _end(run, session, run.moot.engine.pause)


async def stop(run: CommandRun, session: SessionId) -> int:
    """Stop a session."""
    return await _end(run, session, run.moot.engine.stop)


async def accept(run: CommandRun, session: SessionId) -> int:
    """Take a session's work as it is: what is not met of its criteria is accepted."""
    live = await run.open(session)
    return await run.go_on(live, lambda: run.moot.engine.criteria.accept(live.id))


async def _end(run: CommandRun, session: str, end: Callable[[str], Awaitable[None]]) -> int:
    """Let a session end, unless it has. Raises NotFound, BadInput."""
    live = await run.open(session)
    if has_ended(live.session):
        raise BadInput("session_ended", title=live.session.title)
    await end(live.id)
    ended = await run.moot.engine.wait(live.id)
    await run.moot.store.flush(live.id)
    await run.print(last_line(ended, run.texts))
    return OK


async def work(run: CommandRun, everything: Annotated[bool, Typed("--all", text="work_all")] = False) -> int:
    """Print all work that needs the user, stopped, runs or waits, and what is done where that is wanted."""
    engine, texts = run.moot.engine, run.texts
    done_since = "" if everything else NEVER
    for row in engine.work.rows(texts, done_since):
        if row.needs in (Needs.ANSWER, Needs.CRITERIA) and engine.live(row.id) is None:
            # What it asks, and what is met, is in no index.
            await engine.open(row.id)
    rows = engine.work.rows(texts, done_since)
    lines = columns(
        (row.id, texts(f"work.state.{row.state}"), texts.named("kind", row.kind), row.title[:80], row.says)
        for row in rows
    )
    counts = await engine.session_files.counts([row.id for row in rows if run.arguments.json])
    objects = [work_object(row, counts.get(row.id, 0)) for row in rows]
    return await run.answer(objects, lines_text(lines or [texts("work.nothing")]))


async def show(run: CommandRun, session: SessionId) -> int:
    """Print a whole session."""
    live = await run.open(session)
    if live.damaged:
        await run.out.complain(run.texts("cli.damaged", count=live.damaged, session_id=live.session.id))
    if run.arguments.json:
        engine = run.moot.engine
        files = await engine.session_files.list(live.id)
        return await run.answer(session_document(live, engine.journal.get(live.id), files), "")
    for text in printer_of(live.session, run.texts).whole(live):
        await run.out.write(text)
    await run.out.write(end_text(live.session, live, run.texts, read=True))
    return OK


_FIELDS = ("session_id", "app", "title", "messages", "known", "unapproved")


async def bring_in(
    run: CommandRun,
    files: Annotated[Many, Typed(text="import_file", nargs="+", metavar="FILE", type=absolute)],
) -> int:
    """Import the conversations of each file that are not here yet."""
    rows: list[dict[str, object]] = []
    for path in files:
        found = await run.moot.engine.archive.look_at(path)
        for fault in found.faults:
            await run.out.complain(error_line(fault, run.texts))
        await run.moot.engine.archive.bring_in(found.fresh)
        rows += [fields_of(arrival, *_FIELDS) for arrival in found.sessions]
        if not run.arguments.json:
            for each in found.sessions:
                key = "cli.import.known" if each.known else "cli.import.done"
                title = one_line(each.title)[:80]
                await run.print(run.texts(key, session_id=each.session_id, app=each.app, title=title))
            if dropped := sum(arrival.unapproved for arrival in found.fresh):
                await run.print(run.texts("data.unapproved", count=dropped))
    if run.arguments.json:
        await run.out.write(json_line(rows))
    return OK


async def back_up(
    run: CommandRun,
    output: Annotated[str, Typed(text="backup_file", nargs="?", metavar="FILE", type=absolute)] = "",
) -> int:
    """Pack everything that belongs to the user into one file."""
    backup = await run.moot.engine.archive.back_up(output)
    await run.print(run.texts("cli.exported", path=backup.path))
    return OK


async def restore(
    run: CommandRun,
    files: Annotated[Many, Typed(text="restore_file", nargs=1, metavar="FILE", type=absolute)],
    yes: Annotated[bool, Typed("--yes")] = False,
) -> int:
    """List what a backup would restore, and restore it with `--yes`."""
    [path] = files
    contents = await run.moot.engine.archive.files.contents(path)
    wanted = [each.id for each in contents.sessions if each.state in (Difference.MISSING, Difference.CHANGED)]
    if not yes:
        lines = columns(
            (
                session.id,
                session.updated_at[:10],
                run.texts(f"restore.count.{session.state}", count="").strip(),
                one_line(session.title)[:80],
            )
            for session in contents.sessions
        )
        documents = Counter(document.state for document in contents.documents)
        counts = {"sessions": len(wanted), "documents": documents[Difference.MISSING]}
        text = lines_text((*lines, run.texts("cli.restore.look", **counts)))
        return await run.answer(asdict(contents), text)
    back = await run.moot.engine.archive.restore(path, wanted)
    what = ", ".join(run.texts(f"data.restored.{name}", count=count) for name, count in back.counts.items())
    text = (run.texts("data.restored", what=what) if what else run.texts("data.restored.none")) + "\n"
    if back.unapproved:
        text += run.texts("data.unapproved", count=len(back.unapproved)) + "\n"
    return await run.answer(asdict(back), text)


async def export(
    run: CommandRun,
    session: SessionId,
    form: Annotated[
        str, Typed("--format", text="format", choices=(*ExportFormat, PDF, DOCX, ZIP), required=True)
    ],
    memo: Annotated[bool, Typed("--memo")] = False,
    output: Annotated[str, Typed("-o", "--output", metavar="FILE", type=absolute)] = "",
) -> int:
    """Print a session, or the memo about what was decided in it, in another format, or write it to a file."""
    session_id, engine = checked_id(session), run.moot.engine
    if form in (PDF, DOCX, ZIP) and not output:
        raise BadInput("file_needs_output", path=form)
    if form == ZIP and not memo:
        await engine.export_zip(session_id, output)
        await run.print(run.texts("cli.exported", path=output))
        return OK
    data = await (engine.memo_file if memo else engine.export_file)(session_id, form)
    if output:
        return await _write(run, Path(output), data)
    text = safe_json(data.decode()) if form == ExportFormat.JSON else data.decode()
    await run.out.write(text if text.endswith("\n") else text + "\n")
    return OK


async def _write(run: CommandRun, path: Path, data: bytes) -> int:
    """Write a file and say so. Raises BadInput where that fails."""
    try:
        await asyncio.to_thread(_write_whole, path, data)
    except OSError as error:
        raise BadInput("cannot_write", path=path, detail=error.strerror or error) from error
    await run.print(run.texts("cli.exported", path=path))
    return OK


async def session_files(
    run: CommandRun,
    session: SessionId,
    what: Annotated[str, Typed(text="files_get", nargs="?", choices=("get",), metavar="get")] = "",
    path: Annotated[str, Typed(text="files_path", nargs="?", metavar="PATH")] = "",
    version: Annotated[int | None, Typed("--version", text="files_version", type=int, metavar="N")] = None,
    form: Annotated[str, Typed("--format", text="files_format", choices=FILE_FORMATS)] = "",
    output: Annotated[str, Typed("-o", "--output", metavar="FILE", type=absolute)] = "",
) -> int:
    """List the files made in a session, or print one of them or write it to a file."""
    live = await run.open(session)
    files = run.moot.engine.session_files
    if not what:
        there = await files.list(live.id)
        paths = {one.path for one in there}
        made = [one for one in await files.versions(live.id) if not one.gone]
        lines = columns(
            (
                one.path,
                run.texts("files.version", version=one.version),
                size_text(run.texts, one.bytes),
                one.author,
            )
            for one in there
        )
        rows = [{**asdict(one), "deleted": one.path not in paths} for one in made]
        return await run.answer(rows, lines_text(lines or [run.texts("files.none")]))
    if not path:
        raise BadInput("usage_missing", what="PATH", help="moot files --help")
    if form:
        if form != ExportFormat.HTML and not output:
            raise BadInput("file_needs_output", path=form)
        data = await run.moot.engine.file_as(live.id, path, form, version)
        if output:
            return await _write(run, Path(output), data)
        await run.out.write(data.decode())
        return OK
    found, data = await files.read(live.id, path, version)
    if output:
        return await _write(run, Path(output), data)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise BadInput("file_needs_output", path=path) from None
    return await run.answer({**asdict(found), "text": text}, text)


async def delete(run: CommandRun, session: SessionId) -> int:
    """Move a session to the trash."""
    await run.moot.engine.delete(checked_id(session))
    await run.print(run.texts("cli.deleted", session_id=session))
    return OK


def _write_whole(path: Path, data: bytes) -> None:
    """Write a file; if the disk is full, the previous one stays."""
    part = path.with_name(path.name + ".part")
    try:
        part.write_bytes(data)
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
