"""Servers over time: what they report of their work, a slow start, and a new start after a crash."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp_types import METHOD_NOT_FOUND

from app.core.servers import McpServer
from app.core.tool import ServerProblem, ServerState, ToolError
from app.tools.toolbox import ServerLimits
from tests.tools.serving import SERVERS, Context, bench, rude, until


def working(*more: str, **fields: Any) -> McpServer:
    args = (str(SERVERS / "working.py"), *more)
    return McpServer(name="working", command=sys.executable, args=args, **fields)


async def test_work_is_reported_logged_and_its_tools_are_described(data_dir: Path) -> None:
    async with bench(data_dir) as one:
        await one.connect(working())
        status = one.status("working")
        assert status.said_of_tools == (
            ("tools", tuple(f"working__{name}" for name in ("work", "wipe", "wonder", "may"))),
            ("reading", ("working__work",)),
            ("deleting", ("working__wipe",)),
            ("outside", ("working__wipe",)),
            ("withheld", ("later",)),
        )
        context = Context()
        assert await one.call("working", "work", context) == "Four sacks"
        assert [(one.share, one.text) for one in context.reported] == [
            (step / 4, f"Sack {step}") for step in range(1, 5)
        ]
        log = await one.servers.log("working")
        assert '[warning] mill: {"flour": "damp"}' in log and "(not offered) later" in log


async def test_a_server_that_ended_starts_again_and_not_for_ever(data_dir: Path) -> None:
    async with bench(data_dir, ServerLimits(restarts=(0.1, 0.3))) as one:
        await one.connect(working())
        for _ in range(2):
            with pytest.raises(ToolError):
                await one.call("working", "wipe")
            await until(lambda: one.status("working").state == ServerState.DOWN)
            await until(lambda: one.status("working").state == ServerState.CONNECTED)
        with pytest.raises(ToolError):
            await one.call("working", "wipe")
        await until(lambda: one.status("working").state == ServerState.DOWN)
        status = one.status("working")
        assert (status.problem, status.restarts) == (ServerProblem.ENDED, False)


async def test_a_server_that_ends_after_the_program_was_closed_stays_down(data_dir: Path) -> None:
    async with bench(data_dir, ServerLimits(restarts=(0.1,))) as one:
        await one.connect(working())
        # Its servers alone: the host is closed after them.
        await one.servers._start_no_more()
        with pytest.raises(ToolError):
            await one.call("working", "wipe")
        await until(lambda: one.status("working").state == ServerState.DOWN)
        assert not one.status("working").restarts


async def test_a_server_that_sent_too_much_is_not_started_again(data_dir: Path) -> None:
    async with bench(data_dir, ServerLimits(restarts=(0.1,))) as one:
        await one.connect(rude("floods_at_start"))
        await until(lambda: one.status("floods_at_start").state == ServerState.DOWN)
        assert not one.status("floods_at_start").restarts


async def test_nobody_waits_long_for_a_slow_server_whose_tools_come_later(data_dir: Path) -> None:
    async with bench(data_dir, ServerLimits(wait=0.3)) as one:
        slow = working("2")
        await one.documents.change_mcp_servers(lambda _: (slow,))
        await one.documents.change_consents(lambda _: frozenset({slow.fingerprint}))
        async with asyncio.timeout(20):
            await one.servers.attach(("working",))
        assert one.status("working").state == ServerState.CONNECTING
        assert one.servers.server_tools(("working",)) == ()
        await until(lambda: one.status("working").state == ServerState.CONNECTED, 30)
        assert "working__work" in [tool.key for tool in one.servers.server_tools(("working",))]


@pytest.mark.parametrize("method", ["sampling/createMessage", "roots/list", "moot/unheard"])
async def test_a_server_that_asks_what_moot_does_not_offer_is_told_so_and_goes_on(
    data_dir: Path, method: str
) -> None:
    async with bench(data_dir) as one:
        await one.connect(working())
        offered = json.loads(await one.call("working", "may"))
        assert "elicitation" in offered and not {"sampling", "roots"} & offered.keys()
        question = {"role": "user", "content": {"type": "text", "text": "How much flour?"}}
        told = await one.call("working", "wonder", method=method, messages=[question], maxTokens=50)
        assert json.loads(told)["error"]["code"] == METHOD_NOT_FOUND
        assert await one.call("working", "work", seconds=0) == "Four sacks"
