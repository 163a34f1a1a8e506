"""A turn that waits, is held up or has failed: tried now, skipped, or its participant left out."""

import asyncio
from pathlib import Path

import pytest

from app.core.errors import BadInput, NotFound, ProviderError
from app.core.events import Notice, RetryScheduled
from app.core.message import MessageState
from app.core.provider import ModelRequest
from app.core.session import Status
from tests.builders import Bench, Script, a_setup, reopened, until

RATE = ProviderError("rate_limit", "slow down")
DOWN = ProviderError("network", "connection refused")


def never(provider: str, bench: Bench) -> None:
    """Let a provider refuse every request."""

    def answer(request: ModelRequest) -> Script:
        return [RATE] if request.provider == provider else ["A good point."]

    bench.models.otherwise = answer


async def waiting(bench: Bench) -> str:
    """Start a debate whose second turn waits for its provider, and does not stop waiting."""
    bench.time.on_sleep = asyncio.Event().wait
    session_id = await bench.engine.debates.start(a_setup(3, rounds=1))
    await until(lambda: any(isinstance(event, RetryScheduled) for event in bench.events))
    assert bench.debate_of(session_id).status == Status.RUNNING
    return session_id


def end(bench: Bench, session_id: str) -> tuple[str, str]:
    session = bench.debate_of(session_id)
    return session.status, session.reason


@pytest.mark.parametrize("waits", [True, False])
async def test_a_turn_refused_without_end_is_skipped(bench: Bench, waits: bool) -> None:
    never("remote1", bench)
    session_id = await waiting(bench) if waits else await bench.run(a_setup(3, rounds=1))
    assert waits or end(bench, session_id) == (Status.PAUSED, "rate_limit")
    await bench.engine.debates.held.skip(session_id)
    await bench.engine.wait(session_id)
    assert end(bench, session_id) == (Status.COMPLETED, "rounds_done+failed_turns:1")
    assert bench.states(session_id) == [
        ("GPT", MessageState.DONE),
        ("Claude", MessageState.FAILED),
        ("Gemini", MessageState.DONE),
    ]
    skipped = bench.messages(session_id)[1]
    assert skipped.error is not None and skipped.error.kind == "skipped"
    assert bench.models.open == 0


@pytest.mark.parametrize("waits", [True, False])
async def test_a_debate_goes_on_without_who_is_refused_without_end(
    bench: Bench, data_dir: Path, waits: bool
) -> None:
    never("remote1", bench)
    session_id = await waiting(bench) if waits else await bench.run(a_setup(3, rounds=2))
    assert waits or [one.name for one in bench.engine.debates.held.of(session_id)] == ["Claude"]
    claude = await bench.engine.debates.held.participant(session_id, "claude")
    await bench.engine.debates.held.go_on_without(session_id, claude.id)
    await bench.engine.wait(session_id)
    assert end(bench, session_id) == (Status.COMPLETED, "rounds_done")
    assert {name for name, _ in bench.states(session_id)} == {"GPT", "Gemini"}
    assert not any(isinstance(one, Notice) and one.code == "participant_absent" for one in bench.events)
    again = await reopened(bench, data_dir)
    assert (await again.engine.open(session_id)).debate_session.debate.left == (claude.id,)
    await again.engine.shutdown()


async def test_a_turn_that_waits_is_tried_at_once(bench: Bench) -> None:
    bench.models.script = [["One."], [RATE]]
    session_id = await waiting(bench)
    asked = len(bench.models.requests)
    await bench.engine.debates.held.retry(session_id)
    await bench.engine.wait(session_id)
    assert end(bench, session_id) == (Status.COMPLETED, "rounds_done")
    assert bench.states(session_id) == [
        ("GPT", MessageState.DONE),
        ("Claude", MessageState.DONE),
        ("Gemini", MessageState.DONE),
    ]
    assert len(bench.models.requests) == asked + 2


async def test_a_resume_after_a_refusal_asks_at_once(bench: Bench) -> None:
    bench.models.script = [["One."], [RATE], [RATE]]
    session_id = await bench.run(a_setup(3, rounds=1))
    slept = list(bench.time.slept)
    await bench.engine.resume(session_id)
    await bench.engine.wait(session_id)
    assert bench.time.slept == slept


@pytest.mark.parametrize(
    ("act", "states"),
    [
        ("retry", [("GPT", MessageState.DONE), ("Claude", MessageState.DONE), ("Gemini", MessageState.DONE)]),
        ("skip", [("Gemini", MessageState.DONE)]),
        ("without", [("Claude", MessageState.DONE), ("Gemini", MessageState.DONE)]),
    ],
)
async def test_failed_turns_that_paused_a_debate(
    bench: Bench, act: str, states: list[tuple[str, str]]
) -> None:
    bench.models.script = [[DOWN], [DOWN]]
    session_id = await bench.run(a_setup(3, rounds=1))
    held = bench.engine.debates.held
    assert [one.name for one in held.of(session_id)] == ["GPT", "Claude"]
    if act == "without":
        await held.go_on_without(session_id, held.of(session_id)[0].id)
    else:
        await getattr(held, act)(session_id)
    await bench.engine.wait(session_id)
    assert bench.states(session_id) == [
        ("GPT", MessageState.FAILED),
        ("Claude", MessageState.FAILED),
        *states,
    ]
    assert bench.debate_of(session_id).status == Status.COMPLETED


async def test_a_turn_taken_again_can_be_skipped_in_its_turn(bench: Bench) -> None:
    bench.models.script = [[DOWN], [DOWN], [RATE], [RATE]]
    session_id = await bench.run(a_setup(3, rounds=1))
    await bench.engine.resume(session_id)
    await bench.engine.wait(session_id)
    assert end(bench, session_id) == (Status.PAUSED, "rate_limit")
    await bench.engine.debates.held.skip(session_id)
    await bench.engine.wait(session_id)
    assert bench.states(session_id)[2:] == [("Claude", MessageState.DONE), ("Gemini", MessageState.DONE)]
    assert end(bench, session_id) == (Status.COMPLETED, "rounds_done+failed_turns:1")


async def test_a_single_failed_turn_is_taken_again_by_hand(bench: Bench) -> None:
    bench.models.script = [[DOWN], ["Two."], [RATE], [RATE]]
    session_id = await bench.run(a_setup(3, rounds=1))
    held, (first, second) = bench.engine.debates.held, bench.messages(session_id)
    with pytest.raises(BadInput, match="turn_not_failed"):
        await held.retake(session_id, second.id)
    await held.retake(session_id, first.id)
    await bench.engine.wait(session_id)
    assert bench.states(session_id) == [
        ("GPT", MessageState.FAILED),
        ("Claude", MessageState.DONE),
        ("GPT", MessageState.DONE),
        ("Gemini", MessageState.DONE),
    ]
    assert end(bench, session_id) == (Status.COMPLETED, "rounds_done")
    with pytest.raises(BadInput, match="session_ended"):
        await held.retake(session_id, first.id)


async def test_it_is_taken_again_at_once_while_another_turn_waits(bench: Bench) -> None:
    bench.models.script = [[DOWN], [RATE]]
    session_id = await waiting(bench)
    await bench.engine.debates.held.retake(session_id, bench.messages(session_id)[0].id)
    await until(lambda: ("GPT", MessageState.DONE) in bench.states(session_id))
    assert bench.states(session_id) == [("GPT", MessageState.FAILED), ("GPT", MessageState.DONE)]
    await bench.engine.stop(session_id)


async def test_all_turns_skipped_is_nobody_answered(bench: Bench) -> None:
    bench.models.otherwise = lambda _: [RATE]
    session_id = await bench.run(a_setup(2, rounds=1))
    for _ in range(2):
        await bench.engine.debates.held.skip(session_id)
        await bench.engine.wait(session_id)
    assert end(bench, session_id) == (Status.ERROR, "nobody_answered")


async def test_what_cannot_be_is_refused_and_changes_nothing(bench: Bench) -> None:
    never("remote1", bench)
    session_id = await bench.run(a_setup(2, rounds=1))
    held = bench.engine.debates.held
    assert held.of(session_id) == (), "two must be left"
    claude = bench.debate_of(session_id).debate.participants[1]
    with pytest.raises(BadInput, match="too_few_without"):
        await held.go_on_without(session_id, claude.id)
    with pytest.raises(NotFound, match="participant_not_found"):
        await held.participant(session_id, "Nobody")
    assert end(bench, session_id) == (Status.PAUSED, "rate_limit")
    gate = asyncio.Event()
    bench.models.otherwise = lambda _: [gate, "Well."]
    await bench.engine.resume(session_id)
    await until(lambda: bench.debate_of(session_id).status == Status.RUNNING)
    await asyncio.sleep(0.01)
    with pytest.raises(BadInput, match="turn_not_waiting"):
        await held.skip(session_id)
    gate.set()
    await bench.engine.wait(session_id)
