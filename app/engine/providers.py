"""The configured providers, what they lack, and their keys; used by the engine.

Also the MCP servers: entries in `mcp.json`, their secrets in the keyring; `engine.servers`.
"""

import contextlib
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from app.core import catalog
from app.core import servers as core_servers
from app.core.definitions import Agent, ServerPrompt
from app.core.errors import BadInput, FailureKind, MootError, NotFound, StorageError
from app.core.events import Event, EventBus, KeysChanged, Notice, ServersChanged
from app.core.message import Attachments
from app.core.provider import ProviderStatus
from app.core.servers import LOGIN, PLACE, McpServer, hidden_address, parted, secret_fields, secret_place
from app.core.store import Documents, KeyNews, Secrets
from app.core.tool import ServerResource, ServerState, ServerStatus, ToolError, Tools

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


def is_here(status: ProviderStatus, model: str) -> bool:
    """Say whether a model is on this computer; Ollama runs those named `cloud` elsewhere."""
    return status.local and stays_here(status) and not model.endswith(("-cloud", ":cloud"))


def _is_server(status: ProviderStatus) -> bool:
    kind = catalog.provider_kind(status.config.kind)
    return kind is not None and not kind.in_moot and status.local


def is_taken(status: ProviderStatus) -> bool:
    """Say whether a provider is the user's: the usual entry of a local server is none before the user took
    its models or gave its address.
    """
    return not _is_server(status) or bool(status.config.base_url or status.config.models)


def is_own_server(status: ProviderStatus) -> bool:
    """Say whether a provider is a server on this computer, with models that the user took."""
    return _is_server(status) and bool(status.config.models) and stays_here(status)


def check_provider(config: catalog.ProviderConfig) -> catalog.ProviderConfig:
    """Return a provider as it may be saved. Raises BadInput that names what is wrong with it."""
    if not _ID.fullmatch(config.id):
        raise BadInput("provider_id_invalid", provider=config.id)
    if catalog.provider_kind(config.kind) is None:
        kinds = ", ".join(row.kind for row in catalog.KINDS)
        raise BadInput("provider_kind_unknown", kind=config.kind, kinds=kinds)
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
    if core_servers.has_user(address):
        raise BadInput("base_url_user", address=hidden_address(address))
    if core_servers.has_key(address):
        raise BadInput("base_url_key", address=hidden_address(address))
    if not core_servers.is_web_address(address):
        raise BadInput("base_url_invalid", address=hidden_address(address))


LONGEST_KEY = 20_000


def check_key(key: str) -> str:
    """Return a key without the blanks around it. Raises BadInput for one that no server can be sent."""
    key = key.strip()
    if not key:
        raise BadInput("key_empty")
    if len(key) > LONGEST_KEY or not key.isascii() or not key.isprintable() or " " in key:
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
        self.unlock, self.redact = self._secrets.unlock, self._secrets.redact

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

    async def set(self, provider_id: str, key: str) -> bool:
        """Store a key; false where it is kept for this run only, or stored later: `problem` says why.

        Raises NotFound, BadInput.
        """
        config = found_provider(self._documents, provider_id)
        return await self._secrets.keep(key_place(config), check_key(key))

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
            return await self._secrets.keep(place, key) if key else True

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


@dataclass(eq=False, repr=False)
class Servers:
    """Saves, replaces and removes MCP servers; each command says whether their secrets outlast this run."""

    _documents: Documents
    _secrets: Secrets
    _tools: Tools
    _bus: EventBus
    # Changes an assistant whose server has another name.
    _change_agent: Callable[[str, Callable[[Agent], Agent]], Awaitable[object]]
    # Restores from the trash.
    _take_out: Callable[[str], Awaitable[None]]

    def __post_init__(self) -> None:
        self.all, self.attach, self.restart = self._tools.servers, self._tools.attach, self._tools.restart
        # The viewer of servers' pages.
        self.can_fetch_viewer, self.fetch_viewer = self._tools.can_fetch_viewer, self._tools.fetch_viewer

    async def save(self, servers: tuple[McpServer, ...]) -> bool:
        """Add servers to `mcp.json`, in place of those with the same names; their secrets go to the keyring.

        False where a secret is kept for this run only. Raises BadInput, StorageError.
        """
        return await self._save({server.name: server for server in servers})

    def prompts(self) -> tuple[ServerPrompt, ...]:
        """Return the prompts of the connected servers."""
        return tuple(prompt for status in self.all() for prompt in status.prompts)

    async def prompt(self, prompt: ServerPrompt, values: Mapping[str, str]) -> tuple[str, Attachments]:
        """Return the text of a server's prompt, and the files it names; what is left empty is not sent.

        Raises BadInput with the server's words.
        """
        given = {name: value for name, value in values.items() if value.strip()}
        with _in_words(prompt.server):
            return await self._tools.prompt(prompt, given)

    def with_resources(self) -> tuple[str, ...]:
        """Return the names of the connected servers that have resources."""
        return tuple(status.server.name for status in self.all() if status.has_resources)

    async def resources(self, name: str) -> tuple[ServerResource, ...]:
        """Return the resources of a connected server. Raises BadInput with the server's words."""
        with _in_words(name):
            return await self._tools.resources(name)

    async def read_resource(self, name: str, uri: str) -> Attachments:
        """Return what is in a resource, as files. Raises BadInput with the server's words."""
        with _in_words(name):
            return await self._tools.read_resource(name, uri)

    async def log(self, name: str) -> str:
        """Return the last lines of a server's log. Raises NotFound."""
        self._find(name)
        return await self._tools.log(name)

    async def login(
        self, name: str, agree: Callable[[str], Awaitable[bool]], client_id: str = "", client_secret: str = ""
    ) -> None:
        """Log in to a server at an address and connect; its status says what came of it.

        The ID of a client, and its secret, are for servers that let no program register itself; they are kept
        with the login.

        `agree` asks the user about the exact address of the login's page, and opens it after a yes. Raises
        NotFound, and BadInput where the server has no address or may not run.
        """
        server = self._find(name)
        if not server.url:
            raise BadInput("server_no_login", name=name)
        if server.disabled or server.fingerprint not in self._documents.consents():
            raise BadInput("server_not_allowed", name=name)
        self._secrets.hide(filter(None, (client_secret,)))
        client = {"client_id": client_id.strip(), "client_secret": client_secret.strip()}
        await self._tools.login(name, agree, client if client["client_id"] else None)

    async def logout(self, name: str) -> None:
        """Forget the tokens of a server's login.
        Raises NotFound, and StorageError where the keyring kept them.
        """
        self._find(name)
        if not await self._tools.logout(name):
            raise StorageError(NOT_REMOVED + self._secrets.keyring_problem)

    async def secure(self) -> None:
        """Move the plain secrets of `mcp.json` to the keyring; those it does not take stay in the file."""
        open_ones = {server.name: server for server in self._documents.mcp_servers() if parted(server)[1]}
        if open_ones:
            with contextlib.suppress(MootError):
                await self._save(open_ones)

    async def allow(self, shown: ServerStatus) -> None:
        """Allow a server to run as it was shown, switch it on, and connect.

        Raises NotFound, and BadInput where it has changed since it was shown.
        """
        name = shown.server.name
        server = self._find(name)
        pending = next((status.pending for status in self._tools.servers() if status.server.name == name), ())
        if server.fingerprint != shown.server.fingerprint or not set(pending) <= set(shown.pending):
            raise BadInput("server_changed", name=name)
        await self._tools.consent(name)
        if server.disabled:
            # In this order the user is never asked again.
            await self.save((replace(server, disabled=False),))
            await self._tools.attach((name,))

    async def deny(self, name: str) -> None:
        """Withdraw the consent to a server and stop it. Raises NotFound, StorageError."""
        self._find(name)
        await self._tools.withdraw(name)

    async def ask_again(self, name: str) -> None:
        """Have the user asked again before each call of a server's tools. Raises NotFound, StorageError."""
        self._find(name)
        await self._tools.ask_again(name)

    async def replace(self, name: str, server: McpServer) -> bool:
        """Replace the server of this name, also by one with another name; its secrets are kept.

        Answers as `save` does. Raises NotFound, BadInput, StorageError.
        """
        # Consent is kept only where it was given: somebody else may have edited the file.
        typed = server.name if self._find(name).fingerprint in self._documents.consents() else ""
        if server.name == name:
            return await self._save({name: server}, typed)
        if any(item.name == server.name for item in self._documents.mcp_servers()):
            raise BadInput("server_name_taken", name=server.name)
        values = await self._values_with_login(name, server)
        kept = await self._keep_all(server.name, values)
        kept &= await self._save({name: server}, typed)
        await self._forget({secret_place(name, LOGIN)} if LOGIN in values else set())

        def renamed(agent: Agent) -> Agent:
            names = (server.name if item == name else item for item in agent.mcp_servers)
            return replace(agent, mcp_servers=tuple(names))

        for agent in self._documents.assistants.all():
            if name in agent.mcp_servers:
                await self._change_agent(agent.id, renamed)
        return kept

    async def remove(self, name: str) -> Callable[[], Awaitable[bool]]:
        """Move a server to the trash and forget its secrets; return what brings both back, and answers
        as `save` does.

        As long as that function is held, the secrets are in memory and nowhere else. Raises NotFound, and
        StorageError where the keyring cannot remove them; the server then remains.
        """
        server = self._find(name)
        values = await self._values_with_login(name, server)
        if problem := await self._forget({*_places((server,)), secret_place(name, LOGIN)}):
            there = {field: self._secrets.get(secret_place(name, field), "") for field in values}
            await self._keep_all(name, {field: one for field, one in values.items() if there[field] != one})
            raise StorageError(NOT_REMOVED + problem)
        try:
            file = await self._documents.throw_server(name)
        except MootError:
            await self._keep_all(name, values)
            raise
        self._changed()

        async def bring_back() -> bool:
            await self._take_out(file)
            kept = await self._keep_all(name, values)
            if self._find(name) != server:
                # A secret was in the file; the file in the trash holds none.
                await self._documents.change_mcp_servers(lambda now: _with({name: server}, now))
                self._changed()
            return kept

        return bring_back

    async def _save(self, servers: Mapping[str, McpServer], typed: str = "") -> bool:
        """Write servers by the names they had before; their secrets go to the keyring.
        The values of the server `typed` were typed by the user into its form.
        """
        before = {item.name: item for item in self._documents.mcp_servers() if item.name in servers}
        changed: dict[str, str | None] = {}
        secured: dict[str, McpServer] = {}
        kept = True
        try:
            for name, server in servers.items():
                secured[name], stays = await self._secured(server, before.get(name), changed)
                kept &= stays
            await self._carry_consents(servers.values(), secured.values(), changed.keys(), typed)
            await self._documents.change_mcp_servers(lambda now: _with(secured, now))
        except MootError:
            for place, value in changed.items():
                await (self._secrets.remove(place) if value is None else self._secrets.keep(place, value))
            raise
        await self._forget(_places(before.values()) - _places(secured.values()))
        self._changed()
        if changed:
            await self._renew(changed, before.values())
        return kept

    async def _secured(
        self, server: McpServer, before: McpServer | None, changed: dict[str, str | None]
    ) -> tuple[McpServer, bool]:
        """Return a server without its secrets, which are stored, and whether they outlast this run.

        `changed` receives the places whose value is new, each with the value before.
        """
        if core_servers.has_user(server.url):
            raise BadInput("server_address_user")
        secured, values = parted(server)
        by_hand = parted(before)[1] if before is not None else {}
        left, stays = set(), True
        for field, value in values.items():
            place = secret_place(server.name, field)
            old = self._secrets.get(place, "")
            if old != value:
                changed[place] = old
            if not await self._secrets.keep(place, value):
                # A secret in the file stays there while no keyring takes it: otherwise it would be lost.
                if by_hand.get(field) == value:
                    left.add(field)
                else:
                    stays = False
        self._secrets.hide(core_servers.texts_to_hide(values))
        return parted(server, left)[0] if left else secured, stays

    async def _carry_consents(
        self, given: Iterable[McpServer], saved: Iterable[McpServer], changed: Collection[str], typed: str
    ) -> None:
        """Keep the consent to servers of which only the places of their secrets have changed.

        Where the values at the places `changed` were neither allowed nor typed into the form, the consent is
        withdrawn: it was given with other values.
        """
        pairs = tuple(zip(given, saved, strict=True))
        moved = {old.fingerprint: new.fingerprint for old, new in pairs}
        untyped = [(old, new) for old, new in pairs if old.name != typed]

        def carried(consents: frozenset[str]) -> frozenset[str]:
            unknown = (pair for pair in untyped if pair[0].fingerprint not in consents)
            others = {new.fingerprint for _, new in unknown if not _places((new,)).isdisjoint(changed)}
            parts = ((consent[:64], consent[64:]) for consent in consents)
            more = {moved[fingerprint] + rest for fingerprint, rest in parts if fingerprint in moved}
            return frozenset(consent for consent in consents if consent[:64] not in others) | more

        await self._documents.change_consents(carried)

    async def _renew(self, changed: Mapping[str, str | None], before: Collection[McpServer]) -> None:
        """Reconnect to servers of which only a secret has changed."""
        for status in self._tools.servers():
            renewed = any(place in changed for place in _places((status.server,)))
            runs = status.state in (ServerState.CONNECTED, ServerState.DOWN)
            if renewed and runs and status.server in before:
                await self._tools.restart(status.server.name)

    def _values(self, name: str, server: McpServer) -> dict[str, str]:
        """Return the stored values for the references of a server, under the name given."""
        places = ((field, secret_place(name, field)) for field in secret_fields(server))
        # Moot does not store values that are in the environment.
        ours = [(field, place) for field, place in places if self._secrets.source(place, "") != "environment"]
        values = {field: self._secrets.get(place, "") for field, place in ours}
        return {field: value for field, value in values.items() if value is not None}

    async def _values_with_login(self, name: str, server: McpServer) -> dict[str, str]:
        """Return the stored values of a server, the tokens of its login among them."""
        values, place = self._values(name, server), secret_place(name, LOGIN)
        if server.url and self._secrets.get(place, "") is None:
            await self._secrets.refresh(((place, ""),))
        login = self._secrets.get(place, "") if server.url else None
        return values | ({LOGIN: login} if login else {})

    async def _keep_all(self, name: str, values: Mapping[str, str]) -> bool:
        places = {secret_place(name, field): value for field, value in values.items()}
        return all([await self._secrets.keep(place, item) for place, item in places.items()])

    def _changed(self) -> None:
        self._bus.publish(ServersChanged(session_id=""))

    async def _forget(self, places: set[str]) -> str:
        """Remove the values at these places; return why the keyring kept one, "" where it removed all."""
        problem = ""
        for place in sorted(places):
            if not await self._secrets.remove(place):
                problem = self._secrets.keyring_problem
            if problem == "dismissed":
                break  # The user would be asked the same for the next one.
        return problem

    def _find(self, name: str) -> McpServer:
        for server in self._documents.mcp_servers():
            if server.name == name:
                return server
        raise NotFound("mcp_server_not_found", name=name)


def _with(servers: dict[str, McpServer], now: tuple[McpServer, ...]) -> tuple[McpServer, ...]:
    """Return the servers of now, with those given in place of the ones that have their names,
    and new ones at the end.
    """
    return tuple(({server.name: server for server in now} | servers).values())


def _places(servers: Iterable[McpServer]) -> set[str]:
    return {secret_place(server.name, field) for server in servers for field in secret_fields(server)}


@contextlib.contextmanager
def _in_words(server: str) -> Iterator[None]:
    """Say what a server could not do."""
    try:
        yield
    except ToolError as error:
        raise BadInput("server_failed", name=server, detail=str(error)) from error
