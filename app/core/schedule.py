"""Schedules: what runs by itself and when, and what came of each time it was due.

The rules of the calendar stand here alone. A schedule is due at a time of day where the user is; it is kept
without a zone, so that a user who travels has it at the same hour. A time that the clocks leave out is due as
much later as they were put forward, one that comes twice is due the first time, and a day that a month
does not have is its last one.
"""

import contextlib
import os
import re
import time
from collections import deque
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum
from typing import Protocol

from app.core.frozen import Frozen
from app.core.message import Attachment


class Every(StrEnum):
    """How often a schedule is due."""

    ONCE = "once"
    DAY = "day"
    WEEKDAY = "weekday"
    WEEK = "week"
    MONTH = "month"


class WhenMissed(StrEnum):
    """What becomes of a time at which Moot did not run: it runs as soon as it can, or is listed."""

    RUN = "run"
    SKIP = "skip"


# The commands of the terminal that a schedule can give.
SCHEDULED = ("ask", "council", "debate", "workflow")

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


class Schedule(Frozen):
    """What runs by itself, and when."""

    id: str
    name: str
    # The command that each run gives, as it is typed in a terminal, without the program's name.
    words: tuple[str, ...]
    every: str
    # The time of day, "HH:MM".
    time: str
    # The day of one that is due once, "YYYY-MM-DD".
    date: str = ""
    # Weekdays from 0 for Monday, or days of the month from 1; only for these two.
    on: tuple[int, ...] = ()
    missed: str = WhenMissed.RUN
    # From when on it is due (ISO 8601 in UTC).
    since: str = ""
    paused: bool = False
    # Why it is paused where the user did not do that: a Reason or a FailureKind.
    reason: str = ""
    # What goes with the first message of each run, besides the files that the command names.
    attachments: tuple[Attachment, ...] = ()
    # The id of the schedule whose last files each run is given, "" for none.
    files_of: str = ""
    # The id of the folder in which its sessions are.
    folder: str = ""
    # The id of the assistant, group, workflow or panel that the command names, as a name may change.
    who: str = ""
    # The consent keys of the tools that its runs may use without asking.
    allowed: tuple[str, ...] = ()
    version: int = 1


class RunState(StrEnum):
    """What became of a time at which a schedule was due."""

    RUNNING = "running"
    RAN = "ran"
    MISSED = "missed"
    FAILED = "failed"
    PAUSED = "paused"


class ScheduleRun(Frozen):
    """One time at which a schedule was due; it is kept before anything begins, so that nothing runs twice."""

    # Both of the next two, as nothing else tells two of them apart.
    id: str
    # The id of the schedule.
    schedule: str
    # When it was due, a time of day where the user is ("2026-11-30T08:00:00").
    due: str
    state: str
    # When this was written (ISO 8601 in UTC).
    at: str
    session_id: str = ""
    # Why it was missed, failed or paused: a Reason, a FailureKind or a WhyMissed.
    reason: str = ""


_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d", re.ASCII)
# Where every zone and every system can say what time it is.
_DATE = re.compile(r"2\d\d\d-\d\d-\d\d", re.ASCII)


def wrong_field(schedule: Schedule) -> str:
    """Return the name of a field that does not say what runs and when, "" for none."""
    days = range(7) if schedule.every == Every.WEEK else range(0)
    days = range(1, 32) if schedule.every == Every.MONTH else days
    once = schedule.every == Every.ONCE
    fits = {
        "every": schedule.every in tuple(Every),
        "time": _TIME.fullmatch(schedule.time),
        "date": _DATE.fullmatch(schedule.date) and is_moment(schedule.date) if once else not schedule.date,
        "on": bool(schedule.on) == bool(days) and set(schedule.on) <= set(days),
        "missed": schedule.missed in tuple(WhenMissed),
        "since": not schedule.since or is_moment(schedule.since, with_zone=True),
        "words": schedule.words[:1] and schedule.words[0] in SCHEDULED,
    }
    return next((name for name, good in fits.items() if not good), "")


def is_moment(text: str, *, with_zone: bool = False) -> bool:
    """Say whether a text is a day, or a day and time (ISO 8601), with a zone or without."""
    try:
        return (datetime.fromisoformat(text).tzinfo is not None) == with_zone
    except ValueError:
        return False


class WhyMissed(StrEnum):
    """Why a time was missed; each has a text `schedule.why.<why>`."""

    CLOSED = "closed"
    TOGETHER = "together"
    UNFINISHED = "unfinished"


class WallClock:
    """The time, and the zone of the user's day."""

    def now(self) -> datetime:
        """Return the time in UTC."""
        return datetime.now(UTC)

    def zone(self) -> tzinfo | None:
        """Return the zone that `TZ` names, None for the system's, which may have changed meanwhile."""
        if name := os.environ.get("TZ", "").removeprefix(":"):
            # Late, since every command in a terminal imports this module.
            from zoneinfo import ZoneInfo

            with contextlib.suppress(ValueError, OSError, KeyError):
                return ZoneInfo(name)
        if hasattr(time, "tzset"):
            time.tzset()
        return None


class LoginStart(Protocol):
    """Lets Moot start without a window when the user logs in to the computer."""

    # What was made for it: a file, or a place in the registry.
    place: str

    def is_installed(self) -> bool:
        """Say whether it is so now; blocks for a moment."""

    def install(self) -> None:
        """Make it so. Raises StorageError."""

    def remove(self) -> None:
        """Let it be so no longer. Raises StorageError."""


# How far back times that were missed are listed, and how many of one schedule.
FAR_BACK = timedelta(days=3 * 366)
MOST_LISTED = 1_000
# The most days between two times: from 31 January on, one on the 30th is due on the last of February.
_MOST_DAYS = 32


def day_time(moment: datetime, zone: tzinfo | None) -> datetime:
    """Return a time in UTC as day and time in a zone, without the zone."""
    return moment.astimezone(zone).replace(tzinfo=None)


def moment_of(due: datetime, zone: tzinfo | None) -> datetime:
    """Return when a day and time of a zone is, in UTC."""
    return (due.replace(tzinfo=zone) if zone else due).astimezone(UTC)


def due_after(schedule: Schedule, after: datetime) -> datetime | None:
    """Return the next day and time at which a schedule is due, None where there is none."""
    hour, minute = map(int, schedule.time.split(":"))
    day = datetime.fromisoformat(schedule.date) if schedule.every == Every.ONCE else after
    due = day.replace(hour=hour, minute=minute, second=0, microsecond=0)
    if schedule.every == Every.ONCE:
        return due if due > after else None
    for _ in range(_MOST_DAYS):
        if due > after and _falls_on(schedule, due):
            return due
        due += timedelta(days=1)
    return None


def dues(schedule: Schedule, after: datetime, until: datetime, zone: tzinfo | None) -> list[datetime]:
    """Return the days and times after one at which a schedule was due until another, a time in UTC.

    Of very many only the newest.
    """
    found: deque[datetime] = deque(maxlen=MOST_LISTED)
    after = max(after, day_time(until - FAR_BACK, zone))
    while (due := due_after(schedule, after)) is not None and moment_of(due, zone) <= until:
        found.append(due)
        after = due
    return list(found)


def _falls_on(schedule: Schedule, day: datetime) -> bool:
    match schedule.every:
        case Every.WEEKDAY:
            return day.weekday() < 5
        case Every.WEEK:
            return day.weekday() in schedule.on
        case Every.MONTH:
            is_last = (day + timedelta(days=1)).day == 1
            return day.day in schedule.on or (is_last and max(schedule.on, default=0) > day.day)
    return True
