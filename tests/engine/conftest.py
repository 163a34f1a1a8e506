"""The engine on the real log, with models that follow a script; and what closes the engines of a test at its end."""

import asyncio
import inspect
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.builders import Bench, a_bench, a_log_store, left_open


@pytest.fixture
async def bench(data_dir: Path) -> AsyncIterator[Bench]:
    store = a_log_store(data_dir)
    await asyncio.to_thread(store.prepare)
    made = a_bench(store)
    yield made
    await made.engine.shutdown()


@pytest.fixture
async def closing() -> AsyncIterator[None]:
    """Let go of the disk after a test."""
    yield
    while left_open:
        await left_open.pop().engine.shutdown()


@pytest.fixture(autouse=True)
def engines_are_closed(request: pytest.FixtureRequest) -> None:
    """Close what a test has left open; one that is no coroutine has made no engine, and needs no loop."""
    if inspect.iscoroutinefunction(request.function):
        request.getfixturevalue("closing")
