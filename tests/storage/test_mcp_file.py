"""`mcp.json` and `consents.json` on a real disk: what other clients write, what is wrong, what survives."""

import json

import pytest

from app.core.errors import StorageError
from app.core.servers import McpServer
from app.storage.json_file import packed, unpacked
from tests.storage.samples import loaded

pytestmark = pytest.mark.usefixtures("folder")


FILES = {
    "command": "npx",
    "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/지민"],
    "env": {"TOKEN": "x"},
    "cwd": "/srv",
}
FROM_OTHERS = {
    "inputs": [],
    "mcpServers": {
        "files": {**FILES, "type": "stdio", "autoApprove": ["read"]},
        "docs": {"type": "http", "url": "https://example.com/mcp", "headers": {"Authorization": "Bearer x"}},
        "뉴스 server": {"url": "http://127.0.0.1:9/mcp", "disabled": True},
        "@scope/one": {"type": "streamableHttp", "url": "http://localhost:1/mcp"},
    },
}
READ = (
    McpServer(name="files", command="npx", args=tuple(FILES["args"]), env={"TOKEN": "x"}, cwd="/srv"),
    McpServer(name="docs", url="https://example.com/mcp", headers={"Authorization": "Bearer x"}),
    McpServer(name="뉴스 server", url="http://127.0.0.1:9/mcp", disabled=True),
    McpServer(name="@scope/one", url="http://localhost:1/mcp"),
)


async def test_the_servers_of_other_clients_are_read(paths):
    paths.mcp.write_text(json.dumps(FROM_OTHERS), "utf-8")
    documents = await loaded(paths)
    assert documents.mcp_servers() == READ
    assert documents.problems() == ()


OTHER_WORDS = {
    "opencode": {"type": "local", "command": ["npx", "-y", "x"], "environment": {"A": 1, "B": None}},
    "windsurf": {"serverUrl": "https://example.com/mcp"},
    "gemini": {"httpUrl": "https://example.com/mcp", "headers": {"X": True}},
    "zed": {"command": {"path": "npx", "args": ["x"], "env": None}, "enabled": False},
    "line": {"command": "npx -y x", "args": [8], "cwd": None},
    "blanks": {"command": "/opt/My Program/run"},
}
MEANT = (
    McpServer(name="opencode", command="npx", args=("-y", "x"), env={"A": "1"}),
    McpServer(name="windsurf", url="https://example.com/mcp"),
    McpServer(name="gemini", url="https://example.com/mcp", headers={"X": "true"}),
    McpServer(name="zed", command="npx", args=("x",), disabled=True),
    McpServer(name="line", command="npx", args=("-y", "x", "8")),
    McpServer(name="blanks", command="/opt/My Program/run"),
)


async def test_entries_with_the_words_of_other_programs_are_read_and_saved_in_ours(paths):
    paths.mcp.write_text(json.dumps({"mcpServers": OTHER_WORDS}))
    documents = await loaded(paths)
    assert (documents.mcp_servers(), documents.problems()) == (MEANT, ())
    await documents.change_mcp_servers(lambda now: now)
    again = await loaded(paths)
    assert (again.mcp_servers(), again.problems()) == (MEANT, ())
    entries = json.loads(paths.mcp.read_bytes())["mcpServers"]
    assert entries["zed"] == {"command": "npx", "args": ["x"], "disabled": True}


@pytest.mark.parametrize(
    "gone", [{"roots": ["/home/지민"]}, {"sampling": True}, {"sampling": "yes", "roots": 1}]
)
async def test_an_entry_with_what_moot_no_longer_offers_is_read_as_one_without(paths, gone):
    paths.mcp.write_text(json.dumps({"mcpServers": {"files": {**FILES, **gone}}}))
    documents = await loaded(paths)
    assert (documents.mcp_servers(), documents.problems()) == (READ[:1], ())
    assert documents.mcp_servers()[0].fingerprint == READ[0].fingerprint


async def test_no_secret_under_another_name_is_in_a_backup():
    entry = {"command": ["x"], "environment": {"TOKEN": "canary-one"}}
    web = {"serverUrl": "https://canary-two:canary-three@example.com/mcp?api_key=canary-four"}
    bad = {"httpUrl": "https://me:canary-five@h", "headers": {"Authorization": "Bearer canary-six"}}
    data = json.dumps({"mcpServers": {"entry": entry, "web": web, "bad": bad}}).encode()
    cleared = packed(data)
    assert b"canary" not in cleared
    assert b"${secret:env.TOKEN}" in cleared and b"${secret:headers.Authorization}" in cleared


async def test_a_save_keeps_what_moot_does_not_know(paths):
    odd = {"of_tomorrow": True}
    paths.mcp.write_text(json.dumps({**FROM_OTHERS, "mcpServers": {**FROM_OTHERS["mcpServers"], "odd": odd}}))
    documents = await loaded(paths)
    _, docs, news, _ = READ
    moved = McpServer(name="files", url="https://files.example.com/mcp")
    new = McpServer(name="new", command="uvx", args=("mcp-server-time",))
    await documents.change_mcp_servers(lambda _: (moved, docs, news, new))
    assert documents.mcp_servers() == (moved, docs, news, new)
    after = json.loads(paths.mcp.read_bytes())
    assert after["inputs"] == []
    assert after["mcpServers"]["odd"] == odd
    assert after["mcpServers"]["files"] == {"autoApprove": ["read"], "url": moved.url}
    assert after["mcpServers"]["docs"] == FROM_OTHERS["mcpServers"]["docs"]
    assert after["mcpServers"]["new"] == {"command": "uvx", "args": ["mcp-server-time"]}
    assert "@scope/one" not in after["mcpServers"]
    previous = json.loads((paths.root / "mcp.json.bak").read_bytes())
    # What was replaced is kept, but for its secrets; what stayed stands in the file itself.
    files = {**FROM_OTHERS["mcpServers"]["files"], "env": {"TOKEN": "${secret:env.TOKEN}"}}
    assert previous["mcpServers"] == {**FROM_OTHERS["mcpServers"], "files": files, "odd": odd}
    assert (await loaded(paths)).mcp_servers() == documents.mcp_servers()


async def test_servers_are_written_where_there_was_no_file(paths):
    documents = await loaded(paths)
    assert (documents.mcp_servers(), documents.problems()) == ((), ())
    await documents.change_mcp_servers(lambda _: READ)
    assert (await loaded(paths)).mcp_servers() == READ
    assert paths.mcp.stat().st_mode & 0o777 == 0o600


FAULTS = [
    ({}, "missing", ".command"),
    ({"command": " "}, "missing", ".command"),
    ({"type": "http"}, "missing", ".url"),
    ({"type": "stdio", "url": "http://x/mcp"}, "missing", ".command"),
    ({"type": "http", "command": "x"}, "missing", ".url"),
    ({"type": "sse", "url": "http://x/sse"}, "unknown_transport", ".type"),
    ({"type": 1, "command": "x"}, "wrong_type", ".type"),
    ({"command": [["npx"], "x"]}, "wrong_type", ".command"),
    ({"command": "x", "args": "-y"}, "wrong_type", ".args"),
    ({"command": "x", "args": ["-y", {}]}, "wrong_type", ".args[1]"),
    ({"command": "x", "env": ["A=1"]}, "wrong_type", ".env"),
    ({"command": "x", "env": {"A": []}}, "wrong_type", ".env.A"),
    ({"command": "x", "cwd": 1}, "wrong_type", ".cwd"),
    ({"command": "x", "disabled": "no"}, "wrong_type", ".disabled"),
    ({"url": "file:///etc/passwd"}, "bad_url", ".url"),
    ({"url": "javascript:alert(1)"}, "bad_url", ".url"),
    ({"url": "http://x", "headers": {"A": {}}}, "wrong_type", ".headers.A"),
    ({"url": "http://me:pw@x", "headers": {"authorization": "Basic x"}}, "bad_url", ".url"),
    ({"url": "http://x", "command": "x"}, "command_and_url", ".url"),
    ("npx", "wrong_type", ""),
    (None, "wrong_type", ""),
]


@pytest.mark.parametrize(("entry", "code", "field"), FAULTS)
async def test_a_faulty_entry_is_named_passed_over_and_kept(paths, entry, code, field):
    paths.mcp.write_text(json.dumps({"mcpServers": {"files": FILES, "bad": entry}}, indent=1))
    documents = await loaded(paths)
    assert documents.mcp_servers() == READ[:1]
    [problem] = documents.problems()
    assert (problem.path, problem.code, problem.field) == (str(paths.mcp), code, f"mcpServers.bad{field}")
    assert (problem.line or 0) > 5
    await documents.change_mcp_servers(lambda _: (*READ[:1], READ[1]))
    assert json.loads(paths.mcp.read_bytes())["mcpServers"]["bad"] == entry


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 65, "\u202eevil"])
async def test_a_name_nobody_can_read_is_none(paths, name):
    paths.mcp.write_text(json.dumps({"mcpServers": {name: FILES}}))
    documents = await loaded(paths)
    assert documents.mcp_servers() == ()
    assert [one.code for one in documents.problems()] == ["bad_server_name"]
    with pytest.raises(StorageError, match="invalid_record"):
        await documents.change_mcp_servers(lambda _: (McpServer(name=name, command="x"),))


UNREADABLE = {
    "empty": (b"", "empty"),
    "truncated": (b'{"mcpServers": {"a"', "not_json"),
    "list": (b"[]", "not_an_object"),
    "twins": (b'{"mcpServers": {"a": {},\n"a": {}}}', "duplicate_key"),
    "utf-16": ('{"mcpServers": {}}'.encode("utf-16"), "encoding"),
    "deep": (b'{"x":' + b"[" * 100_000, "too_deep"),
    "servers of the wrong kind": (b'{"mcpServers": []}', "wrong_type"),
}


@pytest.mark.parametrize(("data", "code"), UNREADABLE.values(), ids=list(UNREADABLE))
async def test_a_file_that_cannot_be_read_is_reported_and_never_touched(paths, data, code):
    paths.mcp.write_bytes(data)
    documents = await loaded(paths)
    assert documents.mcp_servers() == ()
    assert [one.code for one in documents.problems()] == [code]
    with pytest.raises(StorageError, match="unreadable_file"):
        await documents.change_mcp_servers(lambda _: READ)
    assert paths.mcp.read_bytes() == data


async def test_a_file_without_servers_says_so_and_takes_some(paths):
    paths.mcp.write_text('{"servers": {}}')
    documents = await loaded(paths)
    assert [(one.code, one.field) for one in documents.problems()] == [("missing", "mcpServers")]
    await documents.change_mcp_servers(lambda _: READ)
    assert documents.problems() == ()
    assert json.loads(paths.mcp.read_bytes())["servers"] == {}


async def test_consents_are_kept(paths):
    documents = await loaded(paths)
    assert documents.consents() == frozenset()
    await documents.change_consents(lambda _: frozenset(("b", "a")))
    assert documents.consents() == {"a", "b"}
    again = await loaded(paths)
    assert again.consents() == {"a", "b"}
    document = json.loads(paths.consents.read_bytes())
    assert document["consents"] == ["a", "b"]
    paths.consents.write_text(json.dumps({**document, "of_tomorrow": 1}))
    await again.change_consents(lambda _: frozenset())
    assert json.loads(paths.consents.read_bytes()) == {"version": 1, "consents": [], "of_tomorrow": 1}


@pytest.mark.threat("T12")
@pytest.mark.parametrize(
    ("data", "code", "left"),
    [
        (b'{"consents": ["a", 1]}', "wrong_type", {"a"}),
        (b'{"consents": "a"}', "wrong_type", set()),
        (b'{"consents": ["a"', "not_json", set()),
        (b"", "empty", set()),
        (b'{"version": 2, "consents": ["a"]}', "newer_version", set()),
    ],
)
async def test_what_cannot_be_read_of_the_consents_is_asked_again(paths, data, code, left):
    await (await loaded(paths)).change_consents(lambda _: frozenset("z"))
    await (await loaded(paths)).change_consents(lambda _: frozenset("yz"))
    paths.consents.write_bytes(data)
    documents = await loaded(paths)
    # Not from the copy before: what was taken back would be allowed again.
    assert documents.consents() == left
    assert [one.code for one in documents.problems()] == [code]
    if code == "newer_version":
        with pytest.raises(StorageError, match="newer_version"):
            await documents.change_consents(lambda _: frozenset("a"))
        assert paths.consents.read_bytes() == data
        return
    await documents.change_consents(lambda _: frozenset("b"))
    again = await loaded(paths)
    assert (again.consents(), again.problems()) == ({"b"}, ())
    if code in ("not_json", "empty"):
        assert next(paths.quarantine.iterdir()).read_bytes() == data


@pytest.mark.threat("T1")
async def test_a_backup_has_no_secret_somebody_wrote_by_hand(paths):
    odd = {"type": "sse", "url": "http://x?key=canary-1", "headers": {"A": "canary-2"}, "env": ["canary-3"]}
    entries = {
        "files": {**FILES, "env": {"TOKEN": "canary-4", "MODE": "on"}, "args": ["--token", "canary-5"]},
        "odd": odd | {"env": {}},
    }
    data = json.dumps({"mcpServers": entries, "inputs": []}).encode()
    kept = packed(data)
    assert b"canary" not in kept
    document = json.loads(kept)
    assert document["mcpServers"]["files"] == {
        **FILES,
        "env": {"TOKEN": "${secret:env.TOKEN}", "MODE": "on"},
        "args": ["--token", "${secret:args.token}"],
    }
    assert document["mcpServers"]["odd"]["headers"] == {"A": "${secret:headers.A}"}
    assert document["inputs"] == []
    assert packed(kept) == kept
    assert b"canary" not in packed(data[:-5])
    # Where they still stand, bringing the backup back loses none of them.
    assert json.loads(unpacked(kept, data)) == json.loads(data)
    for other in (b"", b"[]", b'{"mcpServers": []}', b'{"mcpServers": {"files": 1}}'):
        assert unpacked(kept, other) == kept
    plain = b'{"mcpServers":   {"files": {"command": "x"}}}'
    assert packed(plain) == plain


@pytest.mark.threat("T1")
async def test_what_is_wrong_with_an_address_is_said_without_what_is_secret_in_it(paths):
    for url in ("https://me:canary@/mcp", "nonsense?api_key=canary"):
        paths.mcp.write_text(json.dumps({"mcpServers": {"bad": {"url": url}}}))
        [problem] = (await loaded(paths)).problems()
        assert problem.code == "bad_url"
        assert problem.detail and "canary" not in repr(problem)
