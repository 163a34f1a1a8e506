"""A data directory and a store on it, for every test of storage."""

from pathlib import Path

import pytest

from app.storage.documents import JsonDocuments
from app.storage.paths import DataPaths
from app.storage.sessions import JsonLogStore
from app.storage.stored_data import FileArchive


@pytest.fixture
def paths(data_dir: Path) -> DataPaths:
    return DataPaths(data_dir)


@pytest.fixture
def folder(data_dir: Path) -> None:
    """Make the data directory before the test."""
    data_dir.mkdir(mode=0o700)


@pytest.fixture
async def store(paths: DataPaths):
    store = JsonLogStore(paths)
    await store.open()
    yield store
    await store.close()


@pytest.fixture
async def archive(paths: DataPaths, store: JsonLogStore) -> FileArchive:
    return FileArchive(paths, store, JsonDocuments(paths))
