"""Connections to MCP servers; importing this takes two seconds, for the MCP library.

A connection is a task that connects, waits and disconnects; all others only call. Calls have time limits,
what the server asks meanwhile, and how far it says it is. Resources and prompts: lists of them, and what is
in one.
"""

import asyncio
import contextlib
import itertools
import json
import logging
import math
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import anyio
import httpx2
import mcp_types as types
from mcp import Client, MCPError
from mcp.client.extension import advertise
from mcp.client.session import ClientRequestContext
from mcp_types import CONNECTION_CLOSED
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from app.children.processes import search_path, system_environment
from app.core.texts import readable, visible
from app.core.tool import ServerProblem, ToolError
from app.tools.tool_host import mcp_elicitation, mcp_results, server_processes
from app.tools.tool_host.mcp_login import Login, Redirect
from app.tools.tool_host.mcp_results import plain_result
from app.tools.tool_host.mcp_transports import Guard, ServerLog, http_transport, stdio_transport
from app.tools.tool_host.server_processes import GROUPS

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

_PROGRESS_SECONDS = 0.2
_PROGRESS_CHARACTERS = 300
_OPEN_QUESTIONS = 8
_QUESTIONS = 32

Line = Mapping[str, Any]
NUMBERS = itertools.count(1)


class RunningCall:
    """A running call: where its server's questions go, and its time limit, which pauses
    while a question is open.
    """

    def __init__(self, put: Callable[[Line], None], limit: asyncio.Timeout, seconds: float) -> None:
        self.put = put
        self.limit = limit
        self.seconds = seconds
        self.open: dict[int, asyncio.Future[str | None]] = {}
        self.asked = 0
        self._told_refusal = False
        self._told_at = 0.0

    async def on_progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Restart the time limit, and pass the progress on, not too often."""
        self.alive()
        now = asyncio.get_running_loop().time()
        if now - self._told_at < _PROGRESS_SECONDS and (total is None or progress < total):
            return
        self._told_at = now
        share = progress / total if total else math.nan
        shown = min(1.0, max(0.0, share)) if math.isfinite(share) else None
        self.put({"progress": {"share": shown, "text": visible(message or "")[:_PROGRESS_CHARACTERS]}})

    def may_ask(self) -> bool:
        """Return whether one more question may be put to the user, who is told once that some are refused."""
        may = len(self.open) < _OPEN_QUESTIONS and self.asked < _QUESTIONS
        if not may and not self._told_refusal:
            self._told_refusal = True
            self.put({"refused": True})
        return may

    def alive(self) -> None:
        """Restart the time limit, unless a question is open."""
        self.limit.reschedule(None if self.open else asyncio.get_running_loop().time() + self.seconds)


_CURRENT: ContextVar[RunningCall | None] = ContextVar("running call", default=None)


_MOST_LISTED = 500
_PAGES = 20
_NAME_CHARACTERS = 200
_TEXT_CHARACTERS = 1_000
_URI_CHARACTERS = 2_000
_ARGUMENTS = 20


async def listed_prompts(client: Client) -> list[dict[str, Any]]:
    """Return the prompts of a server: name, title and arguments of each."""
    if client.server_capabilities.prompts is None:
        return []
    found = await all_of(client.list_prompts, "prompts")
    return [
        _named(item) | {"arguments": [_named(each) for each in (item.arguments or ())[:_ARGUMENTS]]}
        for item in found
        if len(item.name) <= _NAME_CHARACTERS
    ]


def _named(item: Any) -> dict[str, Any]:
    return {"name": item.name, "title": _short(item.title or item.name, _NAME_CHARACTERS)}


async def listed_resources(client: Client, _line: Line) -> dict[str, Any]:
    """Return the resources of a server, those with blanks in their addresses last."""
    listed = [(item, str(item.uri)) for item in await all_of(client.list_resources, "resources")]
    # Many servers have resources, but no method for templates.
    with contextlib.suppress(Exception):
        templates = await all_of(client.list_resource_templates, "resource_templates")
        listed += [(template, template.uri_template) for template in templates]
    resources = []
    for item, uri in listed[:_MOST_LISTED]:
        if len(uri) <= _URI_CHARACTERS:
            name = _short(item.title or item.name or uri, _NAME_CHARACTERS)
            description = _short(item.description or "", _TEXT_CHARACTERS)
            media_type = _short(item.mime_type or "", _NAME_CHARACTERS)
            resources.append({"uri": uri, "name": name, "description": description, "media_type": media_type})
    return {"resources": resources}


async def read_resource(client: Client, line: Line) -> dict[str, Any]:
    """Return what is in a resource, as files."""
    contents = (await client.read_resource(line["uri"])).contents
    taken = plain_result({"content": [{"type": "resource", "resource": plain_json(one)} for one in contents]})
    if not taken["files"]:
        raise ToolError(taken["text"] or "The resource is empty.", ServerProblem.FAILED)
    return {"files": _readable_files(taken)}


async def filled_prompt(client: Client, line: Line) -> dict[str, Any]:
    """Return the text of a prompt with its arguments filled in, and the files it names."""
    result = await client.get_prompt(line["name"], dict(line["values"]))
    parts = [plain_json(message.content) for message in result.messages]
    # The texts of embedded resources are attached, and not part of the prompt.
    texts = [str(part["text"]) for part in parts if part.get("type") == "text"]
    rest = plain_result({"content": [part for part in parts if part.get("type") != "text"]})
    return {"text": readable("\n\n".join(texts)), "files": _readable_files(rest)}


OPERATIONS: Final[Mapping[str, Callable[[Client, Line], Awaitable[dict[str, Any]]]]] = {
    "resources": listed_resources,
    "read": read_resource,
    "prompt": filled_prompt,
}


async def all_of(list_page: Callable[..., Awaitable[Any]], field: str) -> list[Any]:
    """Return what a server lists, from all its pages, up to a limit."""
    found: list[Any] = []
    cursor: str | None = None
    seen: set[str] = set()
    for _ in range(_PAGES):
        page = await list_page(cursor=cursor, cache_mode="bypass")
        found += getattr(page, field)
        cursor = page.next_cursor
        if cursor is None or cursor in seen or len(found) >= _MOST_LISTED:
            break
        seen.add(cursor)
    return found[:_MOST_LISTED]


def _readable_files(taken: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{**file, "text": readable(file["text"])} for file in taken["files"]]


def _short(text: str, most: int) -> str:
    return " ".join(visible(text).split())[:most]


def plain_json(value: Any) -> dict[str, Any]:
    """Return a message of the protocol as JSON values."""
    plain: dict[str, Any] = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return plain


_LIST_SECONDS = 20.0
_COALESCE_SECONDS = 0.5
_DETAIL_CHARACTERS = 500
_CLOSED = "The connection was closed."
_TOO_MANY = types.ErrorData(
    code=types.INVALID_REQUEST, message="Not asked: this call has asked, or has open, too many questions."
)
_PAGE_TYPES = ["text/html;profile=mcp-app", "text/html"]


class Server:
    """A connection to one server, from its start to its end; connecting again takes a new one.

    `entry` is the server as JSON; the texts in its `secrets` are in no log. `limits` are the seconds for
    `connect`, `call` and `login`; `news` gets changes that nobody asked for, and the process groups that run.
    With `ask`, which puts the address of the page to the user, the user logs in anew.
    """

    def __init__(
        self,
        entry: Line,
        limits: Mapping[str, float],
        log_path: str,
        news: Callable[[Line], None],
        ask: Callable[[Line], None] | None = None,
    ) -> None:
        self.entry = entry
        self._limits = limits
        self.name = str(entry["name"])
        self.tools: list[dict[str, Any]] = []
        self.withheld: list[str] = []
        self.prompts: list[dict[str, Any]] = []
        self._log = ServerLog(Path(log_path) if log_path else None, entry.get("secrets", ()))
        self._news = news
        self._ask = ask
        self._wake = asyncio.Event()
        self._guard = Guard(self._wake.set)
        self._leaving = False
        self._told = False
        self._changed = False
        self._client: Client | None = None
        self._calls: list[RunningCall] = []
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._owner = asyncio.create_task(self._own())

    @property
    def offers(self) -> dict[str, Any]:
        """What the server offers now: tools, the names of those that are withheld, prompts,
        and whether it has resources.
        """
        client = self._client
        has_resources = client is not None and client.server_capabilities.resources is not None
        tools = {"tools": self.tools, "withheld": self.withheld}
        return {**tools, "prompts": self.prompts, "resources": has_resources}

    @property
    def alive(self) -> bool:
        """Whether the server is connected or connecting."""
        return not self._owner.done() and not self._leaving and not self._guard.ended

    async def connected(self) -> None:
        """Wait until the tools are known. Raises ToolError that says why the server could not be
        reached.
        """
        await asyncio.shield(self._ready)

    async def leave(self) -> None:
        """End the connection and the process."""
        self._leaving = True
        self._wake.set()
        if not self._ready.done():
            self._owner.cancel()
        await asyncio.gather(self._owner, return_exceptions=True)

    async def call(
        self, tool: str, arguments: dict[str, Any], page: str, put: Callable[[Line], None]
    ) -> dict[str, Any]:
        """Call a tool, and read the `page` that it names for its results.
        Raises ToolError. Cancelling ends it in the server.
        """
        async with self._used() as client, self._running(put, self._limits["call"]) as call:
            result = await client.call_tool(tool, arguments, progress_callback=call.on_progress)
            return mcp_results.plain_result(plain_json(result), await self._page(client, page, result))

    async def look_up(self, line: Line) -> dict[str, Any]:
        """Return what a line asks about resources and prompts. Raises ToolError."""
        async with self._used() as client, asyncio.timeout(self._limits["call"]):
            return await OPERATIONS[line["what"]](client, line)

    @contextlib.asynccontextmanager
    async def _used(self) -> AsyncGenerator[Client, None]:
        """Yield the connection; what goes wrong with it is a ToolError in words."""
        if self._client is None:
            raise ToolError(self._guard.reason or f"The MCP server {self.name!r} is not connected.")
        try:
            yield self._client
        except TimeoutError:
            within = f"within {self._limits['call']:.0f} seconds"
            raise ToolError(f"The MCP server {self.name!r} gave no answer {within}.") from None
        except ToolError:
            raise
        except Exception as error:
            leaf = _first_leaf(error)
            if _connection_lost(leaf):
                self._guard.end()
            raise ToolError(f"The MCP server {self.name!r} failed: {self._words(leaf)}") from error

    @contextlib.asynccontextmanager
    async def _running(
        self, put: Callable[[Line], None], seconds: float
    ) -> AsyncGenerator[RunningCall, None]:
        """Run a call within its time limit; at its end its open questions are dismissed. Raises
        TimeoutError.
        """
        async with asyncio.timeout(seconds) as limit:
            call = RunningCall(put, limit, seconds)
            self._calls.append(call)
            _CURRENT.set(call)
            try:
                yield call
            finally:
                self._calls.remove(call)
                for question in call.open.values():
                    if not question.done():
                        question.set_result(None)

    def _current_call(self) -> RunningCall | None:
        """Return the call that a question of the server belongs to, None for none."""
        # In older protocols a server does not say which call it is.
        call = _CURRENT.get()
        return call if call in self._calls else self._calls[-1] if self._calls else None

    async def _put_question(self, call: RunningCall, question: dict[str, Any]) -> str | None:
        """Put a question to the user; None where it was dismissed."""
        if call not in self._calls:
            return None
        number = next(NUMBERS)
        call.asked += 1
        call.open[number] = asyncio.get_running_loop().create_future()
        call.alive()
        try:
            call.put({"ask": {"number": number, **question}})
            return await call.open[number]
        finally:
            del call.open[number]
            if call in self._calls:
                call.alive()

    def answer(self, number: int, words: str | None) -> None:
        """Pass on the user's answer to a question."""
        for call in self._calls:
            question = call.open.get(number)
            if question is not None and not question.done():
                question.set_result(words)

    async def _own(self) -> None:
        # A cancel scope of the MCP library must be left by the task that entered it.
        reason = ""
        problem: str = ServerProblem.ENDED
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(self._limits["connect" if self._ask is None else "login"]):
                    transport = await self._transport(stack)
                    client = await stack.enter_async_context(self._new_client(transport))
                    await self._list(client)
                self._client = client
                self._ready.set_result(None)
                await self._stay(client)
        except TimeoutError:
            problem = ServerProblem.NO_ANSWER
            reason = self._guard.reason or f"Timed out after {self._limits['connect']:.0f} seconds."
        except ToolError as error:
            reason, problem = str(error), error.problem
        except asyncio.CancelledError:
            reason = "It was disconnected."
        except Exception as error:
            leaf = _first_leaf(error)
            reason, problem = self._words(leaf), self._problem(leaf)
        finally:
            self._client = None
        self._end(reason, problem)

    def _end(self, reason: str, problem: str) -> None:
        if self._guard.reason:
            problem = self._guard.problem
        if self._ready.done():
            self._tell_down(reason, problem)
        else:
            reason = self._whole(reason)
            self._log.note(f"(could not be connected to) {reason}")
            self._ready.set_exception(ToolError(reason, problem))
            # Marks the exception as seen: perhaps nobody waits for it any more.
            self._ready.exception()

    def _tell_down(self, reason: str, problem: str) -> None:
        if self._leaving or self._told:
            return
        self._told = True
        self._client = None
        reason = self._whole(reason)
        self._log.note(f"(disconnected) {reason}")
        self._news({"server": self.name, "state": "down", "problem": problem, "detail": reason})

    def _whole(self, reason: str) -> str:
        """Return why the server is down, with its last lines."""
        reason = reason or self._guard.reason or _CLOSED
        if self._log.last_words and not self._guard.reason:
            reason = f"{reason} Last output: {self._log.last_words}"
        return visible(self._log.clean(reason))[:_DETAIL_CHARACTERS]

    async def _transport(self, stack: AsyncExitStack) -> "AbstractAsyncContextManager[TransportStreams]":
        url = self.entry.get("url")
        if url:
            login = await self._login(str(url), stack)
            return http_transport(str(url), self.entry.get("headers") or {}, self._guard, login)
        cwd = self.entry.get("cwd") or None
        variables = self.entry.get("env") or {}
        path = variables.get("PATH") or await search_path()
        program = await server_processes.resolve(str(self.entry["command"]), cwd, path)
        self._log.note(f"(connecting) {program}")
        command, env = [program, *self.entry.get("args", ())], system_environment() | {"PATH": path}
        how = {"env": env | variables, "cwd": cwd}
        return stdio_transport(
            command, self._guard, self._log, lambda: self._news({"groups": sorted(GROUPS)}), **how
        )

    async def _login(self, url: str, stack: AsyncExitStack) -> Login | None:
        """Return the login to a server at an address, None where there is none and the user did not ask
        for one.
        """
        kept = str(self.entry.get("login") or "")
        if self._ask is None and not kept:
            return None
        redirect = Redirect(partial(self._agree, self._ask)) if self._ask is not None else None
        if redirect is not None:
            await stack.enter_async_context(redirect.listening())
        return Login(
            url,
            kept,
            on_change=lambda text: self._news({"server": self.name, "login": text}),
            on_failure=lambda error: self._guard.end(str(error), error.problem),
            redirect=redirect,
            client=self.entry.get("client"),
        )

    async def _agree(self, put: Callable[[Line], None], url: str) -> bool:
        """Ask the user about the page of the login, which the parent opens after a yes."""
        async with self._running(put, self._limits["login"]) as call:
            return await self._put_question(call, {"question": "", "link": url}) is not None

    def _new_client(self, transport: "AbstractAsyncContextManager[TransportStreams]") -> Client:
        return Client(
            transport,
            client_info=types.Implementation(name="moot", version="1"),
            elicitation_callback=self._on_elicitation,
            log_level="info",
            message_handler=self._on_message,
            logging_callback=self._on_log,
            extensions=[advertise("io.modelcontextprotocol/ui", {"mimeTypes": _PAGE_TYPES})],
        )

    async def _stay(self, client: Client) -> None:
        listening = asyncio.create_task(self._listen(client))
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                if self._leaving:
                    return
                if self._guard.ended:
                    # At once, because ending the process may take seconds.
                    self._tell_down("", self._guard.problem)
                    return
                if self._changed:
                    await asyncio.sleep(_COALESCE_SECONDS)
                    self._changed = False
                    async with asyncio.timeout(_LIST_SECONDS):
                        await self._list(client)
                    self._news({"server": self.name, **self.offers})
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)

    async def _list(self, client: Client) -> None:
        self.tools = await self._list_tools(client)
        try:
            self.prompts = await listed_prompts(client)
        except Exception as error:
            self._log.note(f"(its prompts could not be listed) {_first_leaf(error)}")
            self.prompts = []

    async def _list_tools(self, client: Client) -> list[dict[str, Any]]:
        if client.server_capabilities.tools is None:
            return []
        self._guard.unusable.clear()
        plain = [plain_json(tool) for tool in await all_of(client.list_tools, "tools")]
        self.withheld = [visible(str(item["name"]))[:200] for item in plain if mcp_results.runs_as_task(item)]
        for name in self.withheld:
            self._log.note(f"(not offered) {name}: it runs only as a task, which Moot does not support")
        for name in self._guard.unusable:
            self._log.note(f"(not offered) {name}: it is not described as the protocol wants")
        self.withheld += self._guard.unusable
        return mcp_results.offered_tools(plain)

    async def _listen(self, client: Client) -> None:
        # Since protocol 2026 a server reports changes only to those who listen.
        parts = client.server_capabilities.tools, client.server_capabilities.prompts
        tools, prompts = (bool(part and part.list_changed) for part in parts)
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS or not (tools or prompts):
            return
        with contextlib.suppress(Exception):
            async with client.listen(tools_list_changed=tools, prompts_list_changed=prompts) as changes:
                async for _ in changes:
                    self._on_list_changed()

    async def _on_log(self, params: types.LoggingMessageNotificationParams) -> None:
        """Write a logging message of the server into its log."""
        data = params.data if isinstance(params.data, str) else json.dumps(params.data, ensure_ascii=False)
        who = f"{params.logger}: " if params.logger else ""
        self._log.note(f"[{params.level}] {who}{data}")

    async def _on_message(self, message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification | types.PromptListChangedNotification):
            self._on_list_changed()
        await anyio.lowlevel.checkpoint()

    def _on_list_changed(self) -> None:
        self._changed = True
        self._wake.set()

    async def _page(self, client: Client, uri: str, result: types.CallToolResult) -> list[dict[str, Any]]:
        """Return the page that the user allowed for a tool's results (MCP Apps)."""
        if not uri or result.is_error:
            return []
        try:
            contents = (await client.read_resource(uri)).contents
        except Exception as error:
            self._log.note(f"(its page {uri} could not be read) {_first_leaf(error)}")
            return []
        return [plain_json(content) for content in contents[:1]]

    async def _on_elicitation(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        call = self._current_call()
        if call is None:
            return types.ElicitResult(action="cancel")
        if not call.may_ask():
            return _TOO_MANY
        ask = partial(self._put_question, call)
        message = f"{self.name}: {params.message}"
        if isinstance(params, types.ElicitRequestURLParams):
            action, content = await mcp_elicitation.ask_link(message, params.url, ask)
        else:
            action, content = await mcp_elicitation.ask_form(message, params.requested_schema, ask)
        return types.ElicitResult.model_validate({"action": action, "content": content})

    def _problem(self, error: BaseException) -> str:
        if self._guard.http_status:
            path = str(self.entry["url"]).partition("?")[0].rstrip("/")
            if path.endswith("/sse") and "405" in self._guard.http_status:
                # Where the older transport begins, nothing can be posted.
                return ServerProblem.SSE
            return ServerProblem.LOGIN if self._guard.wants_login else ServerProblem.REFUSED
        if _connection_lost(error):
            return ServerProblem.ENDED if self._log.last_words else ServerProblem.NO_ANSWER
        return ServerProblem.FAILED

    def _words(self, error: BaseException) -> str:
        if self._guard.reason:
            return self._guard.reason
        if isinstance(error, MCPError) and error.code == CONNECTION_CLOSED:
            return _CLOSED
        # pydantic describes a protocol error on many lines, some of them links.
        lines = [line.strip() for line in str(error).splitlines() if "errors.pydantic.dev" not in line]
        text = " ".join(lines) or type(error).__name__
        status = self._guard.http_status
        words = f"{status}: {text}" if status and status not in text else text
        return visible(self._log.clean(words))[:_DETAIL_CHARACTERS]


def _first_leaf(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _connection_lost(error: BaseException) -> bool:
    if isinstance(error, MCPError):
        return error.code == CONNECTION_CLOSED or str(error) == "Session terminated"
    return isinstance(error, httpx2.TransportError | anyio.ClosedResourceError | anyio.BrokenResourceError)


# The MCP library logs what servers send, secrets included; a server's state tells what matters.
for _name in ("mcp", "client", "httpx2"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)
