"""Fixtures of wire servers; a test module imports those it wants."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.wire.providers_file import write_providers
from tests.wire.server import WireServer

FOUR = ("openai", "anthropic", "gemini", "ollama")


def call_count(servers: Mapping[str, WireServer]) -> int:
    """Return how often any of the servers was asked, checks of models left out."""
    return sum(len(server.requests) for server in servers.values())


@pytest.fixture
def wire_servers() -> Iterator[dict[str, WireServer]]:
    """The four protocols, by kind."""
    servers = {kind: WireServer(kind).start() for kind in FOUR}
    yield servers
    for server in servers.values():
        server.close()


@pytest.fixture
def wire_home(
    wire_servers: dict[str, WireServer], data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, WireServer]:
    """The four protocols, written into the data directory, their keys in the environment."""
    for name, value in write_providers(data_dir, wire_servers.values()).items():
        monkeypatch.setenv(name, value)
    return wire_servers
