"""The tool host from the window's side: a real child process, its services, its death, its end."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from app.core.json_values import as_object
from app.core.texts import clean_values
from app.core.tool import ToolError
from app.tools.tool_host.mcp_results import shortened
from app.tools.tool_host_client import ToolHostClient
from tests.tools.serving import SERVERS, until
from tests.tools.test_mcp_harm import runs


@pytest.fixture
async def host(data_dir: Path):
    client = ToolHostClient(log_dir=data_dir / "logs")
    yield client
    await client.close()


async def test_nothing_runs_before_it_is_needed(host: ToolHostClient) -> None:
    assert host.host_pid is None


async def test_an_unknown_service_is_an_error_in_words(host: ToolHostClient) -> None:
    with pytest.raises(ToolError, match="no service 'nothing'"):
        await host.call("nothing", {}, timeout=20)


async def test_a_service_refuses_in_words(host: ToolHostClient) -> None:
    with pytest.raises(ToolError, match=r"127\.0\.0\.1|private|local"):
        await host.call("web_fetch", {"url": "http://127.0.0.1:9/"}, timeout=20)


@pytest.mark.allow_logs
async def test_a_host_that_died_is_started_anew(host: ToolHostClient, data_dir: Path) -> None:
    with pytest.raises(ToolError):
        await host.call("nothing", {}, timeout=20)
    first = host.host_pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    await until(lambda: host.host_pid is None)
    with pytest.raises(ToolError, match="no service"):
        await host.call("nothing", {}, timeout=20)
    assert host.host_pid not in (None, first)
    await until((data_dir / "logs" / "tool_host.log").exists)


async def test_a_host_that_dies_in_mid_call_says_so(host: ToolHostClient) -> None:
    entry = {"name": "mute", "command": sys.executable, "args": [str(SERVERS / "rude.py"), "mute"]}
    line = {"op": "connect", "server": entry, "limits": {"connect": 60, "call": 60}, "log": ""}
    call = asyncio.create_task(host.request(line))
    await until(lambda: bool(host._groups))
    assert host.host_pid is not None
    os.kill(host.host_pid, signal.SIGKILL)
    with pytest.raises(ToolError, match="ended unexpectedly"):
        await call


async def test_a_call_that_takes_too_long_is_stopped_in_the_host(host: ToolHostClient) -> None:
    entry = {"name": "mute", "command": sys.executable, "args": [str(SERVERS / "rude.py"), "mute"]}
    line = {"op": "connect", "server": entry, "limits": {"connect": 60, "call": 60}, "log": ""}
    call = asyncio.create_task(host.request(line))
    await until(lambda: bool(host._groups))
    [group] = host._groups
    assert runs(group)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    await until(lambda: not runs(group))


async def test_after_the_end_nothing_is_started(data_dir: Path) -> None:
    client = ToolHostClient()
    await client.close()
    with pytest.raises(ToolError, match="closing"):
        await client.call("nothing", {}, timeout=20)


@pytest.mark.threat("T1")
async def test_keys_are_not_written_to_the_log(data_dir: Path) -> None:
    client = ToolHostClient(log_dir=data_dir, redact=lambda text: text.replace("sk-secret", "***"))
    client.log.write("it said sk-secret")
    await client.close()
    assert "***" in (data_dir / "tool_host.log").read_text()
    assert "sk-secret" not in (data_dir / "tool_host.log").read_text()


def test_what_is_too_long_for_a_line_is_cut() -> None:
    value = as_object(clean_values({"a": ["x" * 200_005, 1], "b": None}, shortened))
    assert value["a"][0].endswith("\n[cut: 5 more characters]") and value["a"][1] == 1 and value["b"] is None


@pytest.mark.threat("T13")
def test_a_killed_moot_leaves_no_server_behind(data_dir: Path, tmp_path: Path) -> None:
    mark = tmp_path / "pids"
    script = textwrap.dedent(
        f"""
        import asyncio
        from pathlib import Path
        from tests.tools.serving import bench, rude

        async def main():
            async with bench(Path({str(data_dir)!r})) as one:
                await one.connect(rude("stubborn", {str(mark)!r}))
                print(one.host.host_pid, flush=True)
                await asyncio.sleep(60)

        asyncio.run(main())
        """
    )
    moot = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert moot.stdout is not None
    pids = [int(moot.stdout.readline()), *(int(word) for word in mark.read_text().split())]
    assert all(runs(pid) for pid in pids)
    moot.kill()
    moot.wait()
    moot.stdout.close()
    asyncio.run(until(lambda: not any(runs(pid) for pid in pids)))


def test_the_window_imports_neither_the_kit_nor_the_web() -> None:
    code = "import sys, app.tools.toolbox, app.tools.tool_host_client; print(sorted(sys.modules))"
    names = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not any(f"'{name}'" in names for name in ("mcp", "pydantic", "anyio", "httpx", "httpx2"))
