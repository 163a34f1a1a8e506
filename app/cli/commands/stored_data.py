"""The sub-commands of what is kept: `moot import`, `moot backup` and `moot restore`; used by commands."""

from collections import Counter
from dataclasses import asdict

from app.cli.exit_status import OK
from app.cli.follow import Call
from app.cli.printing.output import error_line, json_line, one_line
from app.core.stored_data import Difference
from app.engine.importing.sessions import Arrival


async def bring_in(call: Call) -> int:
    """Import every conversation of each file that is not here yet."""
    rows: list[dict[str, object]] = []
    for path in call.arguments.files:
        found = await call.moot.engine.archive.look_at(path)
        for fault in found.faults:
            await call.out.complain(error_line(fault, call.texts))
        await call.moot.engine.archive.bring_in(found.fresh)
        rows += [_row(one) for one in found.sessions]
        if not call.arguments.json:
            for one in found.sessions:
                key = "cli.import.known" if one.known else "cli.import.done"
                line = call.texts(key, session_id=one.session_id, app=one.app, title=one_line(one.title)[:80])
                await call.out.write(line + "\n")
            if dropped := sum(one.unapproved for one in found.fresh):
                await call.out.write(call.texts("data.unapproved", count=dropped) + "\n")
    if call.arguments.json:
        await call.out.write(json_line(rows))
    return OK


def _row(one: Arrival) -> dict[str, object]:
    names = ("session_id", "app", "title", "messages", "known", "unapproved")
    return {name: getattr(one, name) for name in names}


async def back_up(call: Call) -> int:
    """Pack everything that is the user's into one file."""
    backup = await call.moot.engine.archive.back_up(call.arguments.output)
    await call.out.write(call.texts("cli.exported", path=backup.path) + "\n")
    return OK


async def restore(call: Call) -> int:
    """Say what a backup would bring back, and with `--yes` bring it back."""
    path = call.arguments.files[0]
    contents = await call.moot.engine.archive.contents(path)
    wanted = [one.id for one in contents.sessions if one.state in (Difference.MISSING, Difference.CHANGED)]
    if call.arguments.json and not call.arguments.yes:
        await call.out.write(json_line(asdict(contents)))
        return OK
    if not call.arguments.yes:
        for one in contents.sessions:
            state = call.texts(f"restore.count.{one.state}", count="").strip()
            await call.out.write(f"{one.id}  {one.updated_at[:10]}  {state}  {one_line(one.title)[:80]}\n")
        documents = Counter(one.state for one in contents.documents)
        counts = {"sessions": len(wanted), "documents": documents[Difference.MISSING]}
        await call.out.write(call.texts("cli.restore.look", **counts) + "\n")
        return OK
    back = await call.moot.engine.archive.restore(path, wanted)
    if call.arguments.json:
        await call.out.write(json_line(asdict(back)))
        return OK
    what = ", ".join(call.texts(f"data.restored.{name}", count=count) for name, count in back.counts.items())
    said = call.texts("data.restored", what=what) if what else call.texts("data.restored.none")
    await call.out.write(said + "\n")
    if back.unapproved:
        await call.out.write(call.texts("data.unapproved", count=len(back.unapproved)) + "\n")
    return OK
