"""The debate under everything that can happen at once, and the proof that the machine would notice."""

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.engine.debate_machine import STEPS, DebateMachine
from tests.engine.mutants import mutant

ENGINE = "app.engine."

MUTANTS = [
    pytest.param("debate", "spoken.round, spoken.turn + 1", "spoken.round, spoken.turn + 2", id="skips-a-turn"),
    pytest.param(
        "debate", "spoken.round, spoken.turn + 1", "spoken.round, spoken.turn + (not failed)", id="failure-repeats"
    ),
    pytest.param("debate", "if failed else 0", "if failed else debate.failures", id="success-does-not-reset"),
    pytest.param("debate", "MAX_FAILURES = 2", "MAX_FAILURES = 3", id="three-failures"),
    pytest.param("debate", "replace(debate, failures=0)", "debate", id="resume-does-not-reset"),
    pytest.param("debate", "len(present) < MIN_PARTICIPANTS", "len(present) < 1", id="too-few-unnoticed"),
    pytest.param("turn", "MIN_WAIT = 10.0", "MIN_WAIT = 5.0", id="waits-too-little"),
    pytest.param("turn", "error.kind == QUOTA or retried or", "error.kind == QUOTA or", id="retries-for-ever"),
    pytest.param("turn", "error.kind == QUOTA or retried", "retried", id="retries-quota"),
    pytest.param("turn", "seconds > MAX_WAIT", "False", id="waits-for-ever"),
    pytest.param("turn", "content=self.content,", 'content="",', id="text-lost"),
    pytest.param("runner", "case Speak() if self._pausing:", "case Speak() if False:", id="pause-ignored"),
    pytest.param(
        "runner",
        "self._live.finish_message(result.message, *extra, debate=debate)",
        "self._live.finish_message(result.message, *extra); self._live.change(debate=debate)",
        id="cursor-in-a-line-of-its-own",
    ),
    pytest.param("perspective", "len(seen) - window, len(seen)", "len(seen) - window - 1, len(seen)", id="window-of-16"),
    pytest.param("perspective", "message.state == DONE and", "", id="errors-reach-others"),
    pytest.param("perspective", "round_number == 1:\n        seen", "False:\n        seen", id="opening-not-blind"),
    pytest.param("perspective", "if message.author.id == speaker.id:\n            items", "if False:\n            items", id="own-words-as-users"),
    pytest.param("engine", "if live.debate_session.status in ENDED:", "if False:", id="say-after-the-end"),
]  # fmt: skip


def _play(*, examples: int, steps: int = STEPS, phases: tuple[Phase, ...]) -> None:
    run_state_machine_as_test(
        DebateMachine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            phases=phases,
            database=None,
            derandomize=True,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_the_invariants_hold() -> None:
    _play(examples=150, steps=40, phases=(Phase.generate,))


@pytest.mark.allow_logs
@pytest.mark.parametrize(("module", "old", "new"), MUTANTS)
def test_a_seeded_fault_is_caught(module: str, old: str, new: str) -> None:
    with mutant(ENGINE + module, old, new), pytest.raises(BaseException):  # noqa: B017, PT011
        _play(examples=150, steps=40, phases=(Phase.generate,))
