"""The providers' keys and the keyring they are in; `engine.keys`, used by the settings and the command line."""

from collections.abc import Awaitable, Callable, Sequence

from app.core.errors import NotFound, StorageError
from app.core.events import Event, EventBus, KeysChanged, Notice
from app.core.provider import ProviderConfig, ProviderStatus
from app.core.server_secrets import PLACE, secret_fields, secret_place
from app.core.store import Documents, KeyNews, Secrets
from app.engine.provider_list import check_key, configured, key_place, provider_of

# Begins the code of an error; the keyring's problem ends it.
NOT_REMOVED = "key_not_removed_"


class Keys:
    """Stores, removes and looks up keys. Late answers of the keyring are published as KeysChanged, with a Notice."""

    def __init__(
        self,
        documents: Documents,
        secrets: Secrets,
        bus: EventBus,
        providers: Callable[[], Sequence[ProviderStatus]],
    ) -> None:
        self._documents = documents
        self._secrets = secrets
        self._bus = bus
        self._providers = providers
        secrets.on_news = self._on_news

    @property
    def problem(self) -> str:
        """Return why the keyring did not store or delete what it was asked last: a code of `keyring.<code>`."""
        return self._secrets.keyring_problem

    @property
    def unread(self) -> str:
        """Return why a key could not be read when it was looked up last: "locked", "waiting", "stopped"; else ""."""
        return next(iter(self._secrets.unread.values()), "")

    async def look_up(self) -> None:
        """Have every key and every secret of an MCP server at hand; no keyring is unlocked for that."""
        places = [(key_place(config), config.kind) for config in configured(self._documents)]
        for server in self._documents.mcp_servers():
            places += [(secret_place(server.name, field), "") for field in secret_fields(server)]
        await self._secrets.refresh(tuple(places))

    async def unlock(self) -> bool:
        """Let the user unlock the keyring; false where a key still cannot be read."""
        return await self._secrets.unlock()

    async def set(self, provider_id: str, key: str) -> bool:
        """Keep a key; false where it lives for this run only, or is stored later: `problem` says why.

        Raises NotFound, BadInput.
        """
        return await self._secrets.set(key_place(self._provider(provider_id)), check_key(key))

    async def remove(self, provider_id: str) -> Callable[[], Awaitable[bool]]:
        """Forget a key; return what brings it back, and answers as `set` does.

        Until that is let go of the key is in memory, and nowhere else. Raises NotFound, and StorageError where the
        keyring has not let go of the key.
        """
        config = self._provider(provider_id)
        place = key_place(config)
        # One of the environment is not Moot's to forget, nor to keep.
        ours = self._secrets.source(place, config.kind) != "environment"
        key = self._secrets.get(place, config.kind) if ours else None
        if not await self._secrets.remove(place):
            raise StorageError(NOT_REMOVED + self.problem)

        async def bring_back() -> bool:
            return await self._secrets.set(place, key) if key else True

        return bring_back

    def _on_news(self, place: str, news: str) -> None:
        events: list[Event] = [KeysChanged(session_id="")]
        if news != KeyNews.LOOKED_UP:
            details = {"name": self._name(place)}
            events.append(Notice(session_id="", level="info", code=f"key_{news}", details=details))
        self._bus.publish(*events)

    def _name(self, place: str) -> str:
        """Return what a key is for, as its user knows it."""
        if place.startswith(PLACE):
            return place.removeprefix(PLACE).rpartition(":")[0]
        name = place.partition("@")[0]
        return next((one.label for one in self._providers() if one.config.id == name), name)

    def _provider(self, provider_id: str) -> ProviderConfig:
        config = provider_of(self._documents, provider_id)
        if config is None:
            raise NotFound("provider_not_found", provider=provider_id)
        return config
