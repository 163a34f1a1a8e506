"""Participants of debates are sent the last 15 messages, or all that fits, as the user has set it."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.provider import ModelFacts
from app.core.settings import DebateHistory, Settings
from tests.builders import Bench, a_bench, a_log_store, a_setup
from tests.engine.request_rules import as_sent
from tests.engine.test_debate_notes import asks_for_notes


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[Bench]:
    bench = a_bench(a_log_store(tmp_path))
    numbers = iter(range(1_000))
    bench.models.otherwise = lambda request: (
        ["Noted."] if asks_for_notes(request) else [f"Point number {next(numbers)}. " + "And so on. " * 40]
    )
    yield bench
    await bench.engine.shutdown()


def _said_in(made: Bench) -> list[int]:
    """Return which points the last request holds."""
    text = as_sent(made.models.requests[-1])
    return [number for number in range(40) if f"Point number {number}." in text]


def _know(made: Bench, window: int) -> None:
    """Let all models have a window of so many tokens."""
    facts = ModelFacts(window=window, most_output=window // 10)
    made.models.told = {f"model-{place}": facts for place in range(3)}


async def test_the_last_15(made: Bench) -> None:
    await made.run(a_setup(3, rounds=10))
    assert len(made.models.requests) == 30 + 1, "the running notes"
    assert _said_in(made) == list(range(14, 29))


async def test_all_that_fits(made: Bench) -> None:
    made.documents._settings = replace(Settings(), debate_history=DebateHistory.ALL)
    await made.run(a_setup(3, rounds=10))
    assert _said_in(made) == list(range(29))


async def test_in_a_small_window_what_fits_and_15_at_least(made: Bench) -> None:
    made.documents._settings = replace(Settings(), debate_history=DebateHistory.ALL)
    _know(made, 6_400)
    await made.run(a_setup(3, rounds=10))
    assert 15 < len(_said_in(made)) < 29
    _know(made, 900)
    await made.run(a_setup(3, rounds=10))
    text = as_sent(made.models.requests[-1])
    assert sum(f"Point number {number}." in text for number in range(30, 60)) == 15
