"""Schedules: what is due runs once, what was missed runs or is listed, on the real disk with a clock of its own."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from app.core.errors import BadInput, FailureKind
from app.core.events import Notice, ScheduleMissed
from app.core.ids import stamp
from app.core.schedule import Every, RunState, Schedule, WallClock, WhenMissed, WhyMissed, moment_of
from app.core.session import Reason
from app.engine import schedules as module
from app.engine.schedules import LATE, Schedules, words_of
from app.storage.documents import JsonDocuments
from app.storage.paths import DataPaths
from tests.builders import Bench, a_bench, a_log_store, until
from tests.engine.test_turn import agent

BERLIN = ZoneInfo("Europe/Berlin")


class OwnClock(WallClock):
    """A clock that stands until it is moved."""

    def __init__(self, day: str = "2026-11-30T09:00:00+00:00") -> None:
        self.time = datetime.fromisoformat(day)

    def now(self) -> datetime:
        return self.time

    def zone(self) -> tzinfo | None:
        return BERLIN

    def to(self, day: str) -> None:
        self.time = datetime.fromisoformat(day).replace(tzinfo=BERLIN).astimezone(UTC)


class World:
    """Schedules on a real disk, and an engine whose chats they begin; a chat may be held back by `gate`."""

    def __init__(self, bench: Bench, root: Path, clock: OwnClock) -> None:
        self.bench, self.clock, self.root = bench, clock, root
        self.begun: list[tuple[str, str]] = []
        self.told: list[object] = []
        bench.engine.bus.subscribe(self.told.extend)
        self.gate = asyncio.Event()
        self.gate.set()
        self.trouble: list[Exception] = []

    async def start(self) -> None:
        """Open everything anew, as after a start of the program."""
        self.documents = JsonDocuments(DataPaths(self.root))
        await self.documents.load()
        engine = self.bench.engine
        self.schedules = Schedules(
            self.documents,
            engine.bus,
            lambda: "en",
            {},
            engine.folders,
            engine._sessions,
            engine.sessions,
            engine.session_files,
            engine._try_again,
            self.clock,
            self.rest,
        )
        self.schedules.begin = self.begin
        await self.schedules._put_down()

    async def rest(self, seconds: float) -> None:
        self.clock.time += timedelta(seconds=seconds)
        await asyncio.sleep(0)

    async def begin(self, schedule: Schedule, files: Sequence[str], tell: Callable[[str], None]) -> None:
        (due,) = (run.due for run in self.rows(schedule.id) if run.state == RunState.RUNNING)
        self.begun.append((schedule.id, due))
        if self.trouble:
            raise self.trouble.pop(0)
        tell(session_id := await self.bench.engine.chats.start("main", schedule.words[-1]))
        await self.bench.engine.wait(session_id)
        await self.gate.wait()

    def rows(self, schedule_id: str) -> list[module.ScheduleRun]:
        return [run for run in self.documents.schedule_runs() or () if run.schedule == schedule_id]

    async def look(self, at: str = "") -> None:
        """Look at a time, and let what begins come to its end."""
        if at:
            self.clock.to(at)
        await self.schedules.look()
        if self.gate.is_set():
            await asyncio.gather(*self.schedules._tasks.values(), return_exceptions=True)

    async def kill(self) -> None:
        """End as a kill does: nothing more is written."""
        tasks = list(self.schedules._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.gate.set()
        await self.start()

    def states(self, schedule_id: str) -> list[tuple[str, str, str]]:
        found = self.schedules.runs(schedule_id)
        return [(run.due[5:16], run.state, run.reason) for run in reversed(found)]


@pytest.fixture
async def world(data_dir: Path) -> AsyncIterator[World]:
    store = a_log_store(data_dir)
    await asyncio.to_thread(store.prepare)
    bench = a_bench(store, agents=(agent(),), files=data_dir)
    made = World(bench, data_dir, OwnClock())
    await made.start()
    yield made
    await bench.engine.shutdown()


def daily(**fields: object) -> Schedule:
    usual: dict[str, object] = {"every": Every.DAY, "time": "08:00", "words": ("ask", "main", "What is new?")}
    return Schedule(id="", name="Morning", **{**usual, **fields})  # type: ignore[arg-type]


async def test_what_is_due_runs_once_in_a_session_of_its_own_in_one_folder(world: World) -> None:
    made = await world.schedules.make(daily())
    assert world.schedules.next_at(made) == datetime(2026, 12, 1, 7, tzinfo=UTC)
    await world.look("2026-12-01T07:59:59")
    assert world.begun == []
    await world.look("2026-12-01T08:00:00")
    await world.look("2026-12-01T08:00:30")
    await world.look("2026-12-02T08:01:00")
    assert world.states(made.id) == [("12-01T08:00", "ran", ""), ("12-02T08:00", "ran", "")]
    first, second = (run.session_id for run in world.rows(made.id))
    assert first != second
    summaries = {each.id: each for each in world.bench.engine.sessions()}
    folder = world.bench.engine.folders.find("Morning").id
    assert {summaries[first].folder, summaries[second].folder} == {folder}
    assert world.schedules.next_at(made) == datetime(2026, 12, 3, 7, tzinfo=UTC)


async def test_what_was_missed_runs_at_the_next_start_once_for_all(world: World) -> None:
    made = await world.schedules.make(daily())
    await world.start()
    await world.look("2026-12-03T21:00:00")
    together = [(f"12-0{day}T08:00", "missed", WhyMissed.TOGETHER) for day in (1, 2)]
    assert world.states(made.id) == [*together, ("12-03T08:00", "ran", "")]
    missed = [event for event in world.told if isinstance(event, ScheduleMissed)]
    assert [(event.name, event.due, event.reason) for event in missed] == [
        ("Morning", "2026-12-02T08:00:00", WhyMissed.TOGETHER)
    ]
    assert [run.due[5:10] for run in world.schedules.since(stamp(world.clock.time - timedelta(days=1)))] == [
        "12-01",
        "12-02",
        "12-03",
    ]


async def test_what_was_missed_is_listed_where_the_user_wants_that(world: World) -> None:
    made = await world.schedules.make(daily(missed=WhenMissed.SKIP))
    await world.look("2026-12-01T08:05:00")
    await world.look("2026-12-02T08:05:01")
    assert timedelta(minutes=5) == LATE
    assert world.states(made.id) == [("12-01T08:00", "ran", ""), ("12-02T08:00", "missed", WhyMissed.CLOSED)]


async def test_while_the_last_is_unfinished_the_next_is_missed(world: World) -> None:
    made = await world.schedules.make(daily())
    world.gate.clear()
    await world.look("2026-12-01T08:00:00")
    await world.look("2026-12-02T08:00:00")
    world.gate.set()
    await until(lambda: not world.schedules.is_running(made.id))
    await world.look("2026-12-03T08:00:00")
    assert world.states(made.id) == [
        ("12-01T08:00", "ran", ""),
        ("12-02T08:00", "missed", WhyMissed.UNFINISHED),
        ("12-03T08:00", "ran", ""),
    ]


async def test_what_a_kill_cuts_is_paused_and_never_begins_again(world: World) -> None:
    made = await world.schedules.make(daily())
    world.gate.clear()
    await world.look("2026-12-01T08:00:00")
    await until(lambda: len(world.begun) == 1)
    await world.kill()
    (run,) = world.rows(made.id)
    assert (run.state, run.reason) == (RunState.PAUSED, Reason.APP_RESTART)
    await world.look("2026-12-01T08:00:30")
    assert len(world.begun) == 1
    await world.look("2026-12-02T08:00:00")
    assert [due for _, due in world.begun] == ["2026-12-01T08:00:00", "2026-12-02T08:00:00"]


async def test_without_network_it_is_tried_for_an_hour_and_then_missed(world: World) -> None:
    made = await world.schedules.make(daily())
    world.trouble = [BadInput(FailureKind.NETWORK)] * 61
    await world.look("2026-12-01T08:00:00")
    assert world.states(made.id) == [("12-01T08:00", "missed", FailureKind.NETWORK)]
    assert (len(world.begun), world.clock.time) == (61, datetime(2026, 12, 1, 8, 0, tzinfo=UTC))
    world.trouble = [BadInput(FailureKind.NO_KEY)] * 2
    await world.look("2026-12-02T08:00:00")
    assert (world.states(made.id)[-1], len(world.begun)) == (("12-02T08:00", "ran", ""), 64)


async def test_after_three_failures_in_a_row_it_is_paused_and_says_so(world: World) -> None:
    made = await world.schedules.make(daily())
    for day in (1, 2, 4, 5, 6):
        world.trouble = [BadInput("nobody_called", who="main")] if day != 2 else []
        await world.look(f"2026-12-0{day}T08:00:00")
        assert world.schedules.find("morning").paused == (day == 6)
    assert world.schedules.find(made.id).reason == "nobody_called"
    notices = [event for event in world.told if isinstance(event, Notice) and event.code == "schedule_failed"]
    assert [event.details for event in notices] == [{"name": "Morning", "count": 3}]
    await world.look("2026-12-07T08:00:00")
    assert len(world.begun) == 5
    again = await world.schedules.pause(made.id, paused=False)
    assert (again.reason, world.schedules.next_at(again)) == ("", datetime(2026, 12, 8, 7, tzinfo=UTC))


async def test_a_clock_that_was_ahead_keeps_nothing_from_running(world: World) -> None:
    made = await world.schedules.make(daily())
    await world.look("2027-01-05T12:00:00")
    assert world.begun == [(made.id, "2027-01-05T08:00:00")]
    await world.look("2026-12-01T08:00:00")
    await world.look("2026-12-02T08:00:00")
    assert [due[:10] for _, due in world.begun] == ["2027-01-05", "2026-12-01", "2026-12-02"]


async def test_what_runs_by_hand_counts_and_is_not_begun_twice(world: World) -> None:
    made = await world.schedules.make(daily())
    world.gate.clear()
    task = await world.schedules.run_now(made.id)
    with pytest.raises(BadInput) as refused:
        await world.schedules.run_now(made.id)
    assert refused.value.code == "schedule_runs"
    world.gate.set()
    await task
    assert [state for _, state, _ in world.states(made.id)] == ["ran"]


async def test_a_removed_one_comes_back_with_what_it_ran(world: World) -> None:
    made = await world.schedules.make(daily())
    await world.look("2026-12-01T08:00:00")
    kept = world.schedules.find(made.id)
    await world.schedules.delete(made.id)
    await world.look("2026-12-02T08:00:00")
    assert len(world.begun) == 1
    await world.schedules.restore(kept)
    assert world.states(made.id) == [("12-01T08:00", "ran", "")]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"time": "24:00"}, "schedule_time"),
        ({"time": "8 o’clock"}, "schedule_time"),
        ({"every": Every.WEEK}, "schedule_when"),
        ({"every": Every.WEEK, "on": (7,)}, "schedule_when"),
        ({"every": Every.MONTH, "on": (0,)}, "schedule_when"),
        ({"every": Every.DAY, "on": (1,)}, "schedule_when"),
        ({"every": Every.ONCE}, "schedule_when"),
        ({"every": Every.ONCE, "date": "2026-13-01"}, "schedule_time"),
        ({"every": Every.ONCE, "date": "2026-11-30", "time": "09:59"}, "schedule_past"),
        ({"words": ()}, "schedule_command"),
        ({"words": ("keys", "set")}, "schedule_command"),
    ],
)
async def test_what_is_never_due_or_runs_nothing_is_refused(
    world: World, fields: dict[str, object], code: str
) -> None:
    with pytest.raises(BadInput) as refused:
        await world.schedules.make(daily(**fields))
    assert refused.value.code == code
    assert world.schedules.all() == ()


async def test_a_name_is_used_once(world: World) -> None:
    await world.schedules.make(daily())
    with pytest.raises(BadInput) as refused:
        await world.schedules.make(replace(daily(), name="mORNING"))
    assert refused.value.code == "schedule_name_taken"


async def test_a_session_says_with_which_command_it_began(world: World) -> None:
    session_id = await world.bench.engine.chats.start("main", "-n is new?", done_means=("It is short.",))
    live = await world.bench.engine.open(session_id)
    assert words_of(live) == ("ask", "--done-means", "It is short.", "--", "Main", "-n is new?")


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_a_year_in_which_every_time_runs_once_or_is_listed(world: World) -> None:
    """Three schedules, 40 sleeps, 20 kills, the two clock changes of Berlin, and a clock that is wrong once."""
    chance = random.Random(2027)
    clock = world.clock
    clock.to("2027-01-01T00:00:00")
    kinds = {
        "Daily": daily(time="02:30"),
        "Weekly": daily(every=Every.WEEK, on=(0, 3), missed=WhenMissed.SKIP),
        "Monthly": daily(every=Every.MONTH, on=(15, 31), time="23:55"),
    }
    made = {name: await world.schedules.make(replace(each, name=name)) for name, each in kinds.items()}
    begin, end = clock.time, datetime(2028, 1, 1, tzinfo=BERLIN).astimezone(UTC)
    steps = int((end - begin) / timedelta(minutes=5))
    sleeps = {chance.randrange(steps): chance.choice((30, 200, 1_000)) for _ in range(40)}
    kills, wrong = set(chance.sample(range(steps), 20)), chance.randrange(steps)
    awake_from, killed = 0, 0
    for step in range(steps):
        awake_from = max(awake_from, step + sleeps.get(step, 0))
        clock.time = begin + timedelta(minutes=5 * step)
        if step < awake_from:
            continue
        if step == wrong:
            clock.time += timedelta(days=400)
            await world.look()
            continue
        if step in kills:
            # In the middle of a run.
            world.gate.clear()
            for schedule in made.values():
                await world.schedules.run_now(schedule.id)
            await until(lambda: all(world.schedules.is_running(each.id) for each in made.values()))
            await world.kill()
            killed += 1
        await world.look()
    assert killed >= 15
    assert [due for due, count in Counter(world.begun).items() if count > 1] == []
    for schedule in made.values():
        noted = Counter(run.due for run in world.rows(schedule.id))
        assert set(noted.values()) == {1}
        day = datetime.fromisoformat("2027-01-01")
        while day.year == 2027:
            falls = {
                "Daily": True,
                "Weekly": day.weekday() in (0, 3),
                "Monthly": day.day == 15 or (day + timedelta(days=1)).day == 1,
            }[schedule.name]
            due = datetime.fromisoformat(f"{day:%Y-%m-%d}T{schedule.time}")
            if falls and begin < moment_of(due, BERLIN) < end - timedelta(days=4):
                assert noted[f"{due:%Y-%m-%dT%H:%M:%S}"] == 1, due
            day += timedelta(days=1)
