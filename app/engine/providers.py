"""The configured providers, what they lack, and their keys; used by the engine."""

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from app.core import catalog
from app.core.errors import BadInput, FailureKind, NotFound, StorageError
from app.core.events import Event, EventBus, KeysChanged, Notice
from app.core.provider import ProviderStatus
from app.core.servers import PLACE, has_key, has_user, hidden_address, secret_fields, secret_place
from app.core.store import Documents, KeyNews, Secrets

_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


class ProviderProblem(StrEnum):
    """What a provider lacks; each has a text `provider.<code>`."""

    DISABLED = "disabled"
    NO_KEY = "no_key"
    NO_ADDRESS = "no_address"
    NO_MODEL = "no_model"
    NO_SERVER = "no_server"
    NOT_ALLOWED = "not_allowed"
    UNKNOWN_KIND = "unknown_kind"
    UNREADABLE = "unreadable"


def configured(documents: Documents) -> tuple[catalog.ProviderConfig, ...]:
    """Return every configured provider; the built-in one is always among them."""
    return with_built_in(documents.providers())


def with_built_in(providers: tuple[catalog.ProviderConfig, ...]) -> tuple[catalog.ProviderConfig, ...]:
    """Return providers with the built-in one, which is added at the end where it is not among them."""
    if any(config.kind == catalog.EMBEDDED for config in providers):
        return providers
    return (*providers, catalog.ProviderConfig(id=catalog.EMBEDDED, kind=catalog.EMBEDDED))


def with_provider(
    providers: tuple[catalog.ProviderConfig, ...], config: catalog.ProviderConfig
) -> tuple[catalog.ProviderConfig, ...]:
    """Return all providers with this one, in place of the one of its id."""
    return tuple(({item.id: item for item in with_built_in(providers)} | {config.id: config}).values())


def provider_of(documents: Documents, provider_id: str) -> catalog.ProviderConfig | None:
    """Return a provider by its id."""
    return next((config for config in configured(documents) if config.id == provider_id), None)


def found_provider(documents: Documents, provider_id: str) -> catalog.ProviderConfig:
    """Return a provider by its id. Raises NotFound."""
    config = provider_of(documents, provider_id)
    if config is None:
        raise NotFound("provider_not_found", provider=provider_id)
    return config


def unreadable_place(documents: Documents, provider_id: str) -> str:
    """Return the file, line and field of a provider's entry that cannot be read, "" where it can."""
    problem = documents.provider_problem(provider_id)
    if problem is None:
        return ""
    line = f":{problem.line}" if problem.line else ""
    return f"{Path(problem.path).name}{line} {problem.field}".strip()


def check_readable(documents: Documents, provider_ids: Iterable[str]) -> None:
    """Raise BadInput where the entry of one of these providers cannot be read.

    Its address may differ from the catalogue's: what is meant for the user's own server must not go to a
    public one.
    """
    for provider_id in sorted(provider_ids):
        if place := unreadable_place(documents, provider_id):
            raise BadInput(FailureKind.PROVIDER_UNREADABLE, provider=provider_id, place=place)


def status_of(
    config: catalog.ProviderConfig,
    secrets: Secrets,
    embedded_problem: str,
    silent: frozenset[str] = frozenset(),
    documents: Documents | None = None,
) -> ProviderStatus:
    """Return a provider with its address, models, the source of its key and what it lacks.

    `silent` are the ids of the local servers that did not answer the last time; `documents` say whether its
    entry can be read, and whether the user allowed its program to run.
    """
    kind = catalog.provider_kind(config.kind)
    place = unreadable_place(documents, config.id) if documents is not None else ""
    models = config.models or (kind.models if kind else ())
    base_url = config.base_url or (kind.base_url if kind else "")
    key_source = secrets.source(key_place(config), config.kind)
    needs_key = kind.needs_key if kind else False
    problem = ""
    if place:
        problem = ProviderProblem.UNREADABLE
    elif not config.enabled:
        problem = ProviderProblem.DISABLED
    elif kind is None:
        problem = ProviderProblem.UNKNOWN_KIND
    elif kind.kind == catalog.EMBEDDED:
        problem = embedded_problem
    elif needs_key and not key_source:
        unread = secrets.unread.get(key_place(config))
        problem = f"keyring_{unread}" if unread else ProviderProblem.NO_KEY
    elif kind.kind == catalog.PROGRAM:
        allowed = documents is not None and config.fingerprint in documents.consents()
        problem = "" if allowed else ProviderProblem.NOT_ALLOWED
    elif not base_url and not kind.in_moot:
        problem = ProviderProblem.NO_ADDRESS
    elif not models:
        problem = ProviderProblem.NO_MODEL
    elif config.id in silent:
        problem = ProviderProblem.NO_SERVER
    return ProviderStatus(
        config=config,
        label=config.label or (kind.label if kind else config.id),
        base_url=base_url,
        models=models,
        default_model=models[0] if models else "",
        local=kind is not None and kind.local and (kind.in_moot or catalog.is_near(base_url)),
        needs_key=needs_key,
        key_source=key_source,
        ready=not problem,
        problem=problem,
        place=place,
    )


def key_place(config: catalog.ProviderConfig) -> str:
    """Return the place of a provider's key: its id, and its server's address where that is not the usual one.

    A key is for one server: after a change of the address to another computer the user is asked for its key.
    """
    kind = catalog.provider_kind(config.kind)
    server = catalog.server_of(config.base_url)
    usual = not server or (kind is not None and bool(kind.base_url) and kind.is_own(server))
    return config.id if usual or on_this_computer(server) else f"{config.id}@{server}"


def on_this_computer(address: str) -> bool:
    """Say whether what is sent to an address stays on this computer."""
    host = ""
    try:
        host = urlsplit(address).hostname or ""
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def stays_here(status: ProviderStatus) -> bool:
    """Say whether what a provider is sent stays on this computer: Moot runs its models, or by its address."""
    kind = catalog.provider_kind(status.config.kind)
    return (kind is not None and kind.in_moot) or on_this_computer(status.base_url)


def check_provider(config: catalog.ProviderConfig) -> catalog.ProviderConfig:
    """Return a provider as it may be saved. Raises BadInput that names what is wrong with it."""
    if not _ID.fullmatch(config.id):
        raise BadInput("provider_id_invalid", provider=config.id)
    if catalog.provider_kind(config.kind) is None:
        raise BadInput(
            "provider_kind_unknown", kind=config.kind, kinds=", ".join(row.kind for row in catalog.KINDS)
        )
    if config.kind == catalog.PROGRAM and not config.command.strip():
        raise BadInput("agent_command_empty")
    if not config.base_url:
        return config
    check_base_url(config.base_url)
    return replace(config, base_url=catalog.with_scheme(config.base_url))


def check_base_url(address: str) -> None:
    """Raise BadInput when an address is not that of a server: http(s), a host, no secret in it.

    The scheme may be missing. The error repeats no secret.
    """
    address = catalog.with_scheme(address)
    if not address:
        raise BadInput("base_url_empty")
    if has_user(address):
        raise BadInput("base_url_user", address=hidden_address(address))
    if has_key(address):
        raise BadInput("base_url_key", address=hidden_address(address))
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable or any(character.isspace() for character in address) or "@" in parts.netloc:
        raise BadInput("base_url_invalid", address=hidden_address(address))


def check_key(key: str) -> str:
    """Return a key without the blanks around it. Raises BadInput for one that no server can be sent."""
    key = key.strip()
    if not key:
        raise BadInput("key_empty")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise BadInput("key_invalid")
    return key


# The start of an error's code; the keyring's problem follows.
NOT_REMOVED = "key_not_removed_"


@dataclass(eq=False, repr=False)
class Keys:
    """Stores, removes and looks up keys.
    Late answers of the keyring are published as KeysChanged, with a Notice.
    """

    _documents: Documents
    _secrets: Secrets
    _bus: EventBus
    _providers: Callable[[], Sequence[ProviderStatus]]

    def __post_init__(self) -> None:
        self._secrets.on_news = self._on_news

    @property
    def problem(self) -> str:
        """Return why the keyring did not store or delete the last key: a code of `keyring.<code>`."""
        return self._secrets.keyring_problem

    @property
    def kept(self) -> bool:
        """Whether keys are kept when Moot closes: false once it is known that there is no keyring."""
        return self.problem != "no_keyring"

    @property
    def unread(self) -> str:
        """Return why a key could not be read the last time: "locked", "waiting", "stopped"; else ""."""
        return next(iter(self._secrets.unread.values()), "")

    async def look_up(self) -> None:
        """Load every key and every secret of an MCP server; unlocks no keyring."""
        places = [(key_place(config), config.kind) for config in configured(self._documents)]
        for server in self._documents.mcp_servers():
            places += [(secret_place(server.name, field), "") for field in secret_fields(server)]
        await self._secrets.refresh(tuple(places))

    async def unlock(self) -> bool:
        """Let the user unlock the keyring; false where a key still cannot be read."""
        return await self._secrets.unlock()

    async def set(self, provider_id: str, key: str) -> bool:
        """Store a key; false where it is kept for this run only, or stored later: `problem` says why.

        Raises NotFound, BadInput.
        """
        config = found_provider(self._documents, provider_id)
        return await self._secrets.set(key_place(config), check_key(key))

    async def remove(self, provider_id: str) -> Callable[[], Awaitable[bool]]:
        """Forget a key; return what brings it back, and answers as `set` does.

        As long as that function is held, the key is in memory and nowhere else. Raises NotFound, and
        StorageError where the keyring could not remove the key.
        """
        config = found_provider(self._documents, provider_id)
        place = key_place(config)
        # Moot does not remove or store keys of the environment.
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
        return next((provider.label for provider in self._providers() if provider.config.id == name), name)
