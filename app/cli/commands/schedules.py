"""The commands of schedules, and how a run of one begins: it gives a command of the terminal to itself."""

import asyncio
import contextlib
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

from app.cli.arguments import Arguments, Many, Typed, parse_arguments
from app.cli.command_run import CommandRun
from app.cli.commands import chats, debates, sessions
from app.cli.interrupt import Interrupt
from app.cli.printing.lines import columns, lines_text, load_texts
from app.cli.terminal import Nobody
from app.core.errors import BadInput
from app.core.schedule import SCHEDULED, WEEKDAYS, Every, Schedule, ScheduleRun, WhenMissed, moment_of
from app.core.texts import Texts
from app.engine.export.event_lines import fields_of
from app.engine.schedules import Begin, Schedules, when_text, why_text
from app.wiring import Moot

# How long it is waited until a run is noted as paused.
_PAUSED_S = 5.0
Name = Annotated[str, Typed(text="schedule_name", metavar="NAME")]
# The option by which each command takes a file; a workflow takes none.
_FILE = {"ask": "--file", "council": "--file", "debate": "--context"}


# What names whom a command is for.
_WHO = {"ask": "assistant", "workflow": "definition", "council": "panel"}


def _is_there(moot: Moot, command: str, who: str) -> bool:
    """Say whether there is an assistant or a group, a workflow or a panel of this id."""
    engine = moot.engine
    found: dict[str, object] = {
        "ask": engine.assistants.get(who) or engine.groups.get(who),
        "workflow": engine.workflows.get(who),
        "council": engine.councils.panels.get(who),
    }
    return found[command] is not None


class _Begun(Interrupt):
    """Tells which session a command has begun, as soon as that is known."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__()
        self._tell = tell

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if name == "session_id":
            self._tell(str(value))


def begin_in(moot: Moot) -> Begin:
    """Return what gives the command of a schedule in this Moot."""

    async def begin(schedule: Schedule, files: Sequence[str], begun: Callable[[str], None]) -> None:
        option, words = _FILE.get(schedule.words[0], ""), list(schedule.words)
        for path in files if option else ():
            words[1:1] = [option, path]
        arguments = _parsed(words, load_texts(moot.engine.settings().language))
        key = _WHO.get(arguments.command, "")
        if arguments.values.get(key) and _is_there(moot, arguments.command, schedule.who):
            arguments = replace(arguments, values={**arguments.values, key: schedule.who})
        given = schedule.attachments, schedule.allowed
        await sessions.run_command(moot, arguments, Nobody(), _Begun(begun), *given)

    return begin


async def schedule_list(run: CommandRun) -> int:
    """Print the schedules."""
    schedules = run.moot.engine.schedules
    rows = [schedule_object(schedules, each) for each in schedules.all()]
    lines = columns(_cells(schedules, each, run.texts) for each in schedules.all())
    return await run.answer(rows, lines_text(lines or [run.texts("schedule.none")]))


async def schedule_add(
    run: CommandRun,
    name: Name,
    at: Annotated[str, Typed("--at", text="schedule_at", metavar="ISO")] = "",
    every: Annotated[str, Typed("--every", text="schedule_every", choices=[*Every][1:])] = "",
    time: Annotated[str, Typed("--time", text="schedule_time", metavar="HH:MM")] = "",
    on: Annotated[str, Typed("--on", text="schedule_on", metavar="DAYS")] = "",
    missed: Annotated[str, Typed("--missed", text="schedule_missed", choices=WhenMissed)] = WhenMissed.RUN,
    files_of: Annotated[str, Typed("--files-of", text="schedule_files_of", metavar="NAME")] = "",
    *,
    words: Annotated[Many, Typed(text="schedule_words", nargs="+", metavar="COMMAND")],
) -> int:
    """Let a command run by itself at a time, or again and again."""
    schedules = run.moot.engine.schedules
    if bool(at) == bool(every) or (at and (time or on)):
        raise BadInput("schedule_when")
    day, time = _day_and_time(at) if at else ("", time)
    of = schedules.find(files_of).id if files_of else ""
    when: Any = {"every": every or Every.ONCE, "time": time, "date": day, "missed": missed}
    schedule = Schedule(id="", name=name, words=words, on=_days(on, every), files_of=of, **when)
    made = await schedules.make(replace(schedule, who=await check_words(run, schedule)))
    if not await asyncio.to_thread(run.moot.engine.login_start.is_installed):
        await run.out.complain(run.texts("schedule.closed"))
    return await _answer(run, made)


async def schedule_remove(run: CommandRun, name: Name) -> int:
    """Move a schedule to the trash."""
    schedules = run.moot.engine.schedules
    found = schedules.find(name)
    await schedules.delete(found.id)
    said = run.texts("schedule.removed", name=found.name)
    return await run.answer(schedule_object(schedules, found), f"{said}\n")


async def schedule_pause(run: CommandRun, name: Name) -> int:
    """Let a schedule rest."""
    return await _changed(run, name, paused=True)


async def schedule_resume(run: CommandRun, name: Name) -> int:
    """Let a schedule be due again from now on."""
    return await _changed(run, name, paused=False)


async def _changed(run: CommandRun, name: str, *, paused: bool) -> int:
    schedules = run.moot.engine.schedules
    return await _answer(run, await schedules.pause(schedules.find(name).id, paused=paused))


async def _answer(run: CommandRun, schedule: Schedule) -> int:
    schedules = run.moot.engine.schedules
    line = "  ".join(_cells(schedules, schedule, run.texts))
    return await run.answer(schedule_object(schedules, schedule), f"{line}\n")


async def schedule_run(run: CommandRun, name: Name) -> int:
    """Begin a run now, and follow it until it rests."""
    schedules = run.moot.engine.schedules
    schedules.begin = begin_in(run.moot)
    schedule = schedules.find(name)
    running = await schedules.run_now(schedule.id)
    await run.unless_interrupted(asyncio.shield(running))
    session_id = schedules.runs(schedule.id)[0].session_id
    if not running.done() and session_id and not run.interrupted.closing:
        # As in any command the user pauses it, and what came of it is noted.
        await run.moot.engine.pause(session_id)
        await run.moot.engine.pause(session_id)
        await asyncio.wait((running,), timeout=_PAUSED_S)
    return await schedule_runs(run, name)


async def schedule_runs(run: CommandRun, name: Name) -> int:
    """Print when a schedule was due, and what came of it."""
    schedules, texts = run.moot.engine.schedules, run.texts
    found = schedules.runs(schedules.find(name).id)
    states = [(texts(f"schedule.state.{each.state}"), why_text(each.reason, texts)) for each in found]
    pairs = zip(found, states, strict=True)
    lines = columns((each.due.replace("T", " "), state, each.session_id, why) for each, (state, why) in pairs)
    rows = [run_object(schedules, each) for each in found]
    return await run.answer(rows, lines_text(lines or [texts("schedule.no_runs")]))


async def check_words(run: CommandRun, schedule: Schedule) -> str:
    """Return the id of whom the command of a schedule names, "" for none. Raises BadInput where it cannot
    be given.
    """
    arguments = _parsed(schedule.words, run.texts)
    if arguments.values.get("session"):
        raise BadInput("schedule_own_session")
    if schedule.files_of and arguments.command not in _FILE:
        raise BadInput("schedule_no_files", command=arguments.command)
    named = str(arguments.values.get(_WHO.get(arguments.command, "")) or "")
    if arguments.command == "ask":
        return (await chats.who_of(run, named)).id
    if arguments.command == "workflow" and named:
        return run.moot.engine.workflows.find(named).id
    if named:
        return run.moot.engine.councils.panels.find(named).id
    if specs := arguments.values.get("participants"):
        debates.participants_of(run, specs)
    return ""


def _parsed(words: Sequence[str], texts: Texts) -> Arguments:
    """Read the command of a schedule. Raises BadInput, also for one that asks for help or the version."""
    try:
        return parse_arguments(words, texts)
    except SystemExit:
        raise BadInput("schedule_command", commands=", ".join(SCHEDULED)) from None


def _cells(schedules: Schedules, schedule: Schedule, texts: Texts) -> tuple[str, ...]:
    """Return what a line says of a schedule: its name, when it is due, how it stands."""
    said = (when_text(schedule, texts), schedules.stands(schedule, texts))
    return schedule.name, *said, shlex.join(schedule.words)


def _day_and_time(typed: str) -> tuple[str, str]:
    """Return the day and the time of a moment as typed, where the user is. Raises BadInput."""
    try:
        moment = datetime.fromisoformat(typed)
    except ValueError:
        raise BadInput("schedule_time", time=typed[:40]) from None
    with contextlib.suppress(OverflowError):
        moment = moment.astimezone() if moment.tzinfo else moment
    return f"{moment:%Y-%m-%d}", f"{moment:%H:%M}"


def _days(typed: str, every: str) -> tuple[int, ...]:
    """Return the weekdays or the days of the month that were typed. Raises BadInput."""
    found = []
    for word in typed.casefold().replace(",", " ").split():
        if every == Every.WEEK and word[:3] in WEEKDAYS:
            found.append(WEEKDAYS.index(word[:3]))
        elif every == Every.MONTH and word.isdecimal() and len(word) <= 2:
            found.append(int(word))
        else:
            raise BadInput("schedule_when")
    return tuple(sorted(set(found)))


def schedule_object(schedules: Schedules, schedule: Schedule) -> dict[str, Any]:
    """Return a schedule as `moot schedule --json` prints it."""
    due = schedules.next_at(schedule)
    state = "paused" if schedule.paused else "active" if due is not None else "done"
    return {
        **fields_of(schedule, "id", "name", "missed", "reason"),
        "command": list(schedule.words),
        "state": state,
        "next": due.astimezone(schedules.clock.zone()).isoformat() if due is not None else None,
    }


def run_object(schedules: Schedules, run: ScheduleRun) -> dict[str, Any]:
    """Return a time at which a schedule was due as `moot schedule runs --json` prints it."""
    zone = schedules.clock.zone()
    due = moment_of(datetime.fromisoformat(run.due), zone).astimezone(zone).isoformat()
    return {"due": due, **fields_of(run, "state", "session_id", "reason")}
