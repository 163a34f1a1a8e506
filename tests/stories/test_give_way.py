"""A debate that a terminal follows moves to the window that opens; the terminal follows it there."""

import asyncio
from pathlib import Path

import pytest

from tests.app_driver import at_window, until
from tests.mcp_caller import TWO, calling, numbered
from tests.stories.processes import Running
from tests.wire.fixtures import wire_home, wire_servers
from tests.wire.server import WireServer

__all__ = ["wire_home", "wire_servers"]


@pytest.mark.parametrize("owner", ["terminal", pytest.param("background", marks=pytest.mark.slow)])
async def test_a_window_takes_over_what_a_terminal_follows(
    qapp: object, asked: WireServer, data_dir: Path, owner: str
) -> None:
    numbered(asked, pace=0.2)
    if owner == "background":
        async with calling(data_dir) as caller:
            await caller.call("list", what="models")
    command = ("debate", "Tea or coffee?", "--rounds", "2", "-p", TWO[0], "-p", TWO[1], "--json")
    with Running(*command) as terminal:
        await until(lambda: len(asked.requests) == 2)
        async with at_window(data_dir) as person:
            [session] = person.window.controller.engine.sessions()
            done = await asyncio.to_thread(terminal.finish, 60)
            ended = await person.window.controller.engine.wait(session.id)
    assert (done.status, done.err) == (0, "")
    assert ended.status == "completed"
    said = [one["message"] for one in done.events if one["event"] == "message.finished"]
    whole = [one["author"]["name"] for one in said if one["state"] == "done"]
    assert whole == ["Ada", "Ben", "Ada", "Ben"]
