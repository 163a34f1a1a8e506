"""Secrets of MCP servers: in the keyring alone, given to the server itself, and told by nobody it tells.

Real servers, one a process and one at an address, that repeat all they are given wherever they can.
"""

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from app.cli.arguments import Arguments
from app.cli.commands.doctor import examine
from app.cli.printing.lines import load_texts
from app.core.definitions import Agent
from app.core.errors import BadInput, NotFound
from app.core.servers import McpServer, secret_fields
from app.core.store import Difference
from app.core.tool import ServerProblem, ServerState, ToolError
from app.storage.paths import DataPaths
from app.storage.secrets import MARK
from app.wiring import Moot, open_moot
from tests.storage.test_secrets import SHELL, Backend
from tests.stories.processes import PROJECT
from tests.test_doctor import Lines
from tests.tools.serving import Context, allow, free_port, python, running
from tests.wire import Answer, WireCall, WireServer
from tests.wire.fixtures import wire_home, wire_servers
from tests.wire.server import Recorded

__all__ = ["wire_home", "wire_servers"]

CANARIES = {
    name: f"canary-{name}-7Qx0ZlV9pT3mKw8RbN2d" for name in ("variable", "argument", "header", "query")
}
pytestmark = [pytest.mark.threat("T13"), pytest.mark.timeout(240), pytest.mark.usefixtures("few_packages")]


def leaks(text: str) -> list[str]:
    return [name for name, canary in CANARIES.items() if canary in text or canary[10:] in text]


def a_process(name: str = "process") -> McpServer:
    command, script = python("telling.py")
    return McpServer(
        name=name,
        command=command,
        args=(script, "--token", CANARIES["argument"]),
        env={"NOTES": CANARIES["variable"], "MODE": "on"},
    )


def an_address(port: int, path: str = "mcp") -> McpServer:
    return McpServer(
        name="address",
        url=f"http://127.0.0.1:{port}/{path}?api_key={CANARIES['query']}&project=x",
        headers={"Authorization": f"Bearer {CANARIES['header']}"},
    )


@pytest.fixture
def keyring(monkeypatch: pytest.MonkeyPatch) -> Backend:
    """A keyring that works, in place of the one that fails."""
    backend = Backend()
    monkeypatch.setattr("keyring.get_keyring", lambda: backend)
    return backend


@asynccontextmanager
async def opened(data_dir: Path) -> AsyncIterator[Moot]:
    moot = await open_moot(data_dir)
    try:
        yield moot
    finally:
        await moot.close()


def by_hand(data_dir: Path, server: McpServer) -> None:
    data_dir.mkdir(exist_ok=True)
    entry = {"command": server.command, "args": list(server.args), "env": dict(server.env), "autoApprove": []}
    (data_dir / "mcp.json").write_text(json.dumps({"mcpServers": {server.name: entry}}), "utf-8")


def states(moot: Moot) -> dict[str, str]:
    return {one.server.name: one.state for one in moot.engine.servers.all()}


async def told(moot: Moot, server: str, tool: str) -> str:
    """Call a tool and return all that comes of it, and all that is known of it before."""
    found = {one.key: one for one in moot.tools.server_tools([server])}[f"{server}__{tool}"]
    try:
        result = await found.run({}, Context())
    except ToolError as error:
        return f"{found.description} {dict(found.parameters)} {error}"
    return f"{found.description} {dict(found.parameters)} {result.content} {result.resources}"


async def given(moot: Moot, server: str) -> dict[str, str]:
    """Return the digests of what a server really was given."""
    found = {one.key: one for one in moot.tools.server_tools([server])}[f"{server}__digest"]
    digests = json.loads((await found.run({}, Context())).content)
    return {name.removesuffix(" digest"): value for name, value in digests.items()}


async def doctor(data_dir: Path, *, as_json: bool = False) -> str:
    lines = Lines()
    await examine(DataPaths(data_dir), Arguments(command="doctor", json=as_json), lines, load_texts("en"))
    return lines.out


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def written(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield name and text of every file there is, and of what is in every zip."""
    for path in folder.rglob("*"):
        if path.is_file():
            yield str(path), path.read_text("utf-8", "replace")
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as file:
                for name in file.namelist():
                    yield f"{path}/{name}", file.read(name).decode("utf-8", "replace")


async def test_a_secret_reaches_its_server_and_nothing_else(
    keyring: Backend, wire_home: dict[str, WireServer], data_dir: Path
) -> None:
    def script(request: Recorded) -> Answer:
        results = [message.text for message in request.messages if message.role == "tool"]
        if results:
            return Answer(f"It said: {results[-1]}")
        return Answer(calls=(WireCall("process__tell"),))

    wire_home["openai"].script("openai-wire", script)
    port, said = free_port(), []
    async with running(*python("telling.py"), "--port", str(port), port=port):
        async with opened(data_dir) as moot:
            engine = moot.engine
            assert await engine.servers.save((a_process(), an_address(port)))
            for name in ("process", "address"):
                await allow(engine, name)
            assert states(moot) == {"process": ServerState.CONNECTED, "address": ServerState.CONNECTED}
            there = await given(moot, "process")
            assert (there["NOTES"], there["argument 2"]) == (
                digest(CANARIES["variable"]),
                digest(CANARIES["argument"]),
            )
            there = await given(moot, "address")
            there = {name.lower(): value for name, value in there.items()}
            assert there["authorization"] == digest(f"Bearer {CANARIES['header']}")
            assert there["path"] == digest(f"/mcp?api_key={CANARIES['query']}&project=x")
            for name in ("process", "address"):
                for tool in ("tell", "page", "fail"):
                    said.append(await told(moot, name, tool))
                    assert MARK in said[-1]
            agent = Agent(
                id="ann", name="Ann", provider="openai", model="openai-wire", mcp_servers=("process",)
            )
            await engine.assistants.save(agent)
            session_id = await engine.chats.start("ann", "Tell me.")
            while not (waiting := engine.chats.needs_you()):
                await engine.wait(session_id)
            await engine.chats.answer(session_id, waiting[0][1].id, "allow")
            await engine.wait(session_id)
            said += [await engine.export(session_id, form) for form in ("md", "html", "json")]
            said.append(await told(moot, "process", "end"))
            refused = replace(an_address(port, "refuse"), name="refused")
            await engine.servers.save((a_process(), an_address(port), refused))
            await allow(engine, "refused")
            assert states(moot)["refused"] == ServerState.DOWN
            said += [repr(moot.engine.servers.all()), repr(engine.problems())]
            await engine.archive.back_up()
            said += [await doctor(data_dir), await doctor(data_dir, as_json=True)]
        everything = [*said, *(text for _, text in written(data_dir))]
        assert [leaks(text) for text in everything if leaks(text)] == []
        assert any("It said" in text for text in everything)
        entries = json.loads((data_dir / "mcp.json").read_text("utf-8"))["mcpServers"]
        assert entries["process"]["env"] == {"NOTES": "${secret:env.NOTES}", "MODE": "on"}
        assert entries["address"]["headers"] == {"Authorization": "${secret:headers.Authorization}"}
        sent = [json.dumps(one.body) for one in wire_home["openai"].requests]
        assert any(MARK in one for one in sent) and not any(map(leaks, sent))

        # The next run has them from the keyring.
        async with opened(data_dir) as moot:
            await moot.engine.servers.attach(["process", "address"])
            assert states(moot) | {"refused": ""} == {
                "process": ServerState.CONNECTED,
                "address": ServerState.CONNECTED,
                "refused": "",
            }
            assert (await given(moot, "process"))["NOTES"] == digest(CANARIES["variable"])


async def test_what_is_removed_renamed_or_replaced_leaves_nothing_behind(
    keyring: Backend, data_dir: Path
) -> None:
    def kept() -> set[str]:
        return {user for _, user in keyring.kept}

    async with opened(data_dir) as moot:
        engine = moot.engine
        await engine.servers.save(
            (replace(a_process(), env={"NOTES": CANARIES["variable"], "MODE": "quiet"}),)
        )
        await allow(engine, "process")
        assert kept() == {"mcp:process:env.NOTES", "mcp:process:args.token"}

        undo = await engine.servers.remove("process")
        assert (kept(), states(moot)) == (set(), {})
        assert await undo()
        assert kept() == {"mcp:process:env.NOTES", "mcp:process:args.token"}
        await engine.servers.attach(["process"])
        assert states(moot) == {"process": ServerState.CONNECTED}, "it was allowed, and is the same"
        assert (await given(moot, "process"))["NOTES"] == digest(CANARIES["variable"])

        agent = Agent(id="ann", name="Ann", mcp_servers=("process",))
        await engine.assistants.save(agent)
        (status,) = engine.servers.all()
        assert await engine.servers.replace("process", replace(status.server, name="renamed"))
        assert kept() == {"mcp:renamed:env.NOTES", "mcp:renamed:args.token"}
        await engine.servers.attach(["renamed"])
        assert (await given(moot, "renamed"))["NOTES"] == digest(CANARIES["variable"])
        assert {one.id: one for one in engine.assistants.all()}["ann"].mcp_servers == ("renamed",)

        # Another value of the same secret counts at once, and asks nothing.
        (status,) = engine.servers.all()
        other = replace(status.server, env={**status.server.env, "NOTES": "another-canary-12345"})
        assert await engine.servers.replace("renamed", other)
        assert states(moot) == {"renamed": ServerState.CONNECTED}
        assert (await given(moot, "renamed"))["NOTES"] == digest("another-canary-12345")

        await engine.servers.save(
            (McpServer(name="renamed", command="other"), McpServer(name="more", command="x"))
        )
        assert kept() == set()
        with pytest.raises(BadInput, match="server_name_taken"):
            await engine.servers.replace("more", McpServer(name="renamed", command="x"))
        with pytest.raises(NotFound, match="mcp_server_not_found"):
            await engine.servers.remove("gone")
        with pytest.raises(BadInput, match="server_address_user"):
            await engine.servers.save((McpServer(name="more", url="https://me:canary@h/mcp"),))
        assert kept() == set()


async def test_what_was_written_by_hand_works_and_goes_to_the_keyring_on_the_next_save(
    keyring: Backend, data_dir: Path
) -> None:
    async with opened(data_dir) as moot:
        by_hand(data_dir, a_process())
        await moot.documents.load()
        engine = moot.engine
        await allow(engine, "process")
        assert states(moot) == {"process": ServerState.CONNECTED}
        assert (await given(moot, "process"))["argument 2"] == digest(CANARIES["argument"])
        said = [await told(moot, "process", tool) for tool in ("tell", "page", "fail", "end")]
        found = await doctor(data_dir)
        assert "env.NOTES, args.token" in found or "args.token, env.NOTES" in found
        await engine.servers.save((McpServer(name="b", command="c"),))
        backup = await engine.archive.back_up()
        contents = await engine.archive.files.contents(backup.path)
        assert {one.name: one.state for one in contents.documents}["mcp.json"] == Difference.SAME
        said += [found, *(text for name, text in written(data_dir) if "mcp.json" not in Path(name).name)]
        said += [text for name, text in written(data_dir) if ".zip/" in name]
        assert [text for text in said if leaks(text)] == []
        assert leaks((data_dir / "mcp.json").read_text("utf-8")), "another server was saved, not this one"

        (status, _) = engine.servers.all()
        assert await engine.servers.replace("process", status.server)
        assert [name for name, text in written(data_dir) if leaks(text)] == []
        entry = json.loads((data_dir / "mcp.json").read_text("utf-8"))["mcpServers"]["process"]
        assert entry["autoApprove"] == [] and entry["args"][-1] == "${secret:args.token}"
        await engine.servers.attach(["process"])
        assert states(moot)["process"] == ServerState.CONNECTED, "the same server does not ask again"
        assert (await given(moot, "process"))["argument 2"] == digest(CANARIES["argument"])
        assert "args.token" not in await doctor(data_dir)


async def test_what_is_secret_in_an_address_written_by_hand_goes_to_the_keyring_at_the_start(
    keyring: Backend, data_dir: Path
) -> None:
    login = base64.b64encode(f"me:{CANARIES['header']}".encode()).decode()
    entries = {
        "login": {"url": f"http://me:{CANARIES['header']}@127.0.0.1:1/mcp"},
        "key": {"httpUrl": f"http://127.0.0.1:1/mcp?api_key={CANARIES['query']}"},
        "token": {"command": "git", "args": [f"https://{CANARIES['argument']}@example.com/x.git"]},
        "base": {"command": "query", "args": [f"postgres://me:{CANARIES['variable']}@127.0.0.1/base"]},
    }
    data_dir.mkdir()
    (data_dir / "mcp.json").write_text(json.dumps({"mcpServers": entries}), "utf-8")
    async with opened(data_dir) as moot:
        await moot.engine.servers.secure()
        assert [name for name, text in written(data_dir) if leaks(text) or login in text] == []
        assert {user: value for (_, user), value in keyring.kept.items()} == {
            "mcp:login:headers.Authorization": f"Basic {login}",
            "mcp:key:url.api_key": CANARIES["query"],
            "mcp:token:args.user": CANARIES["argument"],
            "mcp:base:args.password": CANARIES["variable"],
        }
        shown = await doctor(data_dir)
        assert leaks(shown) == [] and "http://127.0.0.1:1/mcp" in shown
        # The address is as good as any other from now on.
        (status, *_) = moot.engine.servers.all()
        assert await moot.engine.servers.replace("login", replace(status.server, cwd="/"))


async def test_without_a_keyring_a_secret_is_for_this_run_and_what_stood_in_the_file_stays(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_hand(data_dir, a_process("hand"))
    before = (data_dir / "mcp.json").read_text("utf-8")
    async with opened(data_dir) as moot:
        engine = moot.engine
        (status,) = engine.servers.all()
        assert await engine.servers.save((replace(status.server, disabled=True),))
        assert leaks((data_dir / "mcp.json").read_text("utf-8")) == leaks(before), "nothing of it is lost"
        (status,) = engine.servers.all()
        assert not await engine.servers.save((status.server, a_process()))
        await allow(engine, "process")
        assert (await given(moot, "process"))["NOTES"] == digest(CANARIES["variable"])
        fields = secret_fields(engine.servers.all()[1].server)
        assert set(fields) == {"env.NOTES", "args.token"}
    async with opened(data_dir) as moot:
        await moot.engine.servers.attach(["process"])
        status = moot.engine.servers.all()[1]
        assert (status.state, status.problem) == (ServerState.DOWN, ServerProblem.NO_VALUE)
        assert "env.NOTES" in status.detail and "args.token" in status.detail
        assert "env.NOTES" in await doctor(data_dir)
    monkeypatch.setenv("MOOT_KEY_MCP_PROCESS_ENV_NOTES", CANARIES["variable"])
    monkeypatch.setenv("MOOT_KEY_MCP_PROCESS_ARGS_TOKEN", CANARIES["argument"])
    async with opened(data_dir) as moot:
        await moot.engine.servers.attach(["process"])
        assert (await given(moot, "process"))["NOTES"] == digest(CANARIES["variable"])
        assert not leaks(await told(moot, "process", "tell"))


async def test_a_reference_written_by_hand_asks_again_where_it_changes_what_runs(
    keyring: Backend, data_dir: Path
) -> None:
    async with opened(data_dir) as moot:
        await moot.engine.servers.save((a_process(),))
        await allow(moot.engine, "process")
    file = data_dir / "mcp.json"
    file.write_text(file.read_text("utf-8").replace("--token", "--other"), "utf-8")
    async with opened(data_dir) as moot:
        await moot.engine.servers.attach(["process"])
        assert states(moot) == {"process": ServerState.ASKING}


REAL = """
import asyncio, pathlib, sys
from app.wiring import open_moot
from app.core.tool import McpServer
async def main(folder):
    server = McpServer(name="나의 notes", command="x", env={"TOKEN": "canary-real\\nkeyring 값"})
    moot = await open_moot(folder)
    assert await moot.engine.servers.save((server,)), moot.secrets.keyring_problem
    await moot.close()
    moot = await open_moot(folder)
    get = moot.secrets.get
    assert get("mcp:나의 notes:env.TOKEN", "") == server.env["TOKEN"]
    undo = await moot.engine.servers.remove("나의 notes")
    await moot.secrets.refresh((("mcp:나의 notes:env.TOKEN", ""),))
    assert get("mcp:나의 notes:env.TOKEN", "") is None
    assert await undo() and get("mcp:나의 notes:env.TOKEN", "") == server.env["TOKEN"]
    await moot.engine.servers.remove("나의 notes")
    await moot.close()
    assert not any(b"canary" in one.read_bytes() for one in folder.rglob("*") if one.is_file())
    print("kept and removed")
asyncio.run(main(pathlib.Path(sys.argv[1])))
"""


@pytest.mark.slow  # .ci/full installs the keyring.
@pytest.mark.skipif(
    not (shutil.which("gnome-keyring-daemon") and shutil.which("dbus-run-session")),
    reason="needs gnome-keyring-daemon and dbus-run-session",
)
def test_a_real_keyring_keeps_the_secrets_of_a_server(data_dir: Path, tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHON_KEYRING_BACKEND"}
    for name in ("XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME"):
        folder = tmp_path / name
        folder.mkdir(mode=0o700)
        environment[name] = str(folder)
    script = REAL.replace("sys.argv[1]", repr(str(data_dir)))
    done = subprocess.run(
        ["dbus-run-session", "--", "bash", "-c", SHELL, sys.executable, script],
        capture_output=True, text=True, timeout=120, env=environment, cwd=PROJECT, check=False,
    )  # fmt: skip
    assert done.stdout.startswith("kept and removed"), done.stdout + done.stderr


@pytest.mark.threat("T12")
@pytest.mark.parametrize("changed", [{"GIT_EDITOR": "evil"}, {"GIT_EDITOR": "vim", "HOME": "/tmp/evil"}])
async def test_a_value_that_was_changed_in_the_file_asks_again(
    keyring: Backend, data_dir: Path, changed: dict[str, str]
) -> None:
    """Also a value that goes to the keyring at the next start: it was not allowed before it went there."""
    entry = {"GIT_EDITOR": "vim", "HOME": "/home/me"}
    async with opened(data_dir) as moot:
        await moot.engine.servers.save((replace(a_process(), env=entry),))
        await allow(moot.engine, "process")
        assert states(moot) == {"process": ServerState.CONNECTED}
    async with opened(data_dir) as moot:
        assert states(moot)["process"] != ServerState.ASKING
        (server,) = moot.documents.mcp_servers()
        assert secret_fields(server) == ("args.token", "env.GIT_EDITOR")
    by_hand(data_dir, replace(server, env={**server.env, **changed}))
    async with opened(data_dir) as moot:
        assert states(moot) == {"process": ServerState.ASKING}
