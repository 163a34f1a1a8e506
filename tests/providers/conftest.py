"""One model host and one server a protocol for each test module here; starting them takes seconds."""

from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import pytest
import pytest_asyncio

from app.core.catalog import ProviderConfig
from app.providers.endpoints import ModelLimits
from app.providers.remote import RemoteModels
from tests.split_hosts import loaded_host, loaded_tool_host, own_host, split_hosts
from tests.wire import WireServer
from tests.wire.fixtures import FOUR

__all__ = ["loaded_host", "loaded_tool_host", "own_host", "split_hosts"]

# Short enough to wait for, long enough for a busy machine.
LIMITS = ModelLimits(connect=2, first_token=4, idle=1.5, total=60)


@pytest.fixture(scope="module")
def all_servers() -> Iterator[dict[str, WireServer]]:
    """Every protocol, by kind."""
    servers = {kind: WireServer(kind).start() for kind in (*FOUR, "openai-compatible")}
    yield servers
    for server in servers.values():
        server.close()


@pytest.fixture
def servers(all_servers: dict[str, WireServer]) -> dict[str, WireServer]:
    """Every protocol, without what the last test told or asked it."""
    for server in all_servers.values():
        server.reset()
    return all_servers


@pytest.fixture(scope="module")
def log_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the module's host complains."""
    return tmp_path_factory.mktemp("logs")


@pytest.fixture
def server() -> Iterator[WireServer]:
    """An OpenAI of the test's own."""
    with WireServer("openai") as server:
        yield server


class Book:
    """What the models look providers up in: their settings and keys, by id."""

    def __init__(self, servers: Mapping[str, WireServer] = MappingProxyType({})) -> None:
        self._entries: dict[str, tuple[ProviderConfig, str | None]] = {}
        for server in servers.values():
            self.add(server.provider_id, server.kind, server.address, server.key, server.models)

    def add(
        self,
        provider: str,
        kind: str,
        base_url: str = "",
        key: str | None = None,
        models: tuple[str, ...] = (),
    ) -> None:
        """Write a provider down."""
        config = ProviderConfig(id=provider, kind=kind, base_url=base_url, models=models)
        self._entries[provider] = config, key

    def put(self, config: ProviderConfig) -> None:
        """Write other settings of a provider down."""
        self._entries[config.id] = config, self._entries[config.id][1]

    def config(self, provider: str) -> ProviderConfig | None:
        """Return a provider's settings."""
        return self._entries[provider][0] if provider in self._entries else None

    def key(self, provider: str) -> str | None:
        """Return a provider's key."""
        return self._entries[provider][1] if provider in self._entries else None

    def models(self, log_dir: Path | None = None, limits: ModelLimits | None = LIMITS) -> RemoteModels:
        """Return models that look up their providers here; closing them is up to the caller."""
        return RemoteModels(providers=self.config, key=self.key, log_dir=log_dir, limits=limits)


@pytest.fixture(scope="module")
def book(all_servers: dict[str, WireServer]) -> Book:
    """The book of the module's models; a test may add to it."""
    return Book(all_servers)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def models(book: Book, log_dir: Path) -> AsyncIterator[RemoteModels]:
    """A warm host that knows the module's servers."""
    models = book.models(log_dir)
    await models.warm()
    yield models
    await models.close()
