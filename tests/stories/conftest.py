"""The tests of this folder have hosts that need not load LiteLLM and MCP each time."""

from tests.split_hosts import loaded_host, loaded_tool_host, own_host, split_hosts

__all__ = ["loaded_host", "loaded_tool_host", "own_host", "split_hosts"]
