"""What becomes of failed turns: those that led to a pause are taken again, and the end says how many are left."""

from pathlib import Path

import pytest

from app.cli.printing.lines import error_line
from app.cli.printing.sessions import last_line
from app.core.catalog import ProviderConfig
from app.core.errors import BadInput, ProviderError
from app.core.message import MessageState
from app.core.session import Status, reason_text
from app.core.texts import Texts
from app.engine.debate.setup import DebateSetup
from tests.builders import Bench, a_bench, a_log_store, a_setup, people, reopened
from tests.memory import MemorySecrets

DOWN = ProviderError("network", "connection refused")
ENGLISH, KOREAN = (
    Texts.load(Path(__file__).parents[2] / "resources" / "i18n", language) for language in ("en", "ko")
)


async def test_the_turns_that_led_to_the_pause_are_taken_again_in_order(bench: Bench) -> None:
    bench.models.script = [[DOWN], [DOWN]]
    session_id = await bench.run(a_setup(3, rounds=1))
    assert (bench.debate_of(session_id).status, bench.debate_of(session_id).reason) == (
        Status.PAUSED,
        "two_failures",
    )
    await bench.engine.resume(session_id)
    session = await bench.engine.wait(session_id)
    assert (session.status, session.reason) == (Status.COMPLETED, "rounds_done")
    assert bench.states(session_id) == [
        ("GPT", MessageState.FAILED), ("Claude", MessageState.FAILED), ("GPT", MessageState.DONE), ("Claude", MessageState.DONE), ("Gemini", MessageState.DONE),
    ]  # fmt: skip
    first, second, again, once_more, third = bench.messages(session_id)
    assert (again.retakes, once_more.retakes, third.retakes) == (first.id, second.id, "")
    assert {one.round for one in bench.messages(session_id)} == {1}


async def test_they_are_due_after_a_restart_too(bench: Bench, data_dir: Path) -> None:
    bench.models.script = [[DOWN], [DOWN]]
    session_id = await bench.run(a_setup(3, rounds=1))
    again = await reopened(bench, data_dir)
    await again.engine.resume(session_id)
    assert (await again.engine.wait(session_id)).reason == "rounds_done"
    assert [name for name, state in again.states(session_id) if state == MessageState.DONE] == [
        "GPT",
        "Claude",
        "Gemini",
    ]
    await again.engine.shutdown()


async def test_what_fails_again_is_due_again_and_what_waits_behind_it_stays_due(bench: Bench) -> None:
    bench.models.script = [[DOWN], [DOWN], ["Back."], [DOWN], [DOWN]]
    session_id = await bench.run(a_setup(3, rounds=2))
    await bench.engine.resume(session_id)
    assert (await bench.engine.wait(session_id)).reason == "two_failures"
    await bench.engine.resume(session_id)
    session = await bench.engine.wait(session_id)
    assert (session.status, session.reason) == (Status.COMPLETED, "rounds_done")
    said = [
        (one.round, one.author.name) for one in bench.messages(session_id) if one.state == MessageState.DONE
    ]
    assert said == [(number, name) for number in (1, 2) for name in ("GPT", "Claude", "Gemini")]


async def test_a_free_discussion_takes_them_again_too(bench: Bench) -> None:
    bench.models.script = [[DOWN], [DOWN]]
    session_id = await bench.run(a_setup(3, mode="free", rounds=1))
    failed = [one.author.name for one in bench.messages(session_id)]
    await bench.engine.resume(session_id)
    assert (await bench.engine.wait(session_id)).reason == "rounds_done"
    assert [one.author.name for one in bench.messages(session_id)][2:4] == failed
    assert len(bench.messages(session_id)) == 5


async def test_a_single_failure_stays_skipped_and_the_end_says_so(bench: Bench) -> None:
    bench.models.script = [["One."], [DOWN], ["Three."], ["One."], ["Two."], [DOWN]]
    session_id = await bench.run(a_setup(3, rounds=2))
    session = bench.debate_of(session_id)
    assert (session.status, session.reason) == (Status.COMPLETED, "rounds_done+failed_turns:2")
    assert reason_text(session.reason, ENGLISH) == "All rounds are done. 2 turns failed."
    assert "2 turns failed." in last_line(session, ENGLISH)
    assert "2회" in last_line(session, KOREAN)
    assert reason_text("rounds_done+failed_turns:1", ENGLISH) == "All rounds are done. 1 turn failed."


@pytest.mark.parametrize(("polls", "rounds"), [(False, 1), (True, 1)])
async def test_a_debate_in_which_nobody_could_answer_has_failed(
    bench: Bench, polls: bool, rounds: int
) -> None:
    bench.models.otherwise = lambda _request: [DOWN]
    session_id = await bench.run(a_setup(2, rounds=rounds, polls=polls))
    session = bench.debate_of(session_id)
    assert (session.status, session.reason) == (Status.ERROR, "nobody_answered")
    assert "No participant could answer." in last_line(session, ENGLISH)


async def test_where_nobody_is_ready_nothing_starts(data_dir: Path) -> None:
    providers = [ProviderConfig(id=f"remote{place}", kind="openai") for place in range(2)]
    bench = a_bench(a_log_store(data_dir), providers=providers)
    with pytest.raises(BadInput, match="nobody_ready") as refused:
        await bench.engine.debates.start(_of_two())
    assert bench.engine.sessions() == [] and bench.models.requests == []
    line = error_line(refused.value, ENGLISH)
    assert line == (
        "The debate was not started because no participant is ready. GPT: needs a key; Claude: needs a key. "
        "Add keys in Settings, Models, or with `moot keys set PROVIDER` in the terminal."
    )
    assert "GPT: 키 필요" in error_line(refused.value, KOREAN)
    await bench.engine.shutdown()


async def test_with_one_participant_ready_it_starts(data_dir: Path) -> None:
    providers = [ProviderConfig(id=f"remote{place}", kind="openai") for place in range(2)]
    bench = a_bench(a_log_store(data_dir), providers=providers, secrets=MemorySecrets(remote0="k"))
    await bench.run(_of_two())
    assert len(bench.models.requests) == 2
    await bench.engine.shutdown()


def _of_two() -> DebateSetup:
    return a_setup(2, participants=people(2), rounds=1)
