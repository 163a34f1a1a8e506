"""MCP servers of others, over stdio and over HTTP; each is skipped where its command is not there.

`npm install --prefix FOLDER @modelcontextprotocol/server-everything`, `uv pip install mcp-server-time` and
`mcp-proxy` into environments of their own, and MCP_TEST_SERVERS names the folders of the commands.
"""

import json
import os
import shutil
from pathlib import Path

import pytest

from app.core.tool import McpServer, ServerState
from tests.tools.serving import Bench, Context, bench, free_port, running

FOLDERS = os.environ.get("MCP_TEST_SERVERS", "")


def command(name: str) -> str:
    found = shutil.which(name, path=os.pathsep.join([FOLDERS, os.environ["PATH"]]))
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


async def everything(one: Bench) -> None:
    assert one.status("everything").state == ServerState.CONNECTED, one.status("everything").detail
    assert await one.call("everything", "echo", message="hello") == "Echo: hello"
    assert "[image, " in await one.call("everything", "get-tiny-image")
    assert json.loads(await one.call("everything", "get-structured-content", location="New York"))
    long = await one.call("everything", "trigger-long-running-operation", duration=1, steps=2)
    assert "completed" in long
    context = Context("yes", *["Ada"] * 20)
    answer = await one.call("everything", "trigger-elicitation-request", context)
    assert context.asked, answer


async def test_the_everything_server_of_npm_over_stdio(data_dir: Path) -> None:
    program = command("mcp-server-everything")
    async with bench(data_dir) as one:
        await one.connect(McpServer(name="everything", command=program))
        await everything(one)


async def test_the_everything_server_of_npm_over_http(data_dir: Path) -> None:
    program = command("mcp-server-everything")
    port = free_port()
    async with running(program, "streamableHttp", port=port), bench(data_dir) as one:
        await one.connect(McpServer(name="everything", url=f"http://127.0.0.1:{port}/mcp"))
        await everything(one)


async def time_in_seoul(one: Bench) -> None:
    assert one.status("time").state == ServerState.CONNECTED, one.status("time").detail
    answer = json.loads(await one.call("time", "get_current_time", timezone="Asia/Seoul"))
    assert answer["datetime"].endswith("+09:00")
    wrong = await one.tool("time", "get_current_time").run({"timezone": "Nowhere"}, Context())
    assert not wrong.ok


async def test_the_time_server_of_pypi_over_stdio(data_dir: Path) -> None:
    program = command("mcp-server-time")
    async with bench(data_dir) as one:
        await one.connect(McpServer(name="time", command=program))
        await time_in_seoul(one)


async def test_the_time_server_of_pypi_over_http(data_dir: Path) -> None:
    words = (command("mcp-proxy"), "--host", "127.0.0.1", "--port")
    program = command("mcp-server-time")
    port = free_port()
    async with running(*words, str(port), program, port=port), bench(data_dir) as one:
        await one.connect(McpServer(name="time", url=f"http://127.0.0.1:{port}/mcp"))
        await time_in_seoul(one)
