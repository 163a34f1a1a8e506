"""Both hosts' clients beside a child process that writes anything, and with a disk in any state."""

import asyncio
import os
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from app.children import host_client, private_files
from app.children.host_client import HostClient, HostProcess
from app.children.processes import HostServer, Pipes
from app.core.catalog import ProviderConfig
from app.core.errors import ProviderError
from app.core.provider import ModelRequest
from app.core.tool import ToolError
from app.providers.remote import RemoteModels
from app.tools.tool_host_client import ToolHostClient
from tests.children import stub_host

CLIENTS = ("model_host", "tool_host")
SECONDS = 20


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let the hosts be the stub, which writes what the test says."""

    def use(noise: str = "nothing", answers: str = "well") -> None:
        command = [sys.executable, "-I", "-S", stub_host.__file__, noise, answers]
        monkeypatch.setattr(host_client, "child_command", lambda _: command)

    return use


@asynccontextmanager
async def client_of(name: str, log_dir: Path) -> AsyncIterator[HostClient]:
    client: HostClient
    if name == "model_host":
        config = ProviderConfig(id="openai", kind="openai")
        client = RemoteModels(
            providers=lambda _: config, key=lambda _: "sk-canary-0123456789", log_dir=log_dir
        )
    else:
        client = ToolHostClient(log_dir=log_dir)
    try:
        yield client
    finally:
        await client.close()


async def answer(client: HostClient, request: str) -> object:
    """Ask once; what is asked differs each time, as a price is asked for once only."""
    async with asyncio.timeout(SECONDS):
        if isinstance(client, RemoteModels):
            return await client.price("openai", request)
        assert isinstance(client, ToolHostClient)
        return await client.request({"op": "service", "name": request})


@pytest.mark.parametrize("noise", [noise for noise in stub_host.NOISE if noise != "nothing"])
@pytest.mark.parametrize("name", CLIENTS)
async def test_a_host_never_waits_for_its_errors_to_be_read(
    name: str, noise: str, stub: Callable[..., None], tmp_path: Path
) -> None:
    stub(noise)
    async with client_of(name, tmp_path) as client:
        assert await answer(client, "first")
        assert await answer(client, "second")
        assert client.host_pid is not None
    written = await asyncio.to_thread((tmp_path / f"{name}.log").read_bytes)
    assert b"\0" not in written and written.decode()
    assert max(map(len, written.splitlines())) < 40_000


@pytest.mark.parametrize("state", ["full", "no folder", "hangs"])
@pytest.mark.parametrize("name", CLIENTS)
async def test_a_host_never_waits_for_the_disk(
    name: str, state: str, stub: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(private_files, "_CLOSE_SECONDS", 0.1)
    stub("many lines")
    log = tmp_path / "logs" / f"{name}.log"
    if state == "no folder":
        log.parent.touch()
    else:
        log.parent.mkdir()
    if state == "full":
        log.symlink_to("/dev/full")
    elif state == "hangs":
        os.mkfifo(log)
    async with client_of(name, log.parent) as client:
        assert await answer(client, "first")
        assert await answer(client, "second")
    if state == "hangs":
        await asyncio.to_thread(let_go, log)


def let_go(log: Path) -> None:
    """Read the pipe that stands for a log, so that the thread which writes to it ends."""
    reader = os.open(log, os.O_RDWR)
    try:
        until = time.monotonic() + SECONDS
        while "host log" in {thread.name for thread in threading.enumerate()} and time.monotonic() < until:
            time.sleep(0.01)
    finally:
        os.close(reader)


async def test_the_log_is_written_again_once_there_is_space(
    stub: Callable[..., None], tmp_path: Path
) -> None:
    log = tmp_path / "tool_host.log"
    log.symlink_to("/dev/full")
    stub("many lines")
    async with client_of("tool_host", tmp_path) as client:
        assert await answer(client, "first")
        log.unlink()
        assert await answer(client, "second")
    assert "one of many lines" in await asyncio.to_thread(log.read_text, encoding="utf-8")


@pytest.mark.parametrize("answers", ["no JSON", "no object", "too deep", "without an end"])
async def test_a_host_that_sends_anything_but_answers_is_ended(
    answers: str, stub: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever waits for an answer hears that there is none."""
    monkeypatch.setattr(host_client, "_LINE_BYTES", 1 << 20, raising=False)
    stub(answers=answers)
    async with client_of("tool_host", tmp_path) as tools:
        with pytest.raises(ToolError):
            await answer(tools, "first")
        assert tools.host_pid is None
        stub()
        assert await answer(tools, "second")
    stub(answers=answers)
    async with client_of("model_host", tmp_path) as models:
        assert isinstance(models, RemoteModels)
        with pytest.raises(ProviderError) as raised:
            async with asyncio.timeout(SECONDS):
                await anext(models.stream(ModelRequest(provider="openai", model="m", messages=())))
        assert raised.value.kind == "host"


async def test_a_fault_in_taking_what_a_host_tells_leaves_nobody_waiting(stub: Callable[..., None]) -> None:
    died = asyncio.Event()

    class Failing(HostClient):
        def on_line(self, line: object) -> None:
            raise KeyError("name")

        def on_host_died(self, host: HostProcess) -> None:
            died.set()

    stub(answers="news")
    client = Failing("tool_host", redact=lambda text: text, log_dir=None)
    host = await HostProcess.start(client)
    async with asyncio.timeout(SECONDS):
        assert [line async for line in host.answer({"op": "anything"})] == [None]
        await died.wait()
    await host.close()


@pytest.mark.parametrize(
    "line", [b"no JSON", b"[1]", b'{"id": "a"}', b'{"id": 1, "op": "x"}', b"\xff", b"[" * 9_999]
)
async def test_a_host_that_is_sent_anything_but_requests_ends(line, capsys):
    served = []

    class Host(HostServer):
        async def _serve(self, line):
            served.append(line["id"])

    (read, write), (answers, out) = os.pipe(), os.pipe()
    os.write(write, b'{"id": "a", "op": "x"}\n' + line + b'\n{"id": "b", "op": "x"}\n')
    async with asyncio.timeout(SECONDS):
        await Host(Pipes(read, out)).run()
    assert served in (["a"], []) and "no request" in capsys.readouterr().err
    for number in (write, answers, out):
        os.close(number)


async def test_keys_are_taken_out_of_a_long_error_off_the_loop_s_thread(stub: Callable[..., None]) -> None:
    threads: list[threading.Thread] = []

    def redact(text: str) -> str:
        threads.append(threading.current_thread())
        return text

    stub(answers="a long error")
    client = ToolHostClient(redact=redact)
    try:
        with pytest.raises(ToolError, match="xxx"):
            await answer(client, "first")
    finally:
        await client.close()
    assert threads and threading.main_thread() not in threads
