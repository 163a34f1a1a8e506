"""A provider in the bin: it comes back as it was, and to where it was."""

import json

import pytest

from app.core.catalog import ProviderConfig
from app.core.errors import BadInput, NotFound, StorageError
from app.storage.documents import JsonDocuments
from app.storage.paths import DataPaths
from app.storage.sessions import JsonLogStore
from app.storage.stored_data import FileArchive
from tests.storage.test_restore import put

PROVIDER_ROWS = [
    {"id": "openai", "kind": "openai"},
    {
        "id": "work",
        "kind": "openai-compatible",
        "label": "Work",
        "base_url": "https://box.example/v1",
        "ours": [1],
    },
    {"id": "ollama", "kind": "ollama", "models": ["a"], "enabled": False},
]


async def test_a_provider_comes_out_of_the_bin_as_it_was_and_where_it_was(
    paths: DataPaths, store: JsonLogStore
):
    rows = {"version": 1, "theirs": True, "providers": PROVIDER_ROWS}
    put(paths.providers, json.dumps(rows))
    documents = JsonDocuments(paths)
    await documents.load()
    archive = FileArchive(paths, store, documents)
    file = await documents.throw_provider("work")
    assert [one.id for one in documents.providers()] == ["openai", "ollama"]
    assert "work" not in paths.providers.read_text()
    [thrown] = await archive.thrown()
    assert (thrown.file, thrown.title, thrown.kind, thrown.days_left) == (file, "Work", "provider", 30)
    assert await archive.take_out(file) == ""
    assert json.loads(paths.providers.read_text()) == rows
    assert [one.id for one in documents.providers()] == ["openai", "work", "ollama"]
    assert await archive.thrown() == ()


async def test_a_provider_stays_in_the_bin_while_another_has_its_name(paths: DataPaths, store: JsonLogStore):
    documents = JsonDocuments(paths)
    archive = FileArchive(paths, store, documents)
    await documents.load()
    before = documents.providers()
    # There is no file yet: it comes with the program, and is thrown away all the same.
    first = await documents.throw_provider("ollama")
    assert [one.id for one in documents.providers()] == [one.id for one in before if one.id != "ollama"]
    await documents.change_providers(lambda known: (*known, ProviderConfig(id="ollama", kind="ollama")))
    with pytest.raises(BadInput, match="bin_place_taken"):
        await archive.take_out(first)
    second = await documents.throw_provider("ollama")
    assert second != first
    put(paths.trash / second, '{"version": 1, "providers": [{"id": "ollama"}]}')
    with pytest.raises(StorageError):
        await archive.take_out(second)
    await archive.take_out(first)
    assert documents.providers() == before
    with pytest.raises(NotFound):
        await documents.throw_provider("never")
