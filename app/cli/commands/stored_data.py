"""`moot import`, `backup`, `restore`, `export`, `files`, `memory` and `delete`."""

import asyncio
from collections import Counter
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated

from app.children.private_files import replace_file
from app.cli.arguments import Many, SessionId, Typed, absolute
from app.cli.command_run import CommandRun, checked_id
from app.cli.exit_status import OK
from app.cli.printing.lines import columns, error_line, json_line, lines_text, one_line, safe_json
from app.core.errors import BadInput
from app.core.memory import Note, origin_text
from app.core.session import DOCX, PDF, ZIP, ExportFormat
from app.core.store import Difference
from app.core.texts import command_name, size_text, visible
from app.engine.export.event_lines import fields_of
from app.engine.export.formats import FILE_FORMATS

_FIELDS = ("session_id", "app", "title", "messages", "known", "unapproved")
_FORMATS = (*ExportFormat, PDF, DOCX, ZIP)


async def bring_in(
    run: CommandRun,
    files: Annotated[Many, Typed(text="import_file", nargs="+", metavar="FILE", type=absolute)],
    with_context: Annotated[bool, Typed("--with-context")] = False,
) -> int:
    """Import the conversations of each file that are not here yet."""
    rows: list[dict[str, object]] = []
    for path in files:
        found = await run.engine.archive.look_at(path)
        for fault in found.faults:
            await run.out.complain(error_line(fault, run.texts))
        await run.engine.archive.bring_in(found.fresh, with_context=with_context)
        rows += [{**fields_of(each, *_FIELDS), "besides": each.besides(run.texts)} for each in found.sessions]
        if not run.arguments.json:
            for each in found.sessions:
                key = "cli.import.known" if each.known else "cli.import.done"
                title = one_line(each.title)[:80]
                await run.print(run.texts(key, session_id=each.session_id, app=each.app, title=title))
                for line in each.besides(run.texts):
                    await run.print("    " + one_line(visible(line)))
            if any(each.besides(run.texts) for each in found.fresh):
                await run.print(run.texts("cli.import.with" if with_context else "cli.import.without"))
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
    backup = await run.engine.archive.back_up(output)
    await run.print(run.texts("cli.exported", path=backup.path))
    return OK


async def restore(
    run: CommandRun,
    files: Annotated[Many, Typed(text="restore_file", nargs=1, metavar="FILE", type=absolute)],
    yes: Annotated[bool, Typed("--yes")] = False,
) -> int:
    """List what a backup would restore, and restore it with `--yes`."""
    [path] = files
    contents = await run.engine.archive.files.contents(path)
    wanted = [each.id for each in contents.sessions if each.state in (Difference.MISSING, Difference.CHANGED)]
    if not yes:
        rows = []
        for each in contents.sessions:
            state = run.texts(f"restore.count.{each.state}", count="").strip()
            rows.append((each.id, each.updated_at[:10], state, one_line(each.title)[:80]))
        documents = Counter(document.state for document in contents.documents)
        counts = {"sessions": len(wanted), "documents": documents[Difference.MISSING]}
        text = lines_text((*columns(rows), run.texts("cli.restore.look", **counts)))
        return await run.answer(asdict(contents), text)
    back = await run.engine.archive.restore(path, wanted)
    what = ", ".join(run.texts(f"data.restored.{name}", count=count) for name, count in back.counts.items())
    text = (run.texts("data.restored", what=what) if what else run.texts("data.restored.none")) + "\n"
    if back.unapproved:
        text += run.texts("data.unapproved", count=len(back.unapproved)) + "\n"
    return await run.answer(asdict(back), text)


async def export(
    run: CommandRun,
    session: SessionId,
    form: Annotated[str, Typed("--format", text="format", choices=_FORMATS, required=True)],
    memo: Annotated[bool, Typed("--memo")] = False,
    with_context: Annotated[bool, Typed("--with-context", text="with_folder")] = False,
    output: Annotated[str, Typed("-o", "--output", metavar="FILE", type=absolute)] = "",
) -> int:
    """Print a session, or the memo about what was decided in it, in another format, or write it to a file."""
    session_id, engine = checked_id(session), run.engine
    if form in (PDF, DOCX, ZIP) and not output:
        raise BadInput("file_needs_output", path=form)
    if form == ZIP and not memo:
        await engine.export_zip(session_id, output)
        await run.print(run.texts("cli.exported", path=output))
        return OK
    make = engine.memo_file if memo else partial(engine.export_file, with_folder=with_context)
    data = await make(session_id, form)
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
    compare: Annotated[int | None, Typed("--compare", type=int, metavar="N", either=True)] = None,
    form: Annotated[str, Typed("--format", text="files_format", choices=FILE_FORMATS, either=True)] = "",
    output: Annotated[str, Typed("-o", "--output", metavar="FILE", type=absolute)] = "",
) -> int:
    """List the files made in a session; or print one of them, or how two versions differ, or write that
    to a file.
    """
    live = await run.open(session)
    files, texts = run.engine.session_files, run.texts
    if not what:
        there = await files.list(live.id)
        paths = {item.path for item in there}
        made = [item for item in await files.versions(live.id) if not item.gone]
        size, number = partial(size_text, texts), partial(texts, "files.version")
        rows = [(each.path, number(version=each.version), size(each.bytes), each.author) for each in there]
        records = [{**asdict(item), "deleted": item.path not in paths} for item in made]
        return await run.answer_rows(records, rows, "files.none")
    if not path:
        raise BadInput("usage_missing", what="PATH", help=f"{command_name()} files --help")
    if form:
        if form != ExportFormat.HTML and not output:
            raise BadInput("file_needs_output", path=form)
        data = await run.engine.file_as(live.id, path, form, version)
        if output:
            return await _write(run, Path(output), data)
        await run.out.write(data.decode())
        return OK
    found, data = await files.read(live.id, path, version)
    if compare is not None:
        _, before = await files.read(live.id, path, compare)
        differs = await run.engine.files.difference(before, data)
        data = f"{differs or run.texts('files.compare.same')}\n".encode()
    if output:
        return await _write(run, Path(output), data)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise BadInput("file_needs_output", path=path) from None
    return await run.answer({**asdict(found), "text": text}, text)


async def memory_list(run: CommandRun) -> int:
    """List what assistants remember, the newest first."""
    records = [_note_record(run, note) for note in run.engine.memory.all()]
    rows = ((row["id"], row["for"] or row["folder"], row["from"], row["text"]) for row in records)
    lines = columns(tuple(one_line(str(each)) for each in row) for row in rows)
    return await run.answer(records, lines_text(lines or [run.texts("memory.none")]))


def _note_record(run: CommandRun, note: Note) -> dict[str, object]:
    """Return a note as scripts see it, with the names of whom it is for."""
    engine = run.engine
    agent, folder = engine.assistants.get(note.agent), engine.folders.get(note.folder)
    whom = {"for": agent.name if agent else note.agent, "folder": folder.name if folder else note.folder}
    source = origin_text(run.texts, note)
    return {"id": note.id, "text": note.text, **whom, "from": source, "local": note.local, "at": note.at}


async def memory_add(
    run: CommandRun,
    text: Annotated[str, Typed(text="memory_text", metavar="TEXT")],
    agent: Annotated[str, Typed("--for", text="memory_for", metavar="ASSISTANT", either=True)] = "",
    folder: Annotated[str, Typed("--folder", text="memory_folder", metavar="NAME", either=True)] = "",
    local: Annotated[bool, Typed("--local", text="memory_local")] = False,
) -> int:
    """Keep a note for an assistant or a folder."""
    engine = run.engine
    if not agent and not folder:
        help_command = f"{command_name()} memory add --help"
        raise BadInput("usage_missing", what="--for ASSISTANT, --folder NAME", help=help_command)
    whom = (
        {"agent": engine.assistants.find(agent).id} if agent else {"folder": engine.folders.find(folder).id}
    )
    note = await engine.memory.add(Note(id="", text=text, local=local, **whom))
    return await run.answer(_note_record(run, note), f"{note.id}\n")


async def memory_remove(
    run: CommandRun, note: Annotated[str, Typed(text="memory_note", metavar="ID")]
) -> int:
    """Delete a note."""
    await run.engine.memory.remove(note)
    return await run.answer({"id": note}, run.texts("memory.deleted") + "\n")


async def delete(run: CommandRun, session: SessionId) -> int:
    """Move a session to the trash."""
    await run.engine.delete(checked_id(session))
    await run.print(run.texts("cli.deleted", session_id=session))
    return OK


def _write_whole(path: Path, data: bytes) -> None:
    """Write a file; if the disk is full, the previous one stays."""
    part = path.with_name(path.name + ".part")
    try:
        part.write_bytes(data)
        replace_file(part, path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
