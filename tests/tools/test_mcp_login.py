"""Logins to MCP servers by OAuth 2.1: a strict authorization server, and hostile ones."""

import asyncio
import json
import urllib.error
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from app.core.servers import LOGIN, McpServer, secret_place
from app.core.tool import ServerProblem, ServerState
from app.storage.secrets import MARK
from app.tools.toolbox import ServerLimits
from tests.tools.servers.guarded import guarded, visit
from tests.tools.serving import bench, until

PLACE = secret_place("there", LOGIN)


def at(url: str) -> McpServer:
    return McpServer(name="there", url=url)


async def browse(url: str) -> bool:
    await asyncio.to_thread(visit, url)
    return True


async def refuse(url: str) -> bool:
    return False


@pytest.mark.threat("T11")
async def test_nobody_logs_in_without_the_users_yes(data_dir: Path) -> None:
    with guarded() as server:
        async with bench(data_dir) as one:
            await one.connect(at(server.url))
            status = one.status("there")
            assert (status.state, status.problem) == (ServerState.DOWN, ServerProblem.LOGIN)
            assert not server.clients and set(server.requests) == {"/mcp"}
            await one.servers.login("there", refuse)
            status = one.status("there")
            assert (status.state, status.problem) == (ServerState.DOWN, ServerProblem.LOGIN)
            assert "cancelled" in status.detail
            assert "/login/authorize" not in server.requests
            assert not status.logged_in and one.secrets.get(PLACE, "") is None


@pytest.mark.threat("T1")
async def test_a_login_lasts_over_a_restart_and_its_tokens_are_in_no_file(data_dir: Path) -> None:
    with guarded() as server:
        async with bench(data_dir) as one:
            await one.connect(at(server.url))
            await one.servers.login("there", browse)
            assert one.status("there").state == ServerState.CONNECTED, one.status("there").detail
            await until(lambda: one.status("there").logged_in)
            assert await one.call("there", "who") == f"you are {MARK}"
            assert not server.faults
            kept = one.secrets.get(PLACE, "")
        async with bench(data_dir) as two:
            assert kept is not None
            await two.secrets.keep(PLACE, kept)
            await two.connect(at(server.url))
            assert two.status("there").state == ServerState.CONNECTED
            assert await two.call("there", "who") == f"you are {MARK}"
            assert await two.servers.logout("there")
            assert two.secrets.get(PLACE, "") is None
            await two.servers.restart("there")
            assert two.status("there").problem == ServerProblem.LOGIN
        assert len(server.used) == 1
        written = b"".join(path.read_bytes() for path in data_dir.rglob("*") if path.is_file())
        assert server.used[0].encode() not in written
        assert json.loads(kept)["tokens"]["refresh_token"].encode() not in written


async def test_a_token_that_has_ended_is_refreshed_and_each_refresh_token_used_once(data_dir: Path) -> None:
    with guarded() as server:
        async with bench(data_dir) as one:
            await one.connect(at(server.url))
            await one.servers.login("there", browse)
            await until(lambda: one.status("there").logged_in)
            kept = json.loads(one.secrets.get(PLACE, "") or "")
        server.access.clear()
        for _ in range(2):
            # As if the time of the token were over, which it says itself.
            kept["expires"] = 1
            async with bench(data_dir) as one:
                await one.secrets.keep(PLACE, json.dumps(kept))
                await one.connect(at(server.url))
                assert one.status("there").state == ServerState.CONNECTED, one.status("there").detail
                before = kept["tokens"]["access_token"]
                await until(lambda old=before: f'"{old}"' not in (one.secrets.get(PLACE, "") or ""))
                kept = json.loads(one.secrets.get(PLACE, "") or "")
        assert len(server.used) == 3 and not server.faults
        assert server.requests.count("/login/authorize") == 1


async def test_a_login_that_has_ended_needs_a_new_one(data_dir: Path) -> None:
    with guarded() as server:
        async with bench(data_dir) as one:
            await one.connect(at(server.url))
            await one.servers.login("there", browse)
            await until(lambda: one.status("there").logged_in)
            server.access.clear()
            server.refresh.clear()
            with pytest.raises(Exception, match="login"):
                await one.call("there", "who")
            await until(lambda: one.status("there").state == ServerState.DOWN)
            assert one.status("there").problem == ServerProblem.LOGIN
            await one.servers.login("there", browse)
            assert one.status("there").state == ServerState.CONNECTED


@pytest.mark.threat("T1")
async def test_tokens_go_to_no_other_address(data_dir: Path) -> None:
    with guarded() as server, guarded() as other:
        async with bench(data_dir) as one:
            await one.connect(at(server.url))
            await one.servers.login("there", browse)
            await until(lambda: one.status("there").logged_in)
            await one.connect(at(other.url))
            assert one.status("there").problem == ServerProblem.LOGIN
            assert not set(other.used) and set(other.requests) == {"/mcp"}


@pytest.mark.threat("T12")
async def test_only_the_answer_with_the_right_state_counts(data_dir: Path) -> None:
    async def attacked(url: str) -> bool:
        back = parse_qs(urlsplit(url).query)["redirect_uri"][0]
        for false in (
            f"{back}?code=stolen&state=wrong",
            f"{back}?code=stolen",
            back.replace("callback", "x"),
        ):
            with pytest.raises(urllib.error.HTTPError, match="400"):
                await asyncio.to_thread(visit, false)
        return await browse(url)

    with guarded() as server:
        async with bench(data_dir) as one:
            await one.connect(at(server.url))
            await one.servers.login("there", attacked)
            assert one.status("there").state == ServerState.CONNECTED, one.status("there").detail


@pytest.mark.threat("T12")
@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("issuer", "issuer"),
        ("away", ""),
        ("huge", "an answer of more than 0.2 MB"),
        ("downgrade", "not secure"),
        ("denies", "The login was refused: Not"),
    ],
)
async def test_a_hostile_authorization_server_gets_nothing(how: str, reason: str, data_dir: Path) -> None:
    seen: list[str] = []

    async def agree(url: str) -> bool:
        seen.append(url)
        return await browse(url)

    with guarded(how) as server:
        async with bench(data_dir, ServerLimits(login=20)) as one:
            await one.connect(at(server.url))
            await one.servers.login("there", agree)
            status = one.status("there")
            assert status.state == ServerState.DOWN and not status.logged_in
            assert reason in status.detail and "\x1b" not in status.detail
            assert not server.used
            # Nobody is shown a page of a server that lies about who it is.
            assert not seen or how in ("downgrade", "denies")


async def test_a_server_that_registers_nobody_is_logged_in_to_with_a_clients_id(data_dir: Path) -> None:
    with guarded("closed") as server:
        async with bench(data_dir) as one:
            await one.connect(at(server.url))
            await one.servers.login("there", browse)
            status = one.status("there")
            assert (status.state, status.problem) == (ServerState.DOWN, ServerProblem.CLIENT)
            assert status.needs_login and "/login/authorize" not in server.requests
            await one.servers.login("there", browse, {"client_id": "known", "client_secret": ""})
            assert one.status("there").state == ServerState.CONNECTED, one.status("there").detail
            await until(lambda: one.status("there").logged_in)
            # The next login needs no ID any more.
            await one.servers.login("there", browse)
            assert one.status("there").state == ServerState.CONNECTED, one.status("there").detail
            assert server.requests.count("/login/authorize") == 2 and not server.faults
