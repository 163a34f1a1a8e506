"""The fault table on the real engine: what each costs in requests, and what is left of it on the disk."""

import asyncio
from pathlib import Path

import pytest

from app.core.errors import ProviderError
from app.core.events import Notice, RetryScheduled
from app.core.message import MessageState
from app.core.provider import Finished, FinishReason, Text
from app.core.session import Status
from app.engine.turns import context
from tests.builders import Bench, Hang, Script, a_setup, saved_states, until

RATE = ProviderError("rate_limit", "slow down")
ONE_FAILED = (Status.COMPLETED, "rounds_done+failed_turns:1")
BOTH_DONE, ALL_DONE = [MessageState.DONE, MessageState.DONE], (Status.COMPLETED, "rounds_done")


@pytest.fixture(autouse=True)
def without_jitter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let faults that pass be waited for by 1, 3 and 9 seconds."""
    monkeypatch.setattr(context.random, "uniform", lambda *_: 1.0)


# The fault table of reliability.md 2.4: script, requests, messages, how the debate stands, seconds waited.
FAULTS = [
    pytest.param([[RATE], ["Fine."]], 3, [MessageState.DONE, MessageState.DONE], (Status.COMPLETED, "rounds_done"), [10.0], id="F1-retry"),
    pytest.param(
        [[ProviderError("rate_limit", retry_after=42.0)], ["Fine."]],
        3, [MessageState.DONE, MessageState.DONE], (Status.COMPLETED, "rounds_done"), [42.0], id="F1-retry-after",
    ),
    pytest.param([[RATE], [RATE]], 2, [], (Status.PAUSED, "rate_limit"), [10.0], id="F1-twice"),
    pytest.param(
        [[ProviderError("rate_limit", retry_after=121.0)]], 1, [], (Status.PAUSED, "rate_limit"), [], id="F1-too-long"
    ),
    pytest.param([[ProviderError("quota")]], 1, [], (Status.PAUSED, "quota"), [], id="F2"),
    pytest.param([[ProviderError("server")]], 3, BOTH_DONE, ALL_DONE, [1.0], id="F3"),
    pytest.param([[ProviderError("overloaded")]] * 3, 5, BOTH_DONE, ALL_DONE, [1.0, 3.0, 9.0], id="F3-529"),
    pytest.param([[ProviderError("server")]] * 4, 5, [MessageState.FAILED, MessageState.DONE], ONE_FAILED, [1.0, 3.0, 9.0], id="F3-four-times"),
    pytest.param(
        [[ProviderError("server", retry_after=60.0)], [ProviderError("server", retry_after=0.0)]],
        4, BOTH_DONE, ALL_DONE, [60.0, 0.5], id="F3-retry-after",
    ),
    pytest.param(
        [[ProviderError("overloaded", retry_after=61.0)]], 2, [MessageState.FAILED, MessageState.DONE], ONE_FAILED, [], id="F3-retry-after-too-long"
    ),
    pytest.param(
        [[ProviderError("server")]] * 8,
        8, [MessageState.FAILED, MessageState.FAILED], (Status.ERROR, "nobody_answered"), [1.0, 3.0, 9.0] * 2, id="F3-both-and-the-rounds-are-done",
    ),
    pytest.param([[ProviderError("network")]], 2, [MessageState.FAILED, MessageState.DONE], ONE_FAILED, [], id="F4"),
    pytest.param(
        [["Half a thou", ProviderError("interrupted")]],
        2, [MessageState.FAILED, MessageState.DONE], ONE_FAILED, [], id="F5",
    ),
    pytest.param([["Half", ProviderError("stall")]], 2, [MessageState.FAILED, MessageState.DONE], ONE_FAILED, [], id="F6-F7"),
    pytest.param(
        [["Whole.", Finished(reason=FinishReason.TRUNCATED)]], 2, [MessageState.DONE, MessageState.DONE], (Status.COMPLETED, "rounds_done"), [], id="F8-text"
    ),
    pytest.param([[Finished(reason=FinishReason.TRUNCATED)]], 3, BOTH_DONE, ALL_DONE, [1.0], id="F8-empty"),
    pytest.param([[ProviderError("interrupted")]], 3, BOTH_DONE, ALL_DONE, [1.0], id="F8-reset"),
    pytest.param([[Text(thinking="Hm"), ProviderError("interrupted")]], 2, [MessageState.FAILED, MessageState.DONE], ONE_FAILED, [], id="F8-after-a-thought"),
    pytest.param([[ProviderError("bad_response")]], 2, [MessageState.FAILED, MessageState.DONE], ONE_FAILED, [], id="F9-F10"),
    pytest.param([["So", ProviderError("overloaded")]], 2, [MessageState.FAILED, MessageState.DONE], ONE_FAILED, [], id="F11"),
    pytest.param([["So", RATE]], 2, [MessageState.FAILED, MessageState.DONE], ONE_FAILED, [], id="F11-429-after-text"),
    pytest.param(
        [[ProviderError("context_window")], ["Shorter."]], 3, [MessageState.DONE, MessageState.DONE], (Status.COMPLETED, "rounds_done"), [], id="F15"
    ),
    pytest.param(
        [[ProviderError("context_window")], [ProviderError("context_window")]],
        3, [MessageState.FAILED, MessageState.DONE], ONE_FAILED, [], id="F15-twice",
    ),
    pytest.param([[ProviderError("authentication")]], 2, [MessageState.FAILED, MessageState.DONE], ONE_FAILED, [], id="F16-401"),
    pytest.param([[ProviderError("permission")]], 2, [MessageState.FAILED, MessageState.DONE], ONE_FAILED, [], id="F16-403"),
    pytest.param([[ProviderError("no_key")]], 2, [MessageState.FAILED, MessageState.DONE], ONE_FAILED, [], id="F16-no-key"),
    pytest.param([[ProviderError("model_not_found")]], 2, [MessageState.FAILED, MessageState.DONE], ONE_FAILED, [], id="F17"),
    pytest.param(
        [[ProviderError("content_filter")]], 2, [MessageState.DONE, MessageState.DONE], (Status.COMPLETED, "rounds_done"), [], id="F18-refused"
    ),
    pytest.param(
        [["So", Finished(reason=FinishReason.CONTENT_FILTER)]], 2, [MessageState.DONE, MessageState.DONE], (Status.COMPLETED, "rounds_done"), [], id="F18-cut"
    ),
    pytest.param([["So", Finished(reason=FinishReason.LENGTH)]], 2, [MessageState.DONE, MessageState.DONE], (Status.COMPLETED, "rounds_done"), [], id="F19"),
    pytest.param([[], ["Now."]], 3, [MessageState.DONE, MessageState.DONE], (Status.COMPLETED, "rounds_done"), [], id="F20"),
    pytest.param([[], []], 3, [MessageState.FAILED, MessageState.DONE], ONE_FAILED, [], id="F20-twice"),
    pytest.param([[ProviderError("no_answer")]], 3, BOTH_DONE, ALL_DONE, [1.0], id="F21"),
    pytest.param([[ProviderError("server")], [RATE], ["Fine."]], 4, BOTH_DONE, ALL_DONE, [1.0, 10.0], id="a-fault-that-passes-then-429"),
    pytest.param([[ProviderError("prompt_blocked")]], 2, [MessageState.FAILED, MessageState.DONE], ONE_FAILED, [], id="blocked"),
    pytest.param([[Finished(reason=FinishReason.LENGTH)]], 2, [MessageState.FAILED, MessageState.DONE], ONE_FAILED, [], id="all-thought"),
    pytest.param([[ProviderError("malformed_call")], ["Fine."]], 3, BOTH_DONE, ALL_DONE, [], id="malformed-call"),
    pytest.param([[ProviderError("too_large")], ["Shorter."]], 3, BOTH_DONE, ALL_DONE, [], id="too-large-for-a-minute"),
    pytest.param([[ProviderError("too_large")]] * 2, 3, [MessageState.FAILED, MessageState.DONE], ONE_FAILED, [], id="too-large-twice"),
    pytest.param([[ProviderError("host")]], 2, [MessageState.FAILED, MessageState.DONE], ONE_FAILED, [], id="host"),
    pytest.param([[RATE], []], 3, [MessageState.FAILED, MessageState.DONE], ONE_FAILED, [10.0], id="one-retry-a-turn"),
]  # fmt: skip


@pytest.mark.parametrize(("script", "requests", "states", "end", "waits"), FAULTS)
async def test_a_fault_costs_what_it_may_and_is_kept(
    bench: Bench,
    data_dir: Path,
    script: list[Script],
    requests: int,
    states: list[str],
    end: tuple[str, str],
    waits: list[float],
) -> None:
    bench.models.script = list(script)
    session_id = await bench.run(a_setup(2, rounds=1))
    session = bench.debate_of(session_id)
    assert len(bench.models.requests) == requests
    assert [one.state for one in bench.messages(session_id)] == states
    assert (session.status, session.reason) == end
    assert bench.time.slept == waits
    announced = [event.seconds for event in bench.events if isinstance(event, RetryScheduled)]
    assert announced == waits
    assert [state for _, state, _ in await saved_states(bench, data_dir, session_id)] == states


@pytest.mark.parametrize(
    ("script", "note"),
    [
        (["Text", Finished(reason=FinishReason.TRUNCATED)], "truncated"),
        (["Text", Finished(reason=FinishReason.LENGTH)], "length"),
        (["Text", Finished(reason=FinishReason.CONTENT_FILTER)], "content_filter"),
        ([Finished(reason=FinishReason.CONTENT_FILTER)], "content_filter"),
        ([ProviderError("content_filter", "blocked")], "content_filter"),
        (["Text"], ""),
    ],
)
async def test_a_warning_is_marked_on_the_message(bench: Bench, script: Script, note: str) -> None:
    bench.models.script = [script]
    session_id = await bench.run(a_setup(2, rounds=1))
    assert bench.messages(session_id)[0].note == note


async def test_a_held_turn_is_taken_again_and_none_is_lost(bench: Bench) -> None:
    bench.models.script = [["One."], [RATE], [RATE]]
    session_id = await bench.run(a_setup(3, rounds=1))
    assert bench.debate_of(session_id).status == Status.PAUSED
    assert [event.code for event in bench.events if isinstance(event, Notice)] == ["turn_held"]
    await bench.engine.resume(session_id)
    await bench.engine.wait(session_id)
    assert bench.states(session_id) == [
        ("GPT", MessageState.DONE),
        ("Claude", MessageState.DONE),
        ("Gemini", MessageState.DONE),
    ]


async def test_two_failures_in_a_row_pause_and_a_success_between_does_not(bench: Bench) -> None:
    error = ProviderError("bad_request")
    bench.models.script = [[error], ["ok"], [error], ["ok"], [error], [error]]
    session_id = await bench.run(a_setup(3, rounds=3))
    session = bench.debate_of(session_id)
    assert (session.status, session.reason) == (Status.PAUSED, "two_failures")
    assert len(bench.models.requests) == 6
    await bench.engine.resume(session_id)
    await bench.engine.wait(session_id)
    assert bench.debate_of(session_id).status == Status.COMPLETED
    assert len(bench.models.requests) == 11, "the two that failed were taken again"


@pytest.mark.threat("T1")
async def test_no_error_text_reaches_anybody(bench: Bench) -> None:
    bench.models.script = [["Partial secret", ProviderError("server", "Internal oops")]]
    await bench.run(a_setup(3, rounds=2))
    later = [str(request.messages) for request in bench.models.requests[1:]]
    assert not any("secret" in text or "oops" in text for text in later)


async def test_an_unforeseen_fault_of_a_model_is_a_failed_turn(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("CRITICAL"):
        bench.models.script = [[ValueError("what?")]]
        session_id = await bench.run(a_setup(2, rounds=1))
    message = bench.messages(session_id)[0]
    assert (
        message.state == MessageState.FAILED
        and message.error is not None
        and message.error.kind == "bad_response"
    )


async def test_context_overflow_asks_again_with_the_last_seven(bench: Bench) -> None:
    bench.models.otherwise = lambda request: [f"Statement {len(bench.models.requests)}."]
    bench.models.script = [[f"Old {number}."] for number in range(10)] + [[ProviderError("context_window")]]
    await bench.run(a_setup(2, rounds=6))
    long, short = (str(bench.models.requests[place].messages) for place in (10, 11))
    assert sum(f"Old {number}." in long for number in range(10)) == 10
    assert sum(f"Old {number}." in short for number in range(10)) == 7
    assert "Should cities ban cars?" in short


async def test_a_disabled_provider_is_skipped_and_too_few_end_it(bench: Bench) -> None:
    bench.models.script = [["One."], ["Two.", Hang()]]
    session_id = await bench.engine.debates.start(a_setup(3, rounds=3))
    await until(lambda: len(bench.models.requests) == 2)
    bench.documents.switch("remote2", on=False)
    await bench.engine.pause(session_id)
    await bench.engine.pause(session_id)
    bench.models.script = [["Two."], ["Three."]]
    await bench.engine.resume(session_id)
    await bench.engine.wait(session_id)
    speakers = [one.author.name for one in bench.messages(session_id) if one.state == MessageState.DONE]
    assert speakers == ["GPT", "Claude"] * 3
    notices = [(one.code, one.details) for one in bench.events if isinstance(one, Notice)]
    assert [code for code, _ in notices] == ["participant_absent"]
    assert notices[0][1] == {"name": "Gemini"}
    assert bench.debate_of(session_id).status == Status.COMPLETED


async def test_fewer_than_two_left_ends_before_the_next_call(bench: Bench) -> None:
    bench.models.script = [["One.", Hang()]]
    session_id = await bench.engine.debates.start(a_setup(2, rounds=3))
    await until(lambda: len(bench.models.requests) == 1)
    bench.documents.switch("remote1", on=False)
    await bench.engine.pause(session_id)
    await bench.engine.pause(session_id)
    await bench.engine.resume(session_id)
    await bench.engine.wait(session_id)
    session = bench.debate_of(session_id)
    assert (session.status, session.reason) == (Status.COMPLETED, "too_few")
    assert len(bench.models.requests) == 1


async def test_a_wait_that_is_too_long_is_named_in_the_error(bench: Bench) -> None:
    bench.models.script = [[ProviderError("overloaded", "Busy.", retry_after=3600.0)]]
    session_id = await bench.run(a_setup(2, rounds=1))
    error = bench.messages(session_id)[0].error
    assert error is not None and (error.kind, error.detail) == ("overloaded", "Busy. (Retry-After: 3600 s)")


async def test_each_repeat_is_announced_with_its_number(bench: Bench) -> None:
    bench.models.script = [[ProviderError("server")]] * 2
    await bench.run(a_setup(2, rounds=1))
    told = [event for event in bench.events if isinstance(event, RetryScheduled)]
    assert [(one.repeat, one.repeats, one.reason) for one in told] == [(1, 3, "server"), (2, 3, "server")]


async def test_stop_ends_the_wait_for_a_fault_to_pass(bench: Bench) -> None:
    bench.time.on_sleep = asyncio.Event().wait
    bench.models.script = [[ProviderError("overloaded")]]
    session_id = await bench.engine.debates.start(a_setup(2, rounds=1))
    await until(lambda: bench.time.slept == [1.0])
    await bench.engine.stop(session_id)
    await bench.engine.wait(session_id)
    assert bench.debate_of(session_id).status == Status.STOPPED
    assert len(bench.models.requests) == 1
