"""When schedules are due: days, the 31st, zones, and clocks that are put forward and back."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from app.core.schedule import (
    MOST_LISTED,
    Every,
    Schedule,
    WallClock,
    day_time,
    due_after,
    dues,
    moment_of,
    wrong_field,
)

BERLIN = ZoneInfo("Europe/Berlin")
SEOUL = ZoneInfo("Asia/Seoul")


def wall(*parts: int) -> datetime:
    """Return a day and time without a zone."""
    return datetime(*parts)  # type: ignore[arg-type]  # noqa: DTZ001


def a_schedule(every: str, time: str = "08:00", **fields: object) -> Schedule:
    return Schedule(id="s", name="S", words=("ask", "a", "b"), every=every, time=time, **fields)  # type: ignore[arg-type]


def next_days(schedule: Schedule, after: str, count: int) -> list[str]:
    found, at = [], datetime.fromisoformat(after)
    for _ in range(count):
        due = due_after(schedule, at)
        assert due is not None and f"{due:%H:%M}" == schedule.time
        found.append(f"{due:%m-%d}")
        at = due
    return found


@pytest.mark.parametrize(
    ("schedule", "after", "days"),
    [
        (a_schedule(Every.DAY), "2026-11-30T07:59", ["11-30", "12-01", "12-02"]),
        (a_schedule(Every.DAY), "2026-11-30T08:00", ["12-01", "12-02"]),
        (
            a_schedule(Every.WEEKDAY),
            "2026-11-27T09:00",
            ["11-30", "12-01", "12-02", "12-03", "12-04", "12-07"],
        ),
        (a_schedule(Every.WEEK, on=(0, 3)), "2026-11-30T09:00", ["12-03", "12-07", "12-10"]),
        (a_schedule(Every.MONTH, on=(1, 15)), "2026-11-30T09:00", ["12-01", "12-15", "01-01"]),
        (a_schedule(Every.MONTH, on=(31,)), "2027-01-31T08:00", ["02-28", "03-31", "04-30", "05-31"]),
        (a_schedule(Every.MONTH, on=(30,)), "2028-01-30T08:00", ["02-29", "03-30", "04-30"]),
        (a_schedule(Every.MONTH, on=(28, 31)), "2027-02-01T08:00", ["02-28", "03-28", "03-31"]),
    ],
)
def test_the_days_on_which_it_is_due(schedule: Schedule, after: str, days: list[str]) -> None:
    assert next_days(schedule, after, len(days)) == days


def test_once_is_due_once() -> None:
    once = a_schedule(Every.ONCE, "18:30", date="2026-12-24")
    assert due_after(once, wall(2026, 12, 24, 18, 29)) == wall(2026, 12, 24, 18, 30)
    assert due_after(once, wall(2026, 12, 24, 18, 30)) is None
    assert due_after(a_schedule(Every.WEEK), wall(2026, 12, 1)) is None


def test_a_time_that_is_left_out_is_later_and_one_that_comes_twice_is_the_first() -> None:
    # At two o'clock the clocks of Berlin are put to three in spring, and at three to two in autumn.
    assert moment_of(wall(2027, 3, 28, 2, 30), BERLIN) == datetime(2027, 3, 28, 1, 30, tzinfo=UTC)
    assert day_time(datetime(2027, 3, 28, 1, 30, tzinfo=UTC), BERLIN) == wall(2027, 3, 28, 3, 30)
    assert moment_of(wall(2027, 10, 31, 2, 30), BERLIN) == datetime(2027, 10, 31, 0, 30, tzinfo=UTC)
    daily = a_schedule(Every.DAY, "02:30")
    until = datetime(2027, 11, 1, 2, 0, tzinfo=UTC)
    found = dues(daily, wall(2027, 10, 30, 12), until, BERLIN)
    assert found == [wall(2027, 10, 31, 2, 30), wall(2027, 11, 1, 2, 30)]


def test_who_travels_has_it_at_the_same_hour() -> None:
    daily = a_schedule(Every.DAY, "08:00")
    (due,) = dues(daily, wall(2026, 11, 30, 9), datetime(2026, 12, 1, 0, 0, tzinfo=UTC), SEOUL)
    assert moment_of(due, SEOUL) == datetime(2026, 11, 30, 23, 0, tzinfo=UTC)
    assert dues(daily, wall(2026, 11, 30, 9), datetime(2026, 12, 1, 6, 59, tzinfo=UTC), BERLIN) == []


def test_of_many_that_were_missed_the_newest_are_listed_and_none_of_long_ago() -> None:
    daily, now = a_schedule(Every.DAY), datetime(2026, 12, 1, 12, tzinfo=UTC)
    found = dues(daily, wall(1, 1, 1), now, UTC)
    assert (len(found), found[-1]) == (MOST_LISTED, wall(2026, 12, 1, 8))
    monthly = dues(a_schedule(Every.MONTH, on=(1,)), wall(1, 1, 1), now, UTC)
    assert (len(monthly), monthly[0]) == (37, wall(2023, 12, 1, 8))


def test_the_zone_is_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = WallClock()
    assert abs(clock.now() - datetime.now(UTC)) < timedelta(seconds=5)
    monkeypatch.setenv("TZ", "Asia/Seoul")
    assert clock.zone() == SEOUL
    monkeypatch.setenv("TZ", "No/Where")
    assert clock.zone() is None
    monkeypatch.delenv("TZ")
    assert clock.zone() is None


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({}, ""),
        ({"every": "hourly"}, "every"),
        *(
            ({"time": time}, "time")
            for time in ("25:61", "8:00", "08", "0800", "08:00:30", "08:00Z", "٠٨:٠٠", "")
        ),
        ({"every": Every.ONCE, "date": "2028-02-29"}, ""),
        *(
            ({"every": Every.ONCE, "date": date}, "date")
            for date in ("", "2027-02-29", "20261224", "2026-W50-1", "0001-01-01", "9999-12-31", "tomorrow")
        ),
        ({"date": "2026-12-24"}, "date"),
        ({"on": (1,)}, "on"),
        ({"every": Every.WEEK, "on": (0, 7)}, "on"),
        ({"every": Every.MONTH, "on": (31,)}, ""),
        ({"every": Every.MONTH, "on": (32,)}, "on"),
        ({"missed": "ask"}, "missed"),
        ({"since": "2026-11-30T08:00:00.000Z"}, ""),
        ({"since": "2026-11-30T08:00:00"}, "since"),
        ({"since": "yesterday"}, "since"),
        ({"words": ()}, "words"),
        ({"words": ("keys", "set")}, "words"),
    ],
)
def test_a_field_that_says_nothing_is_named(fields: dict[str, object], wrong: str) -> None:
    assert wrong_field(replace(a_schedule(Every.DAY), **fields)) == wrong  # type: ignore[arg-type]


def test_what_is_right_has_a_next_time_in_every_zone_and_month() -> None:
    for zone in (BERLIN, SEOUL, ZoneInfo("America/New_York"), ZoneInfo("Pacific/Kiritimati")):
        latest = a_schedule(Every.ONCE, "23:59", date="2999-12-31")
        due = due_after(latest, wall(2026, 12, 1))
        assert due is not None and day_time(moment_of(due, zone), zone) == due
    leap = a_schedule(Every.MONTH, "02:30", on=(29,))
    found = dues(leap, wall(2027, 1, 30), datetime(2028, 4, 1, tzinfo=UTC), BERLIN)
    # In March 2027 the clocks leave out what is due on the 28th only.
    assert [f"{due:%y-%m-%d}" for due in found[:3]] == ["27-02-28", "27-03-29", "27-04-29"]
    assert [f"{due:%y-%m-%d}" for due in found[-2:]] == ["28-02-29", "28-03-29"]
