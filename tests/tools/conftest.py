"""What the tests of the tools share: a web server of this machine, and tool hosts that need not load MCP each time."""

from collections.abc import AsyncIterator

import pytest

from tests.split_hosts import loaded_tool_host, own_host, split_tool_hosts
from tests.tools.web_server import WebServer

__all__ = ["loaded_tool_host", "own_host", "server", "split_tool_hosts"]


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    async with WebServer() as running:
        yield running
