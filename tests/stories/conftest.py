"""The tests of this folder have hosts that need not load LiteLLM and MCP each time."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.mcp_caller import end_owner
from tests.split_hosts import loaded_host, loaded_tool_host, own_host, split_hosts
from tests.wire import WireServer

__all__ = ["loaded_host", "loaded_tool_host", "own_host", "split_hosts"]


@pytest.fixture
async def asked(data_dir: Path, wire_home: dict[str, WireServer]) -> AsyncIterator[WireServer]:
    """A data directory, and its server whose models need no key; the Moot that runs there is ended."""
    yield wire_home["ollama"]
    await end_owner(data_dir)
