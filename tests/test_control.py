"""The private channel: what gets through it, and that nothing else does; real sockets, real files."""

import asyncio
import json
import os
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from app.cli.arguments import Arguments
from app.cli.control import (
    MAX_LINE,
    MOST_STRANGERS,
    ControlServer,
    TooLongError,
    UnansweredError,
    hand_over,
    owner_pid,
    raise_other,
)
from app.cli.terminal import Out
from app.storage.paths import DataPaths
from app.storage.sessions import JsonLogStore
from tests.storage.samples import saved


class Lines:
    """Where a command's output is kept for the test to look at."""

    def __init__(self) -> None:
        self.out = ""
        self.err: list[str] = []

    async def write(self, text: str) -> None:
        self.out += text

    async def complain(self, line: str) -> None:
        self.err.append(line)


class Commands:
    """A runner that notes what it was asked to run and answers as told."""

    def __init__(self, output: str = "said\n", status: int = 0, *, waits: bool = False) -> None:
        self.asked: list[Arguments] = []
        self.started = asyncio.Event()
        self._output = output
        self._status = status
        self._waits = waits

    async def __call__(self, arguments: Arguments, out: Out, interrupted: asyncio.Event) -> int:
        self.asked.append(arguments)
        self.started.set()
        if self._waits:
            await interrupted.wait()
        await out.write(self._output)
        await out.complain("a word on the side")
        return self._status


REPLY_ARGUMENTS = Arguments(
    command="reply", json=True, values={"session": "01abc", "text": "한국어 \u2028 \x1b[31m"}
)


async def test_a_command_runs_in_the_other_process_and_streams_back(tmp_path: Path) -> None:
    output = "한국어 \U0001f600 \x00\x1b[31m\n" * 20_000
    commands = Commands(output, status=3)
    server = ControlServer(tmp_path / "control.json", commands)
    await server.start()
    lines = Lines()
    status = await hand_over(tmp_path / "control.json", REPLY_ARGUMENTS, lines, asyncio.Event())
    await server.close()
    assert (status, lines.out, lines.err) == (3, output, ["a word on the side"])
    assert commands.asked == [REPLY_ARGUMENTS]


@pytest.mark.threat("T18")
@pytest.mark.skipif(os.name == "nt", reason="Windows keeps files private by the folder they are in")
async def test_only_the_owner_may_read_where_it_listens(tmp_path: Path) -> None:
    server = ControlServer(tmp_path / "control.json", Commands())
    old = os.umask(0)
    try:
        await server.start()
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "control.json").stat().st_mode) == 0o600
    assert owner_pid(tmp_path / "control.json") == os.getpid()
    await server.close()
    assert not (tmp_path / "control.json").exists()


@pytest.mark.threat("T18")
@pytest.mark.parametrize(
    "change",
    [
        {"token": "0" * 64},
        {"token": None},
        {"verb": "show"},
        {"verb": "eval"},
        {"verb": "pause"},
        {"arguments": {"command": "reply", "text": 3}},
        {"arguments": {"command": "reply", "files": [1]}},
        {"arguments": {"command": "reply", "rounds": 3}},
        {"arguments": {"command": "reply", "unheard_of": ""}},
        {"arguments": []},
    ],
    ids=str,
)
async def test_what_is_not_allowed_is_closed_without_an_answer(
    tmp_path: Path, change: dict[str, object]
) -> None:
    commands = Commands()
    server = ControlServer(tmp_path / "control.json", commands)
    await server.start()
    place = json.loads((tmp_path / "control.json").read_text())
    request = {"token": place["token"], "verb": "reply", "arguments": REPLY_ARGUMENTS.to_json()}
    answer = await asked(place["port"], json.dumps(request | change).encode() + b"\n")
    right = await asked(place["port"], json.dumps(request).encode() + b"\n")
    await server.close()
    assert answer == b""
    assert b'"exit": 0' in right
    assert commands.asked == [REPLY_ARGUMENTS]


@pytest.mark.threat("T18")
@pytest.mark.corpus(61)
@pytest.mark.parametrize(
    "garbage",
    [
        b"\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\xff\xfe\x00\n",
        b"[" * 50_000 + b"\n",
        b"x" * (MAX_LINE * 3),
        b"null\n",
    ],
    ids=["empty line", "http", "not utf-8", "nested", "no end", "null"],
)
async def test_garbage_is_closed_without_an_answer(tmp_path: Path, garbage: bytes) -> None:
    commands = Commands()
    server = ControlServer(tmp_path / "control.json", commands)
    await server.start()
    place = json.loads((tmp_path / "control.json").read_text())
    answer = await asked(place["port"], garbage)
    status = await hand_over(tmp_path / "control.json", REPLY_ARGUMENTS, Lines(), asyncio.Event())
    await server.close()
    assert answer == b""
    assert status == 0


async def test_ctrl_c_here_interrupts_the_command_there(tmp_path: Path) -> None:
    commands = Commands(status=4, waits=True)
    server = ControlServer(tmp_path / "control.json", commands)
    await server.start()
    interrupted = asyncio.Event()
    lines = Lines()
    handed = asyncio.create_task(hand_over(tmp_path / "control.json", REPLY_ARGUMENTS, lines, interrupted))
    await asyncio.wait_for(commands.started.wait(), 5)
    assert server.busy
    interrupted.set()
    assert await asyncio.wait_for(handed, 5) == 4
    assert lines.out == "said\n"
    await server.close()


async def test_a_command_whose_asker_is_gone_is_interrupted(tmp_path: Path) -> None:
    commands = Commands(waits=True)
    server = ControlServer(tmp_path / "control.json", commands)
    await server.start()
    place = json.loads((tmp_path / "control.json").read_text())
    request = {"token": place["token"], "verb": "reply", "arguments": REPLY_ARGUMENTS.to_json()}
    reader, writer = await asyncio.open_connection("127.0.0.1", place["port"])
    writer.write(json.dumps(request).encode() + b"\n")
    assert await reader.readline() == b'{"accepted": true}\n'
    writer.close()
    await asyncio.wait_for(server.close(), 5)
    assert commands.asked == [REPLY_ARGUMENTS]


async def test_leaving_waits_for_what_was_taken(tmp_path: Path) -> None:
    commands = Commands(waits=True)
    server = ControlServer(tmp_path / "control.json", commands)
    await server.start()
    handed = asyncio.create_task(
        hand_over(tmp_path / "control.json", REPLY_ARGUMENTS, Lines(), asyncio.Event())
    )
    await asyncio.wait_for(commands.started.wait(), 5)
    leaving = asyncio.create_task(server.drain())
    await asyncio.sleep(0.05)
    assert not leaving.done()
    await asyncio.wait_for(server.close(), 5)
    assert await asyncio.wait_for(handed, 5) == 0
    await leaving


async def test_a_second_window_raises_the_first(tmp_path: Path) -> None:
    raised: list[bool] = []
    server = ControlServer(tmp_path / "control.json", Commands(), lambda: raised.append(True))
    await server.start()
    assert await raise_other(tmp_path / "control.json")
    await server.close()
    assert raised == [True]


async def test_a_terminal_has_no_window_to_raise(tmp_path: Path) -> None:
    server = ControlServer(tmp_path / "control.json", Commands())
    await server.start()
    assert not await raise_other(tmp_path / "control.json")
    await server.close()


@pytest.mark.parametrize(
    "left", ["", "{", "null", '{"port": 1, "token": "x"}', '{"port": "x"}', '{"port": 99999999}'], ids=str
)
async def test_what_a_killed_owner_left_behind_is_no_owner(tmp_path: Path, left: str) -> None:
    (tmp_path / "control.json").write_text(left)
    with pytest.raises(UnansweredError):
        await hand_over(tmp_path / "control.json", REPLY_ARGUMENTS, Lines(), asyncio.Event())
    assert not await raise_other(tmp_path / "control.json")


async def test_a_text_that_does_not_fit_is_refused_here(tmp_path: Path) -> None:
    commands = Commands()
    server = ControlServer(tmp_path / "control.json", commands)
    await server.start()
    long = Arguments(command="reply", values={"session": "01abc", "text": "x" * MAX_LINE})
    with pytest.raises(TooLongError):
        await hand_over(tmp_path / "control.json", long, Lines(), asyncio.Event())
    await server.close()
    assert commands.asked == []


async def asked(port: int, data: bytes) -> bytes:
    """Send bytes as they are; return all that comes back until the other end closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(data)
        try:
            return await asyncio.wait_for(reader.read(), 8)
        except ConnectionResetError:
            return b""
    finally:
        writer.close()


@pytest.mark.parametrize("accepted", [True, False])
async def test_an_owner_that_is_killed_in_the_middle(tmp_path: Path, accepted: bool) -> None:
    """Before it took the command, it may be tried again; after, it must not be."""

    async def dies(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b'{"accepted": true}\n{"out": "half"}\n' if accepted else b"")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(dies, "127.0.0.1", 0) as owner:
        place = {"port": owner.sockets[0].getsockname()[1], "token": "t"}
        (tmp_path / "control.json").write_text(json.dumps(place))
        lines = Lines()
        with pytest.raises(ConnectionError) as error:
            await hand_over(tmp_path / "control.json", REPLY_ARGUMENTS, lines, asyncio.Event())
    assert isinstance(error.value, UnansweredError) is not accepted
    assert lines.out == ("half" if accepted else "")


SILENT = """
import resource, socket, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (1024, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
port, count = int(sys.argv[1]), int(sys.argv[2])
connected = [socket.create_connection(("127.0.0.1", port)) for _ in range(count)]
print("connected", flush=True)
sys.stdin.read()
"""


@asynccontextmanager
async def silent_connections(path: Path, count: int) -> AsyncIterator[None]:
    """Connect that often from another process, and say nothing."""
    port = json.loads(path.read_text())["port"]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-c", SILENT, str(port), str(count)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None and process.stdin is not None
    try:
        assert await process.stdout.readline() == b"connected\n"
        yield
    finally:
        process.stdin.close()
        await process.wait()


@pytest.mark.threat("T18")
@pytest.mark.allow_blocking
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of file descriptors")
async def test_silent_connections_leave_files_for_the_sessions(tmp_path: Path) -> None:
    import resource

    path = tmp_path / "control.json"
    commands = Commands(waits=True)
    server = ControlServer(path, commands)
    await server.start()
    store = JsonLogStore(DataPaths(tmp_path))
    await store.open()
    # One that has shown the token is no stranger, however long it says nothing more.
    interrupted = asyncio.Event()
    asking = asyncio.create_task(hand_over(path, REPLY_ARGUMENTS, Lines(), interrupted))
    await commands.started.wait()
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/dev/fd")) + MOST_STRANGERS + 20, before[1]))
    try:
        async with silent_connections(path, 877):
            session = await saved(store, *(f"message {number}" for number in range(20)))
            assert len((await store.load(session.id)).messages) == 20
            assert len(server._connections) <= MOST_STRANGERS + 2
            assert not asking.done()
            assert await raise_other(path) is False
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    interrupted.set()
    assert await asking == 0
    await server.close()
    await store.close()


@pytest.mark.threat("T18")
async def test_of_too_many_strangers_the_oldest_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "control.json"
    server = ControlServer(path, Commands())
    await server.start()
    port = json.loads(await asyncio.to_thread(path.read_text))["port"]
    strangers = []
    for _ in range(MOST_STRANGERS + 3):
        strangers.append(await asyncio.open_connection("127.0.0.1", port))
    closed = [asyncio.create_task(reader.read()) for reader, _ in strangers]
    await asyncio.wait(closed[:3], timeout=4)
    assert [task.done() for task in closed] == [True] * 3 + [False] * MOST_STRANGERS
    for _, writer in strangers:
        writer.close()
    await asyncio.gather(*closed, return_exceptions=True)
    await server.close()
