"""A server in the bin: it comes back as it was and to where it was, but for what was secret in it."""

import json

import pytest

from app.core.errors import BadInput, NotFound, StorageError
from app.core.servers import McpServer
from app.storage.documents import JsonDocuments
from app.storage.paths import DataPaths
from app.storage.sessions import JsonLogStore
from app.storage.stored_data import FileArchive
from tests.storage.test_restore import put

CANARY = "canary-thrown-7Qx0ZlV9pT3mKw8RbN2d"
ENTRIES = {
    "first": {"command": "a"},
    "나의 ../notes": {"command": "b", "env": {"TOKEN": CANARY, "MODE": "on"}, "autoApprove": ["x"]},
    "broken": {"command": 3},
    "last": {"url": "https://h.example/mcp"},
}


async def test_a_server_comes_out_of_the_bin_as_it_was_and_where_it_was(
    paths: DataPaths, store: JsonLogStore
):
    put(paths.mcp, json.dumps({"theirs": True, "mcpServers": ENTRIES}))
    documents = JsonDocuments(paths)
    await documents.load()
    archive = FileArchive(paths, store, documents)
    file = await documents.throw_server("나의 ../notes")
    assert [one.name for one in documents.mcp_servers()] == ["first", "last"]
    assert [one for one in paths.root.rglob("*") if one.is_file() and CANARY in one.read_text("utf-8")] == []
    (thrown,) = await archive.thrown()
    assert (thrown.file, thrown.title, thrown.kind) == (file, "나의 ../notes", "server")
    assert await archive.take_out(file) == ""
    document = json.loads(paths.mcp.read_text("utf-8"))
    entry = document["mcpServers"]["나의 ../notes"]
    assert entry["env"] == {"TOKEN": "${secret:env.TOKEN}", "MODE": "on"}
    assert (list(document["mcpServers"]), entry["autoApprove"]) == (list(ENTRIES), ["x"])
    assert (document["theirs"], await archive.thrown()) == (True, ())
    assert [one.name for one in documents.mcp_servers()] == ["first", "나의 ../notes", "last"]


async def test_a_server_stays_in_the_bin_while_another_has_its_name(paths: DataPaths, store: JsonLogStore):
    put(paths.mcp, json.dumps({"mcpServers": ENTRIES}))
    documents = JsonDocuments(paths)
    await documents.load()
    archive = FileArchive(paths, store, documents)
    first = await documents.throw_server("first")
    await documents.change_mcp_servers(lambda known: (*known, McpServer(name="first", command="other")))
    with pytest.raises(BadInput, match="bin_place_taken"):
        await archive.take_out(first)
    second = await documents.throw_server("first")
    assert second != first
    put(paths.trash / second, '{"mcpServers": {"first": {}}}')
    with pytest.raises(StorageError):
        await archive.take_out(second)
    await archive.take_out(first)
    assert documents.mcp_servers()[0] == McpServer(name="first", command="a")
    with pytest.raises(NotFound):
        await documents.throw_server("broken")
