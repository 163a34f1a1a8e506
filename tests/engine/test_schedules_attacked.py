"""Schedules under attack: wrong clocks and files, full disks, two hands at once, and what users do meanwhile."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from app.cli.arguments import parse_arguments
from app.cli.printing.lines import load_texts
from app.core.definitions import Effort
from app.core.errors import BadInput, FailureKind, ProviderError, StorageError
from app.core.events import Notice
from app.core.ids import stamp
from app.core.owned_tasks import end_tasks
from app.core.schedule import (
    RunState,
    Schedule,
    ScheduleRun,
    WhenMissed,
    WhyMissed,
)
from app.core.session import Reason, Status
from app.core.tool import ToolResult
from app.engine.schedules import words_of
from tests.builders import Hang, a_bench, a_log_store, until
from tests.engine.schedule_world import OwnClock, World, daily, world
from tests.engine.test_turn import a_tool, agent, calling

__all__ = ["world"]


async def keep_until(world: World, done: Callable[[], bool]) -> list[float]:
    """Keep schedules until something is so, and return how long was slept each time."""
    slept: list[float] = []
    rest = world.rest

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        await rest(seconds)
        await asyncio.sleep(0.005)

    world.schedules._sleep = sleep
    keeping = asyncio.create_task(world.schedules.keep())
    await until(lambda: done() or keeping.done())
    assert not keeping.done()
    await end_tasks(keeping)
    return slept


async def test_a_file_that_says_nothing_is_left_alone_and_reported(world: World) -> None:
    made = await world.schedules.make(daily())
    folder = world.root / "schedules"
    good = (folder / f"{made.id}.json").read_text("utf-8")
    changes = {
        "time": ('"08:00"', '"25:61"'),
        "every": ('"day"', '"hourly"'),
        "since": ('"since": "2', '"since": "x2'),
    }
    for name, (before, after) in changes.items():
        assert before in good
        text = good.replace(before, after).replace(f'"id": "{made.id}"', f'"id": "{name}"')
        (folder / f"{name}.json").write_text(text, "utf-8")
    await world.start()
    assert [each.id for each in world.schedules.all()] == [made.id]
    assert sorted(problem.field for problem in world.documents.problems()) == sorted(changes)
    await world.look("2026-12-01T08:00:00")
    assert world.begun == [(made.id, "2026-12-01T08:00:00")]
    assert sorted(path.stem for path in folder.glob("*.json")) == sorted([made.id, *changes])


async def test_a_run_that_cannot_be_understood_counts_for_nothing_and_stays(world: World) -> None:
    made = await world.schedules.make(daily())
    at = stamp(world.clock.now())
    odd = [("x", "noon", "ran"), ("y", "2026-11-30T08:00:00+01:00", "ran"), ("z", "2026-12-01T08:00:00", "?")]
    runs = tuple(
        ScheduleRun(id=id_, schedule=made.id, due=due, state=state, at=at) for id_, due, state in odd
    )
    await world.documents.change_schedule_runs(lambda _: runs)
    await world.look("2026-12-01T08:00:00")
    assert world.states(made.id) == [("12-01T08:00", "ran", "")]
    assert [run.id for run in world.rows(made.id)] == ["x", "y", "z", f"{made.id} 2026-12-01T08:00:00"]


@pytest.mark.parametrize(("other", "count"), [("2025-11-01T12:00:00", 0), ("2027-11-30T12:00:00", 1)])
async def test_a_clock_that_is_put_right_lets_it_go_on(world: World, other: str, count: int) -> None:
    """Also where nothing was noted meanwhile: a computer begins with a wrong time, and gets the right one."""
    made = await world.schedules.make(daily())
    await world.look("2026-12-01T08:00:00")
    world.clock.to(other)
    await world.start()
    if count:
        await world.look()
    # The window asks when something is due next.
    assert world.schedules.is_active()
    await world.look("2026-12-01T09:00:00")
    assert len(world.begun) == 1 + count
    assert world.schedules.next_at(made) == datetime(2026, 12, 2, 7, tzinfo=UTC)
    await world.look("2026-12-02T08:00:00")
    assert world.begun[-1] == (made.id, "2026-12-02T08:00:00") and len(world.begun) == 2 + count


async def test_a_clock_that_is_put_back_lets_nothing_run_twice(world: World) -> None:
    made = await world.schedules.make(daily())
    await world.look("2026-12-01T11:00:00")
    await world.start()
    await world.look("2026-12-01T08:30:00")
    await world.look("2026-12-01T11:30:00")
    assert world.begun == [(made.id, "2026-12-01T08:00:00")]


async def test_who_flies_east_before_the_first_run_has_it_the_day_after(world: World) -> None:
    zones = [ZoneInfo("America/New_York")]
    world.clock.zone = lambda: zones[-1]  # type: ignore[method-assign]
    world.clock.time = datetime(2026, 12, 1, 1, 0, tzinfo=UTC)
    made = await world.schedules.make(daily())
    assert world.schedules.next_at(world.schedules.find(made.id)) == datetime(2026, 12, 1, 13, tzinfo=UTC)
    zones.append(ZoneInfo("Asia/Seoul"))
    await world.look()
    assert world.begun == [] and world.schedules.next_at(made) == datetime(2026, 12, 1, 23, tzinfo=UTC)


@pytest.mark.parametrize("written", [False, True])
@pytest.mark.parametrize("note", [1, 2, 3])
async def test_a_kill_at_any_note_lets_nothing_run_twice(world: World, note: int, written: bool) -> None:
    """Right before or after the first, second or third write of a run."""
    made = await world.schedules.make(daily())
    change, notes, there = world.documents.change_schedule_runs, 0, asyncio.Event()

    async def cut(make: Callable[[tuple[ScheduleRun, ...]], tuple[ScheduleRun, ...]]) -> None:
        nonlocal notes
        notes += 1
        if notes < note or written:
            await change(make)
        if notes == note:
            there.set()
            await asyncio.Event().wait()

    world.documents.change_schedule_runs = cut  # type: ignore[assignment,method-assign]
    world.clock.to("2026-12-01T08:00:00")
    looking = asyncio.create_task(world.schedules.look())
    await there.wait()
    await end_tasks(looking)
    await world.kill()
    await world.look("2026-12-01T08:00:30")
    await world.look("2026-12-01T08:01:00")
    begins_later = note == 1 and not written
    assert len(world.begun) == (0 if note == 1 and written else 1)
    (state,) = [state for _, state, _ in world.states(made.id)]
    # Where its session came to its end, that is what counts.
    assert state == (
        "ran" if begins_later or (note, written) in ((2, True), (3, False), (3, True)) else "paused"
    )


async def test_a_last_run_in_the_trash_does_not_keep_the_next_from_running(world: World) -> None:
    made = await world.schedules.make(daily())
    world.gate.clear()
    world.bench.models.script += [[Hang()]]
    await world.look("2026-12-01T08:00:00")
    await until(lambda: bool(world.bench.models.hanging) and bool(world.rows(made.id)[0].session_id))
    await world.bench.engine.delete(world.rows(made.id)[0].session_id)
    world.gate.set()
    await until(lambda: not world.schedules.is_running(made.id))
    await world.bench.engine.folders.delete(world.bench.engine.folders.find("Morning").id)
    await world.look("2026-12-02T08:00:00")
    assert [state for _, state, _ in world.states(made.id)] == ["failed", "ran"]
    (folder,) = world.bench.engine.folders.all()
    assert [each.folder for each in world.bench.engine.sessions()] == [folder.id]


async def test_two_at_once_begin_one_run(world: World) -> None:
    made = await world.schedules.make(daily())
    world.clock.to("2026-12-01T08:00:00")
    world.gate.clear()
    tries = [world.schedules.run_now(made.id), world.schedules.look(), world.schedules.run_now(made.id)]
    said = await asyncio.gather(*tries, return_exceptions=True)
    assert [each.code for each in said if isinstance(each, BadInput)] == ["schedule_runs"]
    world.gate.set()
    await until(lambda: not world.schedules.is_running(made.id))
    assert len(world.begun) == 1 and len(world.states(made.id)) in (1, 2)


async def test_what_was_missed_is_listed_also_where_the_user_runs_it_first(world: World) -> None:
    made = await world.schedules.make(daily())
    world.clock.to("2026-12-03T21:00:00")
    await world.start()
    await (await world.schedules.run_now(made.id))
    together = [(f"12-0{day}T08:00", "missed", WhyMissed.TOGETHER) for day in (1, 2, 3)]
    assert world.states(made.id) == [*together, ("12-03T21:00", "ran", "")]


async def test_of_many_that_are_only_listed_none_is_said_to_have_run(world: World) -> None:
    made = await world.schedules.make(daily(missed=WhenMissed.SKIP))
    await world.look("2026-12-03T21:00:00")
    assert [(state, why) for _, state, why in world.states(made.id)] == [("missed", WhyMissed.CLOSED)] * 3


async def test_what_the_user_says_in_the_last_session_does_not_keep_the_next_from_running(
    world: World,
) -> None:
    made = await world.schedules.make(daily())
    await world.look("2026-12-01T08:00:00")
    (ran,) = world.rows(made.id)
    summaries = world.schedules._summaries()
    world.schedules._summaries = lambda: [each._replace(status=Status.RUNNING) for each in summaries]
    assert [run.state for run in world.schedules.runs(made.id)] == [RunState.RUNNING]
    await world.look("2026-12-02T08:00:00")
    assert [due[:10] for _, due in world.begun] == ["2026-12-01", "2026-12-02"]
    assert ran.session_id


async def test_a_time_that_is_chosen_late_in_the_day_is_due_the_day_after(world: World) -> None:
    made = await world.schedules.make(daily(time="20:00"))
    await world.look("2026-12-01T20:00:00")
    world.clock.to("2026-12-02T12:00:00")
    saved, _ = await world.schedules.edit(made, replace(made, time="08:00"))
    assert world.schedules.next_at(saved) == datetime(2026, 12, 3, 7, tzinfo=UTC)
    await world.look()
    assert len(world.begun) == 1


async def test_what_a_run_notes_is_kept_where_the_user_edits_meanwhile(world: World) -> None:
    before = await world.schedules.make(daily())
    await world.look("2026-12-01T08:00:00")
    await world.schedules.pause(before.id)
    saved, joined = await world.schedules.edit(before, replace(before, name="Evening"))
    assert joined and saved.folder and saved.paused and saved.name == "Evening"


async def test_a_session_that_is_deleted_while_it_runs_is_a_failed_run(world: World) -> None:
    made = await world.schedules.make(daily())
    world.gate.clear()
    await world.look("2026-12-01T08:00:00")
    await until(lambda: any(run.session_id for run in world.rows(made.id)))
    await world.bench.engine.delete(world.rows(made.id)[0].session_id)
    world.gate.set()
    await until(lambda: not world.schedules.is_running(made.id))
    assert world.states(made.id) == [("12-01T08:00", "failed", "session_not_found")]


async def test_a_command_that_begins_no_session_is_a_failed_run(world: World) -> None:
    made = await world.schedules.make(daily())
    world.schedules.begin = lambda *_: asyncio.sleep(0)
    await world.look("2026-12-01T08:00:00")
    assert world.states(made.id) == [("12-01T08:00", "failed", "session_not_found")]


@pytest.mark.allow_logs
async def test_a_fault_is_a_failed_run_and_keeps_its_session(world: World) -> None:
    made = await world.schedules.make(daily())

    async def begin(schedule: Schedule, files: Sequence[str], tell: Callable[[str], None]) -> None:
        tell(await world.bench.engine.chats.start("main", schedule.words[-1]))
        await until(lambda: any(run.session_id for run in world.rows(schedule.id)))
        raise RuntimeError

    world.schedules.begin = begin
    await world.look("2026-12-01T08:00:00")
    (run,) = world.rows(made.id)
    assert (run.state, run.reason, bool(run.session_id)) == (RunState.FAILED, Reason.FAULT, True)


async def test_a_command_that_fails_after_its_session_began_begins_no_other(world: World) -> None:
    made = await world.schedules.make(daily())

    async def begin(schedule: Schedule, files: Sequence[str], tell: Callable[[str], None]) -> None:
        session_id = await world.bench.engine.chats.start("main", schedule.words[-1])
        tell(session_id)
        await world.bench.engine.wait(session_id)
        raise BadInput(FailureKind.NETWORK)

    world.schedules.begin = begin
    await world.look("2026-12-01T08:00:00")
    assert world.states(made.id) == [("12-01T08:00", "ran", "")]
    assert len(world.bench.engine.sessions()) == 1


async def test_a_schedule_that_is_removed_is_tried_no_longer(world: World) -> None:
    made = await world.schedules.make(daily())
    world.trouble = [BadInput(FailureKind.NETWORK)] * 61
    removed = asyncio.Event()

    async def rest(seconds: float) -> None:
        if not removed.is_set():
            removed.set()
            await world.schedules.delete(made.id)

    world.schedules._sleep = rest
    await world.look("2026-12-01T08:00:00")
    assert len(world.begun) == 2
    assert world.states(made.id) == [("12-01T08:00", "missed", FailureKind.NETWORK)]


async def test_after_the_user_resumes_it_three_more_failures_pause_it(world: World) -> None:
    made = await world.schedules.make(daily())
    world.trouble = [BadInput("nobody_called", who="main")] * 6
    for day in (1, 2, 3):
        await world.look(f"2026-12-0{day}T08:00:00")
    world.clock.to("2026-12-03T12:00:00")
    await world.schedules.pause(made.id, paused=False)
    for day in (4, 5, 6):
        assert not world.schedules.find(made.id).paused
        await world.look(f"2026-12-0{day}T08:00:00")
    assert world.schedules.find(made.id).paused


async def test_one_of_the_same_name_has_nothing_of_a_removed_one(world: World) -> None:
    first = await world.schedules.make(daily())
    await world.look("2026-12-01T08:00:00")
    kept = world.schedules.find(first.id)
    await world.schedules.delete(first.id)
    second = await world.schedules.make(daily())
    assert second.id != first.id and world.states(second.id) == []
    with pytest.raises(BadInput) as refused:
        await world.schedules.restore(kept)
    assert refused.value.code == "schedule_name_taken"
    await world.schedules.delete(second.id)
    await world.look("2026-12-05T12:00:00")
    await world.schedules.restore(kept)
    await world.look()
    # While it was in the trash nothing was missed.
    assert world.states(first.id) == [("12-01T08:00", "ran", "")] and len(world.begun) == 1


async def test_who_undoes_a_removal_at_once_misses_nothing(world: World) -> None:
    made = await world.schedules.make(daily())
    await world.look("2026-12-01T07:59:40")
    kept = world.schedules.find(made.id)
    await world.schedules.delete(made.id)
    await world.schedules.restore(kept)
    later = await world.schedules.make(replace(daily(time="08:00"), name="Just made"))
    await world.look("2026-12-01T08:00:10")
    assert sorted(world.begun) == sorted((each.id, "2026-12-01T08:00:00") for each in (made, later))


async def test_on_a_full_disk_nothing_begins_and_it_is_said_now_and_then(world: World) -> None:
    made = await world.schedules.make(daily())
    change = world.documents.change_schedule_runs

    async def full(_change: object) -> None:
        raise StorageError("disk_full", path="schedule_runs.json")

    world.documents.change_schedule_runs = full  # type: ignore[assignment,method-assign]
    world.clock.to("2026-12-01T07:59:50")
    slept: list[float] = []
    slept += await keep_until(world, lambda: world.clock.time > datetime(2026, 12, 1, 7, 5, tzinfo=UTC))
    said = [event for event in world.told if isinstance(event, Notice)]
    assert world.begun == [] and {event.code for event in said} == {"schedule_unwritten"}
    assert len(slept) <= 13 and len(said) <= 12
    world.documents.change_schedule_runs = change  # type: ignore[method-assign]
    await keep_until(world, lambda: bool(world.begun))
    assert world.begun == [(made.id, "2026-12-01T08:00:00")]


async def test_what_a_kill_has_left_is_paused_once_the_disk_has_room(world: World) -> None:
    made = await world.schedules.make(daily())
    left = ScheduleRun(id="x", schedule=made.id, due="2026-11-30T09:30:00", state=RunState.RUNNING, at="2026")
    await world.documents.change_schedule_runs(lambda _: (left,))
    change, tries = world.documents.change_schedule_runs, 0

    async def full(make: Callable[[tuple[ScheduleRun, ...]], tuple[ScheduleRun, ...]]) -> None:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise StorageError("disk_full", path="schedule_runs.json")
        await change(make)

    world.documents.change_schedule_runs = full  # type: ignore[assignment,method-assign]
    await keep_until(world, lambda: world.rows(made.id)[0].state == RunState.PAUSED)
    assert tries == 3


async def test_what_another_uses_are_the_files_of_the_last_whole_run(world: World) -> None:
    made, given = await world.schedules.make(daily()), []
    follows = await world.schedules.make(replace(daily(time="09:00", files_of=made.id), name="After"))
    await world.look("2026-12-01T08:00:00")
    (run,) = world.rows(made.id)
    await world.bench.engine.session_files.write(run.session_id, "list.md", lambda *_: b"milk")
    failed = replace(run, id="f", due="2026-12-01T08:30:00", session_id="", state=RunState.FAILED)
    await world.documents.change_schedule_runs(lambda runs: (*runs, failed))

    async def begin(schedule: Schedule, files: Sequence[str], tell: Callable[[str], None]) -> None:
        if schedule.id == follows.id:
            given.append([Path(path).read_bytes() for path in files])

    world.schedules.begin = begin
    await world.look("2026-12-01T09:00:00")
    assert given == [[b"milk"]]
    await world.bench.engine.delete(run.session_id)
    await world.look("2026-12-02T09:00:00")
    assert given == [[b"milk"], []]


async def test_a_keyring_that_is_unlocked_meanwhile_is_read_again(world: World) -> None:
    made = await world.schedules.make(daily())
    world.bench.models.script += [[ProviderError(FailureKind.NO_KEY, "remote0")]] * 3
    looked: list[int] = []
    refresh = world.bench.engine.keys._secrets.refresh

    async def noted(places: tuple[tuple[str, str], ...]) -> None:
        looked.append(len(world.bench.models.requests))
        await refresh(places)

    world.bench.engine.keys._secrets.refresh = noted  # type: ignore[method-assign]
    await world.look("2026-12-01T08:00:00")
    assert world.states(made.id) == [("12-01T08:00", "ran", "")]
    # Before each try but the first, in one session.
    assert looked == [1, 2, 3] and len(world.bench.engine.sessions()) == 1
    assert world.clock.time == datetime(2026, 12, 1, 7, 3, tzinfo=UTC)


async def test_what_the_user_has_tried_again_is_not_tried_once_more(world: World) -> None:
    made = await world.schedules.make(daily())
    world.bench.models.script += [[ProviderError(FailureKind.NETWORK, "")]]

    async def rest(seconds: float) -> None:
        (summary,) = world.bench.engine.sessions()
        await world.bench.engine._try_again(summary.id)

    world.schedules._sleep = rest
    await world.look("2026-12-01T08:00:00")
    assert world.states(made.id) == [("12-01T08:00", "ran", "")]
    assert len(world.bench.models.requests) == 2


async def test_what_needs_approval_waits_for_the_user_and_is_never_carried_out(data_dir: Path) -> None:
    ran: list[object] = []

    async def run(arguments: object, context: object) -> ToolResult:
        ran.append(arguments)
        return ToolResult(content="gone")

    tool = a_tool("delete", run, asks=True, repeatable=False)
    store = a_log_store(data_dir)
    await asyncio.to_thread(store.prepare)
    bench = a_bench(store, agents=(agent(tools=("delete",)),), tools=(tool,), files=data_dir)
    bench.models.script += [calling(("delete", {"number": 1}))]
    world = World(bench, data_dir, OwnClock())
    await world.start()
    made = await world.schedules.make(daily())
    await world.look("2026-12-01T08:00:00")
    await world.look("2026-12-02T08:00:00")
    assert world.states(made.id) == [
        ("12-01T08:00", "paused", "question"),
        ("12-02T08:00", "missed", WhyMissed.UNFINISHED),
    ]
    (row,) = bench.engine.work.needing(await asyncio.to_thread(lambda: load_texts("en")))
    assert (row.needs, row.action, ran) == ("approval", "answer", [])
    ((session_id, asked),) = bench.engine.chats.needs_you()
    await bench.engine.chats.answer(session_id, asked.id, "deny")
    await bench.engine.wait(session_id)
    assert world.states(made.id)[0] == ("12-01T08:00", "ran", "") and ran == []
    await bench.engine.shutdown()


async def test_many_that_are_due_at_once_all_run(world: World) -> None:
    for number in range(20):
        await world.schedules.make(replace(daily(), name=f"S {number}"))
    await world.look("2026-12-01T08:00:00")
    assert Counter(run.state for run in world.documents.schedule_runs() or ()) == {"ran": 20}
    assert len(set(world.begun)) == len(world.begun) == 20


@pytest.mark.timeout(60)
async def test_the_oldest_of_very_many_runs_are_forgotten_quickly(world: World) -> None:
    made = await world.schedules.make(daily())
    first = datetime(2000, 1, 1, 8)  # noqa: DTZ001
    days = [(first + timedelta(days=day)).isoformat() for day in range(9_000)]
    old = tuple(
        ScheduleRun(id=f"{made.id} {day}", schedule=made.id, due=day, state="ran", at="2000") for day in days
    )
    await world.documents.change_schedule_runs(lambda _: old)
    await world.look("2026-12-01T08:00:00")
    rows = world.rows(made.id)
    assert (len(rows), rows[-1].due, rows[0].due) == (1_000, "2026-12-01T08:00:00", days[-999])


async def test_the_command_of_a_session_is_read_again_as_it_was(world: World) -> None:
    engine = world.bench.engine
    session_id = await engine.chats.start(
        "main", "Hi", done_means=("-5 degrees", "--json"), effort=Effort.AUTO
    )
    words = words_of(await engine.open(session_id))
    read = await asyncio.to_thread(lambda: parse_arguments(words, load_texts("en")))
    assert read.values == {"assistant": "Main", "text": "Hi", "done_means": ("-5 degrees", "--json")}
