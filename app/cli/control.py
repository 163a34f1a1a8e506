"""The private channel between two Moots: the one that holds the data directory runs the commands
of the others.

A TCP socket on 127.0.0.1; its port and a 256-bit token are in the file `control`, which only its owner can
read. JSON lines of at most 64 kB: one request, then output and questions, then the exit status. The other way
go answers and the request to pause. A window asks a Moot without one to give way (`ask_to_yield`), and
`moot quit` asks whoever holds it to end (`end_other`).
"""

import asyncio
import contextlib
import hmac
import json
import os
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from app.children.private_files import replace_text
from app.cli.arguments import Arguments
from app.cli.exit_status import FAULT, OK, PAUSED_OR_STOPPED
from app.cli.interrupt import Interrupt, beside
from app.cli.terminal import Out
from app.core.json_values import object_in
from app.core.owned_tasks import end_tasks, start_owned
from app.core.texts import Texts
from app.storage.access import WriterLock
from app.storage.file_system import storage_errors
from app.storage.paths import DataPaths

if TYPE_CHECKING:
    import psutil

MAX_LINE = 64 * 1024
_HOST = "127.0.0.1"
_RAISE = "raise"
_YIELD = "yield"
_END = "end"
# JSON needs at most six bytes for a character, so a piece of this length fits in a line.
_PIECE = 8 * 1024
_CONNECT_S = 2.0
_REQUEST_S = 5.0
# Pausing ends what the models are asked at once.
_YIELD_S = 20.0
_ACCEPT_AGAIN_S = 0.05
_END_TRIES = 600
_END_AGAIN_S = 0.1
# The most connections that have not shown the token; each costs a file descriptor.
MOST_STRANGERS = 16

Runner = Callable[[Arguments, Out, Interrupt], Awaitable[int]]
GiveWay = Callable[[], Awaitable[Sequence[str]] | None]


class TooLongError(ValueError):
    """A request does not fit into one line of the channel."""


class UnansweredError(ConnectionError):
    """Nobody took the request: there is no owner, or it is just ending."""


class MovedError(Exception):
    """A window has taken over the session that a command follows."""

    def __init__(self, session_id: str) -> None:
        super().__init__(session_id)
        self.session_id = session_id


@dataclass(eq=False, repr=False)
class ControlServer:
    """Runs the commands of other processes, as long as this process holds the lock."""

    _path: Path
    _run: Runner
    _raise_window: Callable[[], None] | None = None
    # Pauses all sessions because a window wants the data directory, and returns the ids of those that ran;
    # None where the window cannot have it now.
    give_way: GiveWay | None = None
    # Whether this Moot lets schedules run.
    keeps: bool = False
    # Ends this Moot as a signal does: what runs is paused and saved.
    end: Callable[[], None] | None = None
    asked_to_end: bool = field(default=False, init=False)
    _yields: bool = field(default=False, init=False)
    given_way: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _token: str = field(default_factory=lambda: secrets.token_hex(32), init=False)
    _socket: socket.socket | None = field(default=None, init=False)
    _accepting: asyncio.Task[None] | None = field(default=None, init=False)
    _connections: set[asyncio.Task[None]] = field(default_factory=set, init=False)
    # Connections that have not shown the token yet, the oldest first.
    _strangers: dict[asyncio.Task[None], asyncio.StreamWriter] = field(default_factory=dict, init=False)
    _interrupts: set[Interrupt] = field(default_factory=set, init=False)

    async def start(self) -> None:
        """Listen, and write the port and token to the file. Raises StorageError."""
        # A client with the token must find a place among a thousand connections without it.
        self._socket = socket.create_server((_HOST, 0), backlog=1024)
        self._socket.setblocking(False)
        self._accepting = start_owned(self._accept(self._socket), name="control")
        port = self._socket.getsockname()[1]
        with storage_errors(self._path):
            known = {"port": port, "token": self._token, "pid": os.getpid(), "keeps": self.keeps}
            replace_text(self._path, json.dumps(known))

    @property
    def busy(self) -> bool:
        """Whether a command of another process is still running."""
        return bool(self._interrupts)

    def interrupt(self) -> None:
        """Ask every command of another process to pause and end."""
        for interrupted in self._interrupts:
            interrupted.close()

    async def drain(self) -> None:
        """Accept nothing more, and return when the running commands have ended by themselves."""
        await self._refuse()
        while self.busy:
            await asyncio.wait(self._connections, return_when=asyncio.FIRST_COMPLETED)
        await end_tasks(*self._connections)
        for writer in self._strangers.values():  # Connections whose task had not begun yet.
            writer.transport.abort()

    async def _refuse(self) -> None:
        """Accept nothing more."""
        if self._socket is None or self._accepting is None:
            return
        listening, self._socket = self._socket, None
        # Windows refuses while another Moot reads the file; that one finds that nobody listens.
        with contextlib.suppress(PermissionError):
            self._path.unlink(missing_ok=True)
        await end_tasks(self._accepting)
        listening.close()

    async def close(self) -> None:
        """Accept nothing more, pause the running commands, and return when they have ended."""
        self.interrupt()
        await self.drain()

    async def _accept(self, listening: socket.socket) -> None:
        """Accept connections one by one; asyncio's own server accepts a hundred before it handles the
        first.
        """
        loop = asyncio.get_running_loop()
        while True:
            try:
                connected, _ = await loop.sock_accept(listening)
                try:
                    reader, writer = await asyncio.open_connection(sock=connected, limit=MAX_LINE)
                except BaseException:  # Nobody else would close it, also if this task is cancelled.
                    connected.close()
                    raise
            except OSError:  # The client has gone, or this process cannot open more files.
                await asyncio.sleep(_ACCEPT_AGAIN_S)
                continue
            task = start_owned(self._serve(reader, writer))
            self._connections.add(task)
            self._strangers[task] = writer
            if len(self._strangers) > MOST_STRANGERS:
                self._strangers.pop(next(iter(self._strangers))).transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        try:
            await self._answer(reader, writer)
        except (ConnectionError, ValueError, TimeoutError):
            pass  # Invalid requests and broken connections get no answer.
        finally:
            self._connections.discard(task)
            self._strangers.pop(task, None)
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(_REQUEST_S):
            request = _parse(await reader.readline())
        token = request.get("token")
        if not isinstance(token, str) or not hmac.compare_digest(token.encode(), self._token.encode()):
            return
        task = asyncio.current_task()
        assert task is not None
        self._strangers.pop(task, None)
        verb = request.get("verb")
        out = _ChannelOut(writer)
        if verb == _RAISE:
            if self._raise_window is not None:
                self._raise_window()
            await out.send({"exit": 0 if self._raise_window is not None else 2})
        elif verb == _YIELD:
            await self._yield(out)
        elif verb == _END:
            self.asked_to_end = self.end is not None
            await out.send({"exit": 0 if self.end is not None else 2})
            if self.end is not None:
                self.end()
        else:
            values = request.get("arguments")
            arguments = Arguments.from_json(values if isinstance(values, dict) else {})
            if arguments.command == verb and (arguments.writes or arguments.caller):
                interrupted = Interrupt()
                self._interrupts.add(interrupted)
                try:
                    async with beside(_listen(reader, out, interrupted)):
                        await out.send({"accepted": True})
                        status = await self._run(arguments, out, interrupted)
                        moved = self._yields and status == PAUSED_OR_STOPPED
                        await out.send({"exit": status, "moved": interrupted.session_id if moved else ""})
                finally:
                    self._interrupts.discard(interrupted)

    async def _yield(self, out: "_ChannelOut") -> None:
        """Pause everything and say what ran; no command of another process begins any more."""
        pausing = self.give_way() if self.give_way is not None else None
        if pausing is None:
            await out.send({"exit": 2})
            return
        self._yields = True
        yielding = Interrupt()
        self.interrupt()
        self._interrupts.add(yielding)
        try:
            await self._refuse()
            await out.send({"exit": 0, "sessions": list(await pausing)})
        finally:
            self._interrupts.discard(yielding)
            self.given_way.set()


async def _listen(reader: asyncio.StreamReader, out: "_ChannelOut", interrupted: Interrupt) -> None:
    """Read answers; any other line, and the end of the connection, asks to pause."""
    with contextlib.suppress(ConnectionError, ValueError):
        while "answer" in (line := _parse(await reader.readline())):
            out.answer(line["answer"])
    interrupted.set()


class _ChannelOut(Out):
    """The standard output and error of the other process."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._asked: asyncio.Future[str | None] | None = None

    async def write(self, text: str) -> None:
        for start in range(0, len(text), _PIECE):
            await self.send({"out": text[start : start + _PIECE]})

    async def complain(self, line: str) -> None:
        await self.send({"err": line[:_PIECE]})

    async def ask(self, question: str, *, secret: bool = False) -> str | None:
        self._asked = asyncio.get_running_loop().create_future()
        await self.send({"ask": question[:_PIECE], "secret": secret})
        return await self._asked

    def answer(self, text: object) -> None:
        """Set the answer to the question that was asked last."""
        if self._asked is not None and not self._asked.done():
            self._asked.set_result(text if isinstance(text, str) else None)

    async def send(self, value: Mapping[str, object]) -> None:
        self._writer.write(_line(value))
        await self._writer.drain()


async def hand_over(path: Path, arguments: Arguments, out: Out, interrupted: Interrupt) -> int:
    """Let the Moot that holds the data directory run a command, and return its exit status.

    Raises UnansweredError when nobody took it (it may be tried again), TooLongError, MovedError, and
    ConnectionError when the other Moot ended meanwhile.
    """
    reader, writer = await _connect(path, {"verb": arguments.command, "arguments": arguments.to_json()})
    accepted = False
    passing_on = asyncio.create_task(_pass_on(interrupted, writer))
    asking: asyncio.Task[None] | None = None
    try:
        while True:
            try:
                reply = _parse(await reader.readline())
            except (ConnectionError, ValueError) as error:
                raise (ConnectionError if accepted else UnansweredError)(str(path)) from error
            accepted = True
            status = reply.get("exit")
            if isinstance(status, int):
                if moved := reply.get("moved"):
                    raise MovedError(str(moved))
                return status
            if "out" in reply:
                await out.write(str(reply["out"]))
            if "err" in reply:
                await out.complain(str(reply["err"]))
            if "ask" in reply:
                asking = asyncio.create_task(_answer(reply, out, writer))
    finally:
        passing_on.cancel()
        await end_tasks(asking)
        writer.close()


async def _answer(reply: Mapping[str, object], out: Out, writer: asyncio.StreamWriter) -> None:
    answer = await out.ask(str(reply["ask"]), secret=reply.get("secret") is True)
    with contextlib.suppress(ConnectionError):
        writer.write(_line({"answer": answer}))
        await writer.drain()


async def raise_other(path: Path) -> bool:
    """Ask the Moot that holds the data directory to show its window; false if it has none."""
    try:
        return (await _answer_to(path, _RAISE, _REQUEST_S)).get("exit") == 0
    except UnansweredError:
        return False


async def ask_to_yield(path: Path) -> tuple[str, ...] | None:
    """Ask the Moot that holds the data directory to give way; return the ids of the sessions that it paused,
    None if it stays.

    It lets go of the lock a moment later. Raises UnansweredError if nobody answers.
    """
    reply = await _answer_to(path, _YIELD, _YIELD_S)
    sessions = reply.get("sessions")
    if reply.get("exit") != 0 or not isinstance(sessions, list):
        return None
    return tuple(session for session in sessions if isinstance(session, str))


async def end_other(paths: DataPaths, out: Out, texts: Texts) -> int:
    """Ask the Moot that holds the data directory to end, wait until its process is gone, and say so."""
    import psutil

    lock, owner, asked = WriterLock(paths), None, False
    for _ in range(_END_TRIES):
        if not lock.is_held() and (owner is None or has_ended(owner)):
            await out.write(texts("cli.quit.done" if asked else "cli.quit.none") + "\n")
            return OK
        # The owner may be just starting or ending; then nobody answers yet. After it comes who waited.
        with contextlib.suppress(UnansweredError, psutil.NoSuchProcess):
            if (not asked or (owner and has_ended(owner))) and (pid := owner_pid(paths.control)) is not None:
                owner = psutil.Process(pid)
                asked = (await _answer_to(paths.control, _END, _REQUEST_S)).get("exit") == 0
        await asyncio.sleep(_END_AGAIN_S)
    await out.complain(texts("cli.quit.stays", pid=owner.pid if owner is not None else "?"))
    return FAULT


def has_ended(process: "psutil.Process") -> bool:
    """Return whether a process is gone, or only waits for its parent to look at how it ended."""
    import psutil

    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


async def _answer_to(path: Path, verb: str, seconds: float) -> dict[str, object]:
    """Return what the Moot that holds the data directory answers. Raises UnansweredError."""
    reader, writer = await _connect(path, {"verb": verb})
    try:
        async with asyncio.timeout(seconds):
            return _parse(await reader.readline())
    except (ConnectionError, ValueError, TimeoutError) as error:
        raise UnansweredError(str(path)) from error
    finally:
        writer.close()


def owner_pid(path: Path) -> int | None:
    """Return the id of the process that last served here, None if there was none."""
    try:
        pid = _parse(path.read_bytes()).get("pid")
    except (OSError, ValueError):
        return None
    return pid if isinstance(pid, int) else None


def owner_keeps(path: Path) -> bool:
    """Say whether the process that last served here lets schedules run."""
    try:
        return _parse(path.read_bytes()).get("keeps") is True
    except (OSError, ValueError):
        return False


async def _pass_on(interrupted: Interrupt, writer: asyncio.StreamWriter) -> None:
    await interrupted.wait()
    with contextlib.suppress(ConnectionError):
        writer.write(_line({"verb": "interrupt"}))
        await writer.drain()


async def _connect(
    path: Path, request: Mapping[str, object]
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    try:
        place = _parse(await asyncio.to_thread(path.read_bytes))
    except (OSError, ValueError) as error:
        raise UnansweredError(str(path)) from error
    port, line = place.get("port"), _line({"token": place.get("token"), **request})
    if len(line) > MAX_LINE:
        raise TooLongError
    if not isinstance(port, int) or not 0 < port < 65536:
        raise UnansweredError(str(path))
    try:
        async with asyncio.timeout(_CONNECT_S):
            reader, writer = await asyncio.open_connection(_HOST, port, limit=MAX_LINE)
        writer.write(line)
        await writer.drain()
    except OSError as error:
        raise UnansweredError(str(path)) from error
    return reader, writer


def _line(value: Mapping[str, object]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def _parse(line: bytes) -> dict[str, object]:
    """Read one line. Raises ValueError for anything but a JSON object, including the end of the stream."""
    if (value := object_in(line)) is None:
        raise ValueError("not a JSON object")
    return value
