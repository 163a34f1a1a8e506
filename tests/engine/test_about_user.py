"""What the user wrote about themselves goes to every assistant that may know it."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.builders import Bench, a_bench, a_log_store
from tests.engine.test_turn import agent

TEXT = "I teach physics in Daegu. {Braces} stay."


@pytest.fixture
async def bench(data_dir: Path) -> AsyncIterator[Bench]:
    store = a_log_store(data_dir)
    await asyncio.to_thread(store.prepare)
    made = a_bench(store, agents=(agent(), agent("quiet", knows_user=False)))
    await made.engine.change_settings(lambda settings: replace(settings, about_user=TEXT))
    yield made
    await made.engine.shutdown()


@pytest.mark.parametrize(("assistant", "told"), [("main", True), ("quiet", False)])
async def test_an_assistant_is_told_about_the_user_unless_switched_off(
    bench: Bench, assistant: str, told: bool
) -> None:
    session_id = await bench.engine.chats.start(assistant, "Hello")
    await bench.engine.wait(session_id)
    [request] = bench.models.requests
    assert (TEXT in str(request.messages[0]["content"])) is told
