"""What the tests of MCP share: entries of the servers in `servers/`, and the window's end with real documents."""

import asyncio
import os
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from app.core.message import Message, Prompt
from app.core.servers import McpServer
from app.core.tool import ServerStatus, Tool, ToolProgress
from app.engine.engine import Engine
from app.storage.documents import JsonDocuments
from app.storage.paths import DataPaths
from app.storage.secrets import KeyringSecrets
from app.storage.session_files import VersionedFiles
from app.tools.tool_host_client import ToolHostClient
from app.tools.toolbox import ServerLimits, Toolbox

SERVERS = Path(__file__).parent / "servers"


def rude(how: str, *more: str, **fields: Any) -> McpServer:
    args = (str(SERVERS / "rude.py"), how, *more)
    return McpServer(name=how, command=sys.executable, args=args, **fields)


def proper(name: str = "proper", **fields: Any) -> McpServer:
    return McpServer(name=name, command=sys.executable, args=(str(SERVERS / "proper.py"),), **fields)


class Context:
    """What a tool is given; answers questions with the words it was made with."""

    session_id = "s"
    mode = "default"
    pages: Sequence[str] = ()

    def __init__(self, *words: str | None) -> None:
        self.words = list(words)
        self.asked: list[Prompt] = []
        self.given_up = 0
        self.reported: list[ToolProgress] = []

    def messages(self) -> Sequence[Message]:
        return ()

    def report(self, progress: ToolProgress) -> None:
        self.reported.append(progress)

    async def ask(self, prompt: Prompt) -> str | None:
        self.asked.append(prompt)
        if not self.words:
            try:
                await asyncio.sleep(3600)
            finally:
                self.given_up += 1
        return self.words.pop(0)


async def _refuse(_: str) -> bool:
    return False


class Bench:
    """The servers of a data directory, as the window holds them."""

    def __init__(self, folder: Path, limits: ServerLimits | None) -> None:
        self.folder = folder
        self.documents = JsonDocuments(DataPaths(folder))
        self.secrets = KeyringSecrets(environment={})
        self.host = ToolHostClient(redact=self.secrets.redact, log_dir=folder / "logs")
        self.changes = 0
        self.servers = Toolbox(
            self.documents,
            self.secrets,
            self.host,
            VersionedFiles(DataPaths(folder)),
            open_link=_refuse,
            log_dir=folder / "logs",
            on_change=self._on_change,
            limits=limits,
        )

    def _on_change(self) -> None:
        self.changes += 1

    async def connect(self, *entries: McpServer) -> None:
        """Write the entries, allow each, and connect to all of them at once."""
        await self.documents.change_mcp_servers(lambda _: entries)
        await asyncio.gather(*(self.servers.consent(entry.name) for entry in entries))

    def status(self, name: str) -> ServerStatus:
        return next(status for status in self.servers.servers() if status.server.name == name)

    def tool(self, server: str, name: str) -> Tool:
        tools = self.servers.server_tools([server])
        return next(tool for tool in tools if tool.key == f"{server}__{name}")

    async def call(self, server: str, name: str, context: Context | None = None, **arguments: object) -> str:
        return (await self.tool(server, name).run(arguments, context or Context())).content

    def log(self, name: str) -> str:
        return (self.folder / "logs" / f"mcp-{name}.log").read_text(encoding="utf-8")


@asynccontextmanager
async def bench(folder: Path, limits: ServerLimits | None = None) -> AsyncIterator[Bench]:
    one = Bench(folder, limits)
    try:
        yield one
    finally:
        await one.servers.close()


async def allow(engine: Engine, name: str) -> None:
    """Allow a server as its user does: as it is shown now."""
    [shown] = [status for status in engine.servers.all() if status.server.name == name]
    await engine.servers.allow(shown)


async def until(true: Callable[[], bool], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not come about"
        await asyncio.sleep(0.02)


def python(script: str) -> tuple[str, str]:
    return sys.executable, str(SERVERS / script)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@asynccontextmanager
async def running(*words: str, port: int) -> AsyncIterator[None]:
    process = await asyncio.create_subprocess_exec(
        *words,
        env={**os.environ, "PORT": str(port)},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(30):
            while not await listens(port):
                assert process.returncode is None
                await asyncio.sleep(0.1)
        yield
    finally:
        process.kill()
        await process.wait()


async def listens(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    await writer.wait_closed()
    return True
