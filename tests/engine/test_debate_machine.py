"""The debate under everything that can happen at once, and the proof that the machine would notice."""

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import seed as with_seed
from hypothesis.stateful import get_state_machine_test

from tests.engine.debate_machine import DebateMachine
from tests.engine.mutants import mutant
from tests.repeats import examples, slow_after

ENGINE = "app.engine."

MUTANTS = [
    pytest.param("debate.director", "spoken.round, spoken.turn + 1", "spoken.round, spoken.turn + 2", 0, "D3|D4", id="skips-a-turn"),
    pytest.param(
        "debate.director", "spoken.round, spoken.turn + 1", "spoken.round, spoken.turn + (not failed)", 0, "D13", id="failure-repeats"
    ),
    pytest.param("debate.director", "if failed else 0", "if failed else debate.failures", 0, "D5", id="success-does-not-reset"),
    pytest.param("debate.director", "MAX_FAILURES = 2", "MAX_FAILURES = 3", 0, "D5", id="three-failures"),
    pytest.param("debate.director", "replace(debate, failures=0, due=due)", "debate", 0, "D5|resumed, and paused", id="resume-does-not-reset"),
    pytest.param("debate.director", "if debate.failures >= MAX_FAILURES:\n        due", "if False:\n        due", 0, "D5: a failed turn|D4", id="failed-turns-forgotten"),
    pytest.param("debate.director", "len(present) < MIN_PARTICIPANTS", "len(present) < 1", 1, "D7", id="too-few-unnoticed"),
    pytest.param("turns.context", "MIN_WAIT = 10.0", "MIN_WAIT = 5.0", 0, "D6: waited too little", id="waits-too-little"),
    pytest.param("turns.speaker_turn", "if retried or turns_context.seconds_to_wait", "if turns_context.seconds_to_wait", 0, "D6: waits to ask", id="retries-for-ever"),
    pytest.param("turns.context", "error.kind != FailureKind.RATE_LIMIT", "False", 1, "D6: quota", id="retries-quota"),
    pytest.param("turns.context", "if seconds <= MAX_WAIT else None", "", 2, "a wait nobody", id="waits-for-ever"),
    pytest.param("turns.speaker_turn", "content=self.content,", 'content="",', 1, "D11", id="text-lost"),
    pytest.param("council.debate_run", "if self._pausing and not isinstance(decision, Halt):", "if False:", 0, "D9", id="pause-ignored"),
    pytest.param(
        "council.debate_run",
        'return message, {"debate": debate}',
        '__import__("asyncio").get_running_loop().call_soon(lambda: self._live.change(debate=debate)); return message, {}',
        0, "D13", id="cursor-in-a-line-of-its-own",
    ),
    pytest.param("debate.perspective", "len(seen) - self.window, len(seen)", "len(seen) - self.window - 1, len(seen)", 2, "D8: more messages", id="window-of-16"),
    pytest.param("debate.perspective", "message.state == MessageState.DONE and", "", 3, "D10", id="errors-reach-others"),
    pytest.param("debate.perspective", "independent_opening and self.round == 1", "independent_opening and False", 2, "D8: the opening", id="opening-not-blind"),
    pytest.param("debate.perspective", "names), message.author.id == speaker.id", "names), False", 0, "D8: own words", id="own-words-as-users"),
]  # fmt: skip


def _play(*, seed: int, examples: int, steps: int = 40) -> None:
    play = get_state_machine_test(
        DebateMachine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            phases=(Phase.generate,),
            database=None,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )
    with_seed(seed)(play)()


@pytest.mark.repeats
@pytest.mark.timeout(600)  # ten times as many examples, beside other tests
def test_the_invariants_hold() -> None:
    _play(seed=0, examples=examples(100))


@pytest.mark.allow_logs
@pytest.mark.parametrize(("module", "old", "new", "seed", "broken"), slow_after(2, MUTANTS))
def test_a_seeded_fault_is_caught(module: str, old: str, new: str, seed: int, broken: str) -> None:
    """Each with a seed that shows it soon, and with room for another one that takes longer."""
    with mutant(ENGINE + module, old, new), pytest.raises(AssertionError, match=broken):
        _play(seed=seed, examples=600)


def test_a_debate_does_not_wait_for_a_paused_provider_to_write_notes() -> None:
    """Much was said while it was paused, so that notes are due, and both who could write them ask to wait."""
    machine = DebateMachine()
    try:
        machine.start(rounds=3, mode="free", blind=False, count=3)
        machine.pass_the_turn()
        machine.refuse(quota=False, retry_after=3.0, times=3)
        machine.step_in(count=7)
        machine.leave_out(place=0)
        machine.fail_in_a_way_that_is_tried_again(kind="empty")
        machine.pause(times=2)
        for _ in range(2):
            machine.step_in(count=7)
        machine.resume()
        assert machine.session.status == "running" and machine.timer is None
    finally:
        machine.teardown()


def test_a_retry_after_two_failures_does_not_wait_for_the_first_of_them() -> None:
    """Both turns fail after a part of their text, and their providers ask to wait."""
    machine = DebateMachine()
    try:
        machine.start(rounds=1, mode="round-robin", blind=False, count=4)
        for _ in range(2):
            machine.say_a_part()
            machine.refuse(quota=False, retry_after=50.0, times=1)
        assert machine.session.reason == "two_failures"
        machine.retry_the_turn()
    finally:
        machine.teardown()
