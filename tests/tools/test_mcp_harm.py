"""MCP servers that misbehave: each is down with a reason, and nobody else is harmed."""

import asyncio
import contextlib
import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.servers import McpServer
from app.core.tool import ServerProblem, ServerState, ToolError
from app.tools.toolbox import ServerLimits
from tests.repeats import slow_after
from tests.tools.serving import Bench, Context, bench, proper, rude, until


def resident_megabytes(pid: int) -> int:
    """Return the most memory that a host has had; one that was split off works in another process."""
    for path in Path("/proc").glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):  # the process ended while we looked
            if path.read_text() == f"for {pid}\n":
                pid = int(path.parent.name)
                break
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    [most] = [line for line in lines if line.startswith("VmHWM")]
    return int(most.split()[1]) // 1024


def runs(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


@pytest.mark.corpus(62)
async def test_servers_that_talk_beside_the_point_are_connected_to(data_dir: Path) -> None:
    async with bench(data_dir) as one:
        await one.connect(proper(), rude("chatty"), rude("complains"), rude("dies"))
        for name in ("proper", "chatty", "complains"):
            assert one.status(name).state == ServerState.CONNECTED, one.status(name).detail
            assert await one.call(name, "add", a=2, b=2) == "4"
        assert one.status("dies").state == ServerState.DOWN
        logs = data_dir / "logs"
        assert sum(file.stat().st_size for file in logs.glob("mcp-complains.log*")) < 2_000_000


@pytest.mark.corpus(62)
async def test_servers_that_cannot_be_connected_to_say_why(data_dir: Path) -> None:
    bad = ("mute", "dies", "wrong_json", "wrong_protocol")
    async with bench(data_dir, ServerLimits(connect=6.0)) as one:
        away = McpServer(name="away", url="http://127.0.0.1:9/mcp")
        await one.connect(away, *(rude(how) for how in bad))
        for name in (*bad, "away"):
            assert one.status(name).state == ServerState.DOWN, name
            assert 0 < len(one.status(name).detail) <= 500, name
        assert one.status("mute").detail.startswith("Timed out after 6 seconds.")
        assert "cannot open the database" in one.status("dies").detail
        assert "1999-01-01" in one.status("wrong_protocol").detail
        assert one.status("mute").problem == ServerProblem.NO_ANSWER
        assert {one.status(name).problem for name in ("dies", "wrong_json")} == {ServerProblem.ENDED}


@pytest.mark.corpus(62)
@pytest.mark.parametrize(
    ("how", "reason"),
    slow_after(
        2,
        [
            ("dies_in_call", "closed"),
            ("long_line", "a line of more than 8 MB"),
            ("long_answer", "a line of more than 8 MB"),
            ("floods", "more than 5000 messages"),
            ("garbage", "no MCP"),
        ],
    ),
)
async def test_a_server_that_breaks_in_a_call_is_let_go_and_started_anew(
    how: str, reason: str, data_dir: Path
) -> None:
    async with bench(data_dir) as one:
        await one.connect(proper(), rude(how))
        started = time.monotonic()
        with pytest.raises(ToolError, match=reason):
            await one.call(how, "add", a=1, b=2)
        assert time.monotonic() - started < 20
        await until(lambda: one.status(how).state == ServerState.DOWN)
        assert reason in one.status(how).detail
        assert await one.call("proper", "add", a=1, b=2) == "3"
        assert one.host.host_pid is not None
        assert 40 < resident_megabytes(one.host.host_pid) < 250
        # On the next use it is there again; it just breaks again.
        with pytest.raises(ToolError, match=reason):
            await one.call(how, "add", a=1, b=2)


async def test_a_server_that_always_breaks_is_not_started_for_ever(data_dir: Path) -> None:
    async with bench(data_dir) as one:
        await one.connect(rude("dies_in_call"))
        for _ in range(3):
            with pytest.raises(ToolError):
                await one.call("dies_in_call", "add")
            await until(lambda: one.status("dies_in_call").state == ServerState.DOWN)
        with pytest.raises(ToolError, match="started 3 times within a minute"):
            await one.call("dies_in_call", "add")
        await one.servers.restart("dies_in_call")
        assert one.status("dies_in_call").state == ServerState.CONNECTED


@pytest.mark.corpus(62)
async def test_messages_that_are_almost_right_harm_nobody(data_dir: Path) -> None:
    babblers = [replace(rude("babbles", str(seed)), name=f"b{seed}") for seed in range(8)]
    async with bench(data_dir, ServerLimits(call=5.0)) as one:
        await one.connect(proper(), *babblers)
        for server in babblers:
            for tool in one.servers.server_tools([server.name]):
                with contextlib.suppress(ToolError):
                    assert (await tool.run({"a": 1, "b": 2}, Context("yes", "yes", "yes"))).content == "3"
        assert await one.call("proper", "add", a=1, b=2) == "3"
        assert any(one.status(server.name).state == ServerState.CONNECTED for server in babblers)


async def test_an_answer_of_the_wrong_shape_is_an_error_of_the_call_alone(data_dir: Path) -> None:
    async with bench(data_dir) as one:
        await one.connect(rude("wrong_shape"))
        with pytest.raises(ToolError, match="wrong_shape"):
            await one.call("wrong_shape", "add")
        assert one.status("wrong_shape").state == ServerState.CONNECTED


async def test_a_call_without_an_answer_ends_and_one_with_progress_goes_on(data_dir: Path) -> None:
    async with bench(data_dir, ServerLimits(call=2.0)) as one:
        await one.connect(rude("silent_call"), rude("progress"))
        with pytest.raises(ToolError, match="no answer within 2 seconds"):
            await one.call("silent_call", "add")
        # It takes three seconds, and says every half that it goes on.
        assert await one.call("progress", "add", a=3, b=4) == "7"


async def test_a_flood_right_after_the_start_lets_the_server_go(data_dir: Path) -> None:
    async with bench(data_dir) as one:
        await one.connect(rude("floods_at_start"))
        await until(lambda: one.status("floods_at_start").state == ServerState.DOWN)
        assert "more than 5000 messages" in one.status("floods_at_start").detail


async def stubborn_pids(one: Bench, mark: Path) -> list[int]:
    await one.connect(rude("stubborn", str(mark)))
    assert one.status("stubborn").state == ServerState.CONNECTED
    return [int(word) for word in mark.read_text().split()]


@pytest.mark.threat("T13")
async def test_the_whole_tree_of_a_server_ends_with_moot(data_dir: Path, tmp_path: Path) -> None:
    async with bench(data_dir) as one:
        pids = await stubborn_pids(one, tmp_path / "pids")
        assert all(runs(pid) for pid in pids)
    assert not any(runs(pid) for pid in pids)


@pytest.mark.threat("T13")
@pytest.mark.allow_logs
@pytest.mark.own_host
async def test_the_whole_tree_of_a_server_ends_with_a_killed_host(data_dir: Path, tmp_path: Path) -> None:
    async with bench(data_dir) as one:
        pids = await stubborn_pids(one, tmp_path / "pids")
        assert one.host.host_pid is not None
        waiting = asyncio.create_task(one.call("stubborn", "add", a=1, b=1))
        assert await waiting == "2"
        os.kill(one.host.host_pid, signal.SIGKILL)
        await until(lambda: one.status("stubborn").state == ServerState.DOWN)
        await until(lambda: not any(runs(pid) for pid in pids))
        # The next use starts both anew.
        assert await one.tool("stubborn", "add").run({"a": 1, "b": 2}, Context())
