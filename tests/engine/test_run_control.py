"""Pausing, resuming, stopping, closing and failing to save, on the real engine and the real log."""

import asyncio
from pathlib import Path

import pytest

from app.core.errors import ProviderError, StorageError
from app.core.events import Notice, SessionDeleted
from app.core.message import MessageState
from app.core.session import Status
from tests.builders import (
    Bench,
    Hang,
    a_bench,
    a_log_store,
    a_setup,
    reopened,
    saved_states,
    start_and_hold,
    until,
)

RATE = ProviderError("rate_limit", "slow down")


async def test_pause_lets_the_turn_end_and_starts_no_other(bench: Bench) -> None:
    gate = asyncio.Event()
    session_id = await start_and_hold(bench, gate)
    await bench.engine.pause(session_id)
    assert bench.debate_of(session_id).status == Status.RUNNING
    gate.set()
    session = await bench.engine.wait(session_id)
    assert (session.status, session.reason) == (Status.PAUSED, "by_user")
    assert bench.states(session_id) == [("GPT", MessageState.DONE)]
    assert len(bench.models.requests) == 1


async def test_resume_before_the_pause_came_forgets_it(bench: Bench) -> None:
    gate = asyncio.Event()
    session_id = await start_and_hold(bench, gate)
    await bench.engine.pause(session_id)
    await bench.engine.resume(session_id)
    gate.set()
    assert (await bench.engine.wait(session_id)).status == Status.COMPLETED


async def test_pause_twice_cuts_at_once_and_the_turn_is_taken_again(bench: Bench, data_dir: Path) -> None:
    bench.models.script = [["Half a", Hang()]]
    session_id = await bench.engine.debates.start(a_setup(2, rounds=1))
    await until(lambda: bench.states(session_id) == [("GPT", "streaming")])
    await bench.engine.pause(session_id)
    await bench.engine.pause(session_id)
    assert (await bench.engine.wait(session_id)).status == Status.PAUSED
    assert await saved_states(bench, data_dir, session_id) == [("GPT", MessageState.STOPPED, "Half a")]
    assert bench.models.open == 0
    await bench.engine.resume(session_id)
    await bench.engine.wait(session_id)
    assert bench.states(session_id) == [
        ("GPT", MessageState.STOPPED),
        ("GPT", MessageState.DONE),
        ("Claude", MessageState.DONE),
    ]
    assert "Half a" not in str(bench.models.requests[1].messages)


async def test_pause_while_a_turn_waits_to_retry_is_at_once(bench: Bench) -> None:
    forever = asyncio.Event()

    async def sleep() -> None:
        await forever.wait()

    bench.time.on_sleep = sleep
    bench.models.script = [[RATE]]
    session_id = await bench.engine.debates.start(a_setup(2, rounds=1))
    await until(lambda: bool(bench.time.slept))
    await bench.engine.pause(session_id)
    session = await bench.engine.wait(session_id)
    assert (session.status, session.reason) == (Status.PAUSED, "by_user")
    assert bench.messages(session_id) == []


async def test_stop_closes_the_request_within_a_second_and_keeps_the_text(
    bench: Bench, data_dir: Path
) -> None:
    bench.models.script = [["Half a", Hang()]]
    session_id = await bench.engine.debates.start(a_setup(2))
    await until(lambda: bench.states(session_id) == [("GPT", "streaming")])
    started = asyncio.get_running_loop().time()
    await bench.engine.stop(session_id)
    assert asyncio.get_running_loop().time() - started < 1.0
    assert bench.models.open == 0
    session = bench.debate_of(session_id)
    assert (session.status, session.reason) == (Status.STOPPED, "by_user")
    assert await saved_states(bench, data_dir, session_id) == [("GPT", MessageState.STOPPED, "Half a")]
    live = bench.engine.live(session_id)
    assert live is not None
    live.append_text(live.messages[0].id, " late chunk")
    assert live.text_of(live.messages[0].id) == "Half a"
    # A debate that was stopped goes on as a paused one does.
    await bench.engine.resume(session_id)
    await bench.engine.wait(session_id)
    assert bench.debate_of(session_id).status == Status.COMPLETED


async def test_closing_the_program_pauses_and_nothing_is_lost(bench: Bench, data_dir: Path) -> None:
    bench.models.script = [["One."], ["Half", Hang()]]
    session_id = await bench.engine.debates.start(a_setup(2, rounds=1))
    await until(lambda: len(bench.messages(session_id)) == 2)
    again = await reopened(bench, data_dir)
    live = await again.engine.open(session_id)
    assert (live.session.status, live.session.reason) == (Status.PAUSED, "app_closed")
    await again.engine.resume(session_id)
    assert (await again.engine.wait(session_id)).status == Status.COMPLETED
    assert again.states(session_id) == [
        ("GPT", MessageState.DONE),
        ("Claude", MessageState.STOPPED),
        ("Claude", MessageState.DONE),
    ]
    await again.engine.shutdown()


async def test_a_save_that_fails_pauses_with_a_sticky_notice_and_spends_nothing(bench: Bench) -> None:
    session_id = await bench.engine.debates.start(a_setup(2, rounds=2))
    real = bench.store.flush
    broken = True

    async def flush(session_id: str) -> None:
        if broken and bench.models.requests:
            raise StorageError("disk_full")
        await real(session_id)

    bench.store.flush = flush  # type: ignore[method-assign]
    session = await bench.engine.wait(session_id)
    assert (session.status, session.reason) == (Status.PAUSED, "save_failed")
    assert len(bench.models.requests) == 1
    notices = [event for event in bench.events if isinstance(event, Notice)]
    assert [(one.code, one.sticky) for one in notices] == [("save_failed", True)]
    await bench.engine.resume(session_id)
    assert (await bench.engine.wait(session_id)).reason == "save_failed"
    assert len(bench.models.requests) == 1
    broken = False
    await bench.engine.resume(session_id)
    assert (await bench.engine.wait(session_id)).status == Status.COMPLETED
    assert len(bench.models.requests) == 4
    notices = [event for event in bench.events if isinstance(event, Notice)]
    assert [one.code for one in notices] == ["save_failed", "save_failed", "saved_again"]


async def test_nothing_starts_where_nothing_can_be_saved(bench: Bench, data_dir: Path) -> None:
    async def flush(session_id: str) -> None:
        raise StorageError("disk_full")

    real, bench.store.flush = bench.store.flush, flush  # type: ignore[method-assign]
    with pytest.raises(StorageError):
        await bench.engine.debates.start(a_setup(2))
    assert bench.models.requests == []
    bench.store.flush = real  # type: ignore[method-assign]
    await bench.engine.shutdown()
    again = a_bench(a_log_store(data_dir))
    await asyncio.to_thread(again.store.summaries)
    assert again.engine.sessions() == []
    assert isinstance(bench.events[-1], SessionDeleted)
    await again.engine.shutdown()


async def test_resume_while_the_pause_is_still_being_written_waits_for_it(bench: Bench) -> None:
    session_id = await bench.engine.debates.start(a_setup(2, rounds=2))
    real, written, writes = bench.store.flush, asyncio.Event(), 0

    async def slow(session_id: str) -> None:
        nonlocal writes
        if bench.debate_of(session_id).status == Status.PAUSED:
            writes += 1
            await written.wait()
        await real(session_id)

    bench.store.flush = slow  # type: ignore[method-assign]
    await until(lambda: len(bench.models.requests) == 1)
    await bench.engine.pause(session_id)
    await until(lambda: writes == 1)
    resuming = asyncio.create_task(bench.engine.resume(session_id))
    await asyncio.sleep(0.05)
    assert not resuming.done()
    spoken = len(bench.models.requests)
    written.set()
    await resuming
    assert (await bench.engine.wait(session_id)).status == Status.COMPLETED
    assert spoken == 1
    assert len(bench.models.requests) == 4
    assert [one.state for one in bench.messages(session_id)] == [MessageState.DONE] * 4
