"""A data directory and a store on it, for every test of storage."""

from pathlib import Path

import pytest

from app.storage.paths import DataPaths
from app.storage.sessions import JsonLogStore


@pytest.fixture
def paths(data_dir: Path) -> DataPaths:
    return DataPaths(data_dir)


@pytest.fixture
async def store(paths: DataPaths):
    store = JsonLogStore(paths)
    await store.open()
    yield store
    await store.close()
