"""The MCP servers of `mcp.json`: which may run, which are connected, and their tools. The tool host speaks MCP."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.children.host_client import Line
from app.children.private_files import last_lines
from app.core.errors import StorageError
from app.core.owned_tasks import start_owned
from app.core.saved_prompt import ServerPrompt
from app.core.store import Documents, Secrets
from app.core.tool import (
    McpServer,
    ServerProblem,
    ServerState,
    ServerStatus,
    Tool,
    ToolError,
)
from app.tools.server_calls import ServerCalls
from app.tools.server_consents import ServerConsents, consent_of
from app.tools.server_entries import ServerEntries, file_name, tool_key
from app.tools.server_library import ServerLibrary
from app.tools.tool_host_client import Ask, HostError, ToolHostClient

_STARTS = 3
_WINDOW_SECONDS = 60.0
_LOG_BYTES = 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    """Seconds in which a server must connect, must answer a call or report progress, and in which a user must log in.

    A turn waits `wait` seconds for servers that connect, and goes on without those that take longer: some fetch
    themselves first. A server that ended by itself starts again after each of `restarts`.
    """

    connect: float = 60.0
    wait: float = 20.0
    call: float = 120.0
    login: float = 600.0
    restarts: tuple[float, ...] = (1.0, 5.0, 60.0)


@dataclass(slots=True)
class _Held:
    """A server of `mcp.json` and its present state; `restarts` says that it starts again by itself, for the time `tries`."""

    server: McpServer
    state: str = ServerState.OFF
    problem: str = ""
    detail: str = ""
    offered: tuple[Mapping[str, Any], ...] = ()
    withheld: tuple[str, ...] = ()
    prompts: tuple[ServerPrompt, ...] = ()
    has_resources: bool = False
    connected_at: float = 0.0
    tries: int = 0
    restarts: bool = False
    starts: deque[float] = field(default_factory=lambda: deque(maxlen=_STARTS))
    connecting: asyncio.Lock = field(default_factory=asyncio.Lock)


class McpServers:
    """Connects the servers that the user allowed, and makes tools of what they offer; `library` has their resources and prompts.

    `on_change` is called whenever a status has changed.
    """

    def __init__(
        self,
        documents: Documents,
        secrets: Secrets,
        host: ToolHostClient,
        *,
        log_dir: Path | None = None,
        on_change: Callable[[], None] = lambda: None,
        limits: ServerLimits | None = None,
    ) -> None:
        self._documents = documents
        self._consents = ServerConsents(documents)
        self._entries = ServerEntries(secrets)
        self.library = ServerLibrary(host)
        self._calls = ServerCalls(host, self._consents, self.library, self._make_sure)
        self._host = host
        self._log_dir = log_dir
        self.on_change = on_change
        self._limits = limits or ServerLimits()
        self._held: dict[str, _Held] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._starting: set[asyncio.Task[None]] = set()
        self._closed = False
        host.on_news = self._on_news
        host.on_death = self._on_death

    def servers(self) -> tuple[ServerStatus, ...]:
        """Return every server of `mcp.json` with its state."""
        return tuple(self._status(held) for held in self._refreshed().values())

    def server_tools(self, servers: Sequence[str]) -> tuple[Tool, ...]:
        """Return the tools of these servers that the user has allowed, also while a server is down."""
        held = self._refreshed()
        return tuple(
            self._calls.tool(held[name].server, offer)
            for name in dict.fromkeys(servers)
            if name in held and self._consents.may_run(held[name].server)
            for offer in self._consents.allowed(held[name].server, held[name].offered)
        )

    async def attach(self, servers: Sequence[str]) -> None:
        """Connect to servers that may run; returns when each is connected, down or waits for consent, or takes long."""
        held = self._refreshed()
        wanted = [held[name] for name in dict.fromkeys(servers) if name in held]
        work = [self._begin(self._connect(one)) for one in wanted if self._consents.may_run(one.server)]
        if work:
            await asyncio.wait(work, timeout=self._limits.wait)

    async def consent(self, server: str) -> None:
        """Save that the user allows a server as it is now, with its present tools, and connect."""
        held = self._refreshed().get(server)
        if held is None:
            return
        await self._consents.allow(held.server, held.offered if held.state == ServerState.CONNECTED else None)
        self.on_change()
        held.starts.clear()
        await self._connect(held)

    async def withdraw(self, server: str) -> None:
        """Withdraw the consent to a server and its tools, and disconnect it.

        This applies to every server with the same fingerprint, because they share the consent.
        """
        held = self._refreshed().get(server)
        if held is None:
            return
        fingerprint = held.server.fingerprint
        await self._consents.withdraw(fingerprint)
        for one in tuple(self._held.values()):
            # A server that is connecting notices by itself.
            if one.server.fingerprint == fingerprint and one.state == ServerState.CONNECTED:
                await self._disconnect(one.server.name)
                self._change(one, ServerState.OFF)
        self.on_change()

    async def permit(self, consents: Collection[str]) -> None:
        """Save that these tools, as they are named in their consents, run without a question for good."""
        await self._consents.permit(consents)
        self.on_change()

    async def ask_again(self, server: str) -> None:
        """Withdraw the lasting permissions of a server's tools."""
        held = self._refreshed().get(server)
        if held is None:
            return
        await self._consents.ask_again(held.server)
        self.on_change()

    async def restart(
        self, server: str, ask: Ask | None = None, client: Mapping[str, str] | None = None
    ) -> None:
        """Connect again; with `ask` the user logs in, as the `client` that was entered."""
        held = self._refreshed().get(server)
        if held is None or not self._consents.may_run(held.server):
            return
        async with held.connecting:
            self._change(held, ServerState.OFF)
        held.starts.clear()
        await self._connect(held, ask, client)

    async def log(self, server: str) -> str:
        """Return the last lines of a server's log: its messages, its standard error and Moot's own notes."""
        if (path := self._log_of(server)) is None:
            return ""
        return await asyncio.to_thread(lambda: self._host.clean(last_lines(path, _LOG_BYTES)))

    async def login(
        self, server: str, agree: Callable[[str], Awaitable[bool]], client: Mapping[str, str] | None = None
    ) -> None:
        """Log in to a server at an address and connect; `agree` asks the user about the page's address and opens it."""

        async def ask(question: Mapping[str, Any]) -> str | None:
            return "yes" if await agree(question["link"]) else None

        await self.restart(server, ask, client)

    async def logout(self, server: str) -> bool:
        """Forget the tokens of a login, and disconnect the server; false where the keyring may still have them."""
        held = self._refreshed().get(server)
        gone = await self._entries.forget_login(server)
        if held is not None and held.state != ServerState.OFF:
            await self._disconnect(server)
            self._change(held, ServerState.OFF)
        self.on_change()
        return gone

    async def close(self) -> None:
        """Wait for the disconnections in progress; the host ends the servers when it is closed."""
        self._closed = True  # What goes down from now on is not started again.
        for one in self._starting:
            one.cancel()
        await asyncio.gather(*self._tasks, *self._starting, return_exceptions=True)

    def _refreshed(self) -> dict[str, _Held]:
        """Return the servers as `mcp.json` has them now; disconnects those that were changed or removed."""
        entries = {server.name: server for server in self._documents.mcp_servers()}
        for name, held in list(self._held.items()):
            if entries.get(name) != held.server:
                del self._held[name]
                if held.state in (ServerState.CONNECTED, ServerState.CONNECTING):
                    self._start(self._disconnect(name))
        for name, server in entries.items():
            self._held.setdefault(name, _Held(server))
        self._held = {name: self._held[name] for name in entries}
        return self._held

    def _status(self, held: _Held) -> ServerStatus:
        server = held.server
        lasting = self._consents.lasting(server)
        if not self._consents.may_run(server):
            state = ServerState.OFF if server.disabled else ServerState.ASKING
            return ServerStatus(server=server, state=state, lasting=lasting)
        allowed = self._consents.allowed(server, held.offered)
        connected = held.state == ServerState.CONNECTED
        changed = [offer for offer in held.offered if offer not in allowed]

        def keys(offers: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
            return tuple(tool_key(server.name, one["name"]) for one in offers)

        return ServerStatus(
            server=server,
            state=ServerState.ASKING if changed and connected else held.state,
            tools=keys(allowed),
            changed=keys(changed),
            changes={
                tool_key(server.name, one["name"]): self._consents.changes(server, one) for one in changed
            },
            pending=tuple(consent_of(server, one) for one in changed),
            unasked=keys(one for one in allowed if not self._consents.asks(server, one)),
            reading=keys(one for one in allowed if one["reads"]),
            deleting=keys(one for one in allowed if one["deletes"]),
            outside=keys(one for one in allowed if one["outside"]),
            withheld=held.withheld,
            prompts=held.prompts if connected else (),
            has_resources=held.has_resources and connected,
            lasting=lasting,
            known=self._consents.known(server),
            restarts=held.restarts and held.state == ServerState.DOWN,
            logged_in=self._entries.is_logged_in(server.name),
            problem=held.problem,
            detail=held.detail,
        )

    async def _connect(
        self, held: _Held, ask: Ask | None = None, client: Mapping[str, str] | None = None
    ) -> None:
        async with held.connecting:
            current = self._held.get(held.server.name) is held
            if held.state == ServerState.CONNECTED or not current or not self._consents.may_run(held.server):
                return
            now = asyncio.get_running_loop().time()
            if len(held.starts) == _STARTS and now - held.starts[0] < _WINDOW_SECONDS:
                self._change(held, ServerState.DOWN, held.detail, ServerProblem.TOO_OFTEN)
                return
            held.starts.append(now)
            self._change(held, ServerState.CONNECTING)
            try:
                answer = await self._host.request(
                    {
                        "op": "connect",
                        "server": await self._entries.whole(held.server, client or {}),
                        "limits": {
                            name: getattr(self._limits, name) for name in ("connect", "call", "login")
                        },
                        "log": str(self._log_of(held.server.name) or ""),
                        "login": ask is not None,
                    },
                    ask,
                )
            except ToolError as error:
                problem = error.problem if isinstance(error, HostError) else ServerProblem.FAILED
                self._change(held, ServerState.DOWN, str(error), problem)
            except BaseException:
                self._change(held, ServerState.OFF)
                raise
            else:
                if self._held.get(held.server.name) is not held:
                    # Its entry was removed or changed meanwhile.
                    if held.server.name not in self._held:
                        await self._disconnect(held.server.name)
                    return
                if not self._consents.may_run(held.server):
                    await self._disconnect(held.server.name)
                    self._change(held, ServerState.OFF)
                    return
                self._take_tools(held, answer)
                held.connected_at = asyncio.get_running_loop().time()
                if not self._consents.knows_tools(held.server):
                    # The user allowed the server before its tools were known, so these are the tools allowed. If
                    # that cannot be saved, the user is asked.
                    with contextlib.suppress(StorageError):
                        await self._consents.allow(held.server, held.offered)
                self._change(held, ServerState.CONNECTED)

    def _log_of(self, server: str) -> Path | None:
        return self._log_dir / f"mcp-{file_name(server)}.log" if self._log_dir else None

    async def _keep_login(self, server: str, text: str) -> None:
        await self._entries.keep_login(server, text)
        self.on_change()

    async def _disconnect(self, name: str) -> None:
        if self._host.host_pid is not None:
            await self._host.request({"op": "disconnect", "server": name})

    async def _make_sure(self, server: McpServer, offer: Mapping[str, Any]) -> None:
        """Connect the server and check that the tool is the one the user allowed. Raises ToolError."""
        name = server.name
        held = self._refreshed().get(name)
        if held is None or held.server != server or not self._consents.may_run(held.server):
            raise ToolError(f"The MCP server {name!r} was changed or is not allowed to run. Ask the user.")
        await self._connect(held)
        if held.state != ServerState.CONNECTED:
            often = (
                f"It was started {_STARTS} times within a minute. "
                if held.problem == ServerProblem.TOO_OFTEN
                else ""
            )
            raise ToolError(f"The MCP server {name!r} is down: {often}{held.detail}")
        if offer["hash"] not in {one["hash"] for one in self._consents.allowed(held.server, held.offered)}:
            raise ToolError(
                f"The MCP server {name!r} changed the tool {offer['name']!r} after the user allowed it. "
                "It cannot be used until the user allows it again."
            )

    def _change(self, held: _Held, state: str, detail: str = "", problem: str = "") -> None:
        held.state = state
        held.problem = problem
        held.detail = self._host.clean(detail)
        self.on_change()

    def _on_news(self, line: Line) -> None:
        held = self._held.get(line["server"])
        if held is not None and "login" in line:
            self._start(self._keep_login(held.server.name, line["login"]))
            return
        if held is None or held.state != ServerState.CONNECTED:
            return
        if "tools" in line:
            self._take_tools(held, line)
            self.on_change()
        else:
            self._went_down(held, line["detail"], line["problem"])

    def _on_death(self) -> None:
        for held in self._held.values():
            if held.state == ServerState.CONNECTED:
                self._went_down(held, "The process that runs tools ended.", ServerProblem.ENDED)

    def _take_tools(self, held: _Held, answer: Line) -> None:
        held.offered = tuple(self._host.cleaned(answer["tools"]))
        held.withheld = tuple(self._host.cleaned(answer["withheld"]))
        held.prompts = self.library.prompts(held.server.name, answer["prompts"])
        held.has_resources = answer["resources"]

    def _went_down(self, held: _Held, detail: str, problem: str) -> None:
        """Note that a connected server ended; one that ran for long has all its restarts again."""
        self._change(held, ServerState.DOWN, detail, problem)
        if asyncio.get_running_loop().time() - held.connected_at > _WINDOW_SECONDS:
            held.tries = 0
        self._start_again(held)

    def _start_again(self, held: _Held) -> None:
        """Start a server again that ended by itself, later each time; one that was refused or sent too much stays down."""
        held.restarts = (
            not self._closed
            and held.problem == ServerProblem.ENDED
            and held.tries < len(self._limits.restarts)
        )
        if held.restarts:
            held.tries += 1
            self._begin(self._connect_after(held, self._limits.restarts[held.tries - 1]))
        self.on_change()

    async def _connect_after(self, held: _Held, seconds: float) -> None:
        await asyncio.sleep(seconds)
        held.restarts = False
        if held.state == ServerState.DOWN:
            await self._connect(held)
            if held.state == ServerState.DOWN:
                self._start_again(held)

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Begin to connect to a server in a task that ends with Moot."""
        task = start_owned(work)
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)
        return task

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = start_owned(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
