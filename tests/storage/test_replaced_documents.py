"""Another program changes or deletes documents and the ledger while Moot uses them: both versions are kept."""

import dataclasses
import json
from pathlib import Path

import pytest

from app.core.catalog import ProviderConfig
from app.core.definitions import Agent
from app.core.message import UsageEntry
from app.core.servers import McpServer
from app.storage.documents import JsonDocuments
from app.storage.json_file import Replaced
from app.storage.paths import DataPaths
from app.storage.sessions import JsonLogStore
from app.storage.usage_ledger import UsageFile
from tests.storage.test_replaced_files import cut, deleted, emptied, garbage, identical, older, replaced


async def documents_of(root: Path) -> tuple[JsonDocuments, list[Replaced], DataPaths]:
    told: list[Replaced] = []
    paths = DataPaths(root)
    documents = JsonDocuments(paths, on_replaced=told.append)
    await documents.load()
    return documents, told, paths


async def test_settings_that_were_changed_outside_are_used_and_the_own_are_kept(tmp_path):
    documents, told, paths = await documents_of(tmp_path)
    await documents.change_settings(lambda one: dataclasses.replace(one, theme="dark", language="ko"))
    own = paths.settings.read_bytes()
    theirs = json.loads(own) | {"theme": "light", "of_tomorrow": 1}
    replaced(paths.settings, json.dumps(theirs).encode())
    await documents.change_settings(lambda one: dataclasses.replace(one, language="en"))
    found = json.loads(paths.settings.read_bytes())
    assert (found["theme"], found["language"], found["of_tomorrow"]) == ("light", "en", 1)
    assert documents.settings().theme == "light"
    assert [(one.code, one.name) for one in told] == [("file_changed", "settings.json")]
    assert Path(told[0].kept).read_bytes() == own
    again = (await documents_of(tmp_path))[0]
    for one in (documents, again):
        assert [(found.path, found.code) for found in one.problems()] == [(told[0].kept, "other_version")]


@pytest.mark.parametrize("name", ["settings", "consents"])
async def test_an_own_document_that_was_deleted_or_destroyed_is_written_again(tmp_path, name):
    documents, told, paths = await documents_of(tmp_path)
    await documents.change_settings(lambda one: dataclasses.replace(one, theme="dark"))
    await documents.change_consents(lambda _: frozenset(("a",)))
    path = getattr(paths, name)
    path.unlink()
    await documents.change_settings(lambda one: dataclasses.replace(one, language="ko"))
    await documents.change_consents(lambda some: some | {"b"})
    replaced(path, b"{ broken")
    await documents.change_settings(lambda one: dataclasses.replace(one, text_size=115))
    await documents.change_consents(lambda some: some | {"c"})
    assert [one.code for one in told] == ["file_deleted", "file_unreadable"]
    assert Path(told[1].kept).read_bytes() == b"{ broken"
    again = (await documents_of(tmp_path))[0]
    assert again.consents() == {"a", "b", "c"}
    assert (again.settings().theme, again.settings().language) == ("dark", "ko")


async def test_providers_and_servers_that_were_added_outside_stay(tmp_path):
    documents, told, paths = await documents_of(tmp_path)
    await documents.change_providers(lambda _: (ProviderConfig(id="openai", kind="openai"),))
    await documents.change_mcp_servers(lambda _: (McpServer(name="files", command="files"),))
    providers = json.loads(paths.providers.read_bytes())
    providers["providers"].append({"id": "theirs", "kind": "anthropic"})
    replaced(paths.providers, json.dumps(providers).encode())
    servers = {"mcpServers": {"theirs": {"command": "there"}}}
    replaced(paths.mcp, json.dumps(servers).encode())
    await documents.change_providers(lambda some: (*some, ProviderConfig(id="groq", kind="groq")))
    await documents.change_mcp_servers(lambda some: (*some, McpServer(name="more", command="more")))
    again = (await documents_of(tmp_path))[0]
    assert [one.id for one in again.providers()] == ["openai", "theirs", "groq"]
    assert [one.name for one in again.mcp_servers()] == ["theirs", "more"]
    assert [(one.code, one.name) for one in told] == [
        ("file_changed", "providers.json"),
        ("file_changed", "mcp.json"),
    ]
    assert '"files"' in Path(told[1].kept).read_text()


async def test_an_assistant_that_was_changed_outside_is_kept_in_both_versions(tmp_path):
    documents, told, paths = await documents_of(tmp_path)
    for instructions in ("first", "mine"):
        await documents.assistants.change(
            lambda text=instructions: Agent(id="ada", name="Ada", instructions=text)
        )
    path = paths.root / "assistants" / "ada.json"
    replaced(path, json.dumps(json.loads(path.read_bytes()) | {"instructions": "theirs"}).encode())
    await documents.assistants.change(lambda: Agent(id="ada", name="Ada", instructions="mine, too"))
    assert [(one.code, one.name) for one in told] == [("definition_changed", "Ada")]
    kept = [one.instructions for one in await documents.assistants.versions("ada")]
    assert sorted(kept) == ["first", "mine", "theirs"]
    path.unlink()
    await documents.assistants.change(lambda: Agent(id="ada", name="Ada", instructions="last"))
    kept = [one.instructions for one in await documents.assistants.versions("ada")]
    assert sorted(kept) == ["first", "mine", "mine, too", "theirs"]


# The ledger.


def entry(number: int) -> UsageEntry:
    return UsageEntry(
        message_id=f"m{number}",
        at="2026-11-21T10:00:00.000Z",
        session_id="s",
        author_id="a",
        author="Ada",
        provider="openai",
        model="gpt",
        input_tokens=number,
    )


@pytest.mark.parametrize(
    "way", [identical, older, deleted, cut, emptied, garbage], ids=lambda one: one.__name__
)
@pytest.mark.parametrize("last", [True, False], ids=["at the end", "before a call"])
async def test_calls_stay_in_the_ledger(tmp_path, way, last):
    paths = DataPaths(tmp_path)
    store = JsonLogStore(paths)
    ledger = UsageFile(paths, store.in_turn)
    await ledger.bring_in([entry(1)])
    before = paths.usage.read_bytes()
    await ledger.bring_in([entry(2)])
    way(paths.usage, before, b"")
    if not last:
        ledger.add(entry(3))
    await ledger.close()
    await store.close()
    again = UsageFile(paths, store.in_turn, read_only=True)
    found = {one.message_id for one in await again.entries("2026-11")}
    assert found == {"m1", "m2"} | ({"m3"} if not last else set())
