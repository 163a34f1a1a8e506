"""MCP servers at an address, real ones on a port of this machine: a proper one, and some that misbehave."""

import asyncio
import time
from pathlib import Path

import pytest

from app.core.servers import McpServer
from app.core.tool import Control, ServerProblem, ServerState, ToolError
from app.tools.toolbox import ServerLimits
from tests.repeats import slow_after
from tests.tools.serving import Context, bench, free_port, python, running, until
from tests.tools.test_mcp_harm import resident_megabytes


def at(port: int, name: str = "there") -> McpServer:
    return McpServer(name=name, url=f"http://127.0.0.1:{port}/mcp", headers={"x-key": "secret-key"})


async def test_a_proper_server_is_connected_called_and_asks(data_dir: Path) -> None:
    port = free_port()
    async with running(*python("proper.py"), str(port), port=port), bench(data_dir) as one:
        await one.connect(at(port))
        assert one.status("there").state == ServerState.CONNECTED, one.status("there").detail
        assert await one.call("there", "add", a=20, b=22) == "42"
        context = Context("name=Ada; old=yes")
        assert await one.call("there", "greet", context) == "Hello Ada, True"
        assert context.asked[0].question == "there: Who is it?"
        started = time.monotonic()
        call = asyncio.create_task(one.call("there", "slow", seconds=60))
        await asyncio.sleep(0.3)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        assert time.monotonic() - started < 2
        result = await one.tool("there", "clock").run({}, Context())
        assert result.control == Control.WAIT


async def test_a_server_that_speaks_sse_alone_is_named_as_unsupported(data_dir: Path) -> None:
    port = free_port()
    async with running(*python("rude_http.py"), "sse", str(port), port=port), bench(data_dir) as one:
        old = McpServer(name="old", url=f"http://127.0.0.1:{port}/sse?a=b")
        await one.connect(at(port), old)
        assert (one.status("old").state, one.status("old").problem) == (ServerState.DOWN, ServerProblem.SSE)
        assert one.status("there").problem == ServerProblem.REFUSED, "it may be another server"


@pytest.mark.slow
async def test_a_server_that_went_and_came_back_is_connected_to_on_the_next_use(data_dir: Path) -> None:
    port = free_port()
    async with bench(data_dir) as one:
        async with running(*python("proper.py"), str(port), port=port):
            await one.connect(at(port))
            tool = one.tool("there", "add")
        with pytest.raises(ToolError, match=r"failed|is not connected"):  # as soon as it is seen that it went
            await tool.run({"a": 1, "b": 2}, Context())
        await until(lambda: one.status("there").state == ServerState.DOWN)
        async with running(*python("proper.py"), str(port), port=port):
            assert (await tool.run({"a": 1, "b": 2}, Context())).content == "3"


@pytest.mark.parametrize(
    ("how", "reason"),
    [("refuses", "401"), ("mute", "Timed out after 6 seconds"), ("page", "text/html")],
)
async def test_a_server_that_cannot_be_connected_to_says_why(how: str, reason: str, data_dir: Path) -> None:
    port = free_port()
    async with (
        running(*python("rude_http.py"), how, str(port), port=port),
        bench(data_dir, ServerLimits(connect=6)) as one,
    ):
        await one.connect(at(port))
        assert one.status("there").state == ServerState.DOWN
        assert reason in one.status("there").detail
        assert "secret-key" not in one.log("there")


@pytest.mark.parametrize(
    ("how", "reason"),
    slow_after(
        3,
        [
            ("packed", "a packed answer"),
            ("drops", "failed"),
            ("no_json", "Failed to parse"),
            ("long_answer", "an answer of more than 8 MB"),
            ("long_event", "failed"),
            ("floods", "more than 5000 messages"),
        ],
    ),
)
async def test_a_server_that_breaks_in_a_call_harms_nobody(how: str, reason: str, data_dir: Path) -> None:
    port = free_port()
    async with running(*python("rude_http.py"), how, str(port), port=port), bench(data_dir) as one:
        await one.connect(at(port))
        assert one.status("there").state == ServerState.CONNECTED, one.status("there").detail
        started = time.monotonic()
        with pytest.raises(ToolError, match=reason):
            await one.call("there", "add")
        assert time.monotonic() - started < 20
        assert one.host.host_pid is not None
        assert 40 < resident_megabytes(one.host.host_pid) < 250
