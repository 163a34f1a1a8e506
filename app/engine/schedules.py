"""Schedules: chats, groups, workflows and decisions that run when they are due; `engine.schedules`.

Whoever keeps the data directory calls `keep`. A time is noted on the disk before its run begins, so that a
kill lets it run at most once: what was running then is paused, and the user goes on with it or not.
"""

import asyncio
import contextlib
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any

from app.core.council import Ends
from app.core.definitions import Effort
from app.core.errors import BadInput, FailureKind, MootError, StorageError
from app.core.events import Notice, ScheduleMissed, SchedulesChanged
from app.core.ids import new_id, stamp
from app.core.message import Message, Role
from app.core.owned_tasks import end_tasks, start_owned
from app.core.schedule import (
    FAR_BACK,
    MOST_LISTED,
    SCHEDULED,
    WEEKDAYS,
    Every,
    RunState,
    Schedule,
    ScheduleRun,
    WallClock,
    WhenMissed,
    WhyMissed,
    day_time,
    due_after,
    dues,
    is_moment,
    moment_of,
    wrong_field,
)
from app.core.session import Folder, Reason, Session, SessionSummary, Status, at_limit, main_code
from app.core.session_files import files_named, of_folder
from app.core.settings import RunLimits
from app.core.store import SessionFiles
from app.core.texts import Texts
from app.engine.library.definitions import MAX_NAME, Definitions, Folders, LibraryKind
from app.engine.live_session import LiveSession
from app.engine.names import normal
from app.engine.runner import Sessions
from app.engine.work import SCHEDULE, WorkAction, WorkRow, WorkState

# How often it is looked whether something is due, in seconds.
LOOK_S = 30.0
# A time is missed where it begins later than this.
LATE = timedelta(minutes=5)
# How often a run is tried again that could not ask its models, and for how long.
AGAIN_S, TRIES = 60.0, 60
RETRIED = (FailureKind.NETWORK, FailureKind.NO_KEY)
# After so many failures in a row a schedule is paused.
MOST_FAILURES = 3
# The clock may have been ahead when a time was noted: what it noted then does not count until it is so late.
_AHEAD = timedelta(hours=1)
_UNDER_WAY = (Status.RUNNING, Status.WAITING)
_WHEN = attrgetter("every", "time", "date", "on")
_STATES = frozenset(RunState)
Here = tuple[datetime, tzinfo | None, timedelta | None]

_KIND = LibraryKind(Schedule, "schedule", attrgetter("schedules"), SchedulesChanged, (), by_name=False)


# Gives the command of a schedule, with paths of further files, and follows its session until it rests. What
# comes last is told the session's id as soon as there is one. Raises MootError where it cannot begin.
Begin = Callable[[Schedule, Sequence[str], Callable[[str], None]], Coroutine[Any, Any, None]]


async def _nothing(*_: object) -> None:
    raise BadInput("schedule_command", commands=", ".join(SCHEDULED))


@dataclass(eq=False, repr=False)
class Schedules(Definitions[Schedule]):
    """The commands of schedules, and what keeps them; `begin` is set by who keeps the data directory."""

    _kind: LibraryKind[Schedule] = field(default=_KIND, init=False)
    _folders: Folders
    _sessions: Sessions
    _summaries: Callable[[], Sequence[SessionSummary]]
    _files: SessionFiles
    _try_again: Callable[[str], Awaitable[None]]
    clock: WallClock
    _sleep: Callable[[float], Awaitable[None]]
    begin: Begin = field(default=_nothing, init=False)
    _tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict, init=False)
    # Held from the look whether a run is under way until its own is noted.
    _claim: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    # When each schedule is due next, and of what that was found: itself, the runs, the zone, the time.
    _next: dict[str, tuple[Schedule, object, object, datetime, datetime | None]] = field(
        default_factory=dict, init=False
    )
    # When it was looked last, and which schedules there were.
    _looked: tuple[str, set[str]] | None = field(default=None, init=False)
    # The runs by their schedules, and of what these were found.
    _found: tuple[object, dict[str, list[ScheduleRun]]] = field(default=(None, {}), init=False)

    def __post_init__(self) -> None:
        self._began = self.clock.now()

    # What the user sees

    def runs(self, schedule_id: str) -> list[ScheduleRun]:
        """Return the times at which a schedule was due, the newest first, as they are now."""
        return self._as_they_are(reversed(self._known().get(schedule_id, [])))

    def since(self, moment: str) -> list[ScheduleRun]:
        """Return what came of the times that were noted since then (ISO 8601), the oldest first."""
        found = [run for runs in self._known().values() for run in runs if run.at > moment]
        return self._as_they_are(sorted(found, key=attrgetter("due")))

    def next_at(self, schedule: Schedule, here: Here | None = None) -> datetime | None:
        """Return when a schedule is due next, in UTC; None for never. `here` is what `_here` returns."""
        here = here or self._here()
        due = None if schedule.paused else self._due(schedule, here)
        return moment_of(due, here[1]) if due is not None else None

    def next_times(self, schedule: Schedule, count: int) -> list[datetime]:
        """Return the next days and times at which a schedule is due from now on, without their zone."""
        found: list[datetime] = []
        after: datetime | None = day_time(self.clock.now(), self.clock.zone())
        while len(found) < count and after is not None and (after := due_after(schedule, after)) is not None:
            found.append(after)
        return found

    def stands(self, schedule: Schedule, texts: Texts) -> str:
        """Return how a schedule stands: when it is due next, or that it rests, and why."""
        if schedule.paused:
            why = why_text(schedule.reason, texts)
            return texts("schedule.paused_as", why=why) if why else texts("schedule.paused")
        due = self.next_at(schedule)
        if due is None:
            return texts("schedule.over")
        return texts("schedule.next", when=due_text(day_time(due, self.clock.zone()), texts))

    def is_active(self) -> bool:
        """Say whether there is a schedule that will be due, or a run that is not over."""
        here = self._here()
        return bool(self._tasks) or any(self.next_at(each, here) is not None for each in self.all())

    def rows(self, texts: Texts) -> list[WorkRow]:
        """Return the schedules as rows of work, those that are due first; not those that are over."""
        found: list[tuple[str, WorkRow]] = []
        newest = (runs[-1] for runs in self._known().values())
        runs = {run.schedule: run for run in self._as_they_are(newest)}
        here = self._here()
        for schedule in self.all():
            due = self.next_at(schedule, here)
            if due is None and not schedule.paused:
                continue
            last = runs.get(schedule.id)
            stands = ""
            if last is not None:
                when = due_text(datetime.fromisoformat(last.due), texts)
                stands = texts("schedule.last", when=when, state=texts(f"schedule.state.{last.state}"))
            row = WorkRow(
                id=schedule.id,
                kind=SCHEDULE,
                title=schedule.name,
                state=WorkState.STOPPED if schedule.paused else WorkState.SCHEDULED,
                says=" · ".join((when_text(schedule, texts), self.stands(schedule, texts))),
                action=WorkAction.EDIT,
                since=last.at if last else schedule.since,
                limits=RunLimits(),
                reason_code=schedule.reason,
                stands=stands,
            )
            found.append((stamp(due) if due else "", row))
        return [row for _due, row in sorted(found, key=itemgetter(0))]

    def is_running(self, schedule_id: str) -> bool:
        """Say whether a run of a schedule is being followed here."""
        return schedule_id in self._tasks

    # What the user does

    async def make(self, schedule: Schedule) -> Schedule:
        """Save a new schedule, which is due from now on. Raises BadInput where it is never due."""
        made = replace(schedule, since=stamp(self.clock.now()), paused=False, reason="")
        check_when(made)
        if made.every == Every.ONCE and self._due(made, self._here()) is None:
            raise BadInput("schedule_past")
        return await self.save(made)

    async def pause(self, schedule_id: str, *, paused: bool = True) -> Schedule:
        """Let a schedule rest, or be due again from now on."""
        fresh = {} if paused else {"since": stamp(self.clock.now())}
        return await self.change(
            schedule_id,
            lambda found: replace(found, paused=paused, reason="", **fresh),  # type: ignore[arg-type]
        )

    async def run_now(self, schedule_id: str) -> "asyncio.Task[None]":
        """Begin a run now, whatever the time, and return its task. Raises BadInput while one is under way."""
        async with self._claim:
            schedule, now = self.find(schedule_id), self.clock.now()
            if self._is_under_way(schedule):
                raise BadInput("schedule_runs", name=schedule.name)
            if not schedule.paused:
                # What has come and did not run would be forgotten behind this time.
                await self._list(schedule, self._dues(schedule, now), WhyMissed.TOGETHER)
            due = day_time(now, self.clock.zone()).replace(microsecond=0)
            while self._has_begun(schedule, due):
                due += timedelta(seconds=1)
            return await self._start(schedule, due)

    async def restore(self, definition: Schedule) -> None:
        """Bring a deleted schedule back as it was. Raises BadInput where its name or id is taken."""
        self._check_name(definition)
        await super().restore(definition)

    # Keeping them

    async def keep(self) -> None:
        """Begin what is due, until this is cancelled: what runs is then paused with its session."""
        is_put_down = False
        try:
            while True:
                looked = self.clock.now()
                try:
                    if not is_put_down:
                        await self._put_down()
                    is_put_down = True
                    await self.look()
                except StorageError as error:
                    # What it tells is that nothing can be noted, so nothing may begin.
                    self._tell_of("schedule_unwritten", name=error.details.get("path", ""), why=error.code)
                await self._sleep(self._until_next(looked))
        finally:
            await end_tasks(*self._tasks.values())

    async def look(self) -> None:
        """Begin what is due now, and note what was missed."""
        here = now, *_ = self._here()
        before, self._looked = self._looked, (stamp(now), {each.id for each in self.all()})
        for schedule in self.all():
            at = self.next_at(schedule, here)
            if at is not None and at <= now:
                try:
                    if before is not None and schedule.id not in before[1] and schedule.since < before[0]:
                        # It is back from the trash or a backup, and nothing was missed there.
                        await self.pause(schedule.id, paused=False)
                        continue
                    async with self._claim:
                        await self._meet(schedule, now)
                except StorageError as error:
                    # It is still due at the next look.
                    self._tell_of("schedule_unwritten", name=schedule.name, why=error.code)

    async def _meet(self, schedule: Schedule, now: datetime) -> None:
        """Carry out the newest of the times that have come, and list those before it."""
        found = self._dues(schedule, now)
        if not found:
            # The clock or the zone has just been set.
            return
        *before, last = found
        why = ""
        if self._is_under_way(schedule):
            why = WhyMissed.UNFINISHED
        elif now - moment_of(last, self.clock.zone()) > LATE and schedule.missed == WhenMissed.SKIP:
            why = WhyMissed.CLOSED
        await self._list(schedule, [*before, *([last] if why else [])], why or WhyMissed.TOGETHER)
        if not why:
            await self._start(schedule, last)

    async def _list(self, schedule: Schedule, missed: Sequence[datetime], why: str) -> None:
        """Note and tell that times were missed."""
        if missed:
            at = stamp(self.clock.now())
            runs = [_noted(schedule, due, RunState.MISSED, at, reason=why) for due in missed]
            await self._note(*runs)
            self._tell_missed(schedule, runs[-1])

    async def _start(self, schedule: Schedule, due: datetime) -> "asyncio.Task[None]":
        run = _noted(schedule, due, RunState.RUNNING, stamp(self.clock.now()))
        await self._note(run)
        task = start_owned(self._carry_out(schedule, run), name=f"schedule {schedule.id}")
        self._tasks[schedule.id] = task
        task.add_done_callback(lambda _: self._tasks.pop(schedule.id, None))
        self._tell()
        return task

    async def _carry_out(self, schedule: Schedule, run: ScheduleRun) -> None:
        try:
            for tries in range(TRIES + 1):
                run, code = await self._try(schedule, run)
                known = self.get(schedule.id)
                if code not in RETRIED or known is None or known.paused:
                    break
                if tries < TRIES:
                    await self._sleep(AGAIN_S)
        except Exception:  # a fault of the program, which is logged as that of its task
            noted = next((each for each in self._known().get(schedule.id, []) if each.id == run.id), run)
            await self._note(replace(noted, state=RunState.FAILED, reason=Reason.FAULT))
            self._tell()
            raise
        if code in RETRIED:
            run = replace(run, state=RunState.MISSED, reason=code)
            self._tell_missed(schedule, run)
        await self._note(run)
        self._tell()
        await self._pause_failing(schedule)

    async def _try(self, schedule: Schedule, run: ScheduleRun) -> tuple[ScheduleRun, str]:
        """Begin a run, or go on with its session; return how it stands then, and why it failed."""
        try:
            again = bool(run.session_id)
            if not again:
                run = await self._first(schedule, run)
            live = await self._sessions.open(run.session_id)
            if again and live.session.status != Status.RUNNING and state_of(live)[1] in RETRIED:
                # Else the user has gone on with it.
                await self._try_again(run.session_id)
                live = await self._sessions.open(run.session_id)
        except MootError as error:
            return replace(run, state=RunState.FAILED, reason=error.code), error.code
        state, reason = state_of(live)
        return replace(run, state=state, reason=reason), reason if state == RunState.FAILED else ""

    async def _first(self, schedule: Schedule, run: ScheduleRun) -> ScheduleRun:
        """Give the command and follow it; its session is noted as soon as there is one."""
        begun: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        def tell(session_id: str) -> None:
            if session_id and not begun.done():
                begun.set_result(session_id)

        files = await self._files_of(schedule.files_of)
        following = start_owned(self.begin(schedule, files, tell), name=f"run {schedule.id}")
        try:
            either: set[asyncio.Future[Any]] = {begun, following}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not begun.done():
                await following
                return run
            run = replace(run, session_id=begun.result())
            # From here on its session says what came of it, whatever could not be written.
            with contextlib.suppress(MootError):
                await self._note(run)
                await self._sessions.move(run.session_id, await self._folder_of(schedule))
            with contextlib.suppress(MootError):
                await following
        finally:
            await end_tasks(following)
        return run

    async def _folder_of(self, schedule: Schedule) -> str:
        """Return the id of the folder of a schedule's sessions, which is made where there is none."""
        known = self.get(schedule.id) or schedule
        if self._folders.get(known.folder) is not None:
            return known.folder
        folder = await self._folders.save(Folder(id="", name=known.name))
        if self.get(schedule.id) is not None:
            await self.change(schedule.id, lambda found: replace(found, folder=folder.id))
        return folder.id

    async def _pause_failing(self, schedule: Schedule) -> None:
        """Pause a schedule whose last runs have all failed, and say so."""
        known = self.get(schedule.id)
        since = known.since if known is not None else ""
        ended = [run for run in self.runs(schedule.id) if run.state != RunState.MISSED and run.at >= since]
        failed = [run for run in ended[:MOST_FAILURES] if run.state == RunState.FAILED]
        if len(failed) == MOST_FAILURES and known is not None and not known.paused:
            reason = failed[0].reason
            await self.change(schedule.id, lambda found: replace(found, paused=True, reason=reason))
            self._tell_of("schedule_failed", name=schedule.name, count=MOST_FAILURES)

    # What is known

    def _known(self) -> dict[str, list[ScheduleRun]]:
        """Return the runs of each schedule that can be understood, the first due first."""
        runs = self._documents.schedule_runs() or ()
        if self._found[0] is not runs:
            found: dict[str, list[ScheduleRun]] = {}
            for run in sorted(runs, key=attrgetter("due")):
                if run.state in _STATES and is_moment(run.due):
                    found.setdefault(run.schedule, []).append(run)
            self._found = (runs, found)
        return self._found[1]

    def _has_begun(self, schedule: Schedule, due: datetime) -> bool:
        """Say whether a time was noted and its run began, whatever the clock was then."""
        noted = _noted(schedule, due, RunState.MISSED, "").due
        runs = self._known().get(schedule.id, [])
        place = bisect_left(runs, noted, key=attrgetter("due"))
        found = runs[place : place + 1]
        return any(run.due == noted and (run.session_id or run.state != RunState.MISSED) for run in found)

    def _handled(self, schedule: Schedule, now: datetime) -> tuple[datetime, bool]:
        """Return the last time that was noted, else when it was made, as the user's day and time; and
        whether the clock was ahead when something was noted, so that this holds for now only.
        """
        latest, runs = stamp(now + _AHEAD), self._known().get(schedule.id, [])
        since = datetime.fromisoformat(schedule.since) if schedule.since else self._began
        is_ahead = since > now or self._documents.schedule_runs() is None
        if is_ahead:
            # The clock was ahead, or nobody knows what ran.
            since = self._began
        after = max(day_time(since, self.clock.zone()), day_time(now - FAR_BACK, self.clock.zone()))
        counted = [run.due for run in runs if run.at <= latest]
        last = max(after, datetime.fromisoformat(counted[-1])) if counted else after
        return last, is_ahead or len(counted) < len(runs)

    def _dues(self, schedule: Schedule, now: datetime) -> list[datetime]:
        """Return the days and times that have come and were not noted yet."""
        found = dues(schedule, self._handled(schedule, now)[0], now, self.clock.zone())
        return [due for due in found if not self._has_begun(schedule, due)]

    def _here(self) -> Here:
        """Return the time in UTC, the zone of the user's day, and how far that is from UTC now."""
        now, zone = self.clock.now(), self.clock.zone()
        return now, zone, now.astimezone(zone).utcoffset()

    def _due(self, schedule: Schedule, here: Here) -> datetime | None:
        """Return the next day and time that was not noted yet; it may have come."""
        (now, _zone, offset), runs = here, self._documents.schedule_runs()
        known = self._next.get(schedule.id)
        is_so = known is not None and known[0] is schedule and known[1] is runs and known[2] == offset
        if known is not None and is_so and known[3] <= now:
            return known[4]
        after, is_ahead = self._handled(schedule, now)
        due = due_after(schedule, after)
        while due is not None and self._has_begun(schedule, due):
            due = due_after(schedule, due)
        if not is_ahead:
            self._next[schedule.id] = (schedule, runs, offset, now, due)
        return due

    def _is_under_way(self, schedule: Schedule) -> bool:
        if self.is_running(schedule.id):
            return True
        last = next((run for run in reversed(self._known().get(schedule.id, [])) if run.session_id), None)
        # In one that ran to its end the user may go on.
        return (
            last is not None
            and last.state != RunState.RAN
            and any(each.id == last.session_id and each.status in _UNDER_WAY for each in self._summaries())
        )

    async def _files_of(self, schedule_id: str) -> list[str]:
        """Return the paths of the files that the last whole run of a schedule has made, none without a
        schedule.
        """
        there = {each.id for each in self._summaries()}
        ran = [run.session_id for run in self.runs(schedule_id) if run.state == RunState.RAN]
        session_id = next((each for each in ran if each in there), "")
        if not session_id:
            return []
        folder = Path(self._files.folder(session_id))
        return [str(folder / version.path) for version in await self._files.list(session_id)]

    def _as_they_are(self, runs: Iterable[ScheduleRun]) -> list[ScheduleRun]:
        """Return runs with the states that their sessions have by now: the user may have gone on with one."""
        known = {summary.id: summary for summary in self._summaries()}

        def now(run: ScheduleRun) -> ScheduleRun:
            summary = known.get(run.session_id)
            if summary is None or run.state == RunState.MISSED:
                return run
            if summary.status == Status.RUNNING:
                return replace(run, state=RunState.RUNNING, reason="")
            return replace(run, state=RunState.RAN, reason="") if _is_done(summary) else run

        return [now(run) for run in runs]

    # What is kept and told

    async def _note(self, *runs: ScheduleRun) -> None:
        """Keep what came of times, of very many of one schedule only the newest. Raises StorageError."""
        new = {run.id: run for run in runs}

        def change(known: tuple[ScheduleRun, ...]) -> tuple[ScheduleRun, ...]:
            kept = [run for run in known if run.id not in new] + list(new.values())
            counts = Counter(run.schedule for run in kept)
            rest: list[ScheduleRun] = []
            for run in kept:
                if counts[run.schedule] > MOST_LISTED:
                    counts[run.schedule] -= 1
                else:
                    rest.append(run)
            return tuple(rest)

        await self._documents.change_schedule_runs(change)

    async def _put_down(self) -> None:
        """Note as paused what ran when Moot ended: it never begins again by itself."""
        left = [run for runs in self._known().values() for run in runs if run.state == RunState.RUNNING]
        if left:
            cut = {"state": RunState.PAUSED, "reason": Reason.APP_RESTART}
            await self._note(*(replace(run, **cut) for run in left))

    def _until_next(self, looked: datetime) -> float:
        """Return for how many seconds nothing is due that was not when it was looked, at most until the
        next look.
        """
        here = self._here()
        times = (self.next_at(schedule, here) for schedule in self.all())
        first = min((at for at in times if at is not None and at > looked), default=None)
        return LOOK_S if first is None else min(LOOK_S, max(0.1, (first - self.clock.now()).total_seconds()))

    def _tell_missed(self, schedule: Schedule, run: ScheduleRun) -> None:
        missed = {"schedule": schedule.id, "name": schedule.name, "due": run.due, "reason": run.reason}
        self._bus.publish(ScheduleMissed(session_id="", **missed))

    def _tell_of(self, code: str, **details: object) -> None:
        self._bus.publish(Notice(session_id="", level="warning", code=code, details=details, sticky=True))

    def check(self, schedule: Schedule) -> None:
        """Raise BadInput where a schedule cannot be saved."""
        self._checked(schedule)

    def _checked(self, definition: Schedule) -> Schedule:
        schedule = super()._checked(definition)
        self._check_name(schedule)
        check_when(schedule)
        before = self.get(schedule.id)
        if before is not None and _WHEN(before) != _WHEN(schedule):
            # What came before it was due at these times is not missed.
            schedule = replace(schedule, since=stamp(self.clock.now()))
        return schedule

    def _check_name(self, schedule: Schedule) -> None:
        others = {normal(each.name).casefold() for each in self.all() if each.id != schedule.id}
        if normal(schedule.name).casefold() in others:
            raise BadInput("schedule_name_taken", name=schedule.name)

    def _free_id(self, wanted: str) -> str:
        free = super()._free_id(wanted)
        # What a deleted one has run is not this one's.
        return new_id() if free in self._known() else free


def check_when(schedule: Schedule) -> None:
    """Raise BadInput where a schedule does not say what runs and when."""
    match wrong_field(schedule):
        case "":
            return
        case "words":
            raise BadInput("schedule_command", commands=", ".join(SCHEDULED))
        case "time":
            raise BadInput("schedule_time", time=schedule.time[:40])
        case "date" if schedule.date:
            raise BadInput("schedule_time", time=f"{schedule.date} {schedule.time}"[:40])
    raise BadInput("schedule_when")


def when_text(schedule: Schedule, texts: Texts) -> str:
    """Return when a schedule is due: `Every week on Mon at 08:00`."""
    if schedule.every == Every.ONCE:
        return texts("schedule.when.once", date=schedule.date, time=schedule.time)
    weekly = schedule.every == Every.WEEK
    named = [texts(f"schedule.day.{WEEKDAYS[day]}") if weekly else str(day) for day in schedule.on]
    return texts(f"schedule.when.{schedule.every}", days=", ".join(named), time=schedule.time)


def due_text(due: datetime, texts: Texts) -> str:
    """Return a day and time at which a schedule is due in words; of another year with all its numbers."""
    date = texts("day.date", day=due.day, month=texts(f"month.{due.month}"))
    if due.year != datetime.now().astimezone().year:
        date = f"{due:%Y-%m-%d}"
    weekday = texts(f"schedule.day.{WEEKDAYS[due.weekday()]}")
    return texts("repeat.due", weekday=weekday, date=date, time=f"{due:%H:%M}")


def why_text(reason: str, texts: Texts) -> str:
    """Return why a time was missed, or a run failed or rests, in words; an unknown code unchanged."""
    for key in (f"schedule.why.{reason}", f"reason.{reason}", f"failure.{reason}", f"error.{reason}"):
        with contextlib.suppress(KeyError, IndexError):
            return texts(key)
    return reason


def _noted(schedule: Schedule, due: datetime, state: str, at: str, *, reason: str = "") -> ScheduleRun:
    when = due.isoformat(timespec="seconds")
    names = {"id": f"{schedule.id} {when}", "schedule": schedule.id, "due": when}
    return ScheduleRun(**names, state=state, at=at, reason=reason)


def _is_done(session: Session | SessionSummary) -> bool:
    """Say whether a session has come to its end and nothing went wrong."""
    code = main_code(session.reason)
    return (
        code != Reason.TOO_FEW
        if session.status == Status.COMPLETED
        else session.status == Status.IDLE and not code
    )


def state_of(live: LiveSession) -> tuple[RunState, str]:
    """Return what came of the run whose session this is, and why it did not end well."""
    session, code = live.session, main_code(live.session.reason)
    if _is_done(session):
        return RunState.RAN, ""
    failed = next((message.error for message in reversed(live.messages) if message.error), None)
    by_user = code in (Reason.BY_USER, Reason.APP_CLOSED) or at_limit(session)
    if session.status == Status.WAITING or by_user or code == Reason.CRITERIA_UNMET:
        return RunState.PAUSED, code or Reason.QUESTION
    return RunState.FAILED, failed.kind if failed else code


def repeated(live: LiveSession, known: Collection[str] = ()) -> Schedule:
    """Return a new schedule, due every morning, of sessions like this one. Raises BadInput.

    Of what is allowed in it this keeps Moot's own tools, and those of servers whose consent keys are `known`.
    """
    first, name = _first(live), live.session.title[:MAX_NAME].strip()
    files = tuple(first.attachments) if first is not None else ()
    words, who = words_of(live), _who(live.session)
    allowed = live.session.chat.always if live.session.chat is not None else ()
    own = tuple(key for key in allowed if key not in of_folder(allowed) and ("/" not in key or key in known))
    made = Schedule(id="", name=name, words=words, every=Every.DAY, time="08:00")
    return replace(made, attachments=files, who=who, allowed=own)


IN, ALLOW_FILE, DONE_MEANS = "--in", "--allow-file", "--done-means"
LIMIT_OPTIONS = {"minutes": "--budget-minutes", "calls": "--budget-calls", "usd": "--budget-usd"}


def values_of(words: Sequence[str], *options: str) -> tuple[dict[str, list[str]], tuple[str, ...]]:
    """Return the values of options in a command by these options, and the other words."""
    found: dict[str, list[str]] = {option: [] for option in options}
    rest: list[str] = []
    left = deque(words)
    while left:
        word = left.popleft()
        option, equals, value = word.partition("=")
        option = LIMIT_OPTIONS["usd"] if option == "--max-usd" else option
        if word == "--":
            rest += [word, *left]
            break
        if option in found and (equals or left):
            found[option].append(value if equals else left.popleft())
        else:
            rest.append(word)
    return found, tuple(rest)


def limits_of(words: Sequence[str], usual: RunLimits) -> RunLimits | None:
    """Return the limits that a command names, the others as `usual`; None where it names none."""
    found, _rest = values_of(words, *LIMIT_OPTIONS.values())
    named = {name: found[option][-1] for name, option in LIMIT_OPTIONS.items() if found[option]}
    with contextlib.suppress(ValueError):
        values = {name: float(text) if name == "usd" else int(text) for name, text in named.items()}
        return replace(usual, **values) if values else None  # type: ignore[arg-type]
    return None


def with_values(words: Sequence[str], values: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return a command whose options have these values, each as often as it has one."""
    (command, *rest) = values_of(words, *values)[1]
    given = [word for option, each in values.items() for value in each for word in _option(option, value)]
    return (command, *given, *rest)


def _first(live: LiveSession) -> Message | None:
    """Return what the user said first in a session."""
    return next((message for message in live.messages if message.role == Role.USER), None)


def words_of(live: LiveSession) -> tuple[str, ...]:
    """Return the command of the terminal that begins a session like this one.

    Its first message's text stands in it; what was attached to that does not. Raises BadInput for a session
    of another kind.
    """
    session = live.session
    first = _first(live)
    options = [word for each in session.criteria for word in _option(DONE_MEANS, each.text)]
    if debate := session.debate:
        for each in debate.participants:
            role = f":{each.role}" if each.role else ""
            options += _option("--participant", f"{each.name}={each.provider}/{each.model}{role}")
        options += [word for option in debate.options for word in _option("--option", option.text)]
        if council := debate.council:
            options += ["--rounds", str(council.wanted_rounds)] if council.wanted_rounds else []
            return ("council", *options, "--ends", council.ends, "--", debate.topic)
        ends = Ends.VERDICT if debate.concludes else Ends.VOTE if debate.votes else Ends.NONE
        options += ["--rounds", str(debate.rounds), "--mode", debate.mode, "--ends", ends]
        return ("debate", *options, "--", debate.topic)
    chat = session.chat
    if chat is None or first is None:
        raise BadInput("schedule_session", title=session.title)
    if chat.limits is not None:
        for name, option in LIMIT_OPTIONS.items():
            value = getattr(chat.limits, name)
            options += [option, str(value)] if value else []
    if chat.chosen_folder:
        options += [IN, chat.chosen_folder]
        options += [word for path in sorted(files_named(chat.always)) for word in _option(ALLOW_FILE, path)]
    if work := session.workflow:
        return ("workflow", "--definition", work.definition.id, *options, "--", work.command)
    if chat.effort not in ("", Effort.AUTO):
        options += ["--effort", chat.effort]
    who = session.group.name if session.group else chat.assistant_name
    return ("ask", *options, "--", who, first.content)


def _who(session: Session) -> str:
    """Return the id of whom the command that begins a session like this one names."""
    if session.workflow is not None:
        return session.workflow.definition.id
    if session.group is not None:
        return session.group.id
    return session.chat.assistant_id if session.chat is not None else ""


def named_now(schedule: Schedule, names: Mapping[str, str]) -> Schedule:
    """Return a schedule whose command says the name that whom it asks has now, one of `names` by their ids.

    In a command that was made from a session that stands between `--` and the text.
    """
    words = schedule.words
    if words[0] != "ask" or words[-3:-2] != ("--",) or schedule.who not in names:
        return schedule
    return replace(schedule, words=(*words[:-2], names[schedule.who], words[-1]))


def _option(name: str, value: str) -> tuple[str, ...]:
    """Return an option as it is typed, also with a value that begins as options do."""
    return (f"{name}={value}",) if value.startswith("-") else (name, value)
