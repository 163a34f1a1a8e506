"""The MCP servers: entries in `mcp.json`, their secrets in the keyring; `engine.servers`."""

import contextlib
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from app.core.definitions import Agent, ServerPrompt
from app.core.errors import BadInput, MootError, NotFound, StorageError
from app.core.message import Attachment
from app.core.servers import LOGIN, McpServer, has_user, parted, secret_fields, secret_place, texts_to_hide
from app.core.store import Documents, Secrets
from app.core.tool import ServerResource, ServerState, ServerStatus, ToolError, Tools
from app.engine.providers import NOT_REMOVED


@dataclass(eq=False, repr=False)
class Servers:
    """Saves, replaces and removes MCP servers; each command says whether their secrets outlast this run."""

    _documents: Documents
    _secrets: Secrets
    _tools: Tools
    # Called after each command.
    _changed: Callable[[], None]
    # Changes an assistant whose server has another name.
    _change_agent: Callable[[str, Callable[[Agent], Agent]], Awaitable[object]]
    # Restores from the trash.
    _take_out: Callable[[str], Awaitable[None]]

    async def save(self, servers: tuple[McpServer, ...]) -> bool:
        """Add servers to `mcp.json`, in place of those with the same names; their secrets go to the keyring.

        False where a secret is kept for this run only. Raises BadInput, StorageError.
        """
        return await self._save({server.name: server for server in servers})

    def all(self) -> tuple[ServerStatus, ...]:
        """Return the MCP servers with their state."""
        return self._tools.servers()

    async def attach(self, names: Sequence[str]) -> None:
        """Connect to servers that may run."""
        await self._tools.attach(names)

    async def restart(self, name: str) -> None:
        """Reconnect to a server."""
        await self._tools.restart(name)

    def prompts(self) -> tuple[ServerPrompt, ...]:
        """Return the prompts of the connected servers."""
        return tuple(prompt for status in self.all() for prompt in status.prompts)

    async def prompt(
        self, prompt: ServerPrompt, values: Mapping[str, str]
    ) -> tuple[str, tuple[Attachment, ...]]:
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

    async def read_resource(self, name: str, uri: str) -> tuple[Attachment, ...]:
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

    def can_fetch_viewer(self) -> bool:
        """Say whether the viewer of servers' pages is missing and can be installed here."""
        return self._tools.can_fetch_viewer()

    async def fetch_viewer(self, progress: Callable[[int, int], None]) -> None:
        """Install the viewer of servers' pages, for the next start.
        Raises MootError; cancelling leaves nothing.
        """
        await self._tools.fetch_viewer(progress)

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
        before = self._find(name)
        # Consent is kept only where it was given: somebody else may have edited the file.
        typed = server.name if before.fingerprint in self._documents.consents() else ""
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
        if has_user(server.url):
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
        self._secrets.hide(texts_to_hide(values))
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

        def carried(consents: frozenset[str]) -> frozenset[str]:
            others = {
                new.fingerprint
                for old, new in pairs
                if old.name != typed
                and old.fingerprint not in consents
                and any(place in changed for place in _places((new,)))
            }
            more = {
                moved[fingerprint] + rest
                for fingerprint, rest in ((consent[:64], consent[64:]) for consent in consents)
                if fingerprint in moved
            }
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
        places = {field: secret_place(name, field) for field in secret_fields(server)}
        values = {
            field: self._secrets.get(place, "")
            for field, place in places.items()
            # Moot does not store values that are in the environment.
            if self._secrets.source(place, "") != "environment"
        }
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
