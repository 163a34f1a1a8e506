"""Debates on the real engine and the real log, with models that follow a script: rows D1 to D12 and
the fault table, each with the requests it may cost and what is left on the disk.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.core.errors import BadInput, ProviderError, StorageError
from app.core.events import Notice, RetryScheduled, TurnStarted, UsageReported
from app.core.message import DONE, FAILED, STOPPED
from app.core.provider import CONTENT_FILTER, LENGTH, TRUNCATED, Finished, Text
from app.core.session import COMPLETED, PAUSED, RUNNING, ContextFile, Participant
from app.core.session import STOPPED as ENDED_BY_USER
from tests.builders import (
    Bench,
    Hang,
    MemorySecrets,
    Script,
    a_bench,
    a_log_store,
    a_setup,
    people,
    until,
)

RATE = ProviderError("rate_limit", "slow down")


@pytest.fixture
async def bench(data_dir: Path) -> AsyncIterator[Bench]:
    store = a_log_store(data_dir)
    await asyncio.to_thread(store.prepare)
    made = a_bench(store)
    yield made
    await made.engine.shutdown()


async def reopened(bench: Bench, data_dir: Path) -> Bench:
    """Close the engine and open another on the same directory, as after a restart."""
    await bench.engine.shutdown()
    return a_bench(a_log_store(data_dir))


async def saved_states(bench: Bench, data_dir: Path, session_id: str) -> list[tuple[str, str, str]]:
    """Return author, state and text of each message as the disk has them."""
    await bench.store.flush(session_id)
    store = a_log_store(data_dir)
    stored = await store.load(session_id)
    await store.close()
    return [(one.author.name, one.state, one.content) for one in stored.messages]


async def test_round_robin_speaks_in_order_every_round(bench: Bench) -> None:
    session_id = await bench.run(a_setup(3, rounds=2))
    assert [(one.author.name, one.round) for one in bench.messages(session_id)] == [
        ("GPT", 1), ("Claude", 1), ("Gemini", 1), ("GPT", 2), ("Claude", 2), ("Gemini", 2),
    ]  # fmt: skip
    session = bench.debate_of(session_id)
    assert (session.status, session.reason) == (COMPLETED, "rounds_done")
    assert {one.why for one in bench.messages(session_id)} == {"in_order"}
    assert all(one.usage and one.usage.output_tokens == 5 for one in bench.messages(session_id))
    assert sum(isinstance(event, UsageReported) for event in bench.events) == 6


async def test_what_is_on_the_screen_is_on_the_disk(bench: Bench, data_dir: Path) -> None:
    session_id = await bench.run(a_setup(2))
    shown = bench.messages(session_id)
    session = bench.debate_of(session_id)
    again = await reopened(bench, data_dir)
    live = await again.engine.open(session_id)
    assert live.messages == shown
    assert live.session == session
    await again.engine.shutdown()


# The fault table of reliability.md 2.4: script, requests, messages, how the debate stands, seconds waited.
FAULTS = [
    pytest.param([[RATE], ["Fine."]], 3, [DONE, DONE], (COMPLETED, "rounds_done"), [10.0], id="F1-retry"),
    pytest.param(
        [[ProviderError("rate_limit", retry_after=42.0)], ["Fine."]],
        3, [DONE, DONE], (COMPLETED, "rounds_done"), [42.0], id="F1-retry-after",
    ),
    pytest.param([[RATE], [RATE]], 2, [], (PAUSED, "rate_limit"), [10.0], id="F1-twice"),
    pytest.param(
        [[ProviderError("rate_limit", retry_after=121.0)]], 1, [], (PAUSED, "rate_limit"), [], id="F1-too-long"
    ),
    pytest.param([[ProviderError("quota")]], 1, [], (PAUSED, "quota"), [], id="F2"),
    pytest.param([[ProviderError("server")]], 2, [FAILED, DONE], (COMPLETED, "rounds_done"), [], id="F3"),
    pytest.param([[ProviderError("overloaded")]], 2, [FAILED, DONE], (COMPLETED, "rounds_done"), [], id="F3-529"),
    pytest.param(
        [[ProviderError("server")], [ProviderError("server")]],
        2, [FAILED, FAILED], (COMPLETED, "rounds_done"), [], id="F3-both-and-the-rounds-are-done",
    ),
    pytest.param([[ProviderError("network")]], 2, [FAILED, DONE], (COMPLETED, "rounds_done"), [], id="F4"),
    pytest.param(
        [["Half a thou", ProviderError("interrupted")]],
        2, [FAILED, DONE], (COMPLETED, "rounds_done"), [], id="F5",
    ),
    pytest.param([["Half", ProviderError("stall")]], 2, [FAILED, DONE], (COMPLETED, "rounds_done"), [], id="F6-F7"),
    pytest.param(
        [["Whole.", Finished(reason=TRUNCATED)]], 2, [DONE, DONE], (COMPLETED, "rounds_done"), [], id="F8-text"
    ),
    pytest.param([[Finished(reason=TRUNCATED)]], 2, [FAILED, DONE], (COMPLETED, "rounds_done"), [], id="F8-empty"),
    pytest.param([[ProviderError("bad_response")]], 2, [FAILED, DONE], (COMPLETED, "rounds_done"), [], id="F9-F10"),
    pytest.param([["So", ProviderError("overloaded")]], 2, [FAILED, DONE], (COMPLETED, "rounds_done"), [], id="F11"),
    pytest.param([["So", RATE]], 2, [FAILED, DONE], (COMPLETED, "rounds_done"), [], id="F11-429-after-text"),
    pytest.param(
        [[ProviderError("context_window")], ["Shorter."]], 3, [DONE, DONE], (COMPLETED, "rounds_done"), [], id="F15"
    ),
    pytest.param(
        [[ProviderError("context_window")], [ProviderError("context_window")]],
        3, [FAILED, DONE], (COMPLETED, "rounds_done"), [], id="F15-twice",
    ),
    pytest.param([[ProviderError("authentication")]], 2, [FAILED, DONE], (COMPLETED, "rounds_done"), [], id="F16-401"),
    pytest.param([[ProviderError("permission")]], 2, [FAILED, DONE], (COMPLETED, "rounds_done"), [], id="F16-403"),
    pytest.param([[ProviderError("no_key")]], 2, [FAILED, DONE], (COMPLETED, "rounds_done"), [], id="F16-no-key"),
    pytest.param([[ProviderError("model_not_found")]], 2, [FAILED, DONE], (COMPLETED, "rounds_done"), [], id="F17"),
    pytest.param(
        [[ProviderError("content_filter")]], 2, [DONE, DONE], (COMPLETED, "rounds_done"), [], id="F18-refused"
    ),
    pytest.param(
        [["So", Finished(reason=CONTENT_FILTER)]], 2, [DONE, DONE], (COMPLETED, "rounds_done"), [], id="F18-cut"
    ),
    pytest.param([["So", Finished(reason=LENGTH)]], 2, [DONE, DONE], (COMPLETED, "rounds_done"), [], id="F19"),
    pytest.param([[], ["Now."]], 3, [DONE, DONE], (COMPLETED, "rounds_done"), [], id="F20"),
    pytest.param([[], []], 3, [FAILED, DONE], (COMPLETED, "rounds_done"), [], id="F20-twice"),
    pytest.param([[ProviderError("no_answer")]], 2, [FAILED, DONE], (COMPLETED, "rounds_done"), [], id="F21"),
    pytest.param([[ProviderError("host")]], 2, [FAILED, DONE], (COMPLETED, "rounds_done"), [], id="host"),
    pytest.param([[RATE], []], 3, [FAILED, DONE], (COMPLETED, "rounds_done"), [10.0], id="one-retry-a-turn"),
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
        (["Text", Finished(reason=TRUNCATED)], "truncated"),
        (["Text", Finished(reason=LENGTH)], "length"),
        (["Text", Finished(reason=CONTENT_FILTER)], "content_filter"),
        ([Finished(reason=CONTENT_FILTER)], "content_filter"),
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
    assert bench.debate_of(session_id).status == PAUSED
    assert [event.code for event in bench.events if isinstance(event, Notice)] == ["turn_held"]
    await bench.engine.resume(session_id)
    await bench.engine.wait(session_id)
    assert bench.states(session_id) == [("GPT", DONE), ("Claude", DONE), ("Gemini", DONE)]


async def test_two_failures_in_a_row_pause_and_a_success_between_does_not(bench: Bench) -> None:
    error = ProviderError("server")
    bench.models.script = [[error], ["ok"], [error], ["ok"], [error], [error]]
    session_id = await bench.run(a_setup(3, rounds=3))
    session = bench.debate_of(session_id)
    assert (session.status, session.reason) == (PAUSED, "two_failures")
    assert len(bench.models.requests) == 6
    await bench.engine.resume(session_id)
    await bench.engine.wait(session_id)
    assert bench.debate_of(session_id).status == COMPLETED
    assert len(bench.models.requests) == 9


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
    assert message.state == FAILED and message.error is not None and message.error.kind == "bad_response"


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
    session_id = await bench.engine.start_debate(a_setup(3, rounds=3))
    await until(lambda: len(bench.models.requests) == 2)
    bench.documents.switch("remote2", on=False)
    await bench.engine.pause(session_id)
    await bench.engine.pause(session_id)
    bench.models.script = [["Two."], ["Three."]]
    await bench.engine.resume(session_id)
    await bench.engine.wait(session_id)
    speakers = [one.author.name for one in bench.messages(session_id) if one.state == DONE]
    assert speakers == ["GPT", "Claude"] * 3
    assert bench.debate_of(session_id).status == COMPLETED


async def test_fewer_than_two_left_ends_before_the_next_call(bench: Bench) -> None:
    bench.models.script = [["One.", Hang()]]
    session_id = await bench.engine.start_debate(a_setup(2, rounds=3))
    await until(lambda: len(bench.models.requests) == 1)
    bench.documents.switch("remote1", on=False)
    await bench.engine.pause(session_id)
    await bench.engine.pause(session_id)
    await bench.engine.resume(session_id)
    await bench.engine.wait(session_id)
    session = bench.debate_of(session_id)
    assert (session.status, session.reason) == (COMPLETED, "too_few")
    assert len(bench.models.requests) == 1


async def test_pause_lets_the_turn_end_and_starts_no_other(bench: Bench) -> None:
    gate = asyncio.Event()
    session_id = await _start_and_hold(bench, gate)
    await bench.engine.pause(session_id)
    assert bench.debate_of(session_id).status == RUNNING
    gate.set()
    session = await bench.engine.wait(session_id)
    assert (session.status, session.reason) == (PAUSED, "by_user")
    assert bench.states(session_id) == [("GPT", DONE)]
    assert len(bench.models.requests) == 1


async def test_resume_before_the_pause_came_forgets_it(bench: Bench) -> None:
    gate = asyncio.Event()
    session_id = await _start_and_hold(bench, gate)
    await bench.engine.pause(session_id)
    await bench.engine.resume(session_id)
    gate.set()
    assert (await bench.engine.wait(session_id)).status == COMPLETED


async def test_pause_twice_cuts_at_once_and_the_turn_is_taken_again(bench: Bench, data_dir: Path) -> None:
    bench.models.script = [["Half a", Hang()]]
    session_id = await bench.engine.start_debate(a_setup(2, rounds=1))
    await until(lambda: bench.states(session_id) == [("GPT", "streaming")])
    await bench.engine.pause(session_id)
    await bench.engine.pause(session_id)
    assert (await bench.engine.wait(session_id)).status == PAUSED
    assert await saved_states(bench, data_dir, session_id) == [("GPT", STOPPED, "Half a")]
    assert bench.models.open == 0
    await bench.engine.resume(session_id)
    await bench.engine.wait(session_id)
    assert bench.states(session_id) == [("GPT", STOPPED), ("GPT", DONE), ("Claude", DONE)]
    assert "Half a" not in str(bench.models.requests[1].messages)


async def test_pause_while_a_turn_waits_to_retry_is_at_once(bench: Bench) -> None:
    forever = asyncio.Event()

    async def sleep() -> None:
        await forever.wait()

    bench.time.on_sleep = sleep
    bench.models.script = [[RATE]]
    session_id = await bench.engine.start_debate(a_setup(2, rounds=1))
    await until(lambda: bool(bench.time.slept))
    await bench.engine.pause(session_id)
    session = await bench.engine.wait(session_id)
    assert (session.status, session.reason) == (PAUSED, "by_user")
    assert bench.messages(session_id) == []


async def test_stop_closes_the_request_within_a_second_and_keeps_the_text(
    bench: Bench, data_dir: Path
) -> None:
    bench.models.script = [["Half a", Hang()]]
    session_id = await bench.engine.start_debate(a_setup(2))
    await until(lambda: bench.states(session_id) == [("GPT", "streaming")])
    started = asyncio.get_running_loop().time()
    await bench.engine.stop(session_id)
    assert asyncio.get_running_loop().time() - started < 1.0
    assert bench.models.open == 0
    session = bench.debate_of(session_id)
    assert (session.status, session.reason) == (ENDED_BY_USER, "by_user")
    assert await saved_states(bench, data_dir, session_id) == [("GPT", STOPPED, "Half a")]
    live = bench.engine.live(session_id)
    assert live is not None
    live.append_text(live.messages[0].id, " late chunk")
    assert live.text_of(live.messages[0].id) == "Half a"
    for refused in (bench.engine.resume(session_id), bench.engine.say(session_id, "Hello")):
        with pytest.raises(BadInput, match="session_ended"):
            await refused


async def test_the_user_steps_in_and_the_next_speaker_sees_it(bench: Bench) -> None:
    gate = asyncio.Event()
    session_id = await _start_and_hold(bench, gate)
    await bench.engine.say(session_id, "Think of the  buses!")
    gate.set()
    await bench.engine.wait(session_id)
    assert "[User]: Think of the  buses!" in str(bench.models.requests[1].messages)
    assert [one.content for one in bench.messages(session_id)].count("Think of the  buses!") == 1
    assert bench.messages(session_id)[1].round == 1


@pytest.mark.parametrize("text", ["", "  \n"])
async def test_nothing_cannot_be_said(bench: Bench, text: str) -> None:
    bench.models.script = [[RATE], [RATE]]
    session_id = await bench.run(a_setup(2))
    with pytest.raises(BadInput, match="text_empty"):
        await bench.engine.say(session_id, text)


async def test_closing_the_program_pauses_and_nothing_is_lost(bench: Bench, data_dir: Path) -> None:
    bench.models.script = [["One."], ["Half", Hang()]]
    session_id = await bench.engine.start_debate(a_setup(2, rounds=1))
    await until(lambda: len(bench.messages(session_id)) == 2)
    again = await reopened(bench, data_dir)
    live = await again.engine.open(session_id)
    assert (live.session.status, live.session.reason) == (PAUSED, "app_closed")
    await again.engine.resume(session_id)
    assert (await again.engine.wait(session_id)).status == COMPLETED
    assert again.states(session_id) == [("GPT", DONE), ("Claude", STOPPED), ("Claude", DONE)]
    await again.engine.shutdown()


async def test_a_save_that_fails_pauses_with_a_sticky_notice_and_spends_nothing(bench: Bench) -> None:
    session_id = await bench.engine.start_debate(a_setup(2, rounds=2))
    real = bench.store.flush
    broken = True

    async def flush(session_id: str) -> None:
        if broken and bench.models.requests:
            raise StorageError("disk_full")
        await real(session_id)

    bench.store.flush = flush  # type: ignore[method-assign]
    session = await bench.engine.wait(session_id)
    assert (session.status, session.reason) == (PAUSED, "save_failed")
    assert len(bench.models.requests) == 1
    notices = [event for event in bench.events if isinstance(event, Notice)]
    assert [(one.code, one.sticky) for one in notices] == [("save_failed", True)]
    await bench.engine.resume(session_id)
    assert (await bench.engine.wait(session_id)).reason == "save_failed"
    assert len(bench.models.requests) == 1
    broken = False
    await bench.engine.resume(session_id)
    assert (await bench.engine.wait(session_id)).status == COMPLETED
    assert len(bench.models.requests) == 4


async def test_nothing_starts_where_nothing_can_be_saved(bench: Bench) -> None:
    async def flush(session_id: str) -> None:
        raise StorageError("disk_full")

    real, bench.store.flush = bench.store.flush, flush  # type: ignore[method-assign]
    with pytest.raises(StorageError):
        await bench.engine.start_debate(a_setup(2))
    assert bench.models.requests == []
    bench.store.flush = real  # type: ignore[method-assign]


async def test_two_debates_at_once_never_mix(bench: Bench) -> None:
    bench.models.otherwise = lambda request: [f"About {_topic(request)}."]
    first = await bench.engine.start_debate(a_setup(3, topic="alpha", rounds=3))
    second = await bench.engine.start_debate(a_setup(3, topic="omega", rounds=3))
    await asyncio.gather(bench.engine.wait(first), bench.engine.wait(second))
    assert {one.content for one in bench.messages(first)} == {"About alpha."}
    assert {one.content for one in bench.messages(second)} == {"About omega."}
    assert not any(
        "alpha" in str(one.messages) and "omega" in str(one.messages) for one in bench.models.requests
    )


def _topic(request: object) -> str:
    return "alpha" if "alpha" in str(request) else "omega"


async def test_context_files_reach_everybody_in_every_round(bench: Bench) -> None:
    context = (ContextFile(name="plan.md", text="The canary is yellow."),)
    await bench.run(a_setup(3, rounds=3, context=context))
    assert len(bench.models.requests) == 9
    assert all("The canary is yellow." in str(one.messages) for one in bench.models.requests)


async def test_an_independent_opening_is_blind_and_ends_with_round_one(bench: Bench) -> None:
    bench.models.script = [["Red."], ["Green."], ["Blue."]]
    await bench.run(a_setup(3, rounds=2, independent_opening=True))
    for place, own in enumerate(("Red.", "Green.", "Blue.")):
        seen = str(bench.models.requests[place].messages)
        assert not any(word in seen for word in {"Red.", "Green.", "Blue."} - {own})
    assert all(word in str(bench.models.requests[3].messages) for word in ("Red.", "Green.", "Blue."))


async def test_everybody_passing_ends_a_free_discussion(bench: Bench) -> None:
    bench.models.script = [["A view."], ["[PASS]"], ["[pass]."], ["[PASS]"]]
    session_id = await bench.run(a_setup(3, mode="free", rounds=5))
    session = bench.debate_of(session_id)
    assert (session.status, session.reason) == (COMPLETED, "exhausted")
    assert [one.note for one in bench.messages(session_id)] == ["", "passed", "passed", "passed"]
    assert not any("PASS]" in str(one.messages[1:]) for one in bench.models.requests)


async def test_embedded_voices_take_sides_and_their_answers_are_their_own(bench: Bench) -> None:
    voices = tuple(
        Participant(id=name, name=name, provider="embedded", model="smollm2-135m") for name in ("Ada", "Ben")
    )
    bench.models.script = [
        [" it is cheap. And th", Finished(reason=LENGTH)],
        ["\n"],
        [" of the cost."],
    ]
    session_id = await bench.run(a_setup(2, participants=voices, rounds=1))
    ada, ben = bench.messages(session_id)
    assert ada.content == "I support this motion because it is cheap."
    assert ben.content == "I oppose this motion because of the cost."
    assert ada.note == ""
    assert [one.role for one in bench.debate_of(session_id).debate.participants] == ["for", "against"]
    request = bench.models.requests[0]
    assert (request.stop, request.max_tokens, request.opener) == (
        ("\n",), 70, "Ada: I support this motion because",
    )  # fmt: skip


async def test_a_reply_that_speaks_for_others_is_cut_and_the_request_closed(bench: Bench) -> None:
    bench.models.script = [["[GPT]: My own view.\n", "[Claude]: I agree with GPT.\n", Hang()]]
    session_id = await bench.run(a_setup(2, rounds=1))
    assert bench.messages(session_id)[0].content == "My own view."
    assert bench.models.open == 0


async def test_thinking_is_kept_apart_from_the_answer(bench: Bench) -> None:
    bench.models.script = [[Text(thinking="Hm. "), "<think>Let me see</think>", "Yes."]]
    session_id = await bench.run(a_setup(2, rounds=1))
    message = bench.messages(session_id)[0]
    assert (message.content, message.thinking) == ("Yes.", "Hm. Let me see")


async def test_deleted_is_gone_and_restored_is_back(bench: Bench) -> None:
    session_id = await bench.run(a_setup(2))
    await bench.engine.delete(session_id)
    assert bench.engine.sessions() == []
    await bench.engine.restore(session_id)
    assert [one.id for one in bench.engine.sessions()] == [session_id]
    live = await bench.engine.open(session_id)
    assert len(live.messages) == 4


async def test_deleting_a_debate_that_runs_stops_it(bench: Bench) -> None:
    bench.models.script = [["Half", Hang()]]
    session_id = await bench.engine.start_debate(a_setup(2))
    await until(lambda: bench.states(session_id) == [("GPT", "streaming")])
    await bench.engine.delete(session_id)
    assert bench.models.open == 0
    assert bench.engine.live(session_id) is None


async def test_turns_say_who_speaks_and_why_before_the_first_word(bench: Bench) -> None:
    await bench.run(a_setup(2, rounds=1))
    turns = [event for event in bench.events if isinstance(event, TurnStarted)]
    assert [(one.author.name, one.round, one.why) for one in turns] == [
        ("GPT", 1, "in_order"), ("Claude", 1, "in_order"),
    ]  # fmt: skip


async def test_seats_offer_the_keyed_providers_else_the_voices(data_dir: Path) -> None:
    bench = a_bench(a_log_store(data_dir))
    assert [seat.participant.name for seat in bench.engine.seats() if seat.chosen] == ["Ada", "Ben"]
    from app.core.provider import ProviderConfig

    keyed = [ProviderConfig(id="openai", kind="openai"), ProviderConfig(id="anthropic", kind="anthropic")]
    one = a_bench(a_log_store(data_dir), providers=keyed, secrets=MemorySecrets(openai="k"))
    assert [(s.participant.name, s.participant.model) for s in one.engine.seats() if s.chosen] == [
        ("GPT", "gpt-5.2"), ("GPT 2", "gpt-5-mini"),
    ]  # fmt: skip
    two = a_bench(a_log_store(data_dir), providers=keyed, secrets=MemorySecrets(openai="k", anthropic="k"))
    assert [seat.participant.name for seat in two.engine.seats() if seat.chosen] == ["GPT", "Claude"]


async def test_the_shown_prompt_is_the_one_that_is_sent(bench: Bench) -> None:
    participants = tuple(
        Participant(id=one.id, name=one.name, provider=one.provider, model=one.model, role=role)
        for one, role in zip(people(2), ("for", "a retired tram driver"), strict=True)
    )
    setup = a_setup(2, participants=participants, mode="roles", rounds=1)
    shown = [bench.engine.system_prompt(setup, one) for one in participants]
    await bench.run(setup)
    assert [str(one.messages[0]["content"]) for one in bench.models.requests] == shown
    assert "a retired tram driver" in shown[1]


async def _start_and_hold(bench: Bench, gate: asyncio.Event) -> str:
    """Start a debate of two whose first answer waits for the gate."""
    real = bench.models.stream

    async def stream(request: object) -> AsyncIterator[object]:
        async for delta in real(request):  # type: ignore[arg-type]
            yield delta
            await gate.wait()

    bench.models.stream = stream  # type: ignore[assignment, method-assign]
    session_id = await bench.engine.start_debate(a_setup(2, rounds=1))
    await until(lambda: bool(bench.messages(session_id)))
    return session_id
