"""A debate whose speaker is an assistant that is busy elsewhere: it says so, waits, and is paused at once (W2, D6)."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.definitions import Agent, Busy
from app.core.events import SessionChanged
from app.core.provider import ModelRequest
from app.core.session import Status
from app.engine.debate.setup import DebateSetup
from tests.builders import Bench, Script, a_bench, a_log_store, a_setup, until

ONE = Busy(strategy="queue", depth=3)


async def hold(tmp_path: Path, busy: Busy = ONE) -> tuple[Bench, asyncio.Event, DebateSetup]:
    """Keep an assistant busy in a chat until the gate opens; return a debate it shall open."""
    agent = Agent(id="reviewer", name="Reviewer", provider="remote2", model="model-2", busy=busy)
    bench = a_bench(a_log_store(tmp_path / "data"), agents=(agent,))
    gate = asyncio.Event()
    said = bench.models.otherwise

    def answer(request: ModelRequest) -> Script:
        return [*([gate] if "Are you there?" in str(request.messages) else []), *said(request)]

    bench.models.otherwise = answer
    await bench.engine.chats.start("reviewer", "Are you there?")
    await until(lambda: bench.engine.queues.jobs("reviewer") != [])
    candidate = next(one for one in bench.engine.debates.candidates() if one.participant.id == "reviewer")
    return bench, gate, a_setup(2, participants=(candidate.participant, a_setup(2).participants[1]), rounds=1)


async def waits(bench: Bench, session_id: str) -> None:
    await until(lambda: bench.debate_of(session_id).reason == "busy")
    assert bench.debate_of(session_id).status == Status.RUNNING


async def test_a_debate_says_that_it_waits_and_goes_on_when_the_assistant_is_free(tmp_path: Path) -> None:
    bench, gate, setup = await hold(tmp_path)
    session_id = await bench.engine.debates.start(setup)
    await waits(bench, session_id)
    assert len(bench.models.requests) == 1 and bench.messages(session_id) == []
    gate.set()
    session = await bench.engine.wait(session_id)
    assert (session.status, session.reason) == (Status.COMPLETED, "rounds_done")
    assert bench.states(session_id) == [("Reviewer", "done"), ("Claude", "done")]
    reasons = [
        (one.session.status, one.session.reason)
        for one in bench.events
        if isinstance(one, SessionChanged) and one.session_id == session_id
    ]
    told = [reason for place, reason in enumerate(reasons) if reasons[place - 1 : place] != [reason]]
    assert (
        told[:2] == [(Status.RUNNING, "busy"), (Status.RUNNING, "")]
        and (Status.RUNNING, "busy") not in told[1:]
    )
    await bench.engine.shutdown()


@pytest.mark.parametrize("end", ["pause", "stop"])
async def test_a_pause_in_that_wait_comes_at_once(tmp_path: Path, end: str) -> None:
    bench, gate, setup = await hold(tmp_path)
    session_id = await bench.engine.debates.start(setup)
    await waits(bench, session_id)
    await getattr(bench.engine, end)(session_id)
    session = bench.debate_of(session_id)
    assert (session.status, session.reason) == (
        Status.PAUSED if end == "pause" else Status.STOPPED,
        "by_user",
    )
    assert (session.debate.round, session.debate.turn, bench.messages(session_id)) == (1, 0, [])
    assert [one.work.session_id for one in bench.engine.queues.jobs("reviewer")] != [session_id]
    assert len(bench.engine.queues.jobs("reviewer")) == 1, "it no longer waits"
    if end == "pause":
        await bench.engine.resume(session_id)
        await waits(bench, session_id)
        gate.set()
        assert (await bench.engine.wait(session_id)).status == Status.COMPLETED
        assert bench.states(session_id) == [("Reviewer", "done"), ("Claude", "done")]
    await bench.engine.shutdown()


async def test_after_the_wait_a_pause_lets_the_turn_end(tmp_path: Path) -> None:
    bench, gate, setup = await hold(tmp_path)
    session_id = await bench.engine.debates.start(replace(setup, rounds=2))
    await waits(bench, session_id)
    gate.set()
    await until(lambda: bench.debate_of(session_id).reason == "")
    await bench.engine.pause(session_id)
    session = await bench.engine.wait(session_id)
    assert session.status == Status.PAUSED
    assert bench.states(session_id)[0] == ("Reviewer", "done")
    assert len(bench.messages(session_id)) == session.debate.turn  # type: ignore[attr-defined]
    await bench.engine.shutdown()


async def test_whoever_waits_in_vain_fails_and_nobody_waits_any_more(tmp_path: Path) -> None:
    bench, _, setup = await hold(tmp_path, Busy(strategy="wait", timeout_s=5.0))
    session_id = await bench.engine.debates.start(setup)
    session = await bench.engine.wait(session_id)
    assert (session.status, session.reason) == (Status.COMPLETED, "rounds_done+failed_turns:1")
    first, _ = bench.messages(session_id)
    assert first.error is not None
    assert (first.state, first.error.kind) == ("failed", "timed_out")
    await bench.engine.shutdown()
