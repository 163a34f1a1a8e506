"""The tests of this folder have model hosts that need not load LiteLLM each time."""

from tests.split_hosts import loaded_host, own_host, split_hosts

__all__ = ["loaded_host", "own_host", "split_hosts"]
