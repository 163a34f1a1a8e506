"""A `providers.json` that cannot be read, whole or in part: whose entry that is, and what is left as it is."""

import json
from pathlib import Path

import pytest

from app.core.catalog import ProviderConfig
from app.core.errors import StorageError
from app.storage.documents import JsonDocuments
from app.storage.paths import DataPaths

PRIVATE = {"id": "openai", "kind": "openai", "base_url": "http://10.0.0.7/v1"}
OTHER = {"id": "lab", "kind": "openai-compatible", "base_url": "http://10.0.0.8/v1", "models": ["m"]}
DAMAGED = {
    "cut off": json.dumps({"version": 1, "providers": [PRIVATE]})[:-2],
    "empty": "",
    "no object": "[]",
    "no list": json.dumps({"providers": {"openai": PRIVATE}}),
    "nothing in it": "{}",
    "newer": json.dumps({"version": 99, "providers": [PRIVATE]}),
    "bytes": "\0\0\0\0",
}


async def loaded(paths: DataPaths, content: str) -> JsonDocuments:
    paths.providers.write_text(content, encoding="utf-8")
    documents = JsonDocuments(paths)
    await documents.load()
    return documents


@pytest.fixture
def paths(tmp_path: Path) -> DataPaths:
    return DataPaths(tmp_path)


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
async def test_of_a_file_that_cannot_be_read_no_provider_can_be_used(paths: DataPaths, content: str) -> None:
    documents = await loaded(paths, content)
    [problem] = documents.problems()
    assert {one.id for one in documents.providers()} >= {"openai", "anthropic", "gemini"}
    assert all(documents.provider_problem(one) is problem for one in ("openai", "lab", "embedded"))
    with pytest.raises(StorageError):
        await documents.change_providers(lambda _: (ProviderConfig(id="new", kind="openai"),))
    assert paths.providers.read_text(encoding="utf-8") == content


async def test_without_a_file_or_entries_nothing_is_wrong(paths: DataPaths) -> None:
    documents = JsonDocuments(paths)
    await documents.load()
    assert documents.provider_problem("openai") is None and documents.problems() == ()
    documents = await loaded(paths, json.dumps({"version": 1, "providers": []}))
    assert documents.providers() == () and documents.provider_problem("openai") is None


@pytest.mark.parametrize(
    "entries",
    [
        [PRIVATE | {"base_url": 7}],
        [PRIVATE | {"base_url": "10.0.0.7"}],
        # Nobody knows which of two is meant, least of all where one of them cannot be read.
        [PRIVATE | {"base_url": 7}, {"id": "openai", "kind": "openai"}],
        [{"id": "openai", "kind": "openai"}, PRIVATE],
    ],
)
async def test_only_the_provider_of_a_damaged_entry_cannot_be_used(
    paths: DataPaths, entries: list[dict[str, object]]
) -> None:
    documents = await loaded(paths, json.dumps({"providers": [*entries, OTHER]}, indent=1))
    assert [one.id for one in documents.providers()] == ["openai", "lab"]
    problem = documents.provider_problem("openai")
    assert problem is not None and problem.line and problem.field.startswith("providers[")
    assert documents.provider_problem("lab") is None
    with pytest.raises(StorageError, match="unreadable_file"):
        await documents.throw_provider("openai")
    await documents.change_providers(lambda known: (*known, ProviderConfig(id="new", kind="ollama")))
    kept = json.loads(paths.providers.read_bytes())["providers"]
    assert [one for one in kept if one["id"] == "openai"] == entries
    assert [one["id"] for one in kept if one["id"] != "openai"] == ["lab", "new"]


async def test_an_entry_without_a_name_is_shown_by_its_place(paths: DataPaths) -> None:
    documents = await loaded(paths, json.dumps({"providers": [OTHER, {"base_url": "http://10.0.0.7/v1"}]}))
    assert [one.id for one in documents.providers()] == ["lab", "providers[1]"]
    assert documents.provider_problem("providers[1]") is not None


async def test_an_entry_that_was_corrected_meanwhile_is_not_overwritten(paths: DataPaths) -> None:
    documents = await loaded(paths, json.dumps({"providers": [PRIVATE | {"base_url": 7}]}))
    paths.providers.write_text(json.dumps({"providers": [PRIVATE]}), encoding="utf-8")
    await documents.change_providers(lambda known: (*known, ProviderConfig(id="new", kind="ollama")))
    kept = json.loads(paths.providers.read_bytes())["providers"]
    # Read again before the change, it is one of the usable entries.
    assert kept[0] == PRIVATE | {"enabled": True} and [one["id"] for one in kept] == ["openai", "new"]
    assert documents.provider_problem("openai") is None
