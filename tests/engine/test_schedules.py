"""Schedules: what is due runs once, what was missed runs or is listed, on the real disk with a clock of its own."""

import random
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.cli.arguments import parse_arguments
from app.cli.printing.lines import load_texts
from app.core.council import ANY_JUDGE, NO_JUDGE, Ends
from app.core.errors import BadInput, FailureKind
from app.core.events import EventBus, Notice, ScheduleMissed
from app.core.ids import stamp
from app.core.schedule import (
    Every,
    RunState,
    WhenMissed,
    WhyMissed,
    moment_of,
)
from app.core.session import OF_FOLDER, Chat, ChatSession, Council, DebateMode, Reason, Session, Status
from app.core.session_files import permission_for
from app.core.settings import RunLimits
from app.core.store import StoredSession
from app.engine.live_session import LiveSession
from app.engine.schedules import LATE, named_now, repeated, state_of, words_of
from tests.builders import a_debate, a_session, until
from tests.engine.schedule_world import BERLIN, World, daily, world

__all__ = ["world"]


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


async def test_times_that_were_missed_are_no_end_of_failures_in_a_row(world: World) -> None:
    made = await world.schedules.make(daily())
    for day in (1, 3, 5):
        world.trouble = [BadInput("nobody_called", who="main")]
        await world.look(f"2026-12-0{day}T08:00:00")
    assert [state for _, state, _ in world.states(made.id)] == [
        "failed", "missed", "failed", "missed", "failed",
    ]  # fmt: skip
    paused = world.schedules.find(made.id)
    assert (paused.paused, paused.reason) == (True, "nobody_called")


def opened(session: Session) -> LiveSession:
    return LiveSession(StoredSession(session=session, messages=[]), EventBus())


@pytest.mark.parametrize(
    ("status", "reason", "state", "why"),
    [
        (Status.IDLE, "", RunState.RAN, ""),
        (Status.COMPLETED, Reason.ROUNDS_DONE, RunState.RAN, ""),
        (Status.COMPLETED, Reason.TOO_FEW, RunState.FAILED, Reason.TOO_FEW),
        (Status.IDLE, Reason.NOT_ANSWERED, RunState.FAILED, Reason.NOT_ANSWERED),
        (Status.ERROR, Reason.FAULT, RunState.FAILED, Reason.FAULT),
        (Status.PAUSED, FailureKind.QUOTA, RunState.FAILED, FailureKind.QUOTA),
        (Status.WAITING, Reason.QUESTION, RunState.PAUSED, Reason.QUESTION),
        (Status.PAUSED, Reason.BY_USER, RunState.PAUSED, Reason.BY_USER),
        (Status.PAUSED, Reason.CRITERIA_UNMET, RunState.PAUSED, Reason.CRITERIA_UNMET),
        # Limits are the user's own: a run that they end has not failed.
        (Status.PAUSED, "budget_model_calls:500", RunState.PAUSED, Reason.BUDGET_MODEL_CALLS),
        (Status.PAUSED, "budget_cost:500", RunState.PAUSED, Reason.BUDGET_COST),
        (Status.PAUSED, "turns_limit:20", RunState.PAUSED, Reason.TURNS_LIMIT),
    ],
)
def test_what_came_of_a_run_is_what_its_session_says(status: str, reason: str, state: str, why: str) -> None:
    session = ChatSession(
        id="01s", title="What is new?", status=status, reason=reason, chat=Chat(assistant_id="main")
    )
    assert state_of(opened(session)) == (state, why)


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
    session_id = await world.bench.engine.chats.start(
        "main", "And now?", effort="high", limits=RunLimits(minutes=5, calls=40, usd=0.25)
    )
    budget = ("--budget-minutes", "5", "--budget-calls", "40", "--budget-usd", "0.25")
    live = await world.bench.engine.open(session_id)
    assert words_of(live) == ("ask", *budget, "--effort", "high", "--", "Main", "And now?")


async def test_a_repeated_session_brings_what_was_allowed_in_it_and_can_be_named(world: World) -> None:
    named = (permission_for("keys/id_rsa"), permission_for(".env"))
    always = (*OF_FOLDER, *named, "open_url", "abc/known", "abc/unknown")
    start = world.bench.engine.chats.start
    live = await world.bench.engine.open(await start("main", "Hi", chosen_folder="/data", always=always))
    made = repeated(live, {"abc/known"})
    files = ("--allow-file", ".env", "--allow-file", "keys/id_rsa")
    assert made.words == ("ask", "--in", "/data", *files, "--", "Main", "Hi")
    assert (made.who, made.allowed) == ("main", ("open_url", "abc/known"))


def test_only_a_name_that_certainly_is_one_is_said_anew() -> None:
    def now(*words: str, who: str = "main") -> tuple[str, ...]:
        return named_now(replace(daily(), words=words, who=who), {"main": "Mina"}).words

    assert now("ask", "--effort", "low", "--", "Main", "Hi") == ("ask", "--effort", "low", "--", "Mina", "Hi")
    for words in (("ask", "Main", "--", "Hi"), ("ask", "Main", "Hi"), ("ask",), ("debate", "--", "A", "B")):
        assert now(*words) == words
    assert now("ask", "--", "Main", "Hi", who="gone") == ("ask", "--", "Main", "Hi")


@pytest.mark.parametrize(
    ("fields", "ends"),
    [
        ({"judge": NO_JUDGE}, Ends.NONE),
        ({"final_ballots": True, "judge": NO_JUDGE}, Ends.VOTE),
        ({"polls": True, "judge": NO_JUDGE}, Ends.VOTE),
        ({"judge": ANY_JUDGE}, Ends.VERDICT),
        ({"final_ballots": True, "judge": ANY_JUDGE}, Ends.VERDICT),
        ({"polls": True}, Ends.VERDICT),
    ],
)
def test_a_debate_is_repeated_with_all_that_was_chosen_for_it(fields: dict[str, object], ends: Ends) -> None:
    debate = a_debate(2, rounds=4, **fields)
    one, two = debate.participants
    debate = replace(debate, participants=(one, replace(two, role="critic")))
    council = Council(ends=ends, wanted_rounds=2, rounds=5)
    common = {
        "participants": ("GPT=remote0/model-0", "Claude=remote1/model-1:critic"),
        "text": "Should cities ban cars?",
        "ends": ends.value,
    }
    for each, command, own in (
        (debate, "debate", {"rounds": 4, "mode": "round-robin"}),
        (replace(debate, mode=DebateMode.COUNCIL, council=council), "council", {"rounds": 2}),
    ):
        read = parse_arguments(words_of(opened(a_session(each))), load_texts("en"))
        assert (read.command, read.values) == (command, common | own)


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
