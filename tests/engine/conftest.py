"""The engine on the real log, with models that follow a script; used by the tests of debates."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.builders import Bench, a_bench, a_log_store


@pytest.fixture
async def bench(data_dir: Path) -> AsyncIterator[Bench]:
    store = a_log_store(data_dir)
    await asyncio.to_thread(store.prepare)
    made = a_bench(store)
    yield made
    await made.engine.shutdown()
