"""All tools that an assistant may be given: Moot's own, and those of MCP servers. The tool host speaks MCP.

`ServerConsents`: what the user allowed. `Toolbox` connects the servers of `mcp.json`, with their secrets and
the tokens of their logins, makes tools of what they offer, and calls them. Resources and prompts.
"""

import asyncio
import contextlib
import re
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from app.children.host_client import Line
from app.children.private_files import last_lines
from app.children.processes import in_thread
from app.core.definitions import ServerPrompt
from app.core.errors import StorageError
from app.core.message import Attachment, FormField, Prompt
from app.core.owned_tasks import start_owned
from app.core.servers import (
    LOGIN,
    McpServer,
    is_login_to,
    login_texts,
    parted,
    resolved,
    secret_fields,
    secret_place,
    texts_to_hide,
)
from app.core.store import Documents, Secrets, SessionFiles
from app.core.texts import exact
from app.core.tool import (
    PARTS,
    Control,
    ServerProblem,
    ServerResource,
    ServerState,
    ServerStatus,
    Tool,
    ToolContext,
    ToolError,
    ToolResult,
    is_page,
)
from app.tools import page_viewer, planning, prompt_user, session_files, web
from app.tools.declared import Outside
from app.tools.tool_host_client import Ask, ToolHostClient

_ALWAYS = "/always"

Offer = Mapping[str, Any]


def consent_of(server: McpServer, offer: Offer) -> str:
    """Return what the consent to a tool is bound to: its server and the tool as it is now."""
    return f"{server.fingerprint}/{offer['hash']}"


class ServerConsents:
    """Reads and saves consents: a server's fingerprint, the fingerprint with a slash once its tools were
    seen, and the fingerprint with each tool's hash; with `/always` behind it that tool runs without a
    question.
    """

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def may_run(self, server: McpServer) -> bool:
        """Say whether a server is switched on and allowed as it is now."""
        return not server.disabled and server.fingerprint in self._documents.consents()

    def knows_tools(self, server: McpServer) -> bool:
        """Say whether the user has allowed tools of a server, which may be none."""
        return f"{server.fingerprint}/" in self._documents.consents()

    def allowed(self, server: McpServer, offered: Sequence[Offer]) -> list[Offer]:
        """Return the offered tools that are those the user has allowed."""
        consents = self._documents.consents()
        return [offer for offer in offered if consent_of(server, offer) in consents]

    def changes(self, server: McpServer, offer: Offer) -> tuple[str, ...]:
        """Return codes of what is new of a tool since the user allowed it, with what it now says
        of its effects.
        """
        before = [item.partition("/")[2].removesuffix(_ALWAYS).split(".") for item in self._of(server)]
        now = offer["hash"].split(".")
        same = [parts for parts in before if len(parts) == len(now) and parts[0] == now[0]]
        if not same:
            # Before 0.1.0 was out, a consent was one digest of the name, the description and the schema.
            return ("unknown",) if any(len(parts) == 1 and parts[0] for parts in before) else ("tool",)
        nearest = max(same, key=lambda parts: sum(map(str.__eq__, parts, now)))
        other = [part for part, item, new in zip(PARTS, nearest, now, strict=True) if item != new]
        said = "reads" if offer["reads"] else "deletes" if offer["deletes"] else "effects"
        return tuple(said if part == "effects" else part for part in other)

    def _of(self, server: McpServer) -> list[str]:
        return [item for item in self._documents.consents() if item.startswith(f"{server.fingerprint}/")]

    def asks(self, server: McpServer, offer: Offer) -> bool:
        """Say whether the user is asked before each call of a tool."""
        return consent_of(server, offer) + _ALWAYS not in self._documents.consents()

    def lasting(self, server: McpServer) -> int:
        """Return how many tools of a server run without a question, also those not known now."""
        return sum(item.endswith(_ALWAYS) for item in self._of(server))

    def known(self, server: McpServer) -> int:
        """Return how many tools of a server the user has allowed."""
        return sum(not item.endswith(("/", _ALWAYS)) for item in self._of(server))

    async def allow(self, server: McpServer, offered: Sequence[Offer] | None) -> None:
        """Save the consent to a server, and to its tools where they are known, in place
        of those allowed before.
        """
        if offered is not None:
            tools = {consent_of(server, item) for item in offered}
            # A lasting permission is bound to the tool as it was.
            kept = {consent + _ALWAYS for consent in tools}
            new = tools | {server.fingerprint, f"{server.fingerprint}/"}
            await self._drop(lambda item: item.startswith(f"{server.fingerprint}/") and item not in kept, new)
        else:
            await self._documents.change_consents(lambda known: known | {server.fingerprint})

    async def withdraw(self, fingerprint: str) -> None:
        """Withdraw the consent to the servers of a fingerprint and to their tools."""
        await self._drop(lambda item: item.partition("/")[0] == fingerprint)

    async def _drop(self, chosen: Callable[[str], bool], new: Collection[str] = ()) -> None:
        """Remove the chosen consents, and add new ones."""
        await self._documents.change_consents(
            lambda known: frozenset((*(item for item in known if not chosen(item)), *new))
        )

    async def permit(self, consents: Collection[str]) -> None:
        """Save that these tools, as they are named in their consents, run without a question for good."""
        await self._documents.change_consents(
            lambda known: known | {consent + _ALWAYS for consent in known.intersection(consents)}
        )

    async def ask_again(self, server: McpServer) -> None:
        """Withdraw the lasting permissions of a server's tools."""
        await self._drop(lambda item: item.startswith(f"{server.fingerprint}/") and item.endswith(_ALWAYS))


_LONGEST_KEY = 64
_FOREIGN = re.compile(r"[^a-zA-Z0-9_-]")


def tool_key(server: str, tool: str) -> str:
    """Return `<server>__<tool>` as providers accept it (^[a-zA-Z0-9_-]{1,64}$).

    If the names must be changed for that, a part of their hash keeps two keys apart.
    """
    key = f"{_FOREIGN.sub('_', server)}__{_FOREIGN.sub('_', tool)}"
    if key == f"{server}__{tool}" and len(key) <= _LONGEST_KEY and key.count("__") == 1:
        return key
    mark = sha256(f"{server}\0{tool}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{key[: _LONGEST_KEY - 9]}_{mark}"


def file_name(server: str) -> str:
    """Return a file name for a server that every file system accepts."""
    name = _FOREIGN.sub("_", server)[:40]
    mark = sha256(server.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return name if name == server else f"{name}-{mark}"


_STARTS = 3
_WINDOW_SECONDS = 60.0
_LOG_BYTES = 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    """Seconds in which a server must connect, must answer a call or report progress, and in
    which a user must log in.

    A turn waits `wait` seconds for servers that connect, and goes on without those that take longer: some
    fetch themselves first. A server that ended by itself starts again after each of `restarts`.
    """

    connect: float = 60.0
    wait: float = 20.0
    call: float = 120.0
    login: float = 600.0
    restarts: tuple[float, ...] = (1.0, 5.0, 60.0)


@dataclass(slots=True)
class _Held:
    """A server of `mcp.json` and its present state; `restarts` says that it starts again by itself,
    for the time `tries`.
    """

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


class Toolbox:
    """Has Moot's own tools, connects the servers that the user allowed, and calls their tools.

    Implements `core.tool.Tools`. `on_change` is called whenever a status has changed. Owns `host`, and closes
    it; `open_link` opens an address in the system's browser and returns whether that worked.
    """

    def __init__(
        self,
        documents: Documents,
        secrets: Secrets,
        host: ToolHostClient,
        files: SessionFiles,
        *,
        open_link: Callable[[str], Awaitable[bool]],
        log_dir: Path | None = None,
        on_change: Callable[[], None] = lambda: None,
        limits: ServerLimits | None = None,
    ) -> None:
        self._host = host
        self._documents = documents
        self._consents = ServerConsents(documents)
        self._secrets = secrets
        self._log_dir = log_dir
        self.on_change = on_change
        self._limits = limits or ServerLimits()
        self._held: dict[str, _Held] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._starting: set[asyncio.Task[None]] = set()
        self._closed = False
        host.on_news = self._on_news
        host.on_death = self._on_death
        outside = Outside(call=host.call, settings=documents.settings, open_link=open_link, files=files)
        everybody = (web.TOOLS, prompt_user.TOOLS, planning.TOOLS, session_files.TOOLS)
        leaders = (planning.ORCHESTRATION_TOOLS, planning.STEP_TOOLS)
        self._allowed = tuple(declared.bind(outside) for some in (*everybody, *leaders) for declared in some)

    def allowed(self) -> tuple[Tool, ...]:
        """Return Moot's own tools."""
        return self._allowed

    def can_fetch_viewer(self) -> bool:
        """Say whether the viewer of servers' pages is missing and can be installed here."""
        return page_viewer.can_install()

    async def fetch_viewer(self, progress: Callable[[int, int], None]) -> None:
        """Install the viewer of servers' pages; see `core.tool.Tools`."""
        await in_thread(page_viewer.install, progress, "viewer_not_fetched")

    def servers(self) -> tuple[ServerStatus, ...]:
        """Return every server of `mcp.json` with its state."""
        return tuple(self._status(held) for held in self._refreshed().values())

    def server_tools(self, servers: Sequence[str]) -> tuple[Tool, ...]:
        """Return the tools of these servers that the user has allowed, also while a server is down."""
        offers = ((held.server, held.offered) for held in self._may_run(servers))
        allowed = ((server, self._consents.allowed(server, offered)) for server, offered in offers)
        return tuple(self._tool(server, offer) for server, tools in allowed for offer in tools)

    async def attach(self, servers: Sequence[str]) -> None:
        """Connect to servers that may run; returns when each is connected, down or waits for consent,
        or takes long.
        """
        may_run = self._may_run(servers)
        if work := [start_owned(self._connect(held), among=self._starting) for held in may_run]:
            await asyncio.wait(work, timeout=self._limits.wait)

    async def consent(self, server: str) -> None:
        """Save that the user allows a server as it is now, with its present tools, and connect."""
        if (held := self._refreshed().get(server)) is not None:
            known = held.offered if held.state == ServerState.CONNECTED else None
            await self._consents.allow(held.server, known)
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
        for item in tuple(self._held.values()):
            # A server that is connecting notices by itself.
            if item.server.fingerprint == fingerprint and item.state == ServerState.CONNECTED:
                await self._disconnect(item.server.name)
                self._change(item, ServerState.OFF)
        self.on_change()

    async def permit(self, consents: Collection[str]) -> None:
        """Save that these tools, as they are named in their consents, run without a question for good."""
        await self._consents.permit(consents)
        self.on_change()

    async def ask_again(self, server: str) -> None:
        """Withdraw the lasting permissions of a server's tools."""
        if (held := self._refreshed().get(server)) is not None:
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
        """Log in to a server at an address and connect; `agree` asks the user about the page's address
        and opens it.
        """

        async def ask(question: Mapping[str, Any]) -> str | None:
            return "yes" if await agree(question["link"]) else None

        await self.restart(server, ask, client)

    async def logout(self, server: str) -> bool:
        """Forget the tokens of a login, and disconnect the server; false
        where the keyring may still have them.
        """
        held = self._refreshed().get(server)
        gone = await self._secrets.remove(secret_place(server, LOGIN))
        if held is not None and held.state != ServerState.OFF:
            await self._disconnect(server)
            self._change(held, ServerState.OFF)
        self.on_change()
        return gone

    async def resources(self, server: str) -> tuple[ServerResource, ...]:
        """Return the resources of a connected server. Raises ToolError."""
        answer = await self._ask("resources", server)
        return tuple(ServerResource(**self._host.cleaned(item)) for item in answer["resources"])

    async def read_resource(self, server: str, uri: str) -> tuple[Attachment, ...]:
        """Return what is in a resource, as files. Raises ToolError."""
        answer = await self._ask("read", server, uri=uri)
        return await asyncio.to_thread(self._attachments, answer["files"])

    async def prompt(
        self, prompt: ServerPrompt, values: Mapping[str, str]
    ) -> tuple[str, tuple[Attachment, ...]]:
        """Return the text of a prompt with these values, and the files it names. Raises ToolError."""
        answer = await self._ask("prompt", prompt.server, name=prompt.key, values=dict(values))
        files = await asyncio.to_thread(self._attachments, answer["files"])
        return self._host.clean(answer["text"]), files

    async def close(self) -> None:
        """Disconnect every server and stop the tool host."""
        await self._start_no_more()
        await self._host.close()

    async def _start_no_more(self) -> None:
        """Wait for the disconnections in progress; what goes down from now on is not started again."""
        self._closed = True
        for task in self._starting:
            task.cancel()
        await asyncio.gather(*self._tasks, *self._starting, return_exceptions=True)

    def _attachments(self, files: list[Mapping[str, Any]]) -> tuple[Attachment, ...]:
        """Return files of the host as attachments."""
        clean = self._host.clean
        made = (dict(file, name=clean(file["name"]), text=clean(file["text"])) for file in files)
        return tuple(Attachment(**fields) for fields in made)

    def _prompts(self, server: str, listed: list[Mapping[str, Any]]) -> tuple[ServerPrompt, ...]:
        """Return the listed prompts of a server, each called by its title and the server's name."""
        found = []
        for item in self._host.cleaned(listed):
            key, name = item["name"], f"{item['title']} · {exact(server)}"
            arguments = tuple((each["name"], each["title"]) for each in item["arguments"])
            prompt = ServerPrompt(id=f"{server}/{key}", name=name, text="", server=server, key=key)
            found.append(replace(prompt, arguments=arguments))
        return tuple(found)

    async def _ask(self, what: str, server: str, **more: object) -> dict[str, Any]:
        return await self._host.request({"op": "library", "what": what, "server": server, **more})

    def _refreshed(self) -> dict[str, _Held]:
        """Return the servers as `mcp.json` has them now; disconnects those that were changed or removed."""
        entries = {server.name: server for server in self._documents.mcp_servers()}
        for name, held in list(self._held.items()):
            if entries.get(name) != held.server:
                del self._held[name]
                if held.state in (ServerState.CONNECTED, ServerState.CONNECTING):
                    start_owned(self._disconnect(name), among=self._tasks)
        for name, server in entries.items():
            self._held.setdefault(name, _Held(server))
        self._held = {name: self._held[name] for name in entries}
        return self._held

    def _may_run(self, servers: Sequence[str]) -> list[_Held]:
        """Return those of these servers that are there and allowed, each once."""
        held = self._refreshed()
        wanted = [held[name] for name in dict.fromkeys(servers) if name in held]
        return [item for item in wanted if self._consents.may_run(item.server)]

    def _status(self, held: _Held) -> ServerStatus:
        server, consents = held.server, self._consents
        lasting = consents.lasting(server)
        if not consents.may_run(server):
            state = ServerState.OFF if server.disabled else ServerState.ASKING
            return ServerStatus(server=server, state=state, lasting=lasting)
        allowed = consents.allowed(server, held.offered)
        connected = held.state == ServerState.CONNECTED
        changed = [offer for offer in held.offered if offer not in allowed]

        def keys(offers: Iterable[Offer], hint: str = "name") -> tuple[str, ...]:
            return tuple(tool_key(server.name, item["name"]) for item in offers if item[hint])

        return ServerStatus(
            server=server,
            state=ServerState.ASKING if changed and connected else held.state,
            tools=keys(allowed),
            changed=keys(changed),
            changes={tool_key(server.name, item["name"]): consents.changes(server, item) for item in changed},
            pending=tuple(consent_of(server, item) for item in changed),
            unasked=keys(item for item in allowed if not consents.asks(server, item)),
            reading=keys(allowed, "reads"),
            deleting=keys(allowed, "deletes"),
            outside=keys(allowed, "outside"),
            withheld=held.withheld,
            prompts=held.prompts if connected else (),
            has_resources=held.has_resources and connected,
            lasting=lasting,
            known=consents.known(server),
            restarts=held.restarts and held.state == ServerState.DOWN,
            logged_in=self._login_of(server.name) is not None,
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
                whole, log = await self._whole(held.server, client or {}), self._log_of(held.server.name)
                line = {"op": "connect", "server": whole, "log": str(log or ""), "login": ask is not None}
                answer = await self._host.request({**line, "limits": asdict(self._limits)}, ask)
            except ToolError as error:
                self._change(held, ServerState.DOWN, str(error), error.problem)
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
                    # The user allowed the server before its tools were known, so these are the tools allowed.
                    # If that cannot be saved, the user is asked.
                    with contextlib.suppress(StorageError):
                        await self._consents.allow(held.server, held.offered)
                self._change(held, ServerState.CONNECTED)

    def _log_of(self, server: str) -> Path | None:
        return self._log_dir / f"mcp-{file_name(server)}.log" if self._log_dir else None

    async def _keep_login(self, server: str, text: str) -> None:
        """Keep what the host reports of a login."""
        self._secrets.hide(login_texts(text))
        await self._secrets.keep(secret_place(server, LOGIN), text)
        self.on_change()

    def _login_of(self, server: str) -> str | None:
        """Return what is kept of the login to a server, as far as it was looked up."""
        return self._secrets.get(secret_place(server, LOGIN), "")

    async def _whole(self, server: McpServer, client: Mapping[str, str]) -> dict[str, Any]:
        """Return a server's entry for the host, with its secrets in place, and the `client` that logs in.
        Raises ToolError.
        """
        places = {field: secret_place(server.name, field) for field in secret_fields(server)}
        unknown = [place for place in places.values() if self._secrets.get(place, "") is None]
        await self._secrets.refresh(tuple((place, "") for place in unknown))
        found = {field: self._secrets.get(place, "") for field, place in places.items()}
        values = {field: value for field, value in found.items() if value is not None}
        if lacking := ", ".join(field for field in places if field not in values):
            raise ToolError(f"Nothing is kept for: {lacking}", ServerProblem.NO_VALUE)
        whole = resolved(server, values.get)
        if whole.url and self._login_of(server.name) is None:
            await self._secrets.refresh(((secret_place(server.name, LOGIN), ""),))
        login = self._login_of(server.name) or ""
        # One to another address is of no use.
        login = login if whole.url and is_login_to(login, whole.url) else ""
        given = filter(None, (client.get("client_secret"),))
        hide = (*texts_to_hide(values | parted(server)[1]), *login_texts(login), *given)
        # What a server is sent is removed from every other text.
        self._secrets.hide(hide)
        return {**asdict(whole), "secrets": list(hide), "login": login, "client": dict(client)}

    async def _disconnect(self, name: str) -> None:
        if self._host.host_pid is not None:
            await self._host.request({"op": "disconnect", "server": name})

    def _tool(self, server: McpServer, offer: Offer) -> Tool:
        """Return an offered tool, ready to run."""
        same = {name: offer[name] for name in ("description", "reads", "name")}
        return Tool(
            key=tool_key(server.name, offer["name"]),
            parameters=offer["schema"],
            run=partial(self._call, server, offer),
            group=server.name,
            asks=self._consents.asks(server, offer),
            consent=consent_of(server, offer),
            **same,
        )

    async def _call(
        self, server: McpServer, offer: Offer, arguments: Mapping[str, object], context: ToolContext
    ) -> ToolResult:
        async def ask(question: Mapping[str, Any]) -> str | None:
            text = await asyncio.to_thread(self._host.clean, question["question"])
            fields = self._host.cleaned(question.get("fields", []))
            prompt = Prompt(
                question=text,
                type=question["type"],
                fields=msgspec.convert(fields, tuple[FormField, ...]),
                link=self._host.clean(question.get("link", "")),
                tool=tool_key(server.name, offer["name"]),
                server=server.name,
            )
            return await context.ask(prompt)

        await self._make_sure(server, offer)
        line = {"op": "call", "server": server.name, "tool": offer["name"], "page": offer["ui"]}
        answer = await self._host.request({**line, "arguments": dict(arguments)}, ask, context.report)
        # In a thread: a result may be long, and the event loop is the window's.
        return await asyncio.to_thread(self._result, server.name, answer)

    def _result(self, server: str, answer: Mapping[str, Any]) -> ToolResult:
        found = self._host.cleaned(answer["resources"])
        # What is no web page can be read through the server that named it, and through no other.
        resources = tuple(item if is_page(item) else {**item, "server": server} for item in found)
        return ToolResult(
            content=self._host.clean(answer["text"]),
            ok=answer["ok"],
            # A page ends the turn, because the user acts next.
            control=Control.WAIT if any(map(is_page, resources)) else Control.CONTINUE,
            resources=resources,
            attachments=self._attachments(answer["files"]),
        )

    async def _make_sure(self, server: McpServer, offer: Mapping[str, Any]) -> None:
        """Connect the server and check that the tool is the one the user allowed. Raises ToolError."""
        name = server.name
        held = self._refreshed().get(name)
        if held is None or held.server != server or not self._consents.may_run(held.server):
            raise ToolError(f"The MCP server {name!r} was changed or is not allowed to run. Ask the user.")
        await self._connect(held)
        if held.state != ServerState.CONNECTED:
            too_often = held.problem == ServerProblem.TOO_OFTEN
            often = f"It was started {_STARTS} times within a minute. " if too_often else ""
            raise ToolError(f"The MCP server {name!r} is down: {often}{held.detail}")
        if offer["hash"] not in {item["hash"] for item in self._consents.allowed(held.server, held.offered)}:
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
            start_owned(self._keep_login(held.server.name, line["login"]), among=self._tasks)
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
        held.prompts = self._prompts(held.server.name, answer["prompts"])
        held.has_resources = answer["resources"]

    def _went_down(self, held: _Held, detail: str, problem: str) -> None:
        """Note that a connected server ended; one that ran for long has all its restarts again."""
        self._change(held, ServerState.DOWN, detail, problem)
        if asyncio.get_running_loop().time() - held.connected_at > _WINDOW_SECONDS:
            held.tries = 0
        self._start_again(held)

    def _start_again(self, held: _Held) -> None:
        """Start a server again that ended by itself, later each time; one that was refused
        or sent too much stays down.
        """
        has_tries = held.tries < len(self._limits.restarts)
        held.restarts = not self._closed and held.problem == ServerProblem.ENDED and has_tries
        if held.restarts:
            held.tries += 1
            seconds = self._limits.restarts[held.tries - 1]
            start_owned(self._connect_after(held, seconds), among=self._starting)
        self.on_change()

    async def _connect_after(self, held: _Held, seconds: float) -> None:
        await asyncio.sleep(seconds)
        held.restarts = False
        if held.state == ServerState.DOWN:
            await self._connect(held)
            if held.state == ServerState.DOWN:
                self._start_again(held)
