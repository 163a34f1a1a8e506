"""Connections to MCP servers over stdio and HTTP, with limits on what a server may send, and the log of each.

The MCP library's own would read a line of any length into memory, write a server's standard error without
limit, and drop a whole list for one malformed entry. The log has that and Moot's own notes, limited and
without secrets.
"""

import contextlib
import os
import threading
import time
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import anyio
import httpx2
import mcp_types as types
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from pydantic import BaseModel, ValidationError

from app.children.private_files import append_log
from app.children.processes import Lines, end_group, has_exited, kill_group, start_program
from app.core.texts import visible
from app.core.tool import ServerProblem
from app.tools.tool_host.server_processes import GROUPS

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

_FILE_BYTES = 500_000
_READ_BYTES = 1 << 16
_LINE_CHARACTERS = 2_000
_PAUSE_SECONDS = 0.02


class ServerLog:
    """Keeps a server's last lines in memory, and all lines in at most two files of 500 kB."""

    def __init__(self, path: Path | None, secrets: Iterable[str]) -> None:
        self._path = path
        # Longest first, because one secret may contain another.
        self._secrets = sorted(secrets, key=len, reverse=True)
        self._last: deque[str] = deque(maxlen=3)
        self._lock = threading.Lock()

    def open_pipe(self) -> TextIO:
        """Return a pipe for the server's standard error; a thread reads its other end."""
        read_fd, write_fd = os.pipe()
        threading.Thread(target=self._read, args=(read_fd,), name="server log", daemon=True).start()
        return os.fdopen(write_fd, "w", encoding="utf-8")

    def note(self, text: str) -> None:
        """Write a line of Moot's own."""
        self._write([self.clean(text).strip()[:_LINE_CHARACTERS]])

    def note_output(self, line: bytes) -> None:
        """Keep a line of standard output that is no message: it may say what is wrong."""
        self._remember([self.clean(line[:200].decode("utf-8", "replace"))])

    def clean(self, text: str) -> str:
        """Return a text without the server's secrets."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    @property
    def last_words(self) -> str:
        """The server's last lines, at most 300 characters."""
        with self._lock:
            return " / ".join(self._last)[-300:]

    def _read(self, read_fd: int) -> None:
        # A secret at the limit of a line must not be cut in half before it is removed.
        lines = Lines(4 * _LINE_CHARACTERS + max(map(len, self._secrets), default=0))
        with os.fdopen(read_fd, "rb", buffering=0) as pipe:
            while data := pipe.read(_READ_BYTES):
                self._remember(self._cleaned(lines.take(data)[-200:]))
                if len(data) == _READ_BYTES:
                    # A server that writes without end must not take the processor.
                    time.sleep(_PAUSE_SECONDS)
        self._remember(self._cleaned([lines.rest()]))

    def _cleaned(self, lines: list[bytes]) -> list[str]:
        texts = (self.clean(line.decode("utf-8", "replace")).strip() for line in lines)
        return [text[:_LINE_CHARACTERS] for text in texts if text]

    def _remember(self, lines: list[str]) -> None:
        if lines:
            with self._lock:
                self._last.extend(lines)
            self._write(lines)

    def _write(self, lines: list[str]) -> None:
        # What cannot be written now is dropped; there may be space for the next line.
        if self._path is not None:
            with self._lock, contextlib.suppress(OSError):
                append_log(self._path, lines, _FILE_BYTES)


LINE_BYTES = 8_000_000
LOGIN_BYTES = 200_000
_WINDOW_SECONDS = 10.0
_UNASKED_MESSAGES = 5_000
_GARBAGE_BYTES = 2_000_000
_LINES_LOGGED = 20
_EXIT_SECONDS = 1.0
# What the protocol lets a server ask, and Moot does not offer.
_NOT_OFFERED = {"sampling/createMessage", "roots/list"}
_GONE = (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError)
_TIMEOUT = httpx2.Timeout(30.0, read=300.0)


class Guard:
    """Counts what a server sends, and ends the connection when that is too much.

    `reason` says why it ended, and `on_end` is called once then. `http_status` is the last refusal of an HTTP
    server, `wants_login` whether it asked for a token; `garbage_lines` counts lines that were no message.
    `unusable` are the names of what it listed in a form that cannot be read.
    """

    def __init__(self, on_end: Callable[[], None]) -> None:
        self.reason = ""
        self.problem: str = ServerProblem.ENDED
        self.ended = False
        self.http_status = ""
        self.wants_login = False
        self.unusable: list[str] = []
        self._on_end = on_end
        self._unasked: deque[float] = deque(maxlen=_UNASKED_MESSAGES)
        self._garbage = 0
        self.garbage_lines = 0

    def end(self, reason: str = "", problem: str = ServerProblem.ENDED) -> None:
        """Record that the connection ended; the first reason counts."""
        if not self.ended:
            self.ended = True
            self.reason = reason
            self.problem = problem
            self._on_end()

    def flooded(self, how: str) -> None:
        """End the connection, because it sent too much in this way."""
        self.end(f"It {how}.", ServerProblem.TOO_MUCH)

    def allows(self, item: SessionMessage | Exception) -> bool:
        """Return whether a message may pass; requests and notifications may not come too often.

        A list is mended, and a request for what Moot does not offer becomes one that the MCP library does not
        know.
        """
        message = item.message if isinstance(item, SessionMessage) else None
        if isinstance(message, types.JSONRPCResponse):
            self.unusable += mend_lists(message.result)
        if isinstance(message, types.JSONRPCRequest) and message.method in _NOT_OFFERED:
            # The MCP library would say "invalid request"; of a method that it does not know it says that.
            message.method = f"not offered: {message.method}"
        unasked = isinstance(message, types.JSONRPCNotification | types.JSONRPCRequest)
        if isinstance(item, SessionMessage) and not unasked:
            return True
        now = time.monotonic()
        full = len(self._unasked) == _UNASKED_MESSAGES
        if full and now - self._unasked[0] < _WINDOW_SECONDS:
            self.flooded(f"sent more than {_UNASKED_MESSAGES} messages within {_WINDOW_SECONDS:.0f} seconds")
            return False
        self._unasked.append(now)
        return True

    def allows_garbage(self, size: int) -> bool:
        """Return whether a line that is no message may be ignored: some servers print a greeting first."""
        self._garbage += size
        self.garbage_lines += 1
        if self._garbage > _GARBAGE_BYTES:
            self.flooded(f"wrote more than {_GARBAGE_BYTES // 1_000_000} MB that is no MCP to its output")
            return False
        return True


@asynccontextmanager
async def stdio_transport(
    command: Sequence[str], guard: Guard, log: ServerLog, on_groups: Callable[[], None], **how: Any
) -> "AsyncGenerator[TransportStreams, None]":
    """Start a server in a process group of its own and yield its message streams. Raises OSError.

    `how` is its environment and its working folder.
    """
    with log.open_pipe() as errors:
        process = await start_program(*command, group=True, stdin=PIPE, stdout=PIPE, stderr=errors, **how)
    # Nothing is awaited between the start of the process and the block that ends it.
    GROUPS.add(process.pid)
    on_groups()
    to_session, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_stream, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as group:
        group.start_soon(_read, process, to_session, guard, log)
        group.start_soon(_write, process, from_session, guard)
        try:
            yield read_stream, write_stream
        finally:
            with anyio.CancelScope(shield=True):
                read_stream.close()
                write_stream.close()
                await _end(process)
                GROUPS.discard(process.pid)
                on_groups()
            group.cancel_scope.cancel()


async def _read(
    process: Process, to_session: ObjectSendStream[SessionMessage | Exception], guard: Guard, log: ServerLog
) -> None:
    assert process.stdout is not None
    lines = Lines(LINE_BYTES)
    async with to_session:
        with suppress(*_GONE):
            while data := await process.stdout.read(_READ_BYTES):
                for line in lines.take(data):
                    if not await _pass_on(line, to_session, guard, log):
                        return
                if lines.cut:
                    guard.flooded(f"sent a line of more than {LINE_BYTES // 1_000_000} MB")
                    return
        guard.end()


async def _pass_on(
    line: bytes, to_session: ObjectSendStream[SessionMessage | Exception], guard: Guard, log: ServerLog
) -> bool:
    line = line.strip()
    if not line:
        return guard.allows_garbage(1)
    try:
        message = SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        if guard.garbage_lines < _LINES_LOGGED:
            log.note_output(line)
        # Without this, a flood of such lines would keep the event loop from everybody else.
        await anyio.lowlevel.checkpoint()
        return guard.allows_garbage(len(line))
    if not guard.allows(message):
        return False
    await to_session.send(message)
    return True


async def _write(process: Process, from_session: ObjectReceiveStream[SessionMessage], guard: Guard) -> None:
    assert process.stdin is not None
    try:
        async with from_session:
            async for item in from_session:
                text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                process.stdin.write(text.encode("utf-8", "replace") + b"\n")
                await process.stdin.drain()
    except _GONE:
        guard.end()


async def _end(process: Process) -> None:
    """End the process and everything it started: by closing its input, then SIGTERM, then SIGKILL."""
    assert process.stdin is not None
    process.stdin.close()
    if not await has_exited(process, _EXIT_SECONDS):
        end_group(process.pid)
        await has_exited(process, _EXIT_SECONDS)
    # Even when the server has ended, a process that it started may still run.
    kill_group(process.pid)
    await has_exited(process, _EXIT_SECONDS)


@asynccontextmanager
async def http_transport(
    url: str, headers: Mapping[str, str], guard: Guard, login: httpx2.Auth | None = None
) -> "AsyncGenerator[TransportStreams, None]":
    """Yield the message streams of a server at an address."""

    async def limit(response: httpx2.Response) -> None:
        own = str(response.request.url) == str(httpx2.URL(url))
        if own and response.status_code == 401:
            asked = response.headers.get("www-authenticate", "").lower()
            guard.wants_login = asked.startswith("bearer") and "authorization" not in map(str.lower, headers)
        if own and response.status_code >= 400:
            guard.http_status = f"HTTP {response.status_code} {response.reason_phrase}"
        if response.headers.get("content-encoding", "identity") != "identity":
            # A small compressed answer may have any size when decompressed.
            guard.flooded("sent a packed answer, though it was asked not to")
            raise httpx2.RemoteProtocolError("packed answer")
        if not own or not response.headers.get("content-type", "").startswith("text/event-stream"):
            # The MCP library limits the events of a stream, but reads any other answer whole.
            response.stream = _LimitedBody(response.stream, guard, LINE_BYTES if own else LOGIN_BYTES)

    async with (
        httpx2.AsyncClient(
            headers={"accept-encoding": "identity", **headers},
            timeout=_TIMEOUT,
            auth=login,
            event_hooks={"response": [limit]},
        ) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=LINE_BYTES) as (read, write),
    ):
        yield _CountedStream(read, guard), write


class _LimitedBody(httpx2.AsyncByteStream):
    """The body of an answer, up to so many bytes."""

    def __init__(self, body: Any, guard: Guard, most: int) -> None:
        self._body = body
        self._guard = guard
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for data in self._body:
            size += len(data)
            if size > self._most:
                self._guard.flooded(f"sent an answer of more than {self._most / 1_000_000:g} MB")
                raise httpx2.RemoteProtocolError("answer too long")
            yield data

    async def aclose(self) -> None:
        """Close the body."""
        await self._body.aclose()


class _CountedStream(ObjectReceiveStream[SessionMessage | Exception]):
    """The messages of a server, until there are too many."""

    def __init__(self, stream: Any, guard: Guard) -> None:
        self._stream = stream
        self._guard = guard

    @property
    def last_context(self) -> Any:
        """The context of the last message's sender, in which the MCP library calls back."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message. Raises anyio.EndOfStream."""
        item: SessionMessage | Exception = await self._stream.receive()
        if not self._guard.allows(item):
            await self._stream.aclose()
            raise anyio.EndOfStream
        return item

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()


_LISTS: Mapping[str, tuple[type[BaseModel], str]] = {
    "tools": (types.Tool, "name"),
    "prompts": (types.Prompt, "name"),
    "resources": (types.Resource, "uri"),
    "resourceTemplates": (types.ResourceTemplate, "uriTemplate"),
}
_NAME_CHARACTERS = 200


def mend_lists(result: dict[str, Any]) -> list[str]:
    """Mend the lists of a result in place; return the names of the entries that cannot be used.

    An empty cursor means that there is no further page. What an entry may lack and has in a wrong form is
    removed. A tool whose schema is missing or cannot be read takes any object.
    """
    if not isinstance(result.get("nextCursor", ""), str) or result.get("nextCursor") == "":
        result.pop("nextCursor", None)
    unusable: list[str] = []
    for field, (kind, key) in _LISTS.items():
        if not isinstance(result.get(field), list):
            continue
        mended: dict[str, dict[str, Any]] = {}
        for place, entry in enumerate(result[field], 1):
            sound = _mended(entry, kind, key)
            if sound is None:
                name = entry.get(key) if isinstance(entry, Mapping) else None
                named = visible(name)[:_NAME_CHARACTERS] if isinstance(name, str) else ""
                unusable.append(named or f"#{place}")
            else:
                mended.setdefault(sound[key], sound)
        result[field] = list(mended.values())
    return unusable


def _mended(entry: object, kind: type[BaseModel], key: str) -> dict[str, Any] | None:
    """Return an entry as the library reads it, None where that is impossible."""
    if not isinstance(entry, dict) or not isinstance(entry.get(key), str) or not entry[key]:
        return None
    sound = {name: value for name, value in entry.items() if value is not None}
    if kind is types.Tool:
        schema = sound.get("inputSchema")
        sound["inputSchema"] = {**(schema if isinstance(schema, dict) else {}), "type": "object"}
        if isinstance(shape := sound.get("outputSchema"), dict) and shape.get("type") != "object":
            del sound["outputSchema"]
    # Once more without what is wrong.
    for _ in range(2):
        try:
            kind.model_validate(sound, by_name=False)
        except ValidationError as error:
            wrong = {str(item["loc"][0]) for item in error.errors() if item["loc"]}
            sound = {name: value for name, value in sound.items() if name not in wrong}
        else:
            return sound
    return None
