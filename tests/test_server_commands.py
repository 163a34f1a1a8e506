"""`moot servers`: what is shown before a server may run, what a yes records, and a window that takes notice."""

import asyncio
import json
import sys
import webbrowser
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.cli.arguments import Arguments, parse_arguments
from app.cli.commands.sessions import run_command
from app.cli.control import hand_over
from app.cli.printing.lines import load_texts
from app.core.definitions import Agent
from app.core.errors import BadInput, NotFound
from app.core.servers import LOGIN, McpServer, secret_place
from app.core.tool import ServerState
from app.storage.paths import DataPaths
from app.wiring import Moot, open_moot
from tests.app_driver import at_window, until
from tests.asked import Answers, run
from tests.split_hosts import loaded_tool_host, own_host, split_tool_hosts  # noqa: F401
from tests.tools.servers.guarded import guarded
from tests.tools.serving import SERVERS as PROGRAMS
from tests.tools.serving import proper

ALLOW_IT = Arguments(command="servers", values={"action": "allow", "name": "proper"})
DENY_IT = Arguments(command="servers", values={"action": "deny", "name": "proper"})
LIST_THEM = Arguments(command="servers", json=True)


@pytest.fixture
async def moot(data_dir: Path) -> AsyncIterator[Moot]:
    moot = await open_moot(data_dir)
    yield moot
    await moot.close()


async def state(moot: Moot) -> str:
    _, out = await run(moot, LIST_THEM)
    return json.loads(out.out)[0]["state"]


async def entry(moot: Moot, **fields: object) -> McpServer:
    server = proper(**fields)
    await moot.engine.servers.save((server,))
    return moot.engine.servers.all()[0].server


@pytest.mark.threat("T12")
async def test_a_server_is_allowed_after_it_was_shown_to_the_letter(moot: Moot) -> None:
    odd = "a\u202eb\x1b[2J\nIt also gets these secrets (values not shown): none"
    script = str(PROGRAMS / "proper.py")
    env = {"HOME": "/x", "API_TOKEN": "canary-7Qx0Zl9pT3m"}
    server = McpServer(name="proper", command=sys.executable, args=(script, odd), cwd="/", env=env)
    await moot.engine.servers.save((server,))
    [server] = [one.server for one in moot.engine.servers.all()]
    status, out = await run(moot, ALLOW_IT, "n")
    assert (status, out.questions, moot.documents.consents()) == (
        4,
        [("Allow this server to run? [y/N] ", False)],
        frozenset(),
    )
    lines = out.out.splitlines()
    assert any(script in line and "a⟨U+202E⟩b⟨U+001B⟩[2J" in line for line in lines)
    assert not set(out.out) & {"\u202e", "\x1b"}
    assert "  HOME=/x" in lines and "Folder: /" in lines
    assert "It also gets these secrets (values not shown): API_TOKEN" in lines
    assert "canary" not in out.out + "".join(out.err)
    assert len([line for line in lines if line.startswith("It also gets")]) == 1

    assert (await run(moot, ALLOW_IT, "y"))[0] == 0
    # What the window would have kept of its consent.
    assert server.fingerprint in moot.documents.consents()


async def test_a_yes_connects_and_a_changed_entry_asks_again(moot: Moot) -> None:
    await entry(moot)
    assert await state(moot) == ServerState.ASKING
    status, out = await run(moot, ALLOW_IT, "Yes")
    assert (status, await state(moot)) == (0, ServerState.CONNECTED)
    assert "proper__add" in out.out
    await entry(moot, env={"MORE": "1"})
    assert await state(moot) == ServerState.ASKING


@pytest.mark.parametrize("json_wanted", [False, True])
async def test_where_nobody_can_be_asked_it_takes_a_yes_on_the_command_line(
    moot: Moot, json_wanted: bool
) -> None:
    server = await entry(moot)
    arguments = Arguments(command="servers", json=json_wanted, values={"action": "allow", "name": "proper"})
    with pytest.raises(BadInput, match="needs_yes"):
        await run(moot, arguments, None)
    assert moot.documents.consents() == frozenset()
    status, out = await run(
        moot, Arguments(command="servers", values={"action": "allow", "name": "proper", "yes": True})
    )
    assert (status, out.questions) == (0, [])
    assert str(PROGRAMS / "proper.py") in out.out
    assert server.fingerprint in moot.documents.consents()


async def test_what_changes_while_the_question_is_open_is_not_allowed(moot: Moot) -> None:
    await entry(moot)

    class Swapped(Answers):
        async def ask(self, question: str, *, secret: bool = False) -> str | None:
            await entry(moot, cwd="/")
            return await super().ask(question, secret=secret)

    with pytest.raises(BadInput, match="server_changed"):
        await run_command(moot, ALLOW_IT, Swapped("y"), asyncio.Event())
    assert moot.documents.consents() == frozenset()


async def test_ctrl_c_at_the_question_changes_nothing(moot: Moot) -> None:
    await entry(moot)
    out, interrupted = Answers(), asyncio.Event()
    asking = asyncio.create_task(run_command(moot, ALLOW_IT, out, interrupted))
    await asyncio.wait_for(out.asked.wait(), 20)
    interrupted.set()
    assert await asyncio.wait_for(asking, 5) == 4
    assert (out.given_up, out.err, moot.documents.consents()) == (1, ["Nothing was changed."], frozenset())


async def test_a_server_that_is_switched_off_is_switched_on_and_one_denied_ends(moot: Moot) -> None:
    await entry(moot, disabled=True)
    assert await state(moot) == ServerState.OFF
    assert (
        await run(
            moot, Arguments(command="servers", values={"action": "allow", "name": "proper", "yes": True})
        )
    )[0] == 0
    assert await state(moot) == ServerState.CONNECTED
    status, out = await run(moot, DENY_IT)
    assert (status, out.out) == (0, "“proper” is no longer allowed to run.\n")
    assert (await state(moot), moot.documents.consents()) == (ServerState.ASKING, frozenset())
    assert moot.engine.servers._tools.server_tools(("proper",)) == ()


async def test_a_server_denied_while_it_connects_stays_denied(moot: Moot) -> None:
    await entry(moot)
    allowing = asyncio.create_task(moot.engine.servers.allow(moot.engine.servers.all()[0]))
    await until(lambda: moot.engine.servers.all()[0].state == "connecting", 20)
    await moot.engine.servers.deny("proper")
    await allowing
    assert moot.documents.consents() == frozenset()
    assert moot.engine.servers.all()[0].state == ServerState.ASKING


async def test_a_server_that_is_not_there_is_named(moot: Moot) -> None:
    for arguments in (ALLOW_IT, DENY_IT):
        with pytest.raises(NotFound, match="proper"):
            await run(moot, arguments)


def test_what_is_typed_is_read() -> None:
    texts = load_texts("en")
    assert parse_arguments(["servers", "allow", "나의 서버", "--yes"], texts) == Arguments(
        command="servers", values={"action": "allow", "name": "나의 서버", "yes": True}
    )
    assert not parse_arguments(["servers", "list"], texts).writes
    assert not parse_arguments(["servers", "--json"], texts).writes
    assert parse_arguments(["servers", "deny", "x"], texts).writes


@pytest.mark.timeout(120)
async def test_a_window_takes_notice_at_once(qapp, data_dir: Path) -> None:
    script = str(PROGRAMS / "proper.py")
    data_dir.mkdir(exist_ok=True)
    (data_dir / "mcp.json").write_text(
        json.dumps({"mcpServers": {"proper": {"command": sys.executable, "args": [script]}}})
    )
    async with at_window(data_dir) as person:
        engine = person.window.controller.engine
        person.window.controller.settings.open("servers")
        page = person.find("settings_page").page("servers")
        await until(lambda: page.allow.isVisible())
        out = Answers("y")
        status = await hand_over(DataPaths(data_dir).control, ALLOW_IT, out, asyncio.Event())
        assert (status, engine.servers.all()[0].state) == (0, ServerState.CONNECTED), out.err
        assert script in out.out and out.questions == [("Allow this server to run? [y/N] ", False)]
        await until(lambda: not page.allow.isVisible())
        assert await hand_over(DataPaths(data_dir).control, DENY_IT, out, asyncio.Event()) == 0
        await until(lambda: page.allow.isVisible())
        person.find("settings_close").click()


async def test_asking_an_assistant_names_the_servers_that_wait_for_permission(moot: Moot) -> None:
    await entry(moot)
    await moot.engine.assistants.save(Agent(id="ann", name="Ann", mcp_servers=("proper",)))
    asking = Arguments(command="ask", values={"assistant": "ann", "text": "Hello."})
    _, out = await run(moot, asking)
    [line] = [one for one in out.err if "permission" in one]
    assert "“proper” needs your permission" in line
    assert "moot servers allow proper, Ann answers without" in line
    await run(moot, ALLOW_IT, "y")
    _, out = await run(moot, asking)
    assert not [one for one in out.err if "permission" in one]


@pytest.mark.threat("T11")
async def test_a_login_opens_the_page_after_a_yes(
    moot: Moot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with guarded() as server:
        await moot.engine.servers.save((McpServer(name="proper", url=server.url),))
        await run(moot, ALLOW_IT, "y")
        login = Arguments(command="servers", values={"action": "login", "name": "proper"})
        status, out = await run(moot, login, "n")
        assert status != 0 and not server.codes
        assert f"{server.base}/login/authorize?" in "".join(out.err)
        browser = (
            f'{sys.executable} -c "import sys, tests.tools.servers.guarded as g; g.visit(sys.argv[1])" %s'
        )
        monkeypatch.setattr(webbrowser, "_tryorder", None)
        monkeypatch.setenv("BROWSER", browser)
        with pytest.raises(BadInput, match="needs_yes"):
            await run(moot, replace(login, json=True))
        status, out = await run(moot, login, "y")
        assert status == 0 and out.out == "You are logged in to “proper”.\n"
        assert await state(moot) == ServerState.CONNECTED
        # Under another name the login stays, and the old name has none.
        for before, now in (("proper", "other"), ("other", "proper")):
            [status_before] = moot.engine.servers.all()
            await moot.engine.servers.replace(before, replace(status_before.server, name=now))
            await moot.engine.servers.attach((now,))
            [renamed] = moot.engine.servers.all()
            assert (renamed.server.name, renamed.state, renamed.logged_in) == (
                now,
                ServerState.CONNECTED,
                True,
            )
            assert moot.secrets.get(secret_place(before, LOGIN), "") is None
        assert server.requests.count("/login/authorize") == 1
        logout = Arguments(command="servers", values={"action": "logout", "name": "proper"})
        status, out = await run(moot, logout)
        assert status == 0 and out.out == "You are logged out of “proper”.\n"
        local = proper()
        await moot.engine.servers.save((local,))
        with pytest.raises(BadInput, match="server_no_login"):
            await run(moot, login)


async def test_a_servers_tools_are_described_and_its_log_is_read(moot: Moot) -> None:
    script = str(PROGRAMS / "working.py")
    await moot.engine.servers.save((McpServer(name="proper", command=sys.executable, args=(script,)),))
    read_log = Arguments(command="servers", values={"action": "log", "name": "proper"})
    status, out = await run(moot, read_log)
    assert (status, out.out) == (0, "The log is empty.\n")
    assert (await run(moot, ALLOW_IT, "y"))[0] == 0
    _, out = await run(moot, Arguments(command="servers"))
    lines = out.out.splitlines()
    assert "  Only read: proper__work" in lines and "  May delete or overwrite: proper__wipe" in lines
    assert "  Not offered, because Moot cannot use them: later" in lines
    _, out = await run(moot, LIST_THEM)
    assert json.loads(out.out)[0]["deleting"] == ["proper__wipe"]
    _, out = await run(moot, read_log)
    assert "(not offered) later" in out.out
