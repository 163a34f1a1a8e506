"""Schedules on a real disk with a clock of their own, and an engine whose chats they begin."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from app.core.schedule import (
    Every,
    RunState,
    Schedule,
    WallClock,
)
from app.engine import schedules as module
from app.engine.schedules import Schedules
from app.storage.documents import JsonDocuments
from app.storage.paths import DataPaths
from tests.builders import Bench, a_bench, a_log_store
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
        # Here the thread outlives its process: what it was given is written before the next process reads.
        await self.documents.load()
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
